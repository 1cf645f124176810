//! `viz-proxy-outdated`: proxies of viz are not of the release that they should be.

use crate::checks::extensions::{absent, extension_namespace, outdated};
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match extension_namespace(ctx, Extension::Viz)? {
        Some(home) => outdated(ctx, Extension::Viz, &[&home.metadata.name]),
        None => Ok(absent(Extension::Viz)),
    }
}
