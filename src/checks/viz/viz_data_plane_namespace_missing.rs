//! `viz-data-plane-namespace-missing`: a namespace that was asked about (`-n`) does not exist, so viz has nothing of it.

use crate::checks::extensions::{absent, home};
use crate::checks::{Context, Judgement, data_plane};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match home(ctx, Extension::Viz)? {
        Some(_) => data_plane::namespace_missing(ctx),
        None => Ok(absent(Extension::Viz)),
    }
}
