//! `cluster-networks-without-nodes`: the pod network of a node is outside of clusterNetworks.

use std::collections::BTreeSet;

use super::networks::{Add, cluster_networks, incomplete, misspelled};
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::model::networks::Network;

/// Maximum number of networks named in evidence and remedy.
const NAMED: usize = 8;
/// Maximum number of networks named in the message.
const SHOWN: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = ctx.partial_list::<Node>();
    let networks = cluster_networks(ctx)?;
    let with: Vec<&Node> = nodes?.iter().filter(|node| !node.spec.pod_cidr.is_empty()).collect();
    let misspelled = |add| misspelled(ctx, &networks, add).into_iter();
    if !networks.unreadable.is_empty() || (with.is_empty() && networks.loose) {
        return Ok(misspelled(Add::Nothing).collect());
    }
    if with.is_empty() {
        ctx.complete_list::<Node>()?;
        return Err(Unjudged::not_applicable("no node has a spec.podCIDR"));
    }
    let outside: Vec<&&Node> = with
        .iter()
        .filter(|node| !node.spec.pod_cidr.parse::<Network>().is_ok_and(|network| networks.covers(&network)))
        .collect();
    if outside.is_empty() {
        return Ok(misspelled(Add::Nothing).collect());
    }
    let named: BTreeSet<&str> = outside.iter().map(|node| node.spec.pod_cidr.as_str()).take(NAMED).collect();
    let mut evidence: Vec<Evidence> = outside
        .iter()
        .take(NAMED)
        .map(|node| Evidence::field(format!("Node {}", node.metadata.name), "spec.podCIDR", &node.spec.pod_cidr))
        .collect();
    if outside.len() > NAMED {
        let more = format!("{} more outside", outside.len() - NAMED);
        evidence.push(Evidence::other("Nodes", more));
    }
    let all: Vec<&str> = outside.iter().map(|node| node.spec.pod_cidr.as_str()).collect();
    let add: Vec<&str> = named.into_iter().collect();
    let shown = some(&add, SHOWN);
    let what = match outside.len() {
        1 => format!("the pod network of 1 node ({shown})"),
        count => format!("the pod networks of {count} nodes ({shown})"),
    };
    let missing = (Add::These(&all), Add::These(&add));
    let outside = incomplete(ctx, &networks, &what, evidence, missing);
    Ok(misspelled(Add::These(&add)).chain([outside]).collect())
}
