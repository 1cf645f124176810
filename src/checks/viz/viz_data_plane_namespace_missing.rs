//! `viz-data-plane-namespace-missing`: a namespace named with `-n` does not exist, so viz has no metrics of it.

use crate::checks::extensions::{absent, extension_namespace};
use crate::checks::{Context, Judgement, data_plane};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match extension_namespace(ctx, Extension::Viz)? {
        Some(_) => data_plane::namespace_missing(ctx),
        None => Ok(absent(Extension::Viz)),
    }
}
