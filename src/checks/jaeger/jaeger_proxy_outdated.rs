//! `jaeger-proxy-outdated`: proxies of jaeger are not of the release that they should be.

use crate::checks::extensions::{absent, extension_namespace, outdated};
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match extension_namespace(ctx, Extension::Jaeger)? {
        Some(home) => outdated(ctx, Extension::Jaeger, &[&home.metadata.name]),
        None => Ok(absent(Extension::Jaeger)),
    }
}
