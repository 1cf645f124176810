//! The machine-readable document: the structs for `json` and `yaml`, schema `meshdoctor.report/1`. They are a
//! contract: fields are only ever added, names and meanings stay. `docs/schema/report.v1.json` is the
//! corresponding JSON Schema, and a test compares both. This module makes no decisions; it copies from the
//! report.

mod about;
mod change;
mod fill;
mod finding;
mod nodes;
mod rehearsal;
mod restore;
mod roots;

pub use crate::finding::ValuesForm;
pub use change::ManifestChange;
pub use fill::{Failure, run_options};
pub use finding::{
    About, Cause, EditAction, Evidence, Finding, LinkerdCheck, Moment, Patch, PlanStep, Reference, Remedy, RepairPlan,
    Root, Step, ValueEdit,
};
pub use nodes::{Node, NodeFile, NodePlugin};
pub use rehearsal::{Phase, Rehearsal};
pub use restore::restore;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::command::Connection;
pub use crate::command::RerunOptions;
use crate::finding::{Severity, WaivedBy};
use crate::knowledge::RowMode;
use crate::model::cluster::TimeSource;
use crate::model::traffic::WorkloadTraffic;
use crate::render::text::clean;
use crate::report::ConfigUse;
use crate::rows::LinkedCluster;

/// One run. Every field is present in every outcome, even if the run produced no report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// `meshdoctor.report/1`.
    pub schema: String,
    /// The tool that wrote it.
    pub tool: Tool,
    /// Metadata of the run. Everything that differs between two runs on the same evidence is here and in
    /// `origin`.
    pub run: Run,
    /// The source of the evidence; `null` if none was read.
    pub origin: Option<Origin>,
    /// The checked cluster; `null` without one.
    pub subject: Option<Subject>,
    /// The result as counts.
    pub verdict: Verdict,
    /// The evidence that was read, and the missing evidence.
    pub coverage: Coverage,
    /// Every selected check with its outcome, in order.
    pub checks: Vec<Check>,
    /// Every finding, causes and symptoms alike: roots first, the worst first.
    pub findings: Vec<Finding>,
    /// The merged steps of these findings, in order; missing if nothing needs a repair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair_plan: Option<RepairPlan>,
    /// The rehearsed upgrade (`--to`); absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsal: Option<Rehearsal>,
    /// The change applied on top of the cluster (`--with`); absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<ManifestChange>,
    /// The nodes with node evidence, and the files that their runtime loads; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
    /// Numbers of the proxies that were read twice; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// The causal relations: every finding in another's `causedBy`.
    pub causes: Vec<Cause>,
    /// Findings that are waived, as a whole or in part, and their waivers.
    pub waivers: Vec<Waived>,
    pub redaction: Redaction,
    /// Problems of the run itself.
    pub errors: Vec<RunError>,
}

/// The tool that wrote the document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// `meshdoctor`.
    pub name: String,
    pub version: String,
    /// The date of the embedded data about releases and annotations; `null` if the run did not get that far.
    pub knowledge: Option<String>,
}

/// The invocation of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invocation {
    /// Its start.
    pub started: Option<Timestamp>,
    /// Its duration.
    pub milliseconds: u64,
    /// The command line, without values that could be secret.
    pub command: Vec<String>,
    /// The configuration file that added to the command line; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Config>,
}

/// Metadata of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    #[serde(flatten)]
    pub invocation: Invocation,
    /// The evaluation time.
    pub judged_at: Option<Timestamp>,
    /// The source of that time.
    pub judged_at_source: Option<TimeSource>,
    /// The version of linkerd-cni for the upgrade (`--to-cni`); absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_cni: Option<String>,
    /// The settings of the run, so that `check --verify` can repeat them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<RerunOptions>,
    /// The mode of `linkerd check` with the same rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linkerd_check_mode: Option<RowMode>,
    /// The linked clusters that rows of `linkerd check` list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkedCluster>,
    /// The connection to the cluster, so that printed commands use the same one; absent for the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<Connection>,
}

/// The configuration file of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    pub file: String,
    /// Whether it was given explicitly; otherwise it was found in the working directory or above.
    pub named: bool,
    /// The flags that it sets, without their dashes.
    pub settings: Vec<String>,
    /// Those of them that affect the gate.
    pub gate: Vec<String>,
}

impl Config {
    /// From a run.
    pub fn new(used: &ConfigUse) -> Config {
        Config {
            file: clean(&used.file).into_owned(),
            named: used.named,
            settings: used.settings.clone(),
            gate: used.gate.clone(),
        }
    }

    /// As a run has it.
    pub(super) fn used(&self) -> ConfigUse {
        ConfigUse {
            file: self.file.clone(),
            named: self.named,
            settings: self.settings.clone(),
            gate: self.gate.clone(),
            quiet: false,
        }
    }
}

fn is_no(value: &bool) -> bool {
    !value
}

fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// Numbers of proxies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// The workloads whose proxies were read twice.
    pub workloads: Vec<WorkloadTraffic>,
    /// The numbers that they were compared with (`--before`); absent without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Before>,
}

/// Numbers from before a change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Before {
    /// The file that they come from.
    pub file: String,
    pub workloads: Vec<WorkloadTraffic>,
}

/// The source of the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// `live`, `bundle`, `dump`, `nodes`, `demo` or `case`.
    pub kind: String,
    /// The context, path or name.
    pub name: String,
}

/// The checked cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// `EKS`, `GKE` and so on; `null` if unknown.
    pub distribution: Option<String>,
    /// The control plane's namespace.
    pub control_plane_namespace: String,
    /// The identity of the cluster; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// Every version in the mesh. `null` or empty means unknown.
    pub versions: Versions,
}

/// The identity of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// The uid of the namespace `kube-system`, which is unique and constant for a cluster.
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
    /// The operator's linkerd CLI.
    pub cli: Option<String>,
    /// The control plane's components by version.
    pub control_plane: BTreeMap<String, String>,
    /// Proxies: pods by version.
    pub proxies: BTreeMap<String, usize>,
    /// linkerd-cni.
    pub cni: Option<String>,
    /// Extensions with their version.
    pub extensions: BTreeMap<String, String>,
    /// The Gateway API's definitions.
    pub gateway_api: Option<String>,
}

/// The result as counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The exit status.
    pub status: u8,
    /// The meaning of that status.
    pub meaning: String,
    /// The severity that fails a run (`--fail-on`); `null` if the run did not get that far.
    pub gate: Option<String>,
    /// Whether requested evidence that was unavailable is accepted (`--on-not-checked=pass`).
    #[serde(default, skip_serializing_if = "is_no")]
    pub not_checked_passes: bool,
    /// Root findings, by severity.
    pub roots: Counts,
    /// All findings by severity.
    pub findings: Counts,
    /// Findings that are waived (`--waivers`); not part of any other count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waived: usize,
    /// Findings with some waived subjects; they fail for the others, and are part of every other count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waived_in_part: usize,
    /// Findings that were in the baseline (`--baseline`), including those below the gate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_baseline: usize,
    /// Inferred findings that were omitted (`--confidence observed`); not part of any other count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inferred: usize,
    /// Checks by outcome.
    pub checks: Tally,
}

/// A number for each severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    pub error: usize,
    pub warning: usize,
    pub info: usize,
}

/// Checks by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// All selected checks.
    pub selected: usize,
    /// Checks that passed.
    pub passed: usize,
    /// Checks that do not apply.
    pub not_applicable: usize,
    /// Checks that did not run fully because evidence was missing, including those with findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_checked: Option<usize>,
    /// Deprecated: the same number as `notChecked`, under the name it had in 0.1.0.
    pub not_judged: usize,
    pub crashed: usize,
}

/// The evidence that was read, and the missing evidence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Number of objects that were read.
    pub objects: usize,
    /// Nodes in the cluster; `null` if unknown.
    pub nodes: Option<usize>,
    /// Nodes with node evidence.
    pub snapshots: usize,
    /// The missing evidence.
    pub gaps: Vec<Gap>,
    /// Kinds that the cluster serves or a dump contains, but no check reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    /// Parts of manifests that cannot be applied unchanged and were not read: unrendered templates, kustomize
    /// patches, placeholders, objects encrypted with SOPS.
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

/// A piece of required evidence that is missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Gap {
    /// The missing evidence as text: `configmaps linkerd/linkerd-config`.
    pub what: String,
    /// The same in the notation of `needs` in cards: `configmaps/control-plane/linkerd-config`.
    pub item: String,
    /// The affected part, if the rest is available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The reason: `denied`, `not-served`, `not-captured`, `perhaps-more`, `not-in-manifests`, `not-offered`,
    /// `timed-out`, `out-of-time`, `malformed`, `no-value`, `not-judged`, `failed`.
    pub why: String,
    /// The reason as text, with the message of the server or the parser.
    pub message: String,
    /// Whether it was requested: such gaps make the exit status 4.
    pub asked_for: bool,
    /// The checks that needed it.
    pub checks: Vec<String>,
    /// How to close the gap.
    pub close: String,
    /// The command to close it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_command: Option<String>,
}

/// A selected check and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    pub id: String,
    pub category: String,
    pub title: String,
    /// The highest severity its findings may have.
    pub severity: Severity,
    pub outcome: Outcome,
    /// Why it does not apply, why it did not run (fully), or the message of the crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The check whose finding blocks this one, which counts as not applicable, not as passed.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "blockedBy")]
    pub blocked_by: Option<String>,
    /// Its effective parameters, by name; empty if it has none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, serde_json::Value>,
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It ran fully and found nothing.
    Pass,
    /// Findings, possibly with gaps.
    Findings,
    /// It does not apply.
    NotApplicable,
    /// It did not run fully and found nothing, because evidence was missing. 0.1.0 wrote `unknown`.
    #[serde(alias = "unknown")]
    NotChecked,
    /// A bug in meshdoctor; other checks are not affected.
    Crashed,
}

/// A finding that is waived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waived {
    pub check: String,
    pub fingerprint: String,
    /// The accepted subjects, if not all are: the finding then counts for the others. Empty if all are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<String>,
    /// The waivers that accept it.
    pub by: Vec<WaivedBy>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Redaction {
    /// Number of objects and node files with redactions.
    pub touched: usize,
}

/// A problem of the run itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunError {
    /// The problem.
    pub message: String,
}
