//! `clusterNetworks`, the networks in which proxies discover what they talk to: reading them, and what to do when they do
//! not hold everything.

use std::net::IpAddr;

use crate::checks::Context;
use crate::checks::Verdict;
use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::upgrade::{self, Options};
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject};
use crate::missing::Missing;
use crate::model::networks::Network;

/// What stands in linkerd-config, and what of it can be read.
pub(super) struct ClusterNetworks {
    written: String,
    networks: Vec<Network>,
    /// Parts that are no network; an empty part where nothing at all is written.
    pub(super) unreadable: Vec<String>,
    /// Whether blanks or commas stand where proxies pass over them, and `linkerd check` does not.
    pub(super) loose: bool,
}

/// What proxies are given that is no network.
pub(super) const UNREADABLE: &str =
    "clusterNetworks holds what is no network: a proxy that is given it does not start";
/// No network at all.
pub(super) const EMPTY: &str = "linkerd-config names no clusterNetworks: proxies of new pods discover nothing, so their \
                                traffic goes without mTLS, policy and load balancing";

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
    let written = values.scalar("clusterNetworks").unwrap_or_default();
    let mut found = ClusterNetworks { networks: vec![], unreadable: vec![], loose: false, written };
    // The proxy trims each part; the real command does not, and stops at a blank.
    for part in found.written.split(',') {
        let trimmed = part.trim();
        found.loose |= trimmed.is_empty() || trimmed != part;
        match trimmed.parse() {
            _ if trimmed.is_empty() => {}
            Ok(network) => found.networks.push(network),
            Err(_) => found.unreadable.push(trimmed.to_owned()),
        }
    }
    if found.networks.is_empty() && found.unreadable.is_empty() {
        found.unreadable.push(String::new());
    }
    Ok(Ok(found))
}

/// What is wrong with how they are written, whatever addresses there are; `None`: nothing.
pub(super) fn misspelled(ctx: &Context<'_>, networks: &ClusterNetworks) -> Option<Finding> {
    let bad = networks.unreadable.iter().filter(|part| !part.is_empty());
    let bad: Vec<Evidence> = bad.map(|part| Evidence::other("no network", part)).collect();
    match (networks.unreadable.is_empty(), networks.loose) {
        (false, _) if bad.is_empty() => Some(finding(ctx, networks, EMPTY, bad, Some("192.0.2.0/24"))),
        (false, _) => Some(finding(ctx, networks, UNREADABLE, bad, None)),
        (true, true) => {
            let message = "clusterNetworks holds blanks or empty parts: proxies pass over them, and linkerd check takes \
                           them for networks that it cannot read";
            let found = finding(ctx, networks, message, bad, None).parameter("loose");
            Some(found.severity(Severity::Info).rows_as(Severity::Error))
        }
        (true, false) => None,
    }
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
            format!(
                "--set clusterNetworks=\"{kept}{comma}$(echo \"$NETWORKS\" | sed 's/,/\\\\,/g')\"",
                comma = if kept.is_empty() { "" } else { "\\," }
            ),
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
