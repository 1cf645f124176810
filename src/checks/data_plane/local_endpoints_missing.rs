//! `local-endpoints-missing`: a Service sends calls only to endpoints on the client's node, and nodes with
//! meshed pods have none.

use std::collections::BTreeSet;

use crate::checks::prelude::*;
use crate::checks::words::some;

/// Number of named nodes.
const NAMED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.partial_list::<Service>()?;
    let pods = ctx.complete_list::<Pod>()?;
    let is_running = |pod: &&Pod| !pod.is_finished() && pod.metadata.deletion_timestamp.is_none();
    let home = ctx.namespaces().control_plane.as_str();
    let meshed: BTreeSet<&str> = pods
        .iter()
        .filter(is_running)
        .filter(|pod| pod.metadata.namespace != home && pod.spec.proxy().is_some())
        .map(|pod| &*pod.node_name)
        .filter(|node| !node.is_empty())
        .collect();
    let findings = services.iter().filter_map(|service| {
        let (meta, selector) = (&service.metadata, &service.spec.selector);
        let is_local = service.spec.internal_traffic_policy == "Local";
        if !is_local || selector.is_empty() || !ctx.judges(&meta.namespace) {
            return None;
        }
        let selects = |pod: &&Pod| {
            pod.metadata.namespace == meta.namespace
                && selector.iter().all(|(key, value)| pod.metadata.label(key) == Some(value.as_str()))
        };
        let behind: Vec<&Pod> = pods.iter().filter(is_running).filter(selects).collect();
        let serving: BTreeSet<&str> = behind.iter().filter(|pod| pod.is_ready()).map(|pod| &*pod.node_name).collect();
        // A Service without any ready pod is the finding of another check.
        if serving.is_empty() || serving.contains("") {
            return None;
        }
        let without: Vec<&str> = meshed.difference(&serving).copied().collect();
        let owner: Owner = ctx.owners().owner(behind.first()?);
        if without.is_empty() || owner.kind == "DaemonSet" {
            return None;
        }
        let object = meta.described("Service");
        let finding = ctx
            .finding(
                Subject::object(Kind::Service, &meta.namespace, &meta.name),
                "the Service sends calls only to endpoints on the client's node, and some nodes with meshed pods have \
                 none: calls from there fail, also through the proxy",
            )
            .evidence(Evidence::field(&object, "spec.internalTrafficPolicy", "Local"))
            .evidence(Evidence::other("Nodes with a ready pod of the Service", some(&serving, NAMED)))
            .evidence(Evidence::other("Nodes with meshed pods but without one", some(&without, NAMED)))
            .remedy(
                Remedy::new()
                    .command(
                        "If meshed pods on these nodes call the Service, send their calls to all nodes",
                        kubectl()
                            .namespace(&meta.namespace)
                            .words("patch service")
                            .operand(&meta.name)
                            .words("--type=merge -p")
                            .arg(r#"{"spec":{"internalTrafficPolicy":"Cluster"}}"#),
                    )
                    .note("Or run its pods on each node with a DaemonSet"),
            );
        Some(finding)
    });
    Ok(findings.collect())
}
