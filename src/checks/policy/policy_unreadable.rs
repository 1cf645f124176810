//! `policy-unreadable`: an object that the policy controller cannot read; up to 2.19 it reads no other of its kind then.

use super::survey::{Survey, about, each, existing, field, mend_or_delete, on};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind};
use crate::model::policy::{OutboundIndex, OutboundObjects, is_of_the_mesh};
use crate::objects::{EgressNetwork, Kind, Meta};

const MEND: &str = "Write what it says above as it should be, and apply it again";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = each(ctx)?;
    let version = survey.version.as_ref().map_or_else(|| "not known".to_owned(), ToString::to_string);
    let unreadable = survey.index.ignored().iter().filter(|one| one.unreadable);
    let findings = unreadable.filter_map(|one| {
        let (namespace, name) = one.key;
        let meta = Meta { namespace: namespace.into(), name: name.to_owned(), ..Meta::default() };
        let voids = survey.index.void().contains(&one.kind);
        let of_gateways = survey.route_of(one).is_some_and(|route| !is_of_the_mesh(route));
        if of_gateways && !voids {
            // It is for others to read, and Linkerd passes over it alone.
            return None;
        }
        let (message, severity) = said(one.kind, voids);
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
                .remedy(remedy),
        )
    });
    let findings = findings.chain(networks(ctx, survey, &version));
    Ok(findings.collect::<Vec<_>>().into())
}

/// What comes of it for the kind, and how bad that is.
fn said(kind: Kind, voids: bool) -> (String, Severity) {
    if voids {
        let all = format!(
            "the policy controller cannot read it, and this release then reads no {kind} of the cluster from its next start on: all of \
             them count for nothing"
        );
        return (all, Severity::Error);
    }
    let alone = "the policy controller cannot read it and passes it over: it counts for nothing";
    (alone.to_owned(), Severity::Warning)
}

/// EgressNetworks with a network that is none.
fn networks(ctx: &Context<'_>, survey: &Survey<'_>, version: &str) -> Vec<Finding> {
    let objects =
        OutboundObjects { egress_networks: existing::<EgressNetwork>(ctx), ..OutboundObjects::default() };
    let index = OutboundIndex::new(survey.index.controller.clone(), &objects);
    let kind = Kind::EgressNetwork;
    let (message, severity) = said(kind, index.void().contains(&kind));
    let findings = index.broken_networks().iter().map(|(network, why)| {
        let meta = &network.metadata;
        about(ctx, kind, meta, message.as_str())
            .severity(severity)
            .evidence(field(kind, meta, "spec", why.as_str()))
            .evidence(Evidence::other("Linkerd", version))
            .remedy(mend_or_delete(kind, meta, MEND))
    });
    findings.collect()
}

/// Such a route may be right, and serve a Gateway that knows more than Linkerd does.
fn of_the_gateway_api(kind: Kind, meta: &Meta, voids: bool, of_gateways: bool) -> Remedy {
    let mut remedy =
        Remedy::new().run(StepKind::Command, "See what is written", on("get", kind, meta).words("-o yaml"));
    if voids {
        remedy = remedy.step(
            StepKind::Note,
            "Upgrade to edge-26.1.2 or later (2.20), which passes over this route alone and reads the others",
        );
    }
    remedy.step(
        StepKind::Note,
        match (voids, of_gateways) {
            (true, true) => {
                "Until then, take out what is said above and have the Gateway do it by a policy of its own kind"
            }
            (true, false) => {
                "Until then, take out what is said above; what a Gateway should do with requests belongs in a route of its own"
            }
            (false, _) => {
                "Take out what is said above; what a Gateway should do with requests belongs in a route of its own, next to the one \
                 for the Service"
            }
        },
    )
}
