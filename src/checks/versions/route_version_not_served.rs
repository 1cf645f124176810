//! `route-version-not-served`: TLSRoutes or TCPRoutes of the mesh are served only in versions that Linkerd
//! does not read.

use super::gateway_api::{BUNDLE, bundle, definition, reads, serves};
use crate::checks::control_plane::installation::release;
use crate::checks::prelude::*;
use crate::objects::{Route, TCPRoute, TLSRoute};

/// Maximum number of quoted routes.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (tls, tcp) = (ctx.partial_list::<TLSRoute>(), ctx.partial_list::<TCPRoute>());
    let definitions = [Kind::TLSRoute, Kind::TCPRoute].map(|kind| definition(ctx, &kind.resource()));
    let (version, seen) = release(ctx)?;
    let releases = ctx.knowledge.releases();
    let row = releases.for_version(&version).and_then(|row| row.gateway_api.as_ref());
    let Some(wanted) = row.and_then(|wanted| wanted.tls_route.as_deref()) else {
        return Err(Unjudged::not_applicable(format!("{version} is not known to read TLSRoutes")));
    };
    if releases.is_beyond(&version) {
        return Err(Unjudged::not_applicable(format!("the TLSRoute version that {version} reads is not known")));
    }
    let [tls_definition, tcp_definition] = definitions;
    let (tls_definition, tcp_definition) = (tls_definition?, tcp_definition?);
    // Without a CRD there are no routes, and the API server reports the kind as not served.
    let tls = tls_definition.map_or(Ok(&[][..]), |_| tls)?;
    let tcp = tcp_definition.map_or(Ok(&[][..]), |_| tcp)?;
    let each = [(Kind::TLSRoute, tls_definition, tls), (Kind::TCPRoute, tcp_definition, tcp)];
    let findings = each.into_iter().filter_map(|(kind, definition, routes)| -> Option<Finding> {
        let definition = definition.filter(|definition| !serves(definition, wanted))?;
        let resource = kind.resource();
        let plural = resource.split('.').next().unwrap_or_default();
        let of_the_mesh: Vec<&Route> = routes.iter().filter(|route| is_of_the_mesh(route)).collect();
        if of_the_mesh.is_empty() || !reads(ctx, &version, plural) {
            return None;
        }
        let served = definition.spec.versions.iter().filter(|version| version.served);
        let served: Vec<&str> = served.map(|version| version.name.as_str()).collect();
        let object = format!("CustomResourceDefinition {}", definition.metadata.name);
        let message = format!(
            "{kind}s are not served as {wanted}, the only version that this Linkerd release reads: those \
             attached to Services and EgressNetworks have no effect"
        );
        let quoted = of_the_mesh.iter().take(QUOTED).map(|route| {
            let (namespace, name) = route.metadata.key();
            let parents: Vec<String> = route.spec.parent_refs.iter().map(|parent| parent.name.clone()).collect();
            Evidence::field(format!("{kind} {namespace}/{name}"), "spec.parentRefs[].name", parents.join(", "))
        });
        let of = bundle(definition)
            .map(|(said, _)| Evidence::field(&object, format!("metadata.annotations[{BUNDLE}]"), said));
        Some(
            ctx.finding(Subject::object(Kind::CustomResourceDefinition, "", &definition.metadata.name), message)
                .evidence(Evidence::field(&object, "spec.versions", format!("{} served", served.join(", "))))
                .evidences(of)
                .evidences(quoted)
                .evidence(seen.clone())
                .remedy(Remedy::new().step(
                    StepKind::Command,
                    format!(
                        "Install the CRD of {kind} from a Gateway API release and channel that serve \
                         {wanted}, and restart linkerd-destination"
                    ),
                )),
        )
    });
    Ok(findings.collect())
}

/// Whether a route applies to proxies; gateways have their own controllers.
fn is_of_the_mesh(route: &Route) -> bool {
    route
        .spec
        .parent_refs
        .iter()
        .any(|parent| parent.is_a("", "Service") || parent.is_a("policy.linkerd.io", "EgressNetwork"))
}
