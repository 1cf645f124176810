//! `defects.yaml`: known defects of Linkerd releases, with the range of releases and the trigger of each.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::file::KnowledgeFile;
use super::range::ReleaseRange;
use super::releases::Releases;
use crate::finding::Severity;
use crate::version::{Contains, LinkerdVersion, Minor, MinorTable};

/// A known defect.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KnownDefect {
    /// Name of the row.
    pub id: String,
    /// The component with the defect, such as `destination`.
    pub component: String,
    /// The component whose version decides.
    pub decides: Decides,
    range: ReleaseRange,
    /// A second range, of the control plane, that must also hold.
    with_control_plane: Option<ReleaseRange>,
    /// Severity of its findings.
    pub severity: Severity,
    /// A short description.
    pub title: String,
    /// The trigger and its consequence, as a clause.
    pub effect: String,
    /// The evidence that shows it. Without one, the row is only listed.
    #[serde(default)]
    pub trigger: DefectTrigger,
    /// A way to avoid the effect in an affected release, as a sentence.
    pub workaround: Option<String>,
    /// Issues and pull requests.
    pub references: Vec<String>,
    /// An object that triggers it.
    pub example: Option<serde_json::Value>,
    /// The same object without the trigger.
    pub fixed_example: Option<serde_json::Value>,
}

/// The component whose version decides whether a release is affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decides {
    /// The control plane.
    ControlPlane,
    /// The proxies.
    Proxy,
    /// The service mirrors of the multicluster extension.
    ServiceMirror,
}

impl Decides {
    /// Its name in findings and tables.
    pub fn label(self) -> &'static str {
        match self {
            Decides::ControlPlane => "control plane",
            Decides::Proxy => "proxy",
            Decides::ServiceMirror => "service mirror",
        }
    }
}

/// The evidence that shows a defect; at most one field is set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DefectTrigger {
    /// Objects.
    pub objects: Option<ObjectTrigger>,
    /// A row of `mesh-logs.yaml`.
    pub log: Option<String>,
    /// The end of a container.
    pub ended: Option<EndedTrigger>,
}

impl DefectTrigger {
    /// Whether a run can detect the defect.
    pub fn is_set(&self) -> bool {
        self.objects.is_some() || self.log.is_some() || self.ended.is_some()
    }
}

/// Objects for which an expression is true.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectTrigger {
    /// Their kinds, as resources with group.
    pub kinds: Vec<String>,
    /// They have one of these annotations; empty means any object.
    #[serde(default)]
    pub annotations: Vec<String>,
    /// The expression.
    pub expression: String,
    /// Path of the field to quote as evidence.
    pub path: String,
    /// Expression for the quoted text.
    pub quote: String,
}

/// A container that ended with one of these codes or reasons.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndedTrigger {
    /// Container name.
    pub container: String,
    /// Exit codes.
    #[serde(default)]
    pub codes: Vec<i32>,
    /// Reasons, such as `OOMKilled`.
    #[serde(default)]
    pub reasons: Vec<String>,
}

impl EndedTrigger {
    /// Whether a container ended like this.
    pub fn matches(&self, code: i32, reason: &str) -> bool {
        self.codes.contains(&code) || self.reasons.iter().any(|known| known == reason)
    }
}

impl KnownDefect {
    /// Whether a version of the deciding component has it.
    pub fn affects(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        self.range.covers(version, minors)
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
        match (self.range.from, self.range.until) {
            (Some(from), Some(until)) => format!("{from} to before {until}"),
            (Some(from), None) => format!("{from} and newer"),
            (None, Some(until)) => format!("before {until}"),
            (None, None) => "all releases".to_owned(),
        }
    }

    /// The first release without it: the edge, and the minor that it came with.
    pub fn fixed_in(&self, releases: &Releases) -> Option<String> {
        let edge = self.range.until?;
        let minor: Option<Minor> =
            releases.rows().iter().find(|row| row.opened_by >= edge).map(|row| row.minor);
        Some(match minor {
            Some(minor) => format!("{edge} ({minor})"),
            None => edge.to_string(),
        })
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
    const EMBEDDED: &'static str = include_str!("../../checks/knowledge/defects.yaml");

    fn finish(&mut self) -> Result<(), String> {
        if self.source.is_empty() {
            return Err("no source".to_owned());
        }
        let mut ids = BTreeSet::new();
        for row in &self.defects {
            let (id, trigger) = (&row.id, &row.trigger);
            if !ids.insert(id) {
                return Err(format!("{id} is listed twice"));
            }
            if row.title.is_empty() || row.effect.is_empty() {
                return Err(format!("{id}: needs a title and an effect"));
            }
            let triggers = [trigger.objects.is_some(), trigger.log.is_some(), trigger.ended.is_some()];
            if triggers.into_iter().filter(|set| *set).count() > 1 {
                return Err(format!("{id}: set only one of objects, log and ended"));
            }
            if trigger.objects.as_ref().is_some_and(|objects| objects.kinds.is_empty()) {
                return Err(format!("{id}: trigger.objects needs kinds"));
            }
            if trigger.ended.as_ref().is_some_and(|ended| ended.codes.is_empty() && ended.reasons.is_empty())
            {
                return Err(format!("{id}: trigger.ended needs codes or reasons"));
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
