//! The remedy of a finding, as typed steps.

use serde::{Deserialize, Serialize};

use super::{ChartSettings, Forced, ListChange, ValueChange};
use crate::command::{Command, Connection};

/// The type of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// A value of a Helm chart (or of the same setting of the CLI's install command).
    ChartValue,
    /// An annotation or label of an object.
    Annotation,
    /// An edit of a file on a node.
    NodeFile,
    Command,
    /// An upgrade to a version.
    Upgrade,
    /// A decision or an inspection.
    Note,
}

/// The pods that a step creates again. Equal restarts of several findings are done once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Restarts {
    /// None, or it is unknown which.
    #[default]
    Nothing,
    /// The control plane's, without any other change.
    ControlPlane,
    /// The control plane's, because the step changes their template.
    ControlPlaneByUpgrade,
    /// All pods of the workloads in its command, without any other change.
    Workloads,
}

/// When a step applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Applies {
    /// In any case, after the steps before it.
    #[default]
    Always,
    /// Under a condition that the reader judges.
    Conditionally,
    /// Instead of the step before it.
    Instead,
    /// A decision before all other steps, also those of other findings.
    First,
    /// Not before something has happened that takes its time, such as the renewal of certificates.
    Later,
}

/// Words that begin a step that only applies in some cases.
const CONDITIONS: [&str; 10] =
    ["If ", "When ", "Once ", "Otherwise ", "Until ", "Unless ", "Before ", "After ", "With ", "To prevent "];

/// Words that begin a step that replaces the one before it.
const ALTERNATIVES: [&str; 3] = ["Or ", "Or, ", "Alternatively, "];

impl Applies {
    /// As the instruction states it.
    pub fn from_text(text: &str) -> Applies {
        if ALTERNATIVES.iter().any(|word| text.starts_with(word)) {
            return Applies::Instead;
        }
        let is_conditional = CONDITIONS.iter().any(|word| text.starts_with(word))
            || [", if ", ", once ", ", unless "].iter().any(|word| text.contains(word));
        if is_conditional { Applies::Conditionally } else { Applies::Always }
    }
}

/// One step of a remedy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// The type of the step.
    pub kind: StepKind,
    /// The instruction, starting with a verb.
    pub text: String,
    /// The command, if any.
    pub command: Option<Command>,
    /// The pods that it creates again.
    pub restarts: Restarts,
    /// When it applies.
    pub applies: Applies,
    /// An option of its command that is needed only until other pods are recreated.
    pub forced: Option<Box<Forced>>,
    /// The chart values that the reader sets in files, if the step has no command that sets them.
    pub settings: Option<Box<ChartSettings>>,
    /// The values of a chart that its command sets, if it sets all values anew or steps about them are combined.
    pub chart: Option<Box<ChartSettings>>,
    /// The list in an annotation that it changes.
    pub list: Option<Box<ListChange>>,
    /// The chart values that it changes in files.
    pub value: Option<Box<ValueChange>>,
}

impl Step {
    /// A step that applies as its text states, and creates no pods again.
    pub fn new(kind: StepKind, text: impl Into<String>, command: Option<Command>) -> Step {
        let text = text.into();
        let applies = Applies::from_text(&text);
        let restarts = Restarts::default();
        let (forced, settings, chart, list, value) = (None, None, None, None, None);
        Step { kind, text, command, restarts, applies, forced, settings, chart, list, value }
    }

    /// Its text for several workloads, if it recreates the pods of one.
    pub fn of_several(&self) -> String {
        match self.restarts {
            Restarts::Workloads if self.text.ends_with("the workload") => format!("{}s", self.text),
            Restarts::Workloads => ["the workload.", "the workload:", "the workload with"]
                .into_iter()
                .fold(self.text.clone(), |text, one| text.replace(one, &one.replace("workload", "workloads"))),
            Restarts::Nothing | Restarts::ControlPlane | Restarts::ControlPlaneByUpgrade => self.text.clone(),
        }
    }

    /// Whether the reader decides if and when to do it.
    pub fn is_conditional(&self) -> bool {
        self.applies != Applies::Always
    }

    /// Adds to its text, before the release of the linkerd CLI that its command requires.
    pub fn insert(&mut self, more: &str) {
        let at = self.without_requirement().len();
        self.text.insert_str(at, more);
    }

    /// Its text without the release of the linkerd CLI that its command requires.
    pub fn without_requirement(&self) -> &str {
        let release = self.command.as_ref().and_then(Command::required_cli);
        let of_release = |release| {
            let forms = [requirement(release), earlier_requirement(release)];
            forms.iter().find_map(|form| self.text.strip_suffix(form.as_str()))
        };
        release.and_then(of_release).unwrap_or(&self.text)
    }
}

fn requirement(release: &str) -> String {
    format!(" (needs linkerd CLI {release})")
}

/// The same as earlier versions wrote it, in saved reports.
fn earlier_requirement(release: &str) -> String {
    format!(" (does nothing without linkerd CLI {release})")
}

/// The instructions, in order, and how to verify them.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remedy {
    /// The steps, in the order in which they must be done.
    pub steps: Vec<Step>,
    /// Commands that verify the remedy. A rule adds only additional ones; the recheck on fresh evidence is
    /// added where the rule is evaluated.
    pub verify: Option<Command>,
}

impl Remedy {
    /// An empty remedy, verified by a recheck of the finding.
    pub fn new() -> Remedy {
        Remedy::default()
    }

    /// An empty remedy with a command, `shown`, that verifies it sooner than another run.
    pub fn verified_by(shown: impl Into<Command>) -> Remedy {
        Remedy::new().shown_by(shown)
    }

    /// Adds a command that verifies the remedy sooner than another run.
    pub fn shown_by(self, shown: impl Into<Command>) -> Remedy {
        Remedy { verify: Some(shown.into()), ..self }
    }

    /// Adds a step without a command.
    pub fn step(mut self, kind: StepKind, text: impl Into<String>) -> Remedy {
        self.steps.push(Step::new(kind, text, None));
        self
    }

    /// Adds a decision or an inspection.
    pub fn note(self, text: impl Into<String>) -> Remedy {
        self.step(StepKind::Note, text)
    }

    /// Adds a command to paste that is neither a chart value, an annotation nor an upgrade; see [`Remedy::run`].
    pub fn command(self, text: impl Into<String>, command: impl Into<Command>) -> Remedy {
        self.run(StepKind::Command, text, command)
    }

    /// Adds a step that is built elsewhere.
    pub fn with(mut self, step: Step) -> Remedy {
        self.steps.push(step);
        self
    }

    /// Adds a step with something to paste. Its text introduces the variables that the reader must set. If the
    /// command requires a release of the linkerd CLI, the step states it. A command with a redacted value would
    /// write the marker, so only the text remains.
    pub fn run(mut self, kind: StepKind, text: impl Into<String>, command: impl Into<Command>) -> Remedy {
        let (mut text, command) = (text.into(), command.into());
        if command.holds_redacted_value() {
            text.push_str(" (copy the value from the object: it is redacted here)");
            return self.step(kind, text);
        }
        let earlier: Vec<&str> = self.steps.iter().map(|step| step.text.as_str()).collect();
        text = command.introduced(&text, &earlier);
        // Some texts name it themselves.
        let named = |release: &&str| text.contains(&format!("linkerd CLI {release}"));
        if let Some(release) = command.required_cli().filter(|release| !named(release)) {
            text.push_str(&requirement(release));
        }
        self.steps.push(Step::new(kind, text, Some(command)));
        self
    }

    fn change_last(mut self, change: impl FnOnce(&mut Step)) -> Remedy {
        if let Some(last) = self.steps.last_mut() {
            change(last);
        }
        self
    }

    /// States that the last step must wait for something that takes its time.
    pub fn later(self) -> Remedy {
        self.change_last(|last| last.applies = Applies::Later)
    }

    /// States which pods the last step creates again.
    pub fn restarting(self, restarts: Restarts) -> Remedy {
        self.change_last(|last| last.restarts = restarts)
    }

    /// States which chart values the reader sets in the last step.
    pub fn settings(self, settings: Option<ChartSettings>) -> Remedy {
        self.change_last(|last| last.settings = settings.map(Box::new))
    }

    /// States which values of a chart the command of the last step sets.
    pub fn chart(self, chart: Option<ChartSettings>) -> Remedy {
        self.change_last(|last| last.chart = chart.map(Box::new))
    }

    /// States which list in an annotation the last step about annotations changes.
    pub fn list(mut self, change: ListChange) -> Remedy {
        let mut steps = self.steps.iter_mut().rev();
        if let Some(step) = steps.find(|step| step.kind == StepKind::Annotation) {
            step.list = Some(Box::new(change));
        }
        self
    }

    /// States which chart values the last step changes in files.
    pub fn value(self, change: Option<ValueChange>) -> Remedy {
        self.change_last(|last| last.value = change.map(Box::new))
    }

    /// States which option the command of the last step needs only for now.
    pub fn forced(self, forced: Option<Forced>) -> Remedy {
        self.change_last(|last| last.forced = forced.map(Box::new))
    }

    /// Its commands: those of the steps, then what verifies it.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.steps.iter().filter_map(|step| step.command.as_ref()).chain(&self.verify)
    }

    /// The remedy with the connection to the checked cluster.
    pub fn aimed(mut self, connection: &Connection) -> Remedy {
        let aim = |command: &mut Option<Command>| *command = command.take().map(|c| c.aimed(connection));
        for step in &mut self.steps {
            aim(&mut step.command);
            step.forced = step.forced.take().map(|forced| Box::new(forced.aimed(connection)));
        }
        aim(&mut self.verify);
        self
    }
}
