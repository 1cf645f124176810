//! `skipped-port-bypasses-policy`: a Server takes a port that never reaches the proxy.

use std::collections::BTreeMap;

use super::survey::{field, survey};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Remedy, StepKind};
use crate::model::owners::Owner;
use crate::model::policy::{TakenBy, listed_ports};
use crate::objects::{Kind, Pod, Server};

const SKIPPED: &str = "config.linkerd.io/skip-inbound-ports";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let owners = ctx.owners();
    let mut bypassed: BTreeMap<(Owner, u16), (&Server, Vec<&Pod>)> = BTreeMap::new();
    for (pod, workload) in survey.pods.iter().filter(|(pod, _)| ctx.judges(&pod.metadata.namespace)) {
        let Some(skipped) = pod.metadata.annotation(SKIPPED).map(listed_ports) else { continue };
        for port in survey.index.taken_ports(workload) {
            if skipped.contains(port)
                && let TakenBy::Server(server) = survey.index.inbound(workload, port).taken_by
            {
                bypassed.entry((owners.of(pod), port)).or_insert((server, Vec::new())).1.push(pod);
            }
        }
    }
    let findings = bypassed.into_iter().map(|((owner, port), (server, pods))| {
        let names = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
        let first = pods.first().map(|pod| &pod.metadata);
        let object = first.map_or_else(String::new, |meta| format!("Pod {}/{}", meta.namespace, meta.name));
        let said = first.and_then(|meta| meta.annotation(SKIPPED)).unwrap_or_default();
        ctx.finding(
            owner.subject(names),
            format!(
                "port {port} is skipped by the proxy, so no policy holds on it: whoever reaches the pod is let in, whatever Server {} \
                 says",
                server.metadata.name
            ),
        )
        .parameter(port.to_string())
        .evidence(Evidence::field(object, format!("metadata.annotations[{SKIPPED}]"), said))
        .evidence(field(Kind::Server, &server.metadata, "spec.port", format!("takes port {port}")))
        .remedy(Remedy::new().step(
            StepKind::Annotation,
            format!(
                "Take port {port} out of the annotation in the pod template; if its protocol needs it, list it under \
                 config.linkerd.io/opaque-ports instead, which keeps policy and identity"
            ),
        ))
    });
    Ok(findings.collect::<Vec<_>>().into())
}
