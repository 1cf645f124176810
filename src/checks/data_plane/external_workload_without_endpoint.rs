//! `external-workload-without-endpoint`: a Service selects an ExternalWorkload that provides no endpoint
//! for a port of the Service.

use std::collections::BTreeSet;

use serde_json::json;

use crate::checks::policy::{existing, field, on, put, set};
use crate::checks::prelude::*;
use crate::command::Call;
use crate::model::endpoints::{selected, selects};
use crate::objects::{ExternalWorkload, ServicePort, TargetPort};

/// Maximum number of quoted ExternalWorkloads.
const QUOTED: usize = 3;

/// The reason why an ExternalWorkload provides no endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// It does not declare the target port.
    Port,
    /// It has no address of an IP family of the Service.
    Family,
    /// Its condition Ready is not true.
    NotReady,
}

/// A Service, and the ExternalWorkloads without an endpoint for some of its ports.
struct UnservedPorts<'a> {
    service: &'a Service,
    reason: Reason,
    workloads: Vec<&'a ExternalWorkload>,
    ports: Vec<&'a ServicePort>,
    /// Whether the Service has other endpoints for each of these ports.
    has_others: bool,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let external = existing::<ExternalWorkload>(ctx);
    let services = ctx.partial_list::<Service>()?;
    if external.is_empty() {
        return Ok(Vec::new().into());
    }
    let pods = ctx.partial_list::<Pod>()?;
    let mut findings = Vec::new();
    for service in services.iter().filter(|service| ctx.judges(&service.metadata.namespace)) {
        let spec = &service.spec;
        if spec.selector.is_empty() || spec.kind.as_str() == "ExternalName" {
            continue;
        }
        let chosen: Vec<&ExternalWorkload> = external.iter().filter(|workload| takes(service, workload)).collect();
        if chosen.is_empty() {
            continue;
        }
        let pods: Vec<&Pod> = selected(service, pods).collect();
        findings.extend(without_address(service, &chosen, &pods).map(|found| finding(ctx, &found)));
        findings.extend(without_port(service, &chosen, &pods).map(|found| finding(ctx, &found)));
        findings.extend(not_ready(ctx, service, &chosen, &pods).map(|found| finding(ctx, &found)));
    }
    Ok(findings.into())
}

/// Whether Linkerd takes an ExternalWorkload for endpoints of a Service.
fn takes(service: &Service, workload: &ExternalWorkload) -> bool {
    workload.metadata.deletion_timestamp.is_none()
        && !workload.spec.workload_ips.is_empty()
        && selects(service, &workload.metadata)
}

/// Whether an ExternalWorkload has an address of an IP family of the Service. A headless Service may have
/// both.
fn has_address(service: &Service, workload: &ExternalWorkload) -> bool {
    let families = &service.spec.ip_families;
    let is_of = |ip: &str| if ip.contains(':') { "IPv6" } else { "IPv4" };
    families.is_empty()
        || workload.spec.workload_ips.iter().any(|one| families.iter().any(|f| f.as_str() == is_of(&one.ip)))
}

fn without_address<'a>(
    service: &'a Service,
    chosen: &[&'a ExternalWorkload],
    pods: &[&Pod],
) -> Option<UnservedPorts<'a>> {
    let (with, workloads): (Vec<&ExternalWorkload>, Vec<_>) =
        chosen.iter().partition(|workload| has_address(service, workload));
    let has_others = !with.is_empty() || !pods.is_empty();
    (!workloads.is_empty()).then(|| UnservedPorts {
        service,
        reason: Reason::Family,
        workloads,
        ports: Vec::new(),
        has_others,
    })
}

/// Manifests have no status, so what is only applied is not judged.
fn not_ready<'a>(
    ctx: &Context<'_>,
    service: &'a Service,
    chosen: &[&'a ExternalWorkload],
    pods: &[&Pod],
) -> Option<UnservedPorts<'a>> {
    let (with, workloads): (Vec<&ExternalWorkload>, Vec<_>) = chosen
        .iter()
        .filter(|workload| !ctx.applies(Kind::ExternalWorkload, &workload.metadata))
        .partition(|workload| workload.is_ready());
    let has_others = !with.is_empty() || !pods.is_empty();
    let is_new = |workload: &&ExternalWorkload| ctx.within_grace(workload.metadata.creation_timestamp);
    (!workloads.is_empty() && !workloads.iter().all(is_new)).then(|| UnservedPorts {
        service,
        reason: Reason::NotReady,
        workloads,
        ports: Vec::new(),
        has_others,
    })
}

fn without_port<'a>(service: &'a Service, chosen: &[&'a ExternalWorkload], pods: &[&Pod]) -> Option<UnservedPorts<'a>> {
    let lacks = |port: &ServicePort, workload: &ExternalWorkload| port.leads_to_external(workload).is_none();
    let ports: Vec<&ServicePort> =
        service.spec.ports.iter().filter(|port| chosen.iter().any(|one| lacks(port, one))).collect();
    let workloads: Vec<&ExternalWorkload> =
        chosen.iter().copied().filter(|one| ports.iter().any(|port| lacks(port, one))).collect();
    let is_served = |port: &&ServicePort| {
        pods.iter().any(|pod| port.leads_to(pod).is_some()) || chosen.iter().any(|one| !lacks(port, one))
    };
    let has_others = ports.iter().all(is_served);
    (!ports.is_empty()).then_some(UnservedPorts { service, reason: Reason::Port, workloads, ports, has_others })
}

fn finding(ctx: &Context<'_>, found: &UnservedPorts<'_>) -> Finding {
    let UnservedPorts { service, workloads, ports, .. } = found;
    let (namespace, name) = service.metadata.key();
    let reason = match found.reason {
        Reason::Family => "has no address of the Service's IP family".to_owned(),
        Reason::Port => format!("does not declare the Service's target port {}", targets(ports)),
        Reason::NotReady => "does not have the condition Ready".to_owned(),
    };
    let effect = match (found.has_others, found.reason) {
        (true, Reason::Port) => "The ExternalWorkload gets no traffic for this port",
        (true, _) => "The ExternalWorkload gets none of the Service's traffic",
        (false, Reason::Family | Reason::NotReady) => {
            "The Service has no endpoint, and connections to the Service fail"
        }
        (false, Reason::Port) => "Connections to this port of the Service fail",
    };
    let more = match workloads.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let first = workloads.first().map_or("", |workload| &workload.metadata.name);
    let message = format!("ExternalWorkload {first}{more} {reason}. {effect}");
    let severity = if found.has_others { Severity::Warning } else { Severity::Error };
    let of_service = match found.reason {
        Reason::Family => {
            let families: Vec<&str> = service.spec.ip_families.iter().map(|f| f.as_str()).collect();
            vec![field(Kind::Service, &service.metadata, "spec.ipFamilies", families.join(", "))]
        }
        Reason::Port => {
            let of_port = |port: &&ServicePort| {
                let path = format!("spec.ports[{}].targetPort", port.port);
                field(Kind::Service, &service.metadata, &path, port.target())
            };
            ports.iter().map(of_port).collect()
        }
        Reason::NotReady => Vec::new(),
    };
    let of_workloads = workloads.iter().take(QUOTED).map(|workload| {
        let (path, said) = match found.reason {
            Reason::Family => ("spec.workloadIPs", addresses(workload)),
            Reason::Port => ("spec.ports", declared(workload)),
            Reason::NotReady => ("status.conditions[Ready]", readiness(workload)),
        };
        field(Kind::ExternalWorkload, &workload.metadata, path, said)
    });
    ctx.finding(Subject::object(Kind::Service, namespace, name), message)
        .severity(severity)
        .parameter(match found.reason {
            Reason::Family => "family",
            Reason::Port => "port",
            Reason::NotReady => "not-ready",
        })
        .evidences(of_service)
        .evidences(of_workloads)
        .remedy(remedy(found))
}

fn remedy(found: &UnservedPorts<'_>) -> Remedy {
    let UnservedPorts { service, workloads, ports, .. } = found;
    if found.reason == Reason::NotReady {
        return made_ready(workloads);
    }
    let act = match found.reason {
        Reason::Family => "Add an address of the Service's IP family to spec.workloadIPs".to_owned(),
        Reason::Port if ports.iter().all(|port| matches!(port.target_port, Some(TargetPort::Name(_)))) => {
            format!("Declare a port with the name {} under spec.ports of the ExternalWorkload", targets(ports))
        }
        Reason::Port | Reason::NotReady => {
            format!("Declare port {} under spec.ports of the ExternalWorkload", targets(ports))
        }
    };
    let or = match found.reason {
        Reason::Family => "Or add the IP family of the ExternalWorkload to the Service (spec.ipFamilies)",
        Reason::Port | Reason::NotReady => {
            "Or, if the workload listens on a declared port, correct targetPort of the Service"
        }
    };
    let mut steps = workloads.iter().take(QUOTED);
    let remedy = Remedy::new();
    let remedy = match steps.next() {
        Some(first) => remedy.command(act, correction(found, first)),
        None => remedy,
    };
    let remedy = steps.fold(remedy, |remedy, workload| {
        let act = "Do the same with the next ExternalWorkload";
        remedy.command(act, correction(found, workload))
    });
    remedy.command(or, on("edit", Kind::Service, &service.metadata))
}

/// The command that declares the numbered ports; a port with a name, or an address, is known only to the operator.
fn correction(found: &UnservedPorts<'_>, workload: &ExternalWorkload) -> Call {
    let numbers: Option<BTreeSet<u16>> = found
        .ports
        .iter()
        .map(|port| match &port.target_port {
            None | Some(TargetPort::Number(0)) => Some(port.port),
            Some(TargetPort::Number(number)) => Some(*number),
            Some(TargetPort::Name(_)) => None,
        })
        .collect();
    let meta = &workload.metadata;
    match numbers.filter(|_| found.reason == Reason::Port && found.ports.iter().all(|port| port.is_tcp())) {
        Some(numbers) if !workload.spec.ports.is_empty() => {
            let each = numbers.into_iter().map(|port| put("/spec/ports/-", json!({"port": port})));
            set(Kind::ExternalWorkload, meta, each)
        }
        Some(numbers) => {
            let ports: Vec<_> = numbers.into_iter().map(|port| json!({"port": port})).collect();
            set(Kind::ExternalWorkload, meta, [put("/spec/ports", ports)])
        }
        None => on("edit", Kind::ExternalWorkload, meta),
    }
}

/// The steps that set the condition. It is a part of the status subresource, which `kubectl apply` does not write.
fn made_ready(workloads: &[&ExternalWorkload]) -> Remedy {
    let remedy = Remedy::new().note(
        "Let the program that registers the workload set its condition Ready while it is healthy. The status is a \
         subresource: kubectl apply and kubectl create ignore it",
    );
    workloads.iter().take(QUOTED).fold(remedy, |remedy, workload| {
        let (namespace, name) = workload.metadata.key();
        let patch = kubectl().namespace(namespace).words("patch externalworkloads.workload.linkerd.io").operand(name);
        let patch = patch.words("--subresource=status --type=merge");
        let ready = r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#;
        remedy.command("If it is healthy now, set the condition", patch.option("-p", ready))
    })
}

/// The condition Ready: `False: NoHeartbeat`.
fn readiness(workload: &ExternalWorkload) -> String {
    let conditions = &workload.status.conditions;
    match conditions.iter().find(|one| one.kind == "Ready") {
        Some(ready) if ready.reason.is_empty() => ready.status.to_string(),
        Some(ready) => format!("{}: {}", ready.status, ready.reason),
        None => "missing".to_owned(),
    }
}

/// The target ports: `5432, metrics`.
fn targets(ports: &[&ServicePort]) -> String {
    let targets: BTreeSet<String> = ports.iter().map(|port| port.target()).collect();
    targets.into_iter().collect::<Vec<_>>().join(", ")
}

/// The declared ports: `5433 (pg), 9000/UDP`.
fn declared(workload: &ExternalWorkload) -> String {
    let ports = workload.spec.ports.iter().map(|port| {
        let protocol = port.protocol.as_deref().filter(|protocol| !matches!(*protocol, "" | "TCP"));
        let protocol = protocol.map(|protocol| format!("/{protocol}")).unwrap_or_default();
        let name = port.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        format!("{}{protocol}{name}", port.port)
    });
    match ports.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "no port".to_owned(),
        ports => ports,
    }
}

fn addresses(workload: &ExternalWorkload) -> String {
    workload.spec.workload_ips.iter().map(|one| one.ip.as_str()).collect::<Vec<_>>().join(", ")
}
