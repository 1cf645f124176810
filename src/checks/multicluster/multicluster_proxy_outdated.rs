//! `multicluster-proxy-outdated`: proxies in the namespace of a Link are not of the expected release.

use super::links::link_namespaces;
use crate::checks::extensions::outdated;
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match link_namespaces(ctx)? {
        Ok(namespaces) => outdated(ctx, Extension::Multicluster, &namespaces),
        Err(verdict) => Ok(verdict),
    }
}
