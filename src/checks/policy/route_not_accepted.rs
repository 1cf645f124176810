//! `route-not-accepted`: the policy controller says in its status why it does not take a route, a rate limit or an EgressNetwork.

use super::survey::{about, defined, field, on, survey};
use crate::checks::{Context, Judgement};
use crate::finding::{Finding, Remedy, StepKind};
use crate::objects::{
    Condition, EgressNetwork, GRPCRoute, HTTPLocalRateLimitPolicy, HTTPRoute, Kind, LinkerdHTTPRoute, Meta,
    POLICY_CONTROLLER, Route, TCPRoute, TLSRoute,
};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    // The same items as the other checks of policy, so that it is not asked without a policy controller.
    survey(ctx)?;
    let mut findings = Vec::new();
    for (kind, routes) in [
        (Kind::HTTPRoute, defined::<HTTPRoute>(ctx)?),
        (Kind::LinkerdHTTPRoute, defined::<LinkerdHTTPRoute>(ctx)?),
        (Kind::GRPCRoute, defined::<GRPCRoute>(ctx)?),
        (Kind::TLSRoute, defined::<TLSRoute>(ctx)?),
        (Kind::TCPRoute, defined::<TCPRoute>(ctx)?),
    ] {
        let here = routes.iter().filter(|route| ctx.judges(&route.metadata.namespace));
        findings.extend(here.flat_map(|route| of_route(ctx, kind, route)));
    }
    for limit in defined::<HTTPLocalRateLimitPolicy>(ctx)? {
        let refused = refused(&limit.status.conditions);
        findings.extend(
            refused
                .map(|why| finding(ctx, Kind::HTTPLocalRateLimitPolicy, &limit.metadata, "its target", why)),
        );
    }
    for network in defined::<EgressNetwork>(ctx)? {
        let refused = refused(&network.status.conditions);
        findings.extend(
            refused.map(|why| finding(ctx, Kind::EgressNetwork, &network.metadata, "its networks", why)),
        );
    }
    Ok(findings.into())
}

/// One finding for each parent at which something is refused.
fn of_route(ctx: &Context<'_>, kind: Kind, route: &Route) -> Vec<Finding> {
    let parents = route.status.parents.iter().filter(|parent| parent.controller_name == POLICY_CONTROLLER);
    parents
        .filter_map(|parent| {
            let why = refused(&parent.conditions)?;
            let named = &parent.parent_ref;
            let parent = format!("{} {}", named.kind.as_deref().unwrap_or("parent"), named.name);
            Some(finding(ctx, kind, &route.metadata, &parent, why).parameter(parent))
        })
        .collect()
}

fn refused(conditions: &[Condition]) -> Option<&Condition> {
    conditions.iter().find(|c| matches!(c.kind.as_str(), "Accepted" | "ResolvedRefs") && c.status == "False")
}

/// What a reason of the policy controller means.
fn meaning(why: &Condition) -> &'static str {
    match why.reason.as_str() {
        "NoMatchingParent" if why.message.contains("ClusterIP") => {
            "a Service without a ClusterIP takes no route; routes need a Service that has one"
        }
        "NoMatchingParent" => "what parentRefs names is not there, or not in that namespace",
        "NoMatchingTarget" => "the Server that targetRef names is not there",
        "RouteReasonConflicted" => {
            "a route of a kind that goes first is attached to the same parent: GRPCRoute before HTTPRoute before TLSRoute before \
             TCPRoute"
        }
        "RateLimitReasonAlreadyExists" => {
            "an older rate limit is attached to the same Server, and only that one counts"
        }
        "BackendNotFound" => {
            "a Service that backendRefs names is not there: requests that go to it get status 500"
        }
        "InvalidKind" => "backendRefs names something that is no Service",
        "EgressReasonNetworkOverlap" => "its networks overlap those of the cluster; it is used nevertheless",
        "EgressNetworkNotAccepted" => "the EgressNetwork that it is attached to is not accepted",
        _ => "see the reason",
    }
}

fn finding(ctx: &Context<'_>, kind: Kind, meta: &Meta, parent: &str, why: &Condition) -> Finding {
    let said = match why.message.is_empty() {
        true => format!("{} False: {}", why.kind, why.reason),
        false => format!("{} False: {} ({})", why.kind, why.reason, why.message),
    };
    about(ctx, kind, meta, format!("the policy controller does not take it, for {parent}: {}", meaning(why)))
        .evidence(field(kind, meta, "status", said))
        .remedy(
            Remedy::new()
                .run(
                    StepKind::Command,
                    "See what is written, and what the controller says of each parent",
                    on("get", kind, meta).words("-o yaml"),
                )
                .run(StepKind::Command, "Correct what it refers to", on("edit", kind, meta)),
        )
}
