//! `jaeger-pods-not-injected`: pods of jaeger run without a proxy.

use crate::checks::extensions::{self, Unmeshed};
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let unmeshed = Unmeshed {
        because: "proxies identify the collector by its mesh identity, so they send it no traces",
        row: "jaeger extension pods are injected",
        running: "jaeger injector pods are running",
        healthy: "jaeger extension proxies are healthy",
    };
    extensions::injected(ctx, Extension::Jaeger, &unmeshed)
}
