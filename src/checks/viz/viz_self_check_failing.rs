//! `viz-self-check-failing`: metrics-api or its Prometheus does not answer as it should.

use super::viz_prometheus_missing::{external, no_prometheus};
use crate::checks::extensions::{absent, extension_namespace, own, probed_remedy};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Finding, StepKind, Subject};
use crate::item::{Extension, Kind, Program};
use crate::model::objects::Pod;
use crate::model::objects::probe::runs;

/// The row of `linkerd check` for both.
const SELF_CHECK: &str = "viz extension self-check";
/// The row for metrics-api alone.
const CLIENT: &str = "can initialize the client";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.seen::<Pod>(Kind::Pod)?;
    let Some(namespace) = extension_namespace(ctx, Extension::Viz)? else {
        return Ok(absent(Extension::Viz));
    };
    let home = namespace.metadata.name.as_str();
    let running = |program: Program| -> Vec<&Pod> {
        own(pods, home, Extension::Viz).filter(|pod| runs(program, pod)).collect()
    };
    let servers = running(Program::MetricsApi);
    if servers.is_empty() {
        return Ok(Verdict::blocked("viz-metrics-api-not-running", "no pod of metrics-api runs"));
    }
    let mut findings = Vec::new();
    for pod in servers {
        findings.extend(ask(ctx, pod, Program::MetricsApi));
    }
    if external(namespace).is_some() {
        return Ok(findings.into());
    }
    let databases = running(Program::Prometheus);
    if databases.is_empty() && findings.is_empty() {
        return Ok(no_prometheus(pods, home));
    }
    for pod in databases {
        findings.extend(ask(ctx, pod, Program::Prometheus));
    }
    Ok(findings.into())
}

/// What is wrong with the answer of a pod. That there is none is noted.
fn ask(ctx: &Context<'_>, pod: &Pod, program: Program) -> Option<Finding> {
    let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
    let said = match ctx.probe(program, namespace, name) {
        Ok(said) => said,
        Err(missing) => {
            ctx.gap(missing);
            return None;
        }
    };
    if said.is_well() {
        return None;
    }
    let (message, rows) = match program {
        Program::Prometheus => {
            ("Prometheus does not answer queries as it should: viz has no metrics to show", vec![SELF_CHECK])
        }
        Program::MetricsApi | Program::ServiceMirror | Program::LinkedCluster => (
            "metrics-api says that it is not ready: it has not read the cluster, so linkerd viz and the dashboard wait",
            vec![SELF_CHECK, CLIENT],
        ),
    };
    let object = format!("Pod {namespace}/{name}");
    let finding = ctx
        .finding(Subject::object(Kind::Pod, namespace, name), message)
        .evidence(Evidence::other(format!("{object} port {}", program.port()), said.in_words()))
        .fails_rows(rows)
        .remedy(probed_remedy(Extension::Viz).run(
            StepKind::Command,
            "Read what it says",
            format!("kubectl -n {namespace} logs {name} -c {} --tail 30", program.name()),
        ));
    Some(finding)
}
