//! `jaeger-proxy-outdated`: proxies of jaeger are not of the expected release.

use crate::checks::extensions::{installed_in, outdated};
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = installed_in(ctx, Extension::Jaeger)?;
    outdated(ctx, Extension::Jaeger, &[&namespace.metadata.name])
}
