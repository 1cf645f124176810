//! `annotation-as-label`: a key that Linkerd reads among the annotations is among the labels.

use super::fault::{Fault, Found, Survey};
use super::said;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Severity, StepKind, Subject};
use crate::item;
use crate::knowledge::Kind;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let Some(survey) = Survey::of(ctx) else { return Ok(said::absent()) };
    let mut findings = said::findings(ctx, &survey, |_, found| {
        let Fault::AsLabel(row) = &found.fault else { return None };
        let key = found.key;
        let message = format!(
            "{key} is a label here, and Linkerd reads it as an annotation only, of {}: it is silently ignored",
            said::places(row)
        );
        let act = format!("Write {key} as an annotation");
        Some((message, said::replace(ctx, said::remedy(), &act, found, row, found.value)))
    });
    findings.extend(on_pods(ctx, &survey));
    Ok(findings.into())
}

/// Labels that only running pods have: somebody put them there by hand, or their workload has changed since.
fn on_pods(ctx: &Context<'_>, survey: &Survey<'_>) -> Vec<Finding> {
    // What makes pods says it of them; a Namespace or a Service with the label speaks of itself alone.
    let makes_pods =
        |found: &Found<'_>| !matches!(found.object.kind, item::Kind::Namespace | item::Kind::Service);
    let told = |key: &str| {
        let mut labels =
            survey.found.iter().filter(|found| found.written_as == Kind::Label && found.key == key);
        labels.any(makes_pods)
    };
    let mut findings = Vec::new();
    for pod in said::meshed(ctx) {
        let meta = &pod.metadata;
        for key in meta.labels.keys().filter(|key| said::configures(key) && !told(key)) {
            let (namespace, name) = (&meta.namespace, &meta.name);
            let message = format!(
                "{key} is a label of a running pod, and not of what makes the pod: Linkerd does not read it, and linkerd check \
                 warns of it"
            );
            let value = meta.label(key).unwrap_or_default();
            let finding = ctx
                .finding(Subject::object("Pod", namespace, name), message)
                .severity(Severity::Info)
                .rows_as(Severity::Warning)
                .fails_rows([said::POD_LABELS])
                .parameter(key.as_str())
                .evidence(Evidence::field(
                    format!("Pod {namespace}/{name}"),
                    format!("metadata.labels[{key}]"),
                    value,
                ))
                .remedy(said::remedy().run(
                    StepKind::Command,
                    "Take the label away; what it is to say is an annotation of the pod template",
                    format!("kubectl -n {namespace} label pod {name} {key}-"),
                ));
            findings.push(finding);
        }
    }
    findings
}
