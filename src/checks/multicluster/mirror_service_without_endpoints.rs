//! `mirror-service-without-endpoints`: a mirror service leads nowhere.

use super::links::{CLUSTER, is_federated, is_found_over_there, mirrors, mirrors_of, with_endpoints};
use crate::checks::extensions::{absent, extension_namespace, remedy};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, StepKind, Subject};
use crate::item::{Extension, Kind};
use crate::model::objects::{EndpointSlice, Service};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.seen::<Service>(Kind::Service)?;
    if extension_namespace(ctx, Extension::Multicluster)?.is_none() {
        return Ok(absent(Extension::Multicluster));
    }
    let mut mirrors = mirrors(services).filter(|service| !is_found_over_there(service)).peekable();
    if mirrors.peek().is_none() {
        return Ok(Verdict::not_applicable("there are no mirror services with endpoints of their own"));
    }
    let mut mirrors = mirrors.filter(|service| !is_federated(service)).peekable();
    if mirrors.peek().is_none() {
        return Ok(Verdict::fine());
    }
    let served = with_endpoints(ctx.every::<EndpointSlice>(Kind::EndpointSlice)?);
    let findings = mirrors
        .map(|service| &service.metadata)
        .filter(|meta| !served.contains(&(meta.namespace.as_str(), meta.name.as_str())))
        .map(|meta| {
            let subject = Subject::object(Kind::Service, &meta.namespace, &meta.name);
            let object = subject.to_string();
            let cluster = meta.label(CLUSTER).unwrap_or("not there");
            ctx.finding(subject, "the mirror service has no endpoints: calls to it fail at once")
                .tie(mirrors_of(cluster))
                .evidence(Evidence::other(
                    format!("EndpointSlices of {}/{}", meta.namespace, meta.name),
                    "no endpoint in any",
                ))
                .evidence(Evidence::field(object, format!("metadata.labels[{CLUSTER}]"), cluster))
                .remedy(
                    remedy(Extension::Multicluster)
                        .run(
                            StepKind::Command,
                            "See that a gateway address is known and its gateway alive",
                            "linkerd multicluster gateways",
                        )
                        .step(
                            StepKind::Note,
                            "Where it is, see that the service over there still exists, is exported, and has endpoints",
                        )
                        .run(
                            StepKind::Command,
                            "Until it has endpoints, take it out of the routes that send to it, or give it the weight 0: what they send \
                             there fails",
                            format!(
                                "kubectl get httproutes.policy.linkerd.io,httproutes.gateway.networking.k8s.io,grpcroutes.gateway.networking.k8s.io --all-namespaces -o json | jq -r '.items[] | select(.spec.rules[]?.backendRefs[]?.name == \"{}\") | \"\\(.kind) \\(.metadata.namespace)/\\(.metadata.name)\"'",
                                meta.name
                            ),
                        ),
                )
        });
    Ok(findings.collect::<Vec<_>>().into())
}
