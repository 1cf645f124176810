//! Texts and steps that the checks of this category share.

use std::collections::BTreeMap;

use super::fault::{Found, Survey};
use super::guess::guess;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, Rollouts, renew};
use crate::checks::rewrite::{self, Act, KeyChange, is_label_value};
use crate::knowledge::{self, Key, KeyScope};
use crate::model::annotated::Annotated;
use crate::model::endpoints::selected;
use crate::model::injection::INJECT;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::owners::Owners;

/// One check's part of the survey: `say` returns message and remedy for the faults that the check
/// reports.
pub(super) fn judge(ctx: &Context<'_>, say: impl Fn(&Survey<'_>, &Found<'_>) -> Option<(String, Remedy)>) -> Judgement {
    let survey = Survey::from_context(ctx)?;
    Ok(findings(ctx, survey, say).into())
}

/// The findings of one check.
pub(super) fn findings(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    say: impl Fn(&Survey<'_>, &Found<'_>) -> Option<(String, Remedy)>,
) -> Vec<Finding> {
    let reported = survey.found.iter().filter_map(|found| Some((found, say(survey, found)?)));
    reported.map(|(found, (message, remedy))| finding(ctx, survey, found, message, remedy)).collect()
}

/// A finding about a key.
pub(super) fn finding(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    found: &Found<'_>,
    message: String,
    remedy: Remedy,
) -> Finding {
    ctx.finding(found.object.subject(), message)
        .evidence(found.evidence.clone())
        .evidences(survey.reader.evidence().filter(|_| found.fault.depends_on_release()))
        .remedy(remedy)
        .parameter(found.key)
        .fails_rows(rows(ctx, found))
        .likely_if(found.likely)
}

/// The row of `linkerd check` about labels of pods.
pub(super) const POD_LABELS: &str = "data plane pod labels are configured correctly";

/// Whether `linkerd check` treats a label as a setting that should be an annotation.
pub(super) fn configures(key: &str) -> bool {
    key == "linkerd.io/inject" || key.starts_with("config.linkerd.io") || key.starts_with("config.alpha.linkerd.io")
}

/// The pods that `linkerd check` reads: those that this control plane injected.
pub(super) fn meshed<'a>(ctx: &Context<'a>) -> impl Iterator<Item = &'a Pod> {
    let control_plane = ctx.namespaces().control_plane.clone();
    ctx.optional_list::<Pod>().iter().filter(move |pod| {
        let by = pod.metadata.label(CONTROL_PLANE_NS);
        by == Some(control_plane.as_str()) && ctx.judges(&pod.metadata.namespace)
    })
}

/// The rows of `linkerd check` about keys that a fault fails: labels of running pods and of
/// Services, and annotations of Services.
fn rows(ctx: &Context<'_>, found: &Found<'_>) -> Option<&'static str> {
    let key = found.key;
    let configures = configures(key);
    match (found.written_as, found.object.kind) {
        (knowledge::KeyKind::Label, Kind::Namespace) => None,
        (knowledge::KeyKind::Label, Kind::Service) => {
            configures.then_some("data plane service labels are configured correctly")
        }
        (knowledge::KeyKind::Label, _) => {
            let runs = configures && meshed(ctx).any(|pod| pod.metadata.label(key).is_some());
            runs.then_some(POD_LABELS)
        }
        (knowledge::KeyKind::Annotation, Kind::Service) => {
            (key == "mirror.linkerd.io/exported").then_some("data plane service annotations are configured correctly")
        }
        (knowledge::KeyKind::Annotation, _) => None,
    }
}

/// An empty remedy of this category.
pub(super) fn remedy() -> Remedy {
    Remedy::new()
}

/// `annotation` or `label`, as it is written.
pub(super) fn annotation_or_label(found: &Found<'_>) -> String {
    found.written_as.to_string()
}

/// Adds the step that removes the key: `Remove the annotation from the workload itself`.
pub(super) fn remove_it(ctx: &Context<'_>, remedy: Remedy, found: &Found<'_>) -> Remedy {
    remove(ctx, remedy, &format!("Remove the {}", found.written_as), found)
}

/// Adds the step that removes the key, in the given words.
pub(super) fn remove(ctx: &Context<'_>, remedy: Remedy, act: &str, found: &Found<'_>) -> Remedy {
    let changes: [KeyChange<'_>; 1] = [(found.key, None)];
    let words = act;
    let act = Act::Remove(act);
    match (found.written_as, found.scope) {
        (knowledge::KeyKind::Annotation, KeyScope::PodTemplate) => {
            rewrite::template(ctx, remedy, act, &found.object, &changes)
        }
        (knowledge::KeyKind::Annotation, _) => rewrite::own(remedy, act, &found.object, &changes),
        (knowledge::KeyKind::Label, KeyScope::PodTemplate) => {
            remedy.step(StepKind::Annotation, format!("{words} from the pod template's labels"))
        }
        (knowledge::KeyKind::Label, _) => rewrite::labels(remedy, act, &found.object, &changes),
    }
}

/// Whether an object has a key, as an annotation or as a label.
pub(super) fn has(meta: &Meta, kind: knowledge::KeyKind, key: &str) -> bool {
    match kind {
        knowledge::KeyKind::Label => meta.label(key).is_some(),
        knowledge::KeyKind::Annotation => meta.annotation(key).is_some(),
    }
}

/// The step that sets the key of `row` to a valid value; `accepted`: which ones are.
fn set_valid(found: &Found<'_>, row: &Key, accepted: &str) -> String {
    let on = match found.scope {
        KeyScope::Workload => KeyScope::PodTemplate.to_string(),
        _ => places(row),
    };
    match accepted.strip_prefix("expected ") {
        _ if row.kind == knowledge::KeyKind::Label => {
            format!("Set {} as a label on {on}, with a valid value: {accepted}", row.key)
        }
        Some(valid) => format!("Set {} on {on} to {valid}", row.key),
        None => format!("Set {} on {on}, with a valid value", row.key),
    }
}

/// Adds the steps that replace the key with the one of `row`.
pub(super) fn replace(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    found: &Found<'_>,
    row: &Key,
    value: &str,
) -> Remedy {
    let minors = ctx.knowledge.minors();
    let is_label = row.kind == knowledge::KeyKind::Label;
    // The value of the right key is in force, and the other one has no effect.
    let is_set = found.object.sites.iter().any(|site| has(site.meta, row.kind, &row.key));
    if is_set && row.key != found.key {
        return remove_it(ctx, remedy, found);
    }
    let fits = |value: &str| (!is_label || is_label_value(value)) && row.check_value(value, None, minors).is_ok();
    // An invalid or redacted value is never set.
    let is_known = !value.contains("REDACTED(");
    let valid = match fits(value) && is_known {
        true => Some(value.to_owned()),
        false => guess(row, value, None, minors).filter(|value| is_known && fits(value)),
    };
    let Some(valid) = valid else {
        let accepted = row.check_value(value, None, minors).err().unwrap_or_default();
        let act = set_valid(found, row, &accepted);
        return remove_it(ctx, remedy.step(StepKind::Annotation, act), found);
    };
    let act = &act.replace(&format!("{value:?}"), &format!("{valid:?}"));
    let value = valid.as_str();
    let readable_here = row.is_read_on(found.scope);
    let same = row.key == found.key && row.kind == found.written_as;
    let mut changes = vec![(row.key.as_str(), Some(value))];
    if row.kind == found.written_as && !same {
        changes.push((found.key, None));
    }
    // Without a native sidecar, the Jobs of a CronJob never complete.
    let injects = row.key == INJECT && matches!(value, "enabled" | "ingress");
    let sidecar = (injects && found.object.kind == Kind::CronJob)
        .then(|| crate::checks::native_sidecar::requested_by(ctx))
        .flatten();
    let act = match sidecar {
        Some(key) => {
            changes.push((key, Some("true")));
            &format!("{act} and {key}: \"true\", without which the proxy keeps Jobs from completing,")
        }
        None => act,
    };
    let act = Act::Put(act);
    let mut remedy = match (row.kind, found.scope) {
        (knowledge::KeyKind::Label, _) if readable_here && found.scope != KeyScope::PodTemplate => {
            rewrite::labels(remedy, act, &found.object, &changes)
        }
        (knowledge::KeyKind::Annotation, KeyScope::Namespace | KeyScope::Service) if readable_here => {
            of_list(rewrite::own(remedy, act, &found.object, &changes), found, row, value)
        }
        (knowledge::KeyKind::Annotation, KeyScope::PodTemplate | KeyScope::Workload)
            if row.is_read_on(KeyScope::PodTemplate) =>
        {
            of_list(rewrite::template(ctx, remedy, act, &found.object, &changes), found, row, value)
        }
        _ => return remove_it(ctx, move_to(ctx, remedy, found, row, value), found),
    };
    // A key in another place or of another form still exists.
    if found.scope == KeyScope::Workload || (row.kind != found.written_as && found.scope != KeyScope::PodTemplate) {
        remedy = remove_it(ctx, remedy, found);
    }
    // A label of a namespace applies at once; annotations reach pods when they are created.
    if row.kind == knowledge::KeyKind::Label { remedy } else { rewrite::restart(ctx, remedy, &found.object) }
}

/// Annotations with lists of ports or networks, to which other findings may add entries.
const LISTS: [&str; 4] = [
    "config.linkerd.io/opaque-ports",
    "config.linkerd.io/skip-inbound-ports",
    "config.linkerd.io/skip-outbound-ports",
    "config.linkerd.io/skip-subnets",
];

/// States that a remedy corrects entries of a list, if it does.
fn of_list(remedy: Remedy, found: &Found<'_>, row: &Key, value: &str) -> Remedy {
    let is_list = LISTS.contains(&row.key.as_str());
    match is_list && row.key == found.key && row.kind == found.written_as {
        true => rewrite::of_list(remedy, &found.object, (row.key.as_str(), Some(value)), found.value),
        false => remedy,
    }
}

/// Adds the steps that set an annotation in the pod templates of the workloads that a Service selects. A
/// proxy in the template reads the annotation only when it is injected again, and needs no request for
/// injection.
///
/// # Errors
/// The remedy as it was: no such workload is known.
fn on_selected(
    ctx: &Context<'_>,
    remedy: Remedy,
    found: &Found<'_>,
    (key, value): (&str, &str),
) -> Result<Remedy, Remedy> {
    let (namespace, name) = found.object.meta.key();
    let Some(service) = ctx.for_steps::<Service>().iter().find(|one| one.metadata.key() == (namespace, name)) else {
        return Err(remedy);
    };
    let owners = Owners::default();
    let mut workloads: BTreeMap<Owner, Vec<String>> = BTreeMap::new();
    for pod in selected(service, ctx.for_steps::<Pod>()) {
        workloads.entry(owners.owner(pod)).or_default().push(pod.metadata.name.clone());
    }
    let of_kind = |owner: &Owner| match owner.kind.as_str() {
        "Deployment" => Some(Kind::Deployment),
        "StatefulSet" => Some(Kind::StatefulSet),
        "DaemonSet" => Some(Kind::DaemonSet),
        _ => None,
    };
    let known: Vec<(Kind, &Owner, &[String])> =
        workloads.iter().filter_map(|(owner, pods)| Some((of_kind(owner)?, owner, pods.as_slice()))).collect();
    if known.is_empty() {
        return Err(remedy);
    }
    let rollouts = Rollouts::from_context(ctx);
    Ok(known.into_iter().fold(remedy, |remedy, (kind, owner, pods)| {
        let in_template = rollouts.is_in_template(owner);
        if in_template && key == INJECT {
            return remedy;
        }
        let meta = Meta { name: owner.name.clone(), namespace: owner.namespace.as_str().into(), ..Meta::default() };
        let object = Annotated { kind, meta: &meta, sites: vec![] };
        let act = format!("Set {key} for {kind} {}, which the Service selects, as an annotation", owner.name);
        let (act, change) = (Act::Put(&act), [(key, Some(value))]);
        if !in_template {
            return rewrite::template(ctx, remedy, act, &object, &change);
        }
        let because = "the annotation takes effect when the proxy is injected";
        let remedy = rewrite::template_only(remedy, act, &object, &change);
        remedy.with(renew(ctx, owner, pods, Needs::NewProxy, because))
    }))
}

/// Adds the step that sets a key on the objects that it belongs on: the workloads that a Service selects, if
/// they are known.
pub(super) fn move_to(ctx: &Context<'_>, remedy: Remedy, found: &Found<'_>, row: &Key, value: &str) -> Remedy {
    let is_of_pods = row.kind == knowledge::KeyKind::Annotation && row.is_read_on(KeyScope::PodTemplate);
    let remedy = match found.scope {
        KeyScope::Service if is_of_pods => match on_selected(ctx, remedy, found, (row.key.as_str(), value)) {
            Ok(moved) => return moved,
            Err(remedy) => remedy,
        },
        _ => remedy,
    };
    // Each kind of route has its own key for the responses to retry.
    if let Some((key, such_as)) = retry_key(found) {
        return remedy
            .step(StepKind::Annotation, format!("Set {key} on the route instead, to values such as {such_as}"));
    }
    let kind = match row.kind {
        knowledge::KeyKind::Annotation => "an annotation",
        knowledge::KeyKind::Label => "a label",
    };
    remedy.step(StepKind::Annotation, format!("Set {} as {kind} on {} instead", row.key, places(row)))
}

/// The key of a route's kind that sets the responses to retry, with values, for a route that has the other kind's.
fn retry_key(found: &Found<'_>) -> Option<(&'static str, &'static str)> {
    let is_retry = ["retry.linkerd.io/http", "retry.linkerd.io/grpc"].contains(&found.key);
    match found.scope {
        KeyScope::GatewayGrpcRoute => Some(("retry.linkerd.io/grpc", "unavailable,internal")),
        KeyScope::GatewayHttpRoute | KeyScope::PolicyHttpRoute => Some(("retry.linkerd.io/http", "5xx")),
        _ => None,
    }
    .filter(|_| is_retry)
}

/// The scopes in which a key is read, as text: `the pod template or the namespace`.
pub(super) fn places(row: &Key) -> String {
    let places: Vec<String> = row.scopes.iter().map(ToString::to_string).collect();
    match places.as_slice() {
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// The object's place as text: `a namespace`, `a Service`, `a workload itself`.
pub(super) fn place(found: &Found<'_>) -> &'static str {
    match (found.scope, found.object.kind) {
        (KeyScope::Namespace, _) => "a namespace",
        (KeyScope::Service, _) => "a Service",
        (KeyScope::Workload, _) => "a workload itself",
        (KeyScope::GatewayGrpcRoute, _) => "a GRPCRoute",
        (KeyScope::GatewayHttpRoute | KeyScope::PolicyHttpRoute, _) => "an HTTPRoute",
        (_, Kind::Pod) => "a pod",
        _ => "a pod template",
    }
}
