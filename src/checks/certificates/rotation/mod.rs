//! The state of a rotation of the trust anchor or of the issuer, and its next safe step. A step may be done
//! only if each of its conditions is known to be met: missing evidence is never a go. [`evidence`] reads,
//! [`conditions`] decides, [`steps`] prints commands with the functions that remedies of findings use.

mod conditions;
mod evidence;
mod proxies;
mod rows;
mod steps;
mod templates;
mod texts;

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::TABLE;
use crate::checks::context::RunInput;
use crate::checks::joins::Joins;
use crate::checks::prelude::*;
use crate::checks::{Check, Settings, all, find};
use crate::knowledge::Knowledge;
use crate::model::Cluster;
use evidence::Evidence;

/// The check of proxies that do not trust the issuer. Problems that the cards of other checks place before it
/// make a restart unsafe.
const RESTARTED: &str = "data-plane-anchors-disjoint";
/// The checks whose cards declare the other evidence: events, linked clusters, metrics, and workloads outside the
/// cluster.
const EVENTS: &str = "issuer-not-reloaded";
const LINKS: &str = "link-anchors-differ";
const METRICS: &str = "proxy-certificate-of-old-issuer";
const EXTERNAL: &str = "external-workload-without-endpoint";
/// The check whose card declares the pod templates.
const TEMPLATES: &str = "proxy-port-taken";
/// The checks of whether identity signs with the issuer in the Secret.
const LOADED: [&str; 3] = [EVENTS, "issuer-update-skipped", "identity-serves-other-issuer"];

/// The subject of a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RotationSubject {
    /// The trust anchor, and the issuer with it.
    Anchor,
    /// The issuer alone, under the current trust anchor.
    Issuer,
}

/// Facts that the operator states, because no evidence can show them.
#[derive(Debug, Clone, Default)]
pub struct Statements {
    /// What to rotate; by default what expires first.
    pub of: Option<RotationSubject>,
    /// When the current issuer was put in place.
    pub issuer_since: Option<Timestamp>,
    /// When the current bundle was put in place.
    pub bundle_since: Option<Timestamp>,
    /// Linked clusters are ready for the next step.
    pub linked_clusters: bool,
    /// Proxies outside the cluster are ready for the next step.
    pub external_workloads: bool,
}

/// What the checks of [`blocking`] found.
#[derive(Debug, Clone, Default)]
pub struct Obstacles {
    /// Problems to repair before any step, in the order of repair.
    pub broken: Vec<Finding>,
    /// Evidence that these checks lacked.
    pub unjudged: Vec<Missing>,
}

/// The state of a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It is unknown.
    Unknown,
    /// Something is broken and must be repaired before any step.
    Broken,
    /// No rotation is in progress.
    None,
    /// The bundle has a new anchor, and not every proxy is known to trust it.
    AnchorAdded,
    /// Every proxy trusts the new anchor; the issuer is still under the old one.
    AnchorTrusted,
    /// The issuer is under the new anchor, and proxies may still have certificates under the old one.
    IssuerReplaced,
    /// No proxy needs the old anchor, and the bundle still has it.
    AnchorUnneeded,
    /// The bundle no longer has the old anchor, and proxies still trust it.
    AnchorRemoved,
}

impl Phase {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Unknown => "unknown",
            Phase::Broken => "broken",
            Phase::None => "none",
            Phase::AnchorAdded => "anchor-added",
            Phase::AnchorTrusted => "anchor-trusted",
            Phase::IssuerReplaced => "issuer-replaced",
            Phase::AnchorUnneeded => "anchor-unneeded",
            Phase::AnchorRemoved => "anchor-removed",
        }
    }
}

/// A step of a rotation, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Add the new anchor to the bundle.
    AddAnchor,
    /// Restart the control plane with the new bundle.
    RestartControlPlane,
    /// Restart the meshed workloads, which get the new bundle.
    RestartWorkloads,
    ReplaceIssuer,
    /// Renew the certificates of the old issuer.
    RenewCertificates,
    /// Remove the old anchor from the bundle.
    RemoveAnchor,
    /// Restart everything that still trusts the old anchor.
    DropOldAnchor,
}

impl Stage {
    /// All of them, in order.
    pub const ALL: [Stage; 7] = [
        Stage::AddAnchor,
        Stage::RestartControlPlane,
        Stage::RestartWorkloads,
        Stage::ReplaceIssuer,
        Stage::RenewCertificates,
        Stage::RemoveAnchor,
        Stage::DropOldAnchor,
    ];

    /// Its name in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::AddAnchor => "add-anchor",
            Stage::RestartControlPlane => "restart-control-plane",
            Stage::RestartWorkloads => "restart-workloads",
            Stage::ReplaceIssuer => "replace-issuer",
            Stage::RenewCertificates => "renew-certificates",
            Stage::RemoveAnchor => "remove-anchor",
            Stage::DropOldAnchor => "drop-old-anchor",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Stage::AddAnchor => "Add a new trust anchor to the bundle",
            Stage::RestartControlPlane => "Restart the control plane",
            Stage::RestartWorkloads => "Restart the meshed workloads",
            Stage::ReplaceIssuer => "Replace the issuer",
            Stage::RenewCertificates => "Renew the proxies' certificates",
            Stage::RemoveAnchor => "Remove the old trust anchor from the bundle",
            Stage::DropOldAnchor => "Restart what still trusts the old anchor",
        }
    }
}

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionStatus {
    /// It does not.
    No,
    /// The evidence does not show it.
    Unknown,
    /// It does.
    Yes,
}

impl ConditionStatus {
    fn from_bool(holds: bool) -> ConditionStatus {
        if holds { ConditionStatus::Yes } else { ConditionStatus::No }
    }
}

/// A condition of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What must hold.
    pub text: String,
    /// Whether it does.
    pub state: ConditionStatus,
    /// The evidence, or what is missing.
    pub evidence: Vec<String>,
    /// How to find out, if it is not known.
    pub close: Option<String>,
}

/// Whether a step was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It was.
    Done,
    /// It is the next one.
    Next,
    /// It comes later.
    Later,
}

impl Progress {
    /// Its name in JSON and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Progress::Done => "done",
            Progress::Next => "next",
            Progress::Later => "later",
        }
    }
}

/// A step of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStage {
    /// The step.
    pub stage: Stage,
    /// Whether it was done.
    pub progress: Progress,
    /// Its conditions; empty if it was done.
    pub conditions: Vec<Condition>,
    /// Its commands; none if it was done.
    pub remedy: Remedy,
}

impl PlannedStage {
    /// Whether it may be done now: yes only if each condition is known to be met.
    pub fn decision(&self) -> ConditionStatus {
        self.conditions.iter().map(|condition| condition.state).min().unwrap_or(ConditionStatus::Yes)
    }
}

/// The role of a trust anchor in a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnchorRole {
    /// The issuer chains to it.
    Current,
    /// It is newer than the one that the issuer chains to, or was added to the bundle after a running proxy started.
    New,
    /// It is older than the one that the issuer chains to, or has expired.
    Old,
    /// The issuer is unknown.
    Unknown,
}

impl AnchorRole {
    /// Its name in JSON and in tables.
    pub fn name(self) -> &'static str {
        match self {
            AnchorRole::Current => "signs the issuer",
            AnchorRole::New => "new",
            AnchorRole::Old => "old",
            AnchorRole::Unknown => "not known",
        }
    }
}

/// A trust anchor of the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnchorRow {
    pub role: AnchorRole,
    pub subject: String,
    /// Its fingerprint.
    pub print: String,
    /// The start of its validity.
    pub not_before: Timestamp,
    /// The end of its validity.
    pub not_after: Timestamp,
    /// Number of proxies outside the control plane that trust it.
    pub trusted_by: usize,
    /// Number of proxies of which this is unknown.
    pub unknown: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerRow {
    pub subject: String,
    /// Its fingerprint.
    pub print: String,
    /// The start of its validity.
    pub not_before: Timestamp,
    /// The end of its validity.
    pub not_after: Timestamp,
    /// The anchors that it chains to, by fingerprint.
    pub signed_by: Vec<String>,
    /// When it was put in place at the latest, and the source of this.
    pub since: Option<(Timestamp, String)>,
}

/// Proxies of a workload, by what they trust and present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// The workload.
    pub subject: String,
    pub pods: Vec<String>,
    /// Whether they trust the new anchor; without one, the anchor of the issuer.
    pub trusts: ConditionStatus,
    /// Whether their certificates are of the current issuer.
    pub renewed: ConditionStatus,
    /// Whether they trust nothing beyond the bundle.
    pub is_current: ConditionStatus,
}

/// The state of a rotation and its plan.
#[derive(Debug, Clone)]
pub struct Rotation {
    pub phase: Phase,
    /// The phase as a sentence.
    pub summary: String,
    /// What the plan rotates.
    pub of: RotationSubject,
    /// Whether the anchor or the issuer expires soon.
    pub is_due: bool,
    /// The anchors of the bundle.
    pub anchors: Vec<AnchorRow>,
    pub issuer: Option<IssuerRow>,
    /// Number of meshed pods outside the control plane, if all pods were read.
    pub meshed: Option<usize>,
    /// Meshed workloads, and Deployments of the control plane.
    pub workloads: Vec<Workload>,
    /// The steps, in order.
    pub plan: Vec<PlannedStage>,
    /// The steps that keep calls working, instead of a repair that would interrupt them; usually none.
    pub kept: Remedy,
    /// Steps that must not be done yet, each with the reason.
    pub not_yet: Vec<(Stage, String)>,
    /// Additional facts.
    pub notes: Vec<String>,
    /// Evidence that the state needs and that was unavailable.
    pub gaps: Vec<Missing>,
}

impl Rotation {
    /// The state of the cluster.
    pub fn read(
        cluster: &Cluster,
        knowledge: &Knowledge,
        settings: &Settings,
        statements: &Statements,
        obstacles: &Obstacles,
    ) -> Rotation {
        let joins = Joins::default();
        let reading = Reading { cluster, knowledge, settings, joins: &joins };
        let core = reading.context(RESTARTED);
        let evidence = Evidence::read(&reading, &core, statements);
        conditions::rotation(&core, &evidence, obstacles)
    }

    /// The next step.
    pub fn next(&self) -> Option<&PlannedStage> {
        self.plan.iter().find(|planned| planned.progress == Progress::Next)
    }
}

/// The checks whose findings state that the mesh must be repaired before a rotation continues.
pub fn blocking() -> Vec<&'static Check> {
    let names = |ids: &[String]| ids.iter().any(|id| id == RESTARTED);
    let is_own = |check: &Check| TABLE.iter().any(|own| own.id == check.id) && !is_of_webhooks(check);
    all().filter(|check| is_own(check) || names(&check.card().front.before)).collect()
}

/// Whether a finding of one of these checks must be repaired first.
pub fn is_blocking(finding: &Finding) -> bool {
    match finding.severity {
        Severity::Error => true,
        Severity::Warning => LOADED.contains(&finding.check),
        Severity::Info => false,
    }
}

/// Whether a check is about the certificates of webhooks, which a rotation does not change.
fn is_of_webhooks(check: &Check) -> bool {
    check.id.starts_with("webhook-") || check.id.starts_with("validator-")
}

/// All checks whose evidence the state of a rotation uses.
pub fn checks() -> Vec<&'static Check> {
    let mut ids: BTreeSet<&str> = [EVENTS, LINKS, METRICS, EXTERNAL, TEMPLATES].into();
    ids.extend(blocking().iter().map(|check| check.id));
    all().filter(|check| ids.contains(check.id)).collect()
}

/// A condition without a way to close a gap.
fn condition(text: &str, state: ConditionStatus, evidence: Vec<String>) -> Condition {
    Condition { text: text.to_owned(), state, evidence, close: None }
}

/// The evidence, read through the cards of checks.
struct Reading<'a> {
    cluster: &'a Cluster,
    knowledge: &'a Knowledge,
    settings: &'a Settings,
    joins: &'a Joins<'a>,
}

impl<'a> Reading<'a> {
    /// A context with the evidence that the card of a check declares.
    fn context(&self, id: &'static str) -> Context<'a> {
        let check = find(id).unwrap_or(&TABLE[0]);
        let run =
            RunInput { cluster: self.cluster, knowledge: self.knowledge, settings: self.settings, joins: self.joins };
        Context::new(check.id, check.card(), run)
    }
}
