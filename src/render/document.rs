//! The document that machines read: the structs behind `json` and `yaml`, schema `meshdoctor.report/1`. They are a
//! contract: fields are only ever added, names and meanings stay. `docs/schema/report.v1.json` says the same in JSON
//! Schema, and a test holds the two together. Nothing here decides anything; it copies from the report.

mod about;
mod change;
mod fill;
mod finding;
mod nodes;
mod rehearsal;
mod restore;
mod roots;

pub use change::Change;
pub use fill::{Failure, asked};
pub use finding::{
    About, Cause, Evidence, Finding, LinkerdCheck, Moment, PlanStep, Reference, Remedy, RepairPlan, Root,
    Step,
};
pub use nodes::{Node, NodeFile, NodePlugin};
pub use rehearsal::{Phase, Rehearsal};
pub use restore::restore;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use crate::command::Asked;
use crate::command::Connection;
use crate::finding::{Severity, WaivedBy};
use crate::knowledge::RowMode;
use crate::model::cluster::TimeSource;
use crate::render::text::clean;
use crate::report::ConfigUse;
use crate::rows::LinkedCluster;

/// One run. Every field is present in every outcome, even if the run produced no report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// `meshdoctor.report/1`.
    pub schema: String,
    /// What wrote it.
    pub tool: Tool,
    /// How the run went. Everything that differs between two runs on the same evidence is here and in `origin`.
    pub run: Run,
    /// Where the evidence came from; `null` when none was read.
    pub origin: Option<Origin>,
    /// What was looked at; `null` when nothing was.
    pub subject: Option<Subject>,
    /// The result in figures.
    pub verdict: Verdict,
    /// What was looked at, and what could not be.
    pub coverage: Coverage,
    /// Every selected check with its outcome, in order.
    pub checks: Vec<Check>,
    /// Every finding, causes and symptoms alike: roots first, the worst first.
    pub findings: Vec<Finding>,
    /// The merged steps of these findings, in order; missing if nothing needs a repair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair_plan: Option<RepairPlan>,
    /// The upgrade that was rehearsed (`--to`); not there when none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsal: Option<Rehearsal>,
    /// The change that was laid over the cluster (`--with`); not there when none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// The nodes whose files were given, with what their runtime loads; not there when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
    /// What explains what: every finding that is named in another's `causedBy`.
    pub causes: Vec<Cause>,
    /// Findings that are waived, as a whole or in part, and by whom.
    pub waivers: Vec<Waived>,
    /// What the border replaced or dropped.
    pub redaction: Redaction,
    /// What went wrong with the run itself.
    pub errors: Vec<RunError>,
}

/// What wrote the document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// `meshdoctor`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The date of the facts that age, such as releases and annotations; `null` when the run did not come that far.
    pub knowledge: Option<String>,
}

/// How the run went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// When it began.
    pub started: Option<Timestamp>,
    /// How long it took.
    pub milliseconds: u64,
    /// The words of the command line, without values that could be secret.
    pub command: Vec<String>,
    /// The configuration file that added to the command line; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Config>,
    /// The moment that was judged.
    pub judged_at: Option<Timestamp>,
    /// Where that moment comes from.
    pub judged_at_source: Option<TimeSource>,
    /// The version of linkerd-cni for the upgrade (`--to-cni`); absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_cni: Option<String>,
    /// The settings of the run, so that `check --verify` can repeat them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// The way to run `linkerd check` that has the same rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linkerd_check_mode: Option<RowMode>,
    /// The linked clusters that rows of `linkerd check` list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkedCluster>,
    /// How the cluster is reached, so that printed commands reach the same one; absent if by the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<Connection>,
}

/// The configuration file of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The file.
    pub file: String,
    /// Whether the caller named it; otherwise it was found in the working directory or above.
    pub named: bool,
    /// The flags that it sets, without their dashes.
    pub settings: Vec<String>,
    /// Those of them that take part in what fails the run.
    pub gate: Vec<String>,
}

impl Config {
    /// Of a run.
    pub fn new(used: &ConfigUse) -> Config {
        Config {
            file: clean(&used.file).into_owned(),
            named: used.named,
            settings: used.settings.clone(),
            gate: used.gate.clone(),
        }
    }
}

fn is_no(value: &bool) -> bool {
    !value
}

fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// Where the evidence came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// `live`, `bundle`, `dump`, `nodes`, `demo` or `case`.
    pub kind: String,
    /// The context, path or name that was read.
    pub name: String,
}

/// What was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// `EKS`, `GKE` and so on; `null` when it is not known.
    pub distribution: Option<String>,
    /// The control plane's namespace.
    pub control_plane_namespace: String,
    /// Which cluster it is; not there when the evidence does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// Every version in the mesh. `null` or empty means not known.
    pub versions: Versions,
}

/// Which cluster was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// The uid of the namespace `kube-system`, which every cluster has one of for as long as it lives.
    pub uid: String,
}

/// Every version in the mesh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Versions {
    /// The API server's.
    pub kubernetes: Option<String>,
    /// Kubelets: nodes by version.
    pub kubelets: BTreeMap<String, usize>,
    /// The operator's own `linkerd` command.
    pub cli: Option<String>,
    /// The control plane's components: the version of each.
    pub control_plane: BTreeMap<String, String>,
    /// Proxies: pods by version.
    pub proxies: BTreeMap<String, usize>,
    /// linkerd-cni.
    pub cni: Option<String>,
    /// Extensions: the version of each.
    pub extensions: BTreeMap<String, String>,
    /// The Gateway API's definitions.
    pub gateway_api: Option<String>,
}

/// The result in figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The exit status.
    pub status: u8,
    /// What that status means.
    pub meaning: String,
    /// What fails a run (`--fail-on`); `null` when the run did not come that far.
    pub gate: Option<String>,
    /// Whether requested evidence that was unavailable is accepted (`--on-not-checked=pass`).
    #[serde(default, skip_serializing_if = "is_no")]
    pub not_checked_passes: bool,
    /// Findings that no other explains, by severity.
    pub roots: Counts,
    /// All findings by severity.
    pub findings: Counts,
    /// Findings that are waived (`--waivers`); no other figure has them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waived: usize,
    /// Findings of which some subjects are waived; they count for the others, and every other figure has them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waived_in_part: usize,
    /// Findings that were in the baseline (`--baseline`), including those below the gate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_baseline: usize,
    /// Findings that are inferred and were left out (`--confidence observed`); no other figure has them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inferred: usize,
    /// Checks by outcome.
    pub checks: Tally,
}

/// A number for each severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Errors.
    pub error: usize,
    /// Warnings.
    pub warning: usize,
    /// Infos.
    pub info: usize,
}

/// Checks by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// All that were selected.
    pub selected: usize,
    /// Looked, and found nothing.
    pub passed: usize,
    /// Had nothing to ask their question of.
    pub not_applicable: usize,
    /// Did not run fully: evidence was missing. Those that found something nevertheless are counted here too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_checked: Option<usize>,
    /// Deprecated: the same number as `notChecked`, under the name it had in 0.1.0.
    pub not_judged: usize,
    /// Crashed.
    pub crashed: usize,
}

/// What was looked at, and what could not be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Objects that were read.
    pub objects: usize,
    /// Nodes in the cluster; `null` when that is not known.
    pub nodes: Option<usize>,
    /// Nodes with node evidence.
    pub snapshots: usize,
    /// What is missing.
    pub gaps: Vec<Gap>,
    /// Kinds that the cluster serves or a dump holds and that no check reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    /// What of manifests cannot be applied as it is, and was not read: templates that nobody rendered, patches of kustomize,
    /// values still to be put in, objects that SOPS encrypted.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "setAside")]
    pub set_aside: Vec<String>,
}

/// A kind that no check reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// `servers.policy.linkerd.io`
    pub resource: String,
    /// The number of objects in the evidence; absent if not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<usize>,
}

/// A piece of evidence that was needed and is not there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Gap {
    /// What is missing, in words: `configmaps linkerd/linkerd-config`.
    pub what: String,
    /// The same as cards write it under `needs`: `configmaps/control-plane/linkerd-config`.
    pub item: String,
    /// The affected part, if the rest is available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Why: `denied`, `not-served`, `not-captured`, `perhaps-more`, `not-in-manifests`, `not-offered`, `timed-out`, `malformed`,
    /// `no-value`, `not-judged`, `failed`.
    pub why: String,
    /// The same in words, with what the server or the parser said.
    pub message: String,
    /// Whether it was requested: those gaps make the exit status 4.
    pub asked_for: bool,
    /// The checks that needed it.
    pub checks: Vec<String>,
    /// How to close the gap.
    pub close: String,
    /// The command to close it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_command: Option<String>,
}

/// A selected check and how it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Its id.
    pub id: String,
    /// Its category.
    pub category: String,
    /// Its title.
    pub title: String,
    /// The highest severity its findings may have.
    pub severity: Severity,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it does not apply, why it was not checked (or not everywhere), or what it crashed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The check whose findings block this one; it counts as not applicable, and is not a pass.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "blockedBy")]
    pub blocked_by: Option<String>,
    /// Its effective parameters, by name; empty if it has none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, serde_json::Value>,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Looked, and found nothing; nothing that was needed was missing.
    Pass,
    /// Findings; perhaps with gaps.
    Findings,
    /// It does not apply.
    NotApplicable,
    /// Did not run, or not everywhere, and found nothing: evidence was missing. 0.1.0 wrote `unknown`.
    #[serde(alias = "unknown")]
    NotChecked,
    /// A bug in meshdoctor; the other checks are not touched by it.
    Crashed,
}

/// A finding that is waived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waived {
    /// Its check.
    pub check: String,
    /// Its fingerprint.
    pub fingerprint: String,
    /// The accepted subjects, if not all are: the finding then counts for the others. Empty if all are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<String>,
    /// The waivers that accept it.
    pub by: Vec<WaivedBy>,
}

/// What the border replaced or dropped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Redaction {
    /// Objects and node files in which something was replaced or dropped.
    pub touched: usize,
}

/// Something that went wrong with the run itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunError {
    /// What went wrong.
    pub message: String,
}
