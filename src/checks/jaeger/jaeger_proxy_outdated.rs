//! `jaeger-proxy-outdated`: proxies of jaeger are not of the release that they should be.

use crate::checks::extensions::{absent, home, outdated};
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match home(ctx, Extension::Jaeger)? {
        Some(home) => outdated(ctx, Extension::Jaeger, &[&home.metadata.name]),
        None => Ok(absent(Extension::Jaeger)),
    }
}
