//! The card grammar: one markdown file says everything about a check that people read, and holds the cases that prove
//! it. This file parses cards; it knows no check and runs nothing.
//!
//! A card is YAML front matter, prose sections in a fixed order, and a `## Cases` section of `### kind: title` headings
//! with fenced blocks. The file name is the id. The cases are most of it and few commands ask for them, so they are read apart.

mod cases;
mod expressed;
mod params;

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::finding::Severity;
use crate::item::Item;
use crate::markdown::{MarkdownError, Reader};
pub use cases::{Case, CaseKind};
pub use expressed::{ExpressedEvidence, ExpressedFix, ExpressedRule, ExpressedVariable};
pub use params::{Param, Shown, Unit, none_of_the_name};

/// The prose sections, in order. `Cases` follows.
pub const SECTIONS: [&str; 4] = ["What it finds", "Why it matters", "How to fix", "What it cannot see"];

/// What people read of a card.
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
    /// One line that says the bad state.
    pub title: String,
    /// The highest severity its findings may have.
    pub severity: Severity,
    /// The category: the folder of the card.
    pub category: String,
    /// The release that first had it.
    pub since: String,
    /// Evidence without which the check cannot judge.
    #[serde(default, deserialize_with = "items")]
    pub needs: BTreeSet<Item>,
    /// Evidence that sharpens the judgement; without it the check still judges.
    #[serde(default, deserialize_with = "items")]
    pub uses: BTreeSet<Item>,
    /// What the question is asked of: judged before the rule.
    #[serde(default)]
    pub requires: Vec<Requirement>,
    /// To what it applies, in words.
    #[serde(default)]
    pub applies: Option<String>,
    /// Former ids, and the anchors of the rows of `linkerd check` that ask the same.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The rows of `linkerd check` that it answers.
    #[serde(default)]
    pub linkerd_check: Vec<RowName>,
    /// When it is judged: after an installation, unless the card says otherwise.
    #[serde(default = "after_install")]
    pub modes: Vec<Mode>,
    /// Whether it is judged of the release that `--to` names as well, as if the upgrade were done.
    #[serde(default)]
    pub rehearsed: bool,
    /// Whether what is only worth knowing of the target is told as well: not where it follows from every upgrade.
    #[serde(default = "yes")]
    pub rehearsed_infos: bool,
    /// The part of an upgrade in which to deal with what begins with that.
    #[serde(default)]
    pub part: Part,
    /// Whether what it finds may go by itself, while pods start and what depends on them follows: what `--wait` waits for.
    #[serde(default)]
    pub heals: bool,
    /// Ids of the symptoms that it accounts for.
    #[serde(default)]
    pub explains: Vec<String>,
    /// Ids of the checks whose findings are to be repaired after its own.
    #[serde(default)]
    pub before: Vec<String>,
    /// The figures that an operator may set anew, by name.
    #[serde(default)]
    pub params: BTreeMap<String, Param>,
    /// Where to read more.
    #[serde(default)]
    pub references: Vec<String>,
    /// The rule, where it is an expression.
    #[serde(default)]
    pub rule: Option<ExpressedRule>,
}

/// A part of an upgrade.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Before anything is upgraded.
    #[default]
    Before,
    /// The Gateway API, where it does not come with Linkerd.
    GatewayApi,
    /// The CLI and the CRDs.
    Crds,
    /// linkerd-cni.
    LinkerdCni,
    /// The control plane.
    ControlPlane,
    /// Its extensions.
    Extensions,
    /// The workloads.
    DataPlane,
    /// What is known of going back.
    WayBack,
}

/// What there has to be for a check to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Requirement {
    /// Linkerd is about to be installed.
    BeforeInstallation,
    /// A control plane is installed, or about to be.
    ControlPlane,
    /// The extension viz is installed.
    Viz,
    /// The extension jaeger is installed.
    Jaeger,
    /// The extension multicluster is installed.
    Multicluster,
    /// There is a Link.
    Links,
    /// A DaemonSet installs linkerd-cni, or there are files of nodes that may still call it. Fails only where neither is known
    /// to be.
    LinkerdCni,
    /// A DaemonSet installs linkerd-cni, as far as is known.
    LinkerdCniDaemonset,
    /// A DaemonSet installs linkerd-cni or the control plane relies on it, as far as is known.
    LinkerdCniInUse,
    /// The control plane relies on linkerd-cni, as far as is known.
    LinkerdCniReliedOn,
}

impl Requirement {
    /// What there has to be, in words.
    pub fn words(self) -> &'static str {
        match self {
            Requirement::BeforeInstallation => "an installation that is about to be (--pre)",
            Requirement::ControlPlane => "a control plane",
            Requirement::Viz => "the extension viz",
            Requirement::Jaeger => "the extension jaeger",
            Requirement::Multicluster => "the extension multicluster",
            Requirement::Links => "a Link",
            Requirement::LinkerdCni => "linkerd-cni, or files of nodes",
            Requirement::LinkerdCniDaemonset => "linkerd-cni",
            Requirement::LinkerdCniInUse => "linkerd-cni, installed or relied on",
            Requirement::LinkerdCniReliedOn => "a control plane that relies on linkerd-cni",
        }
    }
}

/// A row of `linkerd check`, by the only names it has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowName {
    /// Where Linkerd's troubleshooting page explains it.
    pub anchor: String,
    /// The category it is printed under.
    pub category: String,
    /// What it says.
    pub description: String,
}

/// The moment in the life of a mesh at which checks are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Linkerd is installed.
    #[default]
    Installed,
    /// Linkerd is about to be installed (`--pre`).
    Pre,
    /// The custom resource definitions are installed and the control plane is about to be (`--crds`).
    Crds,
    /// Linkerd is installed and about to be upgraded (`--to`).
    Upgrade,
}

impl Mode {
    /// Every one of them.
    pub const ALL: [Mode; 4] = [Mode::Installed, Mode::Pre, Mode::Crds, Mode::Upgrade];

    /// As cards and reports write it.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Installed => "installed",
            Mode::Pre => "pre",
            Mode::Crds => "crds",
            Mode::Upgrade => "upgrade",
        }
    }

    /// Whether checks of a moment are asked in this one: before an upgrade a mesh is asked all that an installed one is.
    pub fn asks(self, of: &[Mode]) -> bool {
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
    /// What `--to` has to do with it, in words; nothing where it is asked of today alone.
    pub fn with_an_upgrade(&self) -> Option<&'static str> {
        match (self.rehearsed, self.is_of_an_upgrade_alone()) {
            (true, _) => Some("asked of the target of an upgrade as well (--to)"),
            (false, true) => Some("asked before an upgrade (--to)"),
            (false, false) => None,
        }
    }

    /// What `--wait` has to do with it, in words; nothing where waiting does not help.
    pub fn with_waiting(&self) -> Option<&'static str> {
        self.heals.then_some("may go by itself, so it is waited for")
    }

    /// Whether manifests can hold everything that it needs.
    pub fn judges_manifests(&self) -> bool {
        self.needs.iter().all(Item::is_in_manifests)
            && !self.requires.contains(&Requirement::BeforeInstallation)
    }

    /// Whether it is asked before an upgrade and at no other moment, so that what it finds begins with that.
    pub fn is_of_an_upgrade_alone(&self) -> bool {
        self.modes == [Mode::Upgrade]
    }
}

impl Card {
    /// Reads the front matter and the prose; what comes behind them is not looked at.
    ///
    /// # Errors
    /// Anything that is not the grammar, with file and line.
    pub fn parse(id: &str, text: &str) -> Result<Card, MarkdownError> {
        let (front, mut reader) =
            Reader::open::<Front>(id, text.lines().take_while(|line| *line != cases::HEADING))?;
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
        ### fires: off\nBecause.\n```yaml cluster on=healthy\nkind: Pod\n```\n```json node=a path=cni/net.d/x\n{}\n```\n\
        ```text expect\nerror\n```\n";

    #[test]
    fn a_card_is_read() {
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
    fn what_is_wrong_is_named_with_its_line() {
        let broken = CARD.replace("## How to fix", "## How to mend");
        assert_eq!(Card::parse("x", &broken).map_err(|e| e.line), Err(12));
        let open = CARD.replace("error\n```", "error\n");
        assert!(Case::all("x", &open).is_err_and(|e| e.message.contains("never closed")));
        let none = CARD.replace("## Cases", "## Case");
        assert_eq!(Card::parse("x", &none).map_err(|e| e.line), Err(16));
        assert_eq!(Case::all("x", &none).map_err(|e| e.line), Err(28));
    }
}
