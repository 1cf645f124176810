//! `chart-value-refused`: the chart cannot be rendered with these values.

use serde_yaml::Value;

use super::{BEFORE, ValuesOrigin, is_put_in};
use crate::chart::values_input::ValuesInput;
use crate::checks::prelude::*;
use crate::finding::{NewValue, ValueAction, ValueEdit};
use crate::knowledge::{Found, Refusal};
use crate::model::injection::low_memory;
use crate::model::quantity;
use crate::nearest::closest;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut findings: Vec<Finding> = Vec::new();
    for (of, given) in ValuesOrigin::passed_values(ctx)? {
        findings.extend(unreleased(ctx, &of));
        for rule in ctx.knowledge.charts().refusals(of.name, Some(of.edge)) {
            // A value that must be unset may be set in an input that could not be read.
            if given.partial && rule.when.values().any(|found| matches!(found, Found::Unset | Found::Kept)) {
                continue;
            }
            let within: Vec<&str> = match rule.within.is_empty() {
                true => vec![""],
                false => rule.within.iter().map(String::as_str).collect(),
            };
            findings.extend(within.into_iter().filter_map(|map| finding(ctx, &of, given, rule, map)));
        }
    }
    Ok(findings.into())
}

/// The finding for a chart of a release that does not exist.
fn unreleased(ctx: &Context<'_>, of: &ValuesOrigin<'_>) -> Option<Finding> {
    if !ctx.knowledge.releases().is_never_released(&of.release) {
        return None;
    }
    let message = format!(
        "the chart {} of {} does not exist, because Linkerd has no such release: it cannot be downloaded",
        of.name, of.release
    );
    let finding = ctx.finding(of.subject(), message).parameter("release").evidence(of.seen.clone());
    Some(ValuesOrigin::with_step(finding, "set the version of a release that exists".to_owned(), BEFORE))
}

fn finding(
    ctx: &Context<'_>,
    of: &ValuesOrigin<'_>,
    given: &ValuesInput,
    rule: &Refusal,
    map: &str,
) -> Option<Finding> {
    let path = |path: &str| if map.is_empty() { path.to_owned() } else { format!("{map}.{path}") };
    if !rule.when.iter().all(|(value, found)| holds(ctx, given, &path(value), *found, rule)) {
        return None;
    }
    let told: Vec<String> = rule.when.keys().map(|value| path(value)).filter(|path| given.at(path).is_some()).collect();
    let limits = rule.when.iter().filter(|(_, found)| **found == Found::Above);
    let limits = limits.filter_map(|(value, _)| Some(limit(given, rule, &path(value))?.0));
    let told: Vec<String> = told.into_iter().chain(limits).collect();
    let at = if map.is_empty() { String::new() } else { format!(" in {map}") };
    let (release, told_of) = (&of.release, told_of(given, rule, &path));
    let effect = rule.effect.as_deref().unwrap_or("the chart of RELEASE cannot be rendered");
    let effect = effect.replace("RELEASE", release.as_str());
    let message = format!("{effect} with {told_of}: {}", rule.why);
    let evidence = told.iter().filter_map(|path| {
        let (file, value) = given.at(path)?;
        Some(Evidence::field(&file.name, file.field(path), describe(value)))
    });
    let finding = ctx
        .finding(of.subject(), message)
        .parameter(rule.when.keys().map(|value| path(value)).collect::<Vec<_>>().join("+"))
        .evidences(evidence.collect::<Vec<_>>())
        .evidence(of.seen.clone());
    Some(ValuesOrigin::with_edits(finding, format!("{}{at}", rule.instead), edits(given, rule, path)))
}

/// The conditions as words: `proxy.uid 0`, `a and b without c`.
fn told_of(given: &ValuesInput, rule: &Refusal, path: &impl Fn(&str) -> String) -> String {
    let is_unset = |found: &Found| *found == Found::Unset;
    let value = |path: String, found: Found| match given.at(&path) {
        Some((_, value)) if found != Found::Set => format!("{path} {}", describe(value)),
        _ => path,
    };
    let of = |wanted: bool, join: &str| {
        let named = rule.when.iter().filter(|(_, found)| **found != Found::Kept);
        let some = named.filter(move |(_, found)| is_unset(found) == wanted);
        // The map is named once.
        let whole = |name: &String| if wanted && !rule.within.is_empty() { name.clone() } else { path(name) };
        some.map(|(name, found)| value(whole(name), *found)).collect::<Vec<_>>().join(join)
    };
    match (of(false, " and "), of(true, " or ")) {
        (set, unset) if unset.is_empty() => set,
        (set, unset) => format!("{set} without {unset}"),
    }
}

/// The edits of all files that set the value that must change; none if several values can.
fn edits(given: &ValuesInput, rule: &Refusal, path: impl Fn(&str) -> String) -> Vec<ValueEdit> {
    let mut edits = Vec::new();
    for file in &given.files {
        let mut edit = |value: &str, action: &dyn Fn(&Value) -> Option<ValueAction>| {
            let path = path(value);
            let action = file.at(&path).filter(|value| !value.is_null()).and_then(action);
            let keys: Vec<&str> = path.split('.').collect();
            edits.extend(action.and_then(|action| file.edit(&keys, action)));
        };
        if let Some(value) = &rule.remove {
            edit(value, &|_| Some(ValueAction::Remove));
        }
        let others = rule.when.iter().filter(|(_, found)| **found == Found::Other);
        for (value, _) in others {
            edit(value, &|old| {
                let near = closest(old.as_str()?, rule.words.iter().map(String::as_str))?;
                Some(ValueAction::Set(NewValue::Text(near.to_owned())))
            });
        }
        if let Some(word) = &rule.false_means {
            let new = || ValueAction::Set(NewValue::Text(word.clone()));
            rule.when.keys().for_each(|value| edit(value, &|old| (old.as_bool() == Some(false)).then(new)));
        }
    }
    edits
}

fn holds(ctx: &Context<'_>, given: &ValuesInput, path: &str, found: Found, rule: &Refusal) -> bool {
    let value = given.at(path).map(|(_, value)| value);
    match found {
        Found::Set => value.is_some_and(is_set),
        Found::Unset => !value.is_some_and(is_set),
        Found::No => value == Some(&Value::Bool(false)),
        Found::Other => value
            .filter(|value| !is_put_in(value))
            .is_some_and(|value| !value.as_str().is_some_and(|text| is_known(rule, text))),
        Found::Zero => value.is_some_and(|value| value.as_i64() == Some(0) || value.as_str() == Some("0")),
        Found::Low => value.and_then(text_of).is_some_and(|text| low_memory(&text).is_some()),
        Found::Unreleased => value
            .and_then(Value::as_str)
            .is_some_and(|text| text.parse().is_ok_and(|version| ctx.knowledge.releases().is_never_released(&version))),
        Found::Kept => value != Some(&Value::Bool(false)),
        Found::Above => amount(value)
            .zip(limit(given, rule, path))
            .is_some_and(|(request, (_, limit))| limit > 0.0 && request > limit),
    }
}

/// The path and the amount of the limit of a request.
fn limit(given: &ValuesInput, rule: &Refusal, path: &str) -> Option<(String, f64)> {
    let own = path.strip_suffix("request").map(|map| format!("{map}limit"))?;
    let of_others = rule.or_in.as_ref().and_then(|map| {
        let rest: Vec<&str> = own.rsplitn(3, '.').collect();
        let [limit, resource, _] = rest.as_slice() else { return None };
        Some(format!("{map}.{resource}.{limit}"))
    });
    let read = |path: String| Some((amount(given.at(&path).map(|(_, value)| value))?, path));
    read(own).or_else(|| read(of_others?)).map(|(amount, path)| (path, amount))
}

/// An amount of CPU or memory; `None` if it is not set or not valid.
fn amount(value: Option<&Value>) -> Option<f64> {
    quantity::read(&text_of(value?)?)
}

/// Whether a word is one of those that the rule accepts.
fn is_known(rule: &Refusal, text: &str) -> bool {
    rule.words.iter().any(|word| word == text || rule.any_case && word.eq_ignore_ascii_case(text))
}

/// A number or a text, as text.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// Whether a value is true in a template's `if`.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Sequence(list) => !list.is_empty(),
        Value::Mapping(map) => !map.is_empty(),
        Value::Tagged(_) => true,
    }
}

/// Describes a value without revealing secrets.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        // A mode or an address: secret values of these rules are longer.
        Value::String(text) if text.len() <= 40 && !text.contains("-----") => format!("{text:?}"),
        Value::String(_) => "a string".to_owned(),
        Value::Sequence(_) => "a list".to_owned(),
        Value::Mapping(_) | Value::Tagged(_) => "a map".to_owned(),
    }
}
