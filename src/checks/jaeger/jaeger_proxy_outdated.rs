//! `jaeger-proxy-outdated`: proxies of jaeger are not of the expected release.

use crate::checks::extensions::{absent, extension_namespace, outdated};
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match extension_namespace(ctx, Extension::Jaeger)? {
        Some(namespace) => outdated(ctx, Extension::Jaeger, &[&namespace.metadata.name]),
        None => Ok(absent(Extension::Jaeger)),
    }
}
