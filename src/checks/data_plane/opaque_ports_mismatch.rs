//! `opaque-ports-mismatch`: a Service and its pods disagree on opaque ports.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::opaque::{ANNOTATION, Opaque, in_force, in_force_for, of_pod, of_service};
use crate::checks::prelude::*;
use crate::checks::restart::after_change;
use crate::checks::rewrite::{self, Act, Operator};
use crate::model::annotated::Annotated;

/// Maximum number of quoted workloads.
const QUOTED: usize = 3;

/// The side that does not mark a port that the other side marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lacks {
    Service,
    Pods,
}

/// A port that one side marks: the Service's port and its target port.
type PortPair = (u16, u16);

/// The difference between a Service and its pods in one direction.
#[derive(Default)]
struct PortDifference<'a> {
    ports: BTreeSet<PortPair>,
    pods: Vec<&'a Pod>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    ctx.partial_list::<Pod>()?;
    let services = ctx.partial_list::<Service>()?;
    let by_label = ctx.selected();
    let owners = ctx.owners();
    let default = default_ports(ctx);
    let mut findings = Vec::new();
    for service in services.iter().filter(|service| ctx.judges(&service.metadata.namespace)) {
        if !has_address(service) {
            continue;
        }
        let mut differences: BTreeMap<(Lacks, bool), PortDifference<'_>> = BTreeMap::new();
        let mut seen: BTreeSet<(Owner, Option<&str>)> = BTreeSet::new();
        for pod in by_label.by(service) {
            // Replicas have the same annotation.
            if !seen.insert((owners.owner(pod), pod.metadata.annotation(ANNOTATION))) {
                continue;
            }
            for (lacks, harmless, pair) in compare(service, pod, default.as_ref()) {
                let difference = differences.entry((lacks, harmless)).or_default();
                difference.ports.insert(pair);
                if difference.pods.last().is_none_or(|last| !std::ptr::eq(*last, pod)) {
                    difference.pods.push(pod);
                }
            }
        }
        findings.extend(differences.iter().map(|((lacks, harmless), difference)| {
            let owner = difference.pods.first().map(|pod| owners.owner(pod));
            finding(ctx, service, (*lacks, *harmless), difference, owner.as_ref())
        }));
    }
    Ok(findings.into())
}

/// Whether a Service has an address and selects pods. Headless Services and ExternalNames have none.
fn has_address(service: &Service) -> bool {
    service.spec.cluster_ip.is_some() && !service.spec.selector.is_empty()
}

/// The ports that are opaque by default; `None` if unknown.
fn default_ports(ctx: &Context<'_>) -> Option<Opaque> {
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config").ok()??;
    let values = config.chart_values()?;
    Some(Opaque::parse(values.text("proxy.opaquePorts")?, &BTreeMap::new()))
}

/// The ports that only one side marks as opaque, and whether this has no effect because the port is opaque
/// by default on the other side.
fn compare(service: &Service, pod: &Pod, default: Option<&Opaque>) -> Vec<(Lacks, bool, PortPair)> {
    let of_service = of_service(service);
    let of_pod = of_pod(pod);
    if of_service.is_none() && of_pod.is_none() {
        return Vec::new();
    }
    let marks = |list: &Option<Opaque>, port| list.as_ref().is_some_and(|list| list.marks(port));
    // A list replaces the default list, so the default applies only to a side without a list.
    let by_default = |list: &Option<Opaque>, port| list.is_none() && default.is_some_and(|default| default.marks(port));
    // Only TCP goes through proxies.
    let proxied = service.spec.tcp_ports();
    let pairs = proxied.filter_map(|port| Some((port.port, port.leads_to(pod)?)));
    pairs
        .filter_map(|(port, target)| match (marks(&of_service, port), marks(&of_pod, target)) {
            // Pods without a proxy read no annotation; for them only the Service's list counts.
            (true, false) if pod.spec.proxy().is_some() => {
                Some((Lacks::Pods, by_default(&of_pod, target), (port, target)))
            }
            (false, true) => Some((Lacks::Service, by_default(&of_service, port), (port, target))),
            _ => None,
        })
        .collect()
}

fn finding(
    ctx: &Context<'_>,
    service: &Service,
    (lacks, harmless): (Lacks, bool),
    difference: &PortDifference<'_>,
    owner: Option<&Owner>,
) -> Finding {
    let (namespace, name) = (&service.metadata.namespace, &service.metadata.name);
    let of = |side: fn(&PortPair) -> u16| {
        let ports: BTreeSet<u16> = difference.ports.iter().map(side).collect();
        format!("port{} {}", if ports.len() == 1 { "" } else { "s" }, listed(ports.into_iter()))
    };
    let marked = match lacks {
        Lacks::Service => {
            format!("the pods of Service {name} mark {} as opaque, but the Service does not", of(|pair| pair.1))
        }
        Lacks::Pods => {
            format!("Service {name} marks {} as opaque, but its pods do not", of(|pair| pair.0))
        }
    };
    let effect = match (lacks, harmless) {
        (_, true) => "Nothing fails, because the port is opaque by default, but linkerd check warns about it",
        (Lacks::Service, false) => {
            "Clients of the Service still detect the protocol, which takes ten seconds if the server sends first"
        }
        (Lacks::Pods, false) => {
            "Connections of unmeshed clients, and to a pod's address, hang for ten seconds or fail if the server \
             sends first"
        }
    };
    let message = format!("{marked}. {effect}");
    let ports = difference.ports.iter().map(|(port, target)| format!("{port}, targetPort {target}"));
    let ports: Vec<String> = ports.collect();
    let object = format!("Service {namespace}/{name}");
    let path = format!("metadata.annotations[{ANNOTATION}]");
    let said = |list: Option<&str>| list.map_or_else(|| "not set".to_owned(), str::to_owned);
    let finding = ctx.finding(Subject::object(Kind::Service, namespace, name), message).parameter(match lacks {
        Lacks::Service => "service",
        Lacks::Pods => "pods",
    });
    // One Service may have both kinds of ports.
    let finding = if harmless { finding.parameter("default") } else { finding };
    finding
        .evidence(Evidence::field(&object, &path, said(service.metadata.annotation(ANNOTATION))))
        .evidence(Evidence::field(&object, "spec.ports", ports.join("; ")))
        .evidences(
            difference
                .pods
                .iter()
                .take(QUOTED)
                .map(|pod| Evidence::field(pod.described(), &path, said(pod.metadata.annotation(ANNOTATION)))),
        )
        .remedy(remedy(ctx, service, lacks, difference, owner))
}

/// `5432, 5433`.
fn listed(ports: impl Iterator<Item = u16>) -> String {
    let ports: BTreeSet<u16> = ports.collect();
    ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
}

fn remedy(
    ctx: &Context<'_>,
    service: &Service,
    lacks: Lacks,
    difference: &PortDifference<'_>,
    owner: Option<&Owner>,
) -> Remedy {
    match lacks {
        Lacks::Service => {
            let ports = difference.ports.iter().map(|(port, _)| *port).collect();
            marked(ctx, Remedy::new(), service, &ports, &format!("Add port {}", words(&ports)))
        }
        Lacks::Pods => {
            let ports: BTreeSet<u16> = difference.ports.iter().map(|(_, target)| *target).collect();
            let first = difference.pods.first().copied();
            let before = first.map(|pod| in_force_for(pod, &chart_default(ctx), &ports)).unwrap_or_default();
            let is_new = first.is_none_or(|pod| of_pod(pod).is_none());
            let list = before.with(&ports);
            let text = format!(
                "Add port {} to {ANNOTATION}{} in the pod template",
                words(&ports),
                with_defaults(is_new, &before, &ports)
            );
            let patch = json!({"spec": {"template": {"metadata": {"annotations": {ANNOTATION: list}}}}}).to_string();
            let of_list = |remedy| match owner {
                Some(owner) => rewrite::of_owners_list(remedy, owner, (ANNOTATION, Some(&list)), &before.list()),
                None => remedy,
            };
            match owner.and_then(|owner| Some((owner, owner.restartable()?))) {
                Some((owner, _)) => {
                    let by_operator = Operator::of_owner(ctx, owner).is_some();
                    let text = match by_operator {
                        true => format!("{text} ({ANNOTATION}: \"{list}\")"),
                        false => format!("{text} (also in its source manifest)"),
                    };
                    let patched = |target: &str| {
                        let call = kubectl().namespace(&owner.namespace).words("patch").operand(target);
                        call.words("--type merge -p").arg(patch)
                    };
                    let kind = StepKind::Annotation;
                    let remedy = rewrite::template_with(ctx, Remedy::new(), kind, &text, owner, patched);
                    let remedy = other_services(ctx, of_list(remedy), service, difference);
                    if by_operator {
                        return remedy;
                    }
                    after_change(ctx, remedy, &owner.kind, &owner.namespace, &owner.name)
                }
                None => {
                    let text = format!("{text}: {ANNOTATION}: \"{list}\"");
                    let remedy = of_list(Remedy::new().step(StepKind::Annotation, text));
                    other_services(ctx, remedy, service, difference)
                }
            }
        }
    }
}

/// The default ports, for a list that replaces them: those of the chart if they are unknown.
fn chart_default(ctx: &Context<'_>) -> Opaque {
    let ports = || ctx.knowledge.protocols().default_opaque.iter().copied().collect();
    default_ports(ctx).unwrap_or_else(|| Opaque::parse(&Opaque::default().with(&ports()), &BTreeMap::new()))
}

/// The part of an instruction about default ports that a new list must contain.
fn with_defaults(is_new: bool, before: &Opaque, ports: &BTreeSet<u16>) -> &'static str {
    match is_new && before.with(ports) != Opaque::default().with(ports) {
        true => ", with the default ports that the list replaces,",
        false => "",
    }
}

/// Adds the step that marks ports on a Service, in addition to those in force.
fn marked(ctx: &Context<'_>, remedy: Remedy, service: &Service, ports: &BTreeSet<u16>, act: &str) -> Remedy {
    let before = in_force(service, &chart_default(ctx));
    let list = before.with(ports);
    let act = format!("{act} to {ANNOTATION}{}", with_defaults(of_service(service).is_none(), &before, ports));
    let object = Annotated::service(service);
    let change = (ANNOTATION, Some(list.as_str()));
    let remedy = rewrite::own(remedy, Act::Put(&act), &object, &[change]);
    rewrite::of_list(remedy, &object, change, &before.list())
}

fn words(ports: &BTreeSet<u16>) -> String {
    listed(ports.iter().copied())
}

/// Adds the steps that mark the ports on the other Services of the same pods: once the pods mark them, these
/// Services would differ from the pods.
fn other_services(ctx: &Context<'_>, remedy: Remedy, service: &Service, difference: &PortDifference<'_>) -> Remedy {
    let targets: BTreeSet<u16> = difference.ports.iter().map(|(_, target)| *target).collect();
    let selected = ctx.selected();
    let others = ctx.optional_list::<Service>().iter().filter(|other| {
        other.metadata.key() != service.metadata.key()
            && other.metadata.namespace == service.metadata.namespace
            && has_address(other)
    });
    others.fold(remedy, |remedy, other| {
        let pods = selected.by(other);
        let Some(pod) = pods.into_iter().find(|pod| difference.pods.iter().any(|one| std::ptr::eq(*one, *pod))) else {
            return remedy;
        };
        let own = of_service(other);
        let missing: BTreeSet<u16> = other
            .spec
            .tcp_ports()
            .filter(|port| port.leads_to(pod).is_some_and(|target| targets.contains(&target)))
            .map(|port| port.port)
            .filter(|port| own.as_ref().is_none_or(|list| !list.marks(*port)))
            .collect();
        if missing.is_empty() {
            return remedy;
        }
        let act = format!(
            "Also add port {} of Service {}, which selects the same pods,",
            words(&missing),
            other.metadata.name
        );
        marked(ctx, remedy, other, &missing, &act)
    })
}
