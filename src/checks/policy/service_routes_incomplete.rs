//! `service-routes-incomplete`: a Service has routes, and some requests to it match none of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::backends::{attached, service_of};
use super::survey::{Survey, about, defined, field, on, put, removal, set, survey};
use crate::checks::prelude::*;
use crate::model::policy::{Outbound, OutboundIndex, OutboundObjects, RouteKind, Spoken, Timeouts};
use crate::objects::{GRPCRoute, HTTPRoute, LinkerdHTTPRoute, Route};

/// Maximum number of quoted routes.
const QUOTED: usize = 4;

/// Beginnings of the annotations that set timeouts and retries for all rules of a route.
const SETTINGS: [&str; 2] = ["timeout.linkerd.io/", "retry.linkerd.io/"];

/// Routes that leave requests out, by the first of them.
struct Incomplete<'a> {
    service: &'a Service,
    ports: BTreeSet<u16>,
    outbound: Outbound<'a>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let routes = vec![
        (RouteKind::Http, defined::<HTTPRoute>(ctx)?),
        (RouteKind::LinkerdHttp, defined::<LinkerdHTTPRoute>(ctx)?),
        (RouteKind::Grpc, defined::<GRPCRoute>(ctx)?),
    ];
    let services = ctx.complete_list::<Service>()?;
    let clients = namespaces_of_clients(&routes);
    if clients.is_empty() {
        return Ok(Verdict::fine());
    }
    let objects = OutboundObjects { services, egress_networks: &[], routes };
    let index = OutboundIndex::new(survey.index.controller.clone(), &objects);
    let mut found: BTreeMap<Subject, Incomplete<'_>> = BTreeMap::new();
    for service in services {
        let key = service.metadata.key();
        for (from, port) in clients.get(&key).into_iter().flatten().flat_map(|from| ports(from, service)) {
            let outbound = index.of_service(key, port, from);
            let is_of_requests =
                matches!(outbound.spoken, Spoken::Detect | Spoken::Http1 | Spoken::Http2 | Spoken::Grpc);
            let Some(first) = outbound.routes.first().filter(|_| is_of_requests) else { continue };
            let meta = &first.route.metadata;
            if !ctx.judges(&meta.namespace) || is_complete(survey, key, &outbound) {
                continue;
            }
            let subject = Subject::object(first.kind.kind(), &meta.namespace, &meta.name);
            let one = Incomplete { service, ports: BTreeSet::new(), outbound };
            found.entry(subject).or_insert(one).ports.insert(port);
        }
    }
    Ok(found.values().filter_map(|one| finding(ctx, survey, one)).collect())
}

/// The namespaces in which a route of a Service applies, by Service: that of the Service for all clients, another one
/// for its own.
fn namespaces_of_clients<'a>(routes: &[(RouteKind, &'a [Route])]) -> BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>> {
    let mut namespaces: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for route in routes.iter().flat_map(|(_, routes)| *routes) {
        for parent in attached(route) {
            namespaces.entry(service_of(route, parent)).or_default().insert(&route.metadata.namespace);
        }
    }
    namespaces
}

fn ports<'s>(from: &'s str, service: &'s Service) -> impl Iterator<Item = (&'s str, u16)> {
    service.spec.ports.iter().filter(|port| port.protocol != "UDP").map(move |port| (from, port.port))
}

/// Whether each request that names the Service matches a rule.
fn is_complete(survey: &Survey<'_>, service: (&str, &str), outbound: &Outbound<'_>) -> bool {
    let mut named = outbound.routes.iter().filter(|route| is_of_name(survey, service, route.route));
    named.any(|route| route.rules.iter().any(|rule| rule.rule.matches_everything()))
}

/// Whether a route applies to requests that name the Service as its clients do.
fn is_of_name(survey: &Survey<'_>, (namespace, name): (&str, &str), route: &Route) -> bool {
    let full = format!("{name}.{namespace}.svc.{}", survey.index.controller.cluster_domain);
    let short = [name.to_owned(), format!("{name}.{namespace}"), format!("{name}.{namespace}.svc"), full];
    let hosts = &route.spec.hostnames;
    hosts.is_empty()
        || hosts.iter().any(|host| match host.strip_prefix('*') {
            Some(suffix) => short.iter().any(|one| one.ends_with(suffix)),
            None => short.contains(host),
        })
}

fn finding(ctx: &Context<'_>, survey: &Survey<'_>, found: &Incomplete<'_>) -> Option<Finding> {
    let Incomplete { service, ports, outbound } = found;
    let first = outbound.routes.first()?;
    let (kind, meta) = (first.kind.kind(), &first.route.metadata);
    let key = service.metadata.key();
    let answer = if first.kind == RouteKind::Grpc { "NOT_FOUND" } else { "404" };
    let named: Vec<_> = outbound.routes.iter().filter(|route| is_of_name(survey, key, route.route)).collect();
    let name = format!("{}/{}", key.0, key.1);
    let (message, path, remedy) = match named.first() {
        None => (
            format!(
                "The route only matches requests for other host names. Requests to Service {name} by its own name \
                 match no route, and the client's proxy answers {answer}"
            ),
            "spec.hostnames",
            without_hosts(first.kind, first.route),
        ),
        Some(_) => (
            format!(
                "A Service with routes has no default: the client's proxy answers requests to Service {name} that \
                 match no rule with {answer}"
            ),
            "spec.rules",
            with_default(first.kind, meta, key, ports),
        ),
    };
    let quoted = outbound.routes.iter().take(QUOTED).map(|route| {
        let said = match path {
            "spec.hostnames" => route.route.spec.hostnames.join(", "),
            _ => "no rule matches every request".to_owned(),
        };
        field(route.kind.kind(), &route.route.metadata, path, said)
    });
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    let finding = about(ctx, kind, meta, message)
        .likely()
        .evidences(quoted)
        .evidence(Evidence::other(format!("ports of Service {name}"), ports.join(", ")))
        .remedy(remedy);
    // A list of the allowed requests can be meant; settings for some requests hardly mean to refuse the others.
    let is_meant = !named.is_empty() && !is_tuned(outbound);
    Some(if is_meant { finding.severity(Severity::Info) } else { finding })
}

/// Whether the routes exist for settings or a split, and not to list what is allowed.
fn is_tuned(outbound: &Outbound<'_>) -> bool {
    outbound
        .routes
        .iter()
        .flat_map(|route| &route.rules)
        .any(|rule| rule.timeouts != Timeouts::default() || rule.retry.is_some() || rule.backends.len() > 1)
}

/// The step that lets a route apply to all host names.
fn without_hosts(kind: RouteKind, route: &Route) -> Remedy {
    let meta = &route.metadata;
    let of_others = route.spec.parent_refs.iter().any(|parent| !parent.is_a("", "Service"));
    let remedy = match of_others {
        true => {
            Remedy::new().note("Put the parents that are not Services into a route of their own, with the host names")
        }
        false => Remedy::new(),
    };
    let removed = json!([removal("/spec/hostnames")]).to_string();
    remedy.run(
        StepKind::Command,
        "Remove the host names from the route (leave them if its clients only call those hosts)",
        on("patch", kind.kind(), meta).words("--type=json -p").arg(removed),
    )
}

/// The step that adds a rule for all other requests.
fn with_default(kind: RouteKind, meta: &Meta, (namespace, name): (&str, &str), ports: &BTreeSet<u16>) -> Remedy {
    let port = ports.first().copied().unwrap_or_default();
    let mut backend = json!({"group": "", "kind": "Service", "name": name, "port": port});
    if namespace != meta.namespace {
        backend["namespace"] = namespace.into();
    }
    let rule = put("/spec/rules/-", json!({"backendRefs": [backend]}));
    let is_set = meta.annotations.keys().any(|key| SETTINGS.iter().any(|prefix| key.starts_with(prefix)));
    let also = match is_set {
        true => {
            ". The timeouts and retries in the route's annotations then apply to them too, unless you put the rule \
             into another route"
        }
        false => "",
    };
    let act = format!(
        "Add a rule without conditions, which sends all other requests to the Service (leave the route as it is to \
         refuse them){also}"
    );
    Remedy::new().command(act, set(kind.kind(), meta, [rule]))
}
