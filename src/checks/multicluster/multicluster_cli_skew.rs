//! `multicluster-cli-skew`: proxies in the namespace of a Link are of another release than the operator's linkerd CLI.

use super::links::link_namespaces;
use crate::checks::extensions::cli;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    cli(ctx, Extension::Multicluster, &link_namespaces(ctx)?)
}
