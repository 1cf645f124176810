//! `viz-prometheus-missing`: the Prometheus of viz lacks a role, its configuration or its pods.

use super::external_prometheus::{EXTERNAL, external};
use super::viz_address_unreachable::other_prometheus;
use super::viz_role_missing::absent_of;
use crate::checks::extensions::{installed_in, is_installing, own, reinstall, reinstall_with};
use crate::checks::grace::spared;
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::objects::rbac::{ClusterRole, ClusterRoleBinding};
use crate::objects::{Monitor, PodMonitor};

/// Its configuration.
const CONFIG: &str = "prometheus-config";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = installed_in(ctx, Extension::Viz)?;
    if let Some(url) = external(namespace) {
        if let Some((home, name)) = service_of(url)
            && let Some(services) = ctx.or_note(ctx.complete_list::<Service>())
            && !services.iter().any(|s| s.metadata.namespace == home && s.metadata.name == name)
        {
            return Ok(elsewhere_gone(ctx, namespace, url, home, name).into());
        }
        if service_of(url).is_some() && unscraped(ctx) {
            return Ok(asks_no_proxy(ctx, namespace, url).into());
        }
        return Err(Unjudged::not_applicable(format!("viz uses another Prometheus: {url}")));
    }
    let namespace = namespace.metadata.name.as_str();
    let role = vec![ctx.knowledge.extensions().viz_prometheus_role(namespace)];
    let mut findings: Vec<Finding> = Vec::new();
    let roles = ctx.complete_list::<ClusterRole>();
    let bindings = ctx.complete_list::<ClusterRoleBinding>();
    note(ctx, roles, |roles| {
        findings.extend(absent_of(roles, role.clone()).map(|n| object_missing(ctx, Kind::ClusterRole, "", &n)))
    });
    note(ctx, bindings, |bindings| {
        findings
            .extend(absent_of(bindings, role.clone()).map(|n| object_missing(ctx, Kind::ClusterRoleBinding, "", &n)));
    });
    let config = ctx.object::<ConfigMap>(Scope::Extension(Extension::Viz), CONFIG);
    note(ctx, config, |config| {
        if config.is_none() {
            findings.push(object_missing(ctx, Kind::ConfigMap, namespace, CONFIG));
        }
    });
    if !own(ctx.partial_list::<Pod>()?, namespace, Extension::Viz)
        .any(|pod| pod.metadata.label("component") == Some("prometheus"))
    {
        ctx.complete_list::<Pod>()?;
        findings.push(spared(no_pods(ctx, namespace), is_installing(ctx, namespace)));
    }
    if findings.is_empty() {
        return Ok(findings.into());
    }
    match other_prometheus(ctx.partial_list::<Deployment>()?, namespace) {
        Some((deployment, url)) => Ok(unnamed(ctx, namespace, deployment, url).into()),
        None => Ok(findings.into()),
    }
}

/// The finding for another Prometheus that only the argument of metrics-api names. viz works with it.
fn unnamed(ctx: &Context<'_>, namespace: &str, deployment: &Workload, url: &str) -> Finding {
    let (home, name) = deployment.metadata.key();
    let annotate = kubectl().words("annotate --overwrite namespace").operand(namespace);
    ctx.finding(
        Subject::object(Kind::Namespace, "", namespace),
        "viz uses another Prometheus, and its namespace lacks the annotation with the address: viz works, but linkerd \
         viz check reports a missing Prometheus",
    )
    .parameter("unnamed")
    .severity(Severity::Info)
    .rows_as(Severity::Warning)
    .explains_nothing()
    .evidence(Evidence::field(
        Subject::object(Kind::Deployment, home, name),
        "spec.template.spec.containers[].args: -prometheus-url",
        url,
    ))
    .evidence(Evidence::field(format!("Namespace {namespace}"), format!("metadata.annotations[{EXTERNAL}]"), "missing"))
    .remedy(Remedy::new().run(
        StepKind::Annotation,
        "Name the address in the annotation (also in its source manifest)",
        annotate.arg(format!("{EXTERNAL}={url}")),
    ))
}

/// Namespace and name of the Service in a URL; `None` if it may be outside the cluster.
fn service_of(url: &str) -> Option<(&str, &str)> {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest).split(['/', ':']).next()?;
    let mut parts = host.split('.');
    let (name, home) = (parts.next()?, parts.next()?);
    matches!(parts.next(), None | Some("svc")).then_some((home, name))
}

/// Whether PodMonitors configure Prometheus and none of them selects proxies.
fn unscraped(ctx: &Context<'_>) -> bool {
    let monitors = ctx.or_note(defined::<PodMonitor>(ctx)).unwrap_or_default();
    !monitors.is_empty() && !monitors.iter().any(Monitor::asks_proxies)
}

/// The finding for a Prometheus of this cluster that most likely has no metrics of proxies.
fn asks_no_proxy(ctx: &Context<'_>, namespace: &Namespace, url: &str) -> Finding {
    let viz = &namespace.metadata.name;
    let remedy = upgrade::with_values(
        ctx,
        Remedy::new(),
        "Enable the PodMonitors in the control plane's chart",
        Options::none().set("podMonitor.enabled", "true"),
    );
    let remedy = remedy.step(
        StepKind::Note,
        "Or add the scrape jobs linkerd-controller and linkerd-proxy to the configuration of that Prometheus, \
         unless it has them",
    );
    ctx.finding(
        Subject::object(Kind::Namespace, "", viz),
        "viz uses another Prometheus, and no PodMonitor makes that one scrape proxies: unless its own \
         configuration does, viz has no metrics to show",
    )
    .parameter("unscraped")
    .severity(Severity::Info)
    .likely()
    .evidence(Evidence::field(format!("Namespace {viz}"), format!("metadata.annotations[{EXTERNAL}]"), url))
    .evidence(Evidence::other("PodMonitors", "none scrapes the port linkerd-admin of proxies"))
    .fails_rows([])
    .remedy(remedy)
}

/// The finding for a Prometheus of this cluster whose Service does not exist.
fn elsewhere_gone(ctx: &Context<'_>, namespace: &Namespace, url: &str, home: &str, name: &str) -> Finding {
    let viz = &namespace.metadata.name;
    let set = Arg::from("prometheusUrl=").then(Arg::placeholder("ADDRESS"));
    let remedy = reinstall_with(
        ctx,
        Remedy::new(),
        Extension::Viz,
        " with prometheusUrl set to ADDRESS, the URL of that Prometheus",
        &[set],
    );
    let remedy = remedy.note(
        "That Prometheus needs the scrape jobs of viz's own: linkerd-controller, linkerd-proxy and the \
         like, or the chart's podMonitor values, and a policy that authorizes it to read the proxies' \
         metrics",
    );
    ctx.finding(
        Subject::object(Kind::Service, home, name),
        "viz is configured to use another Prometheus, and that Service does not exist: viz has no metrics \
         to show",
    )
    .parameter("external")
    .evidence(Evidence::field(format!("Namespace {viz}"), format!("metadata.annotations[{EXTERNAL}]"), url))
    .evidence(Evidence::other(format!("Service {home}/{name}"), "does not exist"))
    .fails_rows([])
    .remedy(remedy)
}

/// The reason if no Prometheus pod runs and its data cannot be queried, with the check that reports the
/// cause.
pub(super) fn no_prometheus(pods: &[Pod], namespace: &str) -> Unjudged {
    let there = own(pods, namespace, Extension::Viz).any(|pod| pod.metadata.label("component") == Some("prometheus"));
    let by = if there { "viz-pods-not-running" } else { "viz-prometheus-missing" };
    Unjudged::blocked(by, "no pod of Prometheus is running")
}

/// Evaluates a part of the evidence, or notes that it is missing without stopping the check.
fn note<T>(ctx: &Context<'_>, part: Result<T, Missing>, judge: impl FnOnce(T)) {
    match part {
        Ok(part) => judge(part),
        Err(missing) => ctx.gap(missing),
    }
}

fn object_missing(ctx: &Context<'_>, kind: Kind, namespace: &str, name: &str) -> Finding {
    let message = match kind {
        Kind::ConfigMap => "the configuration of viz's Prometheus is missing: its pod cannot start again",
        _ => {
            "viz's Prometheus lacks permission to list pods: it finds none to scrape, and viz shows no \
         metrics"
        }
    };
    let subject = Subject::object(kind, namespace, name);
    let object = subject.to_string();
    ctx.finding(subject, message).evidence(Evidence::other(object, "does not exist")).remedy(fix(ctx))
}

fn no_pods(ctx: &Context<'_>, namespace: &str) -> Finding {
    ctx.finding(
        Subject::object("Deployment", namespace, "prometheus"),
        "viz's Prometheus has no pods, and the namespace names no other one: viz has no metrics to show",
    )
    .evidence(Evidence::other(
        format!("Pods in {namespace} with linkerd.io/extension=viz"),
        "none has the label component=prometheus",
    ))
    .evidence(Evidence::field(format!("Namespace {namespace}"), format!("metadata.annotations[{EXTERNAL}]"), "missing"))
    .remedy(
        fix(ctx)
            .note("If viz is to use another Prometheus, set prometheusUrl and prometheus.enabled=false in its values"),
    )
}

fn fix(ctx: &Context<'_>) -> Remedy {
    reinstall(ctx, Remedy::new(), Extension::Viz, "")
}
