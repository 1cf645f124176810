//! `viz-proxy-outdated`: proxies of viz are not of the expected release.

use crate::checks::extensions::{installed_in, outdated};
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = installed_in(ctx, Extension::Viz)?;
    outdated(ctx, Extension::Viz, &[&namespace.metadata.name])
}
