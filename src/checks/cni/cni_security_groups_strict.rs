//! `cni-security-groups-strict`: pods with their own security groups do not become ready, because the Amazon
//! VPC CNI enforces them strictly.

use std::collections::BTreeMap;

use super::nodes::Nodes;
use super::places::in_file;
use crate::annotations::POD_ENI;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::node::{Content, NodeSnapshot};
use crate::model::pod_status::{label, unhealthy};
use crate::objects::container::PROXY_CONTAINER;

/// The plugin of the Amazon VPC CNI.
const PLUGIN: &str = "aws-cni";
/// Its field with the enforcing mode of pod security groups.
const FIELD: &str = "podSGEnforcingMode";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let home = ctx.namespaces().control_plane.as_str();
    let own: Vec<&Pod> = pods
        .iter()
        .filter(|pod| {
            let meta = &pod.metadata;
            meta.annotation(POD_ENI).is_some()
                && meta.label(CONTROL_PLANE_NS) == Some(home)
                && pod.spec.proxy().is_some()
                && ctx.judges(&meta.namespace)
        })
        .collect();
    if own.is_empty() {
        return Err(Unjudged::not_applicable("no meshed pod has its own security groups"));
    }
    let waiting = |pod: &&Pod| {
        let ready = pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.ready);
        !ready && unhealthy(pod).is_some()
    };
    let own: Vec<&Pod> = own.into_iter().filter(waiting).collect();
    if own.is_empty() {
        return Ok(Verdict::fine());
    }
    let nodes = Nodes::perhaps_with_files(ctx);
    let owners = ctx.owners();
    let mut stuck: BTreeMap<Owner, (Evidence, Vec<&Pod>)> = BTreeMap::new();
    for pod in own {
        let mode = nodes.snapshots().find(|one| one.node == pod.node_name).and_then(mode);
        if mode.as_ref().is_some_and(|(mode, _)| mode == "standard") {
            continue;
        }
        let by = mode
            .map_or_else(|| Evidence::other("DaemonSet kube-system/aws-node", "strict by default"), |(_, seen)| seen);
        stuck.entry(owners.owner(pod)).or_insert((by, Vec::new())).1.push(pod);
    }
    let findings = stuck.into_iter().map(|(owner, (by, pods))| {
        let set =
            kubectl().words("-n kube-system set env daemonset aws-node POD_SECURITY_GROUP_ENFORCING_MODE=standard");
        let mut remedy = Remedy::new().run(
            StepKind::Command,
            "Set the standard enforcing mode for the Amazon VPC CNI (also in its installation values): the node's \
             own rules and probes work in it",
            set,
        );
        let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
        remedy.steps.push(renew(ctx, &owner, &names, Needs::NewPods, "pods get the mode when they are created"));
        let finding = ctx
            .finding(
                owner.subject(names),
                "a meshed pod with its own security groups does not become ready. In strict mode, traffic \
                 that Linkerd redirects in the pod, and the kubelet's probes, return on another path and are \
                 dropped",
            )
            .severity(Severity::Warning)
            .likely()
            .evidences(pods.first().map(|pod| {
                Evidence::field(
                    pod.described(),
                    format!("metadata.annotations[{POD_ENI}]"),
                    format!("set, and the pod is {}", label(pod)),
                )
            }))
            .evidence(by)
            .remedy(remedy);
        pods.iter().fold(finding, |finding, pod| {
            finding.tie(Tie::Pod(pod.metadata.namespace.to_string(), pod.metadata.name.clone()))
        })
    });
    Ok(findings.collect())
}

/// The enforcing mode in the network configuration of a node.
fn mode(snapshot: &NodeSnapshot) -> Option<(String, Evidence)> {
    snapshot.conf_files.iter().filter(|file| file.is_loadable()).find_map(|file| {
        let Content::Captured { bytes, .. } = &file.content else { return None };
        let written: serde_json::Value = serde_json::from_slice(bytes).ok()?;
        let plugin = written["plugins"].as_array()?.iter().find(|plugin| plugin["type"] == PLUGIN)?;
        let mode = plugin[FIELD].as_str()?.to_owned();
        let seen = in_file(snapshot, &file.path(), Some(format!("plugins[].{FIELD}")), None, mode.as_str());
        Some((mode, seen))
    })
}
