//! `service-not-mirrored`: the log of a Link's controller reports that it could not mirror a service.

use std::collections::BTreeSet;

use super::links::{ask_controller, field, links, mirrors_of, subject};
use crate::checks::prelude::*;
use crate::objects::{Condition, Link, LinkedService};

/// The condition.
const MIRRORED: &str = "Mirrored";
/// Maximum number of services quoted for each reason.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut findings = Vec::new();
    for link in links(ctx)? {
        let (mirrored, federated) = (&link.status.mirror_services, &link.status.federated_services);
        let mut failed: Vec<(&str, &LinkedService, &Condition)> = Vec::new();
        for (path, services) in [("status.mirrorServices", mirrored), ("status.federatedServices", federated)] {
            for service in services {
                let condition = service.conditions.iter().find(|c| c.kind == MIRRORED && c.status == "False");
                failed.extend(condition.map(|condition| (path, service, condition)));
            }
        }
        if failed.is_empty() {
            continue;
        }
        let namespaces: Vec<&str> = {
            let lacking = failed.iter().filter(|(.., condition)| &*condition.reason == "MissingNamespace");
            let mut all: Vec<&str> = lacking.map(|(_, service, _)| service.remote_ref.namespace.as_str()).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let mut remedy = Remedy::new();
        if !namespaces.is_empty() {
            let create = namespaces.iter().map(|namespace| kubectl().words("create namespace").operand(*namespace));
            remedy = remedy.command(
                "Create the missing namespaces here, or let the multicluster chart create them \
                 (enableNamespaceCreation of the controller)",
                crate::command::Command::lines(create),
            );
        }
        if failed.iter().any(|(.., condition)| &*condition.reason == "InvalidService") {
            remedy = remedy.note(
                "Correct the services that are not valid, in their own cluster: a federated service cannot \
                 be headless, and its members need the same ports",
            );
        }
        if failed.iter().any(|(.., condition)| &*condition.reason == "Error") {
            remedy =
                ask_controller(remedy, &link.metadata.namespace, &link.spec.target_cluster_name, ", which tries again");
        }
        let more = failed.len().saturating_sub(QUOTED);
        findings.push(
            ctx.finding(subject(link), message(&failed.iter().map(|(.., condition)| &*condition.reason).collect()))
                .evidences(
                    failed.iter().take(QUOTED).map(|(path, service, condition)| quoted(link, path, service, condition)),
                )
                .evidences((more > 0).then(|| Evidence::other("services", format!("{more} more"))))
                .remedy(remedy)
                .tie(mirrors_of(&link.spec.target_cluster_name)),
        );
    }
    Ok(findings.into())
}

/// The reason, if all services have the same one.
fn message(reasons: &BTreeSet<&str>) -> &'static str {
    match reasons.iter().copied().collect::<Vec<_>>().as_slice() {
        ["MissingNamespace"] => {
            "the Link's controller cannot mirror services of the other cluster, because their namespaces do \
             not exist here: clients cannot resolve them"
        }
        ["InvalidService"] => {
            "the Link's controller rejects services of the other cluster as members of a federated service: \
             clients do not reach them through it"
        }
        _ => {
            "the Link's controller failed to mirror services of the other cluster: clients here do not get \
             their current state"
        }
    }
}

fn quoted(link: &Link, path: &str, service: &LinkedService, condition: &Condition) -> Evidence {
    let name = format!("{}/{}", service.remote_ref.namespace, service.remote_ref.name);
    let said = format!("{}: {}", condition.reason, condition.message);
    field(link, &format!("{path}[{name}].conditions[{MIRRORED}]"), said)
}
