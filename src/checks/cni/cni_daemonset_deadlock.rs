//! `cni-daemonset-deadlock`: linkerd-cni's own pod cannot start because the node's configuration already runs
//! linkerd-cni.

use std::collections::{BTreeMap, BTreeSet};

use super::add_failures::{refused, reported_add_failures};
use super::remedy;
use crate::checks::prelude::*;
use crate::command::own;
use crate::model::cni;
use crate::model::owners::Owners;
use crate::model::sandbox::{self, AddFailure};
use crate::objects::Event;

/// Errors that the installer itself would fix if it could start, because it writes token, kubeconfig, entry
/// and binary. After any other error it starts once that error is repaired.
const CURED_BY_INSTALLER: [&str; 6] = [
    super::cni_add_unauthorized::SIGNATURE,
    "certificate",
    "config-unreadable",
    "kubeconfig-invalid",
    "kubeconfig-missing",
    "plugin-missing",
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let installers =
        pods.iter().filter(|pod| cni::is_installer_pod(pod) && !pod.spec.host_network && !pod.node_name.is_empty());
    let adds = reported_add_failures(ctx);
    let adds: BTreeMap<(&str, &str), &AddFailure<'_>> =
        adds.iter().map(|add| ((add.namespace.as_ref(), add.pod.as_ref()), add)).collect();
    let silence = Silence::new(ctx);
    let findings = installers.filter_map(|pod| {
        let meta = &pod.metadata;
        match adds.get(&(meta.namespace.as_str(), meta.name.as_str())) {
            Some(add) => CURED_BY_INSTALLER.iter().any(|id| add.is(id)).then(|| blamed(ctx, add)),
            None => silence.stuck(ctx, pod),
        }
    });
    Ok(findings.collect())
}

fn blamed(ctx: &Context<'_>, add: &AddFailure<'_>) -> Finding {
    let message = "linkerd-cni cannot repair the node: its own pod, like every other new pod there, waits \
                   for the plugin that it would install";
    refused(ctx, add, message).remedy(way_out(ctx))
}

/// Evidence about pods without an error of linkerd-cni.
struct Silence<'a> {
    /// Pods with a warning event about another problem, by namespace and name.
    explained: BTreeSet<(&'a str, &'a str)>,
    /// Nodes that are not ready: no pod starts there in any case.
    down: BTreeSet<&'a str>,
    /// Why events are missing. If the list is complete, the absence of an event about a pod is evidence.
    events_missing: Option<Missing>,
}

impl<'a> Silence<'a> {
    fn new(ctx: &Context<'a>) -> Silence<'a> {
        let events = ctx.optional_list::<Event>().iter();
        let down = ctx
            .optional_list::<Node>()
            .iter()
            .filter(|node| node.status.conditions.iter().any(|c| c.kind == "Ready" && c.status != "True"));
        Silence {
            explained: events
                .filter(|event| event.kind == "Warning" && event.about.kind == "Pod")
                .map(|event| (event.about.namespace.as_str(), event.about.name.as_str()))
                .collect(),
            down: down.map(|node| node.metadata.name.as_str()).collect(),
            events_missing: ctx.complete_list::<Event>().err(),
        }
    }

    /// A pod that should have started, without evidence of why it did not.
    fn stuck(&self, ctx: &Context<'_>, pod: &Pod) -> Option<Finding> {
        let meta = &pod.metadata;
        let since = meta.creation_timestamp.get()?;
        let node = &pod.node_name;
        let explained = self.explained.contains(&(meta.namespace.as_str(), meta.name.as_str()))
            || self.down.contains(node.as_str())
            || pod.status.container_statuses.iter().any(sandbox::waits_for_something_else);
        if explained || !sandbox::has_started_nothing(pod) {
            return None;
        }
        if ctx.now().duration_since(since) < ctx.param_duration("minutes") {
            // Too early without an event.
            self.events_missing.iter().for_each(|missing| ctx.gap(missing.clone()));
            return None;
        }
        // An event, or a line of a journal, might show the cause.
        self.events_missing.iter().for_each(|missing| ctx.gap(missing.clone()));
        ctx.or_note(ctx.logs());
        let silence = if self.events_missing.is_none() { ", and no event shows the cause" } else { "" };
        let finding = ctx
            .finding(
                Owners::default().owner(pod).subject(vec![meta.name.clone()]),
                "linkerd-cni's pod does not start on its node, for an unknown reason. If the node's configuration \
                 already has its entry, the pod waits for the plugin that it would install",
            )
            .severity(Severity::Warning)
            .likely()
            .evidence(Evidence::field(
                meta.described("Pod"),
                "status",
                format!("on node {node}, nothing in it has started since {since}{silence}"),
            ))
            .remedy(cause_first(ctx, pod))
            .tie(Tie::Node(node.to_string()));
        Some(finding)
    }
}

/// The cause is unknown: the host network helps only if the plugin fails.
fn cause_first(ctx: &Context<'_>, pod: &Pod) -> Remedy {
    let meta = &pod.metadata;
    Remedy::verified_by(remedy::rolled_out(ctx))
        .command(
            "Show the state and the events of the pod",
            kubectl().namespace(&meta.namespace).words("describe pod").operand(&meta.name),
        )
        .note(format!(
            "If an event reports that plugin linkerd-cni failed, run {} again: with that event, \
                 the finding has the steps that run the installer on the host network",
            own("check")
        ))
        .step(StepKind::Note, "Otherwise repair the cause that the events report")
}

fn way_out(ctx: &Context<'_>) -> Remedy {
    remedy::through_host_network(ctx, Remedy::new()).step(
        StepKind::Note,
        "Alternatively, if the DaemonSet cannot be changed, remove the linkerd-cni entry by hand, one cordoned \
         node at a time",
    )
}
