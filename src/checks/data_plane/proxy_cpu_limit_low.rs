//! `proxy-cpu-limit-low`: the proxy of an ingress or gateway has a CPU limit below half a core, or a
//! fractional one.

use crate::checks::admission::Rules;
use crate::checks::pod_owners::{Maker, makers};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::injection::INJECT;
use crate::model::quantity;

const KEY: &str = "config.linkerd.io/proxy-cpu-limit";
/// Parts of the image names of ingress controllers and gateways.
const GATEWAYS: [&str; 11] = [
    "ingress-nginx",
    "nginx-ingress",
    "ingress-controller",
    "traefik",
    "contour",
    "envoyproxy/envoy",
    "kong",
    "haproxy",
    "emissary",
    "apisix",
    "gloo",
];
/// Half a core. Below it, the proxy's only worker is throttled at once.
const HALF: f64 = 0.5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::from_context(ctx);
    let services = ctx.partial_list::<Service>();
    let makers = makers(ctx)?;
    let (rules, services) = (rules?, services?);
    let mut findings: Vec<Finding> = Vec::new();
    for maker in makers.iter().filter(|maker| ctx.judges(maker.namespace()) && rules.is_meshed(maker)) {
        let running = maker.spec.proxy().and_then(|proxy| proxy.resources.as_deref());
        let running = running.map(|resources| resources.limits.cpu.as_str()).filter(|limit| !limit.is_empty());
        let (limit, evidence) = match (running, rules.setting(maker, KEY, "proxy.resources.cpu.limit")) {
            (Some(limit), _) => {
                (limit.to_owned(), maker.field("spec.containers[linkerd-proxy].resources.limits.cpu", limit))
            }
            (None, Some(setting)) => (setting.value, setting.evidence),
            (None, None) => continue,
        };
        let Some(cores) = quantity::read(&limit).filter(|cores| *cores > 0.0) else { continue };
        let fraction = cores > 1.0 && (cores - cores.round()).abs() > 1e-6;
        let Some(role) = gateway(maker, services) else { continue };
        let message = if cores < HALF {
            "a gateway's proxy has a CPU limit below half a core. Under load it is throttled, which causes \
             latency and failing fast without any other symptom"
        } else if fraction {
            "the CPU limit of a gateway's proxy is not a whole number of cores. It runs one worker for each \
             started core, and these are throttled"
        } else {
            continue;
        };
        let whole = format!("{:.0}", cores.ceil().max(1.0));
        let act = format!("Set {KEY}: {whole:?}, a whole number of cores,");
        let remedy = rewrite::of_owner(ctx, Remedy::new(), &act, &maker.owner, &[(KEY, Some(&whole))]).step(
            StepKind::Annotation,
            "Or set only a CPU request (config.linkerd.io/proxy-cpu-request) and no limit. Since 2.18, \
             config.linkerd.io/proxy-cpu-ratio-limit limits the workers by the cores of the node",
        );
        findings.push(
            ctx.finding(maker.subject(), message)
                .severity(Severity::Warning)
                .evidence(evidence)
                .evidence(role)
                .remedy(remedy),
        );
    }
    Ok(findings.into())
}

/// Evidence that a workload is a gateway for traffic of many clients; `None` for other workloads, whose
/// proxies need little CPU.
fn gateway(maker: &Maker<'_>, services: &[Service]) -> Option<Evidence> {
    if maker.meta.annotation(INJECT) == Some("ingress") {
        return Some(maker.field(&format!("metadata.annotations[{INJECT}]"), "ingress"));
    }
    let balanced = services.iter().find(|service| {
        service.metadata.namespace == maker.namespace()
            && service.spec.kind == "LoadBalancer"
            && !service.spec.selector.is_empty()
            && service.spec.selector.iter().all(|(key, value)| maker.meta.label(key) == Some(value))
    });
    if let Some(service) = balanced {
        return Some(Evidence::field(service.metadata.described("Service"), "spec.type", "LoadBalancer"));
    }
    let container =
        maker.spec.containers.iter().find(|container| GATEWAYS.iter().any(|part| container.image.contains(part)))?;
    Some(maker.field(&format!("spec.containers[{}].image", container.name), &container.image))
}
