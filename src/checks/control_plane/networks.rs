//! `clusterNetworks`, the networks in which proxies discover destinations: parsing them, and the remedy if
//! they are incomplete.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::prelude::*;
use crate::checks::restart;
use crate::checks::upgrade::{self, Options};
use crate::model::control_plane::installed;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::networks::{Network, are_slices};
use crate::objects::container::PROFILE_NETWORKS;

/// The last step.
const RESTART: &str = "Restart the meshed workloads: a proxy gets the networks when its pod is created";

/// The value in linkerd-config and its readable parts.
pub(super) struct ClusterNetworks {
    written: String,
    networks: Vec<Network>,
    /// Parts that are not valid networks; a single empty part if the value is empty.
    pub(super) unreadable: Vec<String>,
    /// Whether the value has blanks or empty parts, which proxies ignore and `linkerd check` does not.
    pub(super) loose: bool,
}

/// The value that proxies get contains an invalid network.
pub(super) const UNREADABLE: &str = "clusterNetworks contains an invalid network: a proxy that gets it does not start";
/// The value contains no network.
pub(super) const EMPTY: &str = "clusterNetworks in linkerd-config is empty: proxies of new pods discover no \
    destinations, so their traffic bypasses mTLS, policy and load balancing";

impl ClusterNetworks {
    pub(super) fn contains(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }

    /// Whether the linkerd CLI exits with an error as it reads the value.
    fn refused_by_cli(&self) -> bool {
        self.loose || !self.unreadable.is_empty()
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

/// The finding about invalid syntax; `None` if the syntax is valid. Its step also adds what another finding
/// adds, because a plan must not set the value twice.
pub(super) fn misspelled(ctx: &Context<'_>, networks: &ClusterNetworks, add: Add<'_>) -> Option<Finding> {
    let bad = networks.unreadable.iter().filter(|part| !part.is_empty());
    let bad: Vec<Evidence> = bad.map(|part| Evidence::other("invalid network", part)).collect();
    match (networks.unreadable.is_empty(), networks.loose) {
        (false, _) if bad.is_empty() => Some(finding(ctx, networks, EMPTY, bad, Add::Unknown)),
        (false, _) => Some(finding(ctx, networks, UNREADABLE, bad, Add::Nothing)),
        (true, true) => {
            let message = "clusterNetworks contains blanks or empty parts: proxies ignore them, but linkerd \
                check reads them as invalid networks";
            let outside = outside(networks, ctx.for_steps::<Pod>(), ctx.for_steps::<Service>());
            let add = match add {
                Add::Nothing if !outside.is_empty() => Add::Addresses(&outside),
                add => add,
            };
            let found = finding_without_restart(ctx, networks, message, bad, add).parameter("loose");
            Some(found.severity(Severity::Info).rows_as(Severity::Error))
        }
        (true, false) => None,
    }
}

/// The addresses of running pods and of Services outside the networks.
pub(super) fn outside(networks: &ClusterNetworks, pods: &[Pod], services: &[Service]) -> Vec<IpAddr> {
    let is_outside = |address: &IpAddr| !networks.contains(*address);
    let pods = pods.iter().filter(|pod| !pod.spec.host_network && !pod.is_finished());
    let pods = pods.filter_map(|pod| pod.status.pod_ip.filter(is_outside));
    let services = services.iter().filter_map(|service| service.spec.cluster_ip.filter(is_outside));
    pods.chain(services).collect()
}

/// The change that a remedy makes to `clusterNetworks`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Add<'a> {
    /// Add these networks.
    These(&'a [&'a str]),
    /// Add the networks of these addresses.
    Addresses(&'a [IpAddr]),
    /// Add networks that only the operator knows.
    Unknown,
    /// Add nothing: only remove invalid parts.
    Nothing,
}

/// Whether there are running proxies, and all of them have networks that contain the missing ones.
pub(super) fn proxies_have(ctx: &Context<'_>, missing: Add<'_>) -> bool {
    let home = ctx.namespaces().control_plane.as_str();
    let Some(pods) = ctx.or_note(ctx.complete_list::<Pod>()) else { return false };
    let meshed = pods.iter().filter(|pod| pod.metadata.label(CONTROL_PLANE_NS) == Some(home) && !pod.is_finished());
    let mut written = meshed.filter_map(|pod| pod.spec.proxy()).map(|proxy| proxy.env_value(PROFILE_NETWORKS));
    let has = |written: &str| {
        let networks: Vec<Network> = written.split(',').filter_map(|network| network.trim().parse().ok()).collect();
        let covers = |network: &Network| networks.iter().any(|known| known.covers(network));
        match missing {
            Add::These(these) => these.iter().all(|one| one.parse::<Network>().is_ok_and(|network| covers(&network))),
            Add::Addresses(all) => all.iter().all(|one| networks.iter().any(|network| network.contains(*one))),
            Add::Unknown | Add::Nothing => false,
        }
    };
    let mut checked = BTreeSet::new();
    let mut is_any = false;
    let all = written.all(|written| {
        is_any = true;
        written.is_some_and(|written| !checked.insert(written) || has(written))
    });
    is_any && all
}

/// A finding about missing networks. If all running proxies have them, only new pods are affected, and no restart is
/// needed.
pub(super) fn incomplete(
    ctx: &Context<'_>,
    networks: &ClusterNetworks,
    what: &str,
    proof: Vec<Evidence>,
    (all, add): (Add<'_>, Add<'_>),
) -> Finding {
    // An address of a pod is its only endpoint.
    let without = if what.contains("Services") { "mTLS, policy or load balancing" } else { "mTLS or policy" };
    if !proxies_have(ctx, all) {
        let message =
            format!("clusterNetworks lacks {what}. Proxies send traffic to these addresses without {without}");
        return finding(ctx, networks, &message, proof, add);
    }
    let message =
        format!("clusterNetworks lacks {what}. New proxies send traffic to these addresses without {without}");
    let message = format!("{message}. Running proxies have the full list; no restart is needed");
    finding_without_restart(ctx, networks, &message, proof, add)
        .evidence(Evidence::other(format!("{PROFILE_NETWORKS} of all running proxies"), "contains them"))
}

/// A finding about the networks, with the value as evidence.
pub(super) fn finding(
    ctx: &Context<'_>,
    networks: &ClusterNetworks,
    message: &str,
    proof: Vec<Evidence>,
    add: Add<'_>,
) -> Finding {
    let mut found = finding_without_restart(ctx, networks, message, proof, add);
    let remedy = std::mem::take(&mut found.remedy);
    found.remedy(restart::all_meshed(ctx, remedy, restart::Needs::NewProxy, RESTART))
}

/// As [`finding`], for networks that only new pods lack.
fn finding_without_restart(
    ctx: &Context<'_>,
    networks: &ClusterNetworks,
    message: &str,
    proof: Vec<Evidence>,
    add: Add<'_>,
) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let object = format!("ConfigMap {namespace}/{CONFIG}");
    let Wanted { networks: wanted, lacks } = wanted(ctx, networks, add);
    // The CLI refuses the stored value before it applies any option.
    let in_file = networks.refused_by_cli() && upgrade::managed_by(ctx).is_by_cli();
    let (remedy, act, variable) = match (add, lacks) {
        (Add::Nothing, _) => {
            (Remedy::new(), "Remove the invalid parts of clusterNetworks, or write them as ADDRESS/BITS", "NETWORKS")
        }
        (_, Lacks::Nothing) if is_default(ctx, &wanted) => (
            Remedy::new(),
            "Reset clusterNetworks to the chart's default, which contains the missing networks",
            "NETWORKS",
        ),
        (_, Lacks::Nothing) => (Remedy::new(), "Add the missing networks to clusterNetworks", "NETWORKS"),
        (_, Lacks::PodRange) => (pod_range(), "Add the cluster's pod CIDR to clusterNetworks", POD_RANGE),
        (_, Lacks::Others) => (
            Remedy::new().note(match in_file {
                true => {
                    "Find the networks from which your network plugin or cloud assigns pod and Service \
                         addresses"
                }
                false => {
                    "Set NETWORKS to the networks from which your network plugin or cloud assigns pod and \
                         Service addresses, with a backslash before each comma"
                }
            }),
            "Add NETWORKS to clusterNetworks",
            "NETWORKS",
        ),
    };
    let options = match lacks {
        Lacks::Nothing => Options::none().set("clusterNetworks", wanted.join(",")),
        Lacks::PodRange | Lacks::Others => Options::none().set_with("clusterNetworks", wanted.join(","), variable),
    };
    let bad: Vec<&str> = networks.unreadable.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let options = match in_file {
        false => options,
        true => options.stored_first(match lacks {
            Lacks::Nothing if !bad.is_empty() => {
                format!("correct {} in clusterNetworks to ADDRESS/BITS, or remove it", bad.join(" and "))
            }
            Lacks::Nothing => format!("set clusterNetworks to {}", wanted.join(",")),
            Lacks::PodRange => {
                format!("set clusterNetworks to {}, followed by the pod CIDR", wanted.join(","))
            }
            Lacks::Others => {
                format!("set clusterNetworks to {}, followed by the networks that it lacks", wanted.join(","))
            }
        }),
    };
    let remedy = upgrade::with_values(ctx, remedy, act, options);
    ctx.finding(Subject::object("ConfigMap", namespace, CONFIG), message)
        .evidence(Evidence::field(object, "data.values: clusterNetworks", &networks.written))
        .evidences(proof)
        .remedy(remedy)
}

/// The chart's default.
fn usual(ctx: &Context<'_>) -> Vec<Network> {
    let home = ctx.namespaces().control_plane.as_str();
    let version = installed(ctx.optional_list::<Deployment>(), None, home).map(|(version, _)| version);
    let usual = version
        .iter()
        .flat_map(|version| ctx.knowledge.control_plane().cluster_networks(version, ctx.knowledge.minors()));
    usual.filter_map(|network| network.parse().ok()).collect()
}

/// Whether networks are the chart's default.
fn is_default(ctx: &Context<'_>, networks: &[String]) -> bool {
    let usual: BTreeSet<String> = usual(ctx).iter().map(ToString::to_string).collect();
    !usual.is_empty() && usual == networks.iter().cloned().collect()
}

/// The variable that the reader sets to the range of all nodes' pod networks.
const POD_RANGE: &str = "POD_CIDR";

/// The step that finds the range of which the nodes' networks are parts.
fn pod_range() -> Remedy {
    let controller = kubectl()
        .namespace("kube-system")
        .words("get pods -l component=kube-controller-manager -o")
        .arg("jsonpath={.items[*].spec.containers[*].command}");
    Remedy::new().run(
        StepKind::Command,
        "Set POD_CIDR to the cluster's pod CIDR, from which nodes get their networks: --cluster-cidr of \
         kube-controller-manager (this command prints its options, if it runs as a pod), or the pool of the network \
         plugin",
        controller,
    )
}

/// The input that a list of networks needs from the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lacks {
    Nothing,
    /// The range of which the missing networks are parts: a new node gets another part.
    PodRange,
    Others,
}

/// The networks to set.
struct Wanted {
    networks: Vec<String>,
    lacks: Lacks,
}

/// The current networks, the chart's default and the missing ones.
fn wanted(ctx: &Context<'_>, networks: &ClusterNetworks, add: Add<'_>) -> Wanted {
    let own = networks.networks.iter().copied();
    let more: Vec<Network> = match add {
        Add::Nothing => {
            let networks = own.map(|network| network.to_string()).collect();
            return Wanted { networks, lacks: Lacks::Nothing };
        }
        Add::These(these) => these.iter().filter_map(|network| network.parse().ok()).collect(),
        Add::Addresses(_) | Add::Unknown => Vec::new(),
    };
    let usual = usual(ctx);
    let mut wanted: Vec<Network> = Vec::new();
    let add_to = |wanted: &mut Vec<Network>, network: Network| {
        if !wanted.iter().any(|known| known.covers(&network)) {
            wanted.retain(|known| !network.covers(known));
            wanted.push(network);
        }
    };
    usual.into_iter().chain(own).for_each(|network| add_to(&mut wanted, network));
    let rest: Vec<Network> =
        more.into_iter().filter(|network| !wanted.iter().any(|known| known.covers(network))).collect();
    let lacks = match add {
        Add::These(_) if are_slices(&rest) => Lacks::PodRange,
        Add::Addresses(all) if !all.iter().all(|one| wanted.iter().any(|network| network.contains(*one))) => {
            Lacks::Others
        }
        Add::Unknown => Lacks::Others,
        Add::These(_) | Add::Addresses(_) | Add::Nothing => Lacks::Nothing,
    };
    if lacks == Lacks::Nothing {
        rest.into_iter().for_each(|network| add_to(&mut wanted, network));
    }
    Wanted { networks: wanted.iter().map(ToString::to_string).collect(), lacks }
}
