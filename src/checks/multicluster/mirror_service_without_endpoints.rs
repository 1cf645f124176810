//! `mirror-service-without-endpoints`: a mirror service has no endpoints.

use super::links::{CLUSTER, is_found_over_there, mirrors, mirrors_of, with_endpoints};
use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::command::{linkerd, program};
use crate::objects::EndpointSlice;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.partial_list::<Service>()?;
    let mut mirrors = mirrors(services).filter(|service| !is_found_over_there(service)).peekable();
    if mirrors.peek().is_none() {
        return Err(Unjudged::not_applicable("no mirror service has endpoints of its own"));
    }
    let mut mirrors = mirrors.filter(|service| !service.is_federated()).peekable();
    if mirrors.peek().is_none() {
        return Ok(Verdict::fine());
    }
    let served = with_endpoints(ctx.complete_list::<EndpointSlice>()?);
    let findings = mirrors
        .map(|service| &service.metadata)
        .filter(|meta| !served.contains(&(meta.namespace.as_str(), meta.name.as_str())))
        .map(|meta| {
            let subject = Subject::object(Kind::Service, &meta.namespace, &meta.name);
            let object = subject.to_string();
            let cluster = meta.label(CLUSTER).unwrap_or("missing");
            let finding = ctx.finding(subject, "the mirror service has no endpoints: calls to it fail at once");
            spared(finding, ctx.within_grace(meta.creation_timestamp))
                .tie(mirrors_of(cluster))
                .evidence(Evidence::other(
                    format!("EndpointSlices of {}/{}", meta.namespace, meta.name),
                    "no endpoint in any",
                ))
                .evidence(Evidence::field(object, format!("metadata.labels[{CLUSTER}]"), cluster))
                .remedy(remedy(meta))
        });
    Ok(findings.collect())
}

/// A line for each route that refers to the Service `$name`.
const ROUTES_TO_NAME: &str = concat!(
    ".items[] | select(any(.spec.rules[]?.backendRefs[]?; .name == $name)) ",
    r#"| "\(.kind) \(.metadata.namespace)/\(.metadata.name)""#,
);

fn remedy(meta: &Meta) -> Remedy {
    // A line for each kind: if one is not served, the others still work.
    let routes = |kind: &'static str| {
        kubectl()
            .words("get")
            .words(kind)
            .words("--all-namespaces -o json")
            .pipe(program("jq").words("-r --arg name").arg(&meta.name).arg(ROUTES_TO_NAME))
    };
    Remedy::new()
        .command(
            "Check that the gateway's address is known and that the gateway is alive",
            linkerd().words("multicluster gateways"),
        )
        .note("If so, check that the Service in the other cluster exists, is exported and has endpoints")
        .command(
            "Until it has endpoints, remove it from the routes that send traffic to it, or set its weight \
             to 0",
            Command::lines([
                routes("httproutes.policy.linkerd.io"),
                routes("httproutes.gateway.networking.k8s.io"),
                routes("grpcroutes.gateway.networking.k8s.io"),
            ]),
        )
}
