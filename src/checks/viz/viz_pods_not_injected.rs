//! `viz-pods-not-injected`: pods of viz have no proxy.

use crate::checks::extensions::{self, Unmeshed};
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let unmeshed = Unmeshed {
        because: "the servers of viz authorize only each other, by mesh identity, so metrics, dashboard \
         and tap do not work",
        row: "linkerd-viz pods are injected",
        running: "viz extension pods are running",
        healthy: "viz extension proxies are healthy",
    };
    extensions::injected(ctx, Extension::Viz, &unmeshed)
}
