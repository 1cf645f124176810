//! `multicluster-proxy-outdated`: proxies beside a Link are not of the release that they should be.

use super::links::homes;
use crate::checks::extensions::outdated;
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match homes(ctx)? {
        Ok(homes) => outdated(ctx, Extension::Multicluster, &homes),
        Err(verdict) => Ok(verdict),
    }
}
