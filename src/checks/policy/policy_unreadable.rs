//! `policy-unreadable`: an object that the policy controller cannot read. Up to 2.19 it then reads no
//! object of that kind.

use std::collections::BTreeMap;

use super::survey::{Survey, about, each, existing, field, mend_or_delete, on, with_noun};
use crate::checks::reported::logged;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Tie};
use crate::model::policy::{OutboundIndex, OutboundObjects, is_of_the_mesh};
use crate::objects::{EgressNetwork, Kind, Meta};

const MEND: &str = "Correct the field";

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
        let (message, severity) = said(one.kind, name, &one.why, voids);
        let remedy = match one.kind {
            Kind::HTTPRoute | Kind::GRPCRoute => of_the_gateway_api(one.kind, &meta, voids, of_gateways),
            kind => mend_or_delete(kind, &meta, MEND),
        };
        Some(
            about(ctx, one.kind, &meta, message)
                .severity(severity)
                .evidence(Evidence::field(
                    format!("{} {namespace}/{name}", one.kind),
                    "spec",
                    one.why.clone(),
                ))
                .evidence(Evidence::other("Linkerd", version.clone()))
                .symptoms(symptoms(ctx.applies(one.kind, &meta), voids))
                .remedy(remedy),
        )
    });
    let findings = findings.chain(networks(ctx, survey, &version));
    Ok(findings.collect::<Vec<_>>().into())
}

/// The consequence for the kind, and its severity.
fn said(kind: Kind, name: &str, why: &str, voids: bool) -> (String, Severity) {
    let why = with_noun(kind, why);
    if voids {
        let all = format!(
            "The policy controller cannot read {kind} {name}: {why}. After its next restart it reads no \
             {kind} at all, and all of them lose their effect"
        );
        return (all, Severity::Error);
    }
    let alone = format!("The policy controller cannot read {kind} {name}, so it has no effect: {why}");
    (alone, Severity::Warning)
}

/// The findings that an unreadable object explains: about the object itself, and about the line that the
/// controller logs.
///
/// An object that is not applied yet (`is_new`) is rejected before the controller reads it.
fn symptoms(is_new: bool, voids: bool) -> BTreeMap<String, Vec<Tie>> {
    let line = logged(if voids { "watch-unreadable" } else { "invalid-object-skipped" });
    let refused = (!is_new).then(|| ("apply-refused".to_owned(), Vec::new()));
    let reported = [
        ("control-plane-reports-errors".to_owned(), vec![line.clone()]),
        ("known-defect".to_owned(), vec![line]),
    ];
    refused.into_iter().chain(reported).collect()
}

/// EgressNetworks with an invalid network.
fn networks(ctx: &Context<'_>, survey: &Survey<'_>, version: &str) -> Vec<Finding> {
    let objects =
        OutboundObjects { egress_networks: existing::<EgressNetwork>(ctx), ..OutboundObjects::default() };
    let index = OutboundIndex::new(survey.index.controller.clone(), &objects);
    let kind = Kind::EgressNetwork;
    let voids = index.void().contains(&kind);
    let findings = index.broken_networks().iter().map(|(network, why)| {
        let meta = &network.metadata;
        let (message, severity) = said(kind, &meta.name, why, voids);
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
fn of_the_gateway_api(kind: Kind, meta: &Meta, voids: bool, of_gateways: bool) -> Remedy {
    let act = match (voids, of_gateways) {
        (true, true) => {
            "Remove this part from the route. Until the upgrade, configure it in the Gateway's own policy"
        }
        (true, false) => {
            "Remove this part from the route. Until the upgrade, put filters for the Gateway into a separate route"
        }
        (false, _) => {
            "Remove this part from the route, and put filters for the Gateway into a separate route"
        }
    };
    let remedy = Remedy::new().run(StepKind::Command, act, on("edit", kind, meta));
    if !voids {
        return remedy;
    }
    remedy.step(
        StepKind::Note,
        "Upgrade to edge-26.1.2 or later (2.20), which ignores only this route and reads the others",
    )
}
