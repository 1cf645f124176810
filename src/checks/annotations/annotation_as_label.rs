//! `annotation-as-label`: an annotation that Linkerd reads was written as a label.

use super::fault::{Fault, Found, Survey};
use super::wording;
use crate::checks::prelude::*;
use crate::item;
use crate::knowledge::KeyKind;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = Survey::from_context(ctx)?;
    let mut findings = wording::findings(ctx, survey, |_, found| {
        let Fault::AsLabel(row) = &found.fault else { return None };
        let key = found.key;
        let message = format!(
            "the label {key} has no effect: Linkerd reads it only as an annotation, on {}",
            wording::places(row)
        );
        let act = format!("Set {key} as an annotation");
        Some((message, wording::replace(ctx, wording::remedy(), &act, found, row, found.value)))
    });
    findings.extend(on_pods(ctx, survey));
    Ok(findings.into())
}

/// Labels that only running pods have: set by hand, or since removed from the workload.
fn on_pods(ctx: &Context<'_>, survey: &Survey<'_>) -> Vec<Finding> {
    // A workload with the label is reported instead of its pods; a Namespace or a Service is not.
    let makes_pods = |found: &Found<'_>| !matches!(found.object.kind, item::Kind::Namespace | item::Kind::Service);
    let reported = |key: &str| {
        let mut labels = survey.found.iter().filter(|found| found.written_as == KeyKind::Label && found.key == key);
        labels.any(makes_pods)
    };
    let mut findings = Vec::new();
    for pod in wording::meshed(ctx) {
        let meta = &pod.metadata;
        for key in meta.labels.keys().filter(|key| wording::configures(key) && !reported(key)) {
            let (namespace, name) = (&meta.namespace, &meta.name);
            let message = format!(
                "{key} is a label of a running pod, not of its template. Linkerd does not read it, and \
                linkerd check reports a warning"
            );
            let value = meta.label(key).unwrap_or_default();
            let finding = ctx
                .finding(Subject::object("Pod", namespace, name), message)
                .severity(Severity::Info)
                .rows_as(Severity::Warning)
                .fails_rows([wording::POD_LABELS])
                .parameter(key.as_str())
                .evidence(Evidence::field(format!("Pod {namespace}/{name}"), format!("metadata.labels[{key}]"), value))
                .remedy(
                    wording::remedy()
                        .run(
                            StepKind::Command,
                            "Remove the label",
                            kubectl().namespace(namespace).words("label pod").operand(name).operand(format!("{key}-")),
                        )
                        .step(
                            StepKind::Note,
                            "If the setting is still needed, set it as an annotation of the pod \
                            template",
                        ),
                );
            findings.push(finding);
        }
    }
    findings
}
