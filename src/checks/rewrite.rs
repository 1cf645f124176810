//! How to change annotations where they count: the words and the command for each kind of object. Commands can be pasted;
//! keys and values in them are quoted for the shell.

use serde_json::{Map, Value};

use crate::finding::{Remedy, StepKind};
use crate::item::Kind;
use crate::model::annotated::Annotated;

/// A key with the value it is to have; `None` removes it.
pub(super) type Change<'a> = (&'a str, Option<&'a str>);

/// What is done, in words that a place follows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act<'a> {
    /// Something is written, in or on the place: `Use x instead`.
    Put(&'a str),
    /// Something is taken from it: `Remove it`.
    Remove(&'a str),
}

impl Act<'_> {
    fn at(self, preposition: &str, place: &str) -> String {
        match self {
            Act::Put(act) => {
                format!("{act} {preposition} {place} (where that comes from Git or a chart: there)")
            }
            Act::Remove(act) => format!("{act} from {place}"),
        }
    }

    fn again(self, manifest: &str, object: &str) -> String {
        match self {
            Act::Put(act) => format!("{act} in {manifest} and create {object} again"),
            Act::Remove(act) => format!("{act} from {manifest} and create {object} again"),
        }
    }
}

/// Adds the step that changes annotations where the pods of `object` are made: the template, the namespace, the pod.
pub(super) fn template(
    remedy: Remedy,
    act: Act<'_>,
    object: &Annotated<'_>,
    changes: &[Change<'_>],
) -> Remedy {
    let patch = |path: &[&str]| {
        let annotations: Map<String, Value> =
            changes.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect();
        let inner = Value::Object(Map::from_iter([("annotations".to_owned(), Value::Object(annotations))]));
        let whole = path
            .iter()
            .rev()
            .fold(inner, |inner, part| Value::Object(Map::from_iter([((*part).to_owned(), inner)])));
        let (namespace, name) = (quoted(&object.meta.namespace), quoted(&object.meta.name));
        let kind = object.kind.info().kind.to_ascii_lowercase();
        format!("kubectl -n {namespace} patch {kind} {name} --type merge -p {}", quoted(&whole.to_string()))
    };
    match object.kind {
        Kind::Namespace | Kind::Service => own(remedy, act, object, changes),
        Kind::CronJob => remedy.run(
            StepKind::Annotation,
            act.at("in", "the pod template"),
            patch(&["spec", "jobTemplate", "spec", "template", "metadata"]),
        ),
        Kind::Job => remedy.run(
            StepKind::Annotation,
            format!("{}: its template cannot be changed", act.again("the Job's manifest", "the Job")),
            job(object, changes),
        ),
        Kind::Pod => remedy.step(StepKind::Annotation, act.again("the pod's manifest", "the pod")),
        _ => remedy.run(
            StepKind::Annotation,
            act.at("in", "the pod template"),
            patch(&["spec", "template", "metadata"]),
        ),
    }
}

/// Adds the step that changes annotations of the object itself, rather than of its template.
pub(super) fn own(remedy: Remedy, act: Act<'_>, object: &Annotated<'_>, changes: &[Change<'_>]) -> Remedy {
    remedy.run(StepKind::Annotation, act.at("on", noun(object.kind)), kubectl("annotate", object, changes))
}

/// Adds the step that changes labels of the object itself.
pub(super) fn labels(remedy: Remedy, act: Act<'_>, object: &Annotated<'_>, changes: &[Change<'_>]) -> Remedy {
    remedy.run(StepKind::Annotation, act.at("on", noun(object.kind)), kubectl("label", object, changes))
}

/// Adds the step without which a changed namespace does nothing for the pods that are there.
pub(super) fn restart(remedy: Remedy, object: &Annotated<'_>) -> Remedy {
    if object.kind != Kind::Namespace {
        return remedy;
    }
    remedy.run(
        StepKind::Command,
        "Restart the workloads of the namespace: its annotations reach pods when they are created",
        format!("kubectl -n {} rollout restart deployment,statefulset,daemonset", quoted(&object.meta.name)),
    )
}

fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Namespace => "the namespace",
        Kind::Service => "the Service",
        _ => "the workload itself",
    }
}

fn kubectl(verb: &str, object: &Annotated<'_>, changes: &[Change<'_>]) -> String {
    let namespace = match object.meta.namespace.as_str() {
        "" => String::new(),
        namespace => format!("-n {} ", quoted(namespace)),
    };
    let words: Vec<String> = changes
        .iter()
        .map(|(key, value)| match value {
            Some(value) => quoted(&format!("{key}={value}")),
            None => quoted(&format!("{key}-")),
        })
        .collect();
    let kind = object.kind.info().kind.to_ascii_lowercase();
    format!("kubectl {namespace}{verb} --overwrite {kind} {} {}", quoted(&object.meta.name), words.join(" "))
}

/// A Job again, with other annotations: without the selector and labels that the Job controller gave it.
fn job(object: &Annotated<'_>, changes: &[Change<'_>]) -> String {
    let text = |text: &str| Value::from(text).to_string();
    let gone: Vec<String> =
        changes.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| text(key)).collect();
    let set: Map<String, Value> =
        changes.iter().filter_map(|(key, value)| Some(((*key).to_owned(), Value::from((*value)?)))).collect();
    let removed = if gone.is_empty() { String::new() } else { format!("del(.[{}]) | ", gone.join(", ")) };
    let program = format!(
        r#"del(.status, .spec.selector, .spec.template.metadata.labels["controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"]) | .spec.template.metadata.annotations |= ({removed}. + {})"#,
        Value::Object(set)
    );
    let (namespace, name) = (quoted(&object.meta.namespace), quoted(&object.meta.name));
    format!(
        "kubectl -n {namespace} get job {name} -o json | jq {} | kubectl replace --force -f -",
        quoted(&program)
    )
}

/// A word for a POSIX shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::objects::{CronJob, Job, Namespace, Workload};
    use serde_json::json;

    fn command(object: &Annotated<'_>) -> String {
        let changes = [("wrong", None), ("right", Some("it's"))];
        let remedy = template(Remedy::default(), Act::Put("Rename it"), object, &changes);
        remedy.steps[0].command.as_ref().expect("a command").to_string()
    }

    fn of<T: serde::de::DeserializeOwned>(name: &str) -> T {
        serde_json::from_value(json!({"metadata": {"namespace": "shop", "name": name}})).expect("an object")
    }

    #[test]
    fn each_kind_is_changed_where_it_counts() {
        let deployment: Workload = of("web");
        assert_eq!(
            command(&Annotated::workload(Kind::Deployment, &deployment)),
            r#"kubectl -n shop patch deployment web --type merge -p '{"spec":{"template":{"metadata":{"annotations":{"right":"it'\''s","wrong":null}}}}}'"#
        );
        let cron: CronJob = of("nightly");
        assert!(command(&Annotated::cron_job(&cron)).contains(r#"{"jobTemplate":{"spec":{"template":"#));
        let namespace: Namespace =
            serde_json::from_value(json!({"metadata": {"name": "shop"}})).expect("a namespace");
        assert_eq!(
            command(&Annotated::namespace(&namespace)),
            r"kubectl annotate --overwrite namespace shop wrong- 'right=it'\''s'"
        );
        let job: Job = of("once");
        let command = command(&Annotated::job(&job).expect("nothing owns it"));
        assert!(command.contains(r#"(del(.["wrong"]) | . + {"right":"it'\''s"})"#), "{command}");
    }
}
