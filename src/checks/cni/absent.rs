//! Nodes whose loaded configuration lacks the linkerd-cni entry: the reason to expect it, the loaded file,
//! and the remedy. The checks decide on the finding.

use jiff::{SignedDuration, Timestamp};

use super::chart::{self, ChartValue, same_chart};
use super::effect::plugin_types;
use super::nodes::{Nodes, cni_enabled, is_fresh, lacks, uninstalled};
use super::pods::meshed_replaced;
use super::purge::installer_restarted;
use super::remedy::changed_rolled_out;
use super::target::target;
use crate::checks::prelude::*;
use crate::model::cni::{self, Installed};
use crate::model::managed_by::ManagedBy;
use crate::model::node::{ConfFile, NodeSnapshot};
use crate::objects::DaemonSet;

/// How long an installer may take to write its entry after its container started.
const PATIENCE: SignedDuration = SignedDuration::from_mins(1);

/// How long its pod may take until the container starts.
const START: SignedDuration = SignedDuration::from_mins(5);

/// A node whose loaded configuration is proven to have no entry.
pub(super) struct Absent<'a> {
    pub(super) snapshot: &'a NodeSnapshot,
    /// The file that its runtime loads.
    pub(super) file: &'a ConfFile,
    /// Evidence that it should have an entry.
    pub(super) expected: Evidence,
    /// Whether its files were collected at the time of the cluster's objects.
    fresh: bool,
    /// The installer's pod, if it exists but does not run.
    waiting: Option<&'a Pod>,
}

impl Absent<'_> {
    /// Older files show an earlier state, so their finding is only likely.
    pub(super) fn graded(&self, finding: Finding) -> Finding {
        finding.observed_if(self.fresh)
    }
}

/// The nodes without an entry on which linkerd-cni's installer runs or should have been running long enough.
/// If the control plane relies on a linkerd-cni that is not installed, all nodes without an entry. Reads
/// `pods`, `daemonsets.apps`, `configmaps/control-plane/linkerd-config` and the evidence that [`Nodes`]
/// reads.
///
/// # Errors
/// Pods are missing.
pub(super) fn absences<'a>(ctx: &Context<'a>, nodes: &Nodes<'a>) -> Result<Vec<Absent<'a>>, Missing> {
    let pods = ctx.partial_list::<Pod>()?;
    let installed = Installed::new(pods, ctx.optional_list::<DaemonSet>());
    let uninstalled = uninstalled(ctx);
    let mut absent = Vec::new();
    for snapshot in nodes.snapshots() {
        let chain = nodes.chain(ctx, snapshot);
        let (true, Some(file)) = (chain.proves_absence(), chain.effective.file()) else { continue };
        let taken = snapshot.meta.collected_at;
        let at = taken.unwrap_or_else(|| ctx.now());
        let too_early = || {
            let part = format!("node {}: files collected after its linkerd-cni pod started", snapshot.node);
            lacks(ctx, Why::NotCaptured, part);
        };
        let waiting = waiting(pods, &snapshot.node).filter(|_| installed.pod_on(&snapshot.node).is_none());
        let expected = match (installed.pod_on(&snapshot.node), waiting) {
            (Some(installer), _) => {
                let since = started(installer);
                if since.is_some_and(|since| at.duration_since(since) < PATIENCE) {
                    too_early();
                    continue;
                }
                Evidence::field(
                    installer.described(),
                    "spec.nodeName",
                    format!("linkerd-cni runs on {}", snapshot.node),
                )
            }
            (None, Some(waiting)) => {
                let made = waiting.metadata.creation_timestamp.get();
                if made.is_none_or(|made| at.duration_since(made) < START) {
                    too_early();
                    continue;
                }
                let said = format!("linkerd-cni should run on {}, but its installer does not", snapshot.node);
                Evidence::field(waiting.described(), "spec.nodeName", said)
            }
            (None, None) if uninstalled && cni_enabled(ctx) == Some(true) => Evidence::field(
                format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane),
                "data.values: cniEnabled",
                "true, and no DaemonSet installs linkerd-cni",
            ),
            (None, None) => {
                // A node that the DaemonSet does not cover needs no entry, unless the DaemonSet is missing.
                unsettled(ctx, uninstalled);
                continue;
            }
        };
        absent.push(Absent { snapshot, file, expected, fresh: is_fresh(ctx, snapshot), waiting });
    }
    Ok(absent)
}

/// Notes the missing evidence of whether a node without an installer should have one.
fn unsettled(ctx: &Context<'_>, uninstalled: bool) {
    let sets = ctx.complete_list::<DaemonSet>();
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config");
    match (sets, config) {
        (Err(missing), _) if cni_enabled(ctx) == Some(true) => ctx.gap(missing),
        (Ok(_), Err(missing)) if uninstalled => ctx.gap(missing),
        (Ok(_) | Err(_), _) => {}
    }
}

/// An installer's pod on a node whose container does not run: it covers the node but installs nothing.
fn waiting<'a>(pods: &'a [Pod], node: &str) -> Option<&'a Pod> {
    let mut installers = pods.iter().filter(|pod| cni::is_installer_pod(pod) && pod.node_name == node);
    installers.find(|pod| !cni::is_running(pod))
}

fn started(pod: &Pod) -> Option<Timestamp> {
    pod.container_status(cni::INSTALLER)?.state.running()?.started_at.get().or(pod.status.start_time.get())
}

/// Restores the entry on a node, depending on the cause. The workloads of `all` such nodes are restarted
/// together, so that one remedy covers all of them. Reads `configmaps/kube-system/cilium-config`,
/// `daemonsets.apps` and `pods`.
pub(super) fn remedy(ctx: &Context<'_>, absent: &Absent<'_>, all: &[Absent<'_>]) -> Remedy {
    let target = target(ctx);
    let plugins = plugin_types(absent.file);
    let mut remedy = Remedy::new();
    if plugins.contains(&"cilium-cni") && exclusive(ctx) != Some(false) {
        remedy = leave_entries_alone(ctx, remedy);
    }
    if plugins.contains(&"multus") {
        remedy = remedy.step(
            StepKind::ChartValue,
            "Set destCNINetDir of linkerd-cni to the directory whose network multus runs. If multus embeds a \
             copy of that network, let it write its file again",
        );
    }
    if uninstalled(ctx) {
        let words = "Install linkerd-cni, because the control plane relies on it: it writes the traffic \
                     rules of meshed pods";
        let remedy = chart::install_again(ctx, remedy, words)
            .command("Wait until it runs on every node", changed_rolled_out(ctx));
        return meshed_restarted(ctx, remedy);
    }
    let node = absent.snapshot.node.as_str();
    let again = match absent.waiting {
        Some(pod) => remedy.run(
            StepKind::Command,
            "Find out why linkerd-cni's installer does not run on the node: it writes its entry when it starts",
            described(pod),
        ),
        None => installer_restarted(remedy, &target, node),
    };
    meshed_replaced(
        ctx,
        again,
        "Restart the meshed workloads whose pods on these nodes started or failed without their rules",
        &all.iter().map(|absent| absent.snapshot.node.as_str()).collect::<Vec<_>>(),
    )
}

/// Adds the restart of the meshed workloads with pods that may lack rules. Reads the evidence of [`meshed_replaced`].
pub(super) fn meshed_restarted(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    meshed_replaced(
        ctx,
        remedy,
        "Restart the meshed workloads with pods that were created while linkerd-cni was missing: these pods \
         lack the rules",
        &[],
    )
}

/// Commands that show why an installer's pod does not run.
pub(super) fn described(pod: &Pod) -> Command {
    let meta = &pod.metadata;
    let of = |verb: &'static str| kubectl().namespace(&meta.namespace).words(verb).operand(&meta.name);
    // A container that never ended has no previous log, and one that never started has none at all.
    let log = match pod.container_status(cni::INSTALLER) {
        Some(status) if status.restart_count > 0 => Some("logs -c install-cni --previous"),
        Some(status) if status.state.waiting().is_some() => None,
        Some(_) | None => Some("logs -c install-cni"),
    };
    Command::lines(std::iter::once("describe pod").chain(log).map(of))
}

/// Cilium's ConfigMap; `None` also if it is not known.
pub(super) fn cilium<'a>(ctx: &Context<'a>) -> Option<&'a ConfigMap> {
    cilium_config(ctx).ok().flatten()
}

/// Cilium's ConfigMap; `None` when it is known not to exist.
///
/// # Errors
/// Whether it exists is not known.
pub(super) fn cilium_config<'a>(ctx: &Context<'a>) -> Result<Option<&'a ConfigMap>, Missing> {
    ctx.object::<ConfigMap>(Scope::Fixed("kube-system".to_owned()), "cilium-config")
}

/// Whether Cilium removes other networks' files: true unless set to false. `None` if its configuration is not
/// known.
pub(super) fn exclusive(ctx: &Context<'_>) -> Option<bool> {
    cilium(ctx).map(|config| config.data.get("cni-exclusive").is_none_or(|value| value != "false"))
}

/// Makes Cilium keep the files of other networks, with the tool that installed it. Reads
/// `configmaps/kube-system/cilium-config`.
pub(super) fn leave_entries_alone(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let words = "Let Cilium keep other plugins' entries: while cni.exclusive is set, it rewrites its file \
                 without them";
    let managed_by = cilium(ctx).map(|config| ManagedBy::from_metadata(&config.metadata)).unwrap_or_default();
    let values = [ChartValue::new("cni.exclusive", "false")];
    let remedy = match (managed_by.in_git(), managed_by.release()) {
        (Some(in_git), _) => remedy.step(StepKind::ChartValue, format!("{words} (cni.exclusive=false); {in_git}")),
        (None, Some(release)) => remedy.run(
            StepKind::ChartValue,
            words,
            same_chart(release, "cilium", "s/^ *chart: cilium-//p", "REPO=https://helm.cilium.io", &values),
        ),
        (None, None) => {
            let data = serde_json::json!({"data": {"cni-exclusive": "false"}}).to_string();
            remedy.run(
                StepKind::ChartValue,
                words,
                kubectl().words("-n kube-system patch configmap cilium-config --type merge -p").arg(data),
            )
            .step(
                StepKind::ChartValue,
                "Set cni.exclusive=false in Cilium's installation values too, or its next upgrade undoes the change",
            )
        }
    };
    let rollout = |verb: &'static str| kubectl().words("-n kube-system").words(verb).words("daemonset/cilium");
    remedy.command(
        "Restart Cilium's agents, which read it when they start",
        Command::lines([rollout("rollout restart"), rollout("rollout status")]).whole(),
    )
}
