//! `cni-bak-residue`: files that no runtime loads still contain linkerd-cni's entry.

use super::absent::{cilium, cilium_config};
use super::cni_interface_mode_leftover::FILE;
use super::host::on_files;
use super::nodes::Nodes;
use super::places::in_file;
use crate::checks::prelude::*;
use crate::command::program;
use crate::model::node::{ConfFile, NodeSnapshot};

/// Suffix of the temporary files of the installer written in Go.
const BEGUN: &str = ".install";
/// Suffix of files that Cilium renames. Cilium also reads them when it searches for the network to chain to.
const CILIUM_BAK: &str = ".cilium_bak";

const RESIDUE: &str =
    "a file that no runtime loads contains an old linkerd-cni entry: harmless until it is renamed back";
const COPIED: &str = "a file that Cilium renamed contains an old linkerd-cni entry. Cilium is configured to \
                      chain to another network, so it also reads such files and may restore the old entry";
const UNFINISHED: &str = "an unfinished file of linkerd-cni's installer, which stopped while writing it: no \
                          runtime loads it";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let chains = chains(ctx);
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        // More files may exist, but they would not make the result worse.
        super::effect::doubt_unlisted(ctx, snapshot);
        let inert = snapshot.conf_files.iter().filter(|file| !file.is_loadable() && !file.name.starts_with(FILE));
        findings.extend(inert.filter_map(|file| residue(ctx, &nodes, snapshot, file, chains.as_ref())));
    }
    Ok(findings.into())
}

/// Evidence that Cilium chains to another network.
fn chains(ctx: &Context<'_>) -> Option<Evidence> {
    let target = cilium(ctx)?.data.get("cni-chaining-target").filter(|target| !target.is_empty())?;
    Some(Evidence::field("ConfigMap kube-system/cilium-config", "data.cni-chaining-target", target))
}

fn residue(
    ctx: &Context<'_>,
    nodes: &Nodes<'_>,
    snapshot: &NodeSnapshot,
    file: &ConfFile,
    chains: Option<&Evidence>,
) -> Option<Finding> {
    let entry = file.linkerd_entries().ok().and_then(|entries| entries.first());
    let begun = file.name.ends_with(BEGUN);
    if entry.is_none() && !begun {
        return None;
    }
    if !begun && file.name.ends_with(CILIUM_BAK) {
        ctx.or_note(cilium_config(ctx));
    }
    let chains = chains.filter(|_| file.name.ends_with(CILIUM_BAK));
    let (message, severity) = match (begun, chains) {
        (true, _) => (UNFINISHED, Severity::Info),
        (false, Some(_)) => (COPIED, Severity::Warning),
        (false, None) => (RESIDUE, Severity::Info),
    };
    let subject = Subject::Node { node: snapshot.node.clone(), file: Some(file.path()), path: None, line: None };
    let path = entry.map(|entry| entry.path_of("type"));
    let said = if entry.is_some() { "\"linkerd-cni\"" } else { "exists" };
    let remedy = on_files(
        Remedy::new(),
        nodes.system(ctx, &snapshot.node),
        &snapshot.node,
        &format!("Delete {} once it is not needed as a backup", file.path()),
        [program("rm").operand(file.path())],
    );
    let finding = ctx
        .finding(subject, message)
        .severity(severity)
        .explains_nothing()
        .parameter(file.path())
        .evidence(in_file(snapshot, &file.path(), path, entry.map(|entry| entry.place()), said))
        .evidences(chains.cloned())
        .remedy(remedy);
    Some(finding)
}
