//! `jaeger-cli-skew`: proxies of jaeger are of another release than the operator's linkerd CLI.

use crate::checks::extensions::{absent, cli, extension_namespace};
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match extension_namespace(ctx, Extension::Jaeger)? {
        Some(namespace) => cli(ctx, Extension::Jaeger, &[&namespace.metadata.name]),
        None => Ok(absent(Extension::Jaeger)),
    }
}
