//! `gitops-ignore-ineffective`: an entry of `ignoreDifferences` of an Argo CD Application for Linkerd that can match
//! none of its objects.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::control_plane_churning::{of_one_release, recent};
use super::gitops_apply_failed::{is_control_plane, is_linkerds};
use super::installation::config;
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::checks::upgrades::gitops::synced;
use crate::model::managed_by::GitOps;
use crate::objects::{Application, ArgoApplication, ComparedObject, IgnoredDifference, ReplicaSet};
use crate::redact::is_marked;

/// Kinds with fields that each rendering of the chart generates again.
const GENERATED: [&str; 4] = ["Deployment", "MutatingWebhookConfiguration", "Secret", "ValidatingWebhookConfiguration"];
/// Deployments with a checksum of generated certificates in their pod template, and the chart values about these.
const RESTARTED: [(&str, &[&str]); 2] =
    [("linkerd-destination", &["profileValidator", "policyValidator"]), ("linkerd-proxy-injector", &["proxyInjector"])];
/// Maximum number of ReplicaSets quoted for each Deployment.
const QUOTED: usize = 3;

/// The field of an entry that prevents a match, and its correct value, if known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong<'a> {
    Group(&'a str),
    Kind(&'a str),
    Namespace(&'a str),
    Name(&'a str),
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let applications = defined::<Application>(ctx)?;
    let namespace = &ctx.namespaces().control_plane;
    let ours = applications.iter().filter(|one| is_of_mesh(one, namespace));
    Ok(ours.filter_map(|application| finding(ctx, application)).collect())
}

/// Whether an Application manages parts of this mesh: by its charts, or by objects that Linkerd's charts contain.
fn is_of_mesh(application: &ArgoApplication, control_plane: &str) -> bool {
    let destination = &application.spec.destination;
    let is_elsewhere = !destination.namespace.is_empty() && destination.namespace != control_plane;
    if destination.is_other_cluster() || is_elsewhere && application.charts().any(is_control_plane) {
        return false;
    }
    let is_webhook = |one: &ComparedObject| {
        one.kind.ends_with("WebhookConfiguration")
            && one.name.starts_with("linkerd-")
            && one.name.ends_with("-webhook-config")
    };
    application.charts().any(is_linkerds)
        || application.status.resources.iter().any(|one| is_of_control_plane(one, control_plane) || is_webhook(one))
}

/// Whether an object is a Deployment of the control plane.
fn is_of_control_plane(object: &ComparedObject, control_plane: &str) -> bool {
    object.kind == "Deployment"
        && object.namespace == control_plane
        && RESTARTED.iter().any(|(name, _)| *name == object.name)
}

/// Whether Argo CD's pattern matches a text. Sets and alternatives match all texts here: they are not evaluated.
fn matches(pattern: &str, text: &str) -> bool {
    if pattern.contains(['[', '{', '\\']) {
        return true;
    }
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut read) = (0, 0);
    // After the last asterisk: the rest of the pattern, and the text that it was compared with.
    let mut last: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                last = Some((at + 1, read));
                at += 1;
            }
            Some(wanted) if *wanted == b'?' || *wanted == text[read] => (at, read) = (at + 1, read + 1),
            _ => {
                let Some((rest, from)) = last else { return false };
                last = Some((rest, from + 1));
                (at, read) = (rest, from + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// Whether a text is a pattern or was redacted, so that it is not compared with names.
fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{', '\\']) || is_marked(text)
}

/// Whether a text is an API version: `v1`, `v1beta3`.
fn is_version(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('v') else { return false };
    rest.starts_with(|c: char| c.is_ascii_digit()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The group of an entry with a version: `apps/v1` is `apps`, `/v1` the core group.
fn without_version(group: &str) -> Option<&str> {
    if group.contains(['[', '{', '\\']) || is_marked(group) {
        return None;
    }
    let (before, after) = group.split_once('/')?;
    Some(if is_version(before) { after } else { before })
}

/// Why an entry matches none of the Application's objects; `None` if it matches one, or if no corrected field would
/// make it match: lists of entries that several Applications share are harmless.
fn wrong<'a>(entry: &'a IgnoredDifference, application: &'a ArgoApplication) -> Option<Wrong<'a>> {
    let objects = &application.status.resources;
    let in_group = |one: &ComparedObject| matches(&entry.group, &one.group);
    let of_kind = |one: &ComparedObject| matches(&entry.kind, &one.kind);
    let in_namespace = |one: &ComparedObject| entry.namespace.is_empty() || entry.namespace == one.namespace;
    let named = |one: &ComparedObject| entry.name.is_empty() || entry.name == one.name;
    let other_group = objects.iter().find(|one| of_kind(one) && named(one) && in_namespace(one));
    if let Some(stripped) = without_version(&entry.group) {
        let known = other_group.filter(|_| !is_pattern(&entry.kind)).map(|one| one.group.as_str());
        return Some(Wrong::Group(known.unwrap_or(stripped)));
    }
    let is_unclear = is_pattern(&entry.name) || is_pattern(&entry.namespace) || is_pattern(&entry.kind);
    let matched = |one: &ComparedObject| in_group(one) && of_kind(one) && in_namespace(one) && named(one);
    if is_unclear || is_pattern(&entry.group) || objects.iter().any(matched) {
        return None;
    }
    // Groups that are missing, or a version instead of the core group; another group may be meant for another
    // Application, unless the object is named.
    let is_no_group = entry.group.is_empty() || is_version(&entry.group) || !entry.name.is_empty();
    if let Some(one) = other_group.filter(|_| is_no_group) {
        return Some(Wrong::Group(&one.group));
    }
    let similar = |one: &&ComparedObject| {
        let (written, kind) = (entry.kind.to_ascii_lowercase(), one.kind.to_ascii_lowercase());
        written == kind || written.strip_suffix('s') == Some(&kind)
    };
    let other_kind = objects.iter().filter(similar).find(|one| in_group(one) && named(one) && in_namespace(one));
    if let Some(one) = other_kind {
        return Some(Wrong::Kind(&one.kind));
    }
    let of_type = || objects.iter().filter(|one| in_group(one) && of_kind(one));
    let is_certain = |one: &ComparedObject| one.namespace.is_empty() || !entry.name.is_empty();
    if let Some(one) = of_type().find(|one| named(one) && is_certain(one)) {
        return Some(Wrong::Namespace(&one.namespace));
    }
    // Any other name may be one of another Application. A misspelled one has an effect only if the meant object differs
    // from Git, and no entry is for it.
    let is_ignored = |one: &ComparedObject| {
        application.spec.ignore_differences.iter().any(|other| {
            matches(&other.group, &one.group)
                && matches(&other.kind, &one.kind)
                && (other.name.is_empty() || other.name == one.name)
        })
    };
    let differs = |one: &ComparedObject| one.status == "OutOfSync" && !one.requires_pruning && !is_ignored(one);
    let meant = |one: &&ComparedObject| in_namespace(one) && differs(one) && is_misspelled(&entry.name, &one.name);
    of_type().find(meant).map(|one| Wrong::Name(&one.name))
}

/// Whether two names differ in one place, by at most two letters.
fn is_misspelled(written: &str, name: &str) -> bool {
    let (short, long) = if written.len() < name.len() { (written, name) } else { (name, written) };
    let pairs = || short.bytes().zip(long.bytes());
    let start = pairs().take_while(|(a, b)| a == b).count();
    let ends = short.bytes().rev().zip(long.bytes().rev());
    let end = ends.take(short.len() - start).take_while(|(a, b)| a == b).count();
    start > 0 && long.len() - start - end <= 2
}

fn finding(ctx: &Context<'_>, application: &ArgoApplication) -> Option<Finding> {
    let entries = application.spec.ignore_differences.iter().enumerate();
    let found: Vec<(usize, &IgnoredDifference, Wrong<'_>)> =
        entries.filter_map(|(at, entry)| Some((at, entry, wrong(entry, application)?))).collect();
    if found.is_empty() {
        return None;
    }
    let meta = &application.metadata;
    let subject = Subject::object(Kind::Application, &meta.namespace, &meta.name);
    let is_for_generated = found.iter().any(|(_, entry, _)| GENERATED.iter().any(|kind| matches(&entry.kind, kind)));
    let restarted = if is_for_generated { restarts(ctx, application) } else { Vec::new() };
    let quoted = found
        .iter()
        .map(|(at, entry, _)| Evidence::field(&subject, format!("spec.ignoreDifferences[{at}]"), written(entry)));
    let mut finding = match restarted.is_empty() {
        true => ctx
            .finding(
                subject.clone(),
                "Argo CD compares fields that entries of ignoreDifferences should leave out, because these entries \
                 match none of the Application's objects. Syncs overwrite these fields",
            )
            .severity(Severity::Warning),
        false => ctx
            .finding(
                subject.clone(),
                "Argo CD restarts the control plane again and again: each sync renders new webhook certificates, and \
                 entries of ignoreDifferences that should ignore them match no object",
            )
            .severity(Severity::Error)
            .likely(),
    };
    finding = finding.evidences(quoted);
    if !restarted.is_empty() {
        finding = finding.evidence(Evidence::field(&subject, "spec.syncPolicy.automated.selfHeal", "true"));
    }
    let namespace = &ctx.namespaces().control_plane;
    // The symptom has the Deployments as subjects.
    for (deployment, sets) in &restarted {
        finding = finding.evidences(sets.iter().take(QUOTED).map(|(at, set)| {
            let object = format!("ReplicaSet {namespace}/{}", set.metadata.name);
            Evidence::field(object, "metadata.creationTimestamp", at.to_string())
        }));
        let kind = "Deployment".to_owned();
        finding = finding.tie(Tie::Workload(kind, namespace.clone(), (*deployment).to_owned()));
    }
    Some(finding.remedy(remedy(application, &found, !restarted.is_empty())))
}

/// An entry as written, without its fields.
fn written(entry: &IgnoredDifference) -> String {
    let fields =
        [("group", &entry.group), ("kind", &entry.kind), ("namespace", &entry.namespace), ("name", &entry.name)];
    let set = fields.iter().filter(|(key, value)| *key == "group" || !value.is_empty());
    let text: Vec<String> = set.map(|(key, value)| format!("{key}: {}", quoted(value))).collect();
    text.join(", ")
}

/// A value of YAML, in quotes if it needs them.
fn quoted(value: &str) -> String {
    let is_plain = !value.is_empty() && !is_pattern(value);
    if is_plain { value.to_owned() } else { format!("\"{value}\"") }
}

/// The Deployments that an Application restarts with each sync, and their ReplicaSets, newest first: it repairs
/// differences on its own, the chart generates the certificates, and ReplicaSets were created repeatedly.
fn restarts<'a>(
    ctx: &Context<'a>,
    application: &ArgoApplication,
) -> Vec<(&'static str, Vec<(Timestamp, &'a Workload)>)> {
    let namespace = &ctx.namespaces().control_plane;
    let installs = application.charts().any(is_control_plane)
        || application.status.resources.iter().any(|one| is_of_control_plane(one, namespace));
    let heals = application.spec.sync_policy.active().is_some_and(|automated| automated.self_heal);
    if !installs || !heals {
        return Vec::new();
    }
    let Some(sets) = ctx.or_note(ctx.partial_list::<ReplicaSet>()) else { return Vec::new() };
    let made = recent(sets, namespace, ctx.now(), ctx.param_duration("hours"));
    let several = RESTARTED.into_iter().filter_map(|(name, values)| {
        let mut sets = of_one_release(made.get(name)?)?;
        sets.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        (sets.len() >= ctx.count_of("rollouts")).then_some((name, values, sets))
    });
    let several: Vec<_> = several.collect();
    if several.is_empty() {
        return Vec::new();
    }
    let Some(values) = ctx.or_note(config(ctx)).flatten().and_then(ConfigMap::chart_values) else {
        return Vec::new();
    };
    let is_generated = |webhook: &&str| {
        values.bool(&format!("{webhook}.externalSecret")) != Some(true)
            && values.text(&format!("{webhook}.crtPEM")).is_none()
    };
    let restarted = several.into_iter().filter(|(_, webhooks, _)| webhooks.iter().any(is_generated));
    restarted.map(|(name, _, sets)| (name, sets)).collect()
}

fn remedy(application: &ArgoApplication, found: &[(usize, &IgnoredDifference, Wrong<'_>)], restarts: bool) -> Remedy {
    let mut texts = BTreeSet::new();
    let mut remedy = Remedy::new();
    for (_, entry, wrong) in found {
        let text = correction(entry, *wrong);
        if texts.insert(text.clone()) {
            remedy = remedy.note(text);
        }
    }
    if restarts {
        remedy = remedy
            .note(
                "Add entries for the other generated fields: the data of the webhooks' Secrets, their caBundle, the \
                 annotation checksum/config of both Deployments, and the schedule of linkerd-heartbeat",
            )
            .note(
                "Add RespectIgnoreDifferences=true to spec.syncPolicy.syncOptions, so that a sync keeps ignored fields",
            );
    }
    synced(remedy, GitOps::ArgoCd(&application.metadata.name))
}

/// The step that corrects an entry.
fn correction(entry: &IgnoredDifference, wrong: Wrong<'_>) -> String {
    let place = "In the Application's ignoreDifferences";
    let name = if entry.name.is_empty() { String::new() } else { format!(" {}", entry.name) };
    match wrong {
        Wrong::Group(right) if entry.group.contains('/') => {
            format!("{place}, write group: {} instead of {}, without a version", quoted(right), entry.group)
        }
        Wrong::Group(right) => format!("{place}, set group: {} for {}{name}", quoted(right), entry.kind),
        Wrong::Kind(right) => format!("{place}, write kind: {right} instead of {}", entry.kind),
        Wrong::Namespace("") => {
            format!("{place}, remove the namespace of {}{name}, which has none", entry.kind)
        }
        Wrong::Namespace(right) => format!("{place}, set namespace: {right} for {}{name}", entry.kind),
        Wrong::Name(right) => format!("{place}, write name: {right} instead of {}", entry.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_like_those_of_argo_cd() {
        for (pattern, text) in [
            ("", ""),
            ("*", ""),
            ("*", "apps"),
            ("apps", "apps"),
            ("*Webhook*", "MutatingWebhookConfiguration"),
            ("*.k8s.io", "admissionregistration.k8s.io"),
            ("app?", "apps"),
            ("a**s", "apps"),
            ("{apps,batch}", "batch"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("", "apps"), ("apps", ""), ("*x", "apps"), ("app?", "app"), ("a*b", "a"), ("é*", "e")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn misspelled_name_differs_in_one_place() {
        let name = "linkerd-proxy-injector-k8s-tls";
        for written in
            ["linkerd-proxy-injector-k8-tls", "linkerd-proxy-injectors-k8s-tls", "linkerd-porxy-injector-k8s-tls"]
        {
            assert!(is_misspelled(written, name), "{written}");
        }
        for written in ["tap-injector-k8s-tls", "linkerd-policy-validator-k8s-tls", ""] {
            assert!(!is_misspelled(written, name), "{written}");
        }
    }

    #[test]
    fn group_is_read_without_its_version() {
        for (group, right) in [
            ("apps/v1", Some("apps")),
            ("admissionregistration.k8s.io/v1", Some("admissionregistration.k8s.io")),
            ("/v1", Some("")),
            ("v1/", Some("")),
            ("*/*", Some("*")),
            ("apps", None),
            ("", None),
            ("{apps/v1,batch}", None),
        ] {
            assert_eq!(without_version(group), right, "{group}");
        }
    }
}
