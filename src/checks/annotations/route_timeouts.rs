//! Timeouts of 0 in annotations of routes: the policy controller applies them, and every request fails.

use super::calls::{NO_TIMEOUT, TIMEOUTS, applies_timeouts};
use crate::checks::prelude::*;
use crate::knowledge::{OnInvalid, policy_duration};
use crate::objects::{GRPCRoute, HTTPRoute, LinkerdHTTPRoute, Route};

/// One finding for each timeout of 0. Absent routes are not evidence of anything.
pub(super) fn findings(ctx: &Context<'_>) -> Vec<Finding> {
    let routes = [
        (Kind::HTTPRoute, ctx.optional_list::<HTTPRoute>()),
        (Kind::LinkerdHTTPRoute, ctx.optional_list::<LinkerdHTTPRoute>()),
        (Kind::GRPCRoute, ctx.optional_list::<GRPCRoute>()),
    ];
    let routes = routes.into_iter().flat_map(|(kind, list)| list.iter().map(move |route| (kind, route)));
    let judged = routes.filter(|(_, route)| {
        let meta = &route.metadata;
        ctx.judges(&meta.namespace) && is_for_calls(route) && applies_timeouts(meta)
    });
    judged.flat_map(|(kind, route)| of_route(ctx, kind, &route.metadata)).collect()
}

/// Whether a route is attached to a Service or an EgressNetwork.
fn is_for_calls(route: &Route) -> bool {
    route
        .spec
        .parent_refs
        .iter()
        .any(|parent| parent.is_a("", "Service") || parent.is_a("policy.linkerd.io", "EgressNetwork"))
}

fn of_route(ctx: &Context<'_>, kind: Kind, meta: &Meta) -> Vec<Finding> {
    let keys = ctx.knowledge.annotations();
    let zero = meta.annotations.iter().filter_map(|(key, value)| {
        let row = keys.get(key).filter(|_| key.starts_with(TIMEOUTS))?;
        policy_duration(value).filter(std::time::Duration::is_zero)?;
        let consequence = row.consequence(value);
        consequence.is_applied().then_some((key, value, consequence))
    });
    zero.map(|(key, value, consequence)| {
        let subject = Subject::object(kind, &meta.namespace, &meta.name);
        let annotate = kubectl()
            .namespace(&meta.namespace)
            .words("annotate")
            .arg(kind.resource())
            .operand(&meta.name)
            .operand(format!("{key}-"));
        let message = format!("{key}: {value:?} is not valid, so {consequence}. Expected a time above 0");
        let finding = ctx
            .finding(subject.clone(), message)
            .evidence(Evidence::field(subject, format!("metadata.annotations[{key}]"), value.as_str()))
            .parameter(key.as_str())
            .remedy(
                Remedy::new()
                    .run(StepKind::Annotation, format!("{NO_TIMEOUT} from the route"), annotate)
                    .step(StepKind::Annotation, format!("Otherwise set {key} to a time such as 10s")),
            );
        match consequence {
            OnInvalid::RequestsFail => finding,
            _ => finding.severity(crate::finding::Severity::Warning),
        }
    })
    .collect()
}
