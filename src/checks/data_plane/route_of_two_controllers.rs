//! `route-of-two-controllers`: a route is attached to a Gateway and to a parent of Linkerd, so two
//! controllers act on it.

use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::objects::{GRPCRoute, HTTPRoute, Listed, POLICY_CONTROLLER, ParentRef, Route};

/// The API group of Gateways.
const GATEWAY: &str = "gateway.networking.k8s.io";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let http = defined::<HTTPRoute>(ctx)?;
    let grpc = ctx.or_note(defined::<GRPCRoute>(ctx)).unwrap_or_default();
    let mut findings = Vec::new();
    for (kind, routes) in [(HTTPRoute::KIND, http), (GRPCRoute::KIND, grpc)] {
        let judged = routes.iter().filter(|route| ctx.judges(&route.metadata.namespace));
        findings.extend(judged.filter_map(|route| mixed(ctx, &kind.to_string(), route)));
    }
    Ok(findings.into())
}

fn mixed(ctx: &Context<'_>, kind: &str, route: &Route) -> Option<Finding> {
    let parents = &route.spec.parent_refs;
    // The API server defaults the kind of a parent to Gateway.
    let gateway = parents.iter().find(|parent| parent.kind.is_none() || parent.is_a(GATEWAY, "Gateway"))?;
    let own = parents.iter().find(|parent| {
        parent.is_a("", "Service")
            || parent.is_a("policy.linkerd.io", "Server")
            || parent.is_a("policy.linkerd.io", "EgressNetwork")
    })?;
    let (namespace, name) = (&route.metadata.namespace, &route.metadata.name);
    let object = format!("{kind} {namespace}/{name}");
    let mut controllers: Vec<&str> =
        route.status.parents.iter().map(|parent| parent.controller_name.as_str()).collect();
    controllers.sort_unstable();
    controllers.dedup();
    let others = controllers.iter().any(|controller| *controller != POLICY_CONTROLLER);
    let finding = ctx
        .finding(
            Subject::object(kind, namespace, name),
            "a route is attached to both a Gateway and a parent that Linkerd handles. Two controllers write \
             its status, and a feature that one of them lacks makes the route invalid for that one",
        )
        .severity(Severity::Info)
        .evidence(Evidence::field(&object, "spec.parentRefs", format!("{} and {}", shown(gateway), shown(own))))
        .evidences(others.then(|| Evidence::field(&object, "status.parents", controllers.join(", "))))
        .remedy(
            Remedy::new().command(
                "Split it into two routes, one for each kind of parent. This shows the existing one",
                kubectl()
                    .namespace(namespace)
                    .words("get")
                    .arg(format!("{}.{GATEWAY}", kind.to_ascii_lowercase()))
                    .operand(name)
                    .words("-o yaml"),
            ),
        );
    Some(finding)
}

fn shown(parent: &ParentRef) -> String {
    format!("{} {}", parent.kind.as_deref().unwrap_or("Gateway"), parent.name)
}
