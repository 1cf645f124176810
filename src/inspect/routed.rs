//! The part of a walk that outbound policy decides: which routes count on the way to a Service, and whether an address outside may be
//! called at all.

use std::net::{IpAddr, SocketAddr};

use super::outbound::{catches_all, sends};
use super::walk::{End, Outcome, Part, Walk};
use crate::finding::{Evidence, Subject};
use crate::model::policy::{Outbound, OutboundIndex, OutboundRule, Parent, Spoken};
use crate::objects::{Kind, Pod, Service, ServiceProfile};

/// What of routes and profiles applies to calls of a port; whether the call goes on.
pub(super) fn service(
    walk: &mut Walk,
    index: &OutboundIndex<'_>,
    profile: Option<&ServiceProfile>,
    from: &str,
    (service, port): (&Service, u16),
) -> bool {
    if let Some(profile) = profile {
        by_profile(walk, profile);
        return true;
    }
    let outbound = index.of_service(service.metadata.key(), port, from);
    if outbound.routes.is_empty() {
        let waiting: Vec<String> = index
            .unjudged(service.metadata.key())
            .map(|(kind, route)| format!("{} {}", kind.kind(), route.metadata.name))
            .collect();
        if waiting.is_empty() {
            let says = "no route and no profile is attached: requests go to the Service itself";
            walk.step(Part::Routes, Outcome::Passes, says);
        } else {
            let says = format!(
                "{}: the policy controller has not said yet whether it accepts it",
                waiting.join(", ")
            );
            walk.step(Part::Routes, Outcome::NotJudged, says);
        }
        return true;
    }
    by_routes(walk, &outbound, service)
}

fn by_profile(walk: &mut Walk, profile: &ServiceProfile) {
    let overrides: Vec<&str> =
        profile.spec.dst_overrides.iter().map(|over| over.authority.as_str()).collect();
    let (outcome, says) = if overrides.is_empty() {
        let says =
            "a ServiceProfile has its routes; HTTPRoutes and GRPCRoutes of the Service count for nothing";
        (Outcome::Passes, says.to_owned())
    } else {
        (Outcome::NotJudged, format!("a ServiceProfile sends the requests to {}", overrides.join(", ")))
    };
    walk.step(Part::Routes, outcome, says).evidence(Evidence::field(
        Subject::object(Kind::ServiceProfile, &profile.metadata.namespace, &profile.metadata.name),
        "spec.routes",
        profile.spec.routes.len().to_string(),
    ));
}

/// Whether all of what a rule matches fails; `None` where none of it does.
fn failing(rule: &OutboundRule<'_>) -> Option<(bool, String)> {
    let weighted = || rule.backends.iter().filter(|backend| backend.weight > 0);
    let mut why: Vec<String> =
        weighted().filter_map(|backend| backend.to.fails(&backend.named.name)).collect();
    why.dedup();
    let all = weighted().all(|backend| backend.to.fails(&backend.named.name).is_some());
    (!why.is_empty()).then(|| (all, why.join("; ")))
}

fn by_routes(walk: &mut Walk, outbound: &Outbound<'_>, service: &Service) -> bool {
    let names: Vec<String> = outbound
        .routes
        .iter()
        .map(|route| format!("{} {}", route.kind.kind(), route.route.metadata.name))
        .collect();
    let rules: Vec<&OutboundRule<'_>> = outbound.routes.iter().flat_map(|route| &route.rules).collect();
    let stays = |rule: &&OutboundRule<'_>| sends(rule).iter().all(|to| *to == service.metadata.name);
    let failures: Vec<(bool, String)> = rules.iter().filter_map(|rule| failing(rule)).collect();
    let everything = catches_all(outbound);
    let names = names.join(", ");
    let why = failures.iter().map(|(_, why)| why.as_str()).collect::<Vec<_>>().join("; ");
    let fails = !failures.is_empty() && failures.len() == rules.len() && failures.iter().all(|(all, _)| *all);
    let (outcome, says) = if fails {
        (Outcome::Stops, format!("{names}: everything that it matches fails: {why}"))
    } else if !failures.is_empty() {
        (Outcome::NotJudged, format!("{names}: a part of the requests fails: {why}"))
    } else if !everything && outbound.spoken != Spoken::Opaque {
        let says =
            "what none of their rules matches is answered with 404, and which request it is, is not said";
        (Outcome::NotJudged, format!("{names}: {says}"))
    } else if rules.iter().all(stays) {
        (Outcome::Passes, format!("{names} may apply, and sends nothing elsewhere"))
    } else {
        let mut to: Vec<&str> = rules.iter().flat_map(|rule| sends(rule)).collect();
        to.retain(|to| *to != service.metadata.name);
        to.sort_unstable();
        to.dedup();
        let says =
            format!("{names} may send requests to {}; the walk goes on with the Service", to.join(", "));
        (Outcome::NotJudged, says)
    };
    let first = &outbound.routes[0];
    let step = walk.step(Part::Routes, outcome, says).evidence(Evidence::field(
        Subject::object(first.kind.kind(), &first.route.metadata.namespace, &first.route.metadata.name),
        "spec.parentRefs",
        format!("Service {}", service.metadata.name),
    ));
    if fails {
        step.fix("name a backend that is there, or take the route away");
    }
    outcome != Outcome::Stops
}

/// A call of what lies outside of the cluster, by a client whose proxy takes it.
pub(super) fn outside(walk: &mut Walk, index: &OutboundIndex<'_>, client: Option<&Pod>, to: &End) {
    let not_here = format!("{} is outside of the cluster: what is there is not in this evidence", to.name);
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
            let says = format!(
                "whether EgressNetwork {} holds it depends on its address and port",
                names.join(" or ")
            );
            walk.step(Part::Egress, Outcome::NotJudged, says);
        }
        walk.step(Part::Destination, Outcome::NotJudged, not_here);
        return;
    };
    if outbound.spoken == Spoken::Refused {
        walk.step(
            Part::Destination,
            Outcome::Stops,
            format!("{to} is a Service that does not declare that port"),
        )
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
            (false, _) => (Outcome::Passes, format!("EgressNetwork {name} lets it out")),
            (true, true) => {
                (Outcome::Stops, format!("EgressNetwork {name} forbids it, and no route lets it out"))
            }
            (true, false) => {
                let routes = routes.join(", ");
                (Outcome::NotJudged, format!("EgressNetwork {name} forbids all but what {routes} lets out"))
            }
        };
        let step = walk.step(Part::Egress, outcome, says).evidence(evidence);
        if outcome == Outcome::Stops {
            step.fix(format!(
                "attach a route for it to EgressNetwork {namespace}/{name}, with the port in its parentRefs, or let it allow the rest"
            ));
            return;
        }
    }
    walk.step(Part::Destination, Outcome::NotJudged, not_here);
}
