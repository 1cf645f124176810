//! What to do about a finding, in typed steps.

use serde::{Deserialize, Serialize};

use crate::command::{Command, Connection};

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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// What kind of act.
    pub kind: StepKind,
    /// What to do, starting with a verb.
    pub text: String,
    /// What to paste, if there is anything to paste.
    pub command: Option<Command>,
}

impl Step {
    /// Its words without the release of the linkerd CLI that its command requires.
    pub fn without_requirement(&self) -> &str {
        let release = self.command.as_ref().and_then(Command::required_cli);
        release.and_then(|release| self.text.strip_suffix(&requirement(release))).unwrap_or(&self.text)
    }
}

fn requirement(release: &str) -> String {
    format!(" (needs the linkerd CLI {release}; does nothing with another version)")
}

/// What to do, in order, and how to see that it worked.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remedy {
    /// The steps, in the order in which they must be done.
    pub steps: Vec<Step>,
    /// What verifies it. A rule names at most what else shows it; that the finding is judged again on fresh evidence is
    /// added where the rule is evaluated.
    pub verify: Option<Command>,
}

impl Remedy {
    /// An empty remedy. That the finding is judged again is what verifies it.
    pub fn new() -> Remedy {
        Remedy::default()
    }

    /// An empty remedy of which `shown` shows, sooner than another run, whether it worked.
    pub fn verified_by(shown: impl Into<Command>) -> Remedy {
        Remedy::new().shown_by(shown)
    }

    /// Adds what shows, sooner than another run, whether it worked.
    pub fn shown_by(self, shown: impl Into<Command>) -> Remedy {
        Remedy { verify: Some(shown.into()), ..self }
    }

    /// Adds a step that is only words.
    pub fn step(mut self, kind: StepKind, text: impl Into<String>) -> Remedy {
        self.steps.push(Step { kind, text: text.into(), command: None });
        self
    }

    /// Adds a step with something to paste. If the command requires a release of the linkerd CLI, the step states it.
    pub fn run(mut self, kind: StepKind, text: impl Into<String>, command: impl Into<Command>) -> Remedy {
        let (mut text, command) = (text.into(), command.into());
        if let Some(release) = command.required_cli() {
            text.push_str(&requirement(release));
        }
        self.steps.push(Step { kind, text, command: Some(command) });
        self
    }

    /// Its commands: those of the steps, then what verifies it.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.steps.iter().filter_map(|step| step.command.as_ref()).chain(&self.verify)
    }

    /// The same for the cluster that was judged.
    pub fn aimed(mut self, connection: &Connection) -> Remedy {
        let aim = |command: &mut Option<Command>| *command = command.take().map(|c| c.aimed(connection));
        self.steps.iter_mut().for_each(|step| aim(&mut step.command));
        aim(&mut self.verify);
        self
    }
}
