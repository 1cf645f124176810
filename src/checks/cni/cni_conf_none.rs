//! `cni-conf-none`: a node has no CNI configuration that its runtime can load.

use super::effect::{both, open_directory, owner, written_again};
use super::host::on_files;
use super::nodes::{Nodes, silent};
use super::places::in_file;
use crate::checks::prelude::*;
use crate::command::program;
use crate::model::node::{ConfFile, Effective, NodeSnapshot};

/// Number of quoted files.
const QUOTED: usize = 4;
/// Suffix of files that Cilium renames.
const CILIUM_BAK: &str = ".cilium_bak";

const MESSAGE: &str = "the node has no CNI configuration that its runtime can load: pods that need their own \
                       network cannot start there";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        match snapshot.effective(nodes.runtime(snapshot)) {
            Effective::None { why } => findings.extend(none(ctx, &nodes, snapshot, &why)),
            Effective::Disagree { containerd, crio }
                if [&containerd, &crio].iter().any(|one| matches!(***one, Effective::None { .. })) =>
            {
                let said = both(&containerd, &crio);
                let finding = none(ctx, &nodes, snapshot, &said);
                findings.extend(finding.map(|finding| finding.severity(Severity::Warning).likely()));
            }
            Effective::Unknown { reason } => open_directory(ctx, snapshot, &reason),
            // cni-conf-unparseable reports unreadable files.
            Effective::File(_) | Effective::Broken { .. } | Effective::Disagree { .. } => {}
        }
    }
    Ok(findings.into())
}

fn none(ctx: &Context<'_>, nodes: &Nodes<'_>, snapshot: &NodeSnapshot, why: &str) -> Option<Finding> {
    let object = nodes.object(&snapshot.node);
    let not_ready = object.and_then(not_ready);
    // The runtime's directory is not known: only a node that is not ready proves that it is this one.
    if snapshot.conf_dir_is_assumed() && not_ready.is_none() {
        silent(ctx, snapshot, "cni/dirs.json", "the directory that its runtime reads");
        return None;
    }
    let inert: Vec<&ConfFile> = snapshot
        .conf_files
        .iter()
        .filter(|file| file.dir == snapshot.conf_dir() && !file.is_loadable() && file.config().is_some())
        .collect();
    let quoted = inert
        .iter()
        .take(QUOTED)
        .map(|file| in_file(snapshot, &file.path(), None, None, "a configuration with a name that no runtime loads"));
    let subject = Subject::Node {
        node: snapshot.node.clone(),
        file: Some(snapshot.conf_dir().to_owned()),
        path: None,
        line: None,
    };
    let finding = ctx
        .finding(subject, MESSAGE)
        .evidence(Evidence::other(format!("node {}", snapshot.node), why))
        .evidences(quoted)
        .evidences(not_ready)
        .remedy(remedy(ctx, nodes, snapshot, &inert));
    let finding = finding.likely_if(snapshot.conf_dir_is_assumed());
    Some(match object.and_then(|node| joined(ctx, node, snapshot)) {
        Some(joined) => finding.severity(Severity::Warning).evidence(joined),
        None => finding,
    })
}

/// The condition of a node that is not ready.
fn not_ready(node: &Node) -> Option<Evidence> {
    let ready = node.status.conditions.iter().find(|condition| condition.kind == "Ready")?;
    let said = if ready.message.is_empty() { ready.reason.as_str() } else { ready.message.as_str() };
    (ready.status != "True").then(|| {
        let object = format!("Node {}", node.metadata.name);
        Evidence::field(object, "status.conditions[Ready]", format!("{}: {said}", ready.status))
    })
}

/// A node that joined just before its files were collected may still wait for its base network.
fn joined(ctx: &Context<'_>, node: &Node, snapshot: &NodeSnapshot) -> Option<Evidence> {
    let created = node.metadata.creation_timestamp.get()?;
    let taken = snapshot.meta.collected_at.unwrap_or_else(|| ctx.now());
    (taken.duration_since(created) < ctx.param_duration("minutes")).then(|| {
        let object = format!("Node {}", node.metadata.name);
        Evidence::field(
            object,
            "metadata.creationTimestamp",
            format!("{created}, minutes before its files were collected"),
        )
    })
}

fn remedy(ctx: &Context<'_>, nodes: &Nodes<'_>, snapshot: &NodeSnapshot, inert: &[&ConfFile]) -> Remedy {
    let node = snapshot.node.as_str();
    let pods =
        kubectl().words("get pods -A -o wide --field-selector").arg(Arg::known("spec.nodeName=").then(Arg::node()));
    let mut remedy = Remedy::new().command(
        "Find the network pods of the node that do not run: the base network writes its configuration when \
         it starts",
        Command::about_node(node, [pods]),
    );
    let loadable = snapshot.loadable_files();
    remedy = match loadable.iter().chain(inert).find_map(|file| owner(ctx, file)) {
        Some(network) => remedy.command(
            format!("Let {} write its configuration again on the node", network.title),
            written_again(ctx, node, network),
        ),
        None => {
            remedy.note("Delete the listed pod of the base network, so that it restarts and writes its configuration")
        }
    };
    let renamed: Vec<&&ConfFile> = inert.iter().filter(|file| file.name.ends_with(CILIUM_BAK)).collect();
    if renamed.is_empty() {
        return remedy;
    }
    let moves = renamed.iter().map(|file| {
        let path = file.path();
        let before = path.strip_suffix(CILIUM_BAK).unwrap_or(&path).to_owned();
        program("mv").operand(path).operand(before)
    });
    let names: Vec<String> = renamed.iter().map(|file| file.path()).collect();
    on_files(
        remedy,
        nodes.system(ctx, node),
        node,
        &format!("If Cilium was removed, restore the names of the files that it renamed: {}", names.join(", ")),
        moves,
    )
}
