//! `defects.yaml`: known defects of Linkerd releases, with the range of releases and the trigger of each.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::file::KnowledgeFile;
use super::range::ReleaseRange;
use super::releases::Releases;
use crate::finding::{Confidence, Severity};
use crate::version::{Channel, Contains, LinkerdVersion, Minor, MinorTable};

/// The last minor of 2.x with open-source stable releases.
const LAST_STABLE: u16 = 14;

/// A known defect. It has exactly one of `trigger`, `reported_by` and `unseen`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KnownDefect {
    /// Name of the row.
    pub id: String,
    /// The component with the defect, such as `destination`.
    pub component: String,
    /// The component whose version decides.
    pub decides: AffectedComponent,
    range: ReleaseRange,
    /// A second range, of the control plane, that must also hold.
    with_control_plane: Option<ReleaseRange>,
    /// Severity of its findings.
    pub severity: Severity,
    /// A short description.
    pub title: String,
    /// The trigger and its consequence, as a clause.
    pub effect: String,
    /// The evidence that shows it.
    pub trigger: Option<DefectTrigger>,
    /// The check that reports it instead.
    pub reported_by: Option<String>,
    /// The reason why the evidence does not show it, as a clause.
    pub unseen: Option<String>,
    /// Rows whose findings replace those of this row.
    #[serde(default)]
    pub unless: Vec<String>,
    /// The checks whose findings it explains, and which of them.
    #[serde(default)]
    pub explains: BTreeMap<String, Reach>,
    /// A way to avoid the effect in an affected release: sentences, each one step.
    pub workaround: Option<String>,
    /// The commands of these steps, in their order.
    #[serde(default)]
    pub workaround_commands: Vec<WorkaroundCommand>,
    /// New values of annotations, for the command `annotate`.
    #[serde(default)]
    pub corrected: BTreeMap<String, CorrectedAnnotation>,
    /// Issues and pull requests.
    pub references: Vec<String>,
    /// An object that triggers it.
    pub example: Option<serde_json::Value>,
    /// The same object without the trigger.
    pub fixed_example: Option<serde_json::Value>,
    /// Further objects that both examples need.
    #[serde(default)]
    pub example_context: Vec<serde_json::Value>,
}

/// The new value of an annotation. Without a field, the annotation is removed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorrectedAnnotation {
    /// A constant.
    set: Option<String>,
    /// The present value without this text.
    without: Option<String>,
}

impl CorrectedAnnotation {
    /// The new value; `None` removes the annotation.
    pub fn value(&self, present: &str) -> Option<String> {
        let without = self.without.as_ref().map(|text| present.replace(text.as_str(), ""));
        self.set.clone().or(without)
    }
}

/// The command of a step of a workaround.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkaroundCommand {
    /// Edits the object that triggers the defect.
    Edit,
    /// Sets the annotations of that object that the row corrects.
    Annotate,
    /// Writes the object that triggers the defect to a file.
    Keep,
    /// Applies that file.
    Apply,
    /// Deletes the object that triggers the defect.
    Delete,
    /// Shows the object of the event that triggers the defect. The step names it instead of "this object".
    Show,
    /// Restarts linkerd-destination.
    RestartDestination,
    /// Runs two replicas of linkerd-destination.
    ScaleDestination,
    /// The step has no command.
    None,
}

/// The findings of a check that a defect explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// Those about the object that triggers it.
    Object,
    /// Those about the Deployment of the control plane with the defect.
    Component,
    /// All.
    Mesh,
}

/// The component whose version decides whether a release is affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AffectedComponent {
    ControlPlane,
    Proxy,
    /// The service mirrors of the multicluster extension.
    ServiceMirror,
}

impl AffectedComponent {
    /// Its name in findings and tables.
    pub fn label(self) -> &'static str {
        match self {
            AffectedComponent::ControlPlane => "control plane",
            AffectedComponent::Proxy => "proxy",
            AffectedComponent::ServiceMirror => "service mirror",
        }
    }
}

/// Objects for which an expression is true.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DefectTrigger {
    /// Their kinds, as resources with group.
    pub kinds: Vec<String>,
    /// They have one of these annotations; empty means any object.
    #[serde(default)]
    pub annotations: Vec<String>,
    /// A kind whose objects the expression reads as `others`.
    pub with: Option<String>,
    /// Limits the row to some of the objects. It cannot read `others`, so it is cheap.
    #[serde(rename = "where")]
    pub only_where: Option<String>,
    pub expression: String,
    /// Path of the field to quote as evidence.
    #[serde(default)]
    pub path: String,
    /// Expression for the quoted text.
    pub quote: Option<String>,
    /// Text at which the quote of a long message starts.
    pub quote_from: Option<String>,
}

impl DefectTrigger {
    /// Whether the expression is about pods.
    pub fn reads_pods(&self) -> bool {
        self.kinds.iter().any(|kind| kind == "pods")
    }

    /// The text that the expression looks for in messages of events.
    pub fn message_text(&self) -> Option<&str> {
        let (_, rest) = self.expression.split_once("message.contains('")?;
        rest.split('\'').next()
    }

    /// The rows of `mesh-logs.yaml` that the expression names: `'ID' in reported`.
    pub fn log_rows(&self) -> impl Iterator<Item = &str> {
        let before = self.expression.split("' in reported");
        let count = self.expression.matches("' in reported").count();
        before.take(count).filter_map(|text| text.rsplit('\'').next())
    }
}

impl KnownDefect {
    /// The steps of the workaround, without full stops, each with its command.
    pub fn workaround_steps(&self) -> impl Iterator<Item = (&str, WorkaroundCommand)> {
        let sentences = self.workaround.iter().flat_map(|text| text.trim_end_matches('.').split(". "));
        let commands = self.workaround_commands.iter().copied();
        sentences.zip(commands.chain(std::iter::repeat(WorkaroundCommand::None)))
    }

    /// Whether a version of the deciding component surely has it; `None` if it surely does not, or if even the release
    /// that it is built from may not have it. A vendor's builds may contain fixes that are not public.
    pub fn affects(&self, version: &LinkerdVersion, minors: &MinorTable) -> Option<Confidence> {
        let is_public = match version.channel() {
            Channel::Edge | Channel::Stable => true,
            Channel::Unmarked => version.release().is_some_and(|release| release.minor <= LAST_STABLE),
            Channel::Enterprise | Channel::Preview | Channel::Dev | Channel::Git => false,
        };
        match (self.range.begun(version, minors), self.range.ended(version, minors)) {
            (Contains::Yes, Contains::No) if is_public => Some(Confidence::Observed),
            (Contains::Yes, Contains::No | Contains::Unknown) => Some(Confidence::Likely),
            (Contains::No | Contains::Unknown, _) | (_, Contains::Yes) => None,
        }
    }

    /// Whether a version is at or after the first release with it, with or without the fix.
    pub fn has_begun(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        self.range.begun(version, minors)
    }

    /// Whether a release has the fix.
    pub fn is_fixed(&self) -> bool {
        self.range.until.is_some()
    }

    /// Whether the control plane is in the second range. Always if the row has none.
    pub fn occurs_with(&self, control_plane: &LinkerdVersion, minors: &MinorTable) -> Contains {
        self.with_control_plane.as_ref().map_or(Contains::Yes, |range| range.covers(control_plane, minors))
    }

    /// Whether it depends on the control plane and on older proxies together.
    pub fn is_of_skew(&self) -> bool {
        self.with_control_plane.is_some()
    }

    /// The affected releases: `edge-24.3.3 to before edge-25.7.6`.
    pub fn releases(&self) -> String {
        self.range.to_string()
    }

    /// The first release without it: the edge, and the minor that it came with.
    pub fn fixed_in(&self, releases: &Releases) -> Option<String> {
        let edge = self.range.until?;
        let minor: Option<Minor> = releases.rows().iter().find(|row| row.opened_by >= edge).map(|row| row.minor);
        Some(match minor {
            Some(minor) => format!("{edge} ({minor})"),
            None => edge.to_string(),
        })
    }

    /// The first release without it in the channel of a version: `enterprise-2.19.0`, `edge-25.7.2 (2.19)`.
    pub fn fixed_for(&self, version: &LinkerdVersion, releases: &Releases) -> Option<String> {
        let edge = self.range.until?;
        let is_stable = version.release().is_some_and(|release| release.minor <= LAST_STABLE);
        if let Some(stable) = self.range.until_stable.filter(|_| is_stable) {
            return Some(format!("stable-{stable}"));
        }
        if version.channel() != Channel::Enterprise {
            return self.fixed_in(releases);
        }
        // An enterprise minor includes the edge that opened it.
        Some(match releases.rows().iter().find(|row| row.opened_by >= edge) {
            Some(row) => format!("enterprise-{}.0", row.minor),
            None => format!("the enterprise release that includes {edge}"),
        })
    }

    /// The Deployment of the control plane that runs the component, if it is one of it.
    pub fn deployment(&self) -> Option<&'static str> {
        match self.component.as_str() {
            "destination" | "policy-controller" => Some("linkerd-destination"),
            "proxy-injector" => Some("linkerd-proxy-injector"),
            "identity" => Some("linkerd-identity"),
            _ => None,
        }
    }

    /// The edges at the ends of its range.
    pub fn edges(&self) -> impl Iterator<Item = LinkerdVersion> {
        let second = self.with_control_plane.as_ref().and_then(|range| range.from);
        [second, self.range.from, self.range.until].into_iter().flatten().map(LinkerdVersion::from)
    }
}

/// The table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KnownDefects {
    source: String,
    date: jiff::civil::Date,
    defects: Vec<KnownDefect>,
}

impl KnownDefects {
    /// Every row, most important first.
    pub fn rows(&self) -> &[KnownDefect] {
        &self.defects
    }

    /// The row with an id.
    pub fn row(&self, id: &str) -> Option<&KnownDefect> {
        self.defects.iter().find(|row| row.id == id)
    }

    /// Source of the facts.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Date of the last review.
    pub fn date(&self) -> jiff::civil::Date {
        self.date
    }
}

impl KnowledgeFile for KnownDefects {
    const NAME: &'static str = "defects.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/defects.yaml");

    fn finish(&mut self) -> Result<(), String> {
        if self.source.is_empty() {
            return Err("no source".to_owned());
        }
        let mut ids = BTreeSet::new();
        for row in &self.defects {
            let known = |other: &&String| self.defects.iter().any(|row| row.id == **other);
            if let Some(other) = row.unless.iter().find(|other| !known(other)) {
                return Err(format!("{}: unless: no row has the id {other}", row.id));
            }
            let id = &row.id;
            if !ids.insert(id) {
                return Err(format!("{id} is listed twice"));
            }
            if row.title.is_empty() || row.effect.is_empty() {
                return Err(format!("{id}: needs a title and an effect"));
            }
            let kinds = [row.trigger.is_some(), row.reported_by.is_some(), row.unseen.is_some()];
            if kinds.into_iter().filter(|set| *set).count() != 1 {
                return Err(format!("{id}: set one of trigger, reported-by and unseen"));
            }
            if row.trigger.as_ref().is_some_and(|trigger| trigger.kinds.is_empty()) {
                return Err(format!("{id}: trigger needs kinds"));
            }
            if let (Some(from), Some(until)) = (row.range.from, row.range.until)
                && from >= until
            {
                return Err(format!("{id}: the range ends before it begins"));
            }
        }
        Ok(())
    }
}
