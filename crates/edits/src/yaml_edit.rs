//! Edits of a YAML document that keep its comments and layout: only the lines of changed fields are replaced.
//! The result is read again, so that an edit either has exactly the intended effect or is refused.

mod comments;
mod flow;
mod layout;
mod literal;
mod scalar;

use std::ops::Range;

use serde_json::{Map, Value};

use layout::{Entry, Holds, TextNode};

/// The text of a document after a change of its value, as kubectl reads it.
///
/// # Errors
/// The change cannot be made in this layout, with the reason.
pub fn changed(text: &str, before: &Value, after: &Value) -> Result<String, String> {
    let root = layout::read(text).ok_or("it uses aliases (*name), or its YAML cannot be read with positions")?;
    let removed = comments::removed(text, &root, before, Some(after));
    let is_json = serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object() || value.is_array());
    let mut editor = Editor { text, is_json, edits: Vec::new() };
    editor.node(&root, before, after)?;
    let edited = comments::restored(&editor.finish(), &removed);
    match crate::yaml::parse_applied(&edited) {
        Ok(read) if read == *after => Ok(edited),
        _ => Err("its layout allows no safe edit".to_owned()),
    }
}

struct Editor<'a> {
    text: &'a str,
    /// Whether the document is JSON, and must stay so.
    is_json: bool,
    edits: Vec<(Range<usize>, String)>,
}

impl Editor<'_> {
    fn finish(mut self) -> String {
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let line_end = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut edited = String::with_capacity(self.text.len());
        let mut at = 0;
        for (range, new) in self.edits {
            if range.start < at {
                continue;
            }
            edited.push_str(&self.text[at..range.start]);
            let is_open = !edited.is_empty() && !edited.ends_with('\n');
            // A last line without an end.
            if range.start == self.text.len() && is_open && new.starts_with(' ') | new.ends_with('\n') {
                edited.push_str(line_end);
            }
            edited.push_str(&new.replace('\n', line_end));
            at = range.end;
        }
        edited.push_str(&self.text[at..]);
        edited
    }

    fn node(&mut self, node: &TextNode, before: &Value, after: &Value) -> Result<(), String> {
        if before == after {
            return Ok(());
        }
        match (&node.holds, before, after) {
            (Holds::Map(entries), Value::Object(before), Value::Object(after)) => match node.is_flow {
                true => self.flow_map(node, entries, before, after),
                false => self.block_map(entries, before, after),
            },
            (Holds::List(items), Value::Array(before), Value::Array(after)) => self.list(node, items, before, after),
            (Holds::Scalar, before, after) if !after.is_object() && !after.is_array() => {
                let old = &self.text[node.range()];
                if let Some(block) = literal_change(old, before, after) {
                    self.edits.push((node.range(), block));
                    return Ok(());
                }
                if old.is_empty() || old.contains('\n') {
                    return Err("a value of several lines, or without text, changes".to_owned());
                }
                let new = if self.is_json { after.to_string() } else { scalar::like(old, after) };
                self.edits.push((node.range(), new));
                Ok(())
            }
            _ => Err("a value changes its type".to_owned()),
        }
    }

    fn block_map(
        &mut self,
        entries: &[Entry],
        before: &Map<String, Value>,
        after: &Map<String, Value>,
    ) -> Result<(), String> {
        let Some(last) = entries.last() else { return Err("a map has no entries".to_owned()) };
        let mut added: Map<String, Value> = after
            .iter()
            .filter(|(key, _)| !before.contains_key(*key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        for (at, entry) in entries.iter().enumerate() {
            match (before.get(&entry.key), after.get(&entry.key)) {
                // A key with the same value is the corrected name: its line keeps layout and comment.
                (Some(old), None) => match new_name(&added, old) {
                    Some(key) => {
                        let new = added.remove(&key).unwrap_or_default();
                        self.edits.push((self.key_of(entry), scalar::key(&key)));
                        self.trimmed(entry, old, &new)?;
                    }
                    None => self.remove(entries, at)?,
                },
                (Some(old), Some(new)) if old != new => self.entry(entry, old, new)?,
                _ => {}
            }
        }
        if !added.is_empty() {
            let mut lines = String::new();
            scalar::block(&Value::Object(added), entries[0].column, &mut lines);
            let at = self.line_after(last.end());
            self.edits.push((at..at, lines));
        }
        Ok(())
    }

    /// The value of a renamed field, without the blanks and line ends around it.
    fn trimmed(&mut self, entry: &Entry, old: &Value, new: &Value) -> Result<(), String> {
        let text = &self.text[entry.value.range()];
        if old == new || !text.starts_with(['|', '>']) {
            return self.node(&entry.value, old, new);
        }
        let header = text.lines().next().unwrap_or_default();
        let comment = header.find(" #").map_or("", |at| &header[at..]);
        self.edits.push((entry.value.range(), format!("{}{comment}", scalar::plain(new))));
        Ok(())
    }

    /// The text of a key, with its quotes.
    fn key_of(&self, entry: &Entry) -> Range<usize> {
        let key = self.text[entry.start..entry.colon].trim_end_matches(':').trim_end();
        entry.start..entry.start + key.len()
    }

    /// The new value of an entry of a block map.
    fn entry(&mut self, entry: &Entry, old: &Value, new: &Value) -> Result<(), String> {
        let is_empty = |value: &Value| match value {
            Value::Object(map) => map.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Null => true,
            _ => false,
        };
        let is_collection = new.is_object() || new.is_array();
        if is_collection && is_empty(new) {
            let from = entry.colon;
            let mut to = entry.value.end.max(from);
            let mut empty = String::from(if new.is_object() { " {}" } else { " []" });
            if !entry.value.is_flow && self.text[from..to].contains('\n') {
                // A comment of the last removed field is not one of the whole map; that of its key is.
                to += comments::behind(self.text, to).map_or(0, |_| self.rest_of_line(to));
                if let Some(comment) = comments::behind(self.text, from) {
                    empty = format!("{empty} {comment}");
                }
                for line in comments::of_no_field(self.text, from..to, &entry.value) {
                    empty = format!("{empty}\n{line}");
                }
            }
            self.edits.push((from..to, empty));
            return Ok(());
        }
        if is_collection && is_empty(old) {
            let mut lines = String::from("\n");
            scalar::block(new, entry.column + 2, &mut lines);
            lines.truncate(lines.trim_end_matches('\n').len());
            let to = if entry.value.is_flow { entry.value.end } else { entry.colon };
            self.edits.push((entry.colon..to, lines));
            return Ok(());
        }
        if (old.is_object() || old.is_array()) && !is_collection && !entry.value.range().is_empty() {
            let range = entry.colon..entry.value.end;
            if self.text[range.clone()].contains('#') {
                return Err("a value with comments changes its type".to_owned());
            }
            self.edits.push((range, format!(" {}", scalar::plain(new))));
            return Ok(());
        }
        if entry.value.range().is_empty() && !is_collection {
            self.edits.push((entry.colon..entry.colon, format!(" {}", scalar::plain(new))));
            return Ok(());
        }
        self.node(&entry.value, old, new)
    }

    /// Removes an entry of a block map with its lines.
    fn remove(&mut self, entries: &[Entry], at: usize) -> Result<(), String> {
        let entry = &entries[at];
        let line = self.text[..entry.start].rfind('\n').map_or(0, |at| at + 1);
        let is_own_line = self.text[line..entry.start].trim().is_empty();
        match (is_own_line, entries.get(at + 1)) {
            (true, _) => {
                let end = self.line_after(entry.end());
                self.edits.push((comments::start(self.text, line, entry.column)..end, String::new()));
                Ok(())
            }
            // The first key of a list item shares its line with the dash: other comments go above it.
            (false, Some(next)) => {
                let comments = comments::lines(&self.text[entry.end()..next.start]);
                let indent = self.text[line..entry.start].len() - self.text[line..entry.start].trim_start().len();
                let above = comments.map(|comment| format!("{}{comment}\n", " ".repeat(indent)));
                self.edits.push((line..line, above.collect()));
                self.edits.push((entry.start..next.start, String::new()));
                Ok(())
            }
            (false, None) => Err("the only field of a list item is removed".to_owned()),
        }
    }

    fn list(&mut self, node: &TextNode, items: &[TextNode], before: &[Value], after: &[Value]) -> Result<(), String> {
        if before.len() == after.len() {
            let pairs = before.iter().zip(after);
            return items.iter().zip(pairs).try_for_each(|(item, (old, new))| self.node(item, old, new));
        }
        let prefix = before.iter().zip(after).take_while(|(old, new)| old == new).count();
        let left = before.len().min(after.len()) - prefix;
        let suffix = before.iter().rev().zip(after.iter().rev()).take(left);
        let suffix = suffix.take_while(|(old, new)| old == new).count();
        if node.is_flow {
            return self.flow_list(node, items, before, after, (prefix, suffix));
        }
        if prefix + suffix < before.len().min(after.len()) {
            return Err("several items of a list change".to_owned());
        }
        if before.len() > after.len() {
            return self.remove_items(items, prefix..before.len() - suffix);
        }
        let Some(first) = items.first() else { return Err("a list has no items".to_owned()) };
        let dash = self.dash(first).ok_or("a list has no dashes")?;
        let line = |at: usize| self.text[..at].rfind('\n').map_or(0, |at| at + 1);
        let column = dash - line(dash);
        let mut lines = String::new();
        for item in &after[prefix..after.len() - suffix] {
            scalar::item(item, column, &mut lines);
        }
        let at = match prefix {
            0 => line(dash),
            number => self.line_after(items[number - 1].end),
        };
        self.edits.push((at..at, lines));
        Ok(())
    }

    fn remove_items(&mut self, items: &[TextNode], which: Range<usize>) -> Result<(), String> {
        if which.len() == items.len() {
            return Err("all items of a list are removed".to_owned());
        }
        for item in &items[which] {
            let dash = self.dash(item).ok_or("a list has no dashes")?;
            let line = self.text[..dash].rfind('\n').map_or(0, |at| at + 1);
            if !self.text[line..dash].trim().is_empty() {
                return Err("a list item shares its line".to_owned());
            }
            let end = self.line_after(item.end);
            let start = comments::start(self.text, line, dash - line);
            self.edits.push((start..end, String::new()));
        }
        Ok(())
    }

    /// Position of the dash before an item.
    fn dash(&self, item: &TextNode) -> Option<usize> {
        let before = self.text[..item.start].trim_end();
        before.ends_with('-').then(|| before.len() - 1)
    }

    /// The number of bytes to the end of a line.
    fn rest_of_line(&self, at: usize) -> usize {
        let line = self.text[at..].split('\n').next().unwrap_or_default();
        line.trim_end_matches('\r').len()
    }

    /// Start of the line after a position.
    fn line_after(&self, at: usize) -> usize {
        if at > 0 && self.text[..at].ends_with('\n') {
            return at;
        }
        self.text[at..].find('\n').map_or(self.text.len(), |end| at + end + 1)
    }
}

/// A literal block with another text.
fn literal_change(block: &str, before: &Value, after: &Value) -> Option<String> {
    let (before, after) = (before.as_str()?, after.as_str()?);
    let is_kept = block.starts_with('|') && before.ends_with('\n') == after.ends_with('\n');
    literal::replaced(block, before, after).filter(|_| is_kept)
}

/// The added key that has the value of a removed one. Blanks and line ends around a text do not count.
fn new_name(added: &Map<String, Value>, old: &Value) -> Option<String> {
    let same = added.iter().find(|(_, new)| *new == old);
    let trimmed = |value: &Value| value.as_str().map(|text| text.trim().to_owned());
    let same = same.or_else(|| added.iter().find(|(_, new)| trimmed(new).is_some_and(|new| trimmed(old) == Some(new))));
    same.map(|(key, _)| key.clone())
}

#[cfg(test)]
mod comment_tests;
#[cfg(test)]
mod tests;
