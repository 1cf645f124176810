//! `clusterNetworks`, the networks in which proxies discover destinations: reads them, and builds
//! the steps that complete them.

use std::net::IpAddr;

use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Unjudged, restart};
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject};
use crate::model::control_plane::installed;
use crate::model::networks::Network;
use crate::objects::Deployment;

/// The value in linkerd-config, and its valid parts.
pub(super) struct ClusterNetworks {
    written: String,
    networks: Vec<Network>,
    /// Parts that are not a network; an empty part if the value is empty.
    pub(super) unreadable: Vec<String>,
    /// Whether it has blanks or commas that proxies ignore and `linkerd check` does not.
    pub(super) loose: bool,
}

/// The message for an invalid network, which proxies also read.
pub(super) const UNREADABLE: &str =
    "clusterNetworks holds an invalid network: a proxy that reads it does not start";
/// The message for an empty value.
pub(super) const EMPTY: &str = "clusterNetworks in linkerd-config is empty: proxies of new pods discover \
    nothing, so their traffic has no mTLS, policy or load balancing";

impl ClusterNetworks {
    pub(super) fn contains(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }

    pub(super) fn covers(&self, other: &Network) -> bool {
        self.networks.iter().any(|network| network.covers(other))
    }
}

/// The networks. Reads what [`values`] reads.
///
/// # Errors
/// See [`values`].
pub(super) fn cluster_networks(ctx: &Context<'_>) -> Result<ClusterNetworks, Unjudged> {
    let values = values(ctx)?;
    let written = values.scalar("clusterNetworks").unwrap_or_default();
    let mut found = ClusterNetworks { networks: vec![], unreadable: vec![], loose: false, written };
    // The proxy trims each part; `linkerd check` does not, and stops at a blank.
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
    Ok(found)
}

/// The syntax errors of the value, independent of addresses; `None` if there are none.
pub(super) fn misspelled(ctx: &Context<'_>, networks: &ClusterNetworks) -> Option<Finding> {
    let bad = networks.unreadable.iter().filter(|part| !part.is_empty());
    let bad: Vec<Evidence> = bad.map(|part| Evidence::other("no network", part)).collect();
    match (networks.unreadable.is_empty(), networks.loose) {
        (false, _) if bad.is_empty() => Some(finding(ctx, networks, EMPTY, bad, Add::Unknown)),
        (false, _) => Some(finding(ctx, networks, UNREADABLE, bad, Add::Nothing)),
        (true, true) => {
            let message = "clusterNetworks holds blanks or empty entries: proxies ignore them, but \
                linkerd check reads them as invalid networks";
            let found = finding(ctx, networks, message, bad, Add::Nothing).parameter("loose");
            Some(found.severity(Severity::Info).rows_as(Severity::Error))
        }
        (true, false) => None,
    }
}

/// The networks to add.
#[derive(Debug, Clone, Copy)]
pub(super) enum Add<'a> {
    /// These networks.
    These(&'a [&'a str]),
    /// The networks of these addresses.
    Addresses(&'a [IpAddr]),
    /// Networks that only the user knows.
    Unknown,
    /// None: invalid entries must be removed.
    Nothing,
}

/// A finding about the networks, with the value as written.
pub(super) fn finding(
    ctx: &Context<'_>,
    networks: &ClusterNetworks,
    message: &str,
    proof: Vec<Evidence>,
    add: Add<'_>,
) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let object = format!("ConfigMap {namespace}/{CONFIG}");
    let remedy = Remedy::new();
    let (wanted, is_whole) = wanted(ctx, networks, add);
    let (remedy, act) = match add {
        Add::Nothing => (
            remedy,
            "Remove invalid entries from clusterNetworks, or write them as \
            ADDRESS/BITS",
        ),
        Add::These(_) | Add::Addresses(_) if is_whole => (
            remedy,
            "Set clusterNetworks of the control plane to the default of the chart, with your own and the \
                missing networks",
        ),
        Add::These(_) | Add::Addresses(_) | Add::Unknown => (
            remedy.step(
                StepKind::Note,
                "Find out from which networks your network plugin or cloud gives pods and Services \
                    addresses, and set NETWORKS to them, with a backslash before each comma",
            ),
            "Add them to clusterNetworks of the control plane",
        ),
    };
    let options = match is_whole {
        false => Options::none().set_with("clusterNetworks", wanted.join(","), "NETWORKS"),
        true => Options::none().set("clusterNetworks", wanted.join(",")),
    };
    let remedy = upgrade::step(ctx, remedy, StepKind::ChartValue, act, options);
    let remedy = restart::all_meshed(
        ctx,
        remedy,
        restart::Needs::NewProxy,
        "Restart the meshed workloads: a proxy gets the networks when its pod is created",
    );
    ctx.finding(Subject::object("ConfigMap", namespace, CONFIG), message)
        .evidence(Evidence::field(object, "data.values: clusterNetworks", &networks.written))
        .evidences(proof)
        .remedy(remedy)
}

/// The networks to set, and whether they are complete: the current ones, the chart's default, and
/// the missing ones.
fn wanted(ctx: &Context<'_>, networks: &ClusterNetworks, add: Add<'_>) -> (Vec<String>, bool) {
    let own = networks.networks.iter().copied();
    let more: Vec<Network> = match add {
        Add::Nothing => return (own.map(|network| network.to_string()).collect(), true),
        Add::These(these) => these.iter().filter_map(|network| network.parse().ok()).collect(),
        Add::Addresses(_) | Add::Unknown => Vec::new(),
    };
    let home = ctx.namespaces().control_plane.as_str();
    let version = installed(ctx.hints::<Deployment>(), None, home).map(|(version, _)| version);
    let usual = version
        .iter()
        .flat_map(|version| ctx.knowledge.control_plane().cluster_networks(version, ctx.knowledge.minors()));
    let usual = usual.filter_map(|network| network.parse().ok());
    let mut wanted: Vec<Network> = Vec::new();
    for network in usual.chain(own).chain(more) {
        if !wanted.iter().any(|known| known.covers(&network)) {
            wanted.retain(|known| !network.covers(known));
            wanted.push(network);
        }
    }
    let is_whole = match add {
        Add::These(_) | Add::Nothing => true,
        Add::Unknown => false,
        Add::Addresses(all) => all.iter().all(|one| wanted.iter().any(|network| network.contains(*one))),
    };
    (wanted.iter().map(ToString::to_string).collect(), is_whole)
}
