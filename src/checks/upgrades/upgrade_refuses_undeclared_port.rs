//! `upgrade-refuses-undeclared-port`: from the target on, meshed clients cannot use a port that the Service
//! does not declare.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::Upgrade;
use crate::checks::policy::{defined, put, set};
use crate::checks::prelude::*;
use crate::command::Call;
use crate::model::refusal::LINKERDS;
use crate::objects::{ServicePort, ServiceProfile, TargetPort};
use crate::version::EdgeTag;

/// Maximum number of quoted Services.
const QUOTED: usize = 5;
/// Maximum number of quoted ports of a Service.
const PORTS: usize = 4;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let services = ctx.partial_list::<Service>();
    let pods = ctx.partial_list::<Pod>()?;
    let services = services?;
    let profiles = defined::<ServiceProfile>(ctx)?;
    let upgrades = ctx.knowledge.upgrades();
    let since = [upgrades.undeclared_ports(way.between(ctx)), upgrades.undeclared_ports_with_profile(way.between(ctx))];
    if since == [None, None] {
        return Ok(Verdict::fine());
    }
    let with_profile = |service: &Service| {
        let of = format!("{}.{}.svc.", service.metadata.name, service.metadata.namespace);
        profiles.iter().any(|profile| profile.metadata.name.starts_with(&of))
    };
    let mut by_namespace: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| !pod.is_finished()) {
        by_namespace.entry(pod.metadata.namespace.as_str()).or_default().push(pod);
    }
    let mut affected: [Vec<(&Service, BTreeSet<u16>)>; 2] = Default::default();
    // Linkerd's own clients, and those of Kubernetes' own Services, only use declared ports.
    let homes = ctx.namespaces();
    let own = |namespace: &str| {
        let extension = homes.extensions.values().any(|extension| extension == namespace);
        extension || [homes.control_plane.as_str(), homes.cni.as_str(), "kube-system"].contains(&namespace)
    };
    let judged = |service: &&Service| {
        let namespace = service.metadata.namespace.as_str();
        ctx.judges(namespace) && !own(namespace)
    };
    for service in services.iter().filter(judged) {
        let spec = &service.spec;
        // A headless Service has no address with other ports.
        if spec.cluster_ip.is_none() || spec.selector.is_empty() || !spec.ports.iter().any(is_moved) {
            continue;
        }
        let pods = by_namespace.get(service.metadata.namespace.as_str()).into_iter().flatten();
        let behind =
            |pod: &&&Pod| spec.selector.iter().all(|(key, value)| pod.metadata.label(key) == Some(value.as_str()));
        let mut others = pods.filter(behind).map(|pod| undeclared(service, pod));
        if let Some(others) = others.find(|others| !others.is_empty()) {
            affected[usize::from(with_profile(service))].push((service, others));
        }
    }
    let each = since.into_iter().zip(affected);
    let findings = each.filter_map(|(since, affected)| about(ctx, &way, since?, &affected));
    Ok(findings.collect())
}

/// Services that are affected from the same edge on.
fn about(
    ctx: &Context<'_>,
    way: &Upgrade<'_>,
    since: EdgeTag,
    affected: &[(&Service, BTreeSet<u16>)],
) -> Option<Finding> {
    let (first, _) = affected.first()?;
    let subject =
        |service: &Service| Subject::object(Kind::Service, &service.metadata.namespace, &service.metadata.name);
    let message =
        format!("From {since} on, connections to ports that {} does not declare are reset", services(affected));
    let seen = affected.iter().take(QUOTED).map(|(service, others)| {
        let declared: Vec<String> = service.spec.ports.iter().map(|port| port.port.to_string()).collect();
        let others: Vec<String> = others.iter().take(PORTS).map(ToString::to_string).collect();
        let said = format!("{}; its pods also listen on {}", declared.join(", "), others.join(", "));
        Evidence::field(service.metadata.described("Service"), "spec.ports[].port", said)
    });
    let finding = ctx
        .finding(subject(first), message)
        .severity(Severity::Info)
        .likely()
        .evidences(seen)
        .evidence(way.target.clone())
        .remedy(
            Remedy::new()
                .step(StepKind::Note, "Check in the configuration of their clients whether one uses such a port")
                .step(StepKind::Note, "Change it to the declared port")
                .run(
                    StepKind::Command,
                    "If a client needs such a port, declare it in the Service too, before the upgrade",
                    Command::lines(affected.iter().take(QUOTED).map(|(service, others)| declared_too(service, others))),
                ),
        );
    Some(affected.iter().skip(1).fold(finding, |finding, (service, _)| finding.subject(subject(service))))
}

/// The command that declares further ports of a Service. With several ports, each needs a name.
fn declared_too(service: &Service, others: &BTreeSet<u16>) -> Call {
    let unnamed = service.spec.ports.iter().enumerate().filter(|(_, port)| port.name.is_empty());
    let named = unnamed.map(|(at, port)| put(format!("/spec/ports/{at}/name"), format!("port-{}", port.port)));
    let more = others
        .iter()
        .take(PORTS)
        .map(|port| put("/spec/ports/-", json!({"name": format!("port-{port}"), "port": port, "targetPort": port})));
    set(Kind::Service, &service.metadata, named.chain(more))
}

/// The affected Services as text: `Service shop/api or shop/web`.
fn services(affected: &[(&Service, BTreeSet<u16>)]) -> String {
    let name =
        |(service, _): &(&Service, BTreeSet<u16>)| format!("{}/{}", service.metadata.namespace, service.metadata.name);
    match affected {
        [one] => format!("Service {}", name(one)),
        [one, other] => format!("Service {} or {}", name(one), name(other)),
        [one, rest @ ..] => format!("Service {} or one of {} others", name(one), rest.len()),
        [] => "the Service".to_owned(),
    }
}

/// Whether a TCP port has another target port, or a named one.
fn is_moved(port: &ServicePort) -> bool {
    port.is_tcp()
        && match &port.target_port {
            Some(TargetPort::Number(number)) => *number != port.port,
            Some(TargetPort::Name(_)) => true,
            None => false,
        }
}

/// The ports that the containers of a pod declare and the Service does not, except for Linkerd's own.
fn undeclared(service: &Service, pod: &Pod) -> BTreeSet<u16> {
    let declared: BTreeSet<u16> = service.spec.ports.iter().map(|port| port.port).collect();
    let others = pod.spec.containers.iter().filter(|container| !LINKERDS.contains(&container.name.as_str()));
    let named = others.flat_map(|container| &container.ports).map(|port| port.container_port);
    named.filter(|port| !declared.contains(port)).collect()
}
