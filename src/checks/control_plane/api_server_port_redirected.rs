//! `api-server-port-redirected`: API server calls of the control plane are redirected to its own
//! proxies before these are up.

use crate::checks::sockets::{self, AtSockets};
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement, Unjudged, Verdict};
use crate::finding::{Evidence, Finding, Remedy, StepKind};
use crate::item::Scope;
use crate::model::installed::COMPONENT;
use crate::model::owners::Owner;
use crate::model::skipped::{OUT, skipped};
use crate::objects::container::INIT_CONTAINER;
use crate::objects::{ConfigMap, FelixConfiguration, Pod, Service, TargetPort};

/// The Service of the API server.
const API_SERVER: (&str, &str) = ("default", "kubernetes");
/// The ports that the chart exempts in linkerd-init of the control plane.
const USUAL: [u16; 2] = [443, 6443];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let config = ctx.named::<ConfigMap>(Scope::Fixed("kube-system".to_owned()), "cilium-config");
    let (pods, services) = (ctx.seen::<Pod>(), ctx.seen::<Service>());
    let (config, pods, services) = (config?, pods?, services?);
    let of_calico = || sockets::of_all_nodes(ctx.hints::<FelixConfiguration>()).and_then(sockets::calico);
    let Some(at_sockets) = config.and_then(sockets::cilium).or_else(of_calico) else {
        return Err(Unjudged::not_applicable(
            "no network plugin is known to select the API server's address when a process connects",
        ));
    };
    let Some((port, said)) = services.iter().find_map(port) else { return Ok(Verdict::fine()) };
    let home = &ctx.namespaces().control_plane;
    let mut owners: Vec<Owner> = Vec::new();
    let mut evidence: Vec<Evidence> = Vec::new();
    for pod in
        pods.iter().filter(|pod| pod.metadata.namespace == *home && pod.metadata.label(COMPONENT).is_some())
    {
        let waits = pod.condition("Ready").is_some_and(|ready| ready.status != "True");
        // linkerd-cni exempts the API server's own ports.
        if !waits || pod.spec.container(INIT_CONTAINER).is_none() || pod.is_finished() {
            continue;
        }
        let Some(left_aside) = skipped(pod, OUT).filter(|skipped| !skipped.holds(port)) else { continue };
        let owner = ctx.owners().of(pod);
        if !owners.contains(&owner) {
            evidence.push(left_aside.by());
            owners.push(owner);
        }
    }
    owners.sort();
    Ok(finding(ctx, &owners, port, said, evidence, at_sockets).into_iter().collect::<Vec<_>>().into())
}

/// The API server's own port, if the Service forwards to it.
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
        "the control plane is not ready, most likely because its calls to the API server are redirected \
            to its own proxy: the network plugin sends them to port {port}, which linkerd-init does not \
            exempt"
    );
    let ports = USUAL.into_iter().chain((!USUAL.contains(&port)).then_some(port));
    let ports = ports.map(|port| port.to_string()).collect::<Vec<_>>().join(",");
    let options = Options::none().set("proxyInit.kubeAPIServerPorts", ports);
    let remedy = upgrade::step(
        ctx,
        Remedy::new(),
        StepKind::ChartValue,
        "Exempt the API server's port in linkerd-init of the control plane",
        options,
    )
    .step(
        StepKind::Note,
        "Or stop the network plugin from selecting addresses when processes in pods connect, which \
            application proxies need anyway: see cilium-socket-balancing and \
            calico-connect-time-balancing",
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
