//! `service-mirror-reports-errors`: the controller of a Link logs a known error, or ended with one.

use crate::checks::prelude::*;
use crate::checks::reported::{containers, of_containers};
use crate::item::EXTENSION_LABEL;
use crate::objects::container::PROXY_CONTAINER;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let own = ctx.partial_list::<Pod>()?.iter().filter(|pod| {
        pod.metadata.label(EXTENSION_LABEL) == Some(Extension::Multicluster.name()) && !pod.is_finished()
    });
    let all = own.flat_map(|pod| containers(ctx, pod).map(move |container| (pod, container)));
    // Proxies have a check of their own.
    let all = all.filter(|(_, container)| *container != PROXY_CONTAINER);
    of_containers(ctx, all, "the logs of service mirrors")
}
