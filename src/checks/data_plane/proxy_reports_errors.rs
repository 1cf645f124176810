//! `proxy-reports-errors`: a proxy's log contains known errors.

use crate::checks::reported::{proxy_logs, reported};
use crate::checks::{Context, Judgement};
use crate::objects::container::PROXY_CONTAINER;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut findings = Vec::new();
    for (pod, log) in proxy_logs(ctx)? {
        let said = reported(ctx, log, pod, PROXY_CONTAINER);
        findings.extend(said.iter().map(|said| said.finding(ctx, ctx.owners(), pod)));
    }
    Ok(findings.into())
}
