//! `policy-denies`: a proxy's metrics count connections that inbound policy denied.

use super::scrape_refused::admin_port;
use crate::checks::data_plane::denied_clients::{VIZ_SERVER, is_viz_prometheus, viz_policy};
use crate::checks::diagnosed::{incomplete, proxies, within};
use crate::checks::prelude::*;
use crate::command::{linkerd, meshdoctor};
use crate::item::proxy_metrics::{Denied, ProxyMetrics};
use crate::knowledge::MetricMeaning::{DeniedConnections, DeniedRequests};

/// Maximum number of quoted denials per pod.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut findings = Vec::new();
    let all = proxies(ctx)?;
    incomplete(ctx, &all, &[DeniedRequests, DeniedConnections])?;
    for (pod, metrics) in all {
        let port = admin_port(pod);
        let denied = metrics.denied.iter().filter(|denied| denials(denied) > 0);
        let (scrapes, others): (Vec<&Denied>, Vec<&Denied>) = denied.partition(|denied| denied.port == port);
        if !others.is_empty() {
            let finding = finding(ctx, pod, message(metrics), others);
            findings.push(finding.remedy(remedy(pod, metrics)));
        }
        if !scrapes.is_empty() {
            let message = format!(
                "{} on the metrics port of the proxy. They get status 403: a Prometheus among them has no \
                 metrics of this pod",
                message(metrics)
            );
            let finding = finding(ctx, pod, message, scrapes).parameter("metrics-port");
            findings.push(finding.remedy(remedy_of_scrapes(pod, port)));
        }
    }
    Ok(findings.into())
}

fn finding(ctx: &Context<'_>, pod: &Pod, message: String, mut denied: Vec<&Denied>) -> Finding {
    let meta = &pod.metadata;
    denied.sort_by(|a, b| denials(b).cmp(&denials(a)).then(a.cmp(b)));
    let more = denied.len().saturating_sub(QUOTED);
    let quoted = denied.iter().take(QUOTED).map(|denied| {
        let by = if denied.kind == "server" { "Server" } else { "default policy" };
        let client = if denied.client.is_empty() { "clients without an identity" } else { &denied.client };
        Evidence::other(
            format!("Pod {}/{}, port {}, {by} {}", meta.namespace, meta.name, denied.port, denied.name),
            format!("denied {} {} of {client}", denials(denied), denied.what),
        )
    });
    let rest = (more > 0).then(|| Evidence::other(meta.described("Pod"), format!("and {more} more")));
    ctx.finding(ctx.owners().owner(pod).subject(vec![meta.name.clone()]), message).evidences(quoted.chain(rest))
}

/// The step that shows who may connect to a port.
fn policy_of(pod: &Pod, port: u16) -> Remedy {
    let target = format!("{}/{}:{port}", pod.metadata.namespace, pod.metadata.name);
    Remedy::new().command("Check which clients are authorized now", meshdoctor().words("policy").arg(target.as_str()))
}

fn remedy(pod: &Pod, metrics: &ProxyMetrics) -> Remedy {
    let port = admin_port(pod);
    let most = metrics.denied.iter().filter(|denied| denied.port != port).max_by_key(|one| denials(one));
    let act = most
        .filter(|denied| is_viz_prometheus(pod) && denied.name == VIZ_SERVER)
        .and_then(|denied| {
            let policy = viz_policy(&pod.metadata.namespace, account(&denied.client)?);
            Some(format!("If {} should query the Prometheus of viz: {policy}", denied.client))
        })
        .unwrap_or_else(|| {
            "If a client should have access, add its identity or network to an AuthorizationPolicy".to_owned()
        });
    policy_of(pod, most.map_or(0, |denied| denied.port)).note(act)
}

/// Namespace and name of the ServiceAccount of an identity.
fn account(identity: &str) -> Option<(&str, &str)> {
    let (account, _) = identity.split_once(".serviceaccount.identity.")?;
    let (name, namespace) = account.rsplit_once('.')?;
    Some((namespace, name))
}

fn remedy_of_scrapes(pod: &Pod, port: u16) -> Remedy {
    policy_of(pod, port)
        .command(
            "If viz's Prometheus should have access, authorize it in the namespace of the pod",
            linkerd()
                .words("viz allow-scrapes")
                .option("--namespace", pod.metadata.namespace.as_str())
                .pipe(kubectl().words("apply -f -")),
        )
        .note(
            "For another Prometheus, add its identity or network to an AuthorizationPolicy for the Server of the \
             port linkerd-admin",
        )
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
