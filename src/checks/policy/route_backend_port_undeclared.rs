//! `route-backend-port-undeclared`: a route's rule sends requests or connections to a port that the backend Service
//! does not declare.

use std::collections::{BTreeMap, BTreeSet};

use super::backends::{ServiceKey, is_of_streams, parents, routes, sent, served_by};
use super::survey::{about, field, on, put, set, test};
use crate::checks::prelude::*;
use crate::objects::Route;
use crate::objects::service::ServicePort;

/// A port that a Service does not declare, and the rules that name it.
type Undeclared<'a> = BTreeMap<(ServiceKey<'a>, i64), (&'a Service, Vec<usize>)>;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.complete_list::<Service>()?;
    let routes = routes(ctx)?;
    if routes.is_empty() {
        return Ok(Verdict::fine());
    }
    let services: BTreeMap<ServiceKey<'_>, &Service> =
        services.iter().map(|service| (service.metadata.key(), service)).collect();
    let findings = routes.into_iter().flat_map(|(kind, route)| {
        let each = undeclared(route, &services).into_iter();
        each.map(move |((_, port), (service, rules))| finding(ctx, (kind, route), (service, port), &rules))
    });
    Ok(findings.collect())
}

fn undeclared<'a>(route: &'a Route, services: &BTreeMap<ServiceKey<'a>, &'a Service>) -> Undeclared<'a> {
    let mut found = Undeclared::new();
    let parents: BTreeSet<ServiceKey<'a>> = parents(route).collect();
    let rules = || route.spec.rules.iter().enumerate();
    for (parent, (at, rule)) in parents.into_iter().flat_map(|parent| rules().map(move |rule| (parent, rule))) {
        for backend in sent(&rule.backend_refs) {
            let key = served_by(backend, parent);
            let (Some(port), Some(service)) = (backend.port, services.get(&key)) else { continue };
            let declares = service.spec.ports.iter().any(|known| i64::from(known.port) == port);
            // Calls of a Service without a cluster address go to ports of its pods.
            if declares || service.spec.cluster_ip.headless || service.spec.kind.as_str() == "ExternalName" {
                continue;
            }
            let (_, rules) = found.entry((key, port)).or_insert((*service, Vec::new()));
            if !rules.contains(&at) {
                rules.push(at);
            }
        }
    }
    found
}

fn finding(
    ctx: &Context<'_>,
    (kind, route): (Kind, &Route),
    (service, port): (&Service, i64),
    rules: &[usize],
) -> Finding {
    let meta = &route.metadata;
    let (namespace, name) = service.metadata.key();
    let declared: Vec<String> = service.spec.ports.iter().map(|port| port.port.to_string()).collect();
    let declared = declared.join(", ");
    let effect = match is_of_streams(kind) {
        true => "Connections fail".to_owned(),
        false => format!("Requests fail with {}", ctx.knowledge.calls().backend_port),
    };
    let message = format!(
        "The backend, port {port} of Service {namespace}/{name}, does not exist: the Service does not declare the \
         port. {effect}"
    );
    let named = rules.iter().map(|at| {
        let path = format!("spec.rules[{at}].backendRefs");
        field(kind, meta, &path, format!("{name}, port {port}"))
    });
    about(ctx, kind, meta, message)
        .parameter(format!("{namespace}/{name}:{port}"))
        .evidences(named)
        .evidence(field(Kind::Service, &service.metadata, "spec.ports", declared.clone()))
        .remedy(Remedy::new().command(
            format!("Name a port that the Service declares ({declared}) in backendRefs"),
            match target(service, port) {
                Some(declared) => set(kind, meta, corrected(route, (service, port), rules, declared)),
                None => on("edit", kind, meta),
            },
        ))
}

/// The port of a Service that leads to a port of its containers, or its only port.
pub(super) fn target(service: &Service, port: i64) -> Option<u16> {
    let ports = &service.spec.ports;
    let leads = |known: &&ServicePort| known.target() == port.to_string();
    let only = || ports.first().filter(|_| ports.len() == 1);
    ports.iter().find(leads).or_else(only).map(|known| known.port)
}

/// The operations that name another port in each reference to this one.
fn corrected(
    route: &Route,
    (service, port): (&Service, i64),
    rules: &[usize],
    declared: u16,
) -> Vec<serde_json::Value> {
    let name = service.metadata.name.as_str();
    let rules = rules.iter().filter_map(|at| Some((at, route.spec.rules.get(*at)?)));
    let references = rules.flat_map(|(at, rule)| rule.backend_refs.iter().enumerate().map(move |(i, to)| (at, i, to)));
    let wrong = references.filter(|(_, _, to)| to.is_a("", "Service") && to.name == name && to.port == Some(port));
    wrong
        .flat_map(|(at, i, _)| {
            let path = format!("/spec/rules/{at}/backendRefs/{i}");
            [test(format!("{path}/name"), name), put(format!("{path}/port"), declared)]
        })
        .collect()
}
