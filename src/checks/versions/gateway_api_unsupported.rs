//! `gateway-api-unsupported`: the definitions of Gateway API are of a release outside the range that
//! Linkerd's release supports.

use std::cmp::Ordering;

use super::gateway_api::{BUNDLE, CHANNEL, GRPC, HTTP, bring, bundle, comes_with_linkerd, definition, serves};
use crate::checks::control_plane::installation::release;
use crate::checks::prelude::*;
use crate::knowledge::GatewayApi;
use crate::objects::CustomResourceDefinition;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (http, grpc) = (definition(ctx, HTTP), definition(ctx, GRPC));
    let (version, seen) = release(ctx)?;
    let Some(wanted) = ctx.knowledge.releases().for_version(&version).and_then(|row| row.gateway_api.as_ref()) else {
        return Err(Unjudged::not_applicable(format!(
            "the Gateway API versions that {version} supports are not known"
        )));
    };
    let (http, grpc) = (http?, grpc?);
    if http.is_none() && grpc.is_none() {
        return Err(Unjudged::not_applicable("the Gateway API CRDs are not installed"));
    }
    let findings =
        [(http, &wanted.http_route), (grpc, &wanted.grpc_route)].into_iter().filter_map(|(found, served)| {
            // One that lacks the version is another check's.
            let of_linkerd = ctx
                .upgraded()
                .filter(|upgrade| found.is_some_and(|one| comes_with_linkerd(ctx, one, &upgrade.to)))
                .and_then(|upgrade| ctx.knowledge.releases().bundled_gateway_api(&upgrade.to));
            let definition = found.filter(|one| of_linkerd.is_some() || serves(one, served))?;
            let (bundle, number) = bundle(definition)?;
            // The upgrade installs Linkerd's own.
            let number = of_linkerd.filter(|brought| **brought > number).unwrap_or(&number);
            let finding = finding(ctx, definition, bundle, wanted, wanted.compare(number))?;
            let finding =
                finding.evidences(of_linkerd.map(|brought| {
                    Evidence::other("linkerd upgrade --crds", format!("reinstalls Gateway API {brought}"))
                }));
            let range = format!("Gateway API {} to {}", wanted.minimum, wanted.maximum);
            Some(finding.evidence(Evidence::other(format!("Linkerd {version}"), range)).evidence(seen.clone()))
        });
    Ok(findings.collect())
}

fn finding(
    ctx: &Context<'_>,
    definition: &CustomResourceDefinition,
    bundle: &str,
    wanted: &GatewayApi,
    order: Ordering,
) -> Option<Finding> {
    let name = &definition.metadata.name;
    let (severity, message, remedy) = match order {
        Ordering::Equal => return None,
        Ordering::Less => (
            Severity::Warning,
            "the Gateway API CRDs are older than this Linkerd release supports: the API server drops route \
             fields that they do not have, so these never reach a proxy",
            bring(ctx, Remedy::new(), Some(definition), wanted),
        ),
        Ordering::Greater => (
            Severity::Info,
            "the Gateway API CRDs are newer than this Linkerd release documents: newer route fields have \
             no effect on its proxies",
            Remedy::new().note(format!(
                "Use no route fields newer than Gateway API {}, and do not go back to older CRDs: \
                     stored objects may not fit them. A later Linkerd release may support the installed \
                     ones",
                wanted.maximum
            )),
        ),
    };
    let channel = definition.metadata.annotations.get(CHANNEL).map_or("no channel", String::as_str);
    let evidence = Evidence::field(
        format!("CustomResourceDefinition {name}"),
        format!("metadata.annotations[{BUNDLE}]"),
        format!("{bundle} ({channel})"),
    );
    let subject = Subject::object("CustomResourceDefinition", "", name);
    let finding = ctx.finding(subject, message).severity(severity).evidence(evidence).remedy(remedy);
    Some(finding.likely())
}
