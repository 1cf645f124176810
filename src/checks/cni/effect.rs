//! The effect of a node's files: whether the runtime runs each linkerd-cni entry, and which network writes
//! each file. If the runtime is not known, the results for containerd and CRI-O are both kept.

use super::nodes::{Nodes, lacks};
use super::places::in_file;
use crate::checks::prelude::*;
use crate::command::{Line, program};
use crate::knowledge::Network;
use crate::model::node::{Chain, ConfFile, Effective, LinkerdEntry, NodeSnapshot, RuntimeKind};
use crate::objects::DaemonSet;

/// Whether the content of a file is run for new pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Runs {
    Yes,
    No,
    /// Not known; describes what it depends on.
    Open(String),
}

/// An entry in a file that runtimes consider.
pub(super) struct EntryInFile<'a> {
    pub(super) file: &'a ConfFile,
    pub(super) entry: &'a LinkerdEntry,
    pub(super) runs: Runs,
}

impl EntryInFile<'_> {
    /// Keeps the card's severity if the entry runs; otherwise lowers it to a warning, with evidence if it is
    /// not known.
    pub(super) fn graded(&self, snapshot: &NodeSnapshot, finding: Finding) -> Finding {
        graded(snapshot, &self.runs, finding)
    }
}

/// As [`EntryInFile::graded`], for other content.
pub(super) fn graded(snapshot: &NodeSnapshot, runs: &Runs, finding: Finding) -> Finding {
    match runs {
        Runs::Yes => finding,
        Runs::No => finding.severity(Severity::Warning).explains_nothing(),
        Runs::Open(why) => finding
            .severity(Severity::Warning)
            .evidence(Evidence::other(format!("node {}", snapshot.node), why.clone())),
    }
}

/// Every entry of linkerd-cni in the files that runtimes consider. Unknown entries or effects are noted as
/// gaps.
pub(super) fn entries<'a>(ctx: &Context<'a>, nodes: &Nodes<'a>, snapshot: &'a NodeSnapshot) -> Vec<EntryInFile<'a>> {
    let chain = nodes.loaded(ctx, snapshot);
    let all = snapshot.all_linkerd_entries().into_iter().filter(|(file, _)| file.is_loadable());
    all.map(|(file, entry)| EntryInFile { file, entry, runs: runs(snapshot, &chain, file, entry) }).collect()
}

fn runs(snapshot: &NodeSnapshot, chain: &Chain<'_>, file: &ConfFile, entry: &LinkerdEntry) -> Runs {
    let among = |chain: &Chain<'_>| {
        chain.entries.iter().any(|running| {
            std::ptr::eq(running.entry, entry) || running.file.path() == file.path() && running.entry == entry
        })
    };
    if among(chain) {
        return Runs::Yes;
    }
    match &chain.effective {
        Effective::Disagree { containerd, crio } => {
            let by = |kind| among(&snapshot.chain(kind));
            match (by(RuntimeKind::Containerd), by(RuntimeKind::Crio)) {
                (true, true) => Runs::Yes,
                (false, false) => Runs::No,
                (true, false) | (false, true) => Runs::Open(both(containerd, crio)),
            }
        }
        Effective::Unknown { reason } => Runs::Open(reason.clone()),
        Effective::File(_) => match chain.gaps.first() {
            Some(gap) => Runs::Open(gap.why.clone()),
            None => Runs::No,
        },
        Effective::Broken { .. } | Effective::None { .. } => Runs::No,
    }
}

/// Whether a file is loaded: alone, as one of several, or as the network that multus names.
pub(super) fn file_runs(chain: &Chain<'_>, file: &ConfFile) -> Runs {
    let path = file.path();
    let loads = |effective: &Effective<'_>| match effective {
        Effective::File(loaded) => loaded.file.path() == path || loaded.others.iter().any(|other| other.path() == path),
        Effective::Broken { .. } | Effective::None { .. } | Effective::Disagree { .. } | Effective::Unknown { .. } => {
            false
        }
    };
    let in_chain = chain.entries.iter().any(|running| running.file.path() == path);
    match &chain.effective {
        effective if in_chain || loads(effective) => Runs::Yes,
        Effective::Disagree { containerd, crio } if loads(containerd) || loads(crio) => {
            Runs::Open(both(containerd, crio))
        }
        Effective::Unknown { reason } => Runs::Open(reason.clone()),
        Effective::File(_) | Effective::Broken { .. } | Effective::None { .. } | Effective::Disagree { .. } => Runs::No,
    }
}

/// Describes the results for containerd and CRI-O.
pub(super) fn both(containerd: &Effective<'_>, crio: &Effective<'_>) -> String {
    format!("its runtime is not known: containerd {}, CRI-O {}", describe(containerd), describe(crio))
}

fn describe(effective: &Effective<'_>) -> String {
    match effective {
        Effective::File(loaded) => format!("loads {}", loaded.file.path()),
        Effective::Broken { file, .. } => format!("fails on {}", file.path()),
        Effective::None { why } => format!("loads nothing ({why})"),
        Effective::Disagree { .. } => "depends".to_owned(),
        Effective::Unknown { reason } => format!("is not known ({reason})"),
    }
}

/// The types of a file's plugins, in order.
pub(super) fn plugin_types(file: &ConfFile) -> Vec<&str> {
    file.plugins().iter().filter_map(|plugin| plugin.plugin_type.as_deref()).collect()
}

/// The loaded file, quoted with its plugins.
pub(super) fn loaded_evidence(snapshot: &NodeSnapshot, file: &ConfFile) -> Evidence {
    let said = format!("is loaded by the runtime: {}", plugin_types(file).join(", "));
    in_file(snapshot, &file.path(), Some("plugins".to_owned()), None, said)
}

/// The network that writes a file, by the file's name, else by its plugins.
pub(super) fn owner<'k>(ctx: &Context<'k>, file: &ConfFile) -> Option<&'k Network> {
    ctx.knowledge.platforms().network(&file.name, &plugin_types(file))
}

/// A command that deletes the base network's pod on a node, so that it writes its file again. Reads
/// `daemonsets.apps` and `pods`.
pub(super) fn written_again(ctx: &Context<'_>, node: &str, network: &Network) -> Command {
    let sets = ctx.optional_list::<DaemonSet>();
    let found = sets.iter().find(|set| network.daemon_sets.contains(&set.metadata.name));
    let first = network.daemon_sets.first().map_or(network.id.as_str(), String::as_str);
    let (namespace, name) = found.map_or(("kube-system", first), |set| (&set.metadata.namespace, &set.metadata.name));
    let of_node = kubectl()
        .namespace(namespace)
        .words("get pods --no-headers --field-selector")
        .arg(Arg::known("spec.nodeName=").then(Arg::node()))
        .words("-o custom-columns=NAME:.metadata.name,OWNER:.metadata.ownerReferences[0].name");
    // The names of other workloads of the network may begin with the same name.
    let owned = program("awk").words("-v").arg(format!("set={name}")).arg("$2 == set {print $1}");
    let its_own = of_node.pipe(owned);
    let pod = Line::set("POD", Arg::output(its_own));
    let delete = Line::shell("if [ -n \"$POD\" ]; then")
        .call(kubectl().namespace(namespace).words("delete pod").arg(Arg::variable("POD")))
        .and_shell("; else echo")
        .arg(format!("no pod of {name} on the node"))
        .and_shell(">&2; fi");
    Command::about_node(node, [pod, delete])
}

/// Notes as a gap that a node's directory could not be checked.
pub(super) fn open_directory(ctx: &Context<'_>, snapshot: &NodeSnapshot, reason: &str) {
    lacks(ctx, Why::NotCaptured, format!("node {}: {}: {reason}", snapshot.node, snapshot.conf_dir()));
}

/// Notes as a gap that not all files that a runtime could load are known.
pub(super) fn doubt_unlisted(ctx: &Context<'_>, snapshot: &NodeSnapshot) {
    if snapshot.lists_loadable(snapshot.conf_dir()).is_none() {
        open_directory(ctx, snapshot, "not all of its files are known");
    }
}
