//! `multicluster-proxy-unhealthy`: proxies beside a Link are not ready.

use super::links::homes;
use crate::checks::extensions::proxies;
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match homes(ctx)? {
        Ok(homes) => proxies(ctx, Extension::Multicluster, &homes),
        Err(verdict) => Ok(verdict),
    }
}
