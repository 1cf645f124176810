//! `viz-proxy-outdated`: proxies of viz are not of the expected release.

use crate::checks::extensions::{absent, extension_namespace, outdated};
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match extension_namespace(ctx, Extension::Viz)? {
        Some(namespace) => outdated(ctx, Extension::Viz, &[&namespace.metadata.name]),
        None => Ok(absent(Extension::Viz)),
    }
}
