//! `upgrade-drops-architecture`: nodes have an architecture for which the target has no images.

use super::Upgrade;
use crate::checks::prelude::*;

/// The label with the kubelet's architecture.
const ARCH: &str = "kubernetes.io/arch";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let gone: Vec<&str> =
        ctx.knowledge.upgrades().architectures(way.between(ctx)).map(|row| row.name.as_str()).collect();
    let of = |node: &'_ Node| node.metadata.label(ARCH).filter(|arch| gone.contains(arch)).map(str::to_owned);
    let nodes = ctx.partial_list::<Node>()?;
    let findings: Vec<Finding> = nodes
        .iter()
        .filter_map(|node| {
            let arch = of(node)?;
            let name = &node.metadata.name;
            let message = format!(
                "the target has no images for {arch}: injected pods and linkerd-cni cannot pull an image \
                 on such a node"
            );
            let evidence = Evidence::field(format!("Node {name}"), format!("metadata.labels[{ARCH}]"), arch);
            Some(ctx.finding(Subject::node(name), message).evidence(evidence).evidence(way.target.clone()).remedy(
                Remedy::new().note(
                    "Keep injected pods away from these nodes (node affinity, a taint), or replace them \
                         before the upgrade",
                ),
            ))
        })
        .collect();
    Ok(findings.into())
}
