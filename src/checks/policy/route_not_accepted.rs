//! `route-not-accepted`: the policy controller's status does not accept a route, a rate limit or an
//! EgressNetwork, or would not accept it if no status exists yet.

use jiff::SignedDuration;

use super::survey::{about, field, noun, on, support_after, unread};
use super::would_be::{self, PredictionInputs, correction};
use crate::checks::prelude::*;
use crate::command::Call;
use crate::model::policy::status::{ParentAnswer, Refused};
use crate::objects::{Condition, POLICY_CONTROLLER, ParentRef, Route};
use crate::request::Request;

/// The controller writes a status within seconds; a change of its leader may delay it.
const SOON: SignedDuration = SignedDuration::from_mins(5);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let known = would_be::known(ctx)?;
    let objects = known.statuses.objects();
    let mut findings = Vec::new();
    for (kind, routes) in objects.routes() {
        let here = routes.iter().filter(|route| ctx.judges(&route.metadata.namespace));
        for route in here {
            if let Some(never) = never_read(&known, kind.kind(), route) {
                findings.push(never);
                continue;
            }
            let answers = known.statuses.of_route(kind, route);
            findings.extend(of_route(&known, kind.kind(), route, &answers));
            findings.extend(unwritten(&known, kind.kind(), (route, routes), &answers));
            findings.extend(would_be::of_group(ctx, kind, route));
        }
    }
    for limit in objects.rate_limits.iter().filter(|limit| ctx.judges(&limit.metadata.namespace)) {
        let of = (Kind::HTTPLocalRateLimitPolicy, &limit.metadata);
        let answer = known.statuses.of_rate_limit(limit);
        findings.extend(by_itself(&known, of, "its target", &limit.status.conditions, answer));
    }
    for network in objects.egress_networks.iter().filter(|network| ctx.judges(&network.metadata.namespace)) {
        let of = (Kind::EgressNetwork, &network.metadata);
        let conditions = &network.status.conditions;
        if accepted(conditions).is_none() && network.spec.networks.is_some() {
            // Without the controller's settings, overlaps with the cluster's networks are unknown.
            known.networks_unknown.iter().for_each(|missing| ctx.gap(missing.clone()));
        }
        let answer = known.statuses.of_egress_network(network);
        findings.extend(by_itself(&known, of, "its networks", conditions, answer));
    }
    Ok(findings.into())
}

/// One finding for each parent with a rejection, if the route still names the parent.
fn of_route(known: &PredictionInputs<'_, '_>, kind: Kind, route: &Route, answers: &[ParentAnswer<'_>]) -> Vec<Finding> {
    let parents = route.status.parents.iter().filter(|parent| parent.controller_name == POLICY_CONTROLLER);
    parents
        .filter(|parent| names(route, &parent.parent_ref))
        .filter_map(|parent| {
            let why = refused(&parent.conditions)?;
            let named = &parent.parent_ref;
            let answer = answers.iter().find(|answer| answer.parent.is(named));
            let parent = format!("{} {}", named.kind.as_deref().unwrap_or("parent"), named.name);
            let missing = answer
                .filter(|_| why.reason == "BackendNotFound")
                .and_then(|answer| known.backend_missing(kind, &route.metadata, answer, &parent));
            let found = missing.unwrap_or_else(|| finding(known.ctx, kind, &route.metadata, &parent, why));
            Some(found.evidence(status(kind, &route.metadata, why)).parameter(parent))
        })
        .collect()
}

/// Whether a route names the parent of a status.
fn names(route: &Route, written: &ParentRef) -> bool {
    let own = route.metadata.namespace.as_str();
    let namespace = |parent: &ParentRef| parent.namespace.as_deref().unwrap_or(own).to_owned();
    let kind = |parent: &ParentRef| parent.kind.clone().unwrap_or_default().to_ascii_lowercase();
    route.spec.parent_refs.iter().any(|parent| {
        parent.name == written.name
            && namespace(parent) == namespace(written)
            && kind(parent) == kind(written)
            && (parent.port == written.port || kind(parent) == "server")
    })
}

/// The predicted result at parents without a status.
fn unwritten(
    known: &PredictionInputs<'_, '_>,
    kind: Kind,
    (route, all): (&Route, &[Route]),
    answers: &[ParentAnswer<'_>],
) -> Vec<Finding> {
    let statuses = route.status.parents.iter().filter(|status| status.controller_name == POLICY_CONTROLLER);
    let written: Vec<&ParentRef> = statuses.map(|status| &status.parent_ref).collect();
    let left = answers.iter().filter(|answer| !written.iter().any(|parent| answer.parent.is(parent)));
    let left: Vec<&ParentAnswer<'_>> = left.collect();
    let refused: Vec<Finding> =
        left.iter().filter_map(|answer| known.of_parent(kind, &route.metadata, answer)).collect();
    // A route whose predicted rejection depends on missing evidence is not known to be valid.
    let right = |answer: &&&ParentAnswer<'_>| {
        answer.refused.is_none() && answer.faults.as_deref().unwrap_or_default().is_empty()
    };
    match left.first() {
        Some(first) if left.iter().filter(right).count() == left.len() => {
            unanswered(known.ctx, kind, (&route.metadata, all), first).into_iter().collect()
        }
        _ => refused,
    }
}

/// A valid object without a status for longer than the controller needs: it does not read the object, or it is behind
/// if it wrote statuses of others. Only objects from a server have a uid, and the age needs a known collection time.
fn unanswered(
    ctx: &Context<'_>,
    kind: Kind,
    (meta, all): (&Meta, &[Route]),
    answer: &ParentAnswer<'_>,
) -> Option<Finding> {
    let since = meta.creation_timestamp.get().filter(|_| !meta.uid.is_empty())?;
    if !ctx.knows_its_moment() {
        let message = "the object has no status, and its age is unknown: give the time of the dump with --at";
        let part = format!("{} {}/{}", kind.info().kind, meta.namespace, meta.name);
        let why = Why::NotJudged { message: message.to_owned() };
        ctx.gap(Missing::part(Request::new(Item::List(kind)), why, part));
        return None;
    }
    if ctx.now().duration_since(since) < SOON {
        return None;
    }
    let at = format!("{} {}", answer.parent.kind, answer.parent.name);
    let without = |finding: Finding| {
        finding
            .severity(Severity::Warning)
            .likely()
            .parameter("no status")
            .tie(unread(kind))
            .evidence(field(kind, meta, "status.parents", format!("none of {POLICY_CONTROLLER}")))
            .evidence(field(kind, meta, "spec.parentRefs", at))
            .evidence(field(kind, meta, "metadata.creationTimestamp", since.to_string()))
    };
    let written = all.iter().filter(|route| has_status(route)).count();
    Some(match written {
        0 => without(unseen(ctx, kind, meta)),
        written => without(behind(ctx, kind, meta))
            .evidence(Evidence::other(format!("{kind}s with a status of {POLICY_CONTROLLER}"), written.to_string())),
    })
}

/// Whether the policy controller wrote a status of a route.
fn has_status(route: &Route) -> bool {
    route.status.parents.iter().any(|parent| parent.controller_name == POLICY_CONTROLLER)
}

/// The command that prints the log of the policy controller.
fn log(ctx: &Context<'_>) -> Call {
    kubectl().namespace(&ctx.namespaces().control_plane).words("logs deployment/linkerd-destination -c policy")
}

/// An object of a kind without any status: the controller does not watch it.
fn unseen(ctx: &Context<'_>, kind: Kind, meta: &Meta) -> Finding {
    let message = format!(
        "The policy controller wrote no status for {noun}, although {noun} is valid. Most likely the controller does \
         not read it, and it has no effect",
        noun = noun(kind)
    );
    about(ctx, kind, meta, message).remedy(Remedy::new().command("Check the controller's log", log(ctx)).note(
        "If the log does not mention routes, restart linkerd-destination: it looks for the kinds of routes only \
             when it starts",
    ))
}

/// An object of a kind whose statuses the controller writes: it is late, or its writes fail.
fn behind(ctx: &Context<'_>, kind: Kind, meta: &Meta) -> Finding {
    let message = format!(
        "The policy controller wrote statuses of other {kind}s, but none for {}. Its status updates are late or fail, \
         and the route has no effect until then",
        noun(kind)
    );
    let home = ctx.namespaces().control_plane.clone();
    let restart = kubectl().namespace(&home).words("rollout restart deployment/linkerd-destination");
    about(ctx, kind, meta, message)
        .tie(Tie::Workload("Deployment".to_owned(), home.clone(), "linkerd-destination".to_owned()))
        .remedy(
            Remedy::new().command("Check the controller's log for failed or late status updates", log(ctx)).command(
                "If the log shows none, restart the controller, which then writes all missing statuses",
                restart,
            ),
        )
}

/// A route at a parent that Linkerd handles, of a kind that the installed release never reads.
fn never_read(known: &PredictionInputs<'_, '_>, kind: Kind, route: &Route) -> Option<Finding> {
    let ctx = known.ctx;
    let meta = &route.metadata;
    let first = support_after(ctx, kind, known.version.as_ref())?;
    let parent = route.spec.parent_refs.iter().find(|parent| is_of_mesh(parent))?;
    let at = format!("{} {}", parent.kind.as_deref().unwrap_or_default(), parent.name);
    let minor = ctx.knowledge.minors().first_with(first).map(|minor| format!(" ({minor})")).unwrap_or_default();
    let kinds = match kind {
        Kind::HTTPRoute => "HTTPRoutes of the Gateway API".to_owned(),
        Kind::LinkerdHTTPRoute => "HTTPRoutes of policy.linkerd.io".to_owned(),
        kind => format!("{kind}s"),
    };
    let message = format!("The installed release never reads {kinds}, so the route has no effect in the mesh");
    let version = known.version.as_ref().map(ToString::to_string).unwrap_or_default();
    let said = format!("{version}; {kinds} are read from {first}{minor} on");
    Some(
        about(ctx, kind, meta, message)
            .severity(Severity::Warning)
            .parameter("never read")
            .evidence(field(kind, meta, "spec.parentRefs", at))
            .evidence(Evidence::other("installed release", said))
            .remedy(
                Remedy::new().step(StepKind::Upgrade, format!("Upgrade the control plane to {first}{minor} or newer")),
            ),
    )
}

/// Whether Linkerd handles a parent: a Service, a Server or an EgressNetwork.
fn is_of_mesh(parent: &ParentRef) -> bool {
    [("", "Service"), ("core", "Service"), ("policy.linkerd.io", "Server"), ("policy.linkerd.io", "EgressNetwork")]
        .iter()
        .any(|(group, kind)| parent.is_a(group, kind))
}

/// The finding for an object with a single status, existing or predicted.
fn by_itself(
    known: &PredictionInputs<'_, '_>,
    (kind, meta): (Kind, &Meta),
    at: &str,
    written: &[Condition],
    answer: Option<Result<(), Refused<'_>>>,
) -> Option<Finding> {
    match (accepted(written), answer) {
        (Some(_), _) => {
            refused(written).map(|why| finding(known.ctx, kind, meta, at, why).evidence(status(kind, meta, why)))
        }
        (None, Some(Err(why))) => known.of_object(kind, meta, at, &why),
        (None, _) => None,
    }
}

fn accepted(conditions: &[Condition]) -> Option<&Condition> {
    conditions.iter().find(|condition| condition.kind == "Accepted")
}

fn refused(conditions: &[Condition]) -> Option<&Condition> {
    conditions.iter().find(|c| matches!(c.kind.as_str(), "Accepted" | "ResolvedRefs") && c.status == "False")
}

/// A reason without a known meaning.
const UNKNOWN: &str = "see the reason";

/// Explains a reason of the policy controller.
fn meaning(why: &Condition) -> &'static str {
    match why.reason.as_str() {
        "NoMatchingParent" if why.message.contains("ClusterIP") => {
            "routes attach only to Services with a ClusterIP, and this one is headless"
        }
        "NoMatchingParent" if why.message.contains("EgressNetwork") => {
            "the EgressNetwork named in parentRefs is not accepted"
        }
        "NoMatchingParent" => "the object that parentRefs names does not exist in that namespace",
        "NoMatchingTarget" => "the Server that targetRef names does not exist",
        "RouteReasonConflicted" => {
            "a route of a kind that takes precedence is attached to the same parent (GRPCRoute before \
             HTTPRoute before TLSRoute before TCPRoute)"
        }
        "RateLimitReasonAlreadyExists" => {
            "an older rate limit is attached to the same Server, and only that one has an effect"
        }
        "BackendNotFound" => "a Service that backendRefs names does not exist, so requests to it get status 500",
        "InvalidKind" => "backendRefs names an object that is not a Service",
        "EgressReasonNetworkOverlap" => "the networks overlap those of the cluster; the object is used nevertheless",
        "EgressNetworkNotAccepted" => "the EgressNetwork named in parentRefs is not accepted",
        _ => UNKNOWN,
    }
}

/// The condition of a status as evidence.
fn status(kind: Kind, meta: &Meta, why: &Condition) -> Evidence {
    let text = match why.message.is_empty() {
        true => format!("{} False: {}", why.kind, why.reason),
        false => format!("{} False: {} ({})", why.kind, why.reason, why.message),
    };
    field(kind, meta, "status", text)
}

fn finding(ctx: &Context<'_>, kind: Kind, meta: &Meta, parent: &str, why: &Condition) -> Finding {
    about(
        ctx,
        kind,
        meta,
        format!("The policy controller does not accept {} for {parent}: {}", noun(kind), meaning(why)),
    )
    .severity(Severity::Warning)
    .remedy(rejected(kind, meta, why))
}

/// The repair. The status is read only if its reason has no known meaning.
fn rejected(kind: Kind, meta: &Meta, why: &Condition) -> Remedy {
    let remedy = match meaning(why) {
        UNKNOWN => Remedy::new().command(
            "Read the status, in which the policy controller gives its reason",
            on("get", kind, meta).words("-o yaml"),
        ),
        _ => Remedy::new(),
    };
    let act = match why.reason.as_str() {
        "NoMatchingParent" if why.message.contains("ClusterIP") => {
            "Attach the route to a Service with a ClusterIP that selects the same pods, or delete the route"
        }
        reason => correction(reason),
    };
    remedy.command(act, on("edit", kind, meta))
}
