//! `ipv6-setting-mismatch`: the chart value disableIPv6 does not match the addresses of the cluster or the
//! kernels of its nodes.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::prelude::*;
use crate::checks::restart;
use crate::checks::upgrade::{self, Options};
use crate::model::networks::Network;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::container_status::ContainerStatus;

/// The error of a proxy that listens on an IPv6 address on a kernel without IPv6.
const NO_FAMILY: &str = "Address family not supported";
/// Maximum number of pods or nodes quoted in evidence.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.complete_list::<Pod>();
    let services = ctx.or_note(ctx.partial_list::<Service>()).unwrap_or_default();
    let nodes = ctx.partial_list::<Node>();
    let values = values(ctx)?;
    let Some(disabled) = values.bool("disableIPv6") else {
        return Err(Unjudged::not_applicable("the chart values do not contain disableIPv6"));
    };
    let nodes = ctx.or_note(nodes).unwrap_or_default();
    let pods = pods?;
    if !disabled {
        return Ok(without_family(ctx, pods).into());
    }
    let own = || pods.iter().filter(|pod| !pod.spec.host_network && !pod.is_finished());
    let with = |wanted: fn(&IpAddr) -> bool| own().filter(move |pod| pod.status.pod_ip.is_some_and(|ip| wanted(&ip)));
    let (four, six) = (with(IpAddr::is_ipv4).next(), with(IpAddr::is_ipv6).next());
    match (four, six) {
        (None, Some(_)) => Ok(six_only(ctx, with(IpAddr::is_ipv6)).into()),
        (_, _) => {
            let dual: Vec<&Node> = nodes.iter().filter(|node| is_dual(node)).collect();
            let served = services.iter().filter(|service| service.spec.ip_families.len() > 1).collect::<Vec<_>>();
            let any = !dual.is_empty() || !served.is_empty();
            let alone: Vec<&Service> = services
                .iter()
                .filter(|service| service.spec.is_ipv6_only() && ctx.judges(&service.metadata.namespace))
                .collect();
            let both = any.then(|| both(ctx, &dual, &served));
            let alone = (!alone.is_empty()).then(|| ipv6_services(ctx, &alone));
            Ok(both.into_iter().chain(alone).collect())
        }
    }
}

/// Whether the pods of a node get both IPv4 and IPv6 addresses.
fn is_dual(node: &Node) -> bool {
    let networks: Vec<Network> = node.pod_networks().filter_map(|written| written.parse().ok()).collect();
    let has = |one: &str| {
        let any: Option<Network> = one.parse().ok();
        any.is_some_and(|any| networks.iter().any(|network| any.covers(network)))
    };
    has("0.0.0.0/0") && has("::/0")
}

fn written(ctx: &Context<'_>, said: &str) -> (Subject, Evidence) {
    let namespace = &ctx.namespaces().control_plane;
    let object = format!("ConfigMap {namespace}/{CONFIG}");
    (Subject::object("ConfigMap", namespace, CONFIG), Evidence::field(object, "data.values: disableIPv6", said))
}

fn set(ctx: &Context<'_>, act: &str, value: &str) -> Remedy {
    let options = Options::none().set("disableIPv6", value);
    let remedy = upgrade::with_values(ctx, Remedy::new(), act, options);
    let too = "If linkerd-cni is installed, set disableIPv6 in its chart too";
    let remedy = remedy.note(too);
    restart::all_meshed(
        ctx,
        remedy,
        restart::Needs::NewProxy,
        "Restart the meshed workloads: a proxy gets the setting when its pod is created",
    )
}

fn six_only<'a>(ctx: &Context<'_>, pods: impl Iterator<Item = &'a Pod> + Clone) -> Finding {
    let (subject, setting) = written(ctx, "true");
    let waiting = pods
        .clone()
        .filter(|pod| pod.container_status(PROXY_CONTAINER).is_some_and(|status| !status.ready))
        .map(|pod| Tie::Pod(pod.metadata.namespace.to_string(), pod.metadata.name.clone()));
    let seen = pods
        .clone()
        .take(QUOTED)
        .filter_map(|pod| Some(Evidence::field(pod.described(), "status.podIP", pod.status.pod_ip?.to_string())));
    let finding = ctx
        .finding(
            subject,
            "all pods have only IPv6 addresses, but IPv6 is disabled in the mesh: proxies listen on IPv4 only, \
        so the kubelet's probes are refused, and no rule redirects traffic to the proxies",
        )
        .parameter("ipv6")
        .evidence(setting)
        .evidences(seen)
        .remedy(set(ctx, "Enable IPv6 in the mesh", "false"));
    waiting.fold(finding, Finding::tie)
}

fn both(ctx: &Context<'_>, nodes: &[&Node], services: &[&Service]) -> Finding {
    let (subject, setting) = written(ctx, "true");
    let seen = nodes.iter().take(QUOTED).map(|node| {
        let networks: Vec<&str> = node.pod_networks().collect();
        Evidence::field(format!("Node {}", node.metadata.name), "spec.podCIDRs", networks.join(", "))
    });
    ctx.finding(
        subject,
        "pods have IPv4 and IPv6 addresses, but IPv6 is disabled in the mesh: IPv6 traffic bypasses the \
        proxies, without mTLS and policy",
    )
    .severity(Severity::Info)
    .parameter("dual")
    .evidence(setting)
    .evidences(seen)
    .evidences(families(services))
    .remedy(set(ctx, "To mesh both, enable IPv6 in the mesh", "false"))
}

/// The address families of some Services.
fn families<'a>(services: &'a [&Service]) -> impl Iterator<Item = Evidence> + 'a {
    services.iter().take(QUOTED).map(|service| {
        let (namespace, name) = service.metadata.key();
        let families: Vec<&str> = service.spec.ip_families.iter().map(|family| family.as_str()).collect();
        Evidence::field(format!("Service {namespace}/{name}"), "spec.ipFamilies", families.join(", "))
    })
}

/// Services of which all traffic bypasses the proxies.
fn ipv6_services(ctx: &Context<'_>, services: &[&Service]) -> Finding {
    let (subject, setting) = written(ctx, "true");
    let count = services.len();
    let (has, its) = if count == 1 { ("Service has", "its") } else { ("Services have", "their") };
    let message = format!(
        "{count} {has} only IPv6 addresses, but IPv6 is disabled in the mesh: {its} traffic bypasses the proxies, \
         without mTLS and policy"
    );
    ctx.finding(subject, message)
        .severity(Severity::Warning)
        .parameter("services")
        .evidence(setting)
        .evidences(families(services))
        .remedy(set(ctx, "To mesh them, enable IPv6 in the mesh", "false"))
}

/// Proxies that exit because the kernel of their node has no IPv6.
fn without_family(ctx: &Context<'_>, pods: &[Pod]) -> Vec<Finding> {
    let owners = ctx.owners();
    let mut groups: BTreeMap<Owner, Vec<(&Pod, String)>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace) && !pod.is_finished()) {
        let status = pod.container_status(PROXY_CONTAINER).filter(|status| !status.ready);
        if let Some(line) = status.and_then(family_missing) {
            groups.entry(owners.owner(pod)).or_default().push((pod, line));
        }
    }
    let of = |(owner, group): (&Owner, &Vec<(&Pod, String)>)| {
        let names = group.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
        let seen = group.iter().take(QUOTED).map(|(pod, line)| {
            Evidence::field(pod.described(), format!("termination message of container {PROXY_CONTAINER}"), line)
        });
        let (_, setting) = written(ctx, "false");
        ctx.finding(
            owner.subject(names),
            "linkerd-proxy exits: IPv6 is enabled in the mesh, but the kernel of the node has no IPv6",
        )
        .parameter("kernel")
        .evidences(seen)
        .evidence(setting)
        .remedy(set(ctx, "Disable IPv6 in the mesh", "true"))
    };
    groups.iter().map(of).collect()
}

/// The line of a termination message that reports a kernel without IPv6.
fn family_missing(status: &ContainerStatus) -> Option<String> {
    let ended = [status.state.terminated(), status.last_state().terminated()].into_iter().flatten();
    let mut lines = ended.filter(|ended| ended.exit_code != 0).flat_map(|ended| ended.message.lines());
    lines.find(|line| line.contains(NO_FAMILY)).map(|line| line.trim().to_owned())
}
