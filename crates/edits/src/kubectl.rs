//! The effect of printed kubectl commands on objects, so that a repair can be judged before it runs.
//! [`actions`] reads a command, [`edit`] changes an object as the API server does. Other programs are not
//! interpreted.

mod edit;
mod options;
pub mod shell;

use serde_json::{Value, json};

use crate::objects::Kind;
use options::KubectlOptions;
use shell::{Join, Pipeline, Word};

/// The effect of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// It only reads, or waits.
    Observe,
    /// It changes fields of existing objects.
    Edit {
        /// The objects.
        target: Target,
        /// The change.
        edit: Edit,
    },
    /// It creates the pods of workloads again.
    Restart(Target),
    /// It deletes objects.
    Delete {
        /// The objects.
        target: Target,
        /// Whether missing objects are an error.
        must_exist: bool,
    },
    /// It creates an object.
    Create(Kind, Value),
}

/// The objects that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Their kind.
    pub kind: Kind,
    /// Their namespace; empty for objects of the cluster.
    pub namespace: String,
    /// Their names; without any, all objects of the kind in the namespace.
    pub names: Vec<String>,
}

/// A change of an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Sets or removes entries of `metadata.annotations` or `metadata.labels`.
    Metadata {
        /// `annotations` or `labels`.
        field: &'static str,
        /// Keys with their new values; `None` removes the key.
        changes: Vec<(String, Option<String>)>,
        /// Whether a different value may be replaced.
        overwrite: bool,
    },
    /// A JSON merge patch (RFC 7386).
    Merge(Value),
    /// A strategic merge patch.
    Strategic(Value),
    /// A JSON patch (RFC 6902).
    Json(Vec<Value>),
    /// Sets or removes environment variables of all containers.
    Env(Vec<(String, Option<String>)>),
}

/// Why the effect of a command is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotSimulated(pub String);

impl NotSimulated {
    fn new(reason: impl Into<String>) -> NotSimulated {
        NotSimulated(reason.into())
    }
}

/// The effects of a command, in order.
///
/// # Errors
/// The reason why its effect is unknown.
pub fn actions(command: &str) -> Result<Vec<Action>, NotSimulated> {
    let compound = || NotSimulated::new("it is a script with loops or conditions");
    let pipelines = shell::pipelines(command).ok_or_else(compound)?;
    pipelines.iter().map(of_pipeline).collect()
}

/// Programs that change nothing in a cluster and write no file.
const READERS: [&str; 10] = ["echo", "test", "grep", "sort", "head", "tail", "wc", "cat", "jq", "awk"];

fn of_pipeline(pipeline: &Pipeline) -> Result<Action, NotSimulated> {
    let program = |call: &[Word]| call.iter().find(|word| !is_assignment(word)).map(|word| word.text.clone());
    let mut observed = true;
    for call in &pipeline.calls {
        let Some(name) = program(call) else {
            return Err(NotSimulated::new("it sets variables of the shell"));
        };
        let is_reader = READERS.contains(&name.as_str())
            || name == "kubectl" && matches!(of_kubectl(call), Ok(Action::Observe))
            || is_reading_check(call);
        observed &= is_reader;
        if !is_reader && name != "kubectl" {
            return Err(NotSimulated::new(format!("it runs {}", described(call))));
        }
    }
    if observed && !pipeline.redirects {
        return Ok(Action::Observe);
    }
    if pipeline.redirects {
        return Err(NotSimulated::new("it reads or writes files"));
    }
    if pipeline.join == Join::OnFailure {
        return Err(NotSimulated::new("it runs only if another command fails"));
    }
    match pipeline.calls.as_slice() {
        [call] => of_kubectl(call),
        _ => Err(NotSimulated::new("it applies the output of another command")),
    }
}

/// Commands of meshdoctor that change nothing.
const READING_COMMANDS: [&str; 6] = ["check", "reach", "policy", "explain", "rotate", "sync"];

fn is_assignment(word: &Word) -> bool {
    word.text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
    })
}

/// Whether it is a command of meshdoctor or of the linkerd CLI that only reads.
fn is_reading_check(call: &[Word]) -> bool {
    let word = |at: usize| call.get(at).map_or("", |word| word.text.as_str());
    match (word(0), word(1)) {
        ("linkerd", "doctor") => READING_COMMANDS.contains(&word(2)),
        ("linkerd", other) => matches!(other, "check" | "diagnostics" | "version"),
        ("meshdoctor", other) => READING_COMMANDS.contains(&other),
        _ => false,
    }
}

/// A program with its subcommands: `linkerd viz install`.
fn described(call: &[Word]) -> String {
    let words = call.iter().skip_while(|word| is_assignment(word)).take_while(|word| {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/');
        !word.text.starts_with('-') && !word.is_expanded && word.text.chars().all(is_name)
    });
    words.take(3).map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn of_kubectl(call: &[Word]) -> Result<Action, NotSimulated> {
    let options = KubectlOptions::read(&call[1..])?;
    let verb = options.words.first().copied().unwrap_or_default();
    let is_read =
        matches!(verb, "get" | "describe" | "logs" | "top" | "explain" | "api-resources" | "auth" | "version" | "wait");
    if is_read || (verb == "rollout" && matches!(options.words.get(1), Some(&("status" | "history")))) {
        return Ok(Action::Observe);
    }
    if call.iter().any(|word| word.is_expanded) {
        return Err(NotSimulated::new("it has values that are only known when it runs"));
    }
    match verb {
        "annotate" => metadata(&options, "annotations"),
        "label" => metadata(&options, "labels"),
        "patch" => patch(&options),
        "delete" => delete(&options),
        "scale" => scale(&options),
        "cordon" => node(&options, json!(true)),
        "uncordon" => node(&options, Value::Null),
        "create" => create(&options),
        "rollout" | "set" => {
            let rest = options.words.get(2..).unwrap_or_default();
            match (verb, options.words.get(1).copied().unwrap_or_default()) {
                ("rollout", "restart") => Ok(Action::Restart(options.target(rest)?.0)),
                ("rollout", "resume") => Ok(Action::Edit {
                    target: options.target(rest)?.0,
                    edit: Edit::Merge(json!({"spec": {"paused": null}})),
                }),
                ("set", "env") => {
                    let (target, rest) = options.target(rest)?;
                    Ok(Action::Edit { target, edit: Edit::Env(changes(rest)?) })
                }
                (verb, other) => Err(NotSimulated::new(format!("it runs kubectl {verb} {other}"))),
            }
        }
        "edit" => Err(NotSimulated::new("the right value is your decision")),
        verb => Err(NotSimulated::new(format!("it runs kubectl {verb}"))),
    }
}

/// `KEY=VALUE` and `KEY-`.
fn changes(words: &[&str]) -> Result<Vec<(String, Option<String>)>, NotSimulated> {
    let change = |word: &&str| match (word.split_once('='), word.strip_suffix('-')) {
        (Some((key, value)), _) => Ok((key.to_owned(), Some(value.to_owned()))),
        (None, Some(key)) => Ok((key.to_owned(), None)),
        (None, None) => Err(NotSimulated::new(format!("{word} is neither KEY=VALUE nor KEY-"))),
    };
    words.iter().map(change).collect()
}

fn metadata(options: &KubectlOptions<'_>, field: &'static str) -> Result<Action, NotSimulated> {
    let (target, rest) = options.target(&options.words[1..])?;
    let changes = changes(rest)?;
    let overwrite = options.has("--overwrite");
    Ok(Action::Edit { target, edit: Edit::Metadata { field, changes, overwrite } })
}

fn patch(options: &KubectlOptions<'_>) -> Result<Action, NotSimulated> {
    let (target, _) = options.target(&options.words[1..])?;
    let text = options.value(&["-p", "--patch"]);
    let text = text.ok_or_else(|| NotSimulated::new("its patch is in a file"))?;
    let patch: Value =
        serde_json::from_str(text).map_err(|error| NotSimulated::new(format!("its patch is not JSON: {error}")))?;
    let edit = match (options.value(&["--type"]).unwrap_or("strategic"), patch) {
        ("json", Value::Array(operations)) => Edit::Json(operations),
        ("merge", patch @ Value::Object(_)) => Edit::Merge(patch),
        ("strategic", patch @ Value::Object(_)) => {
            if is_custom(target.kind) {
                return Err(NotSimulated::new(format!(
                    "the API server accepts no strategic patch of a {}",
                    target.kind.info().kind
                )));
            }
            Edit::Strategic(patch)
        }
        (kind, _) => return Err(NotSimulated::new(format!("its patch is not of type {kind}"))),
    };
    Ok(Action::Edit { target, edit })
}

/// Whether a kind comes from a CustomResourceDefinition.
fn is_custom(kind: Kind) -> bool {
    let group = kind.info().group;
    let is_built_in = matches!(group, "" | "apps" | "batch" | "policy" | "autoscaling")
        || matches!(
            group.strip_suffix(".k8s.io"),
            Some(
                "networking"
                    | "rbac.authorization"
                    | "admissionregistration"
                    | "apiextensions"
                    | "apiregistration"
                    | "coordination"
                    | "discovery"
                    | "storage"
                    | "scheduling"
            )
        );
    !is_built_in
}

fn delete(options: &KubectlOptions<'_>) -> Result<Action, NotSimulated> {
    if options.value(&["-l", "--selector", "--field-selector", "-f", "--filename"]).is_some() {
        return Err(NotSimulated::new("it selects objects by labels, fields or a file"));
    }
    let (target, _) = options.target(&options.words[1..])?;
    if target.names.is_empty() {
        return Err(NotSimulated::new("it names no object"));
    }
    Ok(Action::Delete { target, must_exist: !options.has("--ignore-not-found") })
}

fn scale(options: &KubectlOptions<'_>) -> Result<Action, NotSimulated> {
    let (target, _) = options.target(&options.words[1..])?;
    let replicas = options.value(&["--replicas"]).and_then(|text| text.parse::<u32>().ok());
    let replicas = replicas.ok_or_else(|| NotSimulated::new("it names no number of replicas"))?;
    Ok(Action::Edit { target, edit: Edit::Merge(json!({"spec": {"replicas": replicas}})) })
}

fn node(options: &KubectlOptions<'_>, unschedulable: Value) -> Result<Action, NotSimulated> {
    let names = options.words[1..].iter().map(|name| (*name).to_owned()).collect();
    let target = Target { kind: Kind::Node, namespace: String::new(), names };
    Ok(Action::Edit { target, edit: Edit::Merge(json!({"spec": {"unschedulable": unschedulable}})) })
}

fn create(options: &KubectlOptions<'_>) -> Result<Action, NotSimulated> {
    let word = |at: usize| options.words.get(at).copied().unwrap_or_default();
    match (word(1), word(2)) {
        ("namespace" | "ns", name) if !name.is_empty() => {
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            Ok(Action::Create(Kind::Namespace, object))
        }
        (kind, _) => Err(NotSimulated::new(format!("it runs kubectl create {kind}"))),
    }
}

#[cfg(test)]
mod tests;
