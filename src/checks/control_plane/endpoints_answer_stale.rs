//! `endpoints-answer-stale`: destination returned addresses of pods that were deleted or have another
//! address now.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::checks::diagnosed::answers;
use crate::checks::prelude::*;
use crate::command::linkerd;
use crate::item::diagnostic::{Answer, Endpoint, ServiceEndpoints};

/// Maximum number of addresses quoted for a Service.
const QUOTED: usize = 5;

/// The endpoints of a Service by an unknown replica. Those of a known one are compared with EndpointSlices by another
/// check.
fn of_unknown_replica(answer: &Answer) -> Option<&ServiceEndpoints> {
    answer.of_service().filter(|service| service.replica.is_empty())
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = answers(ctx, of_unknown_replica, "answers of destination")?;
    let pods: HashMap<(&str, &str), &Pod> =
        ctx.complete_list::<Pod>()?.iter().map(|pod| (pod.metadata.key(), pod)).collect();
    let mut findings = Vec::new();
    for service in services.into_iter().filter(|service| ctx.judges(&service.namespace)) {
        let wrong = |endpoint: &Endpoint| match pods.get(&(service.namespace.as_str(), endpoint.pod.as_str())) {
            None => Some("the pod does not exist".to_owned()),
            Some(pod) if pod.is_finished() => Some("the pod has ended".to_owned()),
            Some(pod) => {
                let given: IpAddr = endpoint.ip.parse().ok()?;
                // Of another family, evidence can lack the address.
                let own = pod.addresses().find(|own| own.is_ipv4() == given.is_ipv4())?;
                (!pod.has_address(given)).then(|| format!("the pod's address is {own}"))
            }
        };
        let stale: Vec<(&Endpoint, String)> =
            service.endpoints.iter().filter_map(|endpoint| Some((endpoint, wrong(endpoint)?))).collect();
        if stale.is_empty() {
            continue;
        }
        let object = format!("linkerd diagnostics endpoints, Service {}/{}", service.namespace, service.service);
        let more = stale.len().saturating_sub(QUOTED);
        let quoted = stale.iter().take(QUOTED).map(|(endpoint, why)| {
            Evidence::other(object.clone(), format!("{}:{} of pod {}: {why}", endpoint.ip, endpoint.port, endpoint.pod))
        });
        let rest = (more > 0).then(|| Evidence::other(object.clone(), format!("and {more} more")));
        let namespace = ctx.namespaces().control_plane.as_str();
        findings.push(
            ctx.finding(
                Subject::object(Kind::Service, &service.namespace, &service.service),
                "destination's answer contains addresses that no longer belong to its pods: it is outdated, \
                or was captured before the pods changed",
            )
            .likely()
            .evidences(quoted.chain(rest))
            .remedy(
                Remedy::new()
                    .command(
                        "Query destination again",
                        linkerd().words("diagnostics endpoints -o json").arg(
                            Arg::from(format!("{}.{}.svc.cluster.local:", service.service, service.namespace))
                                .then(Arg::placeholder("PORT")),
                        ),
                    )
                    .command(
                        "If it still returns these addresses, restart destination",
                        kubectl().namespace(namespace).words("rollout restart deploy/linkerd-destination"),
                    ),
            ),
        );
    }
    Ok(findings.into())
}
