//! `endpoint-refuses-ipv6`: proxies connect to the IPv6 endpoints of a dual-stack Service, and the application refuses.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::checks::prelude::*;
use crate::checks::reported::{FailedCall, failed_calls, proxy_logs};
use crate::objects::EndpointSlice;
use crate::objects::container::PROXY_CONTAINER;

/// The number of lines from which on a refusal is not that of a starting pod.
const LINES: usize = 3;
/// Maximum number of quoted lines.
const QUOTED: usize = 2;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.partial_list::<Service>()?;
    let slices = ctx.partial_list::<EndpointSlice>()?;
    let mut refused: BTreeMap<IpAddr, (&Pod, FailedCall<'_>)> = BTreeMap::new();
    for (pod, log) in proxy_logs(ctx)? {
        for call in failed_calls(ctx, log, pod, PROXY_CONTAINER) {
            let Some(address) = call.address().filter(|_| call.count >= LINES) else { continue };
            refused.entry(address.ip()).or_insert((pod, call));
        }
    }
    let findings = services.iter().filter(|service| ctx.judges(&service.metadata.namespace)).filter_map(|service| {
        let ready = |family: &'static str| {
            let own = EndpointSlice::for_service(slices, service).filter(move |slice| slice.address_type == family);
            own.flat_map(|slice| &slice.endpoints).filter(|one| one.is_ready()).filter_map(|one| one.address())
        };
        // If it also refuses IPv4, the family is not the reason.
        let is_dual = ready("IPv4").next().is_some();
        if !is_dual || ready("IPv4").any(|address| refused.contains_key(&address)) {
            return None;
        }
        let lines: Vec<_> = ready("IPv6").filter_map(|address| refused.get(&address)).collect();
        (!lines.is_empty()).then(|| finding(ctx, service, &lines))
    });
    Ok(findings.collect())
}

fn finding(ctx: &Context<'_>, service: &Service, lines: &[&(&Pod, FailedCall<'_>)]) -> Finding {
    let (namespace, name) = service.metadata.key();
    let said = lines
        .iter()
        .take(QUOTED)
        .map(|(pod, call)| Evidence::field(pod.described(), format!("log of {PROXY_CONTAINER}"), call.line.trim()));
    ctx.finding(
        Subject::object(Kind::Service, namespace, name),
        "the pods of this dual-stack Service refuse connections to their IPv6 addresses, which proxies prefer: the \
         application listens on IPv4 only, and calls of meshed clients fail",
    )
    .likely()
    .evidences(said)
    .evidence(Evidence::other(
        format!("EndpointSlices of Service {namespace}/{name}"),
        "IPv4 and IPv6 endpoints are ready",
    ))
    .remedy(Remedy::new().note("Let the application listen on both families: [::] instead of 0.0.0.0").note(
        "Otherwise create the Service with ipFamilyPolicy: SingleStack and ipFamilies: [IPv4], so that it has \
                 no IPv6 endpoints",
    ))
}
