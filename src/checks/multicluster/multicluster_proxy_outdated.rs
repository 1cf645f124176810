//! `multicluster-proxy-outdated`: proxies in the namespace of a Link are not of the expected release.

use super::links::link_namespaces;
use crate::checks::extensions::outdated;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    outdated(ctx, Extension::Multicluster, &link_namespaces(ctx)?)
}
