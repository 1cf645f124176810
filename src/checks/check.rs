//! A check: its card, and how it judges.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::expressed::Expressed;
use super::{Context, Judgement, Settings, expressed};
use crate::card::{Card, Case};

/// A row of the table: a card's text and the function that judges.
pub struct Check {
    /// The id: the card's file name.
    pub id: &'static str,
    /// The card's text, embedded.
    pub text: &'static str,
    judge: Rule,
    parsed: &'static Parsed,
}

/// What was read of a card: each part once, when it is asked for. Cases are most of a card, and a run asks for none.
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

/// How a check judges.
enum Rule {
    /// By a function of ours.
    Written(fn(&Context<'_>) -> Judgement),
    /// By an expression of its card, which is from this folder.
    Expressed(&'static Expressed, &'static str),
}

impl Check {
    /// A check that a user brought.
    pub(super) fn expressed(
        id: &'static str,
        text: &'static str,
        (rule, from): (&'static Expressed, &'static str),
        parsed: &'static Parsed,
    ) -> Check {
        Check { id, text, judge: Rule::Expressed(rule, from), parsed }
    }

    /// Its rule, where that is an expression.
    pub fn rule(&self) -> Option<&'static Expressed> {
        match self.judge {
            Rule::Written(_) => None,
            Rule::Expressed(rule, _) => Some(rule),
        }
    }

    /// A parameter as it is set, from what was written for it; it stays of the kind that it has on the card.
    ///
    /// # Errors
    /// There is none of that name, or the value cannot be one; in words.
    pub fn parameter(&self, name: &str, written: &str) -> Result<serde_json::Value, String> {
        match self.judge {
            Rule::Written(_) => self.card().front.parameter(name, written),
            Rule::Expressed(rule, _) => rule.parameter(name, written),
        }
    }

    /// The parameters that hold in a run, by name.
    pub fn parameters(&self, settings: &Settings) -> BTreeMap<String, serde_json::Value> {
        let own = self.card().front.parameters().into_iter();
        let mut held: BTreeMap<String, serde_json::Value> =
            own.map(|shown| (shown.name.to_owned(), shown.default)).collect();
        held.extend(settings.params.get(self.id).cloned().unwrap_or_default());
        held
    }

    /// The folder that a user brought it from.
    pub fn brought_from(&self) -> Option<&'static str> {
        match self.judge {
            Rule::Written(_) => None,
            Rule::Expressed(_, from) => Some(from),
        }
    }

    /// Whether a user brought it.
    pub fn is_brought(&self) -> bool {
        self.rule().is_some()
    }

    pub(super) fn judge(&self, context: &Context<'_>) -> Judgement {
        match self.judge {
            Rule::Written(judge) => judge(context),
            Rule::Expressed(rule, _) => expressed::judge(context, rule),
        }
    }

    /// A row, as the macro `row!` writes it.
    pub const fn new(
        id: &'static str,
        text: &'static str,
        judge: fn(&Context<'_>) -> Judgement,
        parsed: &'static Parsed,
    ) -> Check {
        Check { id, text, judge: Rule::Written(judge), parsed }
    }

    /// The parsed card.
    ///
    /// # Panics
    /// If the embedded card is not one, which a test rules out.
    pub fn card(&self) -> &Card {
        self.parsed
            .card
            .get_or_init(|| Card::parse(self.id, self.text).expect("every embedded card is parsed by a test"))
    }

    /// The cases of its card.
    ///
    /// # Panics
    /// If the embedded card is not one, which a test rules out.
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
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/", $category, "/", $id, ".md")),
            $module::judge,
            &PARSED,
        )
    }};
}
pub(crate) use row;
