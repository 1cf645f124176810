//! Faults of a gateway's Service although its pods run: ports that lead nowhere, probe annotations that no Link can
//! be created from, and network policies that deny other clusters.

use std::collections::BTreeSet;

use serde_json::json;

use crate::checks::data_plane::inbound_port;
use crate::checks::network_policies::{self, PeerSelector};
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::knowledge::go_duration;
use crate::model::injected::go_bool;
use crate::network_policy::{DecidedBy, Direction, Peer, Policies, Port, Verdict};
use crate::objects::ServicePort;
use crate::objects::container::PROXY_CONTAINER;

/// Maximum number of quoted Services.
const NAMED: usize = 3;
/// Names of the ports that a Link is created from.
const GATEWAY_PORT: &str = "mc-gateway";
const PROBE_PORT: &str = "mc-probe";
/// Annotations that a Link is created from.
const PROBE_PATH: &str = "mirror.linkerd.io/probe-path";
const PROBE_PERIOD: &str = "mirror.linkerd.io/probe-period";
/// The variable with the address of the proxy's admin server, and its default port.
const ADMIN_LISTEN: &str = "LINKERD2_PROXY_ADMIN_LISTEN_ADDR";
const ADMIN: u16 = 4191;
/// Paths that the proxy's admin server answers with success.
const ADMIN_PATHS: [&str; 3] = ["/ready", "/live", "/metrics"];

/// The annotation by which the chart marks the Service of a gateway.
pub(super) const GATEWAY: &str = "mirror.linkerd.io/multicluster-gateway";
/// The annotation that makes the injector run a proxy as a gateway.
const ENABLE: &str = "config.linkerd.io/enable-gateway";
/// The annotation with the identity that Links expect of the gateway, the variable of a proxy with its identity, and
/// the part of an identity between the account and the control plane.
pub(super) const IDENTITY: &str = "mirror.linkerd.io/gateway-identity";
const LOCAL_NAME: &str = "LINKERD2_PROXY_IDENTITY_LOCAL_NAME";
const OF_ACCOUNT: &str = ".serviceaccount.identity.";

/// A fault of a gateway's Service.
pub(super) struct Fault {
    /// Distinguishes it from other faults of the Service.
    pub(super) parameter: &'static str,
    pub(super) severity: Severity,
    pub(super) message: String,
    pub(super) evidence: Vec<Evidence>,
    pub(super) remedy: Remedy,
}

/// Whether a Service is that of a gateway: by the annotation of the chart, which Linkerd does not read, or by the
/// identity and the port from which a Link is created.
pub(in crate::checks) fn is_gateway(service: &Service) -> bool {
    service.metadata.annotation(GATEWAY) == Some("true")
        || service.metadata.annotation(IDENTITY).is_some()
        || port_by_name(service, GATEWAY_PORT).is_some()
}

/// The faults of a gateway's Service, which leads to this pod of a Deployment among others.
pub(super) fn faults(
    service: &Service,
    pod: &Pod,
    deployment: Option<&Workload>,
    policies: Option<&Policies<'_>>,
) -> Vec<Fault> {
    // Pods without a proxy are a matter of their own.
    if pod.spec.proxy().is_none() {
        return Vec::new();
    }
    let faults = [
        gateway_port(service, pod),
        probe_port(service, pod),
        probe(service, pod),
        identity(service, pod),
        mode(pod, deployment),
    ];
    let denied = policies.and_then(|policies| denied(service, pod, policies));
    faults.into_iter().flatten().chain(denied).collect()
}

fn port_by_name<'s>(service: &'s Service, name: &str) -> Option<&'s ServicePort> {
    service.spec.ports.iter().find(|port| port.name == name)
}

fn subject(service: &Service) -> Subject {
    let (namespace, name) = service.metadata.key();
    Subject::object(Kind::Service, namespace, name)
}

/// The ports of a Service on one line.
fn ports(service: &Service) -> Evidence {
    let all = service.spec.ports.iter().map(|port| format!("{} {} to {}", port.name, port.port, port.target()));
    let all: Vec<String> = all.collect();
    let said = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    Evidence::field(subject(service), "spec.ports", said)
}

fn listens(pod: &Pod, what: &str, port: u16) -> Evidence {
    Evidence::field(pod.described(), format!("containers[{PROXY_CONTAINER}]: {what}"), port.to_string())
}

/// The step that gives a port of the Service its name and target.
fn mend(service: &Service, pod: &Pod, name: &str, port: u16) -> Remedy {
    let ports = &service.spec.ports;
    let operation = match ports.iter().position(|one| one.name == name) {
        Some(at) => json!({"op": "add", "path": format!("/spec/ports/{at}/targetPort"), "value": port}),
        None => match ports.iter().position(|one| one.leads_to(pod) == Some(port)) {
            Some(at) => json!({"op": "add", "path": format!("/spec/ports/{at}/name"), "value": name}),
            None => json!({"op": "add", "path": "/spec/ports/-", "value": {
                "name": name, "port": port, "protocol": "TCP", "targetPort": port,
            }}),
        },
    };
    let (namespace, service) = service.metadata.key();
    let patch = kubectl().namespace(namespace).words("patch service").operand(service);
    Remedy::new()
        .command(
            format!("Give the Service a port with the name {name} and the target {port}, as the chart does"),
            patch.words("--type=json -p").arg(json!([operation]).to_string()),
        )
        .note("Change the source of the Service too: the values of the multicluster chart")
}

/// The port for calls must lead to the inbound port of the proxy, which requires the identity of clients.
fn gateway_port(service: &Service, pod: &Pod) -> Option<Fault> {
    let inbound = inbound_port(pod);
    let seen = vec![ports(service), listens(pod, "inbound port", inbound)];
    let fault = |severity, message: String| Fault {
        parameter: "gateway-port",
        severity,
        message,
        evidence: seen.clone(),
        remedy: mend(service, pod, GATEWAY_PORT, inbound),
    };
    let Some(port) = port_by_name(service, GATEWAY_PORT) else {
        let is_reached = service.spec.ports.iter().any(|port| port.leads_to(pod) == Some(inbound));
        return Some(match is_reached {
            true => fault(
                Severity::Warning,
                format!("the gateway's Service has no port with the name {GATEWAY_PORT}: no cluster can be linked"),
            ),
            false => fault(
                Severity::Error,
                "the gateway's Service has no port that leads to its proxy: clients in other clusters cannot connect"
                    .to_owned(),
            ),
        });
    };
    (port.leads_to(pod) != Some(inbound)).then(|| {
        let message = format!(
            "port {GATEWAY_PORT} of the gateway's Service leads to port {}, on which its proxy accepts no calls: \
             clients in other clusters cannot connect",
            port.target()
        );
        fault(Severity::Error, message)
    })
}

fn admin_port(pod: &Pod) -> u16 {
    let address = pod.spec.proxy().and_then(|proxy| proxy.env_value(ADMIN_LISTEN));
    address.and_then(|address| address.rsplit_once(':')?.1.parse().ok()).unwrap_or(ADMIN)
}

/// The port that other clusters probe.
fn probe_port(service: &Service, pod: &Pod) -> Option<Fault> {
    let admin = admin_port(pod);
    let fault = |message: String| Fault {
        parameter: "probe-port",
        severity: Severity::Error,
        message,
        evidence: vec![ports(service), listens(pod, "admin port", admin)],
        remedy: mend(service, pod, PROBE_PORT, admin),
    };
    let Some(port) = port_by_name(service, PROBE_PORT) else {
        let is_reached = service.spec.ports.iter().any(|port| port.leads_to(pod) == Some(admin));
        let message = match is_reached {
            true => format!("the gateway's Service has no port with the name {PROBE_PORT}: no cluster can be linked"),
            false => format!(
                "the gateway's Service has no port {PROBE_PORT}: the probes of other clusters fail, so their \
                 mirrors have no endpoints"
            ),
        };
        let severity = if is_reached { Severity::Warning } else { Severity::Error };
        return Some(Fault { severity, ..fault(message) });
    };
    let declared = || pod.spec.all_containers().flat_map(|container| &container.ports);
    let target = port.leads_to(pod);
    let is_served = target == Some(admin) || declared().any(|port| Some(port.container_port) == target);
    (!is_served).then(|| {
        fault(format!(
            "port {PROBE_PORT} of the gateway's Service leads to port {}, which no container declares: the probes of \
             other clusters fail, so their mirrors have no endpoints",
            port.target()
        ))
    })
}

/// The annotations that the probe of a Link is created from.
fn probe(service: &Service, pod: &Pod) -> Option<Fault> {
    let set = |key: &str| service.metadata.annotation(key).unwrap_or_default();
    let (path, period) = (set(PROBE_PATH), set(PROBE_PERIOD));
    let is_period = period.parse::<u32>().is_ok() || go_duration(period).is_some();
    let fault = |key: &str, value: &str, right: &str, message: &str| {
        let said = if value.is_empty() { "missing" } else { value };
        let (namespace, name) = service.metadata.key();
        let annotate = kubectl().namespace(namespace).words("annotate --overwrite service").operand(name);
        Some(Fault {
            parameter: "probe",
            severity: Severity::Warning,
            message: message.to_owned(),
            evidence: vec![Evidence::field(subject(service), format!("metadata.annotations[{key}]"), said)],
            remedy: Remedy::new()
                .run(
                    StepKind::Annotation,
                    format!("Set {key}: {right:?} (also in the values of the multicluster chart)"),
                    annotate.arg(format!("{key}={right}")),
                )
                .note("If a cluster was linked meanwhile, create its Link again"),
        })
    };
    let unlinkable = "an annotation of the gateway's Service cannot be read: linkerd multicluster link fails, so no \
         cluster can be linked";
    if path.is_empty() {
        return fault(PROBE_PATH, path, "/ready", unlinkable);
    }
    if !is_period {
        return fault(PROBE_PERIOD, period, "3", unlinkable);
    }
    let is_admin = port_by_name(service, PROBE_PORT).and_then(|port| port.leads_to(pod)) == Some(admin_port(pod));
    let is_answered = ADMIN_PATHS.contains(&path.split('?').next().unwrap_or(path));
    let unanswered = "the gateway's proxy does not serve the probe path of its Service: in clusters that are linked \
         with it, the gateway counts as not alive";
    if is_admin && !is_answered { fault(PROBE_PATH, path, "/ready", unanswered) } else { None }
}

/// The proxy forwards requests only as a gateway; otherwise it rejects the name of every Service.
fn mode(pod: &Pod, deployment: Option<&Workload>) -> Option<Fault> {
    let set = pod.metadata.annotation(ENABLE);
    if set.and_then(go_bool) == Some(true) {
        return None;
    }
    let act = format!("Set {ENABLE}: \"true\" in the pod template (also in its source manifest)");
    let remedy = match deployment {
        Some(deployment) => {
            let annotations = json!({"annotations": {ENABLE: "true"}});
            let patch = json!({"spec": {"template": {"metadata": annotations}}});
            let call = kubectl().namespace(&deployment.metadata.namespace).words("patch deployment");
            let call = call.operand(&deployment.metadata.name).words("-p").arg(patch.to_string());
            Remedy::new().run(StepKind::Annotation, act, call)
        }
        None => Remedy::new().step(StepKind::Annotation, act),
    };
    Some(Fault {
        parameter: "mode",
        severity: Severity::Error,
        message: "the gateway's proxy does not run as a gateway: it rejects every request of other clusters, although \
                  it answers their probes"
            .to_owned(),
        evidence: vec![Evidence::field(
            pod.described(),
            format!("metadata.annotations[{ENABLE}]"),
            set.unwrap_or("not set"),
        )],
        remedy,
    })
}

/// The annotation must name the identity that the gateway's pods have.
fn identity(service: &Service, pod: &Pod) -> Option<Fault> {
    let (namespace, own) = service.metadata.key();
    let name = pod.spec.proxy()?.env_value(LOCAL_NAME);
    let rest = name.and_then(|name| name.split_once(OF_ACCOUNT)).map(|(_, rest)| rest);
    let held = rest.map(|rest| format!("{}.{namespace}{OF_ACCOUNT}{rest}", pod.spec.account()));
    let Some(named) = service.metadata.annotation(IDENTITY) else {
        return Some(without_identity(service, held.as_deref()));
    };
    let held = held?;
    let object = format!("Pod {namespace}/{}", pod.metadata.name);
    (held != named).then(|| Fault {
        parameter: "identity",
        severity: Severity::Error,
        message: "the gateway's Service names another identity than its pods have: Links created from it expect a \
                  certificate that the gateway does not have, so requests from other clusters fail"
            .to_owned(),
        evidence: vec![
            Evidence::field(subject(service), format!("metadata.annotations[{IDENTITY}]"), named),
            Evidence::field(object, "identity of its proxy", held.as_str()),
        ],
        remedy: Remedy::new()
            .run(
                StepKind::Annotation,
                "If the pods run with the intended ServiceAccount, name their identity (also in the values of the \
                 multicluster chart)",
                kubectl()
                    .namespace(namespace)
                    .words("annotate --overwrite service")
                    .operand(own)
                    .arg(format!("{IDENTITY}={held}")),
            )
            .note("Otherwise correct serviceAccountName in the pod template of the gateway")
            .note("Create the Links of other clusters that expect the wrong identity again"),
    })
}

/// The fault of a Service without the annotation, from which no Link can be created; `held`: the identity of its pods.
fn without_identity(service: &Service, held: Option<&str>) -> Fault {
    let (namespace, name) = service.metadata.key();
    let remedy = match held {
        Some(held) => Remedy::new().run(
            StepKind::Annotation,
            "Name the identity of the gateway's pods, and stop the tool that removes the annotation",
            kubectl()
                .namespace(namespace)
                .words("annotate --overwrite service")
                .operand(name)
                .arg(format!("{IDENTITY}={held}")),
        ),
        None => Remedy::new().step(
            StepKind::Annotation,
            "Apply the multicluster chart again, which sets the annotation, and stop the tool that removes it",
        ),
    };
    Fault {
        parameter: "identity",
        severity: Severity::Warning,
        message:
            "the gateway's Service does not name its identity: linkerd multicluster link fails, so no cluster can be \
             linked. Existing Links work"
                .to_owned(),
        evidence: vec![Evidence::field(subject(service), format!("metadata.annotations[{IDENTITY}]"), "missing")],
        remedy,
    }
}

/// Network policies that deny the calls of other clusters, which come from outside the pod network.
fn denied(service: &Service, pod: &Pod, policies: &Policies<'_>) -> Option<Fault> {
    let ways = [(inbound_port(pod), "calls"), (admin_port(pod), "probes")];
    let passages = ways.map(|(number, what)| {
        let port = Port { protocol: "TCP", number, of: Some(pod) };
        (number, what, policies.passage(Direction::Ingress, pod, port, Peer::Host))
    });
    let shut: Vec<_> = passages
        .into_iter()
        .filter_map(|(number, what, passage)| match passage {
            Verdict::Shut(by) => Some((number, what, by)),
            // Blocks of addresses may contain the other clusters.
            Verdict::Open | Verdict::Through(_) | Verdict::Unknown(_) => None,
        })
        .collect();
    let (_, _, by) = shut.first()?;
    let decides = by.first()?;
    let whats: Vec<&str> = shut.iter().map(|(_, what, _)| *what).collect();
    let openings: Vec<(&str, u16)> = shut.iter().map(|(number, ..)| ("TCP", *number)).collect();
    let message = format!(
        "{} deny the {} of other clusters to the gateway: exported Services cannot be reached from there",
        network_policies::kind_names(by),
        whats.join(" and ")
    );
    let words = "Allow all sources at these ports of the gateway. Its policies still require a mesh identity for \
        calls";
    Some(Fault {
        parameter: "network-policy",
        severity: Severity::Error,
        message,
        evidence: by
            .iter()
            .map(network_policies::evidence)
            .chain([Evidence::field(subject(service), "spec.selector", format!("selects pod {}", pod.metadata.name))])
            .collect(),
        remedy: network_policies::remedy(decides, Direction::Ingress, &[(PeerSelector::Anybody, openings)], words),
    })
}

/// The finding for an exported Service whose pods network policies close to the pods of the gateway, at its ports and
/// at the inbound port of the proxy, through which the gateway calls opaque ports.
pub(super) fn blocked(
    ctx: &Context<'_>,
    service: &Service,
    pods: &[&Pod],
    caller: &Pod,
    policies: &Policies<'_>,
) -> Option<Finding> {
    let shut = |pod, number| {
        let port = Port { protocol: "TCP", number, of: Some(pod) };
        match policies.passage(Direction::Ingress, pod, port, Peer::Pod(caller)) {
            Verdict::Shut(by) => Some(by),
            Verdict::Open | Verdict::Through(_) | Verdict::Unknown(_) => None,
        }
    };
    let pod = *pods.first()?;
    shut(pod, inbound_port(pod))?;
    // An export covers all ports, and some may be closed on purpose.
    let led = service.spec.tcp_ports().filter_map(|port| Some((port, port.leads_to(pod)?)));
    let closed: Option<Vec<_>> = led.map(|(port, number)| Some((port, number, shut(pod, number)?))).collect();
    let (port, number, by) = closed?.into_iter().next()?;
    let decides = by.first()?;
    let home = caller.metadata.namespace.as_str();
    let finding = ctx
        .finding(
            subject(service),
            format!(
                "{} deny the multicluster gateway at port {} of the exported Service: calls from other clusters fail",
                network_policies::kind_names(&by),
                port.port
            ),
        )
        .parameter("export")
        .evidences(by.iter().map(network_policies::evidence))
        .evidence(Evidence::field(subject(service), "spec.selector", format!("selects pod {}", pod.metadata.name)))
        .evidence(Evidence::other("Pod of the gateway", format!("{home}/{}", caller.metadata.name)));
    let openings = vec![("TCP", number), ("TCP", inbound_port(pod))];
    Some(finding.remedy(network_policies::remedy(
        decides,
        Direction::Ingress,
        &[(PeerSelector::Namespace(home), openings)],
        "Allow the pods of the gateway's namespace at these ports",
    )))
}

/// The ports at which network policies of the gateway's namespace keep it from the pods of an exported Service, with
/// the policies: all ports of the Service, and the inbound port of their proxy.
pub(super) fn kept_from<'a>(
    service: &Service,
    pod: &Pod,
    gateway: &Pod,
    policies: &Policies<'a>,
) -> Option<(Vec<u16>, Vec<DecidedBy<'a>>)> {
    let led = service.spec.tcp_ports().filter_map(|port| port.leads_to(pod));
    let mut by = None;
    let mut ports: Vec<u16> = led.chain([inbound_port(pod)]).collect();
    ports.sort_unstable();
    ports.dedup();
    for number in &ports {
        let port = Port { protocol: "TCP", number: *number, of: Some(pod) };
        match policies.passage(Direction::Egress, gateway, port, Peer::Pod(pod)) {
            Verdict::Shut(policies) => by = Some(policies),
            Verdict::Open | Verdict::Through(_) | Verdict::Unknown(_) => return None,
        }
    }
    by.map(|by| (ports, by))
}

/// The finding for exported Services that network policies of the gateway's namespace keep it from.
pub(super) fn cannot_forward(
    finding: Finding,
    gateway: &Pod,
    (exported, ports): (&[&Service], &BTreeSet<u16>),
    by: &[DecidedBy<'_>],
) -> Finding {
    let names = exported.iter().map(|one| format!("{}/{}", one.metadata.namespace, one.metadata.name));
    let finding = finding
        .parameter("egress")
        .evidences(by.iter().map(network_policies::evidence))
        .evidence(Evidence::other("Exported Services", some(names, NAMED)))
        .evidence(Evidence::other(
            "Pod of the gateway",
            format!("{}/{}", gateway.metadata.namespace, gateway.metadata.name),
        ));
    let openings = [(PeerSelector::Pods, ports.iter().map(|port| ("TCP", *port)).collect())];
    match by.first() {
        Some(decides) => finding.remedy(network_policies::remedy(
            decides,
            Direction::Egress,
            &openings,
            "Allow egress of the gateway to the pods of exported Services at these ports",
        )),
        None => finding,
    }
}
