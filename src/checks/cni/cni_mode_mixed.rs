//! `cni-mode-mixed`: linkerd-cni, the control plane and running pods use different ways to redirect traffic.

use std::collections::BTreeMap;

use super::installers::{installers, no_daemon_set, shown, subject};
use super::nodes::expected;
use super::pods::relies_on_plugin;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::upgrade::{self, Options};
use crate::checks::words::some;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::DaemonSet;
use crate::objects::container::{INIT_CONTAINER, VALIDATOR_CONTAINER};

/// Number of quoted workloads.
const QUOTED: usize = 5;

/// Pods by their workload.
type Groups<'a> = BTreeMap<Owner, Vec<&'a Pod>>;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>();
    let sets = installers(ctx);
    let relied = expected(ctx)?;
    if ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?.is_none() {
        return Err(Unjudged::not_applicable("no control plane is installed"));
    }
    let (pods, sets) = (pods?, sets?);
    let home = ctx.namespaces().control_plane.as_str();
    let owners = ctx.owners();
    let (mut by_init, mut by_plugin) = (Groups::new(), Groups::new());
    let own = pods.iter().filter(|pod| {
        pod.metadata.label(CONTROL_PLANE_NS) == Some(home)
            && pod.metadata.deletion_timestamp.is_none()
            && ctx.judges(&pod.metadata.namespace)
    });
    for pod in own {
        // A pod that never started has no rules.
        let runs = pod.status.phase == "Running";
        if runs && relies_on_plugin(pod) && pod.spec.container(VALIDATOR_CONTAINER).is_some() {
            by_plugin.entry(owners.owner(pod)).or_default().push(pod);
        } else if pod.spec.container(INIT_CONTAINER).is_some() && !pod.is_finished() {
            by_init.entry(owners.owner(pod)).or_default().push(pod);
        }
    }
    let finding = match (relied, sets.first()) {
        (Some(because), _) if !by_init.is_empty() => Some(earlier(ctx, because, &by_init)),
        (Some(_), _) => None,
        (None, Some(set)) => Some(unused(ctx, set, &by_plugin)),
        (None, None) if !by_plugin.is_empty() => {
            ctx.complete_list::<DaemonSet>()?;
            Some(left_behind(ctx, &by_plugin))
        }
        (None, None) => None,
    };
    Ok(finding.into_iter().collect())
}

/// The control plane's setting.
fn setting(ctx: &Context<'_>) -> (Subject, Evidence) {
    let home = &ctx.namespaces().control_plane;
    let object = format!("ConfigMap {home}/linkerd-config");
    (
        Subject::object(Kind::ConfigMap, home, "linkerd-config"),
        Evidence::field(object, "data.values: cniEnabled", "false"),
    )
}

fn quoted(groups: &Groups<'_>, container: &str) -> Evidence {
    let names = groups.keys().map(ToString::to_string);
    Evidence::other(format!("Workloads whose pods have {container}"), some(names, QUOTED))
}

/// Recreates the pods of workloads, one step for each.
fn renewed(ctx: &Context<'_>, mut remedy: Remedy, groups: &Groups<'_>) -> Remedy {
    for (owner, pods) in groups.iter().take(QUOTED) {
        let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
        remedy.steps.push(renew(ctx, owner, &names, Needs::NewProxy, "its new pods are injected for the current mode"));
    }
    if groups.len() > QUOTED {
        remedy = remedy.note("Restart the other workloads in the same way");
    }
    remedy
}

/// Pods that were injected before `cniEnabled` was set; the plugin ignores them.
fn earlier(ctx: &Context<'_>, because: Evidence, by_init: &Groups<'_>) -> Finding {
    let (subject, _) = setting(ctx);
    ctx.finding(
        subject,
        "the control plane relies on linkerd-cni, but earlier pods still redirect their own traffic with \
         linkerd-init and its privileges: linkerd-cni ignores them",
    )
    .severity(Severity::Info)
    .parameter("init")
    .evidence(because)
    .evidence(quoted(by_init, INIT_CONTAINER))
    .remedy(renewed(ctx, Remedy::new(), by_init))
}

/// The plugin is installed, but new pods do not use it.
fn unused(ctx: &Context<'_>, set: &Workload, by_plugin: &Groups<'_>) -> Finding {
    let (_, setting) = setting(ctx);
    let remedy = upgrade::with_values(
        ctx,
        Remedy::new(),
        "To use linkerd-cni, set cniEnabled once it is ready on every node",
        Options::none().set("cniEnabled", "true"),
    );
    let remedy = renewed(ctx, remedy, by_plugin);
    let remedy = remedy
        .step(StepKind::Note, "To use linkerd-init, first restart all pods that have none")
        .step(StepKind::Note, "Then uninstall linkerd-cni");
    ctx.finding(
        subject(set),
        "linkerd-cni is installed, but the control plane does not rely on it: new pods redirect their own \
         traffic with linkerd-init",
    )
    .severity(Severity::Info)
    .parameter("unused")
    .evidence(setting)
    .evidence(Evidence::other(shown(set), "exists"))
    .evidences((!by_plugin.is_empty()).then(|| quoted(by_plugin, VALIDATOR_CONTAINER)))
    .remedy(remedy)
}

/// The plugin was uninstalled, but pods still rely on it.
fn left_behind(ctx: &Context<'_>, by_plugin: &Groups<'_>) -> Finding {
    let (subject, setting) = setting(ctx);
    let finding = ctx
        .finding(
            subject,
            "pods rely on linkerd-cni, which is no longer installed. They keep their rules until their node \
             restarts; then their traffic is not redirected, and linkerd-network-validator holds them in \
             Init",
        )
        .severity(Severity::Warning)
        .parameter("left")
        .likely()
        .evidence(setting)
        .evidence(no_daemon_set())
        .evidence(quoted(by_plugin, VALIDATOR_CONTAINER))
        .remedy(renewed(ctx, Remedy::new(), by_plugin));
    by_plugin.iter().fold(finding, |finding, (owner, pods)| {
        let names = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
        finding.subject(owner.subject(names))
    })
}
