//! `viz-data-plane-namespace-missing`: a namespace named with `-n` does not exist, so viz has no metrics of it.

use crate::checks::{Context, Judgement, data_plane};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    data_plane::namespace_missing(ctx)
}
