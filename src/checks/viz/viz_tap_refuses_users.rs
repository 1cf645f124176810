//! `viz-tap-refuses-users`: tap logs that it refuses accounts.

use crate::checks::prelude::*;
use crate::checks::reported::of_containers;
use crate::item::EXTENSION_LABEL;

/// The container of tap.
const TAP: &str = "tap";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let own = ctx.partial_list::<Pod>()?.iter().filter(|pod| {
        let is_of_viz = pod.metadata.label(EXTENSION_LABEL) == Some(Extension::Viz.name());
        is_of_viz && !pod.is_finished() && pod.spec.container(TAP).is_some()
    });
    of_containers(ctx, own.map(|pod| (pod, TAP)), "the log of tap")
}
