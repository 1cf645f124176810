//! Findings of checks, with subjects, evidence and remedy. Plain values: `render` formats them, `policy` decides which
//! ones count, `cause` links causes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::version::LinkerdVersion;

mod chart_change;
mod chart_settings;
mod evidence;
mod forced;
mod list_change;
mod node_round;
mod remedy;
mod rows;
mod subject;
mod timeline;
mod value_change;

pub use chart_change::keep_values;
pub use chart_settings::{ChartSetting, ChartSettings};
pub use evidence::{Evidence, ManifestLocation, Place, Reference};
pub use forced::{CUTS_OFF, Forced, lift_forced};
pub use list_change::{ListChange, keep_lists};
pub use node_round::NodeRound;
pub use remedy::{Applies, Remedy, Restarts, Step, StepKind};
pub use rows::FailedRows;
pub use subject::Subject;
pub use timeline::Moment;
pub use timeline::sorted as timeline_of;
pub use value_change::{NewValue, ValueAction, ValueChange, ValueEdit, ValuesForm, ValuesPlace};

/// Severity. Ordered: `Info < Warning < Error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; never a reason to act on its own.
    Info,
    /// Fails under a named condition: an upgrade, a failover, an expiry, a setting that is silently ignored.
    Warning,
    /// Broken now, or the next pod start or restart fails or runs outside the mesh.
    Error,
}

impl Severity {
    /// `error`, `warning` or `info`.
    pub fn label(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// The state in which a finding exists, if a run previews an upgrade or a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Now, with or without the upgrade.
    #[default]
    Now,
    /// Now, but not after the upgrade.
    UntilUpgrade,
    /// Only after the upgrade.
    AfterUpgrade,
    /// Now, but not after the change (`--with`).
    UntilChange,
    /// Only after the change.
    AfterChange,
}

impl When {
    /// Whether it does not exist now.
    pub fn begins(self) -> bool {
        matches!(self, When::AfterUpgrade | When::AfterChange)
    }

    /// Whether it exists only now.
    pub fn ends(self) -> bool {
        matches!(self, When::UntilUpgrade | When::UntilChange)
    }
}

/// Effect of a finding on the gate of its run; set by the policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Standing {
    /// None: it is below the gate, or the gate counts only findings that a change introduces.
    #[default]
    Passes,
    /// It fails the run.
    Fails,
    /// It is accepted by these waivers.
    Waived(Vec<WaivedBy>),
    /// It is in the baseline.
    InBaseline,
}

/// A waiver: owner and reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WaivedBy {
    pub reason: String,
    pub owner: String,
    /// Last day of validity.
    pub expires: String,
    pub file: String,
    /// Its line, from 1.
    pub line: u64,
}

impl WaivedBy {
    /// Position: `waivers.yaml:7`, or the annotation of an object.
    pub fn place(&self) -> String {
        if self.line == 0 { self.file.clone() } else { format!("{}:{}", self.file, self.line) }
    }
}

/// Whether a finding was observed or inferred. Ordered: `Likely < Observed`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The evidence allows another explanation.
    #[default]
    Likely,
    /// The evidence proves it.
    Observed,
}

/// Links findings: a cause explains a symptom that shares one of its ties. Never shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tie {
    /// The whole cluster.
    Cluster,
    Node(String),
    /// A pod, by namespace and name.
    Pod(String, String),
    /// A workload: kind, namespace, name.
    Workload(String, String, String),
    /// Another fact that cause and symptom share: `iptables-mode`.
    Fact(String),
}

/// The first 16 hex digits of a SHA-256: identifies a finding across runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub String);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Words that begin a message and are not names. Names of components, such as identity, keep their letter.
const OPENERS: [&str; 54] = [
    "a",
    "all",
    "an",
    "another",
    "both",
    "containers",
    "each",
    "every",
    "evicted",
    "extensions",
    "finished",
    "five",
    "from",
    "identities",
    "inbound",
    "injection",
    "its",
    "it",
    "meshed",
    "most",
    "namespace",
    "native",
    "network",
    "new",
    "no",
    "nodes",
    "none",
    "nothing",
    "objects",
    "one",
    "only",
    "outbound",
    "pods",
    "port",
    "ports",
    "proxies",
    "proxy",
    "release",
    "requests",
    "routes",
    "running",
    "several",
    "some",
    "the",
    "there",
    "these",
    "this",
    "three",
    "traces",
    "traffic",
    "two",
    "until",
    "when",
    "you",
];

/// The message with a capital letter, if it begins with an ordinary word.
fn capital(message: String) -> String {
    let word = message.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let is_word = OPENERS.contains(&word) && !message[word.len()..].starts_with(['-', '.', '/', '_']);
    if !is_word {
        return message;
    }
    format!("{}{}", message[..1].to_ascii_uppercase(), &message[1..])
}

/// A problem, or a fact worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Id of the check.
    pub check: &'static str,
    pub severity: Severity,
    /// Observed or inferred.
    pub confidence: Confidence,
    /// The affected objects; at least one.
    pub subjects: Vec<Subject>,
    /// The problem and its consequence, for all subjects: no counts or names of subjects.
    pub message: String,
    /// The message for several pods or objects, if its wording depends on the number; used by `cause`.
    pub several: Option<String>,
    /// The proof; at least one.
    pub evidence: Vec<Evidence>,
    /// Events in order, if they explain the finding; else empty.
    pub timeline: Vec<Moment>,
    /// The repair steps.
    pub remedy: Remedy,
    /// Parameters in addition to the subject that distinguish findings of one check: a key, a signature id.
    pub parameters: Vec<String>,
    /// Links to causes and symptoms; the ties of the subjects are always added.
    pub ties: Vec<Tie>,
    /// It exists but has no effect, so it explains no symptoms.
    pub explains_nothing: bool,
    /// The checks whose findings it explains, if they are fewer than those of its card, with ties in addition
    /// to its own.
    pub symptoms: Option<BTreeMap<String, Vec<Tie>>>,
    /// Result for rows of `linkerd check`; used only by them.
    pub rows: FailedRows,
    /// Whether it takes the severity of its symptoms; set by `cause`.
    pub raised: bool,
    /// The causes, set by `cause`.
    pub caused_by: Vec<Fingerprint>,
    /// Direct prerequisites of the repair; set by `cause`.
    pub after: Vec<Fingerprint>,
    /// The state in which it exists.
    pub when: When,
    /// The release on the upgrade path with which it begins, if the path has several and it is not the target.
    pub begins_with: Option<LinkerdVersion>,
    /// Effect on the gate; set by the report.
    pub standing: Standing,
    /// Accepted subjects, if not all are; set by the report.
    pub waived_in_part: Vec<(Subject, WaivedBy)>,
    /// Positions of its objects in the given manifests.
    pub written: Vec<ManifestLocation>,
    /// Short form for readers who know the check: `edge-25.4.4; newest known edge-26.8.3`. Applies to all subjects,
    /// like the message.
    pub fact: Option<String>,
    /// The fingerprints of a finding that was read from a saved report; computed if `None`.
    pub recorded: Option<RecordedFingerprints>,
}

/// The fingerprints of a finding in a saved report. They hold whatever release of meshdoctor computed them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFingerprints {
    /// Of the finding as a whole.
    pub finding: Fingerprint,
    /// Of its subjects, in their order; `None` for reports of 0.1.0.
    pub subjects: Vec<Option<Fingerprint>>,
}

impl Finding {
    /// A finding about a subject: observed, without evidence and remedy.
    pub fn new(check: &'static str, severity: Severity, subject: Subject, message: impl Into<String>) -> Finding {
        Finding {
            check,
            severity,
            confidence: Confidence::Observed,
            subjects: vec![subject],
            message: capital(message.into()),
            several: None,
            evidence: Vec::new(),
            timeline: Vec::new(),
            remedy: Remedy::default(),
            parameters: Vec::new(),
            ties: Vec::new(),
            explains_nothing: false,
            symptoms: None,
            rows: FailedRows::default(),
            raised: false,
            caused_by: Vec::new(),
            after: Vec::new(),
            when: When::default(),
            begins_with: None,
            standing: Standing::default(),
            waived_in_part: Vec::new(),
            written: Vec::new(),
            fact: None,
            recorded: None,
        }
    }

    /// Identity of the finding: schema tag, check id, subjects and parameters; never message, counts, times or lines.
    pub fn fingerprint(&self) -> Fingerprint {
        if let Some(recorded) = &self.recorded {
            return recorded.finding.clone();
        }
        let mut subjects: Vec<String> = self.subjects.iter().map(Subject::stable).collect();
        subjects.sort();
        subjects.dedup();
        self.print_of(subjects)
    }

    /// Identity of the problem of one subject, independent of other subjects, so that it stays the same when those are
    /// repaired. For a single subject it is the finding's own.
    pub fn subject_fingerprint(&self, subject: &Subject) -> Fingerprint {
        let recorded = || {
            let at = self.subjects.iter().position(|one| one == subject)?;
            self.recorded.as_ref()?.subjects.get(at)?.clone()
        };
        if let Some(fingerprint) = recorded() {
            return fingerprint;
        }
        self.print_of(vec![subject.stable()])
    }

    fn print_of(&self, subjects: Vec<String>) -> Fingerprint {
        let mut hash = Sha256::new();
        hash.update(b"meshdoctor.finding/1\n");
        hash.update(self.check.as_bytes());
        for part in subjects.iter().chain(&self.parameters) {
            hash.update([b'\n']);
            hash.update(part.as_bytes());
        }
        Fingerprint(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
    }

    /// The waivers that accept it; empty if it is not accepted.
    pub fn waived_by(&self) -> &[WaivedBy] {
        match &self.standing {
            Standing::Waived(by) => by,
            Standing::Passes | Standing::Fails | Standing::InBaseline => &[],
        }
    }

    /// Whether it is accepted.
    pub fn is_waived(&self) -> bool {
        matches!(self.standing, Standing::Waived(_))
    }

    /// Sets the severity, if it differs from the card's.
    pub fn severity(mut self, severity: Severity) -> Finding {
        self.severity = severity;
        self
    }

    /// Marks it as inferred.
    pub fn likely(mut self) -> Finding {
        self.confidence = Confidence::Likely;
        self
    }

    /// Marks it as inferred, if the evidence allows another explanation.
    pub fn likely_if(self, allows_another: bool) -> Finding {
        if allows_another { self.likely() } else { self }
    }

    /// Marks it as inferred, unless the evidence proves it.
    pub fn observed_if(self, is_proven: bool) -> Finding {
        self.likely_if(!is_proven)
    }

    /// Sets the message for several pods or objects; see [`Finding::several`].
    pub fn of_several(mut self, message: impl Into<String>) -> Finding {
        self.several = Some(capital(message.into()));
        self
    }

    /// The number of affected objects; a workload counts with its pods.
    pub fn extent(&self) -> usize {
        let of = |subject: &Subject| match subject {
            Subject::Object { pods, .. } => pods.len().max(1),
            Subject::Node { .. } | Subject::Thing { .. } => 1,
        };
        self.subjects.iter().map(of).sum()
    }

    /// Adds a subject.
    pub fn subject(mut self, subject: Subject) -> Finding {
        self.subjects.push(subject);
        self
    }

    /// Sets the short form; see [`Finding::fact`].
    pub fn fact(mut self, fact: impl Into<String>) -> Finding {
        self.fact = Some(fact.into());
        self
    }

    /// Adds a piece of evidence.
    pub fn evidence(mut self, evidence: Evidence) -> Finding {
        self.evidence.push(evidence);
        self
    }

    /// Adds several pieces of evidence.
    pub fn evidences(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Finding {
        self.evidence.extend(evidence);
        self
    }

    /// Adds evidence before all other: reports that are short of space quote the first.
    pub fn proofs(mut self, proofs: impl IntoIterator<Item = Evidence>) -> Finding {
        self.evidence.splice(0..0, proofs);
        self
    }

    /// Adds events; see [`Finding::timeline`].
    pub fn timeline(mut self, moments: impl IntoIterator<Item = Moment>) -> Finding {
        self.timeline.extend(moments);
        self.timeline = timeline::sorted(self.timeline);
        self
    }

    /// Sets the repair steps.
    pub fn remedy(mut self, remedy: Remedy) -> Finding {
        self.remedy = remedy;
        self
    }

    /// Adds a stable parameter; see [`Finding::parameters`].
    pub fn parameter(mut self, parameter: impl Into<String>) -> Finding {
        self.parameters.push(parameter.into());
        self
    }

    /// Adds a tie.
    pub fn tie(mut self, tie: Tie) -> Finding {
        self.ties.push(tie);
        self
    }

    /// Marks it as having no effect; see [`Finding::explains_nothing`].
    pub fn explains_nothing(mut self) -> Finding {
        self.explains_nothing = true;
        self
    }

    /// Limits its effect to these symptoms; see [`Finding::symptoms`].
    pub fn symptoms(mut self, symptoms: BTreeMap<String, Vec<Tie>>) -> Finding {
        self.symptoms = Some(symptoms);
        self
    }

    /// Selects the card's rows of `linkerd check` that it fails, by description; none if that command has no such row.
    pub fn fails_rows(mut self, descriptions: impl IntoIterator<Item = &'static str>) -> Finding {
        self.rows.only(descriptions);
        self
    }

    /// Sets how its rows of `linkerd check` fail, if that differs from its severity: that command checks one moment, in
    /// which a new pod is not ready, and waits before it reports that.
    pub fn rows_as(mut self, severity: Severity) -> Finding {
        self.rows.weigh(severity);
        self
    }

    /// Its own ties and those of its subjects.
    pub fn all_ties(&self) -> Vec<Tie> {
        let mut ties = self.ties.clone();
        for subject in &self.subjects {
            match subject {
                Subject::Object { kind, namespace, name, pods } => {
                    ties.push(Tie::Workload(kind.clone(), namespace.clone(), name.clone()));
                    ties.extend(pods.iter().map(|pod| Tie::Pod(namespace.clone(), pod.clone())));
                }
                Subject::Node { node, .. } => ties.push(Tie::Node(node.clone())),
                Subject::Thing { .. } => {}
            }
        }
        ties.sort();
        ties.dedup();
        ties
    }
}
