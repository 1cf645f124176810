//! `cni-nsenter-missing`: a node lacks the program with which linkerd-cni enters a pod's network.

use std::collections::BTreeMap;

use super::add_failures::{answers_on, by_node, hinted_add_failures, quoted};
use super::nodes::{Nodes, silent};
use super::places::{entry_evidence, entry_subject, not_looked_at};
use super::pods::failed_deleted;
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::knowledge::System;
use crate::model::node::{ChainEntry, Looked, NodeSnapshot};
use crate::model::sandbox::AddFailure;

const SIGNATURE: &str = "nsenter-missing";

const MESSAGE: &str = "meshed pods cannot start on the node: it lacks nsenter, which linkerd-cni runs to \
                       enter a pod's network namespace";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let adds = hinted_add_failures(ctx);
    let failing = by_node(adds.iter().filter(|add| add.is(SIGNATURE)));
    let scan = NsenterScan { ctx, nodes: Nodes::perhaps_with_files(ctx), failing };
    let mut findings = Vec::new();
    for snapshot in scan.nodes.snapshots() {
        for running in scan.nodes.chain(ctx, snapshot).entries {
            findings.extend(scan.on_node(snapshot, running));
        }
    }
    let without_files = scan.failing.iter().filter(|(node, _)| !scan.nodes.has_files(node));
    findings.extend(without_files.map(|(node, adds)| scan.inferred(node, adds)));
    Ok(findings.into())
}

struct NsenterScan<'c, 'a, 'r> {
    ctx: &'c Context<'a>,
    nodes: Nodes<'a>,
    failing: BTreeMap<&'a str, Vec<&'r AddFailure<'a>>>,
}

impl NsenterScan<'_, '_, '_> {
    fn on_node(&self, snapshot: &NodeSnapshot, running: ChainEntry<'_>) -> Option<Finding> {
        match snapshot.binary("nsenter") {
            Looked::Found(_) => return None,
            Looked::NotLookedFor(_) => {
                silent(self.ctx, snapshot, "host/binaries.json", "the location of nsenter");
                return None;
            }
            Looked::Absent => {}
        }
        let node = snapshot.node.as_str();
        let failing = self.failing.get(node).map_or(&[][..], Vec::as_slice);
        let host = snapshot.host_binaries.as_ref();
        let path = host.and_then(|host| host.runtime_path.as_deref());
        let on = path.map_or_else(|| "the runtime's PATH".to_owned(), |path| format!("the PATH {path}"));
        let finding = self
            .ctx
            .finding(entry_subject(snapshot, running.file, running.entry), MESSAGE)
            .evidence(entry_evidence(snapshot, running))
            .evidence(Evidence::other(
                format!("node {node}"),
                format!("not on {on}: {}", snapshot.absent_binary("nsenter")),
            ))
            .evidences(quoted(failing))
            .remedy(remedy(self.ctx, self.nodes.system(self.ctx, node), failing));
        let finding = answers_on(finding, node, &[SIGNATURE]);
        let certain = host.is_some_and(|host| host.path_is_certain()) || !failing.is_empty();
        // The PATH of the runtime is a guess.
        Some(if certain { finding } else { finding.severity(Severity::Warning).likely() })
    }

    /// A node without files on which linkerd-cni itself reports that nsenter is missing.
    fn inferred(&self, node: &str, adds: &[&AddFailure<'_>]) -> Finding {
        let system = self.nodes.system(self.ctx, node);
        let said = self.nodes.object(node).map(|object| {
            let image = &object.status.node_info.os_image;
            let lacks = system.is_some_and(|system| system.nsenter.is_lacking());
            let said = if lacks { format!("{image}, which does not include nsenter") } else { image.clone() };
            Evidence::field(format!("Node {node}"), "status.nodeInfo.osImage", said)
        });
        let finding = self
            .ctx
            .finding(Subject::node(node), MESSAGE)
            .evidences(quoted(adds))
            .evidences(said)
            .evidence(not_looked_at(node))
            .remedy(remedy(self.ctx, system, adds));
        let finding = answers_on(finding, node, &[SIGNATURE]);
        // An event of a pod that no longer waits shows an earlier state.
        finding.observed_if(adds.iter().any(|add| add.waits))
    }
}

fn remedy(ctx: &Context<'_>, system: Option<&System>, failing: &[&AddFailure<'_>]) -> Remedy {
    let install = match system.map(|system| system.id.as_str()) {
        Some("talos") => {
            "Add nsenter to the node: upgrade it to a Talos image with the system extension util-linux-tools. Talos \
             also lacks iptables, which linkerd-cni runs next"
        }
        Some(_) | None => "Add nsenter to the node's image: it is part of util-linux",
    };
    let remedy = Remedy::new().step(StepKind::NodeFile, install);
    let remedy = upgrade::with_values(
        ctx,
        remedy,
        "If the image cannot be changed, set cniEnabled to false and uninstall linkerd-cni. The injected \
         linkerd-init has its own iptables and needs the capability NET_ADMIN in each pod",
        Options::none().set("cniEnabled", "false"),
    );
    failed_deleted(ctx, remedy, failing)
}
