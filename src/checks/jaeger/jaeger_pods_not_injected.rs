//! `jaeger-pods-not-injected`: pods of jaeger run without a proxy.

use crate::checks::extensions::{self, Unmeshed};
use crate::checks::{Context, Judgement};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let unmeshed = Unmeshed {
        because: "the collector is known to proxies by its identity in the mesh, so they send it no traces",
        row: "jaeger extension pods are injected",
        running: "jaeger injector pods are running",
        healthy: "jaeger extension proxies are healthy",
    };
    extensions::injected(ctx, Extension::Jaeger, &unmeshed)
}
