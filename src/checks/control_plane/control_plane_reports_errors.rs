//! `control-plane-reports-errors`: a container of the control plane logs a known error, or ended with one.

use crate::checks::prelude::*;
use crate::checks::reported::{containers, of_containers};
use crate::model::installed::COMPONENT;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let home = ctx.namespaces().control_plane.as_str();
    let own = ctx
        .partial_list::<Pod>()?
        .iter()
        .filter(|pod| pod.metadata.namespace == home && pod.metadata.label(COMPONENT).is_some() && !pod.is_finished());
    let all = own.flat_map(|pod| containers(ctx, pod).map(move |container| (pod, container)));
    of_containers(ctx, all, "the logs of the control plane")
}
