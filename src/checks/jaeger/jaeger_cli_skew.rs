//! `jaeger-cli-skew`: proxies of jaeger are of another release than the operator's linkerd CLI.

use crate::checks::extensions::{cli, installed_in};
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = installed_in(ctx, Extension::Jaeger)?;
    cli(ctx, Extension::Jaeger, &[&namespace.metadata.name])
}
