//! `cni-conf-unparseable`: a CNI configuration file of a node, or linkerd-cni's entry in it, is invalid.

use super::add_failures::on_node;
use super::effect::{Runs, both, entries, graded, owner, written_again};
use super::host::on_files;
use super::nodes::{Nodes, lacks};
use super::places::in_file;
use super::purge::purge_entry;
use crate::checks::prelude::*;
use crate::command::program;
use crate::model::node::{ConfFile, ConfigKind, Defect, DefectKind, Effective, NodeSnapshot, RuntimeKind};

const LOADED: &str = "the CNI configuration that the runtime has to load is invalid: pods that need their \
                      own network cannot start on the node";
const SKIPPED: &str = "a CNI configuration file is invalid, so the runtime skips it: pods on the node get \
                       the network of the next file instead";
const UNREAD: &str = "a CNI configuration list that is not loaded is invalid: linkerd-cni's clean-up stops \
                      at it and leaves entries, kubeconfig and binary behind";
const UNLOADABLE: &str = "a CNI configuration list that is not loaded is invalid: once it is the first file, \
                          pods that need their own network cannot start on the node";
const FIELDS: &str = "a field of linkerd-cni's entry has the wrong type: the plugin fails with \"failed to \
                      parse network configuration\" for every new pod of the node";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        files(ctx, &nodes, snapshot, &mut findings);
        fields(ctx, &nodes, snapshot, &mut findings);
    }
    Ok(findings.into())
}

/// The file on which the runtime fails, and the invalid files that it skips or never reads.
fn files(ctx: &Context<'_>, nodes: &Nodes<'_>, snapshot: &NodeSnapshot, findings: &mut Vec<Finding>) {
    let runtime = nodes.runtime(snapshot);
    let effective = snapshot.effective(runtime);
    let failing = match &effective {
        Effective::Broken { file, why } => Some((*file, why.clone(), Runs::Yes)),
        Effective::Disagree { containerd, crio } => match &**containerd {
            Effective::Broken { file, why } => Some((*file, why.clone(), Runs::Open(both(containerd, crio)))),
            _ => None,
        },
        Effective::Unknown { reason } => {
            super::effect::open_directory(ctx, snapshot, reason);
            None
        }
        Effective::File(_) | Effective::None { .. } => None,
    };
    if let Some((file, why, runs)) = &failing {
        let finding =
            unreadable(ctx, nodes, snapshot, file, why, LOADED).tie(on_node("config-unreadable", &snapshot.node));
        // Whether size matters depends on the version of the runtime.
        let finding = finding.observed_if(why.kind.is_certain());
        findings.push(graded(snapshot, runs, finding));
    }
    let passes_over = matches!(runtime, RuntimeKind::Crio | RuntimeKind::Dockershim);
    for file in snapshot.conf_files.iter().filter(|file| file.is_loadable()) {
        if failing.as_ref().is_some_and(|(failing, ..)| failing.path() == file.path()) {
            continue;
        }
        let Some(defect) = file.defect() else { continue };
        if !defect.kind.is_certain() {
            let message = format!("{}: {}", file.path(), defect.message);
            lacks(ctx, Why::Malformed { message }, format!("node {}", snapshot.node));
            continue;
        }
        let before = file.dir == snapshot.conf_dir() && effective.file().is_none_or(|loaded| file.name < loaded.name);
        let message = if passes_over && before {
            SKIPPED
        } else if file.kind() == Some(ConfigKind::List) {
            // The clean-up reads files with jq, which accepts more than runtimes do.
            match defect.kind {
                DefectKind::Syntax | DefectKind::Utf16 => UNREAD,
                _ => UNLOADABLE,
            }
        } else {
            // Another tool's file, which neither the runtime nor the clean-up reads.
            continue;
        };
        let finding = unreadable(ctx, nodes, snapshot, file, defect, message);
        let finding = finding.severity(Severity::Warning);
        findings.push(if message == SKIPPED { finding } else { finding.explains_nothing() });
    }
}

fn unreadable(
    ctx: &Context<'_>,
    nodes: &Nodes<'_>,
    snapshot: &NodeSnapshot,
    file: &ConfFile,
    why: &Defect,
    message: &str,
) -> Finding {
    let subject = Subject::Node {
        node: snapshot.node.clone(),
        file: Some(file.path()),
        path: why.json_path.clone(),
        line: why.place.and_then(|place| u32::try_from(place.line).ok()),
    };
    let seen = in_file(snapshot, &file.path(), why.json_path.clone(), why.place, why.message.clone());
    ctx.finding(subject, message).parameter(file.path()).evidence(seen).remedy(restore(ctx, nodes, snapshot, file, why))
}

fn restore(ctx: &Context<'_>, nodes: &Nodes<'_>, snapshot: &NodeSnapshot, file: &ConfFile, why: &Defect) -> Remedy {
    let (node, path) = (snapshot.node.as_str(), file.path());
    let system = nodes.system(ctx, node);
    let renamed = || [program("mv").operand(path.as_str()).operand(format!("{path}.broken"))];
    match owner(ctx, file) {
        Some(network) => {
            let text = format!("Rename {path}, so that no runtime loads it");
            on_files(Remedy::new(), system, node, &text, renamed()).command(
                format!(
                    "Let {}, which owns the file, write it again; linkerd-cni then adds its entry \
                     automatically",
                    network.title
                ),
                written_again(ctx, node, network),
            )
        }
        None => {
            let what = match why.kind {
                DefectKind::ByteOrderMark | DefectKind::Utf16 => "save it as UTF-8 without a byte-order mark",
                DefectKind::Empty | DefectKind::Unreadable => "restore it from a node whose file is intact",
                _ => "correct it, or restore it from a node whose file is intact",
            };
            let remedy = on_files(
                Remedy::new(),
                system,
                node,
                &format!("Find out which tool writes {path}, and {what}"),
                [program("ls").words("-l").operand(path.as_str()), program("cat").operand(path.as_str())],
            );
            on_files(remedy, system, node, &format!("Or, if nothing needs {path}, rename it"), renamed())
        }
    }
}

/// Entries in valid files that the plugin itself cannot read.
fn fields<'a>(ctx: &Context<'a>, nodes: &Nodes<'a>, snapshot: &'a NodeSnapshot, findings: &mut Vec<Finding>) {
    for found in entries(ctx, nodes, snapshot) {
        let wrong = found.entry.wrong_fields();
        let Some((path, _, place)) = wrong.first() else { continue };
        let subject = Subject::Node {
            node: snapshot.node.clone(),
            file: Some(found.file.path()),
            path: Some(path.clone()),
            line: u32::try_from(place.line).ok(),
        };
        let seen: Vec<Evidence> = wrong
            .iter()
            .map(|(path, said, place)| in_file(snapshot, &found.file.path(), Some(path.clone()), Some(*place), said))
            .collect();
        let system = nodes.system(ctx, &snapshot.node);
        let finding = ctx.finding(subject, FIELDS).parameter(found.file.path()).evidences(seen).remedy(purge_entry(
            ctx,
            &snapshot.node,
            system,
            Some((found.file, found.entry)),
            &[],
        ));
        let finding = match found.runs {
            Runs::Yes => finding.tie(on_node("config-unreadable", &snapshot.node)),
            Runs::No | Runs::Open(_) => finding,
        };
        findings.push(found.graded(snapshot, finding));
    }
}
