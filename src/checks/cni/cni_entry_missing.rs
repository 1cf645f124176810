//! `cni-entry-missing`: linkerd-cni runs on a node, and the configuration that the runtime loads does not call it.

use jiff::{SignedDuration, Timestamp};

use super::installers::not_redirected;
use super::nodes::{Nodes, lacks, not_installed};
use super::places::in_file;
use super::remedy;
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::{Kind, Scope};
use crate::model::cni::{self, Installed};
use crate::model::node::{ConfFile, NodeSnapshot};
use crate::model::objects::{ConfigMap, Pod, Workload};
use crate::model::values::Values;
use crate::source::Why;

/// How long an installer may take to write its entry after its container started.
const PATIENCE: SignedDuration = SignedDuration::from_mins(1);

/// From when on files that were gathered earlier tell what was, rather than what is.
const FRESH: SignedDuration = SignedDuration::from_mins(10);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    if let Some(verdict) = not_installed(ctx) {
        return Ok(verdict);
    }
    let config = ctx.named::<ConfigMap>(Kind::ConfigMap, Scope::ControlPlane, "linkerd-config");
    let values = config.ok().flatten().and_then(Values::of);
    if values.and_then(|values| values.bool("cniEnabled")) == Some(false) {
        return Ok(Verdict::not_applicable(
            "the control plane injects linkerd-init and does not rely on linkerd-cni",
        ));
    }
    let nodes = Nodes::with_files(ctx)?;
    let pods = ctx.seen::<Pod>(Kind::Pod)?;
    let installed = Installed::new(pods, ctx.hints::<Workload>(Kind::DaemonSet));
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        let chain = nodes.chain(ctx, snapshot);
        let (true, Some(file)) = (chain.proves_absence(), chain.effective.file()) else { continue };
        // A node that the DaemonSet does not cover has nothing to miss.
        let Some(installer) = installed.pod_on(&snapshot.node) else { continue };
        let taken = snapshot.meta.collected_at;
        if started(installer)
            .is_some_and(|at| taken.unwrap_or_else(|| ctx.now()).duration_since(at) < PATIENCE)
        {
            let part = format!("node {}: files from after its linkerd-cni pod started", snapshot.node);
            lacks(ctx, Why::NotCaptured, part);
            continue;
        }
        let finding = missing(ctx, snapshot, file, installer);
        let fresh = taken.is_some_and(|taken| ctx.now().duration_since(taken).abs() <= FRESH);
        findings.push(if fresh { finding } else { finding.likely() });
    }
    Ok(findings.into())
}

fn started(pod: &Pod) -> Option<Timestamp> {
    pod.container_status(cni::INSTALLER)?.state.running.as_ref()?.started_at.or(pod.status.start_time)
}

fn missing(ctx: &Context<'_>, snapshot: &NodeSnapshot, file: &ConfFile, installer: &Pod) -> Finding {
    let plugins: Vec<&str> =
        file.plugins().iter().filter_map(|plugin| plugin.plugin_type.as_deref()).collect();
    let elsewhere = snapshot.all_linkerd_entries().into_iter().filter(|(other, _)| other.is_loadable());
    let elsewhere = elsewhere.map(|(other, entry)| {
        let said = "calls linkerd-cni, and is not what the runtime loads";
        in_file(snapshot, &other.path(), Some(entry.json_path.clone()), Some(entry.place()), said)
    });
    let subject =
        Subject::Node { node: snapshot.node.clone(), file: Some(file.path()), path: None, line: None };
    ctx.finding(
        subject,
        "the CNI configuration that the runtime loads does not call linkerd-cni: new meshed pods on the node get no traffic rules, so they fail in the network validator or bypass their proxy",
    )
    .parameter(file.path())
    .evidence(in_file(snapshot, &file.path(), Some("plugins".to_owned()), None, plugins.join(", ")))
    .evidence(Evidence::field(
        format!("Pod {}/{}", installer.metadata.namespace, installer.metadata.name),
        "spec.nodeName",
        format!("linkerd-cni runs on {}", snapshot.node),
    ))
    .evidences(elsewhere)
    .remedy(cure(ctx, snapshot, &plugins))
    .tie(not_redirected(&snapshot.node))
}

fn cure(ctx: &Context<'_>, snapshot: &NodeSnapshot, plugins: &[&str]) -> Remedy {
    let target = remedy::target(ctx);
    let mut remedy = Remedy::verified_by(remedy::VERIFY);
    if plugins.contains(&"cilium-cni") {
        let scope = Scope::Fixed("kube-system".to_owned());
        let config = ctx.named::<ConfigMap>(Kind::ConfigMap, scope, "cilium-config").ok().flatten();
        let exclusive = config.and_then(|config| config.data.get("cni-exclusive"));
        if exclusive.is_none_or(|value| value != "false") {
            remedy = remedy.run(
                StepKind::ChartValue,
                "Let Cilium leave other plugins' entries alone: while cni.exclusive is on, it writes its file anew without them",
                "helm upgrade cilium cilium/cilium -n kube-system --reuse-values --set cni.exclusive=false\nkubectl -n kube-system rollout restart daemonset/cilium",
            );
        }
    }
    if plugins.contains(&"multus") {
        remedy = remedy.step(
            StepKind::ChartValue,
            "Set destCNINetDir of linkerd-cni to the directory whose network multus runs, and let multus write its file anew where it embeds a copy of that network",
        );
    }
    remedy
        .run(
            StepKind::Command,
            "Make linkerd-cni write its entry again on the node",
            format!(
                "NODE={}\nkubectl -n {} delete pod -l k8s-app=linkerd-cni --field-selector spec.nodeName=\"$NODE\"",
                snapshot.node, target.namespace
            ),
        )
        .run(
            StepKind::Command,
            "Delete the meshed pods of the node that started or failed without their rules, so that new ones get them",
            "kubectl get pods -A -l linkerd.io/control-plane-ns --field-selector spec.nodeName=\"$NODE\"",
        )
}
