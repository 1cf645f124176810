//! `route-backend-elsewhere`: a route sends its traffic to a Service in another namespace than intended and
//! than its status shows.

use std::collections::BTreeSet;

use super::backends::{ServiceKey, is_of_streams, parents, routes, sent, served_by, traffic};
use super::survey::{about, field, put, set, test};
use crate::checks::prelude::*;
use crate::objects::Route;

/// A backend without a namespace: the namespace that Linkerd uses, the intended one, and the rules that
/// name it.
struct Elsewhere<'a> {
    taken: ServiceKey<'a>,
    rules: Vec<usize>,
    there: bool,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.complete_list::<Service>()?;
    let services: BTreeSet<ServiceKey<'_>> = services.iter().map(|service| service.metadata.key()).collect();
    let routes = routes(ctx)?.into_iter();
    let findings = routes.flat_map(|(kind, route)| {
        elsewhere(route, &services).into_iter().map(move |one| finding(ctx, kind, route, &one))
    });
    Ok(findings.collect())
}

/// The backends that exist in the route's namespace, but are looked up in the parent's.
fn elsewhere<'a>(route: &'a Route, services: &BTreeSet<ServiceKey<'a>>) -> Vec<Elsewhere<'a>> {
    let own = route.metadata.namespace.as_str();
    let mut found: Vec<Elsewhere<'a>> = Vec::new();
    let others: BTreeSet<ServiceKey<'a>> = parents(route).filter(|(namespace, _)| *namespace != own).collect();
    for parent in others {
        for (at, rule) in route.spec.rules.iter().enumerate() {
            let unnamed = sent(&rule.backend_refs).filter(|backend| backend.namespace.is_none());
            for backend in unnamed.filter(|backend| services.contains(&(own, backend.name.as_str()))) {
                let taken = served_by(backend, parent);
                match found.iter_mut().find(|known| known.taken == taken) {
                    Some(known) if known.rules.contains(&at) => {}
                    Some(known) => known.rules.push(at),
                    None => {
                        found.push(Elsewhere { taken, rules: vec![at], there: services.contains(&taken) });
                    }
                }
            }
        }
    }
    found
}

fn finding(ctx: &Context<'_>, kind: Kind, route: &Route, one: &Elsewhere<'_>) -> Finding {
    let meta = &route.metadata;
    let own = meta.namespace.as_str();
    let (namespace, name) = one.taken;
    let traffic = traffic(kind);
    let status = if is_of_streams(kind) { "" } else { " with status 500" };
    let message = if one.there {
        format!(
            "{traffic} go to Service {namespace}/{name}, not to {own}/{name}: Linkerd looks up a backend without a \
             namespace in the parent's namespace, not in the route's"
        )
    } else {
        format!(
            "{traffic} to backend {name} fail{status}: Linkerd looks it up in the parent's namespace, and Service \
             {namespace}/{name} does not exist. The route's status shows {own}/{name} as resolved"
        )
    };
    let service = |namespace: &str, said: &str| {
        let meta = Meta { namespace: namespace.into(), name: name.to_owned(), ..Meta::default() };
        field(Kind::Service, &meta, "metadata.name", said)
    };
    about(ctx, kind, meta, message)
        .severity(if one.there { Severity::Warning } else { Severity::Error })
        .parameter(format!("{namespace}/{name}"))
        .evidences(one.rules.iter().map(|at| {
            field(kind, meta, &format!("spec.rules[{at}].backendRefs"), format!("{name}, without a namespace"))
        }))
        .evidence(service(own, "exists"))
        .evidence(service(namespace, if one.there { "also exists" } else { "does not exist" }))
        .remedy(Remedy::new().command(
            format!("Set the intended namespace on the backend (namespace: {own})"),
            set(kind, meta, corrected(route, one)),
        ))
}

/// The operations that set the route's namespace on each such backend.
fn corrected(route: &Route, one: &Elsewhere<'_>) -> Vec<serde_json::Value> {
    let name = one.taken.1;
    let rules = one.rules.iter().filter_map(|at| Some((at, route.spec.rules.get(*at)?)));
    let backends = rules.flat_map(|(at, rule)| rule.backend_refs.iter().enumerate().map(move |(i, to)| (at, i, to)));
    let unnamed = backends.filter(|(_, _, to)| to.is_a("", "Service") && to.namespace.is_none() && to.name == name);
    unnamed
        .flat_map(|(at, i, _)| {
            let path = format!("/spec/rules/{at}/backendRefs/{i}");
            let own = route.metadata.namespace.as_str();
            [test(format!("{path}/name"), name), put(format!("{path}/namespace"), own)]
        })
        .collect()
}
