//! `probe-fails-behind-proxy`: the kubelet's probe gets the status with which a proxy answers for an application
//! that it does not reach.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::prelude::*;
use crate::checks::probe_events::{ProbeEvents, STARTING, is_lasting};
use crate::checks::reported::meshed;
use crate::model::events;
use crate::model::policy::probe_port;
use crate::model::refusal::LINKERDS;
use crate::model::skipped::{IN, skipped};
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Container, Event};

/// Maximum number of quoted events per workload.
const QUOTED: usize = 3;
/// The statuses with which a proxy answers for the application, and the reasons.
const ANSWERS: [(&str, &str); 2] = [
    ("502", "the application refuses or resets the proxy's connection"),
    ("504", "the application does not accept the proxy's connections in time"),
];

/// A port on which probes fail, with the status and the reason.
type Failure = (u16, (&'static str, &'static str));

/// Failed probes of the pods of a workload.
#[derive(Default)]
struct FailedProbes<'a> {
    /// Readiness, Liveness or Startup.
    probes: BTreeSet<&'a str>,
    events: Vec<(&'a Pod, &'a Event)>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let events = ctx.partial_list::<Event>();
    let meshed = meshed(ctx)?;
    let probes = ProbeEvents::new(events?);
    let owners = ctx.owners();
    let mut groups: BTreeMap<(Owner, Failure), FailedProbes<'_>> = BTreeMap::new();
    for pod in meshed {
        for event in probes.failed(pod) {
            let Some((probe, failure)) = failure(ctx, pod, event).filter(|_| is_current(ctx, pod, event)) else {
                continue;
            };
            let failed = groups.entry((owners.owner(pod), failure)).or_default();
            failed.probes.insert(probe);
            failed.events.push((pod, event));
        }
    }
    let findings = groups.iter().map(|((owner, failure), failed)| finding(ctx, owner, *failure, failed));
    Ok(findings.collect())
}

/// The failed probe of an event, if its status is one of a proxy and its port passes the proxy.
fn failure<'a>(ctx: &Context<'_>, pod: &Pod, event: &'a Event) -> Option<(&'a str, Failure)> {
    let (probe, answer) = event.message.trim_end().split_once(" probe failed: HTTP probe failed with statuscode: ")?;
    let answer = ANSWERS.into_iter().find(|(status, _)| *status == answer)?;
    let of_event = |container: &&Container| match event.about.container() {
        Some(name) => container.name == name,
        None => !LINKERDS.contains(&container.name.as_str()),
    };
    let mut ports: Vec<u16> = pod
        .spec
        .all_containers()
        .filter(of_event)
        .filter(|container| container.name != PROXY_CONTAINER)
        .filter_map(|container| probe_port(container, container.http_probe_of(probe)?))
        .collect();
    ports.dedup();
    // The kubelets of some releases name no container.
    let [port] = ports.as_slice() else { return None };
    let is_skipped = skipped(pod, IN, ctx.cni_skips()).is_some_and(|skipped| skipped.holds(*port));
    (!is_skipped).then_some((probe, (*port, answer)))
}

/// Whether the probe still fails, longer than an application needs to start.
fn is_current(ctx: &Context<'_>, pod: &Pod, event: &Event) -> bool {
    let Some(last) = event.last.get() else { return false };
    let first = event.first.get().unwrap_or(last);
    if !is_lasting(ctx, (first, last), event.count) {
        return false;
    }
    // An application that started slowly and has been ready since.
    let ready = pod.condition("Ready").filter(|ready| ready.status == "True");
    let since = ready.and_then(|ready| ready.last_transition_time.get());
    let started = pod.status.start_time.get();
    let began_at_start = started.is_some_and(|started| first.duration_since(started) <= STARTING);
    !(began_at_start && since.is_some_and(|since| since >= last))
}

fn finding(
    ctx: &Context<'_>,
    owner: &Owner,
    (port, (status, why)): Failure,
    FailedProbes { probes, events: failed }: &FailedProbes<'_>,
) -> Finding {
    let mut names: Vec<String> = failed.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
    names.dedup();
    let probes: Vec<String> = probes.iter().map(|probe| probe.to_lowercase()).collect();
    let probes = match probes.as_slice() {
        [one] => format!("{one} probe on port {port} gets"),
        several => format!("{} probes on port {port} get", several.join(" and ")),
    };
    let message = format!(
        "The kubelet's {probes} status {status} from the proxy: {why}. Or the application itself answers {status}"
    );
    let log = kubectl()
        .namespace(&owner.namespace)
        .words("logs")
        .operand(&names[0])
        .option("-c", PROXY_CONTAINER)
        .words("--tail=200");
    let remedy = Remedy::new()
        .command(format!("Read the error after inbound:server{{port={port}}} in the proxy's log"), log)
        .note(format!(
            "If it is `Connection refused`, let the application listen on port {port} of the pod's address, \
                 not only of localhost. If the application starts slowly, add a startup probe"
        ))
        .step(
            StepKind::Annotation,
            format!(
                "If the connection is closed or reset, the application ends kept-alive connections without an \
                 answer: correct that, or set config.linkerd.io/skip-inbound-ports: \"{port}\" in the pod template"
            ),
        );
    let quoted = failed.iter().take(QUOTED).map(|(pod, event)| events::quoted(pod.described(), event));
    let object = format!("Pod {}/{}", owner.namespace, names[0]);
    ctx.finding(owner.subject(names), message)
        .parameter(format!("{port} {status}"))
        .likely()
        .evidences(quoted)
        .evidence(Evidence::field(object, "spec.containers[].probes", format!("httpGet, port {port}")))
        .remedy(remedy)
}
