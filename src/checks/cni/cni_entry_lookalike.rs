//! `cni-entry-lookalike`: a plugin has linkerd-cni's name but another type.

use super::effect::{file_runs, graded};
use super::host::on_files;
use super::nodes::Nodes;
use super::places::in_file;
use super::remedy::restarted_for;
use crate::checks::prelude::*;
use crate::command::Line;
use crate::model::node::{ConfFile, NodeSnapshot, Plugin};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        let chain = nodes.loaded(ctx, snapshot);
        for file in snapshot.conf_files.iter().filter(|file| file.is_loadable()) {
            let runs = file_runs(&chain, file);
            for plugin in file.plugins().iter().filter(|plugin| looks_alike(plugin)) {
                let finding = lookalike(ctx, &nodes, snapshot, file, plugin);
                findings.push(graded(snapshot, &runs, finding).severity(Severity::Warning));
            }
        }
    }
    Ok(findings.into())
}

/// Runtimes use `type`, with its exact spelling.
fn looks_alike(plugin: &Plugin) -> bool {
    let says =
        |text: &Option<String>| text.as_deref().is_some_and(|text| text.to_ascii_lowercase().contains("linkerd-cni"));
    !plugin.is_linkerd() && (says(&plugin.name) || says(&plugin.plugin_type))
}

fn lookalike(
    ctx: &Context<'_>,
    nodes: &Nodes<'_>,
    snapshot: &NodeSnapshot,
    file: &ConfFile,
    plugin: &Plugin,
) -> Finding {
    let path = if plugin.json_path == "." { "type".to_owned() } else { format!("{}.type", plugin.json_path) };
    let place = plugin.type_place.unwrap_or(plugin.span.start);
    let subject = Subject::Node {
        node: snapshot.node.clone(),
        file: Some(file.path()),
        path: Some(plugin.json_path.clone()),
        line: u32::try_from(place.line).ok(),
    };
    let called = plugin.plugin_type.as_deref().map_or("no type".to_owned(), |text| format!("{text:?}"));
    let named = plugin.name.as_deref().map_or(String::new(), |name| format!(" with the name {name:?}"));
    let said = format!("{called}{named}, expected \"linkerd-cni\"");
    let (from, to) = (plugin.span.start.line, plugin.span.end.line);
    let lines = if from == to { format!("line {from}") } else { format!("lines {from} to {to}") };
    let remedy = on_files(
        Remedy::new(),
        nodes.system(ctx, &snapshot.node),
        &snapshot.node,
        &format!(
            "Unless it was added on purpose, remove the object {} ({lines}) from {}; the editor works on a \
             copy",
            plugin.json_path,
            file.path()
        ),
        [
            Line::set("F", Arg::path(file.path())),
            Line::shell("cp -p \"$F\" \"$F.bak\" && vi \"$F.bak\" && mv \"$F.bak\" \"$F\""),
        ],
    );
    ctx.finding(
        subject,
        "a plugin is named linkerd-cni but has another type: runtimes run the type, so it writes no traffic \
         rules",
    )
    .parameter(file.path())
    .evidence(in_file(snapshot, &file.path(), Some(path), Some(place), said))
    .remedy(restarted_for(ctx, remedy, "Restart the DaemonSet, so that its installers write the correct entry"))
}
