//! `route-backend-elsewhere`: a route sends requests to a Service of another namespace than its author and its status mean.

use std::collections::BTreeSet;

use super::backends::{Key, parents, routes, sent, served_by};
use super::survey::{about, field, on};
use crate::checks::{Context, Judgement};
use crate::finding::{Finding, Remedy, Severity, StepKind};
use crate::objects::{Kind, Meta, Route, Service};

/// A backend without a namespace: where it is taken from, where it was meant, and the rules that name it.
struct Elsewhere<'a> {
    taken: Key<'a>,
    rules: Vec<usize>,
    there: bool,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.every::<Service>()?;
    let services: BTreeSet<Key<'_>> = services.iter().map(|service| service.metadata.key()).collect();
    let routes = routes(ctx)?.into_iter();
    let findings = routes.flat_map(|(kind, route)| {
        elsewhere(route, &services).into_iter().map(move |one| finding(ctx, kind, route, &one))
    });
    Ok(findings.collect::<Vec<_>>().into())
}

/// The backends that stand beside the route, and are taken from beside its parent.
fn elsewhere<'a>(route: &'a Route, services: &BTreeSet<Key<'a>>) -> Vec<Elsewhere<'a>> {
    let own = route.metadata.namespace.as_str();
    let mut found: Vec<Elsewhere<'a>> = Vec::new();
    let others: BTreeSet<Key<'a>> = parents(route).filter(|(namespace, _)| *namespace != own).collect();
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
    let message = if one.there {
        format!(
            "its requests go to Service {namespace}/{name}, not to {own}/{name}: Linkerd looks for a backend without a namespace beside the \
             parent, and not beside the route"
        )
    } else {
        format!(
            "requests that it sends to {name} fail with 500: Linkerd looks for a backend without a namespace beside the parent, and there is \
             no Service {namespace}/{name}; the status of the route looks for {own}/{name}, and says that all is resolved"
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
            field(
                kind,
                meta,
                &format!("spec.rules[{at}].backendRefs"),
                format!("{name}, without a namespace"),
            )
        }))
        .evidence(service(own, "is there"))
        .evidence(service(namespace, if one.there { "is there, too" } else { "is not there" }))
        .remedy(Remedy::new().run(
            StepKind::Command,
            format!("Give the backend the namespace that is meant (namespace: {own})"),
            on("edit", kind, meta),
        ))
}
