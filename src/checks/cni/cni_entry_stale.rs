//! `cni-entry-stale`: a node's entry differs from linkerd-cni's ConfigMap.

use super::cni_interface_mode_leftover::FILE;
use super::config_map;
use super::effect::{EntryInFile, Runs, entries};
use super::nodes::{Nodes, is_fresh, lacks};
use super::places::{entry_subject, in_file};
use super::plugin::PluginOn;
use super::remedy::restarted;
use super::template::{self, TemplateDifference};
use crate::checks::prelude::*;
use crate::model::node::NodeSnapshot;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let Some(config) = config_map::needed_config(ctx)? else {
        return Err(Unjudged::not_applicable("the ConfigMap linkerd-cni-config does not exist"));
    };
    let Some(template) = template::entry(config) else {
        return Err(config_map::unreadable(ctx, "cni_network_config is not a linkerd-cni entry", "its template").into());
    };
    let nodes = Nodes::with_files(ctx)?;
    let installed = super::installers::installed(ctx);
    let set = match installed.sets.as_slice() {
        [only] => Some(*only),
        _ => None,
    };
    // The installer's pod shows whether the files are older than its start.
    _ = ctx.or_note(ctx.partial_list::<Pod>());
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        let started = installed.pod_on(&snapshot.node).and_then(|pod| pod.status.start_time.get());
        if let (Some(started), Some(taken)) = (started, snapshot.meta.collected_at)
            && taken < started
        {
            let part = format!("node {}: files collected after its linkerd-cni pod started", snapshot.node);
            lacks(ctx, Why::NotCaptured, part);
            continue;
        }
        let plugin = PluginOn::on_node(ctx, &installed, &snapshot.node, Some(snapshot));
        let absent_mode = plugin.all(|row| row.absent_mode);
        // Files of early plugins are covered by the check of leftovers.
        let found = entries(ctx, &nodes, snapshot).into_iter();
        for found in found.filter(|found| !found.file.name.starts_with(FILE)) {
            let differences = template::differences(found.entry, &template, config, set, absent_mode);
            if !differences.is_empty() {
                findings.push(stale(ctx, snapshot, config, &found, &differences));
            }
        }
    }
    Ok(findings.into())
}

fn stale(
    ctx: &Context<'_>,
    snapshot: &NodeSnapshot,
    config: &ConfigMap,
    found: &EntryInFile<'_>,
    differences: &[TemplateDifference],
) -> Finding {
    let meta = &config.metadata;
    let seen = differences.iter().map(|difference| {
        let path = Some(found.entry.path_of(&difference.field));
        let place = difference.place.or(Some(found.entry.place()));
        let said = format!("{}, expected {}", difference.seen, difference.expected);
        in_file(snapshot, &found.file.path(), path, place, said)
    });
    let fields: Vec<&str> = differences.iter().map(|difference| difference.field.as_str()).collect();
    let finding = ctx
        .finding(
            entry_subject(snapshot, found.file, found.entry),
            "linkerd-cni's entry on the node differs from its ConfigMap: the new settings are not in effect, \
             because installers read the ConfigMap only when they start",
        )
        .parameter(found.file.path())
        .evidences(seen)
        .evidence(Evidence::field(
            meta.described("ConfigMap"),
            "data.cni_network_config",
            format!("differs in {}", fields.join(", ")),
        ))
        .remedy(restarted(ctx, Remedy::new()));
    let finding = fields.iter().fold(finding, |finding, field| finding.parameter(*field));
    let grave = differences.iter().any(|difference| difference.grave);
    let finding = found.graded(snapshot, finding);
    let finding = if grave && found.runs == Runs::Yes { finding } else { finding.severity(Severity::Warning) };
    // If the files were collected at another time, the ConfigMap may have changed in between.
    finding.observed_if(is_fresh(ctx, snapshot))
}
