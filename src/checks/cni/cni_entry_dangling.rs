//! `cni-entry-dangling`: an entry of linkerd-cni needs a kubeconfig or a binary that the node does not have.

use super::add_failures::{answers_on, by_node, hinted_add_failures, on_this_node, quoted};
use super::cni_conf_dir_mismatch::bin_dir_cure;
use super::effect::{EntryInFile, Runs, entries};
use super::host::on_files;
use super::nodes::{Nodes, silent, uninstalled};
use super::places::{entry_subject, in_file, not_looked_at};
use super::purge::purge_entry;
use crate::checks::prelude::*;
use crate::command::program;
use crate::model::node::{KubeconfigLookup, Looked, NodeSnapshot, RuntimeKind};
use crate::objects::DaemonSet;

/// Errors of the plugin or its runtime in this case.
const ANSWERS: [&str; 2] = ["kubeconfig-missing", "plugin-missing"];

const LOADED: &str = "new pods on the node cannot start: the linkerd-cni entry that its runtime loads needs \
                      a file that does not exist";
const PASSED_OVER: &str = "CRI-O skips the file with linkerd-cni's entry, because the plugin's binary does \
                           not exist: pods start in the network of the next file, outside the mesh";
const UNLOADED: &str = "a linkerd-cni entry in a file that is not loaded needs a file that does not exist: \
                        once the runtime loads it, new pods on the node cannot start";

const NOT_EXECUTABLE: &str = "new pods on the node cannot start: the binary of the linkerd-cni entry that its runtime \
                              loads cannot be executed";
const NOT_EXECUTABLE_UNLOADED: &str = "the binary of a linkerd-cni entry in a file that is not loaded cannot be \
                                       executed: once the runtime loads the file, new pods on the node cannot start";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::perhaps_with_files(ctx);
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        // An entry left in a file that is not loaded has no owner, which another check reports.
        let counts = |found: &EntryInFile<'_>| found.runs != Runs::No || !uninstalled(ctx);
        for found in entries(ctx, &nodes, snapshot).into_iter().filter(counts) {
            let finding = dangling(ctx, &nodes, snapshot, &found);
            if finding.is_some() && found.runs == Runs::No {
                ctx.or_note(ctx.complete_list::<DaemonSet>());
            }
            findings.extend(finding);
            findings.extend(not_executable(ctx, &nodes, snapshot, &found));
        }
    }
    // Without linkerd-cni the entry has no owner, which is another finding.
    if !uninstalled(ctx) {
        let adds = hinted_add_failures(ctx);
        let reported = by_node(adds.iter().filter(|add| ANSWERS.iter().any(|id| add.is(id))));
        for (node, adds) in reported.into_iter().filter(|(node, _)| !nodes.has_files(node)) {
            let finding = ctx
                .finding(Subject::node(node), LOADED)
                .likely()
                .evidences(quoted(&adds))
                .evidence(not_looked_at(node))
                .remedy(purge_entry(ctx, node, nodes.system(ctx, node), None, &adds));
            ctx.or_note(ctx.complete_list::<DaemonSet>());
            findings.push(answers_on(finding, node, &ANSWERS));
        }
    }
    Ok(findings.into())
}

fn dangling<'a>(
    ctx: &Context<'a>,
    nodes: &Nodes<'a>,
    snapshot: &'a NodeSnapshot,
    found: &EntryInFile<'a>,
) -> Option<Finding> {
    let kubeconfig = kubeconfig(ctx, snapshot, found);
    let binary = binary(ctx, snapshot, found);
    if kubeconfig.is_none() && binary.is_none() {
        return None;
    }
    let node = &snapshot.node;
    let crio = matches!(nodes.runtime(snapshot), RuntimeKind::Crio | RuntimeKind::Dockershim);
    let passed_over = crio && binary.is_some() && found.runs == Runs::No && found.file.dir == snapshot.conf_dir();
    let message = match &found.runs {
        _ if passed_over => PASSED_OVER,
        Runs::Yes | Runs::Open(_) => LOADED,
        Runs::No => UNLOADED,
    };
    let (file, entry) = (found.file, found.entry);
    let finding = ctx
        .finding(entry_subject(snapshot, file, entry), message)
        .parameter(file.path())
        .evidences(kubeconfig)
        .evidences(binary)
        .remedy(match snapshot.plugin_binary_elsewhere("linkerd-cni") {
            // The next installer would only write it there again.
            Some(_) => bin_dir_cure(ctx, snapshot),
            None => {
                let adds = hinted_add_failures(ctx);
                let failing = on_this_node(adds, node);
                purge_entry(ctx, node, nodes.system(ctx, node), Some((file, entry)), &failing)
            }
        });
    Some(match found.runs {
        Runs::Yes => answers_on(finding, node, &ANSWERS),
        Runs::No if passed_over => finding.severity(Severity::Warning),
        Runs::No | Runs::Open(_) => found.graded(snapshot, finding),
    })
}

/// The finding about a binary that the runtime finds and cannot run.
fn not_executable(
    ctx: &Context<'_>,
    nodes: &Nodes<'_>,
    snapshot: &NodeSnapshot,
    found: &EntryInFile<'_>,
) -> Option<Finding> {
    let binary = snapshot.plugin_binary("linkerd-cni").found()?;
    let mode = binary.unexecutable_mode()?;
    let (node, file, path) = (snapshot.node.as_str(), found.file, binary.path());
    let message = if found.runs == Runs::No { NOT_EXECUTABLE_UNLOADED } else { NOT_EXECUTABLE };
    let said = format!("\"linkerd-cni\", whose binary {path} has the mode {mode}");
    let field = Some(found.entry.path_of("type"));
    let chmod = program("chmod").words("0755").operand(path);
    let remedy = on_files(Remedy::new(), nodes.system(ctx, node), node, "Make the plugin's binary executable", [chmod]);
    let finding = ctx
        .finding(entry_subject(snapshot, file, found.entry), message)
        .parameter(file.path())
        .evidence(in_file(snapshot, &file.path(), field, Some(found.entry.place()), said))
        .remedy(remedy);
    Some(found.graded(snapshot, finding))
}

/// The reference to a kubeconfig that does not exist.
fn kubeconfig(ctx: &Context<'_>, snapshot: &NodeSnapshot, found: &EntryInFile<'_>) -> Option<Evidence> {
    match snapshot.kubeconfig_of(found.entry) {
        KubeconfigLookup::Absent { path } => {
            let field = Some(found.entry.path_of("kubernetes.kubeconfig"));
            let said = format!("\"{path}\", which does not exist");
            Some(in_file(snapshot, &found.file.path(), field, found.entry.kubeconfig.place(), said))
        }
        KubeconfigLookup::NotLookedFor { path, why } => {
            silent(ctx, snapshot, "cni/kubeconfig.facts.json", &format!("{path}: {why}"));
            None
        }
        KubeconfigLookup::Facts(_) | KubeconfigLookup::NoPath => None,
    }
}

/// The reference to a binary that the runtime does not find.
fn binary(ctx: &Context<'_>, snapshot: &NodeSnapshot, found: &EntryInFile<'_>) -> Option<Evidence> {
    match snapshot.plugin_binary("linkerd-cni") {
        Looked::Absent => {
            let dirs = snapshot.plugin_dirs().join(", ");
            let place = Some(found.entry.place());
            let elsewhere = snapshot.plugin_binary_elsewhere("linkerd-cni");
            let said = match elsewhere {
                Some(binary) => {
                    format!("\"linkerd-cni\", whose binary is in {}, but the runtime searches {dirs}", binary.dir)
                }
                None => format!("\"linkerd-cni\", whose binary is not in {dirs}"),
            };
            Some(in_file(snapshot, &found.file.path(), Some(found.entry.path_of("type")), place, said))
        }
        Looked::NotLookedFor(why) => {
            silent(ctx, snapshot, "cni/bin.json", why);
            None
        }
        Looked::Found(_) => None,
    }
}
