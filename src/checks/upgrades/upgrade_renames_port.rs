//! `upgrade-renames-port`: a user's object refers to a port name of the control plane that the target
//! changes.

use std::collections::BTreeSet;

use super::Upgrade;
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::knowledge::RenamedPort;
use crate::objects::{
    DaemonSet, LabelSelector, Listed, Monitor, NetworkPolicy, PodMonitor, Server, ServerPort, ServiceMonitor,
    TargetPort,
};
use crate::version::EdgeTag;

/// The annotation of objects from Linkerd's own charts, which are upgraded with them.
const CREATED_BY: &str = "linkerd.io/created-by";
/// The label that Prometheus relabelings compare with port names.
const PORT_NAME: &str = "__meta_kubernetes_pod_container_port_name";

/// Workloads that have such ports now.
struct Renaming<'a> {
    since: EdgeTag,
    names: &'a [RenamedPort],
    workloads: Vec<&'a Workload>,
}

impl Renaming<'_> {
    /// The new names of a port on pods that a selector in a namespace matches.
    fn new_names(&self, port: &str, namespace: &str, selector: &LabelSelector) -> BTreeSet<&str> {
        let here = self.workloads.iter().filter(|workload| workload.metadata.namespace == namespace);
        let selected = here.filter(|workload| selector.matches(&workload.spec.template.metadata.labels));
        let containers = selected.flat_map(|workload| workload.spec.template.spec.all_containers());
        let renamed = containers.flat_map(|container| {
            self.names.iter().filter(move |row| row.container == container.name && row.old == port)
        });
        renamed.map(|row| row.new.as_str()).collect()
    }

    /// The old names that a regular expression matches.
    fn in_expression(&self, regex: &str) -> BTreeSet<&str> {
        let whole = |name: &str| {
            regex.match_indices(name).any(|(at, _)| {
                let word = |c: char| c.is_ascii_alphanumeric() || c == '-';
                !regex[..at].ends_with(word) && !regex[at + name.len()..].starts_with(word)
            })
        };
        // `grpc` is a common port name, and an expression does not identify the workload.
        let old = self.names.iter().map(|row| row.old.as_str()).filter(|old| old.contains('-'));
        old.filter(|old| whole(old)).collect()
    }
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let deployments = ctx.complete_list::<Deployment>()?;
    let daemon_sets = ctx.optional_list::<DaemonSet>();
    let policies = ctx.partial_list::<NetworkPolicy>();
    let servers = ctx.partial_list::<Server>();
    let (pods, services) = (monitors::<PodMonitor>(ctx), monitors::<ServiceMonitor>(ctx));
    let (policies, servers, pods, services) = (policies?, servers?, pods?, services?);
    let Some((since, names)) = ctx.knowledge.upgrades().renamed_ports(way.between(ctx)) else {
        return Ok(Verdict::fine());
    };
    let homes = ctx.namespaces();
    let is_ours = |workload: &&Workload| {
        let namespace = &workload.metadata.namespace;
        *namespace == homes.control_plane || *namespace == homes.cni
    };
    let workloads = deployments.iter().chain(daemon_sets).filter(is_ours).collect();
    let renaming = Renaming { since, names, workloads };
    let mut findings = Vec::new();
    let foreign = |meta: &Meta| meta.annotation(CREATED_BY).is_none();
    for policy in policies.iter().filter(|policy| foreign(&policy.metadata)) {
        let (namespace, spec) = (&policy.metadata.namespace, &policy.spec);
        let ports = spec.ingress.iter().flat_map(|rule| &rule.ports).filter_map(|port| match &port.port {
            Some(TargetPort::Name(name)) => Some(name.as_str()),
            _ => None,
        });
        let named: BTreeSet<&str> = ports.collect();
        let field = "spec.ingress[].ports[].port";
        findings.extend(reference_finding(
            ctx,
            &way,
            &renaming,
            Kind::NetworkPolicy,
            &policy.metadata,
            field,
            named,
            |port| renaming.new_names(port, namespace, &spec.pod_selector),
        ));
    }
    for server in servers.iter().filter(|server| foreign(&server.metadata)) {
        let (Some(ServerPort::Name(name)), Some(selector)) = (&server.spec.port, &server.spec.pod_selector) else {
            continue;
        };
        let namespace = &server.metadata.namespace;
        let named = BTreeSet::from([name.as_str()]);
        findings.extend(reference_finding(
            ctx,
            &way,
            &renaming,
            Kind::Server,
            &server.metadata,
            "spec.port",
            named,
            |port| renaming.new_names(port, namespace, selector),
        ));
    }
    for (kind, monitors) in [(Kind::PodMonitor, pods), (Kind::ServiceMonitor, services)] {
        for monitor in monitors.iter().filter(|monitor| foreign(&monitor.metadata)) {
            findings.extend(of_monitor(ctx, &way, &renaming, kind, monitor));
        }
    }
    Ok(findings.into())
}

/// The monitors of a kind; empty if no CRD defines it, as without a Prometheus operator.
fn monitors<'a, K: Listed<Object = Monitor>>(ctx: &Context<'a>) -> Result<&'a [Monitor], Missing> {
    ctx.partial_list::<K>().or_else(|missing| match missing.why {
        Why::NotServed => defined::<K>(ctx),
        _ => Err(missing),
    })
}

fn of_monitor(
    ctx: &Context<'_>,
    way: &Upgrade<'_>,
    renaming: &Renaming<'_>,
    kind: Kind,
    monitor: &Monitor,
) -> Option<Finding> {
    let spec = &monitor.spec;
    let mut named = BTreeSet::new();
    for endpoint in &spec.endpoints {
        // `port` in a ServiceMonitor names ports of Services, which keep their names.
        if kind == Kind::PodMonitor && !endpoint.port.is_empty() {
            named.insert(endpoint.port.as_str());
        }
        if let Some(TargetPort::Name(name)) = &endpoint.target_port {
            named.insert(name.as_str());
        }
    }
    let homes: BTreeSet<&str> =
        renaming.workloads.iter().map(|workload| workload.metadata.namespace.as_str()).collect();
    let looked_into: Vec<&str> = homes.into_iter().filter(|home| monitor.looks_into(home)).collect();
    // A ServiceMonitor selects Services; their pods may be any in the namespace.
    let any = LabelSelector::default();
    let selector = if kind == Kind::PodMonitor { &spec.selector } else { &any };
    let new_names = |port: &str| -> BTreeSet<&str> {
        looked_into.iter().flat_map(|home| renaming.new_names(port, home, selector)).collect()
    };
    let by_name = reference_finding(
        ctx,
        way,
        renaming,
        kind,
        &monitor.metadata,
        "spec.podMetricsEndpoints[].port",
        named,
        new_names,
    );
    if by_name.is_some() || looked_into.is_empty() {
        return by_name;
    }
    let compares = |label: &String| label == PORT_NAME;
    let rules = spec.endpoints.iter().flat_map(|endpoint| &endpoint.relabelings);
    let old = rules
        .filter(|rule| rule.source_labels.iter().any(compares))
        .flat_map(|rule| renaming.in_expression(&rule.regex));
    let field = "spec.podMetricsEndpoints[].relabelings[].regex";
    let new_names = |old: &str| -> BTreeSet<&str> {
        renaming.names.iter().filter(|row| row.old == old).map(|row| row.new.as_str()).collect()
    };
    reference_finding(ctx, way, renaming, kind, &monitor.metadata, field, old.collect(), new_names)
}

/// The finding for an object that refers to ports; `None` if all of them keep their names.
#[allow(clippy::too_many_arguments, reason = "each is listed with the object in the finding")]
fn reference_finding<'n>(
    ctx: &Context<'_>,
    way: &Upgrade<'_>,
    renaming: &Renaming<'_>,
    kind: Kind,
    meta: &Meta,
    field: &str,
    named: BTreeSet<&str>,
    new_names: impl Fn(&str) -> BTreeSet<&'n str>,
) -> Option<Finding> {
    let pairs: Vec<(&str, BTreeSet<&str>)> =
        named.into_iter().map(|port| (port, new_names(port))).filter(|(_, new)| !new.is_empty()).collect();
    let (old, _) = pairs.first()?;
    let old = *old;
    let new: BTreeSet<&str> = pairs.iter().flat_map(|(_, new)| new).copied().collect();
    let new = new.into_iter().collect::<Vec<_>>().join(", ");
    let all = pairs.iter().map(|(port, _)| *port).collect::<Vec<_>>().join(", ");
    let (what, then) = match kind {
        Kind::NetworkPolicy => ("allows connections to", "allows no connection there"),
        Kind::Server => ("selects", "selects no port"),
        _ => ("scrapes metrics from", "finds no target"),
    };
    let message = format!(
        "The {kind} {what} port {old} of the control plane by name. From {} on, containers name it {new}, \
         and the {kind} {then}",
        renaming.since
    );
    let subject = Subject::object(kind, &meta.namespace, &meta.name);
    let field = match kind {
        Kind::ServiceMonitor => field.replace("podMetricsEndpoints", "endpoints").replace("[].port", "[].targetPort"),
        _ => field.to_owned(),
    };
    let step = format!(
        "Name {new} in place of {all}: both during the upgrade, or as its first step after the control \
         plane"
    );
    Some(
        ctx.finding(subject.clone(), message)
            .evidence(Evidence::field(subject, field, all))
            .evidence(way.target.clone())
            .remedy(Remedy::new().note(step)),
    )
}
