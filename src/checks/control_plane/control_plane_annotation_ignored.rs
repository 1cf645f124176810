//! `control-plane-annotation-ignored`: proxy annotations on the control plane's own pods, which the
//! injector never handles.

use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::model::control_plane::components;
use crate::objects::Deployment;

/// Annotations that the charts write themselves, or that components other than the injector read.
const OF_CHART: [&str; 4] = [
    "config.linkerd.io/default-inbound-policy",
    "config.linkerd.io/opaque-ports",
    "config.linkerd.io/skip-inbound-ports",
    "config.linkerd.io/skip-outbound-ports",
];
/// The parts of keys that configure the injector.
const DOMAINS: [&str; 3] = ["config.linkerd.io/", "config.alpha.linkerd.io/", "config.beta.linkerd.io/"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.seen::<Deployment>()?;
    let home = ctx.namespaces().control_plane.as_str();
    let mut findings: Vec<Finding> = Vec::new();
    for component in components(deployments, home) {
        let deployment = component.deployment;
        let template = &deployment.spec.template;
        let proxy = template.spec.proxy();
        let found: Vec<(&str, &String)> = template
            .metadata
            .annotations
            .iter()
            .map(|(key, value)| (key.as_str(), value))
            .filter(|(key, _)| DOMAINS.iter().any(|domain| key.starts_with(domain)))
            .filter(|(key, _)| !OF_CHART.contains(key))
            .filter(|(key, value)| !is_so(key, value, proxy))
            .collect();
        let (Some(_), Some(_)) = (proxy, found.first()) else { continue };
        let object = format!("Deployment {home}/{}", deployment.metadata.name);
        let values: Vec<(String, &str)> = found
            .iter()
            .filter_map(|(key, value)| Some((value_for(component.name, key)?, value.as_str())))
            .collect();
        let options = values.iter().fold(Options::none(), |options, (path, value)| options.set(path, *value));
        let remedy = match values.is_empty() {
            true => Remedy::new().step(
                StepKind::ChartValue,
                "Set the intended value in the chart under proxy, which applies to every proxy of the \
                    mesh",
            ),
            false => upgrade::step(
                ctx,
                Remedy::new(),
                StepKind::ChartValue,
                "Set the intended value in the chart, which writes these pods (values under proxy apply \
                    to every proxy of the mesh)",
                options,
            ),
        };
        findings.push(
            ctx.finding(
                Subject::object("Deployment", home, &deployment.metadata.name),
                "proxy annotations are set on control-plane pods: they have no effect, since the chart \
                    writes these proxies and the injector never changes them",
            )
            .evidences(found.iter().map(|(key, value)| {
                Evidence::field(&object, format!("spec.template.metadata.annotations[{key}]"), value.as_str())
            }))
            .remedy(remedy),
        );
    }
    Ok(findings.into())
}

/// Whether the chart wrote the same into the proxy: it writes some of these annotations too.
fn is_so(key: &str, value: &str, proxy: Option<&crate::objects::Container>) -> bool {
    let Some(resources) = proxy.and_then(|proxy| proxy.resources.as_deref()) else { return false };
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    let written = match name {
        "proxy-cpu-request" => &resources.requests.cpu,
        "proxy-cpu-limit" => &resources.limits.cpu,
        "proxy-memory-request" => &resources.requests.memory,
        "proxy-memory-limit" => &resources.limits.memory,
        _ => return false,
    };
    written == value
}

/// The chart value with the same effect as an annotation.
fn value_for(component: &str, key: &str) -> Option<String> {
    let of = match component {
        "identity" => "identityProxyResources",
        "proxy-injector" => "proxyInjectorProxyResources",
        _ => "destinationProxyResources",
    };
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    Some(match name {
        "proxy-log-level" => "proxy.logLevel".to_owned(),
        "proxy-log-format" => "proxy.logFormat".to_owned(),
        "proxy-cpu-request" => format!("{of}.cpu.request"),
        "proxy-cpu-limit" => format!("{of}.cpu.limit"),
        "proxy-memory-request" => format!("{of}.memory.request"),
        "proxy-memory-limit" => format!("{of}.memory.limit"),
        _ => return None,
    })
}
