//! The nodes of a document with their positions in bytes.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, options};

/// Maximum nesting of a document.
const DEPTH: usize = 100;

/// A node with its text: from its first to behind its last byte.
#[derive(Debug)]
pub(super) struct TextNode {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it is in brackets or braces.
    pub(super) is_flow: bool,
    pub(super) holds: Holds,
}

#[derive(Debug)]
pub(super) enum Holds {
    Map(Vec<Entry>),
    List(Vec<TextNode>),
    Scalar,
}

/// An entry of a map.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Start of the key.
    pub(super) start: usize,
    /// Column of the key, from 0.
    pub(super) column: usize,
    /// Position behind the colon.
    pub(super) colon: usize,
    pub(super) value: TextNode,
}

impl Entry {
    /// Position behind the value, or behind the colon if it is empty.
    pub(super) fn end(&self) -> usize {
        if self.value.range().is_empty() { self.colon } else { self.value.end }
    }
}

impl TextNode {
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// A key that waits for its value: text, start, end, column.
type OpenKey = (String, usize, usize, usize);

/// The only document of a text; `None` if it is not valid or uses aliases.
pub(super) fn read(text: &str) -> Option<TextNode> {
    let limits = options! { flow_nesting_limit: DEPTH, block_nesting_limit: DEPTH };
    let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut open: Vec<(TextNode, Option<OpenKey>)> = Vec::new();
    for event in Parser::new_from_str_with_options(text, limits) {
        let (event, span) = event.ok()?;
        let start = *bytes.get(span.start.index())?;
        let end = *bytes.get(span.end.index())?;
        let mut scalar = None;
        let node = match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                let is_flow = text[start..].starts_with(['{', '[']);
                let holds = match event {
                    Event::MappingStart(..) => Holds::Map(Vec::new()),
                    _ => Holds::List(Vec::new()),
                };
                open.push((TextNode { start, end, is_flow, holds }, None));
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                let (mut node, _) = open.pop()?;
                node.end = match (&node.holds, node.is_flow) {
                    (_, true) => end,
                    (Holds::Map(entries), _) => entries.last().map_or(node.end, Entry::end),
                    (Holds::List(items), _) => items.last().map_or(node.end, |item| item.end),
                    (Holds::Scalar, _) => node.end,
                };
                node
            }
            Event::Scalar(value, style, ..) => {
                scalar = Some(value.to_string());
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let (start, end) = match block_header(text, start, open.last()).filter(|_| is_block) {
                    Some(header) => (header, block_end(text, header, parent_column(text, header, open.last()))),
                    None => (start, end),
                };
                TextNode { start, end, is_flow: false, holds: Holds::Scalar }
            }
            Event::Alias(..) => return None,
            _ => continue,
        };
        let Some((parent, waiting)) = open.last_mut() else { return Some(node) };
        match &mut parent.holds {
            Holds::List(items) => items.push(node),
            Holds::Map(entries) => match waiting.take() {
                None => *waiting = Some((scalar?, node.start, node.end, span.start.col())),
                Some((key, start, end, column)) => {
                    let colon = end + text[end..].find(':')? + 1;
                    entries.push(Entry { key, start, column, colon, value: node });
                }
            },
            Holds::Scalar => return None,
        }
    }
    None
}

/// Position of the `|` or `>` of a block scalar, which begins for the parser behind it.
fn block_header(text: &str, start: usize, parent: Option<&(TextNode, Option<OpenKey>)>) -> Option<usize> {
    let (node, key) = parent?;
    let from = match (key, &node.holds) {
        (Some((_, _, end, _)), _) => *end,
        (None, Holds::List(items)) => items.last().map_or(node.start, |item| item.end),
        (None, _) => return None,
    };
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        if at >= start && at > from {
            return None;
        }
        let is_comment = at > from && line.trim_start().starts_with('#');
        if let Some(found) = line.find(['|', '>']).filter(|_| !is_comment) {
            return Some(at + found);
        }
        at += line.len();
    }
    None
}

/// Column of the collection that holds a block scalar; `None` for the root of a document.
fn parent_column(text: &str, start: usize, parent: Option<&(TextNode, Option<OpenKey>)>) -> Option<usize> {
    match parent? {
        (_, Some((.., column))) => Some(*column),
        _ => {
            let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
            text[line..start].rfind('-')
        }
    }
}

/// End of a block scalar, without the last line end. For the parser, it includes the comments behind it.
fn block_end(text: &str, start: usize, parent: Option<usize>) -> usize {
    let mut lines = text[start..].split_inclusive('\n');
    let header = lines.next().unwrap_or_default();
    let indicators = header.split([' ', '\t', '#']).next().unwrap_or_default();
    let outer = parent.map_or(0, |column| column + 1);
    let stated = indicators.chars().find_map(|letter| letter.to_digit(10));
    let mut indent = stated.map(|number| parent.unwrap_or(0) + number as usize);
    let mut at = start + header.len();
    let mut end = at;
    for line in lines {
        let content = line.trim_end_matches(['\n', '\r']);
        at += line.len();
        let column = content.len() - content.trim_start_matches(' ').len();
        if column < content.len() {
            if column < *indent.get_or_insert(column.max(outer)) {
                break;
            }
            end = at;
        } else if indicators.contains('+') {
            end = at;
        }
    }
    let content = text[start..end].strip_suffix('\n').unwrap_or(&text[start..end]);
    start + content.strip_suffix('\r').unwrap_or(content).len()
}
