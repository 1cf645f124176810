//! The nodes of a document with their positions in bytes.

use std::ops::Range;

use granit_parser::{Event, Parser, options};

/// Maximum nesting of a document.
const DEPTH: usize = 100;

/// A node with its text: from its first to behind its last byte.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it is in brackets or braces.
    pub(super) is_flow: bool,
    pub(super) holds: Holds,
}

#[derive(Debug)]
pub(super) enum Holds {
    Map(Vec<Entry>),
    List(Vec<Node>),
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
    pub(super) value: Node,
}

impl Entry {
    /// Position behind the value, or behind the colon if it is empty.
    pub(super) fn end(&self) -> usize {
        if self.value.range().is_empty() { self.colon } else { self.value.end }
    }
}

impl Node {
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// A key that waits for its value: text, start, end, column.
type OpenKey = (String, usize, usize, usize);

/// The only document of a text; `None` if it is not valid or uses aliases.
pub(super) fn read(text: &str) -> Option<Node> {
    let limits = options! { flow_nesting_limit: DEPTH, block_nesting_limit: DEPTH };
    let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut open: Vec<(Node, Option<OpenKey>)> = Vec::new();
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
                open.push((Node { start, end, is_flow, holds }, None));
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
            Event::Scalar(value, ..) => {
                scalar = Some(value.to_string());
                Node { start, end, is_flow: false, holds: Holds::Scalar }
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
