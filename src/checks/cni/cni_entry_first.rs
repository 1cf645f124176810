//! `cni-entry-first`: linkerd-cni runs before the plugin that gives the pod its network.

use super::add_failures::on_node;
use super::chart::{image_version, set};
use super::cni_interface_mode_leftover;
use super::effect::{EntryInFile, Runs, entries, owner, written_again};
use super::host::on_files;
use super::nodes::Nodes;
use super::places::{entry_subject, in_file};
use super::plugin::PluginOn;
use super::purge::purge_entry;
use super::remedy::advised_version;
use crate::checks::prelude::*;
use crate::command::program;
use crate::model::node::{LinkerdEntry, NodeSnapshot};

/// The plugin's answer without a previous result.
const ANSWER: &str = "not-chained";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let installed = super::installers::installed(ctx);
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        // Plugins with their own version numbers also work without a result to pass on.
        let plugin = PluginOn::on_node(ctx, &installed, &snapshot.node, Some(snapshot));
        let alone_is_fine = !plugin.rows().is_empty();
        let found = entries(ctx, &nodes, snapshot).into_iter();
        let found: Vec<_> =
            found.filter(|found| !(is_leftover(found) || alone_is_fine && is_delegate(found.entry))).collect();
        findings.extend(
            found.iter().filter(|found| found.entry.index == 0).map(|found| first(ctx, &nodes, snapshot, found)),
        );
    }
    Ok(findings.into())
}

/// Whether the entry is in an unloaded file of early linkerd-cni, which is a separate finding.
fn is_leftover(found: &EntryInFile<'_>) -> bool {
    found.runs == Runs::No && found.file.name.starts_with(cni_interface_mode_leftover::FILE)
}

/// Whether multus runs the entry as a separate delegate, after the network that it runs first.
fn is_delegate(entry: &LinkerdEntry) -> bool {
    entry.depth > 0 && entry.siblings == 1
}

fn first(ctx: &Context<'_>, nodes: &Nodes<'_>, snapshot: &NodeSnapshot, found: &EntryInFile<'_>) -> Finding {
    let entry = found.entry;
    let alone = entry.siblings == 1;
    let delegate = is_delegate(entry);
    let message = if delegate {
        "multus runs linkerd-cni as a separate network: older plugins fail for every pod, because no other \
         plugin passes them a result"
    } else if alone {
        "linkerd-cni is the only plugin of the configuration: no plugin gives new pods a network, and \
         linkerd-cni fails without a result to pass on"
    } else {
        "linkerd-cni is first in the list of plugins: it fails for every new pod of the node, because the \
         plugin that gives the pod its network has not run yet"
    };
    let said = if alone { "\"linkerd-cni\", the only plugin" } else { "\"linkerd-cni\", before every other plugin" };
    let seen = in_file(snapshot, &found.file.path(), Some(entry.path_of("type")), Some(entry.place()), said);
    let finding = ctx
        .finding(entry_subject(snapshot, found.file, entry), message)
        .parameter(found.file.path())
        .evidence(seen)
        .remedy(if delegate { newer(ctx) } else { remedy(ctx, nodes, snapshot, found, alone) });
    let finding = match found.runs {
        Runs::Yes => finding.tie(on_node(ANSWER, &snapshot.node)),
        Runs::No | Runs::Open(_) => finding,
    };
    let finding = found.graded(snapshot, finding);
    if delegate { finding.severity(Severity::Warning).likely() } else { finding }
}

/// Upgrades to a plugin that multus may run as a separate delegate.
fn newer(ctx: &Context<'_>) -> Remedy {
    let values = [image_version(advised_version(ctx))];
    set(ctx, Remedy::new(), "Run a newer plugin, which supports such a delegate", None, &values)
}

fn remedy(
    ctx: &Context<'_>,
    nodes: &Nodes<'_>,
    snapshot: &NodeSnapshot,
    found: &EntryInFile<'_>,
    nothing_else: bool,
) -> Remedy {
    let (node, path) = (snapshot.node.as_str(), found.file.path());
    let system = nodes.system(ctx, node);
    if !nothing_else {
        return purge_entry(ctx, node, system, Some((found.file, found.entry)), &[]);
    }
    let remedy = on_files(
        Remedy::new(),
        system,
        node,
        &format!("Rename {path}, which is of no use without the base network's plugins"),
        [program("mv").operand(path.as_str()).operand(format!("{path}.bak"))],
    );
    match owner(ctx, found.file) {
        Some(network) => remedy.command(
            format!("Let {} write its file again; linkerd-cni then adds its entry at the end", network.title),
            written_again(ctx, node, network),
        ),
        None => remedy.note(
            "Restart the base network's pod on the node, so that it writes its file again; linkerd-cni then \
             adds its entry at the end",
        ),
    }
}
