//! `multicluster-namespace-unlabelled`: the namespace of multicluster lacks its label.

use super::links::links;
use crate::checks::extensions;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    // Without Deployments, Links are only a hint: where they are unknown, multicluster is most likely not installed.
    let links = links(ctx).unwrap_or_default();
    extensions::label_missing(ctx, Extension::Multicluster, links)
}
