//! Custom checks: cards of users whose rule is a CEL expression, evaluated for each object of a kind. They
//! are registered once, before any check is selected, in the same table as the built-in ones.

mod bound;
mod rule;
mod written;

use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

use super::{Check, Parsed, all};
use crate::card::{Card, Case};
use crate::checks::prelude::*;
use crate::markdown::MarkdownError;
use crate::model::policy::POLICY_KINDS;
use crate::objects::is_built_in;
use rule::Rule;

/// The custom checks, in the order of category and id.
static BROUGHT: RwLock<Vec<&'static Check>> = RwLock::new(Vec::new());

/// The registered custom checks.
pub(super) fn custom_checks() -> Vec<&'static Check> {
    BROUGHT.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A card of a user, read and ready to be registered.
pub struct CustomCheck {
    card: Card,
    text: String,
    rule: Rule,
    from: String,
}

impl CustomCheck {
    /// Reads a card; `id` is the name of its file, `from` the folder given with `--checks`.
    ///
    /// # Errors
    /// It is not a valid card, has no rule or an invalid one, or its id is that of a built-in check.
    pub fn read(id: &str, text: &str, from: &str) -> Result<CustomCheck, MarkdownError> {
        let mut card = Card::parse(id, text)?;
        Case::all(id, text)?;
        let fail = |message: String| MarkdownError { file: format!("{id}.md"), line: 1, message };
        if !is_id(id) {
            return Err(fail(format!("{id:?} is not a valid id: use lower-case letters, digits and dashes")));
        }
        if let Some(other) = super::find(id) {
            let what = if other.rule().is_some() { "another card" } else { "a built-in check" };
            return Err(fail(format!("{what} already has the name {id}; rename this file")));
        }
        let Some(expressed) = card.front.rule.clone() else {
            return Err(fail("no rule: the front matter needs one, with for and rule".to_owned()));
        };
        if !card.front.params.is_empty() {
            return Err(fail("params of a CEL rule belong under it: rule.params".to_owned()));
        }
        let of_key = |key: &str, message: String| MarkdownError { line: line_of_key(text, key), ..fail(message) };
        if !is_release(&card.front.since) {
            let message = format!("since: {:?} is not a version of your checks, such as 0.1.0", card.front.since);
            return Err(of_key("since", message));
        }
        category(&card.front.category).map_err(|why| of_key("category", why))?;
        let at = |message: String| MarkdownError { line: line(text, &message), ..fail(message) };
        let rule = Rule::parse(&expressed).map_err(at)?;
        let known = |other: &String| super::find(other).is_some();
        if let Some(other) = card.front.explains.iter().chain(&card.front.before).find(|other| !known(other)) {
            let near = crate::nearest::closest(other, super::all().map(|check| check.id));
            let perhaps = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            let message = format!("explains and before take ids of checks, and no check has the id {other}{perhaps}");
            let line = text
                .lines()
                .take_while(|line| *line != "## What it finds")
                .position(|line| line.contains(other.as_str()));
            return Err(MarkdownError { line: line.map_or(1, |at| at + 1), ..fail(message) });
        }
        let whole = |item: &&Item| matches!(item, Item::List(Kind::Secret | Kind::ConfigMap));
        if let Some(item) = card.front.needs.iter().chain(&card.front.uses).find(whole) {
            let line = text.lines().position(|line| line.starts_with("needs:") || line.starts_with("uses:"));
            let message = format!("needs and uses: custom checks cannot use all {item} of a cluster");
            return Err(MarkdownError { line: line.map_or(1, |at| at + 1), ..fail(message) });
        }
        card.front.needs.insert(Item::List(rule.kind));
        card.front.uses.extend(uses());
        if !is_built_in(rule.kind) {
            card.front.uses.insert(Item::List(Kind::CustomResourceDefinition));
        }
        if rule.calls("policy") {
            card.front.uses.extend(policy_uses());
        }
        card.front.uses.remove(&Item::List(rule.kind));
        Ok(CustomCheck { card, text: text.to_owned(), rule, from: from.to_owned() })
    }

    /// Registers the check for the lifetime of the process.
    pub fn register(self) -> &'static Check {
        let id: &'static str = Box::leak(self.card.id.clone().into_boxed_str());
        let parsed: &'static Parsed = Box::leak(Box::new(Parsed::from(self.card)));
        let text: &'static str = Box::leak(self.text.into_boxed_str());
        let from: &'static str = Box::leak(self.from.into_boxed_str());
        let rule: &'static Rule = Box::leak(Box::new(self.rule));
        let check: &'static Check = Box::leak(Box::new(Check::expressed(id, text, (rule, from), parsed)));
        let mut brought = BROUGHT.write().unwrap_or_else(PoisonError::into_inner);
        brought.push(check);
        brought.sort_by(|a, b| {
            let key = |check: &Check| (check.card().front.category.clone(), check.id);
            key(a).cmp(&key(b))
        });
        check
    }
}

/// The kinds whose objects are kept in full, because a check's expression reads them.
pub fn whole_kinds() -> BTreeSet<Kind> {
    all().filter_map(|check| check.rule().map(|rule| rule.kind)).collect()
}

/// The evidence behind the variables and functions of an expression.
fn uses() -> BTreeSet<Item> {
    let config = Item::named(Kind::ConfigMap, Scope::ControlPlane, "linkerd-config");
    [
        Item::List(Kind::Namespace),
        Item::List(Kind::Deployment),
        Item::List(Kind::ReplicaSet),
        Item::List(Kind::Job),
        Item::List(Kind::MutatingWebhookConfiguration),
        Item::ServerVersion,
        config,
    ]
    .into()
}

/// The evidence behind the policy of ports.
fn policy_uses() -> impl Iterator<Item = Item> {
    let others = [Kind::Pod, Kind::StatefulSet, Kind::DaemonSet, Kind::CronJob, Kind::CustomResourceDefinition];
    others.into_iter().chain(POLICY_KINDS).map(Item::List)
}

/// The front-matter line that a message refers to: `rule.where: ...`, `rule.evidence[1]: ...`.
fn line(text: &str, message: &str) -> usize {
    let place = message.split(": ").next().unwrap_or_default();
    let Some(part) = place.strip_prefix("rule.") else { return line_of_key(text, "rule") };
    let end = part.find(['.', '[']).unwrap_or(part.len());
    let (key, rest) = part.split_at(end);
    let mut lines = text.lines().enumerate().skip(1).take_while(|(_, line)| *line != "---");
    let begins = |line: &str| line.trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
    let Some((at, _)) = lines.find(|(_, line)| line.starts_with(' ') && begins(line)) else {
        return line_of_key(text, "rule");
    };
    let found = if let Some(item) = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let mut within: Option<usize> = None;
        let mut items = lines.filter(|(_, line)| {
            let depth = line.len() - line.trim_start().len();
            line.trim_start().starts_with("- ") && *within.get_or_insert(depth) == depth
        });
        item.parse().ok().and_then(|item| items.nth(item))
    } else {
        let is_name = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let named = format!("name: {}", rest.trim_start_matches('.'));
        lines.find(|(_, line)| !rest.is_empty() && line.split_once(&named).is_some_and(|(_, after)| is_name(after)))
    };
    found.map_or(at, |(at, _)| at) + 1
}

/// The line of a front-matter key; the first line if it is not found.
fn line_of_key(text: &str, key: &str) -> usize {
    let is = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
    text.lines().position(is).map_or(1, |at| at + 1)
}

/// Whether it is a version: `0.1.0`, `2`, `1.4.0-rc.1`.
fn is_release(text: &str) -> bool {
    let numbers = text.split_once('-').map_or(text, |(numbers, _)| numbers);
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    numbers.strip_prefix('v').unwrap_or(numbers).split('.').all(is_number)
}

/// Whether a word is a valid category: not ambiguous in `--only`, and not close to an existing one.
fn category(word: &str) -> Result<(), String> {
    if !is_id(word) {
        return Err(format!(
            "category: {word:?} is not a valid category: use lower-case letters, digits and dashes, such \
             as yours"
        ));
    }
    if super::find(word).is_some() {
        return Err(format!("category: {word} is the name of a check; choose another word"));
    }
    let ours: BTreeSet<&str> =
        all().filter(|check| check.rule().is_none()).map(|check| check.card().front.category.as_str()).collect();
    let slip = |known: &&&str| strsim::osa_distance(word, known) <= 2 && word.len() > 3;
    match ours.iter().filter(|known| **known != word).find(slip) {
        Some(near) if !ours.contains(word) => {
            Err(format!("category: no category has the name {word}; did you mean {near}?"))
        }
        _ => Ok(()),
    }
}

fn is_id(id: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    id.split('-').all(is_part)
}

pub(super) use rule::{Rule as Expressed, judge};
