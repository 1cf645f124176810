//! `injector-not-called`: pods request a proxy, but the selectors or conditions of the injector's webhook exclude them.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use super::passed_over::{PassedOver, passed_over};
use super::unmeshed::{CREATED_ONLY, counts};
use crate::checks::admission::{AKS_LABELS, Rules};
use crate::checks::pod_owners::{Maker, makers};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::words::some;
use crate::model::injection::{Clause, Decision, INJECT, Level, Matched, Skip};
use crate::objects::WebhookConfiguration;

/// The annotation that states what added a proxy, and the beginning of its value if it was the injector.
const CREATED_BY: &str = "linkerd.io/created-by";
const INJECTOR: &str = "linkerd/proxy-injector";
/// Maximum number of quoted workloads.
const QUOTED: usize = 3;
/// Maximum number of workloads that the remedy restarts.
const RESTARTED: usize = 12;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::from_context(ctx)?;
    let mut left_out: BTreeMap<(String, Level, Clause, bool), Vec<PassedOver<'_>>> = BTreeMap::new();
    let mut all = passed_over(ctx, &rules)?;
    all.extend(injected_before(ctx, &rules)?);
    let running = LazyCell::new(|| meshed_owners(ctx));
    for passed in all {
        if let Skip::NotCalled(clause) = &passed.skip {
            let is_running = running.contains(&passed.maker.owner);
            let key = (passed.maker.namespace().to_owned(), passed.level, clause.clone(), is_running);
            left_out.entry(key).or_default().push(passed);
        }
    }
    undecided(ctx, &rules)?;
    let configuration = rules.webhook.map(|(configuration, _)| configuration);
    let findings = left_out.iter().map(|((namespace, level, clause, is_running), passed)| {
        finding(ctx, namespace, *level, clause, passed, configuration, *is_running)
    });
    let mut findings: Vec<Finding> = findings.collect();
    if let Some(configuration) = configuration {
        let known: BTreeSet<&str> = left_out.keys().map(|(namespace, ..)| namespace.as_str()).collect();
        findings.extend(contradictions(ctx, &rules, &known, &running, configuration));
    }
    Ok(findings.into())
}

/// Findings about excluded namespaces that request a proxy, and in which no known workload needs the injector now.
fn contradictions(
    ctx: &Context<'_>,
    rules: &Rules<'_>,
    known: &BTreeSet<&str>,
    running: &impl Deref<Target = BTreeSet<Owner>>,
    configuration: &WebhookConfiguration,
) -> Vec<Finding> {
    let namespaces = ctx.optional_list::<Namespace>().iter().filter(|namespace| {
        let name = namespace.metadata.name.as_str();
        ctx.judges(name) && !known.contains(name) && name != ctx.namespaces().control_plane
    });
    let found = namespaces.filter_map(|namespace| {
        let name = namespace.metadata.name.as_str();
        let value = namespace.metadata.annotation(INJECT)?;
        let clause = rules.admission.excludes(name).filter(|_| matches!(value, "enabled" | "ingress"))?;
        let is_meshed = running.iter().any(|owner| owner.namespace == name);
        let message = "injection is requested for a namespace that the injector's webhook excludes: a pod that is \
            created in it gets no proxy, unless its template contains one";
        let asks = Evidence::field(format!("Namespace {name}"), format!("metadata.annotations[{INJECT}]"), value);
        let object = format!("MutatingWebhookConfiguration {}", configuration.metadata.name);
        let finding = ctx.finding(Subject::object(Kind::Namespace, "", name), message);
        let finding = finding.severity(if is_meshed { Severity::Warning } else { Severity::Info });
        Some(
            finding
                .parameter(clause.to_string())
                .parameter("contradiction")
                .evidence(asks)
                .evidence(Evidence::field(object, "webhooks[]", format!("not met: {clause}")))
                .remedy(remedy(ctx, name, &clause, &[])),
        )
    });
    found.collect()
}

/// The workloads with running pods that have a proxy.
fn meshed_owners(ctx: &Context<'_>) -> BTreeSet<Owner> {
    let owners = ctx.owners();
    let meshed = ctx.optional_list::<Pod>().iter().filter(|pod| pod.spec.proxy().is_some() && counts(pod));
    meshed.map(|pod| owners.owner(pod)).collect()
}

/// Pods without a known template whose proxy the injector added, and which it would not be called for today. Pods that
/// nothing replaces are left out.
fn injected_before<'a>(ctx: &Context<'a>, rules: &Rules<'a>) -> Result<Vec<PassedOver<'a>>, Missing> {
    let injected = |maker: &&Maker<'_>| {
        let by = maker.meta.annotation(CREATED_BY);
        ctx.judges(maker.namespace())
            && maker.owner.kind != "Pod"
            && maker.spec.proxy().is_some()
            && by.is_some_and(|by| by.starts_with(INJECTOR))
            && maker.namespace() != ctx.namespaces().control_plane
    };
    let passed = makers(ctx)?.iter().filter(injected).filter_map(|maker| {
        let skip = match rules.admission.decide(maker.namespace(), maker.meta, maker.spec) {
            Decision::Skip(skip @ Skip::NotCalled(_)) => skip,
            _ => return None,
        };
        let (level, value) = rules.admission.request(maker.namespace(), maker.meta)?;
        Some(PassedOver { maker, level, value, skip })
    });
    Ok(passed.collect())
}

/// Notes conditions of the webhook that cannot be evaluated for workloads that request a proxy.
fn undecided(ctx: &Context<'_>, rules: &Rules<'_>) -> Result<(), Missing> {
    let mut reasons = BTreeSet::new();
    for maker in makers(ctx)?.iter().filter(|maker| ctx.judges(maker.namespace())) {
        if rules.admission.request(maker.namespace(), maker.meta).is_some()
            && let Matched::Unknown(reason) = rules.admission.conditions_of_pod(maker.namespace(), maker.meta)
        {
            reasons.insert(reason);
        }
    }
    for reason in reasons {
        let message = format!("webhooks[].matchConditions {reason}");
        let item = Item::List(Kind::MutatingWebhookConfiguration);
        ctx.gap(ctx.missing(item, Why::NotJudged { message }, "whether the injector is called for all pods"));
    }
    Ok(())
}

fn finding(
    ctx: &Context<'_>,
    namespace: &str,
    level: Level,
    clause: &Clause,
    passed: &[PassedOver<'_>],
    configuration: Option<&WebhookConfiguration>,
    is_running: bool,
) -> Finding {
    let first = &passed[0];
    let subjects = match level {
        Level::Namespace => vec![Subject::object(Kind::Namespace, "", namespace)],
        Level::Pod => passed.iter().map(|passed| passed.maker.subject()).collect(),
    };
    let mut subjects = subjects.into_iter();
    let subject = subjects.next().unwrap_or_else(|| first.maker.subject());
    let names = passed.iter().map(|passed| format!("{} {}", passed.maker.owner.kind, passed.maker.owner.name));
    let object = configuration.map_or_else(
        || "MutatingWebhookConfiguration of a default install".to_owned(),
        |configuration| format!("MutatingWebhookConfiguration {}", configuration.metadata.name),
    );
    let which = if matches!(clause, Clause::Condition { .. }) { "conditions" } else { "selectors" };
    let (effect, names_of) = match is_running {
        false => ("They run outside the mesh, without any event", "Pods without a proxy"),
        true => (
            "Running pods still have a proxy, but after the next restart they run outside the mesh, without \
             any event",
            "Pods without a proxy after a restart",
        ),
    };
    let message =
        format!("Injection is requested, but the {which} of the injector's webhook exclude the pods. {effect}");
    let finding = ctx.finding(subject, message).parameter(clause.to_string());
    let finding = if is_running { finding.parameter("running") } else { finding };
    let finding = finding
        .evidence(first.request_evidence())
        .evidence(Evidence::field(object, "webhooks[]", format!("not met: {clause}")))
        .evidences(labels(first, clause))
        .evidence(Evidence::other(names_of, some(names, QUOTED)))
        .remedy(remedy(ctx, namespace, clause, if is_running { &[] } else { passed }));
    subjects.fold(finding, Finding::subject)
}

/// Evidence of the label that the clause is about, if it is about one.
fn labels(first: &PassedOver<'_>, clause: &Clause) -> Option<Evidence> {
    let (key, of_objects) = match clause {
        Clause::Of { key, of_objects, .. } => (key.as_str(), *of_objects),
        Clause::OfDefaultInstall => ("kubernetes.io/metadata.name", false),
        Clause::Condition { .. } => return None,
    };
    let path = format!("metadata.labels[{key}]");
    if of_objects {
        return Some(first.maker.field(&path, first.maker.meta.label(key).unwrap_or("not set")));
    }
    // The clause's operator shows what the label must not be.
    let said = match clause {
        _ if key == "kubernetes.io/metadata.name" => first.maker.namespace().to_owned(),
        Clause::Of { operator, values, .. } if operator == "NotIn" && values.len() == 1 => values[0].clone(),
        Clause::Of { operator, .. } if operator == "DoesNotExist" => "set".to_owned(),
        Clause::Of { operator, .. } if operator == "Exists" => "not set".to_owned(),
        Clause::Of { .. } | Clause::OfDefaultInstall | Clause::Condition { .. } => "does not match".to_owned(),
    };
    Some(Evidence::field(format!("Namespace {}", first.maker.namespace()), path, said))
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
        Clause::Condition { .. } => remedy.step(
            StepKind::Command,
            "Remove the condition from the webhook's matchConditions, which the chart does not set, and find out \
             what added it",
        ),
        // Kubernetes sets this label; users do not.
        Clause::Of { key, .. } if key == "kubernetes.io/metadata.name" => by_values(remedy),
        Clause::OfDefaultInstall => by_values(remedy),
        Clause::Of { key, operator, .. } if matches!(operator.as_str(), "NotIn" | "DoesNotExist") => remedy.run(
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
        Clause::Of { key, .. } if AKS_LABELS.contains(&key.as_str()) => remedy.note(
            "If the label must stay and AKS's admissions enforcer added the condition, set the annotation \
             admissions.enforcer/disabled: \"true\" on the MutatingWebhookConfiguration, before you remove the \
             condition from it",
        ),
        _ => remedy,
    }
    .note("Or, if the exclusion is intended, remove the annotation that requests a proxy");
    restart(ctx, &mut remedy, passed);
    remedy
}

/// Adds the steps that recreate the pods.
pub(super) fn restart(ctx: &Context<'_>, remedy: &mut Remedy, passed: &[PassedOver<'_>]) {
    let mut steps: Vec<crate::finding::Step> = Vec::new();
    for passed in passed.iter().take(RESTARTED) {
        let step = renew(ctx, &passed.maker.owner, &pods_of(ctx, &passed.maker.owner), Needs::NewPods, CREATED_ONLY);
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
    let own = ctx
        .optional_list::<Pod>()
        .iter()
        .filter(|pod| pod.metadata.namespace == owner.namespace && !pod.is_finished() && owners.owner(pod) == *owner);
    own.map(|pod| pod.metadata.name.clone()).collect()
}
