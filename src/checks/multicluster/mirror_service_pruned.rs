//! `mirror-service-pruned`: Argo CD takes a Service that the service mirror creates for an object of one of its
//! Applications, and deletes it.

use std::collections::BTreeSet;

use super::links::{CLUSTER, chart_makes_controllers, mirrors, subject};
use crate::annotations::{ARGO_CD_INSTANCE, ARGO_CD_OPTIONS, ARGO_CD_TRACKING};
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::model::managed_by::ManagedBy;
use crate::objects::{Application, ArgoApplication, Link};
use crate::version::Contains;

/// The label by which Argo CD tracks objects by default before 3.0.
const INSTANCE: &str = "app.kubernetes.io/instance";

/// A key by which Argo CD takes an object for one of an Application.
#[derive(Clone, Copy)]
enum Mark<'a> {
    Label(&'a str),
    Annotation(&'a str),
}

/// An Application that would delete a Service.
struct Claim<'a> {
    application: &'a ArgoApplication,
    marks: Vec<Mark<'a>>,
    /// Whether it is listed as an object that is not in Git.
    is_listed: bool,
    /// Whether the last sync deleted it.
    was_pruned: bool,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let made: Vec<&Service> = mirrors(ctx.partial_list::<Service>()?).collect();
    if made.is_empty() {
        return Err(Unjudged::not_applicable("the cluster has no mirror services"));
    }
    let applications = defined::<Application>(ctx)?;
    let here: Vec<&ArgoApplication> =
        applications.iter().filter(|one| !one.spec.destination.is_other_cluster()).collect();
    let of_service = |service| here.iter().find_map(move |application| claim(application, service));
    let findings = made.into_iter().filter_map(|service| Some(finding(ctx, service, &of_service(service)?)));
    Ok(findings.collect())
}

/// Whether a Service has an option of Argo CD.
fn has_option(service: &Service, wanted: &str) -> bool {
    let options = service.metadata.annotation(ARGO_CD_OPTIONS).unwrap_or_default();
    options.split(',').any(|option| option.trim().eq_ignore_ascii_case(wanted))
}

/// The claim of an Application to a mirror. An Application that lists it as an object in Git owns it. The last sync may
/// be older than a repair, so that alone it counts only until the Application is compared with the new mirror.
fn claim<'a>(application: &'a ArgoApplication, service: &'a Service) -> Option<Claim<'a>> {
    let marks = marks(&application.metadata, &service.metadata);
    if marks.is_empty() || has_option(service, "Prune=false") {
        return None;
    }
    let (namespace, name) = service.metadata.key();
    let status = &application.status;
    let listed = status
        .resources
        .iter()
        .find(|one| one.kind == "Service" && one.group.is_empty() && one.namespace == namespace && one.name == name);
    if listed.is_some_and(|one| !one.requires_pruning) {
        return None;
    }
    let was_pruned =
        status.operation_state.sync_result.resources.iter().any(|one| {
            one.kind == "Service" && one.namespace == namespace && one.name == name && one.status == "Pruned"
        });
    let is_new = status.reconciled_at.is_some() && service.metadata.creation_timestamp > status.reconciled_at;
    let is_listed = listed.is_some();
    (is_listed || was_pruned && is_new).then_some(Claim { application, marks, is_listed, was_pruned })
}

/// The keys that name the Application: labels by which Argo CD may track objects, and its annotations. An Application
/// outside of Argo CD's namespace is named with its namespace.
fn marks<'a>(application: &Meta, object: &'a Meta) -> Vec<Mark<'a>> {
    let full = format!("{}_{}", &*application.namespace, application.name);
    let is_it = |value: &str| value == application.name || value == full;
    // The key of the label can be chosen.
    let tracks = |key: &str| key == INSTANCE || key.contains("argocd");
    let labels = object.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let labels = labels.filter(|(key, value)| tracks(key) && is_it(value)).map(|(key, _)| Mark::Label(key));
    let annotated = [ARGO_CD_TRACKING, ARGO_CD_INSTANCE].into_iter().filter(|key| {
        let value = object.annotation(key).and_then(|value| value.split(':').next());
        value.is_some_and(is_it)
    });
    labels.chain(annotated.map(Mark::Annotation)).collect()
}

fn finding(ctx: &Context<'_>, service: &Service, claim: &Claim<'_>) -> Finding {
    let meta = &service.metadata;
    let of_service = Subject::object(Kind::Service, &meta.namespace, &meta.name);
    let application = &claim.application.metadata;
    let of_application = Subject::object(Kind::Application, &application.namespace, &application.name);
    let prunes = claim.application.spec.sync_policy.active().is_some_and(|automated| automated.prune);
    let is_automatic = prunes && !has_option(service, "Prune=confirm");
    let (severity, message) = match is_automatic {
        true => (
            Severity::Error,
            "Argo CD takes the mirror for an object of its Application that is not in Git, and deletes it. Calls to \
             it fail until the service mirror creates it again, and then Argo CD deletes that one",
        ),
        false => (
            Severity::Warning,
            "Argo CD takes the mirror for an object of its Application that is not in Git. A sync that prunes deletes \
             it, and calls to it fail until the service mirror creates it again",
        ),
    };
    let place = of_service.to_string();
    let by_mark = claim.marks.iter().filter_map(|mark| {
        let (of, key, value) = match mark {
            Mark::Label(key) => ("labels", *key, meta.label(key)),
            Mark::Annotation(key) => ("annotations", *key, meta.annotation(key)),
        };
        Some(Evidence::field(&place, format!("metadata.{of}[{key}]"), value?))
    });
    let state = |path: String, said: &str| Evidence::field(&of_application, path, said);
    let listed = claim.is_listed.then(|| state(format!("status.resources[{place}].requiresPruning"), "true"));
    let pruned = claim.was_pruned.then(|| state(format!("status.operationState.syncResult[{place}].status"), "Pruned"));
    let automated = prunes.then(|| state("spec.syncPolicy.automated.prune".to_owned(), "true"));
    ctx.finding(of_service, message)
        .severity(severity)
        .evidences(by_mark)
        .evidences(listed)
        .evidences(pruned)
        .evidences(automated)
        .remedy(remedy(ctx, service, &claim.marks))
}

/// Excludes the keys from mirroring and removes them from the mirror; in releases that copy all of them, changes how
/// Argo CD tracks objects. The chart creates controllers since the release that can exclude keys.
fn remedy(ctx: &Context<'_>, service: &Service, marks: &[Mark<'_>]) -> Remedy {
    if chart_makes_controllers(ctx) == Contains::Yes {
        return excluded(ctx, service, marks);
    }
    let by_label = marks.iter().any(|mark| matches!(mark, Mark::Label(_)));
    let remedy = match by_label {
        true => Remedy::new()
            .note(
                "In the ConfigMap argocd-cm of this cluster's Argo CD, set application.resourceTrackingMethod to \
             annotation: Argo CD then ignores copied labels",
            )
            .step(StepKind::Note, "Then sync the Applications of this Argo CD"),
        false => Remedy::new(),
    };
    remedy.note(format!(
        "{} the exported Service with {ARGO_CD_OPTIONS}: Prune=false. The mirror gets the annotation too, and no \
             Argo CD prunes either of them",
        if by_label { "Otherwise annotate" } else { "Annotate" }
    ))
}

/// The steps in releases whose service mirror can exclude labels and annotations.
fn excluded(ctx: &Context<'_>, service: &Service, marks: &[Mark<'_>]) -> Remedy {
    let meta = &service.metadata;
    let clusters: Vec<&str> = meta.label(CLUSTER).into_iter().chain(service.remote_clusters()).collect();
    let links = ctx.for_steps::<Link>();
    let remedy = links
        .iter()
        .filter(|link| clusters.contains(&link.spec.target_cluster_name.as_str()))
        .fold(Remedy::new(), |remedy, link| exclude_in_link(remedy, link, marks));
    let remedy = match service.local_member() {
        Some(_) => marks.iter().fold(remedy, |remedy, mark| {
            let value = match mark {
                Mark::Label(_) => "localServiceMirror.excludedLabels",
                Mark::Annotation(_) => "localServiceMirror.excludedAnnotations",
            };
            let text = format!(
                "In the values of the multicluster chart, add {} to {value}, a list separated by commas",
                mark.key()
            );
            remedy.step(StepKind::ChartValue, text)
        }),
        None => remedy,
    };
    let lines = marks.iter().map(|mark| {
        let verb = match mark {
            Mark::Label(_) => "label service",
            Mark::Annotation(_) => "annotate service",
        };
        let call = kubectl().namespace(&meta.namespace).words(verb).operand(&meta.name);
        call.operand(format!("{}-", mark.key()))
    });
    remedy.command(
        format!("Remove {} from the mirror: its controller no longer writes it", keys(marks)),
        Command::lines(lines),
    )
}

impl<'a> Mark<'a> {
    fn key(self) -> &'a str {
        match self {
            Mark::Label(key) | Mark::Annotation(key) => key,
        }
    }
}

/// The keys, as text.
fn keys(marks: &[Mark<'_>]) -> String {
    let keys: BTreeSet<&str> = marks.iter().map(|mark| mark.key()).collect();
    keys.into_iter().collect::<Vec<_>>().join(" and ")
}

/// Whether a list of excluded keys contains a key: `DOMAIN/*` stands for all keys that begin so.
fn excludes(list: &[String], key: &str) -> bool {
    list.iter().any(|one| one == key || one.strip_suffix("/*").is_some_and(|domain| key.starts_with(domain)))
}

/// Adds the step that excludes keys in a Link, if it does not yet.
fn exclude_in_link(remedy: Remedy, link: &Link, marks: &[Mark<'_>]) -> Remedy {
    let spec = &link.spec;
    let added = |list: &[String], keys: Vec<&str>| {
        let new: Vec<&str> = keys.into_iter().filter(|key| !excludes(list, key)).collect();
        let all: Vec<&str> = list.iter().map(String::as_str).chain(new.iter().copied()).collect();
        (!new.is_empty()).then(|| serde_json::json!(all))
    };
    let of_labels = marks.iter().filter(|mark| matches!(mark, Mark::Label(_))).map(|mark| mark.key());
    let of_others = marks.iter().filter(|mark| matches!(mark, Mark::Annotation(_))).map(|mark| mark.key());
    let labels = added(&spec.excluded_labels, of_labels.collect()).map(|list| ("excludedLabels", list));
    let others = added(&spec.excluded_annotations, of_others.collect()).map(|list| ("excludedAnnotations", list));
    let fields: serde_json::Map<String, serde_json::Value> =
        labels.into_iter().chain(others).map(|(name, list)| (name.to_owned(), list)).collect();
    if fields.is_empty() {
        return remedy;
    }
    let meta = &link.metadata;
    let patch = serde_json::json!({"spec": fields}).to_string();
    let git = ManagedBy::from_metadata(meta).in_git().map(|git| format!("; {git}")).unwrap_or_default();
    remedy.command(
        format!("Exclude {} from mirroring in {}{git}", keys(marks), subject(link)),
        kubectl()
            .namespace(&meta.namespace)
            .words("patch links.multicluster.linkerd.io")
            .operand(&meta.name)
            .words("--type merge -p")
            .arg(patch),
    )
}
