//! `viz-proxy-outdated`: proxies of viz are not of the release that they should be.

use crate::checks::extensions::{absent, home, outdated};
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match home(ctx, Extension::Viz)? {
        Some(home) => outdated(ctx, Extension::Viz, &[&home.metadata.name]),
        None => Ok(absent(Extension::Viz)),
    }
}
