//! `cni-validator-failed`: pods do not start because their traffic is not redirected to the proxy.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::installers::not_redirected;
use super::logs::{PodLine, pod_lines, unmatched_logs};
use super::remedy;
use super::target::target;
use crate::checks::grace::spared;
use crate::checks::gvisor;
use crate::checks::prelude::*;
use crate::checks::words::sentence;
use crate::knowledge::SignatureScope;
use crate::model::cni;
use crate::model::events;
use crate::model::owners::Owners;
use crate::objects::Event;
use crate::objects::container::VALIDATOR_CONTAINER;

/// Exit status of the validator if the traffic is not redirected to it.
const EXIT: i32 = 95;
/// Reason of the repair controller's event when it deletes such a pod.
const REPAIRED: &str = "LinkerdCNINotConfigured";
/// Number of deleted pods of one owner that a race on a starting node does not explain.
const REPEATED: usize = 3;

const IN_GVISOR: &str = "The validator found no redirect, so the pod does not start: gVisor has a network stack of \
                         its own, to which the rules of linkerd-cni do not apply";
const MESSAGE: &str = "pods cannot start: their traffic is not redirected to the proxy, so \
                       linkerd-network-validator fails. The usual cause is that the loaded CNI configuration \
                       has no linkerd-cni entry, or had none when the pod was created";
const IN_CIRCLES: &str = "the repair controller deletes pods of this workload repeatedly, because each has \
                          no traffic rules. This is not a race on a starting node: linkerd-cni writes no \
                          rules for new pods there";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    unmatched_logs(ctx);
    let owners = ctx.owners();
    let mut lines: HashMap<(&str, &str), Vec<PodLine<'_>>> = HashMap::new();
    for line in pod_lines(ctx, SignatureScope::Validator) {
        lines.entry((line.namespace, line.pod)).or_default().push(line);
    }
    let judged =
        |pod: &&Pod| ctx.judges(&pod.metadata.namespace) || pod.metadata.namespace == ctx.namespaces().control_plane;
    // On a node that has just joined, pods may start before linkerd-cni; they are replaced, or start again.
    let nodes: HashMap<&str, &Node> =
        ctx.optional_list::<Node>().iter().rev().map(|node| (node.metadata.name.as_str(), node)).collect();
    let is_new = |node: &str| nodes.get(node).is_some_and(|node| ctx.within_grace(node.metadata.creation_timestamp));
    let mut findings: Vec<Finding> = pods
        .iter()
        .filter(judged)
        .filter_map(|pod| {
            let said = lines.get(&pod.metadata.key()).map_or(&[][..], Vec::as_slice);
            let finding = failed(ctx, owners, pod, said)?;
            Some(spared(finding, is_new(&pod.node_name)))
        })
        .collect();
    findings.extend(in_circles(ctx, owners, pods));
    Ok(findings.into())
}

fn failed(ctx: &Context<'_>, owners: &Owners<'_>, pod: &Pod, said: &[PodLine<'_>]) -> Option<Finding> {
    let status = seen_to_fail(pod)?;
    let meta = &pod.metadata;
    let object = meta.described("Pod");
    let seen = Evidence::field(object.clone(), format!("status.initContainerStatuses[{VALIDATOR_CONTAINER}]"), status);
    let subject = owners.owner(pod).subject(vec![meta.name.clone()]);
    if let Some(runtime) = gvisor::runtime_class(pod) {
        let finding = ctx.finding(subject, IN_GVISOR).parameter("gvisor").likely();
        return Some(finding.evidence(seen).evidence(runtime).remedy(gvisor::remedy()));
    }
    let finding = ctx
        .finding(subject, MESSAGE)
        .evidence(seen)
        .tie(Tie::Pod(meta.namespace.to_string(), meta.name.clone()))
        .tie(not_redirected(&pod.node_name));
    let Some(last) = said.last() else { return Some(finding.remedy(replaced(remedy(ctx, pod, None), pod))) };
    Some(
        finding
            .evidence(Evidence::other(
                format!("{object}, log"),
                format!("{}: {}", last.line.trim(), last.signature.cause),
            ))
            .remedy(replaced(remedy(ctx, pod, Some(&last.signature.remedy)), pod)),
    )
}

/// Describes the status of a validator that failed and has not succeeded since.
fn seen_to_fail(pod: &Pod) -> Option<String> {
    if pod.is_finished() || pod.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let status = pod.container_status(VALIDATOR_CONTAINER)?;
    let (now, before) = (&status.state, status.last_state());
    if now.terminated().is_some_and(|ended| ended.exit_code != EXIT) {
        return None;
    }
    let ended = [now.terminated(), before.terminated()].into_iter().flatten().find(|e| e.exit_code == EXIT)?;
    let when = ended.finished_at.get().map(|at| format!(" at {at}")).unwrap_or_default();
    Some(format!("ended with {EXIT}{when}, {} restarts", status.restart_count))
}

fn remedy(ctx: &Context<'_>, pod: &Pod, said: Option<&str>) -> Remedy {
    let remedy = Remedy::new().run(
        StepKind::Note,
        "Provide the node's CNI files: meshdoctor then names the loaded file, and why linkerd-cni writes no \
         rules",
        remedy::with_node_files(),
    );
    let remedy = match said {
        Some(said) => remedy.note(sentence(said)),
        None => remedy,
    };
    let node = pod.node_name.as_str();
    let installers = kubectl().namespace(target(ctx).namespace).words("get pods -l k8s-app=linkerd-cni -o wide");
    let installers = match node {
        "" => installers,
        node => installers.words("--field-selector").arg(format!("spec.nodeName={node}")),
    };
    remedy.run(
        StepKind::Command,
        "Check that the installer runs on the node, and started before the pod was created",
        installers,
    )
}

/// Adds the last step for a stuck pod.
fn replaced(remedy: Remedy, pod: &Pod) -> Remedy {
    remedy.command(
        "Delete the pod after the repair: rules are set only when its sandbox is created, and restarts of \
         its containers keep the sandbox",
        kubectl().namespace(&pod.metadata.namespace).words("delete pod").operand(&pod.metadata.name),
    )
}

/// Pods of one owner that the repair controller deletes repeatedly.
fn in_circles(ctx: &Context<'_>, owners: &Owners<'_>, pods: &[Pod]) -> Vec<Finding> {
    let events = ctx.seen_or_gap::<Event>();
    let repaired = events.iter().filter(|event| event.reason == REPAIRED && event.about.kind == "Pod");
    let mut families: BTreeMap<(&str, &str), Vec<&Event>> = BTreeMap::new();
    for event in repaired.filter(|event| ctx.judges(&event.about.namespace)) {
        families.entry((&event.about.namespace, family(&event.about.name))).or_default().push(event);
    }
    let mut findings = Vec::new();
    for ((namespace, family_name), events) in families {
        let deleted: BTreeSet<&str> = events.iter().map(|event| event.about.name.as_str()).collect();
        if deleted.len() < REPEATED {
            continue;
        }
        // Deleted pods have no owner any more, so use the owner of an existing pod with the same name prefix.
        let sibling =
            pods.iter().find(|pod| pod.metadata.namespace == namespace && family(&pod.metadata.name) == family_name);
        let Some(sibling) = sibling else { continue };
        let nodes: BTreeSet<&str> = [sibling.node_name.as_str()].into();
        let last = events.iter().max_by_key(|event| event.last);
        let finding = ctx
            .finding(owners.owner(sibling).subject(vec![sibling.metadata.name.clone()]), IN_CIRCLES)
            .parameter(REPAIRED)
            .evidences(last.map(|event| Evidence {
                place: events::place(format!("Pod {namespace}/{}", event.about.name), event),
                said: format!("{} pods {family_name}-… were deleted because of it", deleted.len()),
            }))
            .remedy(remedy(ctx, sibling, None));
        findings.push(nodes.into_iter().fold(finding, |finding, node| finding.tie(not_redirected(node))));
    }
    findings
}

/// A pod's name without the part that differs between the pods of one ReplicaSet, DaemonSet or Job.
fn family(pod: &str) -> &str {
    pod.rsplit_once('-').map_or(pod, |(family, _)| family)
}

/// The pods whose validator failed, for the checks of the causes.
pub(super) fn failing(pods: &[Pod]) -> impl Iterator<Item = &Pod> {
    pods.iter().filter(|pod| seen_to_fail(pod).is_some())
}

/// The first pod of the installer on each node.
pub(super) struct InstallerPods<'a>(HashMap<&'a str, &'a Pod>);

impl<'a> InstallerPods<'a> {
    pub(super) fn new(pods: &'a [Pod]) -> InstallerPods<'a> {
        let mut by_node = HashMap::new();
        for pod in pods.iter().filter(|pod| cni::is_installer_pod(pod)) {
            by_node.entry(pod.node_name.as_str()).or_insert(pod);
        }
        InstallerPods(by_node)
    }

    /// When the installer started on a node.
    pub(super) fn started(&self, node: &str) -> Option<jiff::Timestamp> {
        self.0.get(node)?.container_status(cni::INSTALLER)?.state.running()?.started_at.get()
    }
}
