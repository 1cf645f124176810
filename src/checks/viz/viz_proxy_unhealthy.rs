//! `viz-proxy-unhealthy`: proxies in the namespace of viz are not ready.

use crate::checks::extensions::{installed_in, proxies};
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = installed_in(ctx, Extension::Viz)?;
    proxies(ctx, Extension::Viz, &[&namespace.metadata.name])
}
