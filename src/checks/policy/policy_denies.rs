//! `policy-denies`: a proxy's metrics count connections that inbound policy denied.

use crate::checks::diagnosed::{proxies, within};
use crate::checks::{Context, Judgement};
use crate::command::meshdoctor;
use crate::finding::{Evidence, Remedy, StepKind};
use crate::item::proxy_metrics::{Denied, ProxyMetrics};

/// Maximum number of quoted denials per pod.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut findings = Vec::new();
    for (pod, metrics) in proxies(ctx)? {
        let meta = &pod.metadata;
        let mut most: Vec<&Denied> = metrics.denied.iter().filter(|denied| denials(denied) > 0).collect();
        if most.is_empty() {
            continue;
        }
        most.sort_by(|a, b| denials(b).cmp(&denials(a)).then(a.cmp(b)));
        let more = most.len().saturating_sub(QUOTED);
        let quoted = most.iter().take(QUOTED).map(|denied| {
            let by = if denied.kind == "server" { "Server" } else { "default policy" };
            let client =
                if denied.client.is_empty() { "clients without an identity" } else { &denied.client };
            Evidence::other(
                format!("Pod {}/{}, port {}, {by} {}", meta.namespace, meta.name, denied.port, denied.name),
                format!("denied {} {} of {client}", denials(denied), denied.what),
            )
        });
        let rest = (more > 0).then(|| {
            Evidence::other(format!("Pod {}/{}", meta.namespace, meta.name), format!("and {more} more"))
        });
        let port = most.first().map_or(0, |denied| denied.port);
        let target = format!("{}/{}:{port}", meta.namespace, meta.name);
        findings.push(
            ctx.finding(ctx.owners().of(pod).subject(vec![meta.name.clone()]), message(metrics))
                .evidences(quoted.chain(rest))
                .remedy(
                    Remedy::new()
                        .run(
                            StepKind::Command,
                            "Check which clients are authorized now",
                            meshdoctor().words("policy").arg(target.as_str()),
                        )
                        .step(
                            StepKind::Note,
                            "If a client should have access, add its identity or network to an \
                         AuthorizationPolicy",
                        ),
                ),
        );
    }
    Ok(findings.into())
}

/// Denials between two reads, or since the proxy started if it was read once.
fn denials(denied: &Denied) -> u64 {
    denied.grown.unwrap_or(denied.count)
}

fn message(metrics: &ProxyMetrics) -> String {
    match metrics.period {
        Some(_) => format!("inbound policy denied clients {}", within(metrics)),
        None => "inbound policy has denied clients since the proxy started".to_owned(),
    }
}
