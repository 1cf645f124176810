//! `api-server-port-redirected`: the control plane's calls to the API server are redirected to its own
//! proxies before these are up.

use crate::checks::prelude::*;
use crate::checks::sockets::{self, AtSockets};
use crate::checks::upgrade::{self, Options};
use crate::model::installed::COMPONENT;
use crate::model::skipped::{CniSkips, OUT, skipped};
use crate::objects::container::INIT_CONTAINER;
use crate::objects::{FelixConfiguration, TargetPort};

/// The Service of the API server.
const API_SERVER: (&str, &str) = ("default", "kubernetes");
/// The API server ports that linkerd-init skips in the control plane by default (chart value
/// `proxyInit.kubeAPIServerPorts`).
const USUAL: [u16; 2] = [443, 6443];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let config = ctx.object::<ConfigMap>(Scope::Fixed("kube-system".to_owned()), "cilium-config");
    let (pods, services) = (ctx.partial_list::<Pod>(), ctx.partial_list::<Service>());
    let (config, pods, services) = (config?, pods?, services?);
    let of_calico = || sockets::of_all_nodes(ctx.optional_list::<FelixConfiguration>()).and_then(sockets::calico);
    let Some(at_sockets) = config.and_then(sockets::cilium).or_else(of_calico) else {
        return Err(Unjudged::not_applicable(
            "no network plugin is known that translates Service addresses when a process connects",
        ));
    };
    let Some((port, said)) = services.iter().find_map(port) else { return Ok(Verdict::fine()) };
    let home = &ctx.namespaces().control_plane;
    let by_init = CniSkips::default();
    let mut owners: Vec<Owner> = Vec::new();
    let mut evidence: Vec<Evidence> = Vec::new();
    for pod in pods.iter().filter(|pod| pod.metadata.namespace == *home && pod.metadata.label(COMPONENT).is_some()) {
        let waits = pod.condition("Ready").is_some_and(|ready| ready.status != "True");
        // linkerd-cni looks up the ports of the API server itself.
        if !waits || pod.spec.container(INIT_CONTAINER).is_none() || pod.is_finished() {
            continue;
        }
        let Some(left_aside) = skipped(pod, OUT, &by_init).filter(|skipped| !skipped.holds(port)) else {
            continue;
        };
        let owner = ctx.owners().owner(pod);
        if !owners.contains(&owner) {
            evidence.push(left_aside.by());
            owners.push(owner);
        }
    }
    owners.sort();
    Ok(finding(ctx, &owners, port, said, evidence, at_sockets).into_iter().collect())
}

/// The target port of the API server, if `service` is its Service.
fn port(service: &Service) -> Option<(u16, Evidence)> {
    let (namespace, name) = API_SERVER;
    if service.metadata.namespace != namespace || service.metadata.name != name {
        return None;
    }
    let first = service.spec.ports.first()?;
    let port = match &first.target_port {
        Some(TargetPort::Number(port)) if *port != 0 => *port,
        Some(TargetPort::Name(_)) => return None,
        _ => first.port,
    };
    let path = format!("spec.ports[{}].targetPort", first.port);
    Some((port, Evidence::field(format!("Service {namespace}/{name}"), path, port.to_string())))
}

fn finding(
    ctx: &Context<'_>,
    owners: &[Owner],
    port: u16,
    said: Evidence,
    evidence: Vec<Evidence>,
    at_sockets: AtSockets,
) -> Option<Finding> {
    let (first, others) = owners.split_first()?;
    let message = format!(
        "the control plane is not ready, and its calls to the API server are most likely redirected to its \
        own proxy: the network plugin sends them to port {port}, which linkerd-init does not skip"
    );
    let ports = USUAL.into_iter().chain((!USUAL.contains(&port)).then_some(port));
    let ports = ports.map(|port| port.to_string()).collect::<Vec<_>>().join(",");
    let options = Options::none().set("proxyInit.kubeAPIServerPorts", ports);
    let remedy = upgrade::with_values(
        ctx,
        Remedy::new(),
        "Make linkerd-init of the control plane skip the port of the API server",
        options,
    )
    .note(
        "Or stop the network plugin from translating Service addresses when pods connect. The proxies of \
        applications need that too: see cilium-socket-balancing and calico-connect-time-balancing",
    );
    let finding = ctx
        .finding(first.subject(Vec::new()), message)
        .evidence(said)
        .evidences(evidence)
        .evidences(at_sockets.evidence)
        .remedy(remedy)
        .likely();
    Some(others.iter().fold(finding, |finding, owner| finding.subject(owner.subject(Vec::new()))))
}
