//! `cni-entry-shadowed`: linkerd-cni's entry is in files that the runtime does not load.

use super::absent::{Absent, absences, remedy};
use super::effect::{Runs, entries, loaded_evidence};
use super::nodes::Nodes;
use super::places::{entry_subject, in_file};
use crate::checks::prelude::*;
use crate::model::node::{ConfFile, Effective, LinkerdEntry, NodeSnapshot};

const MESSAGE: &str = "linkerd-cni's entry is in a file that the runtime does not load, and the loaded file \
                       has none: new meshed pods on the node get no traffic rules";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let mut findings = Vec::new();
    let absences = absences(ctx, &nodes)?;
    for absent in &absences {
        let all = absent.snapshot.all_linkerd_entries().into_iter();
        // A file in the same directory is the one that the runtime would load next; the first is named.
        if let Some((file, entry)) = all.into_iter().find(|(file, _)| file.is_loadable()) {
            findings.push(absent.graded(shadowed(ctx, (absent, &absences), file, entry)));
        }
    }
    for snapshot in nodes.snapshots() {
        findings.extend(depends(ctx, &nodes, snapshot));
    }
    Ok(findings.into())
}

fn shadowed(
    ctx: &Context<'_>,
    (absent, all): (&Absent<'_>, &[Absent<'_>]),
    file: &ConfFile,
    entry: &LinkerdEntry,
) -> Finding {
    let snapshot = absent.snapshot;
    ctx.finding(entry_subject(snapshot, file, entry), MESSAGE)
        .parameter(file.path())
        .evidence(at(snapshot, file, entry))
        .evidence(loaded_evidence(snapshot, absent.file))
        .evidence(absent.expected.clone())
        .remedy(remedy(ctx, absent, all))
}

/// A finding if the runtime is not known, and only containerd or only CRI-O would run the entry.
fn depends<'a>(ctx: &Context<'a>, nodes: &Nodes<'a>, snapshot: &'a NodeSnapshot) -> Option<Finding> {
    let Effective::Disagree { .. } = snapshot.effective(nodes.runtime(snapshot)) else { return None };
    let found = entries(ctx, nodes, snapshot);
    if found.iter().any(|found| found.runs == Runs::Yes) {
        return None;
    }
    let open = found.into_iter().find_map(|found| match found.runs {
        Runs::Open(why) => Some((found.file, found.entry, why)),
        Runs::Yes | Runs::No => None,
    });
    let (file, entry, why) = open?;
    let finding = ctx
        .finding(
            entry_subject(snapshot, file, entry),
            "the node's runtime is not known, and containerd and CRI-O would load different files here: with \
             one of them, meshed pods on the node start without traffic rules",
        )
        .severity(Severity::Warning)
        .likely()
        .parameter(file.path())
        .evidence(at(snapshot, file, entry))
        .evidence(Evidence::other(format!("node {}", snapshot.node), why))
        .remedy(Remedy::new().run(
            StepKind::Note,
            "Find out the node's runtime, and check again with access to the cluster, or with \
             runtime/info.json in the snapshot",
            Command::about_node(&snapshot.node, [kubectl().words("get node").operand(Arg::node()).words("-o wide")]),
        ));
    Some(finding)
}

fn at(snapshot: &NodeSnapshot, file: &ConfFile, entry: &LinkerdEntry) -> Evidence {
    in_file(snapshot, &file.path(), Some(entry.path_of("type")), Some(entry.place()), "\"linkerd-cni\"")
}
