//! `proxy-reports-errors`: a proxy's log contains known errors.

use crate::checks::reported::{log_of, not_read, reported};
use crate::checks::{Context, Judgement, Unjudged};
use crate::fetched::Why;
use crate::item::Item;
use crate::objects::Pod;
use crate::objects::container::PROXY_CONTAINER;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.seen::<Pod>()?;
    let logs = ctx.logs()?;
    let home = ctx.namespaces().control_plane.as_str();
    let meshed = pods.iter().filter(|pod| {
        let namespace = &pod.metadata.namespace;
        *namespace != home && ctx.judges(namespace) && pod.spec.proxy().is_some() && !pod.is_finished()
    });
    let (mut findings, mut missing, mut read) = (Vec::new(), Vec::new(), 0);
    for pod in meshed {
        let Some(log) = log_of(logs, pod, PROXY_CONTAINER) else {
            missing.push(format!("{}/{}", pod.metadata.namespace, pod.metadata.name));
            continue;
        };
        read += 1;
        let said = reported(ctx, log, pod, PROXY_CONTAINER);
        findings.extend(said.iter().map(|said| said.finding(ctx, ctx.owners(), pod)));
    }
    if read == 0 && !missing.is_empty() {
        return Err(Unjudged::Missing(ctx.lacking(Item::Logs, Why::NotOffered, "the logs of proxies")));
    }
    not_read(ctx, &missing);
    Ok(findings.into())
}
