//! `jaeger-proxy-unhealthy`: proxies in the namespace of jaeger are not ready.

use crate::checks::extensions::{installed_in, proxies};
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = installed_in(ctx, Extension::Jaeger)?;
    proxies(ctx, Extension::Jaeger, &[&namespace.metadata.name])
}
