//! Answers of tools: a JSON document of bounded size. A list that is too long is answered in pages, and elements that
//! are too large on their own are shortened.

use std::collections::BTreeSet;

use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::exit;

/// Maximum size of an answer, in bytes of JSON.
const MOST: usize = 32 << 10;
/// Limits for lists and objects (elements) and texts (characters) of what is too large; the first that
/// suffices is used.
const LIMITS: [(usize, usize); 6] = [(100, 8000), (40, 4000), (15, 1500), (6, 600), (3, 200), (1, 80)];

/// The replacement of a value that no limit makes small enough.
pub(super) const TOO_LARGE: &str = "too large to show";

/// The answer of a tool.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolAnswer {
    /// The exit status of the command: 0 fine, 1 findings, 4 not checked.
    pub(super) status: u8,
    /// The meaning of the status.
    pub(super) meaning: String,
    /// Warnings, and evidence that is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    /// Identifies the report for the tools diff and coverage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) report: Option<String>,
    /// The part of the list in this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) page: Option<Page>,
    /// Lists and texts of which only the first part is in this answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) shortened: Vec<String>,
    /// The JSON document of the command; its schema is in the field schema.
    pub(super) document: Map<String, Value>,
}

/// A part of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    /// The list, as a path in the document.
    list: String,
    /// Index of the first element.
    from: usize,
    /// Number of elements in this answer.
    count: usize,
    /// Number of elements in the whole list.
    total: usize,
    /// Pass this to the tool next_page for the next elements; missing on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A complete result that answers are made from.
pub(super) struct Whole {
    /// Identifies the result in cursors.
    pub(super) id: String,
    /// Exit status of the command.
    pub(super) status: u8,
    /// Lines of its standard error.
    pub(super) notes: Vec<String>,
    /// Its document.
    pub(super) document: Map<String, Value>,
    /// The list to answer in pages, as a path of keys.
    pub(super) list: &'static [&'static str],
    /// Keys of the document that answers leave out.
    pub(super) without: &'static [&'static str],
    /// Whether the document is a report.
    pub(super) is_report: bool,
}

impl Whole {
    /// The answer with the elements of the list from this index on.
    pub(super) fn answer(&self, from: usize) -> ToolAnswer {
        let mut shortened = BTreeSet::new();
        let mut document = Value::Object(self.head());
        shorten(&mut document, MOST / 2, &mut shortened);
        let mut notes = Value::from(self.notes.clone());
        shorten(&mut notes, MOST / 8, &mut shortened);
        let used = size(&document) + size(&notes);
        let page = self.elements().map(|all| {
            let mut left = MOST.saturating_sub(used);
            let mut fitting = Vec::new();
            for element in all.iter().skip(from) {
                let length = size(element) + 1;
                if length > left && !fitting.is_empty() {
                    break;
                }
                let mut element = element.clone();
                shorten(&mut element, left, &mut shortened);
                left = left.saturating_sub(length);
                fitting.push(element);
            }
            let (count, total) = (fitting.len(), all.len());
            put(&mut document, self.list, fitting);
            let next = (from + count < total).then(|| format!("{}:{}", self.id, from + count));
            Page { list: self.list.join("."), from, count, total, next_cursor: next }
        });
        let notes = notes.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        let document = match document {
            Value::Object(document) => document,
            _ => Map::new(),
        };
        ToolAnswer {
            status: self.status,
            meaning: meaning(self.status).to_owned(),
            notes: notes.collect(),
            report: self.is_report.then(|| self.id.clone()),
            page,
            shortened: shortened.into_iter().collect(),
            document,
        }
    }

    /// The elements of the list, if the document has it.
    pub(super) fn elements(&self) -> Option<&Vec<Value>> {
        let (first, rest) = self.list.split_first()?;
        rest.iter().try_fold(self.document.get(*first)?, |value, key| value.get(key))?.as_array()
    }

    /// The document without the list and what answers leave out.
    fn head(&self) -> Map<String, Value> {
        let mut head = Map::new();
        for (key, value) in &self.document {
            if self.without.contains(&key.as_str()) {
                continue;
            }
            let value = match self.list {
                [list] if list == key => Value::Array(Vec::new()),
                [outer, list] if outer == key => {
                    let inner = value.as_object().into_iter().flatten().filter(|(key, _)| key != list);
                    Value::Object(inner.map(|(key, value)| (key.clone(), value.clone())).collect())
                }
                _ => value.clone(),
            };
            head.insert(key.clone(), value);
        }
        head
    }
}

fn meaning(status: u8) -> &'static str {
    match status {
        exit::FINE => "fine",
        exit::FINDINGS => "problems were found",
        exit::NOT_CHECKED => "not everything could be checked",
        _ => "the command had no result",
    }
}

fn put(document: &mut Value, list: &[&str], elements: Vec<Value>) {
    let Some((last, outer)) = list.split_last() else { return };
    let holder = outer.iter().try_fold(document, |value, key| value.get_mut(key));
    if let Some(Value::Object(holder)) = holder {
        holder.insert((*last).to_owned(), Value::Array(elements));
    }
}

/// Size of a value as JSON, in bytes.
fn size(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Writing to a counter cannot fail.
    _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// Shortens lists and texts of a value until it fits, and records which.
fn shorten(value: &mut Value, most: usize, shortened: &mut BTreeSet<String>) {
    for (elements, letters) in LIMITS {
        if size(value) <= most {
            return;
        }
        cut(value, "", (elements, letters), shortened);
    }
    if size(value) > most {
        *value = Value::from(TOO_LARGE);
    }
}

fn cut(value: &mut Value, path: &str, (elements, letters): (usize, usize), shortened: &mut BTreeSet<String>) {
    let mut note = |path: &str, kept: usize, all: usize, unit: &str| {
        let path = if path.is_empty() { "it" } else { path };
        shortened.insert(format!("{path}: {kept} of {all} {unit}"));
    };
    match value {
        Value::String(text) if text.len() > letters => {
            let all = text.chars().count();
            let mut kept: String = text.chars().take(letters).collect();
            if kept.len() < text.len() {
                note(path, letters, all, "characters");
                kept.push_str(" ...");
                *text = kept;
            }
        }
        Value::Array(all) => {
            if all.len() > elements {
                note(path, elements, all.len(), "elements");
                all.truncate(elements);
            }
            let path = format!("{path}[]");
            all.iter_mut().for_each(|value| cut(value, &path, (elements, letters), shortened));
        }
        Value::Object(all) => {
            // Objects with fixed fields stay whole; those that list names as keys are longer.
            let most = elements.max(40);
            if all.len() > most {
                note(path, most, all.len(), "keys");
                let kept = std::mem::take(all).into_iter().take(most);
                *all = kept.collect();
            }
            for (key, value) in all.iter_mut() {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                cut(value, &path, (elements, letters), shortened);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn whole(findings: Vec<Value>) -> Whole {
        let Value::Object(document) = json!({"schema": "x/1", "findings": findings, "checks": [1]}) else {
            unreachable!("an object")
        };
        Whole {
            id: "r1".to_owned(),
            status: 1,
            notes: Vec::new(),
            document,
            list: &["findings"],
            without: &["checks"],
            is_report: true,
        }
    }

    #[test]
    fn pages_cover_the_list_once_in_order() {
        let all: Vec<Value> = (0..500).map(|n| json!({"n": n, "text": "x".repeat(n)})).collect();
        let whole = whole(all.clone());
        let (mut seen, mut from, mut pages) = (Vec::new(), 0, 0);
        loop {
            let answer = whole.answer(from);
            assert!(serde_json::to_string(&answer).unwrap().len() < MOST + 1024);
            seen.extend(answer.document["findings"].as_array().unwrap().clone());
            pages += 1;
            let page = answer.page.unwrap();
            assert_eq!((page.from, page.total), (from, 500));
            let Some(cursor) = page.next_cursor else { break };
            from = cursor.strip_prefix("r1:").unwrap().parse().unwrap();
        }
        assert_eq!(seen, all);
        assert!(pages > 3, "{pages}");
    }

    #[test]
    fn element_that_alone_is_too_large_is_shortened_and_noted() {
        let subjects: Vec<Value> = (0..20_000).map(|n| json!({"name": format!("pod-{n}")})).collect();
        let whole = whole(vec![json!({"subjects": subjects, "message": "m"}), json!({"message": "next"})]);
        let answer = whole.answer(0);
        assert!(serde_json::to_string(&answer).unwrap().len() < MOST + 1024);
        assert_eq!(answer.document["findings"][0]["message"], "m");
        assert!(answer.shortened.iter().any(|note| note.contains("of 20000 elements")), "{:?}", answer.shortened);
    }

    #[test]
    fn letters_are_never_split() {
        let mut value = json!({"text": "ä".repeat(50_000)});
        shorten(&mut value, 1000, &mut BTreeSet::new());
        assert!(size(&value) <= 1000);
    }
}
