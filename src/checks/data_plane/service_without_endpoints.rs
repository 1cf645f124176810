//! `service-without-endpoints`: a proxy's log reports calls to a Service that has no ready endpoint.

use std::collections::BTreeMap;

use crate::checks::multicluster::links::is_mirror;
use crate::checks::no_endpoint;
use crate::checks::prelude::*;
use crate::checks::reported::{FailedCall, failed_calls, proxy_logs};
use crate::finding::Moment;
use crate::model::endpoints::NoEndpoint;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{EndpointSlice, StatefulSet};

/// The number of clients whose log lines are quoted.
const QUOTED: usize = 3;

/// A Service, and the failed calls to it with their clients.
struct ServiceCalls<'a> {
    service: &'a Service,
    calls: Vec<(&'a Pod, FailedCall<'a>)>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (services, slices) = (ctx.complete_list::<Service>()?, ctx.complete_list::<EndpointSlice>()?);
    let mut called: BTreeMap<(&str, &str), ServiceCalls<'_>> = BTreeMap::new();
    for (client, log) in proxy_logs(ctx)? {
        for call in failed_calls(ctx, log, client, PROXY_CONTAINER) {
            let is_called = |service: &&Service| call.is_to(service);
            let Some(service) = services.iter().filter(|service| !is_mirror(service)).find(is_called) else {
                continue;
            };
            let new = || ServiceCalls { service, calls: Vec::new() };
            called.entry(service.metadata.key()).or_insert_with(new).calls.push((client, call));
        }
    }
    let findings = called.into_values().filter_map(|ServiceCalls { service, calls }| {
        let (ready, all) = EndpointSlice::counted(slices, service);
        (ready == 0).then(|| finding(ctx, service, all, &calls))
    });
    Ok(findings.collect())
}

fn finding(ctx: &Context<'_>, service: &Service, all: usize, calls: &[(&Pod, FailedCall<'_>)]) -> Finding {
    let (namespace, name) = service.metadata.key();
    let workloads = [
        (Kind::Deployment, ctx.optional_list::<Deployment>()),
        (Kind::StatefulSet, ctx.optional_list::<StatefulSet>()),
    ];
    let workloads = workloads.into_iter().flat_map(|(kind, list)| list.iter().map(move |one| (kind, one)));
    let cause = NoEndpoint::explain(service, ctx.optional_list::<Pod>(), workloads);
    let lines = calls.iter().take(QUOTED).map(|(client, call)| Evidence::other(log_of(client), call.line.trim()));
    let moments = calls.iter().filter_map(|(client, call)| {
        let says = format!("a call to Service {namespace}/{name} fails");
        Moment::new(call.at, client.described(), "log of linkerd-proxy".to_owned(), says)
    });
    let finding = ctx
        .finding(
            Subject::object(Kind::Service, namespace, name),
            format!(
                "The Service has no ready endpoint, because {cause}: calls of its meshed clients fail \
                     (\"service in fail-fast\")"
            ),
        )
        .severity(Severity::Error)
        .evidence(Evidence::other(format!("EndpointSlices of Service {namespace}/{name}"), format!("0 of {all} ready")))
        .evidences(cause.evidence())
        .evidences(lines)
        .timeline(moments)
        .remedy(no_endpoint::remedy(service, &cause));
    match calls.iter().any(|(_, call)| call.at.is_some()) {
        true => finding,
        // The line may be older than the present state.
        false => finding.severity(Severity::Warning).likely(),
    }
}

fn log_of(pod: &Pod) -> String {
    format!("{}, log of {PROXY_CONTAINER}", pod.described())
}
