//! `server-http-on-opaque-port`: a Server declares HTTP for a port that is opaque to the proxies of clients.

use std::collections::{BTreeMap, BTreeSet};

use super::survey::{Survey, about, field, on, survey};
use crate::checks::prelude::*;
use crate::checks::words::{and_more, workload_of};
use crate::model::policy::TakenBy;
use crate::model::skipped::{IN, skipped};
use crate::objects::Server;

/// The annotation with the list of a pod.
const LIST: &str = "config.linkerd.io/opaque-ports";

/// A port of a Server that is opaque to clients.
pub(super) struct OpaquePort<'a> {
    pub(super) server: &'a Server,
    pub(super) number: u16,
    pods: Vec<&'a Pod>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let mut ports = opaque_ports(survey);
    for port in &mut ports {
        let is_skipped = |pod: &Pod| skipped(pod, IN, ctx.cni_skips()).is_some_and(|ports| ports.holds(port.number));
        port.pods.retain(|pod| !is_skipped(pod));
    }
    ports.retain(|port| !port.pods.is_empty() && ctx.judges(&port.server.metadata.namespace));
    Ok(ports.iter().map(|port| finding(ctx, port)).collect())
}

/// The opaque ports for which a Server declares HTTP, those that skip the proxy among them.
pub(super) fn opaque_ports<'a>(survey: &Survey<'a>) -> Vec<OpaquePort<'a>> {
    let mut found: BTreeMap<(&str, &str, u16), OpaquePort<'a>> = BTreeMap::new();
    for group in survey.replicas() {
        let Some((_, workload)) = group.first() else { continue };
        for (number, inbound) in survey.index.inbound_taken(workload) {
            let TakenBy::Server(server) = inbound.taken_by else { continue };
            if inbound.protocol.is_http() && survey.index.is_opaque_to_clients(workload, number) {
                let (namespace, name) = server.metadata.key();
                let port = found.entry((namespace, name, number));
                let port = port.or_insert_with(|| OpaquePort { server, number, pods: Vec::new() });
                port.pods.extend(group.iter().map(|(pod, _)| *pod));
            }
        }
    }
    found.into_values().collect()
}

fn finding(ctx: &Context<'_>, port: &OpaquePort<'_>) -> Finding {
    let OpaquePort { server, number, pods } = port;
    let meta = &server.metadata;
    let declared = server.spec.proxy_protocol.clone().unwrap_or_default();
    let workloads: BTreeSet<String> = pods.iter().map(|pod| workload_of(&pod.metadata)).collect();
    let first = workloads.first().cloned().unwrap_or_default();
    let more = and_more(workloads.len().saturating_sub(1));
    let marked = pods.iter().find_map(|pod| Some((*pod, pod.metadata.annotation(LIST)?)));
    let why = if marked.is_some() { "which its pods mark as opaque" } else { "which is opaque by default" };
    let message = format!(
        "The Server declares {declared} for port {number} of {first}{more}, {why}: the proxy denies every connection \
         of meshed clients, whatever policies authorize"
    );
    let evidence = match marked {
        Some((pod, list)) => Evidence::field(pod.described(), format!("metadata.annotations[{LIST}]"), list),
        None => Evidence::other("opaque ports by default", number.to_string()),
    };
    let declare =
        on("patch", Kind::Server, meta).words("--type=merge -p").arg(r#"{"spec":{"proxyProtocol":"opaque"}}"#);
    let otherwise = match marked {
        Some(_) => format!("remove the port from {LIST} of the workload and of its Service"),
        None => format!("set {LIST}: \"\" on the workload and on its Service"),
    };
    let remedy = Remedy::new()
        .command("Declare the port as opaque in the Server, too", declare)
        .note(format!("Or, if its clients use HTTP and not TLS of their own, {otherwise}"));
    about(ctx, Kind::Server, meta, message)
        .parameter(number.to_string())
        .evidence(field(Kind::Server, meta, "spec.proxyProtocol", declared))
        .evidence(evidence)
        .remedy(remedy)
}
