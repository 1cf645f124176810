//! A check: its card and its evaluation.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::expressed::Expressed;
use super::{Context, Judgement, Settings, expressed};
use crate::card::{Card, Case};

/// A row of the table: a card's text and the function that evaluates it.
pub struct Check {
    /// The id: the card's file name.
    pub id: &'static str,
    /// The card's text, embedded.
    pub text: &'static str,
    judge: Evaluation,
    parsed: &'static Parsed,
}

/// The parsed parts of a card, each parsed on first use. Cases are the largest part of a card, and a run
/// needs none.
#[derive(Default)]
pub struct Parsed {
    card: OnceLock<Card>,
    cases: OnceLock<Vec<Case>>,
}

impl Parsed {
    /// Nothing yet.
    pub const fn new() -> Parsed {
        Parsed { card: OnceLock::new(), cases: OnceLock::new() }
    }
}

impl From<Card> for Parsed {
    fn from(card: Card) -> Parsed {
        Parsed { card: OnceLock::from(card), cases: OnceLock::new() }
    }
}

/// How a check is evaluated.
enum Evaluation {
    /// By a built-in function.
    Written(fn(&Context<'_>) -> Judgement),
    /// By the CEL expression of its card, which is from this folder.
    Expressed(&'static Expressed, &'static str),
}

impl Check {
    /// A custom check.
    pub(super) fn expressed(
        id: &'static str,
        text: &'static str,
        (rule, from): (&'static Expressed, &'static str),
        parsed: &'static Parsed,
    ) -> Check {
        Check { id, text, judge: Evaluation::Expressed(rule, from), parsed }
    }

    /// Its rule, if that is a CEL expression.
    pub fn rule(&self) -> Option<&'static Expressed> {
        match self.judge {
            Evaluation::Written(_) => None,
            Evaluation::Expressed(rule, _) => Some(rule),
        }
    }

    /// Parses a parameter override; the value keeps the type that it has on the card.
    ///
    /// # Errors
    /// No such parameter exists, or the value is invalid; as text.
    pub fn parameter(&self, name: &str, written: &str) -> Result<serde_json::Value, String> {
        match self.judge {
            Evaluation::Written(_) => self.card().front.parameter(name, written),
            Evaluation::Expressed(rule, _) => rule.parameter(name, written),
        }
    }

    /// The effective parameters of a run, by name.
    pub fn parameters(&self, settings: &Settings) -> BTreeMap<String, serde_json::Value> {
        let own = self.card().front.parameters().into_iter();
        let mut held: BTreeMap<String, serde_json::Value> =
            own.map(|shown| (shown.name.to_owned(), shown.default)).collect();
        held.extend(settings.params.get(self.id).cloned().unwrap_or_default());
        held
    }

    /// The folder of a custom check.
    pub fn brought_from(&self) -> Option<&'static str> {
        match self.judge {
            Evaluation::Written(_) => None,
            Evaluation::Expressed(_, from) => Some(from),
        }
    }

    /// Whether it is a custom check.
    pub fn is_brought(&self) -> bool {
        self.rule().is_some()
    }

    pub(super) fn judge(&self, context: &Context<'_>) -> Judgement {
        match self.judge {
            Evaluation::Written(judge) => judge(context),
            Evaluation::Expressed(rule, _) => expressed::judge(context, rule),
        }
    }

    /// A row, as the macro `row!` writes it.
    pub const fn new(
        id: &'static str,
        text: &'static str,
        judge: fn(&Context<'_>) -> Judgement,
        parsed: &'static Parsed,
    ) -> Check {
        Check { id, text, judge: Evaluation::Written(judge), parsed }
    }

    /// The parsed card.
    ///
    /// # Panics
    /// If the embedded card is invalid, which a test excludes.
    pub fn card(&self) -> &Card {
        self.parsed
            .card
            .get_or_init(|| Card::parse(self.id, self.text).expect("every embedded card is parsed by a test"))
    }

    /// The cases of its card.
    ///
    /// # Panics
    /// If the embedded card is invalid, which a test excludes.
    pub fn cases(&self) -> &[Case] {
        self.parsed
            .cases
            .get_or_init(|| Case::all(self.id, self.text).expect("every embedded card is parsed by a test"))
    }
}

/// A row of a category's table: `row!("injection", "pod-missing-proxy", pod_missing_proxy)`.
macro_rules! row {
    ($category:literal, $id:literal, $module:ident) => {{
        static PARSED: $crate::checks::Parsed = $crate::checks::Parsed::new();
        $crate::checks::Check::new(
            $id,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../checks/", $category, "/", $id, ".md")),
            $module::judge,
            &PARSED,
        )
    }};
}
pub(crate) use row;
