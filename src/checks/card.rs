//! The card format: one Markdown file with the documentation of a check and its test cases. This file parses cards; it
//! runs nothing.
//!
//! A card has YAML front matter, prose sections in a fixed order, and a section `## Cases` with `### kind: title`
//! headings and fenced blocks, in an HTML fold. The file name is the id. Few commands need the cases, so they are
//! parsed separately.

mod cases;
mod expressed;
mod params;
mod proves;

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::finding::Severity;
use crate::item::Item;
use crate::markdown::{MarkdownError, Reader};
pub use cases::{Case, CaseKind};
pub use expressed::{ExpressedEvidence, ExpressedFix, ExpressedRule, ExpressedVariable};
pub use params::{Param, Shown, Unit, none_of_the_name};
pub use proves::Proves;

/// The prose sections, in order. `Cases` follows.
pub const SECTIONS: [&str; 4] = ["What it finds", "Why it matters", "How to fix", "What it cannot see"];

/// The documentation part of a card.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// The check's id: the file name without `.md`.
    pub id: String,
    /// The front matter.
    pub front: Front,
    /// The four prose sections, in the order of [`SECTIONS`].
    pub prose: [String; 4],
}

/// The front matter of a card.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Front {
    /// One line that describes the bad state.
    pub title: String,
    /// Maximum severity of its findings.
    pub severity: Severity,
    /// The category: the folder of the card.
    pub category: String,
    /// The first release with the check.
    pub since: String,
    /// Evidence without which the check cannot run.
    #[serde(default, deserialize_with = "items")]
    pub needs: BTreeSet<Item>,
    /// Optional evidence that makes results more precise.
    #[serde(default, deserialize_with = "items")]
    pub uses: BTreeSet<Item>,
    /// Requirement, evaluated before the rule.
    #[serde(default)]
    pub requires: Vec<Requirement>,
    /// The requirement, in words.
    #[serde(default)]
    pub applies: Option<String>,
    /// Former ids, and hint anchors of corresponding rows of `linkerd check`.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The rows of `linkerd check` that it covers.
    #[serde(default)]
    pub linkerd_check: Vec<RowName>,
    /// The stages at which it runs; by default after an installation.
    #[serde(default = "after_install")]
    pub modes: Vec<Mode>,
    /// Whether it also runs for the release of `--to`, as if the upgrade were done.
    #[serde(default)]
    pub rehearsed: bool,
    /// Whether infos about the target are also reported; not if they follow from every upgrade.
    #[serde(default = "yes")]
    pub rehearsed_infos: bool,
    /// The part of an upgrade in which findings that begin with it are repaired.
    #[serde(default)]
    pub part: Part,
    /// Whether its findings may resolve themselves while pods start; `--wait` waits for them.
    #[serde(default)]
    pub heals: bool,
    /// Whether its findings do harm only under a further condition, such as the failure of a pod. They come
    /// after findings of the same severity that do harm now.
    #[serde(default)]
    pub conditional: bool,
    /// Ids of checks whose findings it explains.
    #[serde(default)]
    pub explains: Vec<String>,
    /// Ids of checks whose findings are repaired after its own.
    #[serde(default)]
    pub before: Vec<String>,
    /// Parameters that an operator can set, by name.
    #[serde(default)]
    pub params: BTreeMap<String, Param>,
    /// How a test proves that its remedy repairs its cases.
    #[serde(default)]
    pub proves: Option<Proves>,
    /// Links to further documentation.
    #[serde(default)]
    pub references: Vec<String>,
    /// The rule, if it is an expression.
    #[serde(default)]
    pub rule: Option<ExpressedRule>,
}

/// A part of an upgrade.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Before the upgrade.
    #[default]
    Before,
    /// The Gateway API, if Linkerd does not install it.
    GatewayApi,
    /// The CLI and the CRDs.
    Crds,
    LinkerdCni,
    ControlPlane,
    Extensions,
    /// The Links of the multicluster extension.
    Links,
    /// The workloads.
    DataPlane,
    /// Rollback.
    WayBack,
}

impl Part {
    /// Whether its steps resolve the findings that begin with it.
    pub fn resolves_findings(self) -> bool {
        self == Part::Links
    }
}

/// Requirement for a check to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Requirement {
    /// Linkerd will be installed.
    BeforeInstallation,
    /// A control plane is installed, or will be.
    ControlPlane,
    /// The extension viz is installed.
    Viz,
    /// The extension jaeger is installed.
    Jaeger,
    /// The extension multicluster is installed.
    Multicluster,
    /// A Link exists.
    Links,
    /// A DaemonSet installs linkerd-cni, or node files exist that may call it. Fails only if both are known to be
    /// missing.
    LinkerdCni,
    /// A DaemonSet installs linkerd-cni, as far as known.
    LinkerdCniDaemonset,
    /// A DaemonSet installs linkerd-cni or the control plane uses it, as far as known.
    LinkerdCniInUse,
    /// The control plane uses linkerd-cni, as far as known.
    LinkerdCniReliedOn,
}

impl Requirement {
    /// The requirement, in words.
    pub fn words(self) -> &'static str {
        match self {
            Requirement::BeforeInstallation => "a planned installation (--pre)",
            Requirement::ControlPlane => "a control plane",
            Requirement::Viz => "the extension viz",
            Requirement::Jaeger => "the extension jaeger",
            Requirement::Multicluster => "the extension multicluster",
            Requirement::Links => "a Link",
            Requirement::LinkerdCni => "linkerd-cni, or files of nodes",
            Requirement::LinkerdCniDaemonset => "linkerd-cni",
            Requirement::LinkerdCniInUse => "linkerd-cni, installed or used by the control plane",
            Requirement::LinkerdCniReliedOn => "a control plane that uses linkerd-cni",
        }
    }
}

/// A row of `linkerd check`, identified by its texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowName {
    /// Anchor on Linkerd's troubleshooting page.
    pub anchor: String,
    /// Category of the row.
    pub category: String,
    /// Text of the row.
    pub description: String,
}

/// The stage at which checks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Linkerd is installed.
    #[default]
    Installed,
    /// Linkerd will be installed (`--pre`).
    Pre,
    /// The custom resource definitions are installed and the control plane will be (`--crds`).
    Crds,
    /// Linkerd is installed and will be upgraded (`--to`).
    Upgrade,
}

impl Mode {
    /// All stages.
    pub const ALL: [Mode; 4] = [Mode::Installed, Mode::Pre, Mode::Crds, Mode::Upgrade];

    /// Name in cards and reports.
    pub fn label(self) -> &'static str {
        match self {
            Mode::Installed => "installed",
            Mode::Pre => "pre",
            Mode::Crds => "crds",
            Mode::Upgrade => "upgrade",
        }
    }

    /// Whether checks of a stage run in this one: before an upgrade, all checks of an installed mesh also run.
    pub fn runs_in(self, of: &[Mode]) -> bool {
        of.contains(&self) || (self == Mode::Upgrade && of.contains(&Mode::Installed))
    }
}

fn yes() -> bool {
    true
}

fn after_install() -> Vec<Mode> {
    vec![Mode::Installed]
}

fn items<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<Item>, D::Error> {
    Vec::<String>::deserialize(deserializer)?
        .iter()
        .map(|text| Item::from_str(text).map_err(serde::de::Error::custom))
        .collect()
}

impl Front {
    /// Relation to `--to`, in words; empty if it runs only for the current state.
    pub fn with_an_upgrade(&self) -> Option<&'static str> {
        match (self.rehearsed, self.is_of_an_upgrade_alone()) {
            (true, _) => Some("also runs for the target of an upgrade (--to)"),
            (false, true) => Some("runs before an upgrade (--to)"),
            (false, false) => None,
        }
    }

    /// Relation to `--wait`, in words; empty if waiting does not help.
    pub fn with_waiting(&self) -> Option<&'static str> {
        self.heals.then_some("may resolve itself, so --wait waits for it")
    }

    /// Whether manifests can contain all needed evidence.
    pub fn judges_manifests(&self) -> bool {
        self.needs.iter().all(Item::is_in_manifests) && !self.requires.contains(&Requirement::BeforeInstallation)
    }

    /// Whether it runs only before an upgrade, so that its findings begin with that.
    pub fn is_of_an_upgrade_alone(&self) -> bool {
        self.modes == [Mode::Upgrade]
    }
}

impl Card {
    /// Its file in the repository.
    pub fn path(&self) -> String {
        format!("checks/{}/{}.md", self.front.category, self.id)
    }

    /// The file of its rule in the repository.
    pub fn rule_path(&self) -> String {
        format!("src/checks/{}/{}.rs", self.front.category, self.id).replace('-', "_")
    }

    /// Parses the front matter and the prose; ignores the rest.
    ///
    /// # Errors
    /// A syntax error, with file and line.
    pub fn parse(id: &str, text: &str) -> Result<Card, MarkdownError> {
        let (front, mut reader) = Reader::open::<Front>(id, text.lines().take_while(|line| *line != cases::HEADING))?;
        let mut prose: [String; 4] = Default::default();
        for (section, title) in prose.iter_mut().zip(SECTIONS) {
            reader.heading(&format!("## {title}"))?;
            *section = reader.prose();
        }
        match reader.line() {
            None => Ok(Card { id: id.to_owned(), front, prose }),
            Some(_) => reader.fail(format!("expected the heading {:?}", cases::HEADING)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::BlockKind;

    const CARD: &str = "---\ntitle: A thing is off\nseverity: error\ncategory: cni\nsince: 0.1.0\nneeds: [pods]\n---\n\
        ## What it finds\nThis.\n## Why it matters\nThat.\n## How to fix\nSo.\n## What it cannot see\nMuch.\n## Cases\n\
        ### fires: off\nBecause.\n```yaml cluster on=healthy\nkind: Pod\n```\n```json node=a \
        path=cni/net.d/x\n{}\n```\n\
        ```text expect\nerror\n```\n";

    #[test]
    fn card_is_parsed() {
        let card = Card::parse("thing-off", CARD).expect("it is a card");
        assert_eq!(card.front.needs.len(), 1);
        assert_eq!(card.prose[3], "Much.");
        let cases = Case::all("thing-off", CARD).expect("they are cases");
        assert_eq!(cases.len(), 1);
        assert_eq!(cases[0].reason, "Because.");
        assert_eq!(cases[0].expect, "error");
        assert_eq!(cases[0].blocks[0].content, BlockKind::Cluster { on: Some("healthy".to_owned()) });
    }

    #[test]
    fn error_names_its_line() {
        let broken = CARD.replace("## How to fix", "## How to mend");
        assert_eq!(Card::parse("x", &broken).map_err(|e| e.line), Err(12));
        let open = CARD.replace("error\n```", "error\n");
        assert!(Case::all("x", &open).is_err_and(|e| e.message.contains("never closed")));
        let none = CARD.replace("## Cases", "## Case");
        assert_eq!(Card::parse("x", &none).map_err(|e| e.line), Err(16));
        assert_eq!(Case::all("x", &none).map_err(|e| e.line), Err(28));
    }
}
