//! The meaning of an annotation or label of Linkerd, with its value or without.

use super::{Explanation, TextKind};
use crate::knowledge::{Key, KeyKind, Knowledge, ReleaseRange, WrittenBy};

/// The meaning of `KEY`, `KEY: VALUE` or `KEY=VALUE`, as written in YAML, in JSON or for kubectl; `None` if the key is
/// not of Linkerd's domains.
pub(super) fn of_key(knowledge: &Knowledge, line: &str) -> Option<Explanation> {
    let (key, value) = parse(line)?;
    let known = knowledge.annotations();
    if let Some(row) = known.get(key) {
        return Some(of_known(knowledge, line, row, value));
    }
    if let Some(other) = known.not_a_key(key) {
        let means = format!("it is neither an annotation nor a label, but the {}", other.used_as);
        return Some(meaning(knowledge, TextKind::Phrase, (line, key), &means));
    }
    known.is_linkerds(key).then(|| of_unknown(knowledge, line, key))
}

fn parse(line: &str) -> Option<(&str, Option<&str>)> {
    let line = line.trim().trim_end_matches(',');
    let (key, value) = match line.split_once([':', '=']) {
        Some((key, value)) => (key, Some(unquoted(value)).filter(|value| !value.is_empty())),
        None => (line, None),
    };
    let key = unquoted(key);
    let is_key = key.chars().all(|c| c.is_ascii_alphanumeric() || "-._/".contains(c));
    (is_key && key.contains('/')).then_some((key, value))
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\'']).trim()
}

fn meaning(knowledge: &Knowledge, kind: TextKind, (line, key): (&str, &str), means: &str) -> Explanation {
    let next = match knowledge.native_sidecar().is_native_sidecar_family(key) {
        true => "check --only native-sidecar",
        false => "check --only annotations",
    };
    Explanation { next: Some(next), ..Explanation::new(kind, line, means, &[], format!("annotations.yaml: {key}")) }
}

fn of_known(knowledge: &Knowledge, line: &str, row: &Key, value: Option<&str>) -> Explanation {
    let value = value.filter(|_| row.set_by == WrittenBy::User).map(|value| Value::new(knowledge, row, value));
    let mut sentences = Vec::new();
    match &value {
        Some(Value { wrong: None, text }) => sentences.push(format!("{text} is an accepted value")),
        Some(Value { wrong: Some(wrong), text }) => {
            sentences.push(format!("{wrong} not accepted, so {}", row.consequence(text)));
        }
        None => {}
    }
    sentences.extend(row.effect.clone());
    let places: Vec<String> = row.scopes.iter().map(ToString::to_string).collect();
    let places = joined(&places, "or");
    sentences.push(match row.set_by {
        WrittenBy::User => format!("Linkerd reads it from {places}"),
        WrittenBy::Linkerd => format!("Linkerd itself writes it to {places}"),
    });
    let releases: Vec<String> = row.works.iter().map(in_words).collect();
    sentences.push(format!("It works in {}", releases.join("; ")));
    if let Some(range) = &row.inherited {
        sentences.push(format!("New pods take over the value of their namespace in {range}"));
    }
    let is_wrong = value.as_ref().is_some_and(|value| value.wrong.is_some());
    if row.set_by == WrittenBy::User && !is_wrong {
        sentences.push(format!("Values: {}", accepted(row)));
    }
    let note = row.note.as_deref().filter(|_| !is_wrong);
    sentences.extend(note.map(|note| note.trim_end_matches('.').to_owned()));
    let kind = match row.kind {
        KeyKind::Annotation => TextKind::Annotation,
        KeyKind::Label => TextKind::Label,
    };
    Explanation {
        remedy: match is_wrong {
            true => Some(format!("Write another value: {}", accepted(row))),
            false => successor(knowledge, row),
        },
        ..meaning(knowledge, kind, (line, &row.key), &sentences.join(". "))
    }
}

/// A value that a user wrote.
struct Value<'a> {
    text: &'a str,
    /// The part that is not accepted, with its verb.
    wrong: Option<String>,
}

impl<'a> Value<'a> {
    fn new(knowledge: &Knowledge, row: &Key, text: &'a str) -> Value<'a> {
        let is_wrong = |part: &str| row.check_value(part, None, knowledge.minors()).is_err();
        let parts: Vec<&str> = text.split(',').filter(|part| is_wrong(part)).collect();
        // Only a list has elements that are accepted alone.
        let is_of_list = !parts.is_empty() && parts.len() < text.split(',').count();
        let quoted: Vec<String> = parts.iter().map(|part| format!("{part:?}")).collect();
        let named = match (is_of_list, quoted.len()) {
            (false, _) => format!("{text} is"),
            (true, 1) => format!("{} is", quoted[0]),
            (true, _) => format!("{} are", joined(&quoted, "and")),
        };
        Value { text, wrong: is_wrong(text).then_some(named) }
    }
}

/// The accepted values, without the verb of a message.
fn accepted(row: &Key) -> String {
    let values = row.value.accepted();
    values.strip_prefix("expected ").map_or(values.clone(), str::to_owned)
}

/// `a`, `a or b`, `a, b or c`.
fn joined(all: &[String], word: &str) -> String {
    match all {
        [first @ .., last] if !first.is_empty() => format!("{} {word} {last}", first.join(", ")),
        all => all.concat(),
    }
}

fn successor(knowledge: &Knowledge, row: &Key) -> Option<String> {
    let name = row.successor.as_deref()?;
    let range = knowledge.annotations().get(name).and_then(|successor| successor.works.last());
    Some(match range {
        Some(range) => format!("Use {name} in {range}"),
        None => format!("Use {name}"),
    })
}

/// A range, and the condition within it.
fn in_words(range: &ReleaseRange) -> String {
    match &range.when {
        Some(when) => format!("{range}, when {when}"),
        None => range.to_string(),
    }
}

fn of_unknown(knowledge: &Knowledge, line: &str, key: &str) -> Explanation {
    let suggestion = knowledge.annotations().suggest(key, |row| row.set_by == WrittenBy::User);
    let meant = suggestion.and_then(|suggestion| suggestion.key);
    let advice = suggestion.and_then(|suggestion| suggestion.advice).map(str::to_owned);
    Explanation {
        remedy: meant.map(|row| format!("Write {}, if that is meant", row.key)).or(advice),
        ..meaning(
            knowledge,
            TextKind::Annotation,
            (line, key),
            "no release of Linkerd reads this key, so it has no effect",
        )
    }
}
