//! What a check says: findings with subjects, evidence and remedy. Plain values; how they look is `render`'s business,
//! which of them count is `policy`'s, what causes what is `cause`'s.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

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

/// Whether a finding was seen or inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The evidence leaves another explanation open.
    Likely,
    /// The evidence shows it.
    Observed,
}

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", untagged)]
pub enum Subject {
    /// A Kubernetes object, resolved to its owner: the Deployment rather than its 40 pods.
    Object {
        /// Its kind.
        kind: String,
        /// Its namespace; empty for cluster-scoped objects.
        #[serde(skip_serializing_if = "String::is_empty", default)]
        namespace: String,
        /// Its name.
        name: String,
        /// The pods of it that are meant, where it is about pods.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        pods: Vec<String>,
    },
    /// A node, or a place on it.
    Node {
        /// The node's name.
        node: String,
        /// The file on it.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The place in the file.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The line in the file, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
    },
    /// Something that is neither: the operator's CLI, the API server, the cluster as a whole.
    Thing {
        /// What it is: `linkerd CLI`, `cluster`.
        thing: String,
    },
}

impl Subject {
    /// An object.
    pub fn object(kind: impl fmt::Display, namespace: &str, name: &str) -> Subject {
        Subject::Object {
            kind: kind.to_string(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            pods: vec![],
        }
    }

    /// A node as a whole.
    pub fn node(node: &str) -> Subject {
        Subject::Node { node: node.to_owned(), file: None, path: None, line: None }
    }

    /// A place in a file of a node.
    pub fn file(node: &str, file: &str, path: &str, line: u32) -> Subject {
        Subject::Node {
            node: node.to_owned(),
            file: Some(file.to_owned()),
            path: Some(path.to_owned()),
            line: Some(line),
        }
    }

    /// Neither object nor node.
    pub fn thing(thing: &str) -> Subject {
        Subject::Thing { thing: thing.to_owned() }
    }

    /// What stays the same when the same trouble is seen again: no pods, no lines.
    fn stable(&self) -> String {
        match self {
            Subject::Object { kind, namespace, name, .. } => format!("object\0{kind}\0{namespace}\0{name}"),
            Subject::Node { node, file, path, .. } => {
                format!("node\0{node}\0{}\0{}", file.as_deref().unwrap_or(""), path.as_deref().unwrap_or(""))
            }
            Subject::Thing { thing } => format!("thing\0{thing}"),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Object { kind, namespace, name, .. } if namespace.is_empty() => {
                write!(f, "{kind} {name}")
            }
            Subject::Object { kind, namespace, name, .. } => write!(f, "{kind} {namespace}/{name}"),
            Subject::Node { node, file: None, .. } => write!(f, "{node}"),
            Subject::Node { node, file: Some(file), line, .. } => {
                write!(f, "{node}  {file}")?;
                line.map_or(Ok(()), |line| write!(f, ":{line}"))
            }
            Subject::Thing { thing } => f.write_str(thing),
        }
    }
}

/// Where a piece of evidence was seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "from")]
pub enum Place {
    /// A field of an object.
    Field {
        /// `Deployment shop/web`.
        object: String,
        /// `spec.template.metadata.annotations["linkerd.io/inject"]`.
        path: String,
    },
    /// A place in a file of a node.
    File {
        /// The node.
        node: String,
        /// The file's path on the node.
        file: String,
        /// JSON path, where the file is JSON.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// Line, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        /// Column, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        column: Option<u32>,
    },
    /// An Event.
    Event {
        /// What it is about: `Pod shop/web-5d9f`.
        object: String,
        /// Its reason.
        reason: String,
        /// How often it was seen.
        count: u32,
        /// When it was last seen.
        #[serde(skip_serializing_if = "Option::is_none")]
        last: Option<Timestamp>,
    },
    /// Something else that is named: `linkerd CLI`, `API server /version`, `node ip-10-0-1-12`.
    Other {
        /// Its name.
        name: String,
    },
}

/// An observed fact, quoted, with where it was seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Where.
    pub place: Place,
    /// What, quoted.
    pub said: String,
}

impl Evidence {
    /// A field of an object.
    pub fn field(object: impl fmt::Display, path: impl Into<String>, said: impl Into<String>) -> Evidence {
        Evidence { place: Place::Field { object: object.to_string(), path: path.into() }, said: said.into() }
    }

    /// Something that is neither field, file nor event.
    pub fn other(name: impl Into<String>, said: impl Into<String>) -> Evidence {
        Evidence { place: Place::Other { name: name.into() }, said: said.into() }
    }
}

/// What kind of act a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// A value of a Helm chart (or of the same setting of the CLI's install command).
    ChartValue,
    /// An annotation or label of an object.
    Annotation,
    /// An edit of a file on a node.
    NodeFile,
    /// A command.
    Command,
    /// An upgrade to a version.
    Upgrade,
    /// Something to decide or to look at.
    Note,
}

/// One step of a remedy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// What kind of act.
    pub kind: StepKind,
    /// What to do, starting with a verb.
    pub text: String,
    /// What to paste, if there is anything to paste. May have several lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// What to do, in order, and how to see that it worked.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remedy {
    /// The steps, in the order in which they must be done.
    pub steps: Vec<Step>,
    /// The command that verifies it.
    pub verify: String,
}

impl Remedy {
    /// An empty remedy whose success `verify` shows.
    pub fn verified_by(verify: impl Into<String>) -> Remedy {
        Remedy { steps: Vec::new(), verify: verify.into() }
    }

    /// Adds a step that is only words.
    pub fn step(mut self, kind: StepKind, text: impl Into<String>) -> Remedy {
        self.steps.push(Step { kind, text: text.into(), command: None });
        self
    }

    /// Adds a step with something to paste.
    pub fn run(mut self, kind: StepKind, text: impl Into<String>, command: impl Into<String>) -> Remedy {
        self.steps.push(Step { kind, text: text.into(), command: Some(command.into()) });
        self
    }
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
    /// What to do.
    pub remedy: Remedy,
    /// Parameters beside the subject that tell two findings of one check apart: a key, a signature id.
    pub parameters: Vec<String>,
    /// What ties it to causes or symptoms; the subjects' own ties are always added.
    pub ties: Vec<Tie>,
    /// It is there and not in effect, so it accounts for no symptom, whatever its card explains.
    pub explains_nothing: bool,
    /// The rows of `linkerd check`, by description, that it fails, where the card answers more than it fails; `None`: all
    /// that the card answers.
    pub rows: Option<Vec<&'static str>>,
    /// How its rows of `linkerd check` fail, where that differs from its severity: that command asks of one moment, in which
    /// a pod that has just been made is not ready, and it waits before it says so.
    pub rows_as: Option<Severity>,
    /// The causes, filled in by `cause`.
    pub caused_by: Vec<Fingerprint>,
}

impl Finding {
    /// Which finding this is: schema tag, check id, subjects and parameters; never message, counts, times or lines.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut subjects: Vec<String> = self.subjects.iter().map(Subject::stable).collect();
        subjects.sort();
        subjects.dedup();
        let mut hash = Sha256::new();
        hash.update(b"meshdoctor.finding/1\n");
        hash.update(self.check.as_bytes());
        for part in subjects.iter().chain(&self.parameters) {
            hash.update([b'\n']);
            hash.update(part.as_bytes());
        }
        Fingerprint(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
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
    /// does not ask about. See [`Finding::rows`].
    pub fn fails_rows(mut self, descriptions: impl IntoIterator<Item = &'static str>) -> Finding {
        self.rows = Some(descriptions.into_iter().collect());
        self
    }

    /// Says how its rows fail; see [`Finding::rows_as`].
    pub fn rows_as(mut self, severity: Severity) -> Finding {
        self.rows_as = Some(severity);
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
