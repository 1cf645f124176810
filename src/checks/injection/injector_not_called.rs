//! `injector-not-called`: pods request a proxy, but the selectors of the injector's webhook exclude them.

use std::collections::BTreeMap;

use super::passed_over::{PassedOver, passed_over};
use super::unmeshed::CREATED_ONLY;
use crate::checks::admission::Rules;
use crate::checks::restart::{Needs, renew};
use crate::checks::words::some;
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::Kind;
use crate::model::injection::{Clause, Level, Skip};
use crate::model::owners::Owner;
use crate::objects::{Pod, WebhookConfiguration};

/// Maximum number of quoted workloads.
const QUOTED: usize = 3;
/// The labels of namespaces that AKS excludes from webhooks.
const OF_AKS: [&str; 2] = ["control-plane", "kubernetes.azure.com/managedby"];
/// Maximum number of workloads that the remedy restarts.
const RESTARTED: usize = 12;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::of(ctx)?;
    let mut left_out: BTreeMap<(String, Level, Clause), Vec<PassedOver<'_>>> = BTreeMap::new();
    for passed in passed_over(ctx, &rules)? {
        if let Skip::NotCalled(clause) = &passed.skip {
            let key = (passed.maker.namespace().to_owned(), passed.level, clause.clone());
            left_out.entry(key).or_default().push(passed);
        }
    }
    let configuration = rules.webhook.map(|(configuration, _)| configuration);
    let findings = left_out.iter().map(|((namespace, level, clause), passed)| {
        finding(ctx, namespace, *level, clause, passed, configuration)
    });
    Ok(findings.collect::<Vec<_>>().into())
}

fn finding(
    ctx: &Context<'_>,
    namespace: &str,
    level: Level,
    clause: &Clause,
    passed: &[PassedOver<'_>],
    configuration: Option<&WebhookConfiguration>,
) -> Finding {
    let first = &passed[0];
    let subjects = match level {
        Level::Namespace => vec![Subject::object(Kind::Namespace, "", namespace)],
        Level::Pod => passed.iter().map(|passed| passed.maker.subject()).collect(),
    };
    let mut subjects = subjects.into_iter();
    let subject = subjects.next().unwrap_or_else(|| first.maker.subject());
    let names =
        passed.iter().map(|passed| format!("{} {}", passed.maker.owner.kind, passed.maker.owner.name));
    let object = configuration.map_or_else(
        || "MutatingWebhookConfiguration of a default install".to_owned(),
        |configuration| format!("MutatingWebhookConfiguration {}", configuration.metadata.name),
    );
    let finding = ctx
        .finding(
            subject,
            "injection is requested, but the selectors of the injector's webhook exclude these pods. The \
             API server never calls the injector for them, so they run outside the mesh, without any event",
        )
        .parameter(clause.to_string())
        .evidence(first.asks())
        .evidence(Evidence::field(object, "webhooks[]", format!("not met: {clause}")))
        .evidence(labels(first, clause))
        .evidence(Evidence::other("Pods without a proxy", some(names, QUOTED)))
        .remedy(remedy(ctx, namespace, clause, passed));
    subjects.fold(finding, Finding::subject)
}

/// Evidence of the label that the clause is about.
fn labels(first: &PassedOver<'_>, clause: &Clause) -> Evidence {
    let (key, of_objects) = match clause {
        Clause::Of { key, of_objects, .. } => (key.as_str(), *of_objects),
        Clause::OfDefaultInstall => ("kubernetes.io/metadata.name", false),
    };
    let path = format!("metadata.labels[{key}]");
    if of_objects {
        return first.maker.field(&path, first.maker.meta.label(key).unwrap_or("not set"));
    }
    // The clause's operator shows what the label must not be.
    let said = match clause {
        _ if key == "kubernetes.io/metadata.name" => first.maker.namespace().to_owned(),
        Clause::Of { operator, values, .. } if operator == "NotIn" && values.len() == 1 => values[0].clone(),
        Clause::Of { operator, .. } if operator == "DoesNotExist" => "set".to_owned(),
        Clause::Of { operator, .. } if operator == "Exists" => "not set".to_owned(),
        Clause::Of { .. } | Clause::OfDefaultInstall => "does not match".to_owned(),
    };
    Evidence::field(format!("Namespace {}", first.maker.namespace()), path, said)
}

fn remedy(ctx: &Context<'_>, namespace: &str, clause: &Clause, passed: &[PassedOver<'_>]) -> Remedy {
    let remedy = Remedy::new();
    let label = || kubectl().words("label namespace").operand(namespace);
    let by_values = |remedy: Remedy| {
        remedy.step(
            StepKind::ChartValue,
            "If pods of this namespace must be meshed, change proxyInjector.namespaceSelector to cover the \
             namespace. With webhookFailurePolicy Fail, exclude what the injector itself needs (DNS, the \
             network plugin)",
        )
    };
    let remedy = match clause {
        Clause::Of { of_objects: true, key, operator, .. } => remedy.step(
            StepKind::Annotation,
            format!(
                "Change the label {key} of the pod template so that it matches the objectSelector \
                ({operator})"
            ),
        ),
        // Kubernetes sets this label; users do not.
        Clause::Of { key, .. } if key == "kubernetes.io/metadata.name" => by_values(remedy),
        Clause::OfDefaultInstall => by_values(remedy),
        Clause::Of { key, operator, .. } if matches!(operator.as_str(), "NotIn" | "DoesNotExist") => remedy
            .run(
                StepKind::Annotation,
                "Remove the label that excludes the namespace",
                label().arg(format!("{key}-")),
            ),
        Clause::Of { key, values, .. } => match values.first() {
            Some(value) => remedy.run(
                StepKind::Annotation,
                "Give the namespace the label that the webhook's selector requires",
                label().arg(format!("{key}={value}")),
            ),
            None => remedy.run(
                StepKind::Annotation,
                "Give the namespace the label that the webhook's selector requires",
                label().arg(format!("{key}=true")),
            ),
        },
    };
    let mut remedy = match clause {
        Clause::Of { key, .. } if OF_AKS.contains(&key.as_str()) => remedy.step(
            StepKind::Note,
            "If the label must stay and AKS's admissions enforcer added the condition, set the annotation \
             admissions.enforcer/disabled: \"true\" on the MutatingWebhookConfiguration, and remove the \
             condition from it",
        ),
        _ => remedy,
    }
    .step(StepKind::Note, "Or, if the exclusion is intended, remove the annotation that requests a proxy");
    restart(ctx, &mut remedy, passed);
    remedy
}

/// Adds the steps that recreate the pods.
pub(super) fn restart(ctx: &Context<'_>, remedy: &mut Remedy, passed: &[PassedOver<'_>]) {
    let mut steps: Vec<crate::finding::Step> = Vec::new();
    for passed in passed.iter().take(RESTARTED) {
        let step =
            renew(ctx, &passed.maker.owner, &pods_of(ctx, &passed.maker.owner), Needs::NewPods, CREATED_ONLY);
        match steps.iter_mut().find(|held| held.text == step.text) {
            None => steps.push(step),
            Some(crate::finding::Step { command: Some(held), .. }) => held.join(&step.command),
            Some(_) => {}
        }
    }
    remedy.steps.extend(steps);
}

/// The pods of a workload, if recreating them needs their names.
fn pods_of(ctx: &Context<'_>, owner: &Owner) -> Vec<String> {
    if owner.restartable().is_some() {
        return Vec::new();
    }
    let owners = ctx.owners();
    let own = ctx.hints::<Pod>().iter().filter(|pod| {
        pod.metadata.namespace == owner.namespace && !pod.is_finished() && owners.of(pod) == *owner
    });
    own.map(|pod| pod.metadata.name.clone()).collect()
}
