//! What to do about a finding, in typed steps.

use serde::{Deserialize, Serialize};

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
