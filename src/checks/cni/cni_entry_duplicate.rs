//! `cni-entry-duplicate`: one list runs linkerd-cni more than once.

use std::collections::BTreeMap;

use super::effect::{EntryInFile, entries};
use super::nodes::{Nodes, uninstalled};
use super::places::{entry_subject, in_file};
use super::plugin::PluginOn;
use super::purge::purge_entry;
use super::remedy::restarted_for;
use crate::checks::prelude::*;
use crate::model::node::NodeSnapshot;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let installed = super::installers::installed(ctx);
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        let found = entries(ctx, &nodes, snapshot);
        let mut lists: BTreeMap<(String, &str), Vec<&EntryInFile<'_>>> = BTreeMap::new();
        for found in &found {
            lists.entry((found.file.path(), list_of(&found.entry.json_path))).or_default().push(found);
        }
        let plugin = PluginOn::on_node(ctx, &installed, &snapshot.node, Some(snapshot));
        let keeps = plugin.all(|row| row.keeps_extra_entries).unwrap_or(false);
        findings
            .extend(lists.values().filter(|list| list.len() > 1).map(|list| twice(ctx, &nodes, snapshot, list, keeps)));
    }
    Ok(findings.into())
}

/// The list of an entry: `delegates[0].plugins` of `delegates[0].plugins[3]`.
fn list_of(json_path: &str) -> &str {
    json_path.rsplit_once('[').map_or(json_path, |(list, _)| list)
}

fn twice(
    ctx: &Context<'_>,
    nodes: &Nodes<'_>,
    snapshot: &NodeSnapshot,
    list: &[&EntryInFile<'_>],
    keeps: bool,
) -> Finding {
    // Not empty: callers pass only lists with several entries.
    let last = list[list.len() - 1];
    let quoted = list.iter().map(|found| {
        let path = Some(found.entry.path_of("type"));
        in_file(snapshot, &found.file.path(), path, Some(found.entry.place()), "\"linkerd-cni\"")
    });
    let finding = ctx
        .finding(
            entry_subject(snapshot, last.file, last.entry),
            "one list of plugins has several linkerd-cni entries: linkerd-cni runs once for each, and the \
             entries may differ",
        )
        .parameter(last.file.path())
        .evidences(quoted)
        .remedy(remedy(ctx, nodes, snapshot, last, keeps));
    last.graded(snapshot, finding).severity(Severity::Warning)
}

fn remedy(
    ctx: &Context<'_>,
    nodes: &Nodes<'_>,
    snapshot: &NodeSnapshot,
    last: &EntryInFile<'_>,
    keeps: bool,
) -> Remedy {
    if keeps || uninstalled(ctx) {
        let system = nodes.system(ctx, &snapshot.node);
        return purge_entry(ctx, &snapshot.node, system, Some((last.file, last.entry)), &[]);
    }
    let words = "Restart the DaemonSet: its installers remove every entry of a list before they add their own";
    restarted_for(ctx, Remedy::new(), words)
}
