//! `exported-headless-without-hostnames`: other clusters mirror a headless Service with one address, because its
//! endpoints have no host names.

use super::exports::through_gateway;
use crate::checks::prelude::*;
use crate::objects::EndpointSlice;
use crate::objects::service::EXPORTED;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.partial_list::<Service>()?;
    let slices = ctx.complete_list::<EndpointSlice>()?;
    ctx.partial_list::<Pod>()?;
    let exported = through_gateway(services).into_iter();
    let findings = exported
        .filter(|service| service.spec.cluster_ip.headless && ctx.judges(&service.metadata.namespace))
        .filter_map(|service| {
            let endpoints = || EndpointSlice::for_service(slices, service).flat_map(|slice| &slice.endpoints);
            let unnamed = endpoints().next().is_some() && endpoints().all(|endpoint| endpoint.hostname.is_none());
            // The pods of other workloads have no names of their own.
            let pod = ctx.selected().by(service).find(|pod| is_of_stateful_set(pod)).filter(|_| unnamed)?;
            Some(finding(ctx, service, pod))
        });
    Ok(findings.collect())
}

fn is_of_stateful_set(pod: &Pod) -> bool {
    pod.metadata.controller().is_some_and(|owner| owner.kind == "StatefulSet")
}

fn finding(ctx: &Context<'_>, service: &Service, pod: &Pod) -> Finding {
    let (namespace, name) = service.metadata.key();
    let set = pod.metadata.controller().map(|owner| owner.name.as_str()).unwrap_or_default();
    ctx.finding(
        Subject::object(Kind::Service, namespace, name),
        "the endpoints of this exported headless Service have no host names: other clusters mirror it with one \
         address, and the names of its pods do not resolve there",
    )
    .likely()
    .evidence(Evidence::other(format!("EndpointSlices of Service {namespace}/{name}"), "no endpoint has a hostname"))
    .evidence(Evidence::field(
        Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name),
        "metadata.ownerReferences",
        format!("StatefulSet {set}"),
    ))
    .remedy(
        Remedy::new()
            .command(
                "Find the Service that gives these pods their names",
                kubectl()
                    .namespace(namespace)
                    .words("get statefulset")
                    .operand(set)
                    .words("-o jsonpath={.spec.serviceName}"),
            )
            .note(format!("If other clusters call the pods by name, label that Service {EXPORTED}=true instead")),
    )
}
