//! The options of an extension that its objects show. The linkerd CLI stores none, so a command that installs the
//! extension again must pass them.

use crate::checks::prelude::*;
use crate::command::helm_set;

/// The Service of the gateway, and the port that the chart gives it by default.
const GATEWAY: &str = "linkerd-gateway";
const GATEWAY_PORT: (&str, i64) = ("mc-gateway", 4143);

/// The values that objects show, as arguments of `--set`, without those that `set` also sets. Only the steps may depend
/// on them.
pub(in crate::checks) fn carried(ctx: &Context<'_>, extension: Extension, set: &[Arg]) -> Vec<Arg> {
    let Some(namespace) = ctx.namespaces().extensions.get(&extension) else { return Vec::new() };
    let values = match extension {
        Extension::Viz => of_viz(ctx, namespace),
        Extension::Multicluster => of_multicluster(ctx, namespace),
        Extension::Jaeger => Vec::new(),
    };
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    let is_set = |path: &str| set.iter().any(|one| one.trim_start_matches('\'').starts_with(&format!("{path}=")));
    let values = values.into_iter().filter(|(path, _)| !is_set(path));
    values.map(|(path, value)| Arg::from(helm_set(path, &value))).collect()
}

fn of_viz(ctx: &Context<'_>, namespace: &str) -> Vec<(&'static str, String)> {
    let own = |name: &str| {
        let deployments = ctx.for_steps::<Deployment>().iter();
        deployments.into_iter().find(|one| one.metadata.key() == (namespace, name))
    };
    let argument = |deployment: &str, name: &str| {
        let written = own(deployment)?.spec.template.spec.container(deployment)?.argument(name)?;
        (!written.is_empty()).then(|| written.to_owned())
    };
    let mut values = Vec::new();
    let url = argument("metrics-api", "-prometheus-url");
    let is_own = |url: &String| url.starts_with(&format!("http://prometheus.{namespace}."));
    if let Some(url) = url.filter(|url| !is_own(url)) {
        values.push(("prometheusUrl", url));
        let all = ctx.every_for_steps::<Deployment>();
        if all.is_some() && own("prometheus").is_none() {
            values.push(("prometheus.enabled", "false".to_owned()));
        }
    }
    values.extend(argument("web", "-grafana-addr").map(|address| ("grafana.url", address)));
    values.extend(argument("web", "-jaeger-addr").map(|address| ("jaegerUrl", address)));
    values
}

fn of_multicluster(ctx: &Context<'_>, namespace: &str) -> Vec<(&'static str, String)> {
    let mut services = ctx.for_steps::<Service>().iter();
    let Some(gateway) = services.find(|one| one.metadata.key() == (namespace, GATEWAY)) else {
        let is_gateway = |one: &&Workload| one.metadata.key() == (namespace, GATEWAY);
        let is_off = ctx.every_for_steps::<Service>().is_some()
            && ctx.every_for_steps::<Deployment>().is_some_and(|all| !all.iter().any(|one| is_gateway(&one)));
        return if is_off { vec![("gateway.enabled", "false".to_owned())] } else { Vec::new() };
    };
    let mut values = Vec::new();
    let kind = if gateway.spec.kind.is_empty() { "ClusterIP" } else { gateway.spec.kind.as_str() };
    if kind != "LoadBalancer" {
        values.push(("gateway.serviceType", kind.to_owned()));
    }
    let (name, usual) = GATEWAY_PORT;
    let port = gateway.spec.ports.iter().find(|port| port.name == name);
    if let Some(port) = port.filter(|port| i64::from(port.port) != usual) {
        values.push(("gateway.port", port.port.to_string()));
    }
    values
}
