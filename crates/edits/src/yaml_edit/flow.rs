//! Edits of maps and lists in braces and brackets, as in JSON: entries are added and removed one by one, so
//! that the rest keeps its lines, quotes and comments.

use std::ops::Range;

use serde_json::{Map, Value};

use super::layout::{Entry, TextNode};
use super::{Editor, scalar};

/// An entry to write: in JSON, or as YAML.
fn written(key: Option<&str>, value: &Value, is_json: bool) -> String {
    let (key, value) = match is_json {
        true => (key.map(|key| Value::from(key).to_string()), in_json(value)),
        false => (key.map(scalar::key), scalar::flow(value)),
    };
    key.map_or_else(|| value.clone(), |key| format!("{key}: {value}"))
}

/// JSON in one line, with spaces behind colons and commas.
pub(super) fn in_json(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), in_json(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(in_json).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}

impl Editor<'_> {
    /// Whether a collection is written as JSON.
    fn is_json(&self, node: &TextNode) -> bool {
        let text = &self.text[node.range()];
        self.is_json || text.contains('"') && serde_json::from_str::<Value>(text).is_ok()
    }

    pub(super) fn flow_map(
        &mut self,
        node: &TextNode,
        entries: &[Entry],
        before: &Map<String, Value>,
        after: &Map<String, Value>,
    ) -> Result<(), String> {
        let is_json = self.is_json(node);
        let mut added: Vec<(&String, &Value)> = after.iter().filter(|(key, _)| !before.contains_key(*key)).collect();
        let mut gone = vec![false; entries.len()];
        for (entry, gone) in entries.iter().zip(&mut gone) {
            match (before.get(&entry.key), after.get(&entry.key)) {
                (Some(old), Some(new)) => self.flow_value(&entry.value, old, new, is_json)?,
                // A key with the same value is the corrected name.
                (Some(old), None) => match added.iter().position(|(_, new)| *new == old) {
                    Some(at) => {
                        let (key, _) = added.remove(at);
                        let key = if is_json { Value::from(key.as_str()).to_string() } else { scalar::key(key) };
                        self.edits.push((self.key_of(entry), key));
                    }
                    None => *gone = true,
                },
                (None, _) => {}
            }
        }
        let spans: Vec<Range<usize>> = entries.iter().map(|entry| entry.start..entry.end()).collect();
        let added: Vec<String> = added.into_iter().map(|(key, value)| written(Some(key), value, is_json)).collect();
        self.spans(node, &spans, &gone, spans.len(), &added)
    }

    /// The new value of an entry or item.
    fn flow_value(&mut self, node: &TextNode, old: &Value, new: &Value, is_json: bool) -> Result<(), String> {
        if old == new {
            return Ok(());
        }
        let is_same_kind = old.is_object() && new.is_object() || old.is_array() && new.is_array();
        let is_scalar = |value: &Value| !value.is_object() && !value.is_array();
        if is_same_kind || is_scalar(old) && is_scalar(new) && !is_json {
            return self.node(node, old, new);
        }
        let text = &self.text[node.range()];
        if text.is_empty() || text.contains('\n') || text.contains('#') && !is_scalar(old) {
            return Err("a value in braces changes its type".to_owned());
        }
        self.edits.push((node.range(), written(None, new, is_json)));
        Ok(())
    }

    pub(super) fn flow_list(
        &mut self,
        node: &TextNode,
        items: &[TextNode],
        before: &[Value],
        after: &[Value],
        same: (usize, usize),
    ) -> Result<(), String> {
        let (prefix, suffix) = same;
        let is_json = self.is_json(node);
        let gone: Vec<bool> = (0..items.len()).map(|at| at >= prefix && at < before.len() - suffix).collect();
        let spans: Vec<Range<usize>> = items.iter().map(TextNode::range).collect();
        let added = &after[prefix..after.len() - suffix];
        let added: Vec<String> = added.iter().map(|value| written(None, value, is_json)).collect();
        self.spans(node, &spans, &gone, prefix, &added)
    }

    /// Removes parts of a collection, and adds others behind the first `at` parts.
    fn spans(
        &mut self,
        node: &TextNode,
        spans: &[Range<usize>],
        gone: &[bool],
        at: usize,
        added: &[String],
    ) -> Result<(), String> {
        let kept = gone.iter().rposition(|gone| !gone).map_or(0, |last| last + 1);
        for (at, span) in spans.iter().enumerate().take(kept).filter(|(at, _)| gone[*at]) {
            self.cut(span.start..spans[at + 1].start, span)?;
        }
        if let (Some(first), Some(last)) = (spans.get(kept), spans.last()) {
            let from = if kept == 0 { first.start } else { spans[kept - 1].end };
            self.cut(from..last.end, &(first.start..last.end))?;
        }
        if added.is_empty() {
            return Ok(());
        }
        let before = (0..at.min(spans.len())).rev().find(|at| !gone[*at]);
        let Some(before) = before else {
            let end = if kept > 0 { ", " } else { "" };
            self.edits.push((node.start + 1..node.start + 1, format!("{}{end}", added.join(", "))));
            return Ok(());
        };
        let Range { start, end } = spans[before];
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let indent = &self.text[line..start];
        if !indent.trim().is_empty() || line < node.start {
            self.edits.push((end..end, format!(", {}", added.join(", "))));
            return Ok(());
        }
        // Each part has a line of its own, and keeps the comment at its end.
        let separator = format!(",\n{indent}");
        let eol = self.text[end..].find('\n').map_or(self.text.len(), |at| end + at);
        match super::comments::behind(self.text, end).is_some() && before + 1 == spans.len() {
            false => self.edits.push((end..end, format!("{separator}{}", added.join(&separator)))),
            true => {
                self.edits.push((end..end, ",".to_owned()));
                self.edits.push((eol..eol, format!("\n{indent}{}", added.join(&separator))));
            }
        }
        Ok(())
    }

    /// Removes a part with its separator; refused if a comment outside of the part would be lost.
    fn cut(&mut self, range: Range<usize>, part: &Range<usize>) -> Result<(), String> {
        let around =
            [&self.text[range.start..part.start.max(range.start)], &self.text[part.end.min(range.end)..range.end]];
        if around.iter().any(|text| text.contains('#')) {
            return Err("a comment between braces would be lost".to_owned());
        }
        self.edits.push((range, String::new()));
        Ok(())
    }
}
