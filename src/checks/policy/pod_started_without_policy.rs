//! `pod-started-without-policy`: pods that a Server selects and whose proxy started while no policy
//! controller was ready.

use std::collections::{BTreeMap, BTreeSet};

use super::survey::survey;
use crate::checks::prelude::*;
use crate::model::availability::{Availability, ControlPlane, proxy_started};
use crate::model::installed::COMPONENT;
use crate::model::policy::TakenBy;
use crate::model::skipped::{IN, skipped};

/// Pods of one owner, and the Servers that do not apply to them.
#[derive(Default)]
struct Unprotected<'a> {
    pods: Vec<&'a Pod>,
    servers: BTreeSet<(&'a str, u16)>,
    default: &'static str,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let pods = ctx.complete_list::<Pod>()?;
    let home = ctx.namespaces().control_plane.as_str();
    let state = ControlPlane::new(pods, home, true).state("destination", "policy");
    let Availability::Down { since: Some(since), evidence, .. } = state else { return Ok(Verdict::fine()) };
    let owners = ctx.owners();
    let mut found: BTreeMap<Owner, Unprotected<'_>> = BTreeMap::new();
    for (pod, workload) in survey.pods.iter().filter(|(pod, _)| ctx.judges(&pod.metadata.namespace)) {
        if pod.metadata.namespace == home || proxy_started(pod).is_none_or(|started| started < since) {
            continue;
        }
        let skips = skipped(pod, IN, ctx.cni_skips());
        for (port, inbound) in survey.index.inbound_taken(workload) {
            if skips.as_ref().is_some_and(|skips| skips.holds(port)) {
                continue;
            }
            let applies = survey.index.by_default(workload, port).taken_by;
            if let TakenBy::Server(server) = inbound.taken_by
                && let TakenBy::Default(default) = applies
            {
                let one = found.entry(owners.owner(pod)).or_default();
                one.default = default.as_str();
                one.servers.insert((&server.metadata.name, port));
                if one.pods.last().is_none_or(|last| last.metadata.name != pod.metadata.name) {
                    one.pods.push(pod);
                }
            }
        }
    }
    Ok(found.iter().map(|(owner, one)| finding(ctx, owner, one, &evidence)).collect())
}

fn finding(ctx: &Context<'_>, owner: &Owner, one: &Unprotected<'_>, down: &[Evidence]) -> Finding {
    let home = ctx.namespaces().control_plane.as_str();
    let servers: Vec<String> = one.servers.iter().map(|(name, port)| format!("{name} (port {port})")).collect();
    let message = format!(
        "The pods started while no policy controller was ready. Their proxies apply the default policy {} instead of \
         Server {}",
        one.default,
        servers.join(", ")
    );
    let started = one.pods.iter().take(3).filter_map(|pod| {
        let object = Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name);
        Some(Evidence::field(object, "status: start of linkerd-proxy", proxy_started(pod)?.to_string()))
    });
    ctx.finding(owner.subject(one.pods.iter().map(|pod| pod.metadata.name.clone()).collect()), message)
        .evidences(started)
        .evidences(down.iter().cloned())
        .remedy(
            Remedy::new()
                .run(
                    StepKind::Command,
                    "Find out why the policy controller is not ready",
                    kubectl().namespace(home).words("describe pods").option("-l", format!("{COMPONENT}=destination")),
                )
                .note(
                    "Wait a few seconds after it is ready: running proxies then apply the policy without a \
                     restart",
                ),
        )
        .tie(Tie::Workload("Deployment".to_owned(), home.to_owned(), "linkerd-destination".to_owned()))
}
