//! The nodes as the checks of linkerd-cni see them: which have files to look at, which runtime and operating system each
//! has, what runs there for a new pod. What could not be looked at is noted as a gap, never skipped.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use crate::card::Mode;
use crate::checks::{Context, Unjudged};
use crate::fetched::Why;
use crate::finding::Evidence;
use crate::item::{Item, Kind, Scope};
use crate::knowledge::System;
use crate::missing::Missing;
use crate::model::cni;
use crate::model::node::{Chain, Effective, NodeSnapshot, RuntimeKind};
use crate::objects::{ConfigMap, DaemonSet, Node};

/// Nodes by name, with their files where somebody gave some. Reads `node-files` and `nodes`.
pub(super) struct Nodes<'a> {
    objects: BTreeMap<&'a str, &'a Node>,
    snapshots: BTreeMap<&'a str, &'a NodeSnapshot>,
}

impl<'a> Nodes<'a> {
    /// For checks that cannot do without node files.
    ///
    /// # Errors
    /// There are none.
    pub(super) fn with_files(ctx: &Context<'a>) -> Result<Nodes<'a>, Missing> {
        ctx.snapshots().map(|snapshots| Nodes::new(ctx, snapshots))
    }

    /// For checks that can infer something without node files: that there are none becomes a gap.
    pub(super) fn perhaps_with_files(ctx: &Context<'a>) -> Nodes<'a> {
        let snapshots = ctx.snapshots().unwrap_or_else(|missing| {
            ctx.gap(missing);
            &[]
        });
        Nodes::new(ctx, snapshots)
    }

    /// For checks that node files only make surer: that some are not there is not noted.
    pub(super) fn hinted(ctx: &Context<'a>) -> Nodes<'a> {
        let objects = ctx.hints::<Node>().iter();
        Nodes {
            objects: objects.map(|node| (node.metadata.name.as_str(), node)).collect(),
            snapshots: ctx.snapshot_hints().iter().map(|s| (s.node.as_str(), s)).collect(),
        }
    }

    fn new(ctx: &Context<'a>, snapshots: &'a [NodeSnapshot]) -> Nodes<'a> {
        let objects = ctx.hints::<Node>();
        let mut nodes = Nodes {
            objects: objects.iter().map(|node| (node.metadata.name.as_str(), node)).collect(),
            snapshots: snapshots.iter().map(|snapshot| (snapshot.node.as_str(), snapshot)).collect(),
        };
        match ctx.every::<Node>() {
            Ok(_) => nodes.drop_unknown_nodes(ctx),
            Err(missing) if !snapshots.is_empty() && missing.was_asked_for() => {
                lacks(ctx, Why::NotOffered, "which other nodes exist is not known");
            }
            Err(_) => {}
        }
        let linux = || nodes.objects.values().filter(|node| runs_pods_on_linux(node));
        let without =
            linux().filter(|node| !nodes.snapshots.contains_key(node.metadata.name.as_str())).count();
        if without > 0 && !snapshots.is_empty() {
            let all = linux().count();
            lacks(ctx, Why::NotOffered, format!("{without} of {all} nodes without a snapshot"));
        }
        nodes
    }

    /// Files of a node that is not in the cluster say nothing about it: the node is gone, or its name is misspelled.
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

    /// The nodes whose files are there.
    pub(super) fn snapshots(&self) -> impl Iterator<Item = &'a NodeSnapshot> {
        self.snapshots.values().copied()
    }

    /// Whether a node's files are there.
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

    /// A node's operating system: by its own os-release, else by what its kubelet says.
    pub(super) fn system<'k>(&self, ctx: &Context<'k>, node: &str) -> Option<&'k System> {
        let platforms = ctx.knowledge.platforms();
        let release = self.snapshots.get(node).and_then(|snapshot| snapshot.os_release.as_ref());
        let by_release = release.and_then(|os| platforms.system_by_os_release(os.id()?, os.version_id()));
        by_release.or_else(|| platforms.system_by_os_image(&self.object(node)?.status.node_info.os_image))
    }

    /// The runtime of a node: by its object, else by its own files.
    pub(super) fn runtime(&self, snapshot: &NodeSnapshot) -> RuntimeKind {
        let said = self.object(&snapshot.node).map_or(RuntimeKind::Unknown, |node| {
            RuntimeKind::parse(&node.status.node_info.container_runtime_version)
        });
        if said == RuntimeKind::Unknown { snapshot.runtime_hint() } else { said }
    }

    /// What a node runs for a new pod, for checks of what stands in files: that nothing can be loaded is trouble of its own,
    /// and everything else that cannot be told is noted as a gap.
    pub(super) fn loaded(&self, ctx: &Context<'_>, snapshot: &'a NodeSnapshot) -> Chain<'a> {
        let chain = snapshot.chain(self.runtime(snapshot));
        for gap in &chain.gaps {
            // What keeps a file from being read names it.
            let named = gap.why.starts_with(&format!("{}:", gap.path));
            let path = if named { String::new() } else { format!("{}: ", gap.path) };
            lacks(ctx, Why::NotCaptured, format!("node {}: {path}{}", snapshot.node, gap.why));
        }
        chain
    }

    /// As [`Nodes::loaded`], for checks that ask what is run: that nothing can be loaded is a gap for them too.
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

/// Nodes of other systems, and those that only stand for a service (Fargate, virtual kubelets), have no CNI files.
pub(super) fn runs_pods_on_linux(node: &Node) -> bool {
    let label = |key: &str| node.metadata.label(key).unwrap_or_default();
    let system = [node.status.node_info.operating_system.as_str(), label("kubernetes.io/os")];
    let linux = system.into_iter().find(|said| !said.is_empty()).is_none_or(|said| said == "linux");
    let virtual_one =
        label("type") == "virtual-kubelet" || label("eks.amazonaws.com/compute-type") == "fargate";
    linux && !virtual_one
}

/// Notes that the evidence of nodes says nothing about something.
pub(super) fn lacks(ctx: &Context<'_>, why: Why, part: impl Into<String>) {
    ctx.gap(ctx.lacking(Item::NodeFiles, why, part));
}

/// Notes that a snapshot does not say something: because a file of it is broken, or because nobody took that part along.
pub(super) fn silent(ctx: &Context<'_>, snapshot: &NodeSnapshot, file: &str, what: &str) {
    let broken = snapshot.problems.iter().find(|problem| problem.file == file);
    let why = broken.map_or(Why::NotOffered, |problem| Why::Malformed { message: problem.message.clone() });
    lacks(ctx, why, format!("node {}: {what}", snapshot.node));
}

/// What says that linkerd-cni is not there.
fn not_installed() -> Unjudged {
    Unjudged::not_applicable("linkerd-cni is not installed")
}

/// Where linkerd-cni is known not to be installed and nobody gave node files, its nodes are not asked about. Reads
/// `daemonsets.apps` and `node-files`.
///
/// # Errors
/// It is so.
pub(in crate::checks) fn perhaps_installed(ctx: &Context<'_>) -> Result<(), Unjudged> {
    let offered = || ctx.snapshots().map_or_else(|missing| missing.was_asked_for(), |_| true);
    if uninstalled(ctx) && !offered() { Err(not_installed()) } else { Ok(()) }
}

/// That linkerd-cni is not known to be installed by no DaemonSet. Reads `daemonsets.apps`.
///
/// # Errors
/// It is known.
pub(in crate::checks) fn perhaps_runs(ctx: &Context<'_>) -> Result<(), Unjudged> {
    if uninstalled(ctx) { Err(not_installed()) } else { Ok(()) }
}

/// Whether linkerd-cni is known to be installed by no DaemonSet. Reads `daemonsets.apps`.
pub(super) fn uninstalled(ctx: &Context<'_>) -> bool {
    ctx.every::<DaemonSet>().is_ok_and(|sets| !sets.iter().any(cni::is_installer))
}

/// Whether the control plane relies on linkerd-cni; `None` where nobody knows. Reads
/// `configmaps/control-plane/linkerd-config`.
pub(super) fn cni_enabled(ctx: &Context<'_>) -> Option<bool> {
    let config = ctx.named::<ConfigMap>(Scope::ControlPlane, "linkerd-config").ok()?;
    match config {
        Some(config) => config.chart_values()?.bool("cniEnabled"),
        None => Some(false),
    }
}

/// What says that the control plane relies on linkerd-cni, or will, once it is installed (`--linkerd-cni-enabled`); `None`
/// where it does not. Reads `configmaps/control-plane/linkerd-config`.
///
/// # Errors
/// Nobody knows.
pub(super) fn expected(ctx: &Context<'_>) -> Result<Option<Evidence>, Missing> {
    if ctx.settings.mode == Mode::Pre {
        let flag = || Evidence::other("command line", "--linkerd-cni-enabled");
        return Ok(ctx.settings.cni_expected.then(flag));
    }
    let name = "linkerd-config";
    let Some(config) = ctx.named::<ConfigMap>(Scope::ControlPlane, name)? else {
        return Ok(None);
    };
    if config.chart_values().is_none() {
        let message = "its values are no YAML".to_owned();
        let item = Item::Named { kind: Kind::ConfigMap, scope: Scope::ControlPlane, name: name.to_owned() };
        return Err(ctx.lacking(item, Why::Malformed { message }, "data.values"));
    }
    Ok(relied_on(ctx))
}

/// Where the control plane relies on linkerd-cni, what says so. Reads `configmaps/control-plane/linkerd-config`.
pub(super) fn relied_on(ctx: &Context<'_>) -> Option<Evidence> {
    let object = || format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane);
    let enabled = cni_enabled(ctx) == Some(true);
    enabled.then(|| Evidence::field(object(), "data.values: cniEnabled", "true"))
}

/// Where linkerd-cni is known to be neither installed nor relied on, only what it left behind matters. Reads
/// `daemonsets.apps` and `configmaps/control-plane/linkerd-config`.
///
/// # Errors
/// It is so.
pub(in crate::checks) fn perhaps_used(ctx: &Context<'_>) -> Result<(), Unjudged> {
    if uninstalled(ctx) && cni_enabled(ctx) == Some(false) {
        return Err(Unjudged::not_applicable("linkerd-cni is neither installed nor relied on"));
    }
    Ok(())
}

/// Where linkerd-cni is known not to be relied on, installed or not, it does not matter whether nodes call it. Reads
/// `daemonsets.apps` and `configmaps/control-plane/linkerd-config`.
///
/// # Errors
/// It is so.
pub(in crate::checks) fn perhaps_relied_on(ctx: &Context<'_>) -> Result<(), Unjudged> {
    perhaps_used(ctx)?;
    if cni_enabled(ctx) == Some(false) {
        let reason = "the control plane injects linkerd-init and does not rely on linkerd-cni";
        return Err(Unjudged::not_applicable(reason));
    }
    Ok(())
}

/// From when on files that were gathered earlier tell what was, rather than what is.
const FRESH: SignedDuration = SignedDuration::from_mins(10);

/// Whether a node's files are of the time of the cluster's objects.
pub(super) fn is_fresh(ctx: &Context<'_>, snapshot: &NodeSnapshot) -> bool {
    snapshot.meta.collected_at.is_some_and(|taken| ctx.now().duration_since(taken).abs() <= FRESH)
}

/// Whether some DaemonSet of linkerd-cni may run on a node, going by its `nodeSelector`; where the node's labels or the
/// DaemonSets are not known, one may. Reads `daemonsets.apps` and `nodes`.
pub(super) fn may_cover(ctx: &Context<'_>, node: &str) -> bool {
    let Ok(sets) = ctx.every::<DaemonSet>() else { return true };
    let nodes = ctx.hints::<Node>();
    let Some(node) = nodes.iter().find(|known| known.metadata.name == node) else { return true };
    sets.iter().filter(|set| cni::is_installer(set)).any(|set| {
        let wanted = &set.spec.template.spec.node_selector;
        wanted.iter().all(|(key, value)| node.metadata.label(key) == Some(value))
    })
}
