//! Findings in documents: message, subjects, evidence, remedy and causes. Part of the contract of
//! [`super::Document`].

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::command::RunsOn;
use crate::finding::{self, Applies, Confidence, ManifestLocation, Severity, StepKind, ValuesForm, When};

/// A problem or a remark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The check that found it.
    pub check: String,
    /// The check's category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The check's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Address of the check's page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docs: Option<String>,
    pub severity: Severity,
    /// Observed or inferred.
    pub confidence: Confidence,
    /// The state of a rehearsed upgrade (`--to`) in which it exists: `until-upgrade` ends with it,
    /// `after-upgrade` begins with it; absent for findings that exist in both.
    #[serde(default, skip_serializing_if = "is_now")]
    pub when: When,
    /// The locations of its objects in the given manifests (`--manifests`, `--with`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<ManifestLocation>,
    /// Its subjects; at least one.
    pub subjects: Vec<About>,
    /// The problem and its consequence.
    pub message: String,
    pub evidence: Vec<Evidence>,
    /// The events that explain it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Moment>,
    pub remedy: Remedy,
    /// Fingerprints of the findings that explain it.
    pub caused_by: Vec<String>,
    /// The findings to fix so that it disappears: the roots of its `causedBy`, or itself for a root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub root_causes: Vec<Root>,
    /// Fingerprints of the findings to fix before it, only the nearest ones. Findings are in that order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// A short fact, if the message is longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<String>,
    /// Whether it is waived, and so does not fail the run; see `waivers`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub waived: bool,
    /// Whether it was in the baseline, and so does not fail the run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub in_baseline: bool,
    /// What distinguishes it from another finding of the same check about the same subjects: a key, a signature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
    /// The rows of `linkerd check` that it fails, if not all of its check's rows with its own severity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linkerd_check: Option<LinkerdCheck>,
    /// The fingerprint: the same in every run with the same problem of the same subjects. Each subject has a
    /// fingerprint of its own, which stays when others are fixed.
    pub fingerprint: String,
}

/// The rows of `linkerd check` that a finding fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkerdCheck {
    /// The rows, by description; all rows of the check if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<String>>,
    /// How the rows fail, if not with the finding's severity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_now(when: &When) -> bool {
    *when == When::Now
}

/// A root finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Root {
    pub check: String,
    pub fingerprint: String,
}

/// An object as fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    pub kind: String,
    /// Its namespace; absent for cluster-scoped objects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    pub name: String,
}

/// The subject of a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum About {
    /// A Kubernetes object, resolved to its owner.
    Object {
        kind: String,
        /// Its namespace; absent for cluster-scoped objects.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        namespace: String,
        name: String,
        /// Its affected pods.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pods: Vec<String>,
        /// The fingerprint for this subject: the same in every run, whatever the other subjects.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<String>,
    },
    /// A node, or a place on it.
    Node {
        /// The node's name.
        node: String,
        /// The file on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The place in the file, as a JSON path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The line in the file, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        /// The fingerprint for this subject: the same in every run, whatever the other subjects.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<String>,
    },
    /// Something else: the operator's CLI, the API server, the cluster as a whole.
    Thing {
        /// Its name.
        thing: String,
        /// The fingerprint for this subject: the same in every run, whatever the other subjects.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<String>,
    },
}

/// An observed fact, quoted, with its location.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "from")]
pub enum Evidence {
    /// A field of an object.
    Field {
        /// The object: `Deployment shop/web`.
        object: String,
        /// The object as fields, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<Reference>,
        /// The field.
        path: String,
        /// The observed value.
        said: String,
    },
    /// A place in a file of a node.
    File {
        node: String,
        /// The file's path on the node.
        file: String,
        /// The place in the file, as a JSON path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The line, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        /// The column, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        column: Option<u32>,
        /// The observed value.
        said: String,
    },
    Event {
        /// The object of the event.
        object: String,
        /// The object as fields, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<Reference>,
        reason: String,
        /// How often it occurred.
        count: u32,
        /// Its last occurrence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last: Option<Timestamp>,
        /// Its message.
        said: String,
    },
    /// Something else that is named.
    Other {
        name: String,
        /// The observed value.
        said: String,
    },
}

/// An event at a known time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// When, in UTC.
    pub at: Timestamp,
    /// What happened.
    pub what: String,
    /// The object with the evidence: `Pod shop/web-5d9f`, `node worker-1`.
    pub object: String,
    /// The object as fields, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    pub field: String,
}

/// The steps in order, and their verification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remedy {
    /// The steps, in the order in which they must be done.
    pub steps: Vec<Step>,
    /// The command that verifies it.
    pub verify: String,
    /// What the commands of the steps change in objects, for programs. Only for steps whose whole effect is an edit
    /// of named objects, and that need no decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patch: Vec<Patch>,
}

/// A change of one object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Patch {
    /// The position of its step in `steps`, from 1.
    pub step: usize,
    /// The kind of the object: `Deployment`.
    pub kind: String,
    /// Its API version: `apps/v1`.
    #[serde(rename = "apiVersion")]
    pub api_version: String,
    /// Its namespace; empty for objects of the cluster.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    pub name: String,
    /// `merge`, `strategic` or `json`, as `kubectl patch --type` names it.
    pub format: String,
    pub patch: serde_json::Value,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The kind of the step.
    pub kind: StepKind,
    /// What to do.
    pub text: String,
    /// When it applies, if not in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applies: Option<Applies>,
    /// The command; may have several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The place to run the command: `workstation`, or `node` for a root shell on a node's host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_on: Option<RunsOn>,
    /// The node that the command is written for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Further nodes on which the step must be repeated, one at a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_nodes: Vec<String>,
    /// Variables in the command that must be set by hand before it can run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub placeholders: Vec<String>,
    /// Edits of chart values in files, for programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub value_edits: Vec<ValueEdit>,
}

/// The edit of one chart value where it is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValueEdit {
    /// The object with the values, or the values file.
    pub object: String,
    pub file: String,
    /// The line of the value, or of the document that contains it, from 1.
    pub line: usize,
    /// The steps to the values in the document; empty for a values file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    pub form: ValuesForm,
    /// The keys of the value, from the outermost.
    pub keys: Vec<String>,
    pub action: EditAction,
    /// The keys to which a rename moves the value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// The new value, if the edit sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<serde_json::Value>,
}

/// The change of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names describe them")]
pub enum EditAction {
    Remove,
    Set,
    Rename,
}

impl From<&finding::ValueEdit> for ValueEdit {
    fn from(edit: &finding::ValueEdit) -> ValueEdit {
        let finding::ValuesPlace { object, file, line, path, form } = edit.place.clone();
        let (action, to, value) = match &edit.action {
            finding::ValueAction::Remove => (EditAction::Remove, Vec::new(), None),
            finding::ValueAction::Set(value) => (EditAction::Set, Vec::new(), Some(value)),
            finding::ValueAction::Rename(to, value) => (EditAction::Rename, to.clone(), value.as_ref()),
        };
        let (keys, value) = (edit.keys.clone(), value.map(finding::NewValue::to_json));
        ValueEdit { object, file, line, path, form, keys, action, to, value }
    }
}

impl ValueEdit {
    /// The edit; `None` if a value is missing or of another type.
    pub(super) fn restored(&self) -> Option<finding::ValueEdit> {
        let value = self.value.as_ref().and_then(|value| match value {
            serde_json::Value::Bool(value) => Some(finding::NewValue::Bool(*value)),
            serde_json::Value::Number(number) => number.as_i64().map(finding::NewValue::Whole),
            serde_json::Value::String(text) => Some(finding::NewValue::Text(text.clone())),
            _ => None,
        });
        let action = match self.action {
            EditAction::Remove => finding::ValueAction::Remove,
            EditAction::Set => finding::ValueAction::Set(value?),
            EditAction::Rename => finding::ValueAction::Rename(self.to.clone(), value),
        };
        let (object, file, path) = (self.object.clone(), self.file.clone(), self.path.clone());
        let place = finding::ValuesPlace { object, file, line: self.line, path, form: self.form };
        Some(finding::ValueEdit { place, keys: self.keys.clone(), action })
    }
}

/// The merged steps of all findings that need a repair, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairPlan {
    /// The steps, without duplicates.
    pub steps: Vec<PlanStep>,
    /// Commands that show whether the repair worked.
    pub verify: Vec<String>,
}

/// One step of the repair plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanStep {
    /// What to do.
    #[serde(flatten)]
    pub step: Step,
    /// Fingerprints of the findings that it repairs.
    pub repairs: Vec<String>,
    /// Their checks.
    pub checks: Vec<String>,
}

/// A finding that explains others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    pub fingerprint: String,
    pub check: String,
    /// Fingerprints of the findings that it explains.
    pub explains: Vec<String>,
}
