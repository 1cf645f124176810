//! `jaeger-proxy-unhealthy`: proxies in the namespace of jaeger are not ready.

use crate::checks::extensions::{absent, extension_namespace, proxies};
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match extension_namespace(ctx, Extension::Jaeger)? {
        Some(namespace) => proxies(ctx, Extension::Jaeger, &[&namespace.metadata.name]),
        None => Ok(absent(Extension::Jaeger)),
    }
}
