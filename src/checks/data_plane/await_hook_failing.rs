//! `await-hook-failing`: the hook that waits for the proxy times out, so later containers start late or
//! never.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::certificates::identity_deployment;
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::checks::serving::component_missing;
use crate::model::control_plane::{CORE, serving};
use crate::model::events;
use crate::model::pod_status::unhealthy;
use crate::objects::Event;
use crate::objects::container::PROXY_CONTAINER;

/// Maximum number of quoted events.
const QUOTED: usize = 3;
/// The annotation that removes the hook.
const KEY: &str = "config.linkerd.io/proxy-await";
/// The program that the hook runs.
const AWAIT: &str = "linkerd-await";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>();
    let events = ctx.partial_list::<Event>()?;
    let mut failed: BTreeMap<(&str, &str), &Event> = BTreeMap::new();
    for event in events.iter().filter(|event| event.reason == "FailedPostStartHook" && event.about.kind == "Pod") {
        let held = failed.entry((&event.about.namespace, &event.about.name)).or_insert(event);
        if event.last > held.last {
            *held = event;
        }
    }
    let pods = pods?;
    let owners = ctx.owners();
    let mut groups: BTreeMap<Owner, Vec<(&Pod, &Event)>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace) && !pod.is_finished()) {
        let Some(event) = failed.get(&pod.metadata.key()) else { continue };
        if is_of_proxy(pod, event) {
            groups.entry(owners.owner(pod)).or_default().push((pod, event));
        }
    }
    let nodes: BTreeSet<&str> = groups.values().flatten().map(|(pod, _)| pod.node_name.as_str()).collect();
    let home = ctx.namespaces().control_plane.as_str();
    let serves = CORE.iter().all(|component| serving(pods, home, component) > 0);
    Ok(groups.iter().map(|(owner, group)| finding(ctx, owner, group, nodes.len(), serves)).collect())
}

/// Whether the event is about the proxy's hook: by the command in the message or, as newer kubelets omit
/// the command, because no other container has a hook.
fn is_of_proxy(pod: &Pod, event: &Event) -> bool {
    let has_hook = |container: &crate::objects::Container| {
        container.lifecycle.as_ref().is_some_and(|lifecycle| lifecycle.post_start.is_some())
    };
    event.message.contains(AWAIT)
        || (!event.message.contains("Exec lifecycle hook")
            && pod.spec.proxy().is_some_and(has_hook)
            && !pod.spec.all_containers().any(|other| other.name != PROXY_CONTAINER && has_hook(other)))
}

fn finding(ctx: &Context<'_>, owner: &Owner, group: &[(&Pod, &Event)], nodes: usize, serves: bool) -> Finding {
    let names: Vec<String> = group.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
    let late = group.iter().all(|(pod, _)| unhealthy(pod).is_none());
    let message = if late {
        "the hook that waits for the proxy timed out after two minutes, and the pods run since. The proxy \
         could not connect until all containers were started"
    } else {
        "the hook that waits for the proxy times out: the proxy does not become ready, and the application \
         containers wait for it"
    };
    let home = ctx.namespaces().control_plane.as_str();
    let core: Vec<String> =
        CORE.iter().map(|name| format!("{name} {}", serving(ctx.optional_list::<Pod>(), home, name))).collect();
    let remedy = Remedy::new().command(
        "Check what the proxy waits for: its log names the destinations that it cannot reach",
        kubectl()
            .namespace(&owner.namespace)
            .words("logs")
            .operand(&names[0])
            .option("-c", PROXY_CONTAINER)
            .words("--tail=50"),
    );
    let remedy = if serves {
        let act = format!(
            "If a network plugin lets a pod connect only after all its containers run, set {KEY}: \"disabled\""
        );
        rewrite::of_owner(ctx, remedy, &act, owner, &[(KEY, Some("disabled"))])
            .note("Or use native sidecars, which have no such hook")
    } else {
        remedy.command(
            "Repair the control plane first: no proxy becomes ready without identity and destination",
            kubectl().namespace(home).words("get pods"),
        )
    };
    let finding = ctx
        .finding(owner.subject(names), message)
        .likely()
        .evidences(group.iter().take(QUOTED).map(|(pod, event)| events::quoted(pod.described(), event)))
        .evidence(Evidence::other("Ready pods of the control plane", core.join(", ")))
        .evidence(Evidence::other("Affected nodes", nodes.to_string()))
        .remedy(remedy);
    match late {
        true => finding.severity(crate::finding::Severity::Warning),
        // The proxy waits for its certificate and for answers of these components.
        false => ["identity", "destination"]
            .into_iter()
            .fold(finding, |finding, component| finding.tie(component_missing(component)))
            .tie(identity_deployment(ctx)),
    }
}
