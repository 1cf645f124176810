//! What a check says: findings with subjects, evidence and remedy. Plain values; how they look is `render`'s business,
//! which of them count is `policy`'s, what causes what is `cause`'s.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::version::LinkerdVersion;

mod evidence;
mod remedy;
mod rows;
mod subject;
mod timeline;

pub use evidence::{Evidence, Place, Reference, Written};
pub use remedy::{Remedy, Step, StepKind};
pub use rows::FailedRows;
pub use subject::Subject;
pub use timeline::Moment;
pub(crate) use timeline::sorted as timeline_of;

/// How much harm a finding stands for. Ordered: `Info < Warning < Error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; never alone a reason to act.
    Info,
    /// Will bite under a named condition: an upgrade, a failover, an expiry, a setting that is silently ignored.
    Warning,
    /// Broken now, or the next pod start or restart on this state fails or runs outside the mesh.
    Error,
}

impl Severity {
    /// `error`, `warning` or `info`.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// In which world a finding is there, where a run rehearses an upgrade or a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Today; with an upgrade or without.
    #[default]
    Now,
    /// Today, and no more once the upgrade is done.
    UntilUpgrade,
    /// Once the upgrade is done.
    AfterUpgrade,
    /// Today, and no more once the change is made (`--with`).
    UntilChange,
    /// Once the change is made.
    AfterChange,
}

impl When {
    /// Whether it is not there today.
    pub fn begins(self) -> bool {
        matches!(self, When::AfterUpgrade | When::AfterChange)
    }

    /// Whether it is there today alone.
    pub fn ends(self) -> bool {
        matches!(self, When::UntilUpgrade | When::UntilChange)
    }
}

/// What a finding is to the gate of its run; filled in by the policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Standing {
    /// It fails nothing: it is below the gate, or the gate is on what a change brings in.
    #[default]
    Passes,
    /// It fails the run.
    Fails,
    /// It is accepted, by these waivers.
    Waived(Vec<WaivedBy>),
    /// It was in the baseline.
    InBaseline,
}

/// Who accepts a finding, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WaivedBy {
    /// Why.
    pub reason: String,
    /// Who answers for it.
    pub owner: String,
    /// The last day on which it holds.
    pub expires: String,
    /// The file that says so.
    pub file: String,
    /// Its line, from 1.
    pub line: u64,
}

impl WaivedBy {
    /// Where it stands: `waivers.yaml:7`, or the annotation of an object.
    pub fn place(&self) -> String {
        if self.line == 0 { self.file.clone() } else { format!("{}:{}", self.file, self.line) }
    }
}

/// Whether a finding was seen or inferred. Ordered: `Likely < Observed`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The evidence leaves another explanation open.
    #[default]
    Likely,
    /// The evidence shows it.
    Observed,
}

/// What ties findings together: a cause explains a symptom that shares one of its ties. Never shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tie {
    /// Everything in the cluster.
    Cluster,
    /// Whatever happens on a node.
    Node(String),
    /// A pod, by namespace and name.
    Pod(String, String),
    /// A workload: kind, namespace, name.
    Workload(String, String, String),
    /// Any other fact that a cause and its symptom both name: `iptables-mode`.
    Fact(String),
}

/// The first 16 hex digits of a SHA-256: which finding this is, the same in every run that finds it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub String);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Something wrong or worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The check that says so.
    pub check: &'static str,
    /// How much harm.
    pub severity: Severity,
    /// Seen or inferred.
    pub confidence: Confidence,
    /// What it is about; at least one.
    pub subjects: Vec<Subject>,
    /// What is wrong and why it matters, in a sentence that holds for every subject: no counts, no names of subjects.
    pub message: String,
    /// What proves it; at least one.
    pub evidence: Vec<Evidence>,
    /// What happened when, in order, where that is what explains it; else nothing.
    pub timeline: Vec<Moment>,
    /// What to do.
    pub remedy: Remedy,
    /// Parameters beside the subject that tell two findings of one check apart: a key, a signature id.
    pub parameters: Vec<String>,
    /// What ties it to causes or symptoms; the subjects' own ties are always added.
    pub ties: Vec<Tie>,
    /// It is there and not in effect, so it accounts for no symptom, whatever its card explains.
    pub explains_nothing: bool,
    /// What it is to `linkerd check`; read by the rows alone.
    pub rows: FailedRows,
    /// Whether its severity is that of what it explains; filled in by `cause`.
    pub raised: bool,
    /// The causes, filled in by `cause`.
    pub caused_by: Vec<Fingerprint>,
    /// What is to be repaired before it, the nearest only; filled in by `cause`.
    pub after: Vec<Fingerprint>,
    /// In which world it is there.
    pub when: When,
    /// The release on the way to the target with which it begins, where the upgrade goes by several and the target is not the first
    /// to bring it.
    pub begins_with: Option<LinkerdVersion>,
    /// What it is to the gate; filled in by the report.
    pub standing: Standing,
    /// Those of its subjects that are accepted, where not all are; filled in by the report.
    pub waived_in_part: Vec<(Subject, WaivedBy)>,
    /// Where its objects stand in the manifests that were given.
    pub written: Vec<Written>,
    /// What was found, in half a line that says it all to who knows the check: `edge-25.4.4; newest known edge-26.8.3`.
    /// Holds for every subject, like the message.
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
    /// What a check says of a subject: seen rather than inferred, and so far without evidence and remedy.
    pub fn new(
        check: &'static str,
        severity: Severity,
        subject: Subject,
        message: impl Into<String>,
    ) -> Finding {
        Finding {
            check,
            severity,
            confidence: Confidence::Observed,
            subjects: vec![subject],
            message: message.into(),
            evidence: Vec::new(),
            timeline: Vec::new(),
            remedy: Remedy::default(),
            parameters: Vec::new(),
            ties: Vec::new(),
            explains_nothing: false,
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

    /// Which finding this is: schema tag, check id, subjects and parameters; never message, counts, times or lines.
    pub fn fingerprint(&self) -> Fingerprint {
        if let Some(recorded) = &self.recorded {
            return recorded.finding.clone();
        }
        let mut subjects: Vec<String> = self.subjects.iter().map(Subject::stable).collect();
        subjects.sort();
        subjects.dedup();
        self.print_of(subjects)
    }

    /// Which trouble of one of its subjects this is: the same whatever else the finding is about, so that it stays when
    /// the other subjects are repaired. That of an only subject is the finding's own.
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

    /// The waivers that accept it; none where it is not accepted.
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

    /// Sets the severity, where it differs from the card's.
    pub fn severity(mut self, severity: Severity) -> Finding {
        self.severity = severity;
        self
    }

    /// Says that it is inferred.
    pub fn likely(mut self) -> Finding {
        self.confidence = Confidence::Likely;
        self
    }

    /// Adds a subject.
    pub fn subject(mut self, subject: Subject) -> Finding {
        self.subjects.push(subject);
        self
    }

    /// Says in half a line what was found; see [`Finding::fact`].
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

    /// Adds to what happened when; see [`Finding::timeline`].
    pub fn timeline(mut self, moments: impl IntoIterator<Item = Moment>) -> Finding {
        self.timeline.extend(moments);
        self.timeline = timeline::sorted(self.timeline);
        self
    }

    /// Says what to do.
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

    /// Says that it is not in effect; see [`Finding::explains_nothing`].
    pub fn explains_nothing(mut self) -> Finding {
        self.explains_nothing = true;
        self
    }

    /// Says which of the card's rows of `linkerd check` it fails, by description; none: the matter is one that command
    /// does not ask about.
    pub fn fails_rows(mut self, descriptions: impl IntoIterator<Item = &'static str>) -> Finding {
        self.rows.only(descriptions);
        self
    }

    /// Says how its rows of `linkerd check` fail, where that differs from its severity: that command asks of one moment, in
    /// which a pod that has just been made is not ready, and it waits before it says so.
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
