//! Changes of annotations and labels at the place where they take effect: text and command for each kind of
//! object. Objects that Argo CD or Flux manages are changed in Git, and get no command, because it would be
//! reverted.

mod command;
mod operator;

use super::restart;
use crate::checks::prelude::*;
use crate::command::Call;
use crate::finding::ListChange;
use crate::model::annotated::Annotated;
use crate::model::injection::INJECT;
use crate::model::managed_by::ManagedBy;
use crate::model::owners::is_static;
pub(super) use crate::names::is_label_value;
use crate::objects::{DaemonSet, StatefulSet};
use command::{is_of_kubernetes, job, patch, set};
pub(super) use operator::Operator;

/// The end of a step whose change the next deployment would revert.
const SOURCE: &str = " (also in its source manifest)";

/// An annotation or label with its new value; `None` removes it.
pub(super) type KeyChange<'a> = (&'a str, Option<&'a str>);

/// The change, as text that a place follows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act<'a> {
    /// Adds something in or on the place: `Use x instead`.
    Put(&'a str),
    /// Removes something from it: `Remove it`.
    Remove(&'a str),
}

impl Act<'_> {
    fn at(self, preposition: &str, place: &str) -> String {
        match self {
            Act::Put(act) => format!("{act} {preposition} {place}"),
            Act::Remove(act) => format!("{act} from {place}"),
        }
    }

    fn inject_again(self, manifest: &str, object: &str) -> String {
        match self {
            Act::Put(act) => format!("{act} in {manifest} and create {object} again"),
            Act::Remove(act) => format!("{act} from {manifest} and create {object} again"),
        }
    }
}

/// Adds the step that changes annotations at the source of `object`'s pods: the template, the namespace or
/// the pod. If a change of the template replaces no pod, further steps do.
pub(super) fn template(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: Act<'_>,
    object: &Annotated<'_>,
    changes: &[KeyChange<'_>],
) -> Remedy {
    let (namespace, name) = object.meta.key();
    if ctx.is_only_in_manifests(object.kind) {
        return in_manifest(remedy, act, object, changes);
    }
    if let Some(operator) = Operator::new(object.kind, object.meta) {
        return operator.template(Some(ctx), remedy, act, changes);
    }
    let remedy = template_only(remedy, act, object, changes);
    restart::after_change(ctx, remedy, object.kind.info().kind, namespace, name)
}

/// As [`template`], for an object that is not applied yet: every field of it can be changed.
fn in_manifest(remedy: Remedy, act: Act<'_>, object: &Annotated<'_>, changes: &[KeyChange<'_>]) -> Remedy {
    match object.kind {
        Kind::Job => step(remedy, act, act.at("in", "the pod template"), object, || {
            patch(object, &["spec", "template", "metadata"], changes)
        }),
        Kind::Pod => step(remedy, act, act.at("on", "the pod"), object, || patch(object, &["metadata"], changes)),
        _ => template_only(remedy, act, object, changes),
    }
}

/// As [`template`], if other steps replace the pods.
pub(super) fn template_only(remedy: Remedy, act: Act<'_>, object: &Annotated<'_>, changes: &[KeyChange<'_>]) -> Remedy {
    if let Some(operator) = Operator::new(object.kind, object.meta) {
        return operator.template(None, remedy, act, changes);
    }
    let patch = |path: &[&str]| patch(object, path, changes);
    match object.kind {
        Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet | Kind::ReplicaSet => {
            step(remedy, act, act.at("in", "the pod template"), object, || patch(&["spec", "template", "metadata"]))
        }
        Kind::CronJob => step(remedy, act, act.at("in", "the pod template"), object, || {
            patch(&["spec", "jobTemplate", "spec", "template", "metadata"])
        }),
        Kind::Job => {
            let text = format!(
                "{}, which repeats its work: its template cannot be changed",
                act.inject_again("the Job's manifest", "the Job")
            );
            step(remedy, act, text, object, || job(object, changes))
        }
        Kind::Pod => remedy.step(StepKind::Annotation, act.inject_again("the pod's manifest", "the pod")),
        _ => own(remedy, act, object, changes),
    }
}

/// Adds the step that changes annotations in the pod template of a pod's owner, with a command if that is a
/// workload. Reads `deployments.apps`, `statefulsets.apps` and `daemonsets.apps` for the manager.
pub(super) fn of_owner(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    owner: &Owner,
    changes: &[KeyChange<'_>],
) -> Remedy {
    let Some((kind, known)) = workload(ctx, owner) else {
        let again = if owner.kind == "Pod" { ", and create the pod again from it" } else { "" };
        let text = format!("{act} in {}{}{again}", template_of(owner), unnamed(act, changes));
        return match owner.kind == WORKFLOW {
            // A completed Workflow starts no more pods.
            true => remedy.run(StepKind::Note, text, creators(owner)),
            false => remedy.step(StepKind::Annotation, text),
        };
    };
    let bare = Meta { name: owner.name.clone(), namespace: owner.namespace.as_str().into(), ..Meta::default() };
    let object = Annotated { kind, meta: known.map_or(&bare, |known| &known.metadata), sites: vec![] };
    template(ctx, remedy, Act::Put(act), &object, changes)
}

/// The annotations with their values, after a colon, if a text does not name them; for steps without a command.
fn unnamed(act: &str, changes: &[KeyChange<'_>]) -> String {
    let names =
        |key: &str, value: &str| act.contains(&format!("{key}: {value:?}")) || act.contains(&format!("{key}: {value}"));
    if changes.iter().all(|(key, value)| value.is_none_or(|value| names(key, value))) {
        return String::new();
    }
    let set = changes.iter().filter_map(|(key, value)| Some(format!("{key}: {:?}", (*value)?)));
    format!(": {}", set.collect::<Vec<_>>().join(", "))
}

/// A text that also names the values of annotations, for steps without a command.
fn with_values(text: String, changes: &[KeyChange<'_>]) -> String {
    let unnamed = unnamed(&text, changes);
    let lone = changes.iter().find_map(|(key, value)| Some((*key, (*value)?)));
    match lone {
        Some((key, value)) if !unnamed.is_empty() && changes.len() == 1 && text.contains(key) => {
            text.replacen(key, &format!("{key}: {value:?}"), 1)
        }
        _ => format!("{text}{unnamed}"),
    }
}

/// Adds a step that changes the pod template of an owner with a command for `deployment/web`. If an operator writes the
/// owner, the step names the source instead. Without a command, the text must name the whole change.
pub(super) fn template_with(
    ctx: &Context<'_>,
    remedy: Remedy,
    kind: StepKind,
    text: &str,
    owner: &Owner,
    command: impl FnOnce(&str) -> Call,
) -> Remedy {
    let Some(target) = owner.restartable() else { return remedy.note(text) };
    let Some(operator) = Operator::of_owner(ctx, owner) else {
        return remedy.run(kind, text, command(&target));
    };
    let text = format!("{}. Set it in {operator}", text.trim_end_matches(SOURCE));
    match operator.copied() {
        Some(name) => {
            let target = format!("{}/{name}", owner.kind.to_ascii_lowercase());
            remedy.run(kind, format!("{text}{SOURCE}"), command(&target))
        }
        None => remedy.note(text),
    }
}

/// Adds the steps that add a proxy to the pods of an owner, as [`of_owner`]. The injector passes over pods on the
/// network of their node, and static pods.
pub(super) fn meshed(ctx: &Context<'_>, remedy: Remedy, act: &str, owner: &Owner, pods: &[&Pod]) -> Remedy {
    let own: Vec<&Pod> = pods.iter().copied().filter(|pod| ctx.owners().owner(pod) == *owner).collect();
    let remedy = match own.iter().any(|pod| pod.spec.host_network) {
        true => off_host_network(ctx, remedy, owner),
        false => remedy,
    };
    if own.iter().any(|pod| is_static(pod)) {
        let text = format!("Run linkerd inject --manual on {}: webhooks do not change static pods", owner.template());
        return remedy.note(text);
    }
    of_owner(ctx, remedy, act, owner, &[(INJECT, Some("enabled"))])
}

/// The step before a proxy can be added to pods on the network of their node.
pub(super) fn off_host_network(ctx: &Context<'_>, remedy: Remedy, owner: &Owner) -> Remedy {
    let text = format!(
        "If the pods do not need the network of their node, set hostNetwork: false in {}. Otherwise they cannot be \
         meshed: the injector adds no proxy to them",
        owner.template()
    );
    let patch = serde_json::json!({"spec": {"template": {"spec": {"hostNetwork": false}}}}).to_string();
    template_with(ctx, remedy, StepKind::Command, &text, owner, |target| {
        let call = kubectl().namespace(&owner.namespace).words("patch").operand(target);
        call.words("--type merge -p").arg(patch)
    })
}

/// The kind of Argo Workflows.
const WORKFLOW: &str = "Workflow";

/// The place of the pod template of an owner without a command that changes it.
fn template_of(owner: &Owner) -> String {
    match owner.kind.as_str() {
        "ReplicaSet" => "the pod template of the pods' owner".to_owned(),
        "Pod" => "the pod's manifest".to_owned(),
        "Node" => owner.template(),
        WORKFLOW => "spec.podMetadata.annotations of the CronWorkflow, WorkflowTemplate or manifest that creates the \
                     Workflow"
            .to_owned(),
        "Job" => "the pod template of the manifest that creates the Job".to_owned(),
        "EphemeralRunner" => "the pod template of the AutoscalingRunnerSet".to_owned(),
        "VirtualMachineInstance" => "spec.template.metadata.annotations of the VirtualMachine".to_owned(),
        kind => format!("the pod template of the pods' {kind}"),
    }
}

/// Columns with the creators of a Workflow.
const CREATORS: &str = "NAME:.metadata.name,CRONWORKFLOW:.metadata.ownerReferences[*].name,\
                        TEMPLATE:.spec.workflowTemplateRef.name";

/// The command that shows the creators of the Workflows in the namespace of one.
fn creators(owner: &Owner) -> Call {
    kubectl()
        .namespace(&owner.namespace)
        .words("get workflows.argoproj.io")
        .option("-o", format!("custom-columns={CREATORS}"))
}

/// The kind of an owner, and the owner if it is known; `None` if its template cannot be changed with a command.
pub(super) fn workload<'a>(ctx: &Context<'a>, owner: &Owner) -> Option<(Kind, Option<&'a Workload>)> {
    let (kind, all): (_, &[Workload]) = match owner.kind.as_str() {
        "Deployment" => (Kind::Deployment, ctx.optional_list::<Deployment>()),
        "StatefulSet" => (Kind::StatefulSet, ctx.optional_list::<StatefulSet>()),
        "DaemonSet" => (Kind::DaemonSet, ctx.optional_list::<DaemonSet>()),
        "CronJob" => (Kind::CronJob, &[]),
        _ => return None,
    };
    let is_owner = |one: &&Workload| one.metadata.key() == (owner.namespace.as_str(), owner.name.as_str());
    Some((kind, all.iter().find(is_owner)))
}

/// Whether the pod template of an owner is known and lacks an annotation of its pods, which they then have from their
/// namespace.
pub(super) fn is_inherited(ctx: &Context<'_>, owner: &Owner, key: &str) -> bool {
    setter(ctx, owner, key) == Setter::Namespace
}

/// The object that sets an annotation of pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setter {
    /// The pod template of their owner.
    Template,
    /// Their namespace.
    Namespace,
    /// The pod template is not known.
    Unknown,
}

impl Setter {
    /// The place, after a preposition: `in the pod template`.
    pub(super) fn place(self) -> &'static str {
        match self {
            Setter::Template => "in the pod template",
            Setter::Namespace => "on the namespace",
            Setter::Unknown => "in the pod template or on the namespace",
        }
    }
}

/// The object that sets an annotation of an owner's pods. Reads `deployments.apps`, `statefulsets.apps` and
/// `daemonsets.apps`.
pub(super) fn setter(ctx: &Context<'_>, owner: &Owner, key: &str) -> Setter {
    match workload(ctx, owner).and_then(|(_, known)| known) {
        None => Setter::Unknown,
        Some(known) if known.spec.template.metadata.annotation(key).is_some() => Setter::Template,
        Some(_) => Setter::Namespace,
    }
}

/// Adds the step that removes an annotation of an owner's pods from the object that sets it; `act` names the
/// annotation. Reads what [`setter`] reads.
pub(super) fn remove(ctx: &Context<'_>, remedy: Remedy, act: &str, owner: &Owner, key: &str) -> Remedy {
    let change = [(key, None)];
    match (setter(ctx, owner, key), workload(ctx, owner)) {
        (Setter::Namespace, _) => {
            let meta = Meta { name: owner.namespace.clone(), ..Meta::default() };
            let object = Annotated { kind: Kind::Namespace, meta: &meta, sites: vec![] };
            own(remedy, Act::Remove(act), &object, &change)
        }
        (Setter::Template, Some((kind, Some(known)))) => {
            let object = Annotated { kind, meta: &known.metadata, sites: vec![] };
            template(ctx, remedy, Act::Remove(act), &object, &change)
        }
        (Setter::Template | Setter::Unknown, _) => of_owner(ctx, remedy, act, owner, &change),
    }
}

/// Adds the step that changes annotations of the object itself instead of its template.
pub(super) fn own(remedy: Remedy, act: Act<'_>, object: &Annotated<'_>, changes: &[KeyChange<'_>]) -> Remedy {
    step(remedy, act, act.at("on", &noun(object.kind)), object, || set("annotate --overwrite", object, changes))
}

/// Adds the step that changes labels of the object itself. Their values must be valid label values: see
/// [`is_label_value`].
pub(super) fn labels(remedy: Remedy, act: Act<'_>, object: &Annotated<'_>, changes: &[KeyChange<'_>]) -> Remedy {
    step(remedy, act, act.at("on", &noun(object.kind)), object, || set("label --overwrite", object, changes))
}

/// Adds the step that applies a changed annotation of a namespace to its running pods. Reads the evidence of
/// [`restart::Rollouts`], if available.
pub(super) fn restart(ctx: &Context<'_>, remedy: Remedy, object: &Annotated<'_>) -> Remedy {
    if object.kind != Kind::Namespace {
        return remedy;
    }
    let act = "Restart the workloads of the namespace: its annotations reach pods when they are created";
    restart::of_namespaces(ctx, remedy, act, &[&object.meta.name])
}

/// States that the last step about annotations changes a list of the object, from the list in force, so that a plan
/// with several such steps changes the list once.
pub(super) fn of_list(remedy: Remedy, object: &Annotated<'_>, (key, after): KeyChange<'_>, in_force: &str) -> Remedy {
    let kind = object.kind.info().kind;
    remedy.list(ListChange::new(named(kind, &object.meta.namespace, &object.meta.name), key, in_force, after))
}

/// Adds the step that adds `more` to the list in an annotation of an owner's pods; `pod` shows the list in force. `act`
/// is the instruction for the new list.
pub(super) fn extend_list(
    ctx: &Context<'_>,
    remedy: Remedy,
    owner: &Owner,
    (key, pod): (&str, Option<&Pod>),
    more: &str,
    act: impl FnOnce(&str) -> String,
) -> Remedy {
    let earlier = pod.and_then(|pod| pod.metadata.annotation(key)).filter(|list| !list.is_empty());
    let list = earlier.map_or_else(|| more.to_owned(), |earlier| format!("{earlier},{more}"));
    let remedy = of_owner(ctx, remedy, &act(&list), owner, &[(key, Some(&list))]);
    of_owners_list(remedy, owner, (key, Some(&list)), earlier.unwrap_or_default())
}

/// The same for the pod template of an owner.
pub(super) fn of_owners_list(remedy: Remedy, owner: &Owner, (key, after): KeyChange<'_>, in_force: &str) -> Remedy {
    remedy.list(ListChange::new(named(&owner.kind, &owner.namespace, &owner.name), key, in_force, after))
}

fn named(kind: &str, namespace: &str, name: &str) -> String {
    if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") }
}

/// A step that changes an object at the place where the change persists.
fn step(
    remedy: Remedy,
    act: Act<'_>,
    text: String,
    object: &Annotated<'_>,
    command: impl FnOnce() -> Command,
) -> Remedy {
    let managed = ManagedBy::from_metadata(object.meta);
    if let Some(git) = managed.in_git() {
        return remedy.step(StepKind::Annotation, format!("{text}; {git}"));
    }
    if let Some(operator) = Operator::new(object.kind, object.meta) {
        return remedy.note(format!("{text}. Change it in {operator}"));
    }
    let there = match act {
        Act::Put(_) => "in",
        Act::Remove(_) => "from",
    };
    let text = match managed.release() {
        Some(release) => {
            format!("{text}, and {there} the values of Helm release {}/{}", release.namespace, release.name)
        }
        // It is created again from its manifest, which the text names.
        None if object.kind == Kind::Job => text,
        None => format!("{text}{SOURCE}"),
    };
    let mut remedy = remedy;
    if text.ends_with(SOURCE) {
        // Stated once, at the last change.
        let earlier = remedy.steps.iter_mut().filter(|step| step.kind == StepKind::Annotation);
        earlier.for_each(|step| step.text = step.text.trim_end_matches(SOURCE).to_owned());
    }
    remedy.run(StepKind::Annotation, text, command())
}

fn noun(kind: Kind) -> String {
    match kind {
        Kind::Namespace => "the namespace".to_owned(),
        Kind::HTTPRoute | Kind::LinkerdHTTPRoute | Kind::GRPCRoute => "the route".to_owned(),
        _ if is_of_kubernetes(kind) && kind != Kind::Service => "the workload itself".to_owned(),
        _ => format!("the {}", kind.info().kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::{CronJob, Job, Namespace, Workload};
    use serde_json::json;

    fn command(object: &Annotated<'_>) -> String {
        let changes = [("wrong", None), ("right", Some("it's"))];
        let remedy = template_only(Remedy::default(), Act::Put("Rename it"), object, &changes);
        remedy.steps[0].command.as_ref().expect("a command").to_string()
    }

    fn recorded<T: serde::de::DeserializeOwned>(name: &str) -> T {
        serde_json::from_value(json!({"metadata": {"namespace": "shop", "name": name}})).expect("an object")
    }

    #[test]
    fn each_kind_is_changed_where_it_counts() {
        let deployment: Workload = recorded("web");
        assert_eq!(
            command(&Annotated::workload(Kind::Deployment, &deployment)),
            r#"kubectl -n shop patch deployment web --type merge -p '{"spec":{"template":{"metadata":{"annotations":{"right":"it'"'"'s","wrong":null}}}}}'"#
        );
        let cron: CronJob = recorded("nightly");
        assert!(command(&Annotated::cron_job(&cron)).contains(r#"{"jobTemplate":{"spec":{"template":"#));
        let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": "shop"}})).expect("a namespace");
        assert_eq!(
            command(&Annotated::namespace(&namespace)),
            r#"kubectl annotate --overwrite namespace shop wrong- 'right=it'"'"'s'"#
        );
        let job: Job = recorded("once");
        let command = command(&Annotated::job(&job).expect("nothing owns it"));
        assert!(command.contains(r#"(del(.["wrong"]) | . + {"right":"it'"'"'s"})"#), "{command}");
    }

    #[test]
    fn only_workloads_have_a_template() {
        let meta: Meta = serde_json::from_value(json!({"namespace": "shop", "name": "api"})).expect("metadata");
        let with_template =
            [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::ReplicaSet, Kind::CronJob, Kind::Job];
        for kind in Kind::all().filter(|kind| *kind != Kind::Pod && !with_template.contains(kind)) {
            let changed = command(&Annotated { kind, meta: &meta, sites: vec![] });
            assert!(changed.contains(" annotate --overwrite "), "{changed}");
        }
    }

    #[test]
    fn what_git_holds_is_changed_there() {
        let owned: Workload = serde_json::from_value(json!({"metadata": {
            "namespace": "shop", "name": "web", "labels": {"argocd.argoproj.io/instance": "shop"},
        }}))
        .expect("a workload");
        let object = Annotated::workload(Kind::Deployment, &owned);
        let remedy = template_only(Remedy::default(), Act::Put("Rename it"), &object, &[("right", Some("x"))]);
        assert_eq!(remedy.steps[0].command, None);
        assert!(remedy.steps[0].text.contains("Argo CD (Application shop)"), "{:?}", remedy.steps);
    }

    /// The steps that change the template of a Deployment of this owner.
    fn of_operator(name: &str, api_version: &str, kind: &str) -> Remedy {
        let owned: Workload = serde_json::from_value(json!({"metadata": {
            "namespace": "shop", "name": name,
            "ownerReferences": [{"apiVersion": api_version, "kind": kind, "name": "main", "controller": true}],
        }}))
        .expect("a workload");
        let object = Annotated::workload(Kind::Deployment, &owned);
        template_only(Remedy::default(), Act::Put("Set right"), &object, &[("right", Some("x"))])
    }

    #[test]
    fn operators_overwrite_their_workloads() {
        let remedy = of_operator("web", "example.com/v1", "Site");
        assert_eq!(remedy.steps[0].command, None);
        assert_eq!(
            remedy.steps[0].text,
            "Set right: \"x\" in the pod template of Site main, whose operator writes this Deployment"
        );
        assert!(of_operator("web", "apps/v1", "Deployment").steps[0].command.is_some());
    }

    #[test]
    fn flagger_copies_the_target_to_its_primary() {
        let remedy = of_operator("web-primary", "flagger.app/v1beta1", "Canary");
        let command = remedy.steps[0].command.as_ref().expect("a command").to_string();
        assert!(command.starts_with("kubectl -n shop patch deployment web --type merge "), "{command}");
        assert!(remedy.steps[0].text.contains("Deployment web, which Flagger copies to web-primary"));
        assert_eq!(of_operator("web", "flagger.app/v1beta1", "Canary").steps[0].command, None);
    }

    #[test]
    fn labels_take_few_letters() {
        for (text, fits) in
            [("true", true), ("", true), ("a-b_c.9", true), ("\"true\"", false), ("-a", false), ("a b", false)]
        {
            assert_eq!(is_label_value(text), fits, "{text:?}");
        }
        assert!(!is_label_value(&"x".repeat(64)));
    }
}
