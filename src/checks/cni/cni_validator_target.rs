//! `cni-validator-target`: linkerd-network-validator dials an address that answers or that is not redirected.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use super::{config_map, template};
use crate::checks::port_list::holds;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::upgrade::{self, Options};
use crate::model::node::LinkerdEntry;
use crate::model::skipped::OUT;
use crate::objects::container::VALIDATOR_CONTAINER;
use crate::objects::container_status::ContainerState;

/// The annotation with the outbound ports that skip the proxy.
const SKIP: &str = OUT.annotation();
/// The annotation with the networks whose traffic skips the proxy, in both directions.
const SUBNETS: &str = "config.linkerd.io/skip-subnets";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let services = ctx.partial_list::<Service>()?;
    let namespaces = ctx.or_note(ctx.partial_list::<Namespace>()).unwrap_or_default();
    let chart = ctx.or_note(config_map::needed_config(ctx)).flatten();
    let owners = ctx.owners();
    let mut answered: BTreeMap<(Owner, SocketAddr, String), Vec<String>> = BTreeMap::new();
    let mut skipped: BTreeMap<(Owner, SocketAddr, &'static str), (Evidence, Vec<String>)> = BTreeMap::new();
    let mut other_family: BTreeMap<(Owner, SocketAddr, String), Vec<String>> = BTreeMap::new();
    for pod in pods {
        let meta = &pod.metadata;
        if !ctx.has_injected(pod) {
            continue;
        }
        let Some(target) = target(pod) else { continue };
        if let Some(who) = answers(target, services, pods) {
            answered.entry((owners.owner(pod), target, who)).or_default().push(meta.name.clone());
            continue;
        }
        let namespace = namespaces.iter().find(|namespace| namespace.metadata.name == meta.namespace);
        let places = SkipSources { pod: meta, namespace: namespace.map(|namespace| &namespace.metadata), chart };
        if let Some((kind, seen)) = places.skips(target) {
            let (_, names) = skipped.entry((owners.owner(pod), target, kind)).or_insert((seen, Vec::new()));
            names.push(meta.name.clone());
        } else if let Some(own) = pod.status.pod_ip.filter(|own| own.is_ipv4() != target.is_ipv4() && fails(pod)) {
            let own = if own.is_ipv4() { "IPv4" } else { "IPv6" };
            other_family.entry((owners.owner(pod), target, own.to_owned())).or_default().push(meta.name.clone());
        }
    }
    if answered.is_empty() && skipped.is_empty() && other_family.is_empty() {
        return Ok(Verdict::fine());
    }
    let answered =
        answered.into_iter().map(|((owner, target, who), names)| answers_itself(ctx, &owner, target, who, names));
    let skipped = skipped
        .into_iter()
        .map(|((owner, target, kind), (by, names))| skips_proxy(ctx, &owner, (target, kind), by, names));
    let other_family = other_family
        .into_iter()
        .map(|((owner, target, own), names)| has_other_family(ctx, &owner, target, &own, names));
    Ok(answered.chain(skipped).chain(other_family).collect())
}

/// Pods whose validator dials a Service or pod.
fn answers_itself(ctx: &Context<'_>, owner: &Owner, target: SocketAddr, who: String, names: Vec<String>) -> Finding {
    let seen = quoted(owner, &names, target);
    let remedy = remedy(ctx, owner, &names);
    ctx.finding(
        owner.subject(names),
        "linkerd-network-validator dials an address that belongs to a Service or pod: if traffic is \
             not redirected, it reaches that and reports a wrong answer instead of none",
    )
    .parameter("answered")
    .evidence(seen)
    .evidence(Evidence::other("at that address", who))
    .remedy(remedy)
}

/// Pods whose validator dials an address or port that skips the proxy.
fn skips_proxy(
    ctx: &Context<'_>,
    owner: &Owner,
    (target, kind): (SocketAddr, &str),
    by: Evidence,
    names: Vec<String>,
) -> Finding {
    let seen = quoted(owner, &names, target);
    let message = format!(
        "linkerd-network-validator dials {kind} that skips the proxy: its traffic is never redirected, \
         so the pod does not start"
    );
    let remedy = remedy(ctx, owner, &names);
    ctx.finding(owner.subject(names), message).parameter("skipped").evidence(seen).evidence(by).remedy(remedy)
}

/// Pods whose validator dials an address of a family that they do not have; `own` is theirs.
fn has_other_family(ctx: &Context<'_>, owner: &Owner, target: SocketAddr, own: &str, names: Vec<String>) -> Finding {
    let address = if own == "IPv6" { "[fd00::1]:20001" } else { "1.1.1.1:20001" };
    let seen = quoted(owner, &names, target);
    let object = format!("Pod {}/{}", owner.namespace, names[0]);
    let remedy = upgrade::with_values(
        ctx,
        Remedy::new(),
        "Set an address of the pods' address family. If disableIPv6 is false, releases from 2.16 on do so \
         automatically",
        Options::none().set("networkValidator.connectAddr", address),
    );
    let remedy = restarted(ctx, remedy, owner, &names);
    ctx.finding(
        owner.subject(names),
        "linkerd-network-validator dials an address of a family that the pod does not have: without \
             a route the connection cannot be redirected, and the pod does not start",
    )
    .parameter("family")
    .likely()
    .evidence(seen)
    .evidence(Evidence::field(object, "status.podIP", format!("an {own} address")))
    .remedy(remedy)
}

fn remedy(ctx: &Context<'_>, owner: &Owner, names: &[String]) -> Remedy {
    let remedy = upgrade::with_values(
        ctx,
        Remedy::new(),
        "Set an address that is routed and unused, such as the default",
        Options::none().set("networkValidator.connectAddr", "1.1.1.1:20001"),
    );
    restarted(ctx, remedy, owner, names)
}

/// Adds the step that creates the pods again, with the new address.
fn restarted(ctx: &Context<'_>, remedy: Remedy, owner: &Owner, names: &[String]) -> Remedy {
    remedy.with(renew(ctx, owner, names, Needs::NewProxy, "only new pods get the new address"))
}

/// The argument with the target, as evidence.
fn quoted(owner: &Owner, names: &[String], target: SocketAddr) -> Evidence {
    let object = format!("Pod {}/{}", owner.namespace, names[0]);
    Evidence::field(object, format!("initContainers[{VALIDATOR_CONTAINER}].args"), format!("--connect-addr {target}"))
}

/// Whether its validator has ended with an error, or has not succeeded after more than one start.
fn fails(pod: &Pod) -> bool {
    let status = pod.status.init_container_statuses.iter().find(|status| status.name == *VALIDATOR_CONTAINER);
    status.is_some_and(|status| {
        let ended = |state: &ContainerState| state.terminated().is_some_and(|end| end.exit_code != 0);
        ended(&status.state) || (status.restart_count > 0 && ended(status.last_state()))
    })
}

/// The address that the validator of a pod dials.
fn target(pod: &Pod) -> Option<SocketAddr> {
    let args = &pod.spec.container(VALIDATOR_CONTAINER)?.args;
    let next = args.iter().position(|arg| arg == "--connect-addr").and_then(|at| args.get(at + 1));
    let given = next.map(String::as_str).or_else(|| args.iter().find_map(|arg| arg.strip_prefix("--connect-addr=")));
    given?.parse().ok()
}

/// The Service or pod with that address and port.
fn answers(target: SocketAddr, services: &[Service], pods: &[Pod]) -> Option<String> {
    let ip: IpAddr = target.ip();
    let service = services.iter().find(|service| {
        service.spec.cluster_ip == Some(ip)
            && service.spec.ports.iter().any(|port| i64::from(port.port) == i64::from(target.port()))
    });
    if let Some(service) = service {
        return Some(service.metadata.described("Service"));
    }
    let pod = pods.iter().find(|pod| pod.has_address(ip) && !pod.spec.host_network)?;
    Some(pod.described())
}

/// The sources of skipped ports and networks: only the most specific one that is set counts.
struct SkipSources<'a> {
    pod: &'a Meta,
    namespace: Option<&'a Meta>,
    chart: Option<&'a ConfigMap>,
}

impl SkipSources<'_> {
    /// Whether the port or the network of a target skips the proxy, with evidence.
    fn skips(&self, target: SocketAddr) -> Option<(&'static str, Evidence)> {
        let ports = self
            .written(SKIP, "linkerd.outbound-ports-to-ignore", |entry| entry.outbound_ports_to_ignore.value().cloned());
        let networks =
            self.written(SUBNETS, "linkerd.subnets-to-ignore", |entry| entry.subnets_to_ignore.value().cloned());
        let port = ports.filter(|(ports, _)| holds(ports, target.port()));
        let within = |networks: &str| {
            let networks = networks.split(',').filter_map(|written| written.trim().parse::<IpNet>().ok());
            networks.into_iter().any(|network| network.contains(&target.ip()))
        };
        let network = networks.filter(|(networks, _)| within(networks));
        port.map(|(_, by)| ("a port", by)).or(network.map(|(_, by)| ("an address of a network", by)))
    }

    /// A list from the most specific source: the annotation of the pod, of its namespace, or the entry that
    /// installers write.
    fn written(
        &self,
        key: &str,
        field: &str,
        of_entry: impl Fn(&LinkerdEntry) -> Option<Vec<String>>,
    ) -> Option<(String, Evidence)> {
        let annotated = |kind: &str, meta: &Meta| {
            let value = meta.annotation(key).filter(|value| !value.trim().is_empty())?;
            let object = match meta.namespace.as_str() {
                "" => format!("{kind} {}", meta.name),
                namespace => format!("{kind} {namespace}/{}", meta.name),
            };
            Some((value.to_owned(), Evidence::field(object, format!("metadata.annotations[{key}]"), value)))
        };
        let of_chart = || {
            let chart = self.chart?;
            let list = of_entry(&template::entry(chart)?)?.join(",");
            let path = format!("data.cni_network_config: {field}");
            Some((list.clone(), Evidence::field(chart.metadata.described("ConfigMap"), path, list)))
        };
        let of_namespace = || annotated("Namespace", self.namespace?);
        annotated("Pod", self.pod).or_else(of_namespace).or_else(of_chart)
    }
}
