//! `viz-prometheus-missing`: the Prometheus that viz brings lacks a role, its configuration or its pods.

use super::viz_role_missing::absent_of;
use crate::checks::extensions::{absent, extension_namespace, own, reinstall, remedy};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::{Extension, Kind, Scope};
use crate::missing::Missing;
use crate::model::objects::rbac::{ClusterRole, ClusterRoleBinding};
use crate::model::objects::{ConfigMap, Namespace, Pod};

/// The annotation of the namespace that says where a Prometheus of the operator's own answers.
const EXTERNAL: &str = "viz.linkerd.io/external-prometheus";
/// Its configuration.
const CONFIG: &str = "prometheus-config";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let Some(home) = extension_namespace(ctx, Extension::Viz)? else { return Ok(absent(Extension::Viz)) };
    if let Some(url) = external(home) {
        return Ok(Verdict::not_applicable(format!("viz reads from another Prometheus: {url}")));
    }
    let home = home.metadata.name.as_str();
    let role = vec![ctx.knowledge.extensions().viz_prometheus_role(home)];
    let mut findings: Vec<Finding> = Vec::new();
    let roles = ctx.every::<ClusterRole>(Kind::ClusterRole);
    let bindings = ctx.every::<ClusterRoleBinding>(Kind::ClusterRoleBinding);
    note(ctx, roles, |roles| {
        findings.extend(absent_of(roles, role.clone()).map(|n| gone(ctx, Kind::ClusterRole, "", &n)))
    });
    note(ctx, bindings, |bindings| {
        findings
            .extend(absent_of(bindings, role.clone()).map(|n| gone(ctx, Kind::ClusterRoleBinding, "", &n)));
    });
    let config = ctx.named::<ConfigMap>(Kind::ConfigMap, Scope::Extension(Extension::Viz), CONFIG);
    note(ctx, config, |config| {
        if config.is_none() {
            findings.push(gone(ctx, Kind::ConfigMap, home, CONFIG));
        }
    });
    if !own(ctx.seen::<Pod>(Kind::Pod)?, home, Extension::Viz)
        .any(|pod| pod.metadata.label("component") == Some("prometheus"))
    {
        ctx.every::<Pod>(Kind::Pod)?;
        findings.push(no_pods(ctx, home));
    }
    Ok(findings.into())
}

/// Where another Prometheus answers, if the namespace of viz names one.
pub(super) fn external(home: &Namespace) -> Option<&str> {
    home.metadata.annotation(EXTERNAL).filter(|url| !url.is_empty())
}

/// What is said where no pod of Prometheus runs, and what it has cannot be asked: by the check that says why.
pub(super) fn no_prometheus(pods: &[Pod], home: &str) -> Verdict {
    let there =
        own(pods, home, Extension::Viz).any(|pod| pod.metadata.label("component") == Some("prometheus"));
    let by = if there { "viz-pods-not-running" } else { "viz-prometheus-missing" };
    Verdict::blocked(by, "no pod of Prometheus runs")
}

/// Judges a part of the evidence, or notes that it is missing: the rest is judged all the same.
fn note<T>(ctx: &Context<'_>, part: Result<T, Missing>, judge: impl FnOnce(T)) {
    match part {
        Ok(part) => judge(part),
        Err(missing) => ctx.gap(missing),
    }
}

fn gone(ctx: &Context<'_>, kind: Kind, namespace: &str, name: &str) -> Finding {
    let message = match kind {
        Kind::ConfigMap => "the configuration of viz's Prometheus is not there: its pod does not start again",
        _ => "viz's Prometheus may not look for pods: it finds none to scrape, and viz shows no metrics",
    };
    let subject = Subject::object(kind, namespace, name);
    let object = subject.to_string();
    ctx.finding(subject, message).evidence(Evidence::other(object, "not there")).remedy(fix())
}

fn no_pods(ctx: &Context<'_>, home: &str) -> Finding {
    ctx.finding(
        Subject::object("Deployment", home, "prometheus"),
        "viz's Prometheus has no pods, and the namespace names no other: viz has no metrics to show",
    )
    .evidence(Evidence::other(
        format!("Pods in {home} with linkerd.io/extension=viz"),
        "none has the label component=prometheus",
    ))
    .evidence(Evidence::field(format!("Namespace {home}"), format!("metadata.annotations[{EXTERNAL}]"), "not there"))
    .remedy(fix().step(
        StepKind::Note,
        "Where another Prometheus is meant to be used, say so in the values: prometheusUrl, and prometheus.enabled=false",
    ))
}

fn fix() -> Remedy {
    remedy(Extension::Viz).run(
        StepKind::Command,
        "Lay viz down again, with the command or the chart of its release",
        reinstall(Extension::Viz),
    )
}
