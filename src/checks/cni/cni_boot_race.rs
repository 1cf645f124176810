//! `cni-boot-race`: pods were created on a node before linkerd-cni was ready there.

use super::chart::{self, ChartValue};
use super::cni_validator_failed::{InstallerPods, failing};
use super::nodes::{Nodes, lacks};
use super::places::in_file;
use super::pods::deleted;
use crate::checks::prelude::*;
use crate::finding::{Moment, Place};
use crate::model::owners::Owners;
use crate::model::{cni, moments};

const MESSAGE: &str = "pods were created before linkerd-cni was ready on their node: they have no traffic \
                       rules and never get them, because a pod keeps its initial network";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let owners = ctx.owners();
    let late: Vec<&Pod> =
        failing(pods).filter(|pod| ctx.judges(&pod.metadata.namespace) && !pod.node_name.is_empty()).collect();
    if late.is_empty() {
        return Ok(Verdict::fine());
    }
    let nodes = Nodes::hinted(ctx);
    let installers = InstallerPods::new(pods);
    let findings = late.into_iter().filter_map(|pod| {
        let node = pod.node_name.as_str();
        let proof = match nodes.snapshots().find(|snapshot| snapshot.node == node) {
            Some(snapshot) => {
                let chain = nodes.chain(ctx, snapshot);
                // Without an entry now, a new pod would fail in the same way: that is another problem.
                let running = chain.entries.first()?;
                let written = running.file.index.as_ref().and_then(|row| row.mtime);
                let place = Some(running.entry.place());
                let said = written.map(|at| (at, format!("written at {at}")));
                said.map(|(at, said)| (at, in_file(snapshot, &running.file.path(), None, place, said)))
            }
            None => None,
        };
        let started = installers.started(node).map(|at| {
            (
                at,
                Evidence::other(
                    format!("node {node}"),
                    format!("its linkerd-cni installer has been running since {at}"),
                ),
            )
        });
        let found = proof.clone().or(started).and_then(|proof| later(ctx, owners, pod, proof));
        if found.is_none() && proof.is_none() {
            // A file may be newer than the start of its installer.
            lacks(ctx, Why::NotOffered, format!("node {node}: the time at which its CNI configuration was written"));
        }
        found
    });
    Ok(findings.collect())
}

/// When linkerd-cni's entry and installer were added to the node.
fn arrival_times(ctx: &Context<'_>, node: &str, (proof, at): (&Evidence, jiff::Timestamp)) -> Vec<Moment> {
    let written = match &proof.place {
        Place::File { node, file, .. } => {
            let object = format!("node {node}");
            Moment::new(Some(at), object, format!("{file} mtime"), "the entry of linkerd-cni written")
        }
        Place::Field { .. } | Place::Event { .. } | Place::Other { .. } => None,
    };
    let installers =
        ctx.optional_list::<Pod>().iter().filter(|pod| cni::is_installer_pod(pod) && pod.node_name == node);
    let installers =
        installers.flat_map(|pod| moments::of_pod(pod, "linkerd-cni created", |name| name == cni::INSTALLER));
    let back = ctx.optional_list::<Node>().iter().find(|known| known.metadata.name == node).and_then(moments::of_node);
    written.into_iter().chain(installers).chain(back).collect()
}

/// A finding about a pod that is older than linkerd-cni on its node.
fn later(
    ctx: &Context<'_>,
    owners: &Owners<'_>,
    pod: &Pod,
    (in_place, proof): (jiff::Timestamp, Evidence),
) -> Option<Finding> {
    let meta = &pod.metadata;
    let created = meta.creation_timestamp.get()?;
    if created >= in_place {
        return None;
    }
    let finding = ctx
        .finding(owners.owner(pod).subject(vec![meta.name.clone()]), MESSAGE)
        // Files are rewritten, and installers restart, for other reasons too.
        .likely()
        .evidence(Evidence::field(meta.described("Pod"), "metadata.creationTimestamp", created.to_string()))
        .timeline(moments::created("Pod", meta, "created"))
        .timeline(arrival_times(ctx, &pod.node_name, (&proof, in_place)))
        .evidence(proof)
        .remedy(chart::set(
            ctx,
            deleted(
                Remedy::new(),
                "Delete the pods: new ones start with their traffic rules",
                [(meta.namespace.as_str(), meta.name.as_str())].into_iter(),
            ),
            "Enable the repair controller, which deletes such pods automatically, and let linkerd-cni start \
             early on new nodes",
            None,
            &[
                ChartValue::new("repairController.enabled", "true"),
                ChartValue::new("priorityClassName", "system-node-critical"),
            ],
        ))
        .tie(Tie::Pod(meta.namespace.to_string(), meta.name.clone()));
    Some(finding)
}
