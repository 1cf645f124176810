//! Step of a walk for outbound policy: the effective routes of a Service, and whether an outside address may
//! be called.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::outbound::catches_all;
use super::route_order::{RuleOfRoute, effective_rules};
use super::steps::{Condition, End, Outcome, Part, Walk};
use crate::finding::{Evidence, Subject};
use crate::knowledge::{Calls, policy_duration};
use crate::model::policy::{Backend, Destination, Outbound, OutboundIndex, OutboundRule, Parent, Spoken, Timeouts};
use crate::objects::{DstOverride, Kind, Pod, Service, ServiceProfile};

/// The next destination after the routes.
pub(super) enum Next {
    /// The call ends.
    Ends,
    /// To the Service itself.
    Service,
    /// To these Services: namespace, name and port of each.
    Backends(Vec<(String, String, u16)>),
}

/// Evaluates the routes and profiles for a port. Returns the next destination.
pub(super) fn service(
    walk: &mut Walk,
    index: &OutboundIndex<'_>,
    profile: Option<&ServiceProfile>,
    outbound: &Outbound<'_>,
    (service, port): (&Service, u16),
    calls: &Calls,
    exists: impl Fn(&str, &str) -> bool,
) -> Next {
    if let Some(profile) = profile {
        return by_profile(walk, profile, calls, exists);
    }
    if outbound.routes.is_empty() {
        let waiting: Vec<String> = index
            .unjudged(service.metadata.key())
            .map(|(kind, route)| format!("{} {}", kind.kind(), route.metadata.name))
            .collect();
        let timeouts = outbound.own_timeouts();
        if timeouts.fails_at_once() {
            times_out(walk, service, calls);
            return Next::Ends;
        }
        if waiting.is_empty() {
            let limit = limits([timeouts], calls);
            let says = format!("no route and no profile is attached: requests go to the Service itself{limit}");
            walk.step(Part::Routes, Outcome::Passes, says).only_if(within([timeouts], calls));
        } else {
            let says = format!("{}: the policy controller has not accepted or rejected it yet", waiting.join(", "));
            walk.step(Part::Routes, Outcome::NotJudged, says);
        }
        return Next::Service;
    }
    by_routes(walk, outbound, (service, port), calls)
}

/// The call ends: an annotation of the Service sets a timeout of 0.
fn times_out(walk: &mut Walk, service: &Service, calls: &Calls) {
    let (namespace, name) = service.metadata.key();
    let zero = ["timeout.linkerd.io/request", "timeout.linkerd.io/response"].into_iter().find_map(|key| {
        let value = service.metadata.annotation(key)?;
        policy_duration(value).filter(Duration::is_zero).map(|_| (key, value))
    });
    let (key, value) = zero.unwrap_or_default();
    let says = format!("{key} of Service {name} is {value:?}: requests time out at once and get {}", calls.timed_out);
    walk.step(Part::Routes, Outcome::Stops, says)
        .evidence(Evidence::field(
            Subject::object(Kind::Service, namespace, name),
            format!("metadata.annotations[{key}]"),
            value,
        ))
        .fix(format!("remove {key}, which means no timeout, or set a time such as 10s"));
}

/// The timeouts of requests, as the end of a sentence.
fn limits(timeouts: impl IntoIterator<Item = Timeouts>, calls: &Calls) -> String {
    let limits = timeouts.into_iter().flat_map(|limits| [limits.request, limits.response]).flatten();
    match limits.min() {
        Some(limit) => {
            format!("; requests that take longer than {} ms get {}", limit.as_millis(), calls.timed_out)
        }
        None => String::new(),
    }
}

/// The timeout of requests as a condition, if all of them have the same.
fn within(timeouts: impl IntoIterator<Item = Timeouts>, calls: &Calls) -> Option<Condition> {
    let mut limits = timeouts.into_iter().map(|limits| [limits.request, limits.response].into_iter().flatten().min());
    let first = limits.next()??;
    let words = || format!("within {} ms (then {})", first.as_millis(), calls.timed_out);
    limits.all(|limit| limit == Some(first)).then(|| Condition::Limit(words()))
}

fn by_profile(walk: &mut Walk, profile: &ServiceProfile, calls: &Calls, exists: impl Fn(&str, &str) -> bool) -> Next {
    if profile.spec.dst_overrides.iter().any(DstOverride::has_share) {
        return by_overrides(walk, profile, exists);
    }
    let limit = if profile.spec.routes.iter().any(|route| !route.timeout.is_empty()) {
        format!("; requests of its routes that exceed their timeout get {}", calls.timed_out)
    } else {
        String::new()
    };
    let says =
        format!("the routes of a ServiceProfile apply; HTTPRoutes and GRPCRoutes of the Service have no effect{limit}");
    walk.step(Part::Routes, Outcome::Passes, says).evidence(Evidence::field(
        of_profile(profile),
        "spec.routes",
        profile.spec.routes.len().to_string(),
    ));
    Next::Service
}

fn of_profile(profile: &ServiceProfile) -> Subject {
    Subject::object(Kind::ServiceProfile, &profile.metadata.namespace, &profile.metadata.name)
}

/// Continues with the Services of a profile's overrides. Others than Services of the cluster are unknown.
fn by_overrides(walk: &mut Walk, profile: &ServiceProfile, exists: impl Fn(&str, &str) -> bool) -> Next {
    let all: Vec<&DstOverride> = profile.spec.dst_overrides.iter().filter(|one| one.has_share()).collect();
    let listed: Vec<&str> = all.iter().map(|one| one.authority.as_str()).collect();
    let listed = listed.join(", ");
    let seen = Evidence::field(of_profile(profile), "spec.dstOverrides", listed.as_str());
    let domain = profile.service().map_or("", |(.., domain)| domain);
    let services: Option<Vec<_>> = all.iter().map(|one| one.service(domain)).collect();
    let Some(services) = services else {
        let says = format!("a ServiceProfile sends the requests to {listed}");
        walk.step(Part::Routes, Outcome::NotJudged, says).evidence(seen);
        return Next::Service;
    };
    let (there, missing): (Vec<_>, Vec<_>) =
        services.into_iter().partition(|(namespace, name, _)| exists(namespace, name));
    let lost: Vec<String> = missing.iter().map(|(namespace, name, _)| format!("{namespace}/{name}")).collect();
    let lost = lost.join(", ");
    let (outcome, says) = match (there.is_empty(), missing.is_empty()) {
        (_, true) => (Outcome::Passes, format!("a ServiceProfile sends the requests to {listed}")),
        (true, false) => (
            Outcome::Stops,
            format!("a ServiceProfile sends the requests to Service {lost}, which does not exist: they fail"),
        ),
        (false, false) => (
            Outcome::Partly,
            format!("a ServiceProfile sends a part of the requests to Service {lost}, which does not exist: it fails"),
        ),
    };
    let step = walk.step(Part::Routes, outcome, says).evidence(seen);
    if outcome != Outcome::Passes {
        step.fix("remove the override, or create the Service");
    }
    if outcome == Outcome::Stops {
        return Next::Ends;
    }
    let each = there.into_iter().map(|(namespace, name, port)| (namespace.to_owned(), name.to_owned(), port));
    Next::Backends(each.collect())
}

/// Whether all requests that a rule matches fail; `None` if none does.
fn failing(outbound: &Outbound<'_>, rule: &OutboundRule<'_>, calls: &Calls) -> Option<(bool, String)> {
    // A redirect needs no time.
    if outbound.timeouts_of(rule).fails_at_once() && !redirects(rule) {
        return Some((true, format!("their timeout is 0 ({})", calls.timed_out)));
    }
    let weighted = || rule.backends.iter().filter(|backend| backend.weight > 0);
    let said = |backend: &Backend<'_>| {
        let why = backend.to.fails(&backend.named.name)?;
        let get = match backend.to {
            Destination::Service { .. } => &calls.backend_port,
            _ => &calls.backend_missing,
        };
        Some(format!("{why} ({get})"))
    };
    let mut why: Vec<String> = weighted().filter_map(said).collect();
    why.dedup();
    let all = weighted().all(|backend| backend.to.fails(&backend.named.name).is_some());
    (!why.is_empty()).then(|| (all, why.join("; ")))
}

/// Whether all backends of a rule have the weight 0.
fn is_unweighted(rule: &OutboundRule<'_>) -> bool {
    !rule.backends.is_empty() && rule.backends.iter().all(|backend| backend.weight == 0)
}

/// Whether a rule answers requests itself, with a redirect.
fn redirects(rule: &OutboundRule<'_>) -> bool {
    rule.rule.filters.iter().any(|filter| filter.request_redirect.is_some())
}

fn by_routes(walk: &mut Walk, outbound: &Outbound<'_>, (service, port): (&Service, u16), calls: &Calls) -> Next {
    let effective = effective_rules(outbound);
    let names = names(&effective);
    let rules: Vec<&OutboundRule<'_>> = effective.iter().map(|one| one.rule).collect();
    let failures: Vec<(bool, String)> = rules.iter().filter_map(|rule| failing(outbound, rule, calls)).collect();
    let why = failures.iter().map(|(_, why)| why.as_str()).collect::<Vec<_>>().join("; ");
    let fails = !failures.is_empty() && failures.len() == rules.len() && failures.iter().all(|(all, _)| *all);
    let redirected = rules.iter().filter(|rule| redirects(rule)).count();
    let everything = catches_all(outbound);
    let backends = backends(&rules, service, port);
    let timeouts = || rules.iter().map(|rule| outbound.timeouts_of(rule));
    let limit = limits(timeouts(), calls);
    let (outcome, says) = if fails {
        (Outcome::Stops, format!("{names}: every request that it matches fails: {why}"))
    } else if rules.iter().any(|rule| is_unweighted(rule)) {
        let says =
            format!("{names}: all backends of a rule have the weight 0; the result of its requests is not known");
        (Outcome::NotJudged, says)
    } else if redirected > 0 && redirected == rules.len() && everything {
        (Outcome::Stops, format!("{names}: every request gets {}, and none reaches the Service", calls.redirected))
    } else if !failures.is_empty() {
        (Outcome::Partly, format!("{names}: some of the requests fail: {why}"))
    } else if redirected > 0 {
        (Outcome::NotJudged, format!("{names}: some requests get {}", calls.redirected))
    } else if !everything && outbound.spoken != Spoken::Opaque {
        let says = match outbound.spoken {
            Spoken::Tls => format!(
                "{names}: connections to a server name that no route has fail; the server name of this one is not known"
            ),
            _ => format!(
                "{names}: requests that no rule matches get {}; whether this request matches is not known",
                calls.no_route
            ),
        };
        (Outcome::NotJudged, says)
    } else {
        let to: Vec<String> =
            backends.iter().map(|(namespace, name, port)| format!("{namespace}/{name}:{port}")).collect();
        (Outcome::Passes, format!("{names} sends requests to {}{limit}", to.join(", ")))
    };
    let first = effective.first().map_or(&outbound.routes[0], |one| one.route);
    let step = walk.step(Part::Routes, outcome, says).evidence(Evidence::field(
        Subject::object(first.kind.kind(), &first.route.metadata.namespace, &first.route.metadata.name),
        "spec.parentRefs",
        format!("Service {}", service.metadata.name),
    ));
    if outcome == Outcome::Stops && failures.is_empty() {
        step.only_if(Some(Condition::Limit(format!("every request gets {}", calls.redirected))));
    }
    if outcome == Outcome::Passes {
        step.only_if(within(timeouts(), calls));
    }
    if !failures.is_empty() {
        let timed_out = timeouts().any(|limits| limits.fails_at_once());
        step.fix(match timed_out {
            true => "remove the timeout annotations of 0, which means no timeout, or set a time such as 10s",
            false => "name a backend that exists with a port that it declares, or delete the rule",
        });
    }
    if outcome == Outcome::Stops { Next::Ends } else { Next::Backends(backends) }
}

/// The routes of rules, each once: `HTTPRoute a, HTTPRoute b`.
fn names(rules: &[RuleOfRoute<'_, '_>]) -> String {
    let mut names: Vec<String> = Vec::new();
    for one in rules {
        let name = format!("{} {}", one.route.kind.kind(), one.route.route.metadata.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// The Services to which rules send requests, each once, if requests can reach them.
fn backends(rules: &[&OutboundRule<'_>], service: &Service, port: u16) -> Vec<(String, String, u16)> {
    let (namespace, name) = service.metadata.key();
    let itself = || (namespace.to_owned(), name.to_owned(), port);
    let mut all = Vec::new();
    for rule in rules.iter().filter(|rule| !redirects(rule)) {
        let weighted = rule.backends.iter().filter(|backend| backend.weight > 0);
        let served = weighted.filter_map(|backend| match backend.to {
            Destination::Service { namespace, port, declared: true } => {
                Some((namespace.to_owned(), backend.named.name.clone(), port))
            }
            _ => None,
        });
        all.extend(served);
        if rule.backends.is_empty() {
            all.push(itself());
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Evaluates a call to an outside destination, for a client whose proxy handles it.
pub(super) fn outside(walk: &mut Walk, index: &OutboundIndex<'_>, client: Option<&Pod>, to: &End) {
    let not_here = format!("{} is outside the cluster: the evidence does not cover it", to.name);
    let answer = client.zip(to.port).and_then(|(client, port)| {
        let from = client.metadata.namespace.as_str();
        match to.name.parse::<IpAddr>() {
            Ok(address) => index.of_address(SocketAddr::new(address, port), from),
            Err(_) => index.of_host(port, from),
        }
    });
    let Some(outbound) = answer else {
        let held = client.map(|client| index.networks_for(&client.metadata.namespace)).unwrap_or_default();
        if !held.is_empty() {
            let names: Vec<String> = held.iter().map(|network| network.metadata.name.clone()).collect();
            let says =
                format!("whether EgressNetwork {} selects it depends on its address and port", names.join(" or "));
            walk.step(Part::Egress, Outcome::NotJudged, says);
        }
        walk.step(Part::Destination, Outcome::NotJudged, not_here);
        return;
    };
    if outbound.spoken == Spoken::Refused {
        walk.step(Part::Destination, Outcome::Stops, format!("{to} is a Service that does not declare that port"))
            .fix("add the port to the Service");
        return;
    }
    if let Parent::Egress { network, .. } = &outbound.parent {
        let (namespace, name) = network.metadata.key();
        let evidence = Evidence::field(
            Subject::object(Kind::EgressNetwork, namespace, name),
            "spec.trafficPolicy",
            network.spec.traffic_policy.as_str(),
        );
        let routes: Vec<String> = outbound
            .routes
            .iter()
            .map(|route| format!("{} {}", route.kind.kind(), route.route.metadata.name))
            .collect();
        let (outcome, says) = match (outbound.forbids_rest(), routes.is_empty()) {
            (false, _) => (Outcome::Passes, format!("EgressNetwork {name} allows it")),
            (true, true) => (Outcome::Stops, format!("EgressNetwork {name} denies it, and no route allows it")),
            (true, false) => {
                let routes = routes.join(", ");
                (
                    Outcome::NotJudged,
                    format!(
                        "EgressNetwork {name} denies all traffic except that of \
                 {routes}"
                    ),
                )
            }
        };
        let step = walk.step(Part::Egress, outcome, says).evidence(evidence);
        if outcome == Outcome::Stops {
            step.fix(format!(
                "attach a route for it to EgressNetwork {namespace}/{name}, with the port in its \
                 parentRefs, or set its trafficPolicy to allow the rest"
            ));
            return;
        }
    }
    walk.step(Part::Destination, Outcome::NotJudged, not_here);
}
