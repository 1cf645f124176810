//! `clusterNetworks`, the networks in which proxies discover what they talk to: reading them, and what to do when they do
//! not hold everything.

use std::net::IpAddr;

use crate::checks::Context;
use crate::checks::Verdict;
use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::upgrade::{self, Options};
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::missing::Missing;
use crate::model::networks::Network;

/// What stands in linkerd-config, and what of it can be read.
pub(super) struct ClusterNetworks {
    written: String,
    networks: Vec<Network>,
    /// Parts that are no network.
    pub(super) unreadable: Vec<String>,
}

impl ClusterNetworks {
    pub(super) fn contains(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }

    pub(super) fn covers(&self, other: &Network) -> bool {
        self.networks.iter().any(|network| network.covers(other))
    }
}

/// The networks, or what a check says that cannot go on without them. Reads what [`values`] reads.
///
/// # Errors
/// See [`values`].
pub(super) fn cluster_networks(ctx: &Context<'_>) -> Result<Result<ClusterNetworks, Verdict>, Missing> {
    let values = match values(ctx)? {
        Ok(values) => values,
        Err(verdict) => return Ok(Err(verdict)),
    };
    let Some(written) = values.text("clusterNetworks") else {
        return Ok(Err(Verdict::not_applicable("linkerd-config names no clusterNetworks")));
    };
    let mut found = ClusterNetworks { written: written.to_owned(), networks: vec![], unreadable: vec![] };
    // The proxy trims each part; the real command does not, and stops at a blank.
    for part in written.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.parse() {
            Ok(network) => found.networks.push(network),
            Err(_) => found.unreadable.push(part.to_owned()),
        }
    }
    Ok(Ok(found))
}

/// A finding about them, with the values as they are written. `add`: what to add; `None`: only what cannot be read is to go.
pub(super) fn finding(
    ctx: &Context<'_>,
    networks: &ClusterNetworks,
    message: &str,
    proof: Vec<Evidence>,
    add: Option<&str>,
) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let object = format!("ConfigMap {namespace}/{CONFIG}");
    let readable: Vec<String> = networks.networks.iter().map(ToString::to_string).collect();
    let kept = readable.join("\\,");
    let remedy = Remedy::verified_by("meshdoctor check --only control-plane");
    let (remedy, act, set) = match add {
        Some(add) => (
            remedy.run(
                StepKind::Note,
                "Name the networks to add: those that your network plugin or cloud gives pods and Services addresses from",
                format!("NETWORKS='{add}'"),
            ),
            "Add them to clusterNetworks of the control plane",
            format!("--set clusterNetworks=\"{kept}\\,$(echo \"$NETWORKS\" | sed 's/,/\\\\,/g')\""),
        ),
        None => (
            remedy,
            "Leave out of clusterNetworks what is no network, or write it as ADDRESS/BITS",
            format!("--set clusterNetworks=\"{kept}\""),
        ),
    };
    let remedy = upgrade::step(ctx, remedy, StepKind::ChartValue, act, Options::both(&set)).step(
        StepKind::Note,
        "Restart the meshed workloads one by one: a proxy is told the networks when its pod is created",
    );
    ctx.finding(Subject::object("ConfigMap", namespace, CONFIG), message)
        .evidence(Evidence::field(object, "data.values: clusterNetworks", &networks.written))
        .evidences(proof)
        .remedy(remedy)
}
