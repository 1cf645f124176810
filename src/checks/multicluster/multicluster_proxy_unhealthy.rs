//! `multicluster-proxy-unhealthy`: proxies in the namespace of a Link are not ready.

use super::links::link_namespaces;
use crate::checks::extensions::proxies;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    proxies(ctx, Extension::Multicluster, &link_namespaces(ctx)?)
}
