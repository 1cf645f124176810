//! `policy-unreadable`: an object that the policy controller cannot read. Up to 2.19 it then reads no
//! object of that kind.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::apply_refused::is_refused;
use super::survey::{Survey, about, each, existing, field, mend_or_delete, on, removal, set, test, with_noun};
use crate::checks::prelude::*;
use crate::checks::reported::{log_of, logged, reported};
use crate::command::{Call, meshdoctor};
use crate::model::installed::COMPONENT;
use crate::model::policy::{Ignored, OutboundIndex, OutboundObjects, is_of_the_mesh};
use crate::objects::{EgressNetwork, POLICY_CONTROLLER, Route, RouteFilter};

/// The container of the policy controller.
const CONTAINER: &str = "policy";
/// The row of `mesh-logs.yaml` for objects that it cannot list.
const ROW: &str = "watch-unreadable";
const MEND: &str = "Correct the value that the message names";
/// The policy controller writes the status of a route within seconds.
const WRITTEN_WITHIN: SignedDuration = SignedDuration::from_mins(1);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = each(ctx)?;
    let version = survey.version.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string);
    let unreadable = survey.index.ignored().iter().filter(|one| one.unreadable);
    let findings = unreadable.filter_map(|one| {
        let (namespace, name) = one.key;
        let meta = Meta { namespace: namespace.into(), name: name.to_owned(), ..Meta::default() };
        let voids = survey.index.void().contains(&one.kind);
        let of_gateways = survey.route_of(one).is_some_and(|route| !is_of_the_mesh(route));
        if of_gateways && !voids {
            // The route is for other controllers, and Linkerd ignores only this one.
            return None;
        }
        if is_refused(ctx, one.kind, &meta) {
            return None;
        }
        let unwritten = voids.then(|| without_status(ctx, survey, one.kind)).flatten();
        let others = match voids {
            true if unwritten.is_some() => Others::Stopped,
            true => others(ctx, one.kind, survey),
            false => Others::Read,
        };
        let (message, severity) = consequence(one.kind, name, &one.why, others);
        let remedy = match one.kind {
            Kind::HTTPRoute | Kind::GRPCRoute => {
                of_the_gateway_api((one.kind, &meta, survey.route_of(one)), &one.why, voids, of_gateways)
            }
            kind => mend_or_delete(kind, &meta, MEND),
        };
        Some(
            about(ctx, one.kind, &meta, message)
                .severity(severity)
                .evidence(quoted(survey, one, format!("{} {namespace}/{name}", one.kind)))
                .evidences(unwritten.map(|route| {
                    let said = format!("no status of {POLICY_CONTROLLER}");
                    field(one.kind, &route.metadata, "status.parents", said)
                }))
                .evidence(Evidence::other("Linkerd", version.clone()))
                .symptoms(symptoms(ctx.applies(one.kind, &meta), voids))
                .remedy(remedy),
        )
    });
    let findings = findings.chain(networks(ctx, survey, &version));
    Ok(findings.collect())
}

/// The field that cannot be read, if the reason quotes its value; otherwise the reason.
fn quoted(survey: &Survey<'_>, one: &Ignored<'_>, object: String) -> Evidence {
    let value = || one.why.split('"').nth(1);
    if one.why.starts_with("protocol ")
        && let Some(value) = value()
    {
        return Evidence::field(object, "spec.proxyProtocol", value);
    }
    let filters = survey.route_of(one).into_iter().flat_map(|route| {
        let rules = route.spec.rules.iter().enumerate();
        rules.flat_map(|(at, rule)| rule.filters.iter().enumerate().map(move |(of, filter)| (at, of, filter)))
    });
    let is_its = |(.., filter): &(usize, usize, &RouteFilter)| Some(filter.kind.as_str()) == value();
    match filters.filter(|_| one.why.starts_with("filter type ")).find(is_its) {
        Some((rule, at, filter)) => {
            Evidence::field(object, format!("spec.rules[{rule}].filters[{at}].type"), filter.kind.as_str())
        }
        None => Evidence::field(object, "spec", one.why.clone()),
    }
}

/// Whether the policy controller reads the other objects of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    /// It does.
    Read,
    /// Not after its next start.
    LostLater,
    /// Its log shows that it cannot read them now.
    Stopped,
    /// Its log shows that it has not read them since its last start.
    Lost,
}

/// The consequence, and its severity.
fn consequence(kind: Kind, name: &str, why: &str, others: Others) -> (String, Severity) {
    let why = with_noun(kind, why);
    let effect = match others {
        Others::Read => {
            let alone = format!("The policy controller cannot read {kind} {name}, so it has no effect: {why}");
            return (alone, Severity::Warning);
        }
        Others::LostLater => {
            format!("It may ignore new and changed ones, and after its next restart no {kind} has an effect")
        }
        Others::Stopped => format!(
            "It no longer reads any {kind}: new and changed ones have no effect, and after its next restart none take \
             effect"
        ),
        Others::Lost => format!("It has read no {kind} since its last start, so none has an effect"),
    };
    (format!("The policy controller cannot read {kind} {name}: {why}. {effect}"), Severity::Error)
}

/// A route of the mesh that is older than a minute and has no status of the policy controller: it is not read.
fn without_status<'a>(ctx: &Context<'_>, survey: &Survey<'a>, kind: Kind) -> Option<&'a Route> {
    let routes = match kind {
        Kind::HTTPRoute => survey.objects.http_routes,
        Kind::LinkerdHTTPRoute => survey.objects.linkerd_http_routes,
        Kind::GRPCRoute => survey.objects.grpc_routes,
        _ => return None,
    };
    let is_unread = |route: &&Route| {
        let created = route.metadata.creation_timestamp.get();
        is_of_the_mesh(route)
            && created.is_some_and(|created| ctx.now().duration_since(created) > WRITTEN_WITHIN)
            && !route.status.parents.iter().any(|parent| parent.controller_name == POLICY_CONTROLLER)
            && !survey.index.ignored().iter().any(|one| one.unreadable && one.key == route.metadata.key())
    };
    routes.iter().find(is_unread)
}

/// What the log of the policy controller shows about the other objects of a kind that one object leaves unread.
fn others(ctx: &Context<'_>, kind: Kind, survey: &Survey<'_>) -> Others {
    let unread = || survey.index.ignored().iter().filter(|one| one.unreadable);
    // The log does not name the kind.
    if unread().any(|one| one.kind != kind) {
        return Others::LostLater;
    }
    let home = ctx.namespaces().control_plane.as_str();
    let is_own = |pod: &&Pod| {
        let meta = &pod.metadata;
        meta.namespace == home && meta.label(COMPONENT) == Some("destination") && !pod.is_finished()
    };
    let fails = |pod: &&Pod| {
        let log = log_of(ctx.log_hints(), pod, CONTAINER);
        reported(ctx, log, pod, CONTAINER).iter().any(|said| said.id() == ROW)
    };
    let Some(pod) = ctx.optional_list::<Pod>().iter().filter(is_own).find(fails) else {
        return Others::LostLater;
    };
    let created = unread().map(|one| survey.route_of(one)?.metadata.creation_timestamp.get());
    let created = created.collect::<Option<Vec<_>>>().and_then(|times| times.into_iter().min());
    let started = pod.container_status(CONTAINER).and_then(|status| status.state.running()?.started_at.get());
    match started.zip(created) {
        Some((started, created)) if started > created => Others::Lost,
        _ => Others::Stopped,
    }
}

/// The findings that an unreadable object explains: about the object itself, and about the line that the
/// controller logs.
///
/// An object that is not applied yet (`is_new`) is rejected before the controller reads it.
fn symptoms(is_new: bool, voids: bool) -> BTreeMap<String, Vec<Tie>> {
    let line = logged(if voids { ROW } else { "invalid-object-skipped" });
    let refused = (!is_new).then(|| ("apply-refused".to_owned(), Vec::new()));
    let reported =
        [("control-plane-reports-errors".to_owned(), vec![line.clone()]), ("known-defect".to_owned(), vec![line])];
    refused.into_iter().chain(reported).collect()
}

/// EgressNetworks with an invalid network.
fn networks(ctx: &Context<'_>, survey: &Survey<'_>, version: &str) -> Vec<Finding> {
    let objects = OutboundObjects { egress_networks: existing::<EgressNetwork>(ctx), ..OutboundObjects::default() };
    let index = OutboundIndex::new(survey.index.controller.clone(), &objects);
    let kind = Kind::EgressNetwork;
    let voids = index.void().contains(&kind);
    let findings = index.broken_networks().iter().map(|(network, why)| {
        let meta = &network.metadata;
        let (message, severity) =
            consequence(kind, &meta.name, why, if voids { Others::LostLater } else { Others::Read });
        about(ctx, kind, meta, message)
            .severity(severity)
            .evidence(field(kind, meta, "spec", why.as_str()))
            .evidence(Evidence::other("Linkerd", version))
            .symptoms(symptoms(ctx.applies(kind, meta), voids))
            .remedy(mend_or_delete(kind, meta, MEND))
    });
    findings.collect()
}

/// Such a route may be valid for a Gateway that supports more than Linkerd does.
fn of_the_gateway_api(
    (kind, meta, route): (Kind, &Meta, Option<&Route>),
    why: &str,
    voids: bool,
    of_gateways: bool,
) -> Remedy {
    let filter = why.split_once("filter type \"").and_then(|(_, rest)| rest.split('"').next());
    let part =
        filter.map_or_else(|| "the part that the message names".to_owned(), |filter| format!("the {filter} filter"));
    let instead = match (voids, of_gateways) {
        (true, true) => "Until the upgrade, configure it in the Gateway's own policy",
        (true, false) => "Until the upgrade, put filters for the Gateway into a separate route",
        (false, _) => "Put filters for the Gateway into a separate route",
    };
    let removed = route.zip(filter).and_then(|(route, filter)| without_filter(kind, route, filter));
    let remedy = Remedy::new()
        .run(
            StepKind::Command,
            format!("Remove {part} from the route"),
            removed.unwrap_or_else(|| on("edit", kind, meta)),
        )
        .step(StepKind::Note, instead);
    if !voids {
        return remedy;
    }
    remedy.run(
        StepKind::Note,
        "Upgrade to edge-26.1.2 or later (2.20), which ignores only this route and reads the others (the command \
         prints the plan)",
        meshdoctor().words("check --to 2.20 -o plan"),
    )
}

/// The command that removes the filters of a type from the rules of a route; `None` if a backend has one, too.
fn without_filter(kind: Kind, route: &Route, filter: &str) -> Option<Call> {
    let is_it = |one: &RouteFilter| one.kind == filter;
    let mut operations = Vec::new();
    for (at, rule) in route.spec.rules.iter().enumerate() {
        if rule.backend_refs.iter().any(|backend| backend.filters.iter().any(is_it)) {
            return None;
        }
        // From the last one on: a removal moves the items after it.
        for (of, _) in rule.filters.iter().enumerate().rev().filter(|(_, one)| is_it(one)) {
            let path = format!("/spec/rules/{at}/filters/{of}");
            operations.extend([test(format!("{path}/type"), filter), removal(path)]);
        }
    }
    (!operations.is_empty()).then(|| set(kind, &route.metadata, operations))
}
