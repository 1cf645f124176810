//! `multicluster-namespace-unlabelled`: the namespace of multicluster lacks its label.

use super::links::links;
use crate::checks::extensions;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = match links(ctx) {
        Ok(links) => links,
        Err(Unjudged::Missing(missing)) => {
            ctx.gap(missing);
            &[]
        }
        Err(_) => &[],
    };
    extensions::label_missing(ctx, Extension::Multicluster, links)
}
