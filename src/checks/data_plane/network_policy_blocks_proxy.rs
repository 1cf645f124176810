//! `network-policy-blocks-proxy`: NetworkPolicies let clients in by the ports of the application alone, and meshed clients come to
//! the port of the proxy.

use std::collections::BTreeMap;

use crate::checks::{Context, Judgement, Unjudged};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::Scope;
use crate::objects::{ConfigMap, NetworkPolicy, NetworkPolicyPort, Pod, TargetPort};

/// Where the proxy listens unless it is told otherwise.
const INBOUND: u16 = 4143;
/// The variable that says where it listens.
const LISTENS: &str = "LINKERD2_PROXY_INBOUND_LISTEN_ADDR";
/// How many pods are quoted.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let policies = ctx.seen::<NetworkPolicy>();
    let pods = ctx.seen::<Pod>();
    let config = ctx.named::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
    let values = config.and_then(ConfigMap::chart_values);
    let mode = values.as_ref().and_then(|values| values.text("proxy.outboundTransportMode"));
    if mode != Some("transport-header") {
        let why =
            "clients come to the ports of the application: outboundTransportMode is not transport-header";
        return Err(Unjudged::not_applicable(why));
    }
    let mut by_namespace: BTreeMap<&str, Vec<&NetworkPolicy>> = BTreeMap::new();
    for policy in policies?.iter().filter(|policy| policy.spec.is_about_ingress()) {
        by_namespace.entry(policy.metadata.namespace.as_str()).or_default().push(policy);
    }
    let mut shut: BTreeMap<(&str, &str, u16), (&NetworkPolicy, Vec<&Pod>)> = BTreeMap::new();
    for pod in pods?.iter().filter(|pod| ctx.judges(&pod.metadata.namespace) && !pod.is_finished()) {
        let Some(port) = inbound_port(pod) else { continue };
        let here = by_namespace.get(pod.metadata.namespace.as_str());
        let holding: Vec<&NetworkPolicy> = here
            .into_iter()
            .flatten()
            .copied()
            .filter(|policy| policy.spec.pod_selector.matches(&pod.metadata.labels))
            .collect();
        let admits =
            |policy: &&NetworkPolicy| {
                policy.spec.ingress.iter().any(|rule| {
                    rule.ports.is_empty() || rule.ports.iter().any(|named| covers(named, port, pod))
                })
            };
        if holding.iter().any(admits) {
            continue;
        }
        // Who lets in nothing at all means it.
        for policy in holding.into_iter().filter(|policy| by_port(policy).is_some()) {
            let at = (policy.metadata.namespace.as_str(), policy.metadata.name.as_str(), port);
            shut.entry(at).or_insert((policy, Vec::new())).1.push(pod);
        }
    }
    Ok(shut
        .into_iter()
        .map(|((_, _, port), (policy, pods))| finding(ctx, policy, port, &pods))
        .collect::<Vec<_>>()
        .into())
}

/// The port at which a pod's proxy takes what clients send; `None` for pods without a proxy.
fn inbound_port(pod: &Pod) -> Option<u16> {
    let proxy = pod.spec.proxy()?;
    let listens = proxy
        .env
        .iter()
        .find(|variable| variable.name == LISTENS)
        .and_then(|variable| variable.value.as_ref());
    Some(listens.and_then(|address| address.rsplit_once(':')?.1.parse().ok()).unwrap_or(INBOUND))
}

/// Whether a port of a rule is a port of a pod.
fn covers(named: &NetworkPolicyPort, port: u16, pod: &Pod) -> bool {
    if !matches!(named.protocol.as_str(), "" | "TCP") {
        return false;
    }
    match &named.port {
        None => true,
        Some(TargetPort::Number(first)) => (*first..=named.end_port.unwrap_or(*first)).contains(&port),
        Some(TargetPort::Name(name)) => pod
            .spec
            .all_containers()
            .flat_map(|container| &container.ports)
            .any(|known| known.name == *name && known.container_port == port),
    }
}

/// The first rule of a policy that lets clients in by a TCP port, which is the one to complete.
fn by_port(policy: &NetworkPolicy) -> Option<usize> {
    let is_tcp = |port: &NetworkPolicyPort| matches!(port.protocol.as_str(), "" | "TCP");
    policy.spec.ingress.iter().position(|rule| rule.ports.iter().any(is_tcp))
}

fn finding(ctx: &Context<'_>, policy: &NetworkPolicy, port: u16, pods: &[&Pod]) -> Finding {
    let (namespace, name) = (policy.metadata.namespace.as_str(), policy.metadata.name.as_str());
    let named = |port: &NetworkPolicyPort| match (&port.port, port.end_port) {
        (None, _) => "all".to_owned(),
        (Some(TargetPort::Number(first)), Some(last)) => format!("{first}-{last}"),
        (Some(TargetPort::Number(number)), None) => number.to_string(),
        (Some(TargetPort::Name(name)), _) => name.clone(),
    };
    let ports: Vec<String> = policy.spec.ingress.iter().flat_map(|rule| &rule.ports).map(named).collect();
    let held: Vec<String> = pods.iter().take(QUOTED).map(|pod| pod.metadata.name.clone()).collect();
    let more = if pods.len() > QUOTED { format!(" and {} more", pods.len() - QUOTED) } else { String::new() };
    let at = by_port(policy).unwrap_or_default();
    let patch = serde_json::json!([{
        "op": "add",
        "path": format!("/spec/ingress/{at}/ports/-"),
        "value": { "protocol": "TCP", "port": port },
    }]);
    let add = kubectl()
        .namespace(namespace)
        .words("patch networkpolicy")
        .operand(name)
        .words("--type=json -p")
        .arg(patch.to_string());
    let remedy = Remedy::new()
        .run(
            StepKind::Command,
            "Let the same clients in by the port of the proxy; it carries all ports of the application, so who may use which \
             of them is for Linkerd's authorization policies to say",
            add,
        )
        .step(StepKind::Note, "Make the change where the policy comes from, too: a chart or an operator puts it back");
    let object = format!("NetworkPolicy {namespace}/{name}");
    ctx.finding(
        Subject::object("NetworkPolicy", namespace, name),
        format!(
            "it lets clients in by ports of the application alone; meshed clients come to port {port} of the proxy and get no \
             answer"
        ),
    )
    .evidence(Evidence::field(object, "spec.ingress[].ports", format!("{}; it holds for {}{more}", ports.join(", "), held.join(", "))))
    .evidence(Evidence::field(
        format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane),
        "data.values: proxy.outboundTransportMode",
        "transport-header",
    ))
    .remedy(remedy)
    // Whether the network enforces policies, and whether any client is meshed, is not known.
    .likely()
}
