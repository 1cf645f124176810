//! `viz-cli-skew`: proxies of viz are of another release than the operator's linkerd CLI.

use crate::checks::extensions::{absent, cli, extension_namespace};
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match extension_namespace(ctx, Extension::Viz)? {
        Some(namespace) => cli(ctx, Extension::Viz, &[&namespace.metadata.name]),
        None => Ok(absent(Extension::Viz)),
    }
}
