//! `cni-iptables-backend`: the iptables that linkerd-cni runs on a node needs a kernel module that the node
//! does not have.

use std::collections::BTreeMap;

use super::add_failures::{answers_on, by_node, hinted_add_failures, quoted};
use super::host::on_host;
use super::mode::mode_remedy;
use super::nodes::{Nodes, lacks, silent};
use super::places::{entry_subject, in_file};
use super::plugin::PluginOn;
use super::pods::failed_deleted;
use super::usable::{Usable, backend_of, pair};
use crate::checks::prelude::*;
use crate::command::program;
use crate::fetched::Why;
use crate::finding::{Evidence, Finding, Remedy, StepKind};
use crate::knowledge::{Backend, IptablesMode, System};
use crate::model::cni::Installed;
use crate::model::node::{ChainEntry, NodeSnapshot};
use crate::model::sandbox::AddFailure;

/// Errors of iptables without its backend.
const LEGACY: [&str; 2] = ["exit-3", "exit-1"];
const NF_TABLES: [&str; 3] = ["exit-4", "exit-3", "exit-1"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let installed = super::installers::installed(ctx);
    let adds = hinted_add_failures(ctx);
    let failing = by_node(adds.iter().filter(|add| NF_TABLES.iter().any(|signature| add.is(signature))));
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        for running in nodes.chain(ctx, snapshot).entries {
            findings.extend(backend_missing(ctx, &nodes, (snapshot, running), &installed, &failing));
        }
    }
    Ok(findings.into())
}

fn backend_missing(
    ctx: &Context<'_>,
    nodes: &Nodes<'_>,
    (snapshot, running): (&NodeSnapshot, ChainEntry<'_>),
    installed: &Installed<'_>,
    failing: &BTreeMap<&str, Vec<&AddFailure<'_>>>,
) -> Option<Finding> {
    let node = snapshot.node.as_str();
    let written = running.entry.iptables_mode.value().map(String::as_str);
    let plugin = PluginOn::on_node(ctx, installed, node, Some(snapshot));
    let mode: Option<IptablesMode> = written.and_then(|mode| mode.parse().ok());
    let runs = plugin.binaries(ctx, written, false).map(|known| known.needed);
    let runs = runs.or_else(|| pair(ctx, mode?).map(Into::into));
    let Some(binary) = runs.and_then(|mut names| names.pop()) else {
        let part = format!("node {node}: the version of linkerd-cni, which decides its binaries");
        lacks(ctx, Why::NotOffered, part);
        return None;
    };
    if snapshot.binary(&binary).is_absent() {
        return None;
    }
    let Some(backend) = backend_of(ctx, snapshot, &binary) else {
        silent(ctx, snapshot, "host/binaries.json", &format!("the backend of {binary}"));
        return None;
    };
    let modules = match snapshot.modules.as_ref().filter(|modules| !modules.is_empty()) {
        Some(modules) => modules,
        None => {
            silent(ctx, snapshot, "host/modules.txt", "its kernel modules, including built-in ones");
            return None;
        }
    };
    let module = ctx.knowledge.cni_plugin().module_of(backend)?;
    if modules.contains(module) {
        return None;
    }
    let failing = failing.get(node).map_or(&[][..], Vec::as_slice);
    let said = written.map_or("not set".to_owned(), |mode| format!("{mode:?}"));
    let place = running.entry.iptables_mode.place().or(Some(running.entry.place()));
    let field = Some(running.entry.path_of("linkerd.iptables-mode"));
    let version = snapshot.binary(&binary).found().and_then(|found| found.version.clone());
    let kernel = snapshot.kernel_release().map_or_else(String::new, |release| format!(" of kernel {release}"));
    let finding = ctx
        .finding(
            entry_subject(snapshot, running.file, running.entry),
            "the iptables of linkerd-cni's mode needs a kernel module that is neither loaded nor built in: \
             unless the kernel can still load it, meshed pods cannot start on the node",
        )
        .likely()
        .parameter(module)
        .evidence(in_file(snapshot, &running.file.path(), field, place, said))
        .evidences(version.map(|said| Evidence::other(format!("node {node}"), format!("{binary}: {said}"))))
        .evidence(Evidence::other(format!("node {node}"), format!("not among the modules{kernel}: {module}")))
        .evidences(quoted(failing))
        .remedy(remedy(ctx, (snapshot, nodes.system(ctx, node)), &plugin, module, failing));
    Some(answers_on(finding, node, if backend == Backend::Legacy { &LEGACY } else { &NF_TABLES }))
}

fn remedy(
    ctx: &Context<'_>,
    (snapshot, system): (&NodeSnapshot, Option<&System>),
    plugin: &PluginOn<'_>,
    module: &str,
    failing: &[&AddFailure<'_>],
) -> Remedy {
    let usable = Usable::working(ctx, snapshot);
    if usable.is_any() {
        return mode_remedy(ctx, &snapshot.node, plugin.version(), &usable, failing);
    }
    let remedy =
        on_host(Remedy::new(), system, &snapshot.node, "Load the module", [program("modprobe").operand(module)]);
    let remedy = remedy.step(StepKind::NodeFile, "Configure the node's image to load the module at boot").step(
        StepKind::NodeFile,
        "If the kernel does not have the module, install the binaries of the other backend, and use their mode",
    );
    failed_deleted(ctx, remedy, failing)
}
