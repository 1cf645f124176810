//! `cni-entry-orphaned`: a node's configuration still runs linkerd-cni, but no DaemonSet installs it any
//! more.

use super::add_failures::{answers_on, by_node, hinted_add_failures, on_node, on_this_node, quoted};
use super::chart;
use super::host::on_files;
use super::installers::no_daemon_set;
use super::nodes::{Nodes, may_cover, relied_on, runs_pods_on_linux};
use super::places::{entry_subject, in_file, not_looked_at};
use super::purge::purge_entry;
use super::{cni_add_unauthorized, remedy};
use crate::checks::prelude::*;
use crate::checks::restart::listed;
use crate::command::program;
use crate::knowledge::System;
use crate::model::cni;
use crate::model::node::{ConfFile, LinkerdEntry, NodeSnapshot};
use crate::objects::DaemonSet;

/// The plugin's default kubeconfig.
const KUBECONFIG: &str = "/etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig";
/// The default directory of the plugin's binary.
const BIN_DIR: &str = "/opt/cni/bin";
/// Errors of a linkerd-cni whose account, kubeconfig or binary was uninstalled.
const LEFT_BEHIND: [&str; 4] =
    [cni_add_unauthorized::SIGNATURE, "kubeconfig-missing", "plugin-missing", "rbac-forbidden"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets: Vec<&Workload> = ctx.complete_list::<DaemonSet>()?.iter().filter(|set| cni::is_installer(set)).collect();
    if !sets.is_empty() {
        return uncovered(ctx, &sets);
    }
    let nodes = Nodes::perhaps_with_files(ctx);
    let relied_on = relied_on(ctx);
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        findings.extend(on_one(ctx, &nodes, snapshot, &[no_daemon_set()], relied_on.as_ref()));
    }
    // Its error is sufficient proof that the node still runs it.
    for (node, adds) in by_node(hinted_add_failures(ctx)) {
        if nodes.has_files(node) {
            continue;
        }
        let mut finding = ctx
            .finding(Subject::node(node), LOADED)
            .likely()
            .evidences(quoted(&adds))
            .evidence(no_daemon_set())
            .evidence(not_looked_at(node))
            .remedy(remedy(
                ctx,
                (node, nodes.system(ctx, node)),
                purge_entry(ctx, node, nodes.system(ctx, node), None, &adds),
                &[KUBECONFIG.to_owned(), format!("{BIN_DIR}/linkerd-cni")],
                relied_on.as_ref(),
            ));
        for signature in adds.iter().filter_map(|add| add.signature) {
            finding = finding.tie(on_node(&signature.id, node));
        }
        findings.push(finding);
    }
    Ok(findings.into())
}

const LOADED: &str = "new pods on the node depend on a linkerd-cni that is no longer installed: the loaded \
                      CNI configuration still has its entry, but its token and binary are not renewed";
const UNLOADED: &str = "a CNI file of the node still has an entry of linkerd-cni, which is no longer \
                        installed: once the runtime loads that file, new pods on the node cannot start";

fn on_one<'a>(
    ctx: &Context<'a>,
    nodes: &Nodes<'a>,
    snapshot: &'a NodeSnapshot,
    not_installed: &[Evidence],
    relied_on: Option<&Evidence>,
) -> Vec<Finding> {
    let chain = nodes.chain(ctx, snapshot);
    let node = snapshot.node.as_str();
    let adds = hinted_add_failures(ctx);
    let failing = on_this_node(adds, node);
    let build = |file: &ConfFile, entry: &LinkerdEntry, message: &str| {
        let path = Some(entry.path_of("type"));
        let quoted = in_file(snapshot, &file.path(), path, Some(entry.place()), "\"linkerd-cni\"");
        let system = nodes.system(ctx, node);
        let purge = purge_entry(ctx, node, system, Some((file, entry)), &failing);
        ctx.finding(entry_subject(snapshot, file, entry), message)
            .parameter(file.path())
            .evidence(quoted)
            .evidences(not_installed.iter().cloned())
            .evidences(relied_on.cloned())
            .remedy(remedy(ctx, (node, system), purge, &files_of(snapshot, entry), relied_on))
    };
    let loaded: Vec<Finding> = chain
        .entries
        .iter()
        .map(|running| {
            let finding = build(running.file, running.entry, LOADED);
            answers_on(finding, node, &LEFT_BEHIND)
        })
        .collect();
    if !loaded.is_empty() {
        return loaded;
    }
    let others = snapshot.all_linkerd_entries().into_iter().filter(|(file, _)| file.is_loadable());
    others.map(|(file, entry)| build(file, entry, UNLOADED).severity(Severity::Warning).explains_nothing()).collect()
}

/// Nodes that the `nodeSelector` of linkerd-cni's DaemonSet no longer selects. They are in the same state as
/// after an uninstall.
fn uncovered(ctx: &Context<'_>, sets: &[&Workload]) -> Judgement {
    // The default of charts: every Linux node.
    let everywhere = |set: &Workload| {
        let mut wanted = set.spec.template.spec.node_selector.iter();
        wanted.all(|(key, value)| key == "kubernetes.io/os" && value == "linux")
    };
    if sets.iter().any(|set| everywhere(set)) {
        return Err(Unjudged::not_applicable("linkerd-cni is installed"));
    }
    let mut linux = ctx.complete_list::<Node>()?.iter().filter(|node| runs_pods_on_linux(node));
    if linux.all(|node| may_cover(ctx, &node.metadata.name)) {
        return Err(Unjudged::not_applicable("linkerd-cni is installed"));
    }
    let pods = ctx.optional_list::<Pod>();
    let runs_on = |node: &str| pods.iter().any(|pod| cni::is_installer_pod(pod) && pod.node_name == node);
    let nodes = Nodes::with_files(ctx)?;
    let left: Vec<_> =
        nodes.snapshots().filter(|snapshot| !may_cover(ctx, &snapshot.node) && !runs_on(&snapshot.node)).collect();
    if left.is_empty() {
        return Err(Unjudged::not_applicable("linkerd-cni is installed"));
    }
    let not_installed: Vec<Evidence> = sets.iter().map(|set| elsewhere(set)).collect();
    let findings = left.into_iter().flat_map(|snapshot| on_one(ctx, &nodes, snapshot, &not_installed, None));
    Ok(findings.collect())
}

/// Evidence of the DaemonSet's nodeSelector.
fn elsewhere(set: &Workload) -> Evidence {
    let wanted: Vec<String> =
        set.spec.template.spec.node_selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let said = format!("{}, which the node's labels do not match", wanted.join(","));
    Evidence::field(set.metadata.described("DaemonSet"), "spec.template.spec.nodeSelector", said)
}

/// Installs linkerd-cni again if the mesh relies on it, otherwise removes its remains. `files` are its
/// kubeconfig and its binaries on the node.
fn remedy(
    ctx: &Context<'_>,
    (node, system): (&str, Option<&System>),
    purge: Remedy,
    files: &[String],
    relied_on: Option<&Evidence>,
) -> Remedy {
    if relied_on.is_some() {
        let words = "Install linkerd-cni again, because the control plane relies on it";
        let remedy = chart::install_again(ctx, Remedy::new(), words);
        return remedy::through_host_network(ctx, remedy).run(
            StepKind::Note,
            "Otherwise restart the meshed workloads after Linkerd was installed without cniEnabled and the entries \
             were removed node by node (this command lists their pods)",
            listed(ctx, None),
        );
    }
    on_files(
        purge,
        system,
        node,
        &format!(
            "When no entry is left on the node, also remove the plugin's kubeconfig and binary: {}",
            files.join(", ")
        ),
        [program("rm").words("-f").operands(files)],
    )
}

/// The paths of linkerd-cni's files on a node, from its entry and its runtime, else the chart's defaults.
fn files_of(snapshot: &NodeSnapshot, entry: &LinkerdEntry) -> Vec<String> {
    let kubeconfig = entry.kubeconfig.value().cloned().unwrap_or_else(|| KUBECONFIG.to_owned());
    let dirs = snapshot.plugin_dirs();
    let dirs: Vec<&str> = if dirs.is_empty() { vec![BIN_DIR] } else { dirs };
    let binaries = dirs.into_iter().map(|dir| format!("{}/linkerd-cni", dir.trim_end_matches('/')));
    std::iter::once(kubeconfig).chain(binaries).collect()
}
