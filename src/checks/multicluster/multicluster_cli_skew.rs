//! `multicluster-cli-skew`: proxies beside a Link are of another release than the operator's command.

use super::links::homes;
use crate::checks::extensions::cli;
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match homes(ctx)? {
        Ok(homes) => cli(ctx, Extension::Multicluster, &homes),
        Err(verdict) => Ok(verdict),
    }
}
