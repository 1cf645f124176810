//! `control-plane-annotation-ignored`: proxy annotations on the control plane's own pods, which the injector
//! does not process.

use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::model::control_plane::components;

/// Annotations that the charts write themselves; they are not instructions to the injector.
const OF_CHART: [&str; 4] = [
    "config.linkerd.io/default-inbound-policy",
    "config.linkerd.io/opaque-ports",
    "config.linkerd.io/skip-inbound-ports",
    "config.linkerd.io/skip-outbound-ports",
];
/// Key fragments of annotations that the injector reads.
const DOMAINS: [&str; 3] = ["config.linkerd.io/", "config.alpha.linkerd.io/", "config.beta.linkerd.io/"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>()?;
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
        let values: Vec<(String, &str)> =
            found.iter().filter_map(|(key, value)| Some((value_for(component.name, key)?, value.as_str()))).collect();
        let options = values.iter().fold(Options::none(), |options, (path, value)| options.set(path, *value));
        let remedy = match values.is_empty() {
            true => Remedy::new().step(
                StepKind::ChartValue,
                "Set the chart values under proxy instead; they apply to every proxy of the mesh",
            ),
            false => upgrade::with_values(
                ctx,
                Remedy::new(),
                "Set chart values instead, since the chart writes these pods (values under proxy apply to \
                every proxy of the mesh)",
                options,
            ),
        };
        findings.push(
            ctx.finding(
                Subject::object("Deployment", home, &deployment.metadata.name),
                "proxy annotations on control-plane pods have no effect: the chart writes these proxies, and \
                the injector does not change them",
            )
            .evidences(found.iter().map(|(key, value)| {
                Evidence::field(&object, format!("spec.template.metadata.annotations[{key}]"), value.as_str())
            }))
            .remedy(remedy),
        );
    }
    Ok(findings.into())
}

/// Whether the proxy has the same value: the chart writes some of these annotations together with the
/// setting.
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

/// The chart value equivalent to an annotation.
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
