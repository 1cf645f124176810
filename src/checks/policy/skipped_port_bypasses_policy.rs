//! `skipped-port-bypasses-policy`: a Server selects a port that skips the proxy.

use std::collections::BTreeMap;

use super::survey::{field, survey};
use crate::checks::rewrite::no_longer_skipped;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Remedy, StepKind};
use crate::model::owners::Owner;
use crate::model::policy::TakenBy;
use crate::model::skipped::{IN, skipped};
use crate::objects::{Kind, Server};

/// A port with a Server that has no effect.
struct Bypassed<'a> {
    server: &'a Server,
    by: Evidence,
    annotated: bool,
    /// The annotation without the port, if the port can be taken out.
    left: Option<Option<String>>,
    pods: Vec<String>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let owners = ctx.owners();
    let mut bypassed: BTreeMap<(Owner, u16), Bypassed<'_>> = BTreeMap::new();
    for (pod, workload) in survey.pods.iter().filter(|(pod, _)| ctx.judges(&pod.metadata.namespace)) {
        let Some(skipped) = skipped(pod, IN) else { continue };
        for port in survey.index.taken_ports(workload) {
            if skipped.holds(port)
                && let TakenBy::Server(server) = survey.index.inbound(workload, port).taken_by
            {
                let (by, annotated) = (skipped.by(), skipped.annotated);
                let one = bypassed.entry((owners.of(pod), port)).or_insert(Bypassed {
                    server,
                    by,
                    annotated,
                    left: skipped.without(port),
                    pods: Vec::new(),
                });
                one.pods.push(pod.metadata.name.clone());
            }
        }
    }
    let findings = bypassed.into_iter().map(|((owner, port), one)| {
        let act = match one.annotated {
            true => format!("Remove port {port} from {}", IN.annotation()),
            false => format!(
                "Remove port {port} from the chart's proxyInit.ignoreInboundPorts, or annotate the pod \
                 template with {} without it, and restart the workload",
                IN.annotation()
            ),
        };
        let remedy = one
            .left
            .and_then(|left| no_longer_skipped(ctx, &owner, (IN.annotation(), port), left.as_deref()))
            .unwrap_or_else(|| Remedy::new().step(StepKind::Annotation, act))
            .step(
                StepKind::Note,
                "If the protocol of the port requires it, list it under config.linkerd.io/opaque-ports instead, \
                 which keeps policy and identity",
            );
        ctx.finding(
            owner.subject(one.pods),
            format!(
                "port {port} skips the proxy, so no policy applies to it: every client that reaches the pod \
                 is allowed, regardless of Server {}",
                one.server.metadata.name
            ),
        )
        .parameter(port.to_string())
        .evidence(one.by)
        .evidence(field(Kind::Server, &one.server.metadata, "spec.port", format!("selects port {port}")))
        .remedy(remedy)
    });
    Ok(findings.collect::<Vec<_>>().into())
}
