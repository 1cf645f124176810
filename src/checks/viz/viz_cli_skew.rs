//! `viz-cli-skew`: proxies of viz are of another release than the operator's command.

use crate::checks::extensions::{absent, cli, extension_namespace};
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match extension_namespace(ctx, Extension::Viz)? {
        Some(home) => cli(ctx, Extension::Viz, &[&home.metadata.name]),
        None => Ok(absent(Extension::Viz)),
    }
}
