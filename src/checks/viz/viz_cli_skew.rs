//! `viz-cli-skew`: proxies of viz are of another release than the operator's linkerd CLI.

use crate::checks::extensions::{cli, installed_in};
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = installed_in(ctx, Extension::Viz)?;
    cli(ctx, Extension::Viz, &[&namespace.metadata.name])
}
