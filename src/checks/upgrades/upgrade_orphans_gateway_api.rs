//! `upgrade-orphans-gateway-api`: Linkerd installed the Gateway API, and the target leaves it unmanaged.

use super::Upgrade;
use super::plan::moves_gateway_api;
use crate::checks::prelude::*;
use crate::checks::versions::gateway_api::{
    BUNDLE, GRPC, HTTP, brings_gateway_api, bundle, comes_with_linkerd, definition,
};
use crate::command::meshdoctor;
use crate::model::control_plane::CREATED_BY;
use crate::objects::CustomResourceDefinition;

/// Linkerd's guide for the transfer.
const TRANSFER: &str = "https://linkerd.io/2/tasks/gateway-api-ownership-migration/";

/// Kinds that Linkerd also installed, in some releases.
const OTHERS: [&str; 2] = ["tcproutes.gateway.networking.k8s.io", "tlsroutes.gateway.networking.k8s.io"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let (http, grpc) = (definition(ctx, HTTP), definition(ctx, GRPC));
    let others = OTHERS.map(|name| definition(ctx, name));
    let others = others.into_iter().filter_map(|other| ctx.or_note(other));
    let there: Vec<&CustomResourceDefinition> = [http?, grpc?].into_iter().chain(others).flatten().collect();
    let row = ctx.knowledge.releases().for_version(way.to);
    let Some(wanted) = row.and_then(|row| row.gateway_api.as_ref()) else {
        return Err(Unjudged::not_applicable(format!(
            "the Gateway API versions that {} supports are not known",
            way.to
        )));
    };
    if there.is_empty() {
        return Err(Unjudged::not_applicable("the Gateway API CRDs are not installed"));
    }
    let linkerds = |one: &&&CustomResourceDefinition| one.metadata.annotations.contains_key(CREATED_BY);
    let own: Vec<_> = there.iter().filter(linkerds).collect();
    let Some(first) = own.first() else { return Ok(Verdict::fine()) };
    if comes_with_linkerd(ctx, first, way.to) || !brings_gateway_api(ctx, &way.from) {
        return Ok(Verdict::fine());
    }
    let subject =
        |one: &CustomResourceDefinition| Subject::object(Kind::CustomResourceDefinition, "", &one.metadata.name);
    let message = "Linkerd installed these Gateway API CRDs, and the target's charts no longer do. Until their \
                   ownership moves, nothing upgrades them to a version that the target supports";
    let seen = own.iter().flat_map(|one| {
        let object = format!("CustomResourceDefinition {}", one.metadata.name);
        let by = one.metadata.annotations.get(CREATED_BY);
        let by = by.map(|by| Evidence::field(&object, format!("metadata.annotations[{CREATED_BY}]"), by));
        let of = bundle(one).map(|(said, _)| Evidence::field(&object, format!("metadata.annotations[{BUNDLE}]"), said));
        by.into_iter().chain(of)
    });
    let transfer = || {
        Remedy::new().note(format!(
            "Decide who installs the Gateway API from now on. For its own manifests, {} to {} for the target, \
                 transfer the ownership of the CRDs: {TRANSFER}",
            wanted.minimum, wanted.maximum
        ))
    };
    let remedy = match moves_gateway_api(ctx, &way.from, way.to) {
        true => Remedy::new().command(
            "Follow the plan, which moves the CRDs to manifests of their own before a chart changes them",
            meshdoctor().words("check --to").arg(way.to.to_string()).words("-o plan"),
        ),
        false => transfer(),
    };
    let finding = ctx.finding(subject(first), message).evidences(seen).evidence(way.target.clone()).remedy(remedy);
    Ok(own.iter().skip(1).fold(finding, |finding, one| finding.subject(subject(one))).into())
}
