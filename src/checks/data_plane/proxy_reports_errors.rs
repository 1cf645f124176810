//! `proxy-reports-errors`: a proxy's log or last output contains known errors.

use super::{denied_clients, large_heads};
use crate::checks::prelude::*;
use crate::checks::reported::{log_of, meshed, proxy_logs, reported};
use crate::objects::container::PROXY_CONTAINER;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let logs = ctx.log_hints();
    let mut findings = Vec::new();
    for pod in meshed(ctx)? {
        let said = reported(ctx, log_of(logs, pod, PROXY_CONTAINER), pod, PROXY_CONTAINER);
        let said = said.iter().filter(|said| !large_heads::is_noise(ctx, said));
        findings.extend(said.map(|said| {
            let finding = large_heads::name_clients(ctx, said.finding(ctx, ctx.owners(), pod), said);
            denied_clients::name_clients(ctx, finding, pod, said)
        }));
    }
    match proxy_logs(ctx) {
        // The last output of other proxies shows nothing about these.
        Err(Unjudged::Missing(missing)) if !findings.is_empty() => ctx.gap(missing),
        read => drop(read?),
    }
    Ok(findings.into())
}
