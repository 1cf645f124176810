//! YAML dumps of any size: a document is split into the items of its List by indentation, and each item is parsed
//! separately, so that only one is in memory. If that fails (an alias into another item, a hand-made layout), the whole
//! document is parsed.
//!
//! `kubectl get -o yaml` writes `items:` and the `-` of each item in the same column, and nothing else there; a line
//! that starts a document (`---`) cannot be part of a value.

mod lines;

use std::io::{self, BufReader};

use serde_json::Value;

use crate::archive::spool::Blob;
use crate::source::json::{Head, MAX_OBJECT};
use crate::yaml::{go, guard};
use lines::{Boundary, Line, Lines, boundary};

/// Maximum size of a document to parse as a whole, in bytes. The parser needs about eight times as much memory.
pub const MAX_WHOLE: u64 = 48 << 20;

/// Reason to reject a list without a kind.
const NO_KIND: &str = "the list is truncated: it has items but no kind";

/// Receives the results in order. Lines count from 1.
pub trait YamlSink {
    /// An item of the current list.
    fn item(&mut self, line: u64, object: Value);
    /// The list ended, and its items are valid; some could not be read.
    fn list(&mut self, head: Head, broken: Vec<Bad>);
    /// Discards the items since the last list or object: the document is read in another way.
    fn forget(&mut self);
    /// A document that is not a list.
    fn object(&mut self, line: u64, object: Value);
    /// A document that could not be read, with its text if available.
    fn bad(&mut self, bad: Bad, text: Option<&[u8]>);
}

/// A part that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    /// Its line, or the line of the error.
    pub line: u64,
    /// The reason.
    pub why: String,
}

/// How plain scalars are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalars {
    /// As written by tools that quote only what YAML 1.2 requires: objects of an API server have the right types.
    Written,
    /// As kubectl sends them ([`go`]).
    Applied,
}

/// Reads every document.
///
/// # Errors
/// The file cannot be read further; earlier results were already passed to `found`.
pub fn scan(blob: &Blob, scalars: Scalars, found: &mut dyn YamlSink) -> io::Result<()> {
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, blob.reader()?));
    let mut line = Line::default();
    let mut document = YamlDocument::at(0, 1, scalars);
    loop {
        let begin = lines.passed;
        if !lines.next(&mut line)? {
            document.end(blob, begin, found);
            return Ok(());
        }
        match boundary(line.text()) {
            None => document.line(&line, found),
            Some(Boundary::Ends) => {
                document.end(blob, begin, found);
                document = YamlDocument::at(lines.passed, line.number + 1, scalars);
            }
            Some(Boundary::Begins) => {
                document.end(blob, begin, found);
                document = YamlDocument::at(begin, line.number, scalars);
                // A value may follow the separator on its line.
                line.bytes[..3].fill(b' ');
                if !line.text().trim_ascii().is_empty() {
                    document.line(&line, found);
                }
            }
        }
    }
}

/// Position within a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DocumentPosition {
    /// Before `items:`.
    Before,
    /// After it, before the first item.
    Begun,
    /// In the items, whose dashes are in this column.
    Items(usize),
    /// After them.
    After,
}

struct YamlDocument {
    scalars: Scalars,
    offset: u64,
    first_line: u64,
    place: DocumentPosition,
    /// Text outside the items.
    around: Piece,
    item: Piece,
    /// Items that could not be read.
    broken: Vec<Bad>,
    /// Whether the split may be wrong.
    doubtful: bool,
    /// The last item, held back.
    last: Option<(u64, Value)>,
}

/// Lines that are parsed together.
#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    first_line: u64,
    too_large: bool,
    /// Whether it contains more than blanks and comments.
    any: bool,
}

impl Piece {
    fn add(&mut self, line: &Line) {
        if self.bytes.is_empty() {
            self.first_line = line.number;
        }
        if line.too_long || self.bytes.len() + line.text().len() >= MAX_OBJECT {
            self.too_large = true;
            return;
        }
        let text = line.text().trim_ascii_start();
        self.any |= !text.is_empty() && !matches!(text[0], b'#' | b'%');
        self.bytes.extend_from_slice(line.text());
        self.bytes.push(b'\n');
    }

    fn parse(&self, scalars: Scalars) -> Result<Value, Bad> {
        if self.too_large {
            let why = format!("an object larger than {} MiB", MAX_OBJECT >> 20);
            return Err(Bad { line: self.first_line, why });
        }
        value(&self.bytes, self.first_line, scalars)
    }
}

impl YamlDocument {
    fn at(offset: u64, first_line: u64, scalars: Scalars) -> YamlDocument {
        YamlDocument {
            scalars,
            offset,
            first_line,
            place: DocumentPosition::Before,
            around: Piece::default(),
            item: Piece::default(),
            broken: Vec::new(),
            doubtful: false,
            last: None,
        }
    }

    fn line(&mut self, line: &Line, found: &mut dyn YamlSink) {
        let text = line.text();
        let column = text.iter().take_while(|byte| **byte == b' ').count();
        let idle = matches!(text.get(column), None | Some(b'#'));
        let dash = text.get(column) == Some(&b'-') && text.get(column + 1).is_none_or(u8::is_ascii_whitespace);
        match self.place {
            DocumentPosition::Before if is_items(text) => self.place = DocumentPosition::Begun,
            DocumentPosition::Before => self.around.add(line),
            DocumentPosition::Begun if idle => {}
            DocumentPosition::Begun if dash => {
                self.place = DocumentPosition::Items(column);
                self.begin(line, column);
            }
            DocumentPosition::Items(at) if dash && column == at => {
                self.finish_item(found);
                self.begin(line, column);
            }
            DocumentPosition::Items(at) if idle || column > at => self.item.add(line),
            DocumentPosition::Items(_) | DocumentPosition::Begun => {
                self.finish_item(found);
                // Neither an item nor another key of the list.
                self.doubtful |= column > 0;
                self.place = DocumentPosition::After;
                self.after(line);
            }
            DocumentPosition::After => self.after(line),
        }
    }

    fn after(&mut self, line: &Line) {
        // A duplicate key.
        self.doubtful |= is_items(line.text());
        self.around.add(line);
    }

    fn begin(&mut self, line: &Line, column: usize) {
        let mut first = line.clone();
        first.bytes[column] = b' ';
        self.item.add(&first);
    }

    /// Parses the current item. It is passed on after the next item or the end of the list.
    fn finish_item(&mut self, found: &mut dyn YamlSink) {
        let piece = std::mem::take(&mut self.item);
        if piece.bytes.is_empty() && !piece.too_large {
            return;
        }
        self.give(found);
        match piece.parse(self.scalars) {
            Ok(object @ Value::Object(_)) => self.last = Some((piece.first_line, object)),
            Ok(_) => self.broken.push(Bad { line: piece.first_line, why: "an item that is not an object".to_owned() }),
            Err(bad) => self.broken.push(bad),
        }
    }

    fn give(&mut self, found: &mut dyn YamlSink) {
        if let Some((line, object)) = self.last.take() {
            found.item(line, object);
        }
    }

    /// Ends the document at the byte `end`.
    fn end(mut self, blob: &Blob, end: u64, found: &mut dyn YamlSink) {
        self.finish_item(found);
        if self.place == DocumentPosition::Before {
            if self.around.any {
                match self.around.parse(self.scalars) {
                    Ok(object) => whole(object, self.around.first_line, found),
                    Err(bad) => found.bad(bad, Some(&self.around.bytes)),
                }
            }
            return;
        }
        let head = self.around.parse(self.scalars).and_then(|head| head_of(head, self.first_line));
        if let (Ok(Head { kind: None, .. }), Some((line, _))) = (&head, &self.last) {
            // Keys are in alphabetical order, so `kind` follows `items`: a truncated last item can still be valid YAML.
            self.broken.push(Bad { line: *line, why: NO_KIND.to_owned() });
            return found.list(Head::default(), self.broken);
        }
        self.give(found);
        if let (Ok(head), true, false) = (&head, self.broken.is_empty(), self.doubtful) {
            return found.list(head.clone(), Vec::new());
        }
        // The split was wrong: parse the whole document, unless it is too large.
        let len = end.saturating_sub(self.offset);
        let text = if len <= MAX_WHOLE { blob.slice(self.offset, len).bytes(MAX_WHOLE).ok() } else { None };
        if let Some(Ok(object)) = text.map(|text| value(&text, self.first_line, self.scalars)) {
            found.forget();
            return whole(object, self.first_line, found);
        }
        match head {
            Ok(head) => found.list(head, self.broken),
            Err(bad) => {
                self.broken.push(bad);
                found.list(Head::default(), self.broken);
            }
        }
    }
}

/// `items:` at the start of a line, with nothing after it.
fn is_items(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"items:").or_else(|| line.strip_prefix(b"\"items\":")) else {
        return false;
    };
    let rest = rest.trim_ascii();
    rest.is_empty() || rest.starts_with(b"#")
}

fn head_of(value: Value, line: u64) -> Result<Head, Bad> {
    match value {
        Value::Null => Ok(Head::default()),
        value => serde_json::from_value(value).map_err(|error| Bad { line, why: error.to_string() }),
    }
}

/// A document that was parsed as a whole.
fn whole(object: Value, line: u64, found: &mut dyn YamlSink) {
    match object {
        Value::Object(mut map) if map.get("items").is_some_and(Value::is_array) => {
            let mut items = map.remove("items");
            if let (None, Some(Value::Array(items))) = (map.get("kind"), &mut items) {
                // As above, the last item may be truncated.
                items.pop();
                found.bad(Bad { line, why: NO_KIND.to_owned() }, None);
            }
            match head_of(Value::Object(map), line) {
                Ok(head) => elements(items, line, head, found),
                Err(bad) => found.bad(bad, None),
            }
        }
        Value::Object(_) => found.object(line, object),
        Value::Array(_) => elements(Some(object), line, Head::default(), found),
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.bad(Bad { line, why: "a YAML document that is not an object".to_owned() }, Some(&[]));
        }
    }
}

fn elements(items: Option<Value>, line: u64, head: Head, found: &mut dyn YamlSink) {
    let mut broken = Vec::new();
    if let Some(Value::Array(items)) = items {
        for item in items {
            match item {
                Value::Object(_) => found.item(line, item),
                _ => broken.push(Bad { line, why: "an item that is not an object".to_owned() }),
            }
        }
    }
    found.list(head, broken);
}

/// Parses the document that starts at `line`.
fn value(text: &[u8], line: u64, scalars: Scalars) -> Result<Value, Bad> {
    guard(text).map_err(|refused| {
        let at = refused.line().saturating_sub(1) as u64;
        Bad { line: line + at, why: refused.to_string() }
    })?;
    let mut value = parsed(text, line)?;
    if let (Scalars::Applied, Ok(text)) = (scalars, std::str::from_utf8(text)) {
        go::correct(&mut value, text).map_err(|why| Bad { line, why: why.to_owned() })?;
    }
    if memchr::memmem::find(text, MERGE.as_bytes()).is_some() {
        merge(&mut value);
    }
    Ok(value)
}

/// The key whose maps are merged into its own: `<<: *defaults`.
const MERGE: &str = "<<";

/// Merges the maps of merge keys, as kubectl does: existing keys win, then those of earlier maps.
fn merge(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(merge),
        Value::Object(map) => {
            map.values_mut().for_each(merge);
            let maps = match map.remove(MERGE) {
                Some(Value::Object(one)) => vec![one],
                Some(Value::Array(items)) if items.iter().all(Value::is_object) => items
                    .into_iter()
                    .filter_map(|item| if let Value::Object(map) = item { Some(map) } else { None })
                    .collect(),
                // Any other value is the value of an ordinary key.
                Some(other) => {
                    map.insert(MERGE.to_owned(), other);
                    Vec::new()
                }
                None => Vec::new(),
            };
            for (key, value) in maps.into_iter().flatten() {
                map.entry(key).or_insert(value);
            }
        }
        _ => {}
    }
}

fn parsed(text: &[u8], line: u64) -> Result<Value, Bad> {
    serde_yaml::from_slice(text).map_err(|error| {
        // Errors at the end belong to the last line, not to the one after it.
        let last = text.iter().filter(|byte| **byte == b'\n').count().saturating_sub(1);
        let at = error.location().map_or(0, |place| place.line().saturating_sub(1).min(last));
        // The error counts lines from the start of the piece.
        let said = error.to_string();
        let why = said.split(" at line ").next().unwrap_or(&said).to_owned();
        Bad { line: line + at as u64, why }
    })
}

#[cfg(test)]
mod tests;
