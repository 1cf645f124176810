//! `cni-network-not-ready`: a node's runtime has no CNI configuration to load, or skips the one with
//! linkerd-cni's entry.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::host::look_at_files;
use super::logs::{journals, unmatched_logs};
use super::nodes::Nodes;
use super::remedy::with_node_files;
use crate::checks::prelude::*;
use crate::command::program;
use crate::knowledge::SignatureScope;
use crate::model::journal::{JournalLine, OF_RUNTIME};
use crate::model::node::RuntimeKind;

const NOTHING: &str = "pods that need their own network cannot start on the node: its container runtime \
                       found no CNI configuration to load";
const PASSED_OVER: &str = "pods start outside the mesh on the node: its container runtime skips the CNI \
                           configuration with linkerd-cni's entry, because it does not find the plugin's \
                           binary";

const WRITE_AGAIN: &str = "Delete the base network's pod on the node, which is on the host network and \
                           writes its file again, then the linkerd-cni pod there. This command lists the \
                           pods of the node";
const PUT_BACK: &str = "Set destCNIBinDir to the runtime's plugin directory and restart linkerd-cni, which \
                        installs its binary there. Then delete the meshed pods that started in the meantime. \
                        This command lists the pods of the node";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = ctx.partial_list::<Node>()?;
    unmatched_logs(ctx);
    let [nothing, passed_over] = OF_RUNTIME;
    let known: BTreeMap<&str, &Node> = nodes.iter().map(|node| (node.metadata.name.as_str(), node)).collect();
    let mut findings: Vec<Finding> = nodes.iter().filter_map(|node| from_condition(ctx, node, nothing)).collect();
    let journals = journals(ctx);
    // CRI-O reports skipped files only in its journal.
    let silent = nodes.iter().filter(|node| {
        let runtime = RuntimeKind::parse(&node.status.node_info.container_runtime_version);
        let name = &node.metadata.name;
        runtime == RuntimeKind::Crio && !journals.iter().any(|journal| journal.node == name)
    });
    for node in silent {
        let why = ctx.logs().err().map_or(Why::NotOffered, |missing| missing.why);
        let part = format!("node {}: the journal of CRI-O", node.metadata.name);
        ctx.gap(ctx.missing(Item::Logs, why, part));
    }
    for journal in journals {
        let last = |id: &str| {
            journal.last(ctx.knowledge, ctx.now(), |row, at| row.id == id && at.is_none_or(|at| recent(ctx, at)))
        };
        // The current state of the node's object takes precedence over its journal.
        if !known.contains_key(journal.node)
            && let Some((said, _)) = last(nothing)
        {
            findings.push(from_journal(ctx, nothing, said));
        }
        if let Some((said, _)) = last(passed_over) {
            findings.push(from_journal(ctx, passed_over, said));
        }
    }
    Ok(findings.into())
}

fn recent(ctx: &Context<'_>, at: Timestamp) -> bool {
    ctx.now().duration_since(at) <= ctx.param_duration("journal-minutes")
}

/// A node whose kubelet reports that it has no network.
fn from_condition(ctx: &Context<'_>, node: &Node, signature: &str) -> Option<Finding> {
    let ready = node.status.conditions.iter().find(|c| c.kind == "Ready" && c.status != "True")?;
    let row = ctx.knowledge.signatures().matching(SignatureScope::Journal, &ready.message)?;
    if row.id != signature {
        return None;
    }
    let name = &node.metadata.name;
    let finding = ctx
        .finding(Subject::node(name), NOTHING)
        .parameter(signature)
        .evidence(Evidence::field(format!("Node {name}"), "status.conditions[Ready].message", &ready.message))
        .remedy(remedy(ctx, name, WRITE_AGAIN));
    let starting = node
        .metadata
        .creation_timestamp
        .get()
        .is_some_and(|at| ctx.now().duration_since(at) < ctx.param_duration("minutes"));
    Some(if starting { finding.severity(Severity::Info) } else { finding })
}

/// A finding from a journal alone.
fn from_journal(ctx: &Context<'_>, signature: &str, said: JournalLine<'_>) -> Finding {
    let passed_over = signature == OF_RUNTIME[1];
    let (message, last) = if passed_over { (PASSED_OVER, PUT_BACK) } else { (NOTHING, WRITE_AGAIN) };
    let finding = ctx
        .finding(Subject::node(said.node), message)
        .parameter(signature)
        .evidence(said.evidence())
        .remedy(remedy(ctx, said.node, last));
    // A line without a time may be old.
    if said.at.is_some() { finding } else { finding.severity(Severity::Warning).likely() }
}

fn remedy(ctx: &Context<'_>, node: &str, last: &str) -> Remedy {
    look_at_files(
        Remedy::new(),
        Nodes::for_steps(ctx).system(ctx, node),
        node,
        "List the directories that the runtime reads, and look for files renamed to .cilium_bak, a first \
         file that does not parse, or an entry whose binary is missing",
        [program("ls").words("-la /etc/cni/net.d /opt/cni/bin")],
    )
    .run(
        StepKind::Note,
        "Provide the node's CNI files: meshdoctor then names the file and its defect",
        with_node_files(),
    )
    .command(
        last,
        Command::about_node(
            node,
            [kubectl()
                .words("get pods -A -o wide --field-selector")
                .arg(Arg::from("spec.nodeName=").then(Arg::node()))],
        ),
    )
}
