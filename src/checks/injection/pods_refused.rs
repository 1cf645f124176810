//! `pods-refused`: the API server rejects pods of workloads, and no check about Linkerd's containers
//! explains it.

use std::collections::BTreeMap;

use super::denied;
use super::other_webhooks::OtherWebhooks;
use crate::checks::admission::Rules;
use crate::checks::jaeger::jaeger_injector_conflict::{VOLUME, injector, removed};
use crate::checks::native_sidecar::decided_by;
use crate::checks::prelude::*;
use crate::checks::refused::{Refused, refused};
use crate::checks::serving::{
    annotation_denied, component_missing, silent_injector, values_unreadable, volume_added_twice,
};
use crate::checks::upgrade::{self, Options};
use crate::model::cni;
use crate::model::injection::Decision;
use crate::model::refusal::{Refusal, Trouble, names_linkerds, unstated_by_linkerd};
use crate::objects::{MutatingWebhookConfiguration, Webhook, WebhookConfiguration};

/// The file with the chart's values, which the injector names if it cannot read them.
const VALUES: &str = "/var/run/linkerd/config/values";
/// Maximum number of quoted rejections.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let refused = refused(ctx);
    let rules = ctx.or_note(Rules::from_context(ctx));
    let mut groups: BTreeMap<(&str, bool, String), Vec<&Refused<'_>>> = BTreeMap::new();
    for one in refused.iter().filter(|one| ctx.judges(one.namespace())) {
        if one.namespace() == ctx.namespaces().control_plane {
            continue;
        }
        let meshed = rules.as_ref().is_some_and(|rules| is_meshed(rules, one));
        // Checks of linkerd-cni report its installer.
        if has_a_check(one, meshed) || one.template.spec.container(cni::INSTALLER).is_some() {
            continue;
        }
        let of_linkerd = meshed || is_linkerds_webhook(&one.refusal);
        groups.entry((one.namespace(), of_linkerd, kind_of(one))).or_default().push(one);
    }
    Ok(groups.values().map(|group| finding(ctx, group, rules.as_ref())).collect())
}

/// Whether the injector would give the pods a proxy.
pub(super) fn is_meshed(rules: &Rules<'_>, one: &Refused<'_>) -> bool {
    let template = one.template;
    template.spec.proxy().is_some()
        || matches!(
            rules.admission.decide(one.namespace(), &template.metadata, &template.spec),
            Decision::Inject { .. }
        )
}

/// Whether another check covers the rejection, because Linkerd's containers cause it.
fn has_a_check(one: &Refused<'_>, meshed: bool) -> bool {
    match one.refusal {
        Refusal::PodSecurity { .. } => names_linkerds(one.said),
        Refusal::Unstated { lacking, .. } => unstated_by_linkerd(lacking).next().is_some(),
        Refusal::LimitRange | Refusal::Constraints => meshed,
        Refusal::Uncalled { trouble: Trouble::Timeout, .. } => is_linkerds_webhook(&one.refusal),
        Refusal::Uncalled { .. }
        | Refusal::UsedUp { .. }
        | Refusal::Denied { .. }
        | Refusal::ServiceAccount
        | Refusal::PriorityClass { .. }
        | Refusal::Priority
        | Refusal::NotNative
        | Refusal::Other => false,
    }
}

/// Whether a webhook of Linkerd rejected the pods.
pub(super) fn is_linkerds_webhook(refusal: &Refusal<'_>) -> bool {
    match refusal {
        Refusal::Uncalled { webhook, .. } | Refusal::Denied { webhook } => webhook.ends_with("linkerd.io"),
        Refusal::PodSecurity { .. }
        | Refusal::Unstated { .. }
        | Refusal::UsedUp { .. }
        | Refusal::LimitRange
        | Refusal::Constraints
        | Refusal::ServiceAccount
        | Refusal::PriorityClass { .. }
        | Refusal::Priority
        | Refusal::NotNative
        | Refusal::Other => false,
    }
}

/// The component that serves a webhook of Linkerd or of an extension.
fn component_of(webhook: &str) -> &str {
    let name = webhook.strip_suffix(".linkerd.io").unwrap_or(webhook);
    name.strip_prefix("linkerd-").unwrap_or(name)
}

/// Groups rejections of a namespace by their source, not by the text, which contains pod names.
fn kind_of(one: &Refused<'_>) -> String {
    match &one.refusal {
        Refusal::PodSecurity { .. } => "pod-security".to_owned(),
        Refusal::Unstated { quota, .. } | Refusal::UsedUp { quota } => format!("quota {quota}"),
        Refusal::LimitRange => "limit-range".to_owned(),
        Refusal::Constraints => "constraints".to_owned(),
        Refusal::Uncalled { webhook, .. } | Refusal::Denied { webhook } => format!("webhook {webhook}"),
        Refusal::ServiceAccount => "service-account".to_owned(),
        Refusal::PriorityClass { .. } | Refusal::Priority => "priority".to_owned(),
        Refusal::NotNative => "native-sidecar".to_owned(),
        Refusal::Other if has_second_volume(one) => "trace-volume".to_owned(),
        Refusal::Other => "other".to_owned(),
    }
}

fn finding(ctx: &Context<'_>, group: &[&Refused<'_>], rules: Option<&Rules<'_>>) -> Finding {
    let first = group[0];
    let meshed = rules.is_some_and(|rules| is_meshed(rules, first));
    let of_linkerd = is_linkerds_webhook(&first.refusal);
    let denied = matches!(first.refusal, Refusal::Denied { .. });
    let of_injector = denied && meshed && !of_linkerd && denied::is_meant(first.said, &first.template.spec);
    let twice = jaeger_injector(ctx, first);
    let who = cause(first, of_injector, twice.is_some());
    let (severity, whose) = effect(ctx, group, meshed, of_linkerd);
    let finding = ctx
        .finding(first.subject(), format!("{who}: {whose}"))
        .severity(severity)
        .parameter(kind_of(first))
        .evidences(group.iter().take(QUOTED).map(|one| quoted(one, of_injector)))
        .evidences(stripped_by(ctx, first))
        .evidences(twice.map(|(configuration, webhook)| {
            let object = format!("MutatingWebhookConfiguration {}", configuration.metadata.name);
            Evidence::field(object, "webhooks", format!("{}, which adds volumes.name: {VOLUME}", webhook.name))
        }))
        .timeline(group.iter().take(QUOTED).flat_map(|one| one.moments.iter().cloned()))
        .remedy(remedy(ctx, first, of_injector));
    let finding = tied(finding, first, meshed, twice.is_some());
    let mut owners: Vec<_> = group.iter().map(|one| one.subject()).collect();
    owners.dedup();
    owners.into_iter().skip(1).fold(finding, Finding::subject)
}

/// What rejects the pods. `of_injector`: because of injected containers; `twice`: because two injectors add a volume.
fn cause(first: &Refused<'_>, of_injector: bool, twice: bool) -> &'static str {
    match first.refusal {
        Refusal::PodSecurity { .. } => "Pod Security admission rejects pods",
        Refusal::Unstated { .. } => "a quota rejects pods whose containers lack requests or limits",
        Refusal::UsedUp { .. } => "a quota that is used up blocks new pods",
        Refusal::LimitRange => "a LimitRange rejects pods",
        Refusal::Constraints => "OpenShift's security context constraints reject pods",
        Refusal::Uncalled { trouble: Trouble::NoEndpoint | Trouble::Refused, .. } => {
            "pods are rejected because a required webhook does not run"
        }
        Refusal::Uncalled { trouble: Trouble::Certificate, .. } => {
            "pods are rejected because the certificate of a required webhook is not trusted"
        }
        Refusal::Uncalled { trouble: Trouble::Bundle, .. } => {
            "pods are rejected because the caBundle of a required webhook holds no certificate"
        }
        Refusal::Uncalled { .. } => "pods are rejected because a required webhook does not answer",
        Refusal::Denied { .. } if of_injector => "a webhook rejects pods because of injected containers",
        Refusal::Denied { .. } => "a webhook rejects pods",
        Refusal::ServiceAccount => "pods are rejected because their ServiceAccount does not exist",
        Refusal::PriorityClass { .. } => "pods are rejected because their PriorityClass does not exist",
        Refusal::Priority => "pods are rejected because no quota of the namespace allows their PriorityClass",
        Refusal::NotNative => "pods are rejected because their native sidecar lost restartPolicy: Always",
        Refusal::Other if twice => {
            "pods are rejected because the injector and the one of the extension jaeger add the same volume"
        }
        Refusal::Other => "the API server rejects pods",
    }
}

/// The severity of rejections, and their effect.
fn effect(ctx: &Context<'_>, group: &[&Refused<'_>], meshed: bool, of_linkerd: bool) -> (Severity, &'static str) {
    let others_start = others_started(ctx, group);
    match (meshed, of_linkerd) {
        (_, true) if others_start => (
            Severity::Error,
            "no new pod of this workload starts, although other pods of its namespace were created since",
        ),
        (_, true) if matches!(group[0].refusal, Refusal::Uncalled { .. }) => {
            (Severity::Error, "no pod starts in the namespaces that this webhook covers, meshed or not")
        }
        (_, true) => (Severity::Error, "no new pod of this workload starts, and lost pods are not replaced"),
        (true, false) => (Severity::Error, "no new pod of this meshed workload starts, and lost pods are not replaced"),
        (false, false) => (Severity::Info, "none of them is meshed, and the mesh is not involved"),
    }
}

/// The finding with the facts that it follows from.
fn tied(finding: Finding, first: &Refused<'_>, meshed: bool, twice: bool) -> Finding {
    let of_linkerd = is_linkerds_webhook(&first.refusal);
    match first.refusal {
        Refusal::Uncalled { trouble: Trouble::Certificate | Trouble::Bundle, .. } if of_linkerd => {
            finding.tie(silent_injector())
        }
        Refusal::Uncalled { webhook, .. } if of_linkerd => finding.tie(component_missing(component_of(webhook))),
        Refusal::Denied { .. } if of_linkerd && first.said.contains(VALUES) => finding.tie(values_unreadable()),
        Refusal::Denied { .. } if of_linkerd => finding.tie(annotation_denied(first.namespace())),
        Refusal::Other if twice => finding.tie(volume_added_twice()),
        // The API server validates the pod with the containers that the injector added.
        Refusal::Other if meshed && first.said.contains(" is invalid: ") => {
            finding.tie(annotation_denied(first.namespace()))
        }
        _ => finding,
    }
}

/// The answer; of a long one about injected containers, the part that names them.
fn quoted(one: &Refused<'_>, of_injector: bool) -> Evidence {
    let evidence = one.evidence.clone();
    match denied::excerpt(one.said).filter(|_| of_injector) {
        Some(part) => {
            let reason = evidence.said.strip_suffix(one.said).unwrap_or_default();
            Evidence { said: format!("{reason}{part}"), ..evidence }
        }
        None => evidence,
    }
}

/// Whether pods were created in the same namespace after the last rejection, so that it applies only to
/// these workloads. False if pods are missing.
fn others_started(ctx: &Context<'_>, group: &[&Refused<'_>]) -> bool {
    let last = group.iter().flat_map(|one| &one.moments).map(|moment| moment.at).max();
    let Some(last) = last else { return false };
    let in_namespace = |pod: &&Pod| group.iter().any(|one| one.namespace() == pod.metadata.namespace);
    let created = |pod: &Pod| pod.metadata.creation_timestamp.get();
    ctx.optional_list::<Pod>().iter().filter(in_namespace).any(|pod| created(pod).is_some_and(|at| at > last))
}

/// Whether the API server rejects a pod because it has the volume of traces twice.
fn has_second_volume(one: &Refused<'_>) -> bool {
    one.said.contains("volumes[") && one.said.contains(&format!("name: Duplicate value: \"{VOLUME}\""))
}

/// The webhook of the extension jaeger, if it added that volume again.
fn jaeger_injector<'a>(ctx: &Context<'a>, first: &Refused<'_>) -> Option<(&'a WebhookConfiguration, &'a Webhook)> {
    has_second_volume(first).then(|| injector(ctx.optional_list::<MutatingWebhookConfiguration>())).flatten()
}

/// The webhooks that may have removed a field of a native sidecar.
fn stripped_by(ctx: &Context<'_>, first: &Refused<'_>) -> Option<Evidence> {
    let others = (first.refusal == Refusal::NotNative).then(|| OtherWebhooks::new(ctx))?;
    ctx.or_note(others)?.evidence(first.namespace())
}

/// The steps if a webhook or the creator of the pods removed `restartPolicy` from a native sidecar: programs that were
/// built with API types from before Kubernetes 1.28 drop the field when they write a pod.
fn stripped(ctx: &Context<'_>, first: &Refused<'_>) -> Remedy {
    let remedy = Remedy::new()
        .command(
            "Find the webhook or operator that changes these pods and was built for Kubernetes before 1.28: it \
             drops the field that it does not know",
            kubectl().words("get mutatingwebhookconfigurations"),
        )
        .step(StepKind::Upgrade, "Update it, or exclude the namespace or the pods from it");
    let options = Options::none().set(ctx.knowledge.native_sidecar().chart_value(), "false");
    let act = "Until then, let the injector add linkerd-proxy as an ordinary container";
    if first.template.spec.proxy().is_some() {
        return remedy;
    }
    let namespace = first.namespace();
    match decided_by(ctx, &first.template.metadata, namespace) {
        Some((key, true)) => {
            let text = format!("{act}: set {key}: \"false\" on the namespace {namespace}");
            remedy.step(StepKind::Annotation, text)
        }
        Some((key, false)) => {
            remedy.step(StepKind::Annotation, format!("{act}: set {key}: \"false\" in the pod template"))
        }
        None => upgrade::with_values(ctx, remedy, act, options),
    }
}

fn remedy(ctx: &Context<'_>, first: &Refused<'_>, of_injector: bool) -> Remedy {
    let namespace = first.namespace();
    let in_namespace = || kubectl().namespace(namespace);
    let (kind, name) = first.by;
    let jaeger = jaeger_injector(ctx, first);
    let has_more = jaeger.is_some() || !matches!(first.refusal, Refusal::Constraints | Refusal::Other);
    let act = match has_more {
        true => "Read the API server's answer. The workload retries on its own once the cause is removed",
        false => "Read the API server's answer and remove the cause. The workload retries on its own",
    };
    let read = in_namespace().words("describe").arg(kind).operand(name);
    let mut remedy = Remedy::new().run(StepKind::Note, act, read);
    remedy.steps.extend(cause_removed(ctx, first, of_injector).steps);
    match jaeger {
        Some((configuration, _)) => {
            let act = "Delete the webhook of the extension jaeger: the injector configures traces itself \
                       (proxy.tracing)";
            removed(remedy, act, configuration)
        }
        None => remedy,
    }
}

/// The steps that remove the cause.
fn cause_removed(ctx: &Context<'_>, first: &Refused<'_>, of_injector: bool) -> Remedy {
    let namespace = first.namespace();
    let in_namespace = || kubectl().namespace(namespace);
    match first.refusal {
        Refusal::Unstated { quota, lacking } => Remedy::new().command(
            format!("Set the requests and limits that the quota requires of each container: {lacking}"),
            in_namespace().words("describe resourcequota").operand(quota),
        ),
        Refusal::UsedUp { quota } => Remedy::new()
            .run(
                StepKind::Command,
                "Check what uses the quota",
                in_namespace().words("describe resourcequota").operand(quota),
            )
            .step(StepKind::Note, "Raise the quota, or free some of it"),
        Refusal::LimitRange => Remedy::new().run(
            StepKind::Command,
            "Compare the containers' requests and limits with the LimitRange",
            in_namespace().words("describe limitrange"),
        ),
        Refusal::PodSecurity { .. } => Remedy::new().command(
            "Change the containers that the answer names, or the level that the namespace enforces",
            kubectl().words("get namespace").operand(namespace).words("--show-labels"),
        ),
        Refusal::Denied { .. } if of_injector => denied::remedy(ctx, first.said),
        Refusal::Denied { .. } => match denied_annotation(first) {
            Some((key, is_named)) => {
                let act = match is_named {
                    true => format!("Correct or remove {key}"),
                    false => format!("Remove the quotes or backslashes from {key}"),
                };
                let text = format!("{act} in the pod template, or exclude the workload from the webhook");
                Remedy::new().note(text)
            }
            None => Remedy::new()
                .note("Change the pod template as the answer requires, or exclude the workload from the webhook"),
        },
        Refusal::Uncalled { trouble: Trouble::Bundle, .. } => Remedy::new().run(
            StepKind::Command,
            "Let the tool of the webhook that the answer names (cert-manager, or a Job of its chart) fill in the \
             caBundle",
            kubectl().words("get mutatingwebhookconfigurations,validatingwebhookconfigurations"),
        ),
        Refusal::Uncalled { .. } => Remedy::new().run(
            StepKind::Command,
            "Repair the server of the webhook that the answer names",
            kubectl().words("get mutatingwebhookconfigurations,validatingwebhookconfigurations"),
        ),
        Refusal::ServiceAccount => Remedy::new()
            .command("Create the ServiceAccount that the answer names", in_namespace().words("get serviceaccounts")),
        Refusal::PriorityClass { name } => Remedy::new().command(
            format!("Create the PriorityClass {name}, or name one of these in the pod template"),
            kubectl().words("get priorityclasses"),
        ),
        Refusal::Priority => denied::allow_priority(Remedy::new(), namespace),
        Refusal::NotNative => stripped(ctx, first),
        Refusal::Constraints | Refusal::Other => Remedy::new(),
    }
}

/// What a JSON decoder reports about text after the end of a string or value.
const NOT_JSON: &str = "invalid character";

/// The annotation of the pod template that the injector's answer is about, and whether the answer names it. Otherwise,
/// the only one whose value ends a string of the JSON patch into which the injector writes it.
fn denied_annotation<'a>(first: &'a Refused<'_>) -> Option<(&'a str, bool)> {
    let annotations = &first.template.metadata.annotations;
    let mut own = annotations.iter().filter(|(key, _)| is_linkerds_annotation(key));
    if let Some((key, _)) = own.clone().find(|(key, _)| first.said.contains(key.as_str())) {
        return Some((key, true));
    }
    if !first.said.contains(NOT_JSON) {
        return None;
    }
    let mut quoted = own.by_ref().filter(|(_, value)| value.contains('"') || value.contains('\\'));
    let (key, _) = quoted.next()?;
    quoted.next().is_none().then_some((key, false))
}

fn is_linkerds_annotation(key: &str) -> bool {
    key.contains("linkerd.io/")
}
