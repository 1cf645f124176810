//! `injected-container-altered`: another component changed the injected containers.

use std::collections::BTreeMap;

use super::other_webhooks::OtherWebhooks;
use super::unmeshed::{CREATED_ONLY, counts};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::pod_status::unhealthy;
use crate::objects::END_ENTITY_VOLUME;
use crate::objects::container::{INIT_CONTAINER, PROXY_CONTAINER};

/// Pods with evidence of the changes in them.
type Altered<'a> = Vec<(&'a Pod, Vec<Evidence>)>;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>();
    let others = OtherWebhooks::new(ctx);
    let pods = pods?;
    let others = others?;
    let owners = ctx.owners();
    let home = ctx.namespaces().control_plane.as_str();
    let mut groups: BTreeMap<(Owner, Vec<&'static str>), Altered<'_>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace) && counts(pod)) {
        if pod.metadata.label(CONTROL_PLANE_NS) != Some(home) || pod.metadata.namespace == home {
            continue;
        }
        let altered = altered(pod);
        if !altered.is_empty() {
            let kinds = altered.iter().map(|(kind, _)| *kind).collect();
            let evidence = altered.into_iter().map(|(_, evidence)| evidence).collect();
            groups.entry((owners.owner(pod), kinds)).or_default().push((pod, evidence));
        }
    }
    Ok(groups.iter().map(|((owner, _), group)| finding(ctx, owner, group, &others)).collect())
}

/// The differences from what the injector writes: a label and its evidence.
fn altered(pod: &Pod) -> Vec<(&'static str, Evidence)> {
    let object = || pod.described();
    let mut found = Vec::new();
    for (list, name) in [("initContainers", INIT_CONTAINER), ("containers", PROXY_CONTAINER)] {
        let Some(container) = pod.spec.container(name) else { continue };
        let command = container.command.join(" ");
        // Newer releases set a command of their own.
        let foreign = !command.is_empty() && !command.contains("linkerd") && !command.contains("proxy-init");
        if foreign && command != "REDACTED" {
            let path = format!("spec.{list}[{name}].command");
            found.push(("command", Evidence::field(object(), path, command)));
        }
    }
    if let Some(init) = pod.spec.container(INIT_CONTAINER) {
        let path = format!("spec.initContainers[{INIT_CONTAINER}].securityContext");
        match init.security_context.as_deref() {
            Some(context) => {
                let added = &context.capabilities.add;
                let may = added.iter().any(|name| name == "NET_ADMIN" || name == "ALL");
                if context.privileged != Some(true) && !may {
                    let said: Vec<&str> = added.iter().map(|name| name.as_str()).collect();
                    let said = if said.is_empty() { "none".to_owned() } else { said.join(", ") };
                    let said = format!("{said}: NET_ADMIN is missing");
                    found.push(("capabilities", Evidence::field(object(), path + ".capabilities.add", said)));
                }
            }
            // Manifests written by hand leave out the arguments too.
            None if !init.args.is_empty() => {
                found.push(("capabilities", Evidence::field(object(), path, "missing, and with it NET_ADMIN")));
            }
            None => {}
        }
    }
    let volumes = &pod.spec.volumes;
    if pod.spec.proxy().is_some() && volumes.some && !volumes.end_entity {
        let said = format!("{END_ENTITY_VOLUME} is missing");
        found.push(("volume", Evidence::field(object(), "spec.volumes", said)));
    }
    found
}

fn finding(ctx: &Context<'_>, owner: &Owner, group: &[(&Pod, Vec<Evidence>)], others: &OtherWebhooks) -> Finding {
    let names: Vec<String> = group.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
    let mut remedy = Remedy::new().note(
        "Exclude the containers linkerd-init and linkerd-proxy and Linkerd's volumes in the webhook or \
         operator; most have a setting or annotation for that. With linkerd-cni, pods have no linkerd-init",
    );
    remedy.steps.push(renew(ctx, owner, &names, Needs::NewProxy, CREATED_ONLY));
    let fails = group.iter().any(|(pod, _)| unhealthy(pod).is_some());
    let finding = ctx
        .finding(
            owner.subject(names),
            "containers or volumes of Linkerd differ from what the injector writes, so another component \
             changed them. The proxy may not start, or traffic may not be redirected",
        )
        .likely()
        .evidences(group[0].1.iter().cloned())
        .evidences(others.evidence(&owner.namespace))
        .remedy(remedy);
    if fails { finding } else { finding.severity(Severity::Warning) }
}
