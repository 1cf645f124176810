//! `control-plane-reports-errors`: a container of the control plane logs a known error.

use crate::checks::reported::{containers, log_of, not_read, reported};
use crate::checks::{Context, Judgement, Unjudged};
use crate::fetched::Why;
use crate::item::Item;
use crate::model::installed::COMPONENT;
use crate::objects::Pod;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.seen::<Pod>()?;
    let logs = ctx.logs()?;
    let home = ctx.namespaces().control_plane.as_str();
    let own = pods.iter().filter(|pod| {
        pod.metadata.namespace == home && pod.metadata.label(COMPONENT).is_some() && !pod.is_finished()
    });
    let (mut findings, mut missing, mut read) = (Vec::new(), Vec::new(), 0);
    for pod in own {
        for container in containers(ctx, pod) {
            let Some(log) = log_of(logs, pod, container) else {
                missing.push(format!("{home}/{}/{container}", pod.metadata.name));
                continue;
            };
            read += 1;
            let said = reported(ctx, log, pod, container);
            findings.extend(said.iter().map(|said| said.finding(ctx, ctx.owners(), pod)));
        }
    }
    if read == 0 && !missing.is_empty() {
        return Err(Unjudged::Missing(ctx.lacking(
            Item::Logs,
            Why::NotOffered,
            "the logs of the control plane",
        )));
    }
    not_read(ctx, &missing);
    Ok(findings.into())
}
