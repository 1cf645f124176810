//! `viz-self-check-failing`: metrics-api or its Prometheus is unhealthy.

use super::external_prometheus::external;
use super::viz_prometheus_missing::no_prometheus;
use crate::checks::extensions::{installed_in, own};
use crate::checks::prelude::*;
use crate::item::Program;
use crate::item::answer::runs;

/// The row of `linkerd check` for both.
const SELF_CHECK: &str = "viz extension self-check";
/// The row for metrics-api alone.
const CLIENT: &str = "can initialize the client";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let labelled = installed_in(ctx, Extension::Viz)?;
    let namespace = labelled.metadata.name.as_str();
    let running = |program: Program| -> Vec<&Pod> {
        own(pods, namespace, Extension::Viz).filter(|pod| runs(program, pod)).collect()
    };
    let servers = running(Program::MetricsApi);
    if servers.is_empty() {
        return Err(Unjudged::blocked("viz-metrics-api-not-running", "no pod of metrics-api is running"));
    }
    let mut findings = Vec::new();
    for pod in servers {
        findings.extend(self_check_finding(ctx, pod, Program::MetricsApi));
    }
    if external(labelled).is_some() {
        return Ok(findings.into());
    }
    let databases = running(Program::Prometheus);
    if databases.is_empty() && findings.is_empty() {
        return Err(no_prometheus(pods, namespace));
    }
    for pod in databases {
        findings.extend(self_check_finding(ctx, pod, Program::Prometheus));
    }
    Ok(findings.into())
}

/// The finding for the answer of a pod, if it is unhealthy. A missing answer is noted.
fn self_check_finding(ctx: &Context<'_>, pod: &Pod, program: Program) -> Option<Finding> {
    let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
    let answer = ctx.or_note(ctx.probe(program, namespace, name))?;
    if answer.is_well() {
        return None;
    }
    let (message, rows) = match program {
        Program::Prometheus => ("Prometheus fails to answer queries: viz has no metrics to show", vec![SELF_CHECK]),
        Program::MetricsApi | Program::ServiceMirror | Program::LinkedCluster => (
            "metrics-api reports that it is not ready: it has not read the cluster yet, so linkerd viz and \
             the dashboard wait",
            vec![SELF_CHECK, CLIENT],
        ),
    };
    let object = format!("Pod {namespace}/{name}");
    let finding = ctx
        .finding(Subject::object(Kind::Pod, namespace, name), message)
        .evidence(Evidence::other(format!("{object} port {}", program.port()), answer.describe()))
        .fails_rows(rows)
        .remedy(Remedy::new().command(
            "Read its log",
            kubectl().namespace(namespace).words("logs").operand(name).option("-c", program.name()).words("--tail 30"),
        ));
    Some(finding)
}
