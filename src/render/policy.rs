//! The answers of `meshdoctor policy`, for people and for programs.

use std::fmt::Write;

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};

use super::look::Look;
use super::text::{clean, harmless, wrap};
use crate::inspect::evidence::PolicyEvidence;
use crate::inspect::policy::{PortAnswer, WorkloadAnswer, taken_by};
use crate::model::policy::{Authorization, AuthorizedBy, Ignored, Inbound, InboundRoute, TakenBy, Who};
use crate::objects::Kind;

/// How many names of pods that are alike are written out.
const NAMED: usize = 3;

/// As text.
pub fn table(evidence: &PolicyEvidence<'_>, answers: &[WorkloadAnswer<'_>], look: Look) -> String {
    let mut text = String::new();
    let own = evidence.index.controller.identity_suffix();
    for answer in answers {
        let names = answer.names.iter().take(NAMED).map(|name| format!("{}/{name}", answer.namespace));
        let mut title = names.collect::<Vec<_>>().join(", ");
        if answer.names.len() > NAMED {
            _ = write!(title, " and {} more", answer.names.len() - NAMED);
        }
        if let Some((kind, name)) = answer.owner {
            _ = write!(title, "  ({kind} {name})");
        }
        _ = writeln!(text, "{} {}", answer.kind, look.strong(&clean(&title)));
        match &answer.ports {
            None => text.push_str(
                "  not injected: the policy controller does not know it, and no policy applies to it\n",
            ),
            Some(ports) if ports.is_empty() => {
                text.push_str("  no port is known; name one: NAMESPACE/POD:PORT\n")
            }
            Some(ports) => {
                let by_age = evidence.index.controller.quirks.servers_by_age;
                text.push_str(&ports_table(ports, &own, by_age, look));
            }
        }
        text.push('\n');
    }
    if answers.is_empty() {
        text.push_str("no injected pod and no ExternalWorkload\n\n");
    }
    text.push_str(&ignored(evidence, answers, look));
    harmless(&text).into_owned()
}

fn ports_table(ports: &[PortAnswer<'_>], own: &str, by_age: bool, look: Look) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(look.columns().saturating_sub(2)).unwrap_or(u16::MAX));
    table.set_header(["PORT", "SERVER", "PROTOCOL", "ALLOWED CLIENTS", "ALLOWED BY"]);
    for port in ports {
        let name = match port.names.as_slice() {
            [] => port.port.to_string(),
            names => format!("{} {}", port.port, names.join(",")),
        };
        let mut rows = admitted(&port.inbound, own);
        if port.inbound.authorizations.is_empty() {
            let by = match port.inbound.taken_by {
                TakenBy::Default(policy) => policy.to_string(),
                TakenBy::Server(_) => String::new(),
            };
            rows.insert(0, ("none".to_owned(), by));
        }
        for (at, (who, by)) in rows.into_iter().enumerate() {
            let first = |text: String| if at == 0 { text } else { String::new() };
            table.add_row([
                first(clean(&name).into_owned()),
                first(clean(&taken_by(&port.inbound)).into_owned()),
                first(port.inbound.protocol.word().to_owned()),
                clean(&who).into_owned(),
                clean(&by).into_owned(),
            ]);
        }
    }
    let mut text = String::new();
    for line in table.lines() {
        _ = writeln!(text, " {}", line.trim_end());
    }
    for port in ports.iter().filter(|port| !port.passed_over.is_empty()) {
        let (others, taken) = (port.passed_over.join(", "), taken_by(&port.inbound));
        let why = if by_age {
            format!("and is ignored: {taken} is older, or of the same age and first by name")
        } else {
            format!("and this release may apply either it or {taken}")
        };
        let said = format!("  note: {others} also selects port {}, {why}", port.port);
        _ = writeln!(text, "{}", clean(&said));
    }
    text
}

/// The authorized clients and their policies, as rows: first for the whole port, then per route.
fn admitted(inbound: &Inbound<'_>, own: &str) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> =
        inbound.authorizations.iter().map(|one| (who(one, own), by(one))).collect();
    for route in &inbound.routes {
        let on = match (&route.route, route.probe_paths.as_slice()) {
            (Some((kind, object)), _) => format!("{} {}", kind.kind(), object.metadata.name),
            (None, []) => continue,
            (None, paths) => {
                rows.push((format!("kubelet: GET {}", paths.join(", ")), "probes".to_owned()));
                continue;
            }
        };
        match route.authorizations.as_slice() {
            [] if inbound.authorizations.is_empty() => rows.push((format!("{on}: none"), String::new())),
            [] => rows.push((format!("{on}: the clients above"), "the port's policies".to_owned())),
            each => rows.extend(each.iter().map(|one| (format!("{on}: {}", who(one, own)), by(one)))),
        }
    }
    if let Some(limit) = &inbound.rate_limit {
        let spec = &limit.by.spec;
        let said = [(&spec.total, "in all"), (&spec.identity, "each client")];
        let said = said.iter().filter_map(|(limit, of)| {
            Some(format!("{} requests per second {of}", limit.as_ref()?.requests_per_second))
        });
        let said: Vec<String> = said.collect();
        rows.push((said.join(", "), format!("HTTPLocalRateLimitPolicy {}", limit.by.metadata.name)));
    }
    rows
}

/// The authorized clients; service accounts of this mesh, whose identities end in `own`, by their names.
fn who(authorization: &Authorization<'_>, own: &str) -> String {
    let who = match &authorization.who {
        Who::Anybody => "all clients".to_owned(),
        Who::Meshed => "meshed clients".to_owned(),
        Who::Identities(matches) if matches.iter().any(|one| one.to_string() == "*") => {
            "meshed clients".to_owned()
        }
        Who::Identities(matches) => {
            let short = |one: String| match one.strip_suffix(own).and_then(|rest| rest.split_once('.')) {
                Some((account, namespace)) => format!("ServiceAccount {namespace}/{account}"),
                None => one,
            };
            matches.iter().map(|one| short(one.to_string())).collect::<Vec<_>>().join(", ")
        }
    };
    let networks: Vec<String> = authorization.networks.iter().map(ToString::to_string).collect();
    let everywhere = ["0.0.0.0/0", "::/0"].iter().all(|all| networks.iter().any(|net| net == all));
    if everywhere { who } else { format!("{who} from {}", networks.join(", ")) }
}

fn by(authorization: &Authorization<'_>) -> String {
    match authorization.by {
        AuthorizedBy::Default(policy) => policy.to_string(),
        AuthorizedBy::Probe => "probes".to_owned(),
        AuthorizedBy::Policy(policy) => format!("AuthorizationPolicy {}", policy.metadata.name),
        AuthorizedBy::Server(authorization) => format!("ServerAuthorization {}", authorization.metadata.name),
    }
}

/// Ineffective objects in the selected namespaces.
fn counted_for_nothing<'e, 'a>(
    evidence: &'e PolicyEvidence<'a>,
    answers: &[WorkloadAnswer<'_>],
) -> Vec<(Kind, (&'a str, &'a str), &'e str)> {
    let here = |namespace: &str| answers.iter().any(|answer| answer.namespace == namespace);
    let by_itself =
        evidence.index.ignored().iter().map(|one: &Ignored<'a>| (one.kind, one.key, one.why.as_str()));
    let namespaces: std::collections::BTreeSet<&str> =
        answers.iter().map(|answer| answer.namespace).collect();
    let policies = namespaces.into_iter().flat_map(|namespace| evidence.index.policies(namespace));
    let dangling =
        policies.filter_map(|(policy, why)| Some((Kind::AuthorizationPolicy, policy.metadata.key(), why?)));
    let refused = evidence.refused.iter().map(|(kind, key, why)| (*kind, *key, why.as_str()));
    by_itself.chain(refused).filter(|(_, (namespace, _), _)| here(namespace)).chain(dangling).collect()
}

fn ignored(evidence: &PolicyEvidence<'_>, answers: &[WorkloadAnswer<'_>], look: Look) -> String {
    let mut text = String::new();
    let nothing = counted_for_nothing(evidence, answers);
    if !nothing.is_empty() {
        _ = writeln!(text, "{}", look.strong("No effect"));
    }
    for (kind, (namespace, name), why) in &nothing {
        let line = format!("{kind} {namespace}/{name}: {why}");
        for line in wrap(&clean(&line), look.prose().saturating_sub(2)) {
            _ = writeln!(text, "  {line}");
        }
    }
    for kind in evidence.index.void() {
        _ = writeln!(
            text,
            "  every {kind} of the cluster: this release reads none of them while one of them is unreadable"
        );
    }
    text
}

/// As JSON.
pub fn json(evidence: &PolicyEvidence<'_>, answers: &[WorkloadAnswer<'_>]) -> Value {
    let controller = &evidence.index.controller;
    let workloads: Vec<Value> = answers.iter().map(workload).collect();
    let nothing = counted_for_nothing(evidence, answers);
    let nothing = nothing.iter().map(|(kind, (namespace, name), why)| {
        json!({ "kind": kind.to_string(), "namespace": namespace, "name": name, "why": why })
    });
    json!({
        "schema": "meshdoctor.io/policy/v1",
        "linkerd": evidence.version.as_ref().map(ToString::to_string),
        "defaultPolicy": controller.default_policy.as_str(),
        "workloads": workloads,
        "ignored": nothing.collect::<Vec<_>>(),
        "kindsUnread": evidence.index.void().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "notChecked": evidence.gaps.iter().map(ToString::to_string).collect::<Vec<_>>(),
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
        "passedOver": answer.passed_over,
        "protocol": inbound.protocol.word(),
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
