//! The nodes for the checks of linkerd-cni: their files, runtime and operating system, and the plugins that
//! run for a new pod. Missing evidence is noted as a gap.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use crate::card::Mode;
use crate::checks::prelude::*;
use crate::knowledge::System;
use crate::model::cni;
use crate::model::node::{Chain, Effective, NodeSnapshot, RuntimeKind};
use crate::objects::DaemonSet;

/// Nodes by name, with their files if provided. Reads `node-files` and `nodes`.
pub(super) struct Nodes<'a> {
    objects: BTreeMap<&'a str, &'a Node>,
    snapshots: BTreeMap<&'a str, &'a NodeSnapshot>,
}

impl<'a> Nodes<'a> {
    /// For checks that require node files.
    ///
    /// # Errors
    /// No node files were provided.
    pub(super) fn with_files(ctx: &Context<'a>) -> Result<Nodes<'a>, Missing> {
        ctx.snapshots().map(|snapshots| Nodes::new(ctx, snapshots))
    }

    /// For checks that can also infer findings without node files; missing files are a gap.
    pub(super) fn perhaps_with_files(ctx: &Context<'a>) -> Nodes<'a> {
        let snapshots = ctx.or_note(ctx.snapshots()).unwrap_or(&[]);
        Nodes::new(ctx, snapshots)
    }

    /// For checks that use node files only as additional evidence; missing files are not noted.
    pub(super) fn hinted(ctx: &Context<'a>) -> Nodes<'a> {
        let objects = ctx.optional_list::<Node>().iter();
        Nodes {
            objects: objects.map(|node| (node.metadata.name.as_str(), node)).collect(),
            snapshots: ctx.snapshot_hints().iter().map(|s| (s.node.as_str(), s)).collect(),
        }
    }

    /// As [`Nodes::hinted`], for the wording of steps: no card declares it.
    pub(super) fn for_steps(ctx: &Context<'a>) -> Nodes<'a> {
        let objects = ctx.for_steps::<Node>().iter();
        Nodes {
            objects: objects.map(|node| (node.metadata.name.as_str(), node)).collect(),
            snapshots: ctx.snapshots_for_steps().iter().map(|s| (s.node.as_str(), s)).collect(),
        }
    }

    fn new(ctx: &Context<'a>, snapshots: &'a [NodeSnapshot]) -> Nodes<'a> {
        let objects = ctx.optional_list::<Node>();
        let mut nodes = Nodes {
            objects: objects.iter().map(|node| (node.metadata.name.as_str(), node)).collect(),
            snapshots: snapshots.iter().map(|snapshot| (snapshot.node.as_str(), snapshot)).collect(),
        };
        match ctx.complete_list::<Node>() {
            Ok(_) => nodes.drop_unknown_nodes(ctx),
            Err(missing) if !snapshots.is_empty() && missing.was_asked_for() => {
                lacks(ctx, Why::NotOffered, "the other nodes of the cluster are not known");
            }
            Err(_) => {}
        }
        let linux = || nodes.objects.values().filter(|node| runs_pods_on_linux(node));
        let without = linux().filter(|node| !nodes.snapshots.contains_key(node.metadata.name.as_str())).count();
        if without > 0 && !snapshots.is_empty() {
            let all = linux().count();
            lacks(ctx, Why::NotOffered, format!("{without} of {all} nodes without a snapshot"));
        }
        nodes
    }

    /// Ignores files of nodes that are not in the cluster: the node was deleted, or its name is misspelled.
    fn drop_unknown_nodes(&mut self, ctx: &Context<'_>) {
        let objects = &self.objects;
        self.snapshots.retain(|name, _| {
            let known = objects.contains_key(name);
            if !known {
                let message = "the cluster has no node of that name".to_owned();
                lacks(ctx, Why::Malformed { message }, format!("node {name}"));
            }
            known
        });
    }

    /// The nodes with files.
    pub(super) fn snapshots(&self) -> impl Iterator<Item = &'a NodeSnapshot> {
        self.snapshots.values().copied()
    }

    /// Whether a node has files.
    pub(super) fn has_files(&self, node: &str) -> bool {
        self.snapshots.contains_key(node)
    }

    /// The nodes' objects by name.
    pub(super) fn objects(&self) -> impl Iterator<Item = (&'a str, &'a Node)> {
        self.objects.iter().map(|(name, node)| (*name, *node))
    }

    /// A node's object.
    pub(super) fn object(&self, node: &str) -> Option<&'a Node> {
        self.objects.get(node).copied()
    }

    /// A node's operating system, from its os-release, else from its kubelet.
    pub(super) fn system<'k>(&self, ctx: &Context<'k>, node: &str) -> Option<&'k System> {
        let platforms = ctx.knowledge.platforms();
        let release = self.snapshots.get(node).and_then(|snapshot| snapshot.os_release.as_ref());
        let by_release = release.and_then(|os| platforms.system_by_os_release(os.id()?, os.version_id()));
        by_release.or_else(|| platforms.system_by_os_image(&self.object(node)?.status.node_info.os_image))
    }

    /// The runtime of a node, from its object, else from its files.
    pub(super) fn runtime(&self, snapshot: &NodeSnapshot) -> RuntimeKind {
        let said = self
            .object(&snapshot.node)
            .map_or(RuntimeKind::Unknown, |node| RuntimeKind::parse(&node.status.node_info.container_runtime_version));
        if said == RuntimeKind::Unknown { snapshot.runtime_hint() } else { said }
    }

    /// The plugins that a node runs for a new pod, for checks of file contents. That nothing can be loaded is
    /// a finding of another check; all other unknowns are noted as gaps.
    pub(super) fn loaded(&self, ctx: &Context<'_>, snapshot: &'a NodeSnapshot) -> Chain<'a> {
        let chain = snapshot.chain(self.runtime(snapshot));
        for gap in &chain.gaps {
            // The reason for an unreadable file already names the file.
            let named = gap.why.starts_with(&format!("{}:", gap.path));
            let path = if named { String::new() } else { format!("{}: ", gap.path) };
            lacks(ctx, Why::NotCaptured, format!("node {}: {path}{}", snapshot.node, gap.why));
        }
        chain
    }

    /// As [`Nodes::loaded`], for checks of the running plugins: that nothing can be loaded is also a gap.
    pub(super) fn chain(&self, ctx: &Context<'_>, snapshot: &'a NodeSnapshot) -> Chain<'a> {
        let chain = self.loaded(ctx, snapshot);
        match &chain.effective {
            Effective::Broken { file, why } => {
                let message = format!("{}: {}", file.path(), why.message);
                lacks(ctx, Why::Malformed { message }, format!("node {}", snapshot.node));
            }
            Effective::None { why } => {
                lacks(ctx, Why::NotCaptured, format!("node {}: nothing to load: {why}", snapshot.node));
            }
            Effective::File(_) | Effective::Disagree { .. } | Effective::Unknown { .. } => {}
        }
        chain
    }
}

/// Whether a node runs pods on Linux. Nodes with other systems, and virtual nodes (Fargate, virtual
/// kubelets), have no CNI files.
pub(super) fn runs_pods_on_linux(node: &Node) -> bool {
    let label = |key: &str| node.metadata.label(key).unwrap_or_default();
    let system = [node.status.node_info.operating_system.as_str(), label("kubernetes.io/os")];
    let linux = system.into_iter().find(|said| !said.is_empty()).is_none_or(|said| said == "linux");
    let virtual_one = label("type") == "virtual-kubelet" || label("eks.amazonaws.com/compute-type") == "fargate";
    linux && !virtual_one
}

/// Notes a part of the node evidence as missing.
pub(super) fn lacks(ctx: &Context<'_>, why: Why, part: impl Into<String>) {
    ctx.gap(ctx.missing(Item::NodeFiles, why, part));
}

/// Notes a part of a snapshot as missing, because its file is broken or was not collected.
pub(super) fn silent(ctx: &Context<'_>, snapshot: &NodeSnapshot, file: &str, what: &str) {
    let broken = snapshot.problems.iter().find(|problem| problem.file == file);
    let why = broken.map_or(Why::NotOffered, |problem| Why::Malformed { message: problem.message.clone() });
    lacks(ctx, why, format!("node {}: {what}", snapshot.node));
}

/// The reason that linkerd-cni is not installed.
fn not_installed() -> Unjudged {
    Unjudged::not_applicable("linkerd-cni is not installed")
}

/// Precondition: linkerd-cni may be installed, or node files are provided. Reads `daemonsets.apps` and
/// `node-files`.
///
/// # Errors
/// linkerd-cni is not installed, and no node files were provided.
pub(in crate::checks) fn perhaps_installed(ctx: &Context<'_>) -> Result<(), Unjudged> {
    let offered = || ctx.snapshots().map_or_else(|missing| missing.was_asked_for(), |_| true);
    if uninstalled(ctx) && !offered() { Err(not_installed()) } else { Ok(()) }
}

/// Precondition: linkerd-cni may be installed. Reads `daemonsets.apps`.
///
/// # Errors
/// No DaemonSet installs it.
pub(in crate::checks) fn perhaps_runs(ctx: &Context<'_>) -> Result<(), Unjudged> {
    if uninstalled(ctx) { Err(not_installed()) } else { Ok(()) }
}

/// Whether linkerd-cni is known to be installed by no DaemonSet. Reads `daemonsets.apps`.
pub(in crate::checks) fn uninstalled(ctx: &Context<'_>) -> bool {
    ctx.complete_list::<DaemonSet>().is_ok_and(|sets| !sets.iter().any(cni::is_installer))
}

/// Whether the control plane relies on linkerd-cni; `None` if not known. Reads
/// `configmaps/control-plane/linkerd-config`.
pub(in crate::checks) fn cni_enabled(ctx: &Context<'_>) -> Option<bool> {
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config").ok()?;
    match config {
        Some(config) => config.chart_values()?.bool("cniEnabled"),
        None => Some(false),
    }
}

/// Evidence that the control plane relies on linkerd-cni, or will after its installation
/// (`--linkerd-cni-enabled`); `None` if it does not. Reads `configmaps/control-plane/linkerd-config`.
///
/// # Errors
/// Whether it does is not known.
pub(super) fn expected(ctx: &Context<'_>) -> Result<Option<Evidence>, Missing> {
    if ctx.settings.mode == Mode::Pre {
        let flag = || Evidence::other("command line", "--linkerd-cni-enabled");
        return Ok(ctx.settings.cni_expected.then(flag));
    }
    let name = "linkerd-config";
    let Some(config) = ctx.object::<ConfigMap>(Scope::ControlPlane, name)? else {
        return Ok(None);
    };
    if config.chart_values().is_none() {
        let message = "its values are not YAML".to_owned();
        let item = Item::named(Kind::ConfigMap, Scope::ControlPlane, name);
        return Err(ctx.missing(item, Why::Malformed { message }, "data.values"));
    }
    Ok(relied_on(ctx))
}

/// Evidence that the control plane relies on linkerd-cni, if it does. Reads
/// `configmaps/control-plane/linkerd-config`.
pub(super) fn relied_on(ctx: &Context<'_>) -> Option<Evidence> {
    let object = || format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane);
    let enabled = cni_enabled(ctx) == Some(true);
    enabled.then(|| Evidence::field(object(), "data.values: cniEnabled", "true"))
}

/// Precondition: linkerd-cni may be installed, or the control plane may rely on it. Reads
/// `daemonsets.apps` and `configmaps/control-plane/linkerd-config`.
///
/// # Errors
/// linkerd-cni is not installed, and the control plane does not rely on it.
pub(in crate::checks) fn perhaps_used(ctx: &Context<'_>) -> Result<(), Unjudged> {
    if uninstalled(ctx) && cni_enabled(ctx) == Some(false) {
        return Err(Unjudged::not_applicable(
            "linkerd-cni is not installed, and the control plane does not rely on it",
        ));
    }
    Ok(())
}

/// Precondition: the control plane may rely on linkerd-cni. Reads
/// `daemonsets.apps` and `configmaps/control-plane/linkerd-config`.
///
/// # Errors
/// The control plane does not rely on linkerd-cni.
pub(in crate::checks) fn perhaps_relied_on(ctx: &Context<'_>) -> Result<(), Unjudged> {
    perhaps_used(ctx)?;
    if cni_enabled(ctx) == Some(false) {
        let reason = "the control plane injects linkerd-init and does not rely on linkerd-cni";
        return Err(Unjudged::not_applicable(reason));
    }
    Ok(())
}

/// Maximum age of files that show the current state.
const FRESH: SignedDuration = SignedDuration::from_mins(10);

/// Whether a node's files were collected at the time of the cluster's objects.
pub(super) fn is_fresh(ctx: &Context<'_>, snapshot: &NodeSnapshot) -> bool {
    snapshot.meta.collected_at.is_some_and(|taken| ctx.now().duration_since(taken).abs() <= FRESH)
}

/// Whether some DaemonSet of linkerd-cni may run on a node, by its `nodeSelector`; true if the node's labels
/// or the DaemonSets are not known. Reads `daemonsets.apps` and `nodes`.
pub(super) fn may_cover(ctx: &Context<'_>, node: &str) -> bool {
    let Ok(sets) = ctx.complete_list::<DaemonSet>() else { return true };
    let nodes = ctx.optional_list::<Node>();
    let Some(node) = nodes.iter().find(|known| known.metadata.name == node) else { return true };
    sets.iter().filter(|set| cni::is_installer(set)).any(|set| {
        let wanted = &set.spec.template.spec.node_selector;
        wanted.iter().all(|(key, value)| node.metadata.label(key) == Some(value))
    })
}
