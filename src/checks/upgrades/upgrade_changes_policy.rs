//! `upgrade-changes-policy`: the target's policy controller evaluates the same objects differently, so that
//! other clients are authorized.

use std::collections::BTreeSet;

use super::Upgrade;
use crate::checks::policy::read_by;
use crate::checks::prelude::*;
use crate::command::meshdoctor;
use crate::model::policy::{Inbound, TakenBy, Workload, to_json};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let today = read_by(ctx, Some(way.from.clone()))?;
    let then = read_by(ctx, Some(way.to.clone()))?;
    let mut findings: Vec<Finding> = Vec::new();
    for ((pod, now), (_, after)) in today.pods.iter().zip(&then.pods) {
        if !ctx.judges(&pod.metadata.namespace) {
            continue;
        }
        let ports: BTreeSet<u16> = ports(&today.index.taken_ports(now), &then.index.taken_ports(after), pod);
        for port in ports {
            let (old, new) = (today.index.inbound(now, port), then.index.inbound(after, port));
            if to_json(&old) != to_json(&new) {
                findings.push(finding(ctx, &way, after, port, (&old, &new)));
            }
        }
    }
    Ok(findings.into())
}

/// Ports selected in either version, and declared container ports.
fn ports(old: &[u16], new: &[u16], pod: &crate::objects::Pod) -> BTreeSet<u16> {
    let named = pod.spec.all_containers().flat_map(|container| &container.ports);
    old.iter().chain(new).copied().chain(named.map(|port| port.container_port)).collect()
}

fn finding(
    ctx: &Context<'_>,
    way: &Upgrade<'_>,
    workload: &Workload<'_>,
    port: u16,
    (old, new): (&Inbound<'_>, &Inbound<'_>),
) -> Finding {
    let meta = workload.meta;
    let message = format!(
        "the policy controller of the target decides differently for port {port}: {} today, {} after the \
         upgrade",
        describe(old),
        describe(new)
    );
    let object = meta.described("Pod");
    ctx.finding(Subject::object(Kind::Pod, &meta.namespace, &meta.name), message)
        .parameter(port.to_string())
        .evidence(Evidence::field(&object, format!("policy of port {port}, {}", way.from), describe(old)))
        .evidence(Evidence::field(&object, format!("policy of port {port}, {}", way.to), describe(new)))
        .evidence(way.target.clone())
        .remedy(Remedy::new().run(
            StepKind::Command,
            "Define the intended access as a Server and its policies before the upgrade (these commands show who \
             may connect today)",
            meshdoctor().words("policy").operand(format!("{}/{}:{port}", meta.namespace, meta.name)),
        ))
}

/// The selecting resource and the authorized clients: `Server api: clients by policies front, ops`.
fn describe(inbound: &Inbound<'_>) -> String {
    let taken = match inbound.taken_by {
        TakenBy::Server(server) => format!("Server {}", server.metadata.name),
        TakenBy::Default(policy) => format!("no Server ({})", policy.as_str()),
    };
    let by: BTreeSet<&str> = inbound.authorizations.iter().map(|one| one.by.name()).collect();
    match by.is_empty() {
        true => format!("{taken}, no client is authorized for all of it"),
        false => format!("{taken}, authorized by {}", by.into_iter().collect::<Vec<_>>().join(", ")),
    }
}
