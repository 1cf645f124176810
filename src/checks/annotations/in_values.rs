//! Keys of Linkerd in the chart values of manifests. Most charts pass such values on as annotations of pods, so wrong
//! keys and values are likely without effect; only the rendered chart shows it.

use super::guess::{guess, is_of_windows};
use crate::chart::gitops::ValueKey;
use crate::checks::chart_values::is_put_in;
use crate::checks::prelude::*;
use crate::checks::words::sentence;
use crate::finding::{NewValue, ValueAction, ValueChange, ValueEdit};
use crate::knowledge::{Key, KeyKind, WrittenBy};
use crate::redact;

/// Longest value that a message quotes.
const QUOTED: usize = 40;

/// Findings about keys that no release knows.
pub(super) fn unknown(ctx: &Context<'_>) -> Vec<Finding> {
    let all = ctx.knowledge.annotations();
    // A null removes a default, or the key of a patched object.
    let is_removal = |one: &&ValueKey| matches!(one.value.as_deref(), Some("null" | "~"));
    let keys = checked(ctx).filter(|one| all.get(&one.key).is_none() && !is_removal(one));
    let findings = keys.map(|one| {
        let suggestion = all.suggest(&one.key, |row| row.set_by == WrittenBy::User);
        let row = suggestion.and_then(|suggestion| suggestion.key);
        let meant = match (row, all.not_a_key(&one.key)) {
            (Some(row), _) => format!(". Did you mean {}?", row.key),
            (None, Some(other)) => format!("; it is the {}", other.used_as),
            (None, None) => String::new(),
        };
        let message = format!("no release of Linkerd knows {}, so it has no effect{meant}", one.key);
        let mut remedy = Remedy::new();
        if let Some(advice) = suggestion.and_then(|suggestion| suggestion.advice) {
            remedy = remedy.note(format!("Note: {advice}"));
        }
        let remedy = match row {
            Some(row) => {
                let act = format!("Use {} instead, {BEFORE}", row.key);
                remedy.step(StepKind::ChartValue, act).value(renamed(ctx, one, row))
            }
            None => {
                let act = format!("Remove the unknown key, {BEFORE}");
                remedy.step(StepKind::ChartValue, act)
            }
        };
        finding(ctx, one, message).remedy(remedy)
    });
    findings.collect()
}

/// Findings about values that no release accepts.
pub(super) fn invalid(ctx: &Context<'_>) -> Vec<Finding> {
    let (all, minors) = (ctx.knowledge.annotations(), ctx.knowledge.minors());
    let findings = checked(ctx).filter_map(|one| {
        let row = all.get(&one.key)?;
        let value = one.value.as_deref().filter(|value| !is_set_elsewhere(value))?;
        if row.kind != KeyKind::Annotation || row.set_by != WrittenBy::User {
            return None;
        }
        let accepted = row.check_value(value, None, minors).err().filter(|_| !is_of_windows(&one.key, value))?;
        let said = match value.chars().count() <= QUOTED && !row.value.is_env_list() {
            true => format!("{}: {:?} is not valid", one.key, redact::text(value)),
            false => format!("{} has an invalid value", one.key),
        };
        let consequence = row.consequence(value);
        let message = format!("{said}, so {consequence}. {}", sentence(&accepted));
        let right = guess(row, value, None, minors);
        let act = match &right {
            Some(right) => format!("Set {}: {right:?}, {BEFORE}", one.key),
            None => format!("Set {} to one that is valid, {BEFORE}", one.key),
        };
        let edit = right.and_then(|right| {
            let set = |_: &[String]| ValueAction::Set(NewValue::Text(right));
            // The value of a JSON patch is next to the path.
            let beside = one.pointer.as_ref().and(one.edit.clone()).and_then(|(place, mut keys)| {
                *keys.last_mut()? = "value".to_owned();
                Some((place, keys))
            });
            edit(&ValueKey { edit: beside.or_else(|| one.edit.clone()), ..one.clone() }, set)
        });
        let remedy = Remedy::new().step(StepKind::ChartValue, act).value(edit);
        Some(finding(ctx, one, message).severity(Severity::Warning).remedy(remedy))
    });
    findings.collect()
}

/// The end of steps that correct values before they are applied.
const BEFORE: &str = "before it is applied";

/// The keys to check. A namespace of the command line selects objects, not charts.
fn checked<'a>(ctx: &Context<'a>) -> impl Iterator<Item = &'a ValueKey> {
    let is_limited = !ctx.settings.namespaces.is_empty();
    ctx.value_keys().iter().filter(move |_| !is_limited)
}

/// Whether a value is empty, or another tool replaces it.
fn is_set_elsewhere(value: &str) -> bool {
    matches!(value, "" | "null" | "~") || is_put_in(&serde_yaml::Value::String(value.to_owned()))
}

fn finding(ctx: &Context<'_>, one: &ValueKey, message: String) -> Finding {
    let subject = Subject::Thing { thing: format!("values in {}", one.object) };
    let value = one.value.as_deref().map_or_else(|| "not a text".into(), redact::text);
    let seen = Evidence::field(&one.object, &one.field, value);
    ctx.finding(subject, message).parameter(&one.field).evidence(seen).likely()
}

/// The edit of a value in its place, if that can be described.
fn edit(one: &ValueKey, act: impl FnOnce(&[String]) -> ValueAction) -> Option<ValueChange> {
    let (place, keys) = one.edit.clone()?;
    let action = act(&keys);
    ValueChange::new(vec![ValueEdit { place, keys, action }])
}

/// The edit that gives a value the right key, and a valid value if the intended one is known.
fn renamed(ctx: &Context<'_>, one: &ValueKey, row: &Key) -> Option<ValueChange> {
    let minors = ctx.knowledge.minors();
    // A label would need another place.
    if row.kind != KeyKind::Annotation {
        return None;
    }
    if let Some(above) = &one.pointer {
        let path = format!("{above}/{}", row.key.replace('~', "~0").replace('/', "~1"));
        return edit(one, |_| ValueAction::Set(NewValue::Text(path)));
    }
    let value = one.value.as_deref().filter(|value| !is_set_elsewhere(value));
    let wrong = value.filter(|value| row.check_value(value, None, minors).is_err());
    let right = wrong.and_then(|value| guess(row, value, None, minors)).map(NewValue::Text);
    edit(one, |keys| {
        let above = keys.iter().take(keys.len().saturating_sub(1)).cloned();
        ValueAction::Rename(above.chain([row.key.clone()]).collect(), right)
    })
}
