//! The CNI configuration of each node with node evidence: the files of its CNI directory in order, those that
//! its runtime loads, their plugins, and whether linkerd-cni is called. Reads without evaluating: the checks
//! report faults.

use jiff::Timestamp;

use crate::model::cluster::Cluster;
use crate::model::node::{Chain, ConfFile, Effective, NodeSnapshot, RuntimeKind};
use crate::objects::Node;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeCni {
    /// Its name.
    pub node: String,
    /// When its files were collected.
    pub collected_at: Option<Timestamp>,
    /// The container runtime from the node's status: `containerd://1.7.25`.
    pub runtime: Option<String>,
    /// The directory that the runtime reads, and whether it is only assumed.
    pub directory: (String, bool),
    /// The result of loading the directory.
    pub loads: Loads,
    /// Whether linkerd-cni is called for a new pod; `None` if unknown.
    pub calls_linkerd_cni: Option<bool>,
    /// The unknown parts, each as a clause.
    pub open: Vec<String>,
    /// Its files, in the order in which the runtime reads them.
    pub files: Vec<NodeFile>,
}

/// The files that a runtime loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loads {
    /// Files of its directory.
    File,
    /// Nothing, with the reason: there is no file, or the selected one is invalid.
    Nothing(String),
    /// Unknown, with the reason.
    Unknown(String),
}

/// A file of the CNI directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeFile {
    pub name: String,
    /// Whether the runtime loads it.
    pub loaded: bool,
    /// The types of its plugins, in order; plugins that another plugin calls have a level above 0.
    pub plugins: Vec<(String, usize)>,
    /// Why no runtime could load it, or why its content is unknown.
    pub defect: Option<String>,
}

/// Every node with node evidence, sorted by name.
pub fn nodes(cluster: &Cluster) -> Vec<NodeCni> {
    let known = cluster.list::<Node>();
    let snapshots = cluster.nodes.as_deref().unwrap_or_default();
    let mut nodes: Vec<NodeCni> = snapshots
        .iter()
        .map(|snapshot| {
            let object = known.iter().find(|node| node.metadata.name == snapshot.node);
            from_snapshot(snapshot, object.map(|node| node.status.node_info.container_runtime_version.as_str()))
        })
        .collect();
    nodes.sort_by(|a, b| a.node.cmp(&b.node));
    nodes
}

fn from_snapshot(snapshot: &NodeSnapshot, runtime: Option<&str>) -> NodeCni {
    let chain = snapshot.chain(runtime.map_or(RuntimeKind::Unknown, RuntimeKind::parse));
    let loaded = loaded(&chain);
    let loads = match &chain.effective {
        Effective::File(_) => Loads::File,
        Effective::Broken { file, why } => Loads::Nothing(format!("{}: {}", file.name, why.message)),
        Effective::None { why } => Loads::Nothing(why.clone()),
        Effective::Disagree { .. } => {
            Loads::Unknown("the runtime is not known, and containerd and CRI-O would load different files".to_owned())
        }
        Effective::Unknown { reason } => Loads::Unknown(reason.clone()),
    };
    let calls_linkerd_cni = match (&loads, chain.entries.is_empty()) {
        (_, false) => Some(true),
        (Loads::Nothing(_), true) => Some(false),
        (_, true) => chain.proves_absence().then_some(false),
    };
    let mut open: Vec<String> = chain.gaps.iter().map(|gap| format!("{}: {}", gap.path, gap.why)).collect();
    if let Effective::File(loaded) = &chain.effective {
        open.extend(loaded.assuming.iter().cloned());
    }
    let file = |file: &&ConfFile| NodeFile {
        name: file.name.clone(),
        loaded: loaded.contains(&file.path()),
        plugins: file
            .plugins()
            .iter()
            .map(|plugin| (plugin.plugin_type.clone().unwrap_or_else(|| "?".to_owned()), plugin.depth))
            .collect(),
        defect: file
            .defect()
            .map(|defect| defect.message.clone())
            .or_else(|| file.linkerd_entries().err().filter(|_| file.config().is_none())),
    };
    NodeCni {
        node: snapshot.node.clone(),
        collected_at: snapshot.meta.collected_at,
        runtime: runtime.filter(|runtime| !runtime.is_empty()).map(str::to_owned),
        directory: (snapshot.conf_dir().to_owned(), snapshot.conf_dir_is_assumed()),
        loads,
        calls_linkerd_cni,
        open,
        files: snapshot.loadable_files().iter().map(file).collect(),
    }
}

/// The paths of the loaded files.
fn loaded(chain: &Chain<'_>) -> Vec<String> {
    match &chain.effective {
        Effective::File(loaded) => {
            std::iter::once(loaded.file).chain(loaded.others.iter().copied()).map(ConfFile::path).collect()
        }
        _ => Vec::new(),
    }
}
