//! `viz-proxy-unhealthy`: proxies in the namespace of viz are not ready.

use crate::checks::extensions::{absent, extension_namespace, proxies};
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match extension_namespace(ctx, Extension::Viz)? {
        Some(namespace) => proxies(ctx, Extension::Viz, &[&namespace.metadata.name]),
        None => Ok(absent(Extension::Viz)),
    }
}
