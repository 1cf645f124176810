//! Findings as documents have them: what is wrong, what it is about, what proves it, what to do, and what explains it. A part
//! of the contract that [`super::Document`] is.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::command::RunsOn;
use crate::finding::{Confidence, Severity, StepKind, When, Written};

/// Something wrong or worth knowing.
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
    /// Where the check's page can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docs: Option<String>,
    /// How much harm.
    pub severity: Severity,
    /// Seen or inferred.
    pub confidence: Confidence,
    /// In which world it is there, where an upgrade was rehearsed (`--to`): `until-upgrade` ends with it, `after-upgrade` begins
    /// with it; not there for what is there today either way.
    #[serde(default, skip_serializing_if = "is_now")]
    pub when: When,
    /// Where its objects stand in the manifests that were given (`--manifests`, `--with`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<Written>,
    /// What it is about; at least one.
    pub subjects: Vec<About>,
    /// What is wrong and why it matters.
    pub message: String,
    /// What proves it.
    pub evidence: Vec<Evidence>,
    /// What happened when, in order, where that is what explains it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Moment>,
    /// What to do.
    pub remedy: Remedy,
    /// Fingerprints of the findings that explain it.
    pub caused_by: Vec<String>,
    /// What has to be repaired for it to go away: the findings at the end of its `causedBy`, or itself where nothing
    /// explains it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub root_causes: Vec<Root>,
    /// Fingerprints of the findings that are to be repaired before it, the nearest only. Findings come in that order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// What was found, in half a line, where the message says it at length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<String>,
    /// Whether it is waived, so that it does not count; `waivers` says by whom.
    #[serde(default, skip_serializing_if = "is_false")]
    pub waived: bool,
    /// Whether it was in the baseline, so that it does not count.
    #[serde(default, skip_serializing_if = "is_false")]
    pub in_baseline: bool,
    /// What distinguishes it from another finding of the same check about the same subjects: a key, a signature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
    /// The rows of `linkerd check` that it fails, if not all of its check's rows with its own severity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linkerd_check: Option<LinkerdCheck>,
    /// Which finding this is: the same in every run that finds the same trouble at the same subjects. Each subject has a
    /// fingerprint of its own, which stays when others are repaired.
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

/// A finding that nothing else explains.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Root {
    /// Its check.
    pub check: String,
    /// Its fingerprint.
    pub fingerprint: String,
}

/// An object, in fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Its kind.
    pub kind: String,
    /// Its namespace; left out for cluster-scoped objects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum About {
    /// A Kubernetes object, resolved to its owner.
    Object {
        /// Its kind.
        kind: String,
        /// Its namespace; left out for cluster-scoped objects.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        namespace: String,
        /// Its name.
        name: String,
        /// The pods of it that are meant.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pods: Vec<String>,
        /// Which trouble of this subject it is: the same in every run, whatever else the finding is about.
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
        /// Which trouble of this subject it is: the same in every run, whatever else the finding is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<String>,
    },
    /// Something else: the operator's CLI, the API server, the cluster as a whole.
    Thing {
        /// What it is.
        thing: String,
        /// Which trouble of this subject it is: the same in every run, whatever else the finding is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<String>,
    },
}

/// An observed fact, quoted, with where it was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "from")]
pub enum Evidence {
    /// A field of an object.
    Field {
        /// The object: `Deployment shop/web`.
        object: String,
        /// The same object in fields, where it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<Reference>,
        /// The field.
        path: String,
        /// What was seen.
        said: String,
    },
    /// A place in a file of a node.
    File {
        /// The node.
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
        /// What was seen.
        said: String,
    },
    /// An Event.
    Event {
        /// What the event is about.
        object: String,
        /// The same object in fields, where it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<Reference>,
        /// Its reason.
        reason: String,
        /// How often it was seen.
        count: u32,
        /// When it was last seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last: Option<Timestamp>,
        /// Its message.
        said: String,
    },
    /// Something else that is named.
    Other {
        /// Its name.
        name: String,
        /// What was seen.
        said: String,
    },
}

/// Something that happened at a known moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// When, in UTC.
    pub at: Timestamp,
    /// What happened.
    pub what: String,
    /// The object that says so: `Pod shop/web-5d9f`, `node worker-1`.
    pub object: String,
    /// The same object in fields, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// Where in it.
    pub field: String,
}

/// What to do, in order, and how to see that it worked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remedy {
    /// The steps, in the order in which they must be done.
    pub steps: Vec<Step>,
    /// The command that verifies it.
    pub verify: String,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// What kind of act it is.
    pub kind: StepKind,
    /// What to do.
    pub text: String,
    /// What to paste; may have several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Where the command runs: `workstation`, or `node` for a root shell on a node's host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_on: Option<RunsOn>,
    /// The node that the command is written for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Further nodes on which the same is to be done, one at a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_nodes: Vec<String>,
    /// Variables in the command that have to be given a value by hand before it can run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub placeholders: Vec<String>,
}

/// The merged steps of all findings that need a repair, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairPlan {
    /// The steps, each identical one once.
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
    /// Its fingerprint.
    pub fingerprint: String,
    /// Its check.
    pub check: String,
    /// Fingerprints of what it explains.
    pub explains: Vec<String>,
}
