//! The policies of pods as JSON.

use super::{denies_opaque, names_of};
use crate::inspect::evidence::PolicyEvidence;
use crate::inspect::policy::{PortAnswer, WorkloadAnswer, without_effect};
use crate::model::policy::{Authorization, AuthorizedBy, InboundRoute, TakenBy, Who};
use serde_json::{Value, json};

pub fn json(evidence: &PolicyEvidence<'_>, answers: &[WorkloadAnswer<'_>]) -> Value {
    let controller = &evidence.index.controller;
    let workloads: Vec<Value> = answers.iter().map(workload).collect();
    let nothing = without_effect(evidence, answers);
    let nothing = nothing.iter().map(|(kind, (namespace, name), why)| {
        json!({ "kind": kind.to_string(), "namespace": namespace, "name": name, "why": why })
    });
    json!({
        "schema": "meshdoctor.policy/1",
        "linkerd": evidence.version.as_ref().map(ToString::to_string),
        "defaultPolicy": controller.default_policy.as_str(),
        "workloads": workloads,
        "ignored": nothing.collect::<Vec<_>>(),
        "kindsUnread": evidence.index.void().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "notChecked": evidence.gaps.iter().map(ToString::to_string).chain(evidence.away.clone()).collect::<Vec<_>>(),
    })
}

fn workload(answer: &WorkloadAnswer<'_>) -> Value {
    let ports = answer.ports.as_ref().map(|ports| ports.iter().map(port).collect::<Vec<_>>());
    json!({
        "kind": answer.kind.to_string(),
        "namespace": answer.namespace,
        "names": answer.names,
        "owner": answer.owner.map(|(kind, name)| json!({ "kind": kind, "name": name })),
        "injected": answer.ports.is_some(),
        "ports": ports,
    })
}

fn port(answer: &PortAnswer<'_>) -> Value {
    let inbound = &answer.inbound;
    let taken_by = match inbound.taken_by {
        TakenBy::Server(server) => json!({"kind": "Server", "name": server.metadata.name}),
        TakenBy::Default(policy) => json!({"kind": "default", "name": policy.as_str()}),
    };
    let limit = inbound.rate_limit.as_ref().map(|limit| {
        let number = |limit: &Option<crate::objects::Limit>| limit.as_ref().map(|limit| limit.requests_per_second);
        let spec = &limit.by.spec;
        json!({ "name": limit.by.metadata.name, "total": number(&spec.total), "identity": number(&spec.identity) })
    });
    json!({
        "port": answer.port,
        "names": answer.names,
        "takenBy": taken_by,
        "passedOver": names_of(&answer.passed_over),
        "protocol": inbound.protocol.label(),
        "deniesMeshedClients": denies_opaque(answer),
        "skipsProxy": answer.skips_proxy,
        "skipsProxyFrom": answer.skips_from,
        "admits": inbound.authorizations.iter().map(authorization).collect::<Vec<_>>(),
        "routes": inbound.routes.iter().map(route).collect::<Vec<_>>(),
        "rateLimit": limit,
    })
}

fn authorization(one: &Authorization<'_>) -> Value {
    let (kind, name) = match one.by {
        AuthorizedBy::Default(policy) => ("default", policy.as_str()),
        AuthorizedBy::Probe => ("default", "probe"),
        AuthorizedBy::Policy(policy) => ("AuthorizationPolicy", policy.metadata.name.as_str()),
        AuthorizedBy::Server(authorization) => ("ServerAuthorization", authorization.metadata.name.as_str()),
    };
    let (needs, identities) = match &one.who {
        Who::Anybody => ("nothing", Vec::new()),
        Who::Meshed => ("meshTLS", Vec::new()),
        Who::Identities(matches) => ("identity", matches.iter().map(ToString::to_string).collect()),
    };
    json!({
        "by": { "kind": kind, "name": name },
        "requires": needs,
        "identities": identities,
        "networks": one.networks.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn route(one: &InboundRoute<'_>) -> Value {
    let named = one.route.as_ref();
    json!({
        "kind": named.map(|(kind, _)| kind.kind().to_string()),
        "group": named.map(|(kind, _)| kind.group()),
        "name": named.map(|(_, object)| &object.metadata.name),
        "probePaths": one.probe_paths,
        "admits": one.authorizations.iter().map(authorization).collect::<Vec<_>>(),
    })
}
