//! `nested-network-refused`: a pod forwards connections of containers or virtual machines inside it. They arrive at the
//! proxy as inbound connections to addresses that are not the pod's, and the proxy refuses them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::connect_failures::{FailedConnection, failed_connections, quoted};
use crate::checks::prelude::*;
use crate::checks::reported::{log_of, meshed};
use crate::checks::rewrite;
use crate::checks::upgrade::{self, Options};
use crate::model::log::Log;
use crate::model::networks::Network;
use crate::model::refusal::LINKERDS;
use crate::model::skipped::skipped_subnets;
use crate::objects::Container;
use crate::objects::container::PROXY_CONTAINER;

/// Annotation with the networks whose inbound connections bypass the proxy.
const SUBNETS: &str = "config.linkerd.io/skip-subnets";
/// The row of `mesh-logs.yaml` with the refusals.
const ROW: &str = "forwarded-refused";
/// The label and its value by which KubeVirt marks the pod of a virtual machine.
const MACHINE: (&str, &str) = ("kubevirt.io", "virt-launcher");
/// The default network of Docker's bridge, and an address in it.
const DOCKER: (&str, Ipv4Addr) = ("172.17.0.0/16", Ipv4Addr::new(172, 17, 0, 2));
/// The default network of KubeVirt's masquerade interfaces, and the address of the virtual machine.
const MASQUERADE: (&str, Ipv4Addr) = ("10.0.2.0/24", Ipv4Addr::new(10, 0, 2, 2));
/// A port that is not the proxy's own.
const ANY_PORT: u16 = 80;
/// Maximum number of quoted pods.
const QUOTED: usize = 2;

/// A pod with the reason to expect connections from a network inside it.
type PodCause<'a> = (&'a Pod, NetworkCause<'a>);

/// The reason to expect connections from a network inside a pod, the strongest last.
enum NetworkCause<'a> {
    /// The pod of a virtual machine.
    Machine,
    /// A container with a Docker daemon, and the field that lists it.
    Docker(&'a Container, &'static str),
    /// Refused connections in the log of the proxy.
    Logged(Vec<FailedConnection<'a>>),
}

impl NetworkCause<'_> {
    fn severity(&self) -> Severity {
        match self {
            NetworkCause::Machine => Severity::Info,
            NetworkCause::Docker(..) => Severity::Warning,
            NetworkCause::Logged(_) => Severity::Error,
        }
    }
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let known = OtherNetworks::new(ctx, pods);
    let owners = ctx.owners();
    let logs = ctx.or_note(ctx.logs()).unwrap_or_default();
    let mut groups: BTreeMap<(Owner, Severity, String), Vec<PodCause<'_>>> = BTreeMap::new();
    for pod in meshed(ctx)? {
        if pod.spec.host_network || pod.metadata.deletion_timestamp.is_some() {
            continue;
        }
        let logged = logged(ctx, logs, pod, &known);
        let causes = if logged.is_empty() { expected(pod, &known).into_iter().collect() } else { logged };
        for (network, client, cause) in causes {
            let skipped = skipped_subnets(pod, ANY_PORT, ctx.cni_skips());
            if skipped.is_some_and(|skipped| skipped.contain(Some(client)) == Some(true)) {
                continue;
            }
            groups.entry((owners.owner(pod), cause.severity(), network)).or_default().push((pod, cause));
        }
    }
    let findings =
        groups.iter().map(|((owner, severity, network), group)| finding(ctx, owner, *severity, network, group));
    Ok(findings.collect())
}

/// Addresses and networks outside of pods' inner networks.
struct OtherNetworks {
    addresses: BTreeSet<IpAddr>,
    networks: Vec<Network>,
}

impl OtherNetworks {
    fn new(ctx: &Context<'_>, pods: &[Pod]) -> OtherNetworks {
        let nodes = ctx.optional_list::<Node>();
        let of_nodes = nodes.iter().flat_map(|node| &node.status.addresses);
        let of_nodes = of_nodes.filter_map(|address| address.address.parse().ok());
        let addresses = pods.iter().flat_map(Pod::addresses).chain(of_nodes).collect();
        let networks = nodes.iter().flat_map(|node| node.spec.pod_cidrs.iter().chain([&node.spec.pod_cidr]));
        OtherNetworks { addresses, networks: networks.filter_map(|network| network.parse().ok()).collect() }
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.addresses.contains(&address) || self.networks.iter().any(|network| network.contains(address))
    }

    /// Whether a network has none of the addresses.
    fn is_apart(&self, network: &str) -> bool {
        let Ok(network) = network.parse::<Network>() else { return false };
        !self.addresses.iter().any(|address| network.contains(*address))
            && !self.networks.iter().any(|other| network.covers(other) || other.covers(&network))
    }

    /// The network of a client, as large as Docker and KubeVirt make theirs, without known addresses.
    fn around(&self, client: IpAddr) -> String {
        let candidates = match client {
            IpAddr::V4(address) => {
                let [a, b, c, _] = address.octets();
                let docker = (a == 172 && (16..32).contains(&b)).then(|| format!("{a}.{b}.0.0/16"));
                docker.into_iter().chain([format!("{a}.{b}.{c}.0/24")]).collect::<Vec<_>>()
            }
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                vec![format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")]
            }
        };
        let single = || Network::of_address(client).to_string();
        candidates.into_iter().find(|network| self.is_apart(network)).unwrap_or_else(single)
    }
}

/// The refused connections of clients that are neither pods nor nodes, by the network of the client.
fn logged<'a>(
    ctx: &Context<'a>,
    logs: &'a [Log],
    pod: &'a Pod,
    known: &OtherNetworks,
) -> Vec<(String, IpAddr, NetworkCause<'a>)> {
    let log = log_of(logs, pod, PROXY_CONTAINER);
    let (Some(log), Some(row)) = (log, ctx.knowledge.mesh_logs().get(ROW)) else { return Vec::new() };
    let mut found: BTreeMap<String, (IpAddr, Vec<FailedConnection<'a>>)> = BTreeMap::new();
    for refused in failed_connections(ctx, log, pod, row) {
        let Some(client) = client(refused.line).filter(|client| !known.contains(*client)) else { continue };
        found.entry(known.around(client)).or_insert((client, Vec::new())).1.push(refused);
    }
    let found = found.into_iter().filter(|(_, (_, lines))| lines.len() >= row.times);
    found.map(|(network, (client, lines))| (network, client, NetworkCause::Logged(lines))).collect()
}

/// The client of a refused connection.
fn client(line: &str) -> Option<IpAddr> {
    let (_, rest) = line.rsplit_once("client.addr=")?;
    let address = rest.split([' ', '}', ',']).next()?;
    address.parse::<SocketAddr>().ok().map(|address| address.ip())
}

/// The network that a pod probably has inside, as its containers or labels show.
fn expected<'a>(pod: &'a Pod, known: &OtherNetworks) -> Option<(String, IpAddr, NetworkCause<'a>)> {
    let lists = [(&pod.spec.containers, "spec.containers"), (&pod.spec.init_containers, "spec.initContainers")];
    let docker = lists.into_iter().find_map(|(list, field)| {
        let daemon = list.iter().find(|container| is_docker(container))?;
        // An ordinary init container has ended before the pod runs.
        let runs = field == "spec.containers" || daemon.restart_policy.as_deref() == Some("Always");
        runs.then_some((DOCKER, NetworkCause::Docker(daemon, field)))
    });
    let is_machine = pod.metadata.label(MACHINE.0) == Some(MACHINE.1);
    let ((network, client), cause) = docker.or(is_machine.then_some((MASQUERADE, NetworkCause::Machine)))?;
    known.is_apart(network).then(|| (network.to_owned(), client.into(), cause))
}

/// Whether a container probably runs a Docker daemon with a bridge of its own. A rootless one opens its connections
/// as an ordinary process, which the proxy forwards.
fn is_docker(container: &Container) -> bool {
    let is_privileged = container.security_context.as_ref().is_some_and(|own| own.privileged == Some(true));
    let image = container.image.rsplit_once('@').map_or(container.image.as_str(), |(image, _)| image);
    let mut words = image.rsplit('/').next().unwrap_or_default().split([':', '-', '_', '.']);
    let is_rootless = image.contains("rootless");
    let is_named = words.any(|word| word == "dind");
    is_privileged
        && !is_rootless
        && !LINKERDS.contains(&container.name.as_str())
        && (is_named || container.starts_docker)
}

fn finding(
    ctx: &Context<'_>,
    owner: &Owner,
    severity: Severity,
    network: &str,
    group: &[(&Pod, NetworkCause<'_>)],
) -> Finding {
    let names: Vec<String> = group.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
    let message = match severity {
        Severity::Error => format!(
            "The pod forwards connections from {network}, which is not a network of pods or nodes. The proxy takes \
             them for inbound connections to addresses that are not the pod's, and refuses them"
        ),
        Severity::Warning => format!(
            "A container runs a Docker daemon. The proxy takes the connections of its containers (by default from \
             {network}) for inbound ones and refuses them, so builds have no network"
        ),
        Severity::Info => format!(
            "The pod runs a virtual machine. If its interface is of type masquerade (by default {network}), the proxy \
             takes its connections for inbound ones and refuses them"
        ),
    };
    let evidence = group.iter().take(QUOTED).filter_map(|(pod, cause)| {
        let object = pod.described();
        Some(match cause {
            NetworkCause::Logged(lines) => quoted(pod, lines, lines.last()?),
            NetworkCause::Docker(container, field) => Evidence::field(
                object,
                format!("{field}[{}]", container.name),
                format!("image {}, privileged", container.image),
            ),
            NetworkCause::Machine => Evidence::field(object, format!("metadata.labels[{}]", MACHINE.0), MACHINE.1),
        })
    });
    let is_dated = group.iter().any(|(_, cause)| match cause {
        NetworkCause::Logged(lines) => lines.iter().any(|line| line.is_dated),
        NetworkCause::Docker(..) | NetworkCause::Machine => false,
    });
    let lacking = group.first().map(|(pod, _)| lacking(ctx, pod));
    let finding = ctx.finding(owner.subject(names), message);
    let finding = finding.observed_if(is_dated);
    finding
        .severity(severity)
        .parameter(network)
        .evidences(evidence)
        .evidences(lacking)
        .remedy(remedy(ctx, owner, severity, network, group))
}

/// The setting that does not skip the network.
fn lacking(ctx: &Context<'_>, pod: &Pod) -> Evidence {
    let object = pod.described();
    let said = skipped_subnets(pod, ANY_PORT, ctx.cni_skips()).map(|skipped| skipped.list());
    let said = said.filter(|list| !list.is_empty()).unwrap_or_else(|| "not set".to_owned());
    Evidence::field(object, format!("metadata.annotations[{SUBNETS}]"), said)
}

fn remedy(
    ctx: &Context<'_>,
    owner: &Owner,
    severity: Severity,
    network: &str,
    group: &[(&Pod, NetworkCause<'_>)],
) -> Remedy {
    let Some((pod, _)) = group.first() else { return Remedy::new() };
    let remedy = match severity {
        Severity::Info => Remedy::new().command(
            "Check whether an interface of the virtual machine is of type masquerade, and which vmNetworkCIDR it has",
            kubectl()
                .namespace(&owner.namespace)
                .words("get virtualmachineinstances.kubevirt.io")
                .words("-o jsonpath={.items[*].spec.networks}{.items[*].spec.domain.devices.interfaces}"),
        ),
        _ => Remedy::new(),
    };
    let remedy = match writes_ipv6_rules(ctx) && !network.contains(':') {
        true => upgrade::with_values(
            ctx,
            remedy,
            "First write no rules for IPv6: otherwise ip6tables rejects the IPv4 network, and the pod does not start",
            Options::none().set("disableIPv6", "true"),
        ),
        false => remedy,
    };
    let list = skipped_subnets(pod, ANY_PORT, ctx.cni_skips()).map(|skipped| skipped.list()).unwrap_or_default();
    let list = if list.is_empty() || list.contains(" or ") { network.to_owned() } else { format!("{list},{network}") };
    let act = format!("Let the network bypass the proxy, without mTLS: set {SUBNETS}: {list:?}");
    let remedy = rewrite::of_owner(ctx, remedy, &act, owner, &[(SUBNETS, Some(&list))]);
    match owner.kind.as_str() {
        "VirtualMachineInstance" => remedy.note("Restart the virtual machine, so that it gets a new pod"),
        _ => remedy,
    }
}

/// Whether linkerd-init also writes rules for IPv6. Reads `linkerd-config`, if available.
fn writes_ipv6_rules(ctx: &Context<'_>) -> bool {
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config").ok().flatten();
    config.and_then(ConfigMap::chart_values).and_then(|values| values.bool("disableIPv6")) == Some(false)
}
