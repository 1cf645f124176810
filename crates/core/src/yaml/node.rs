//! Positions in a document: its nodes with line and column, and its fields by path. Without types: every
//! scalar is a text here.

use granit_parser::{Event, Parser, ScalarStyle, options};

/// Maximum nesting of a document.
const DEPTH: usize = 100;

/// A line and a column, from 1.
pub type Spot = (u64, u64);

/// A node of a document with its start: line and column from 1.
#[derive(Debug)]
pub struct Node {
    pub line: u64,
    pub column: u64,
    pub holds: Holds,
}

#[derive(Debug)]
pub enum Holds {
    /// Each key with its position.
    Map(Vec<(String, Spot, Node)>),
    List(Vec<Node>),
    /// A text, and whether it is a literal block (`|`).
    Text(String, bool),
}

impl Node {
    pub fn get(&self, key: &str) -> Option<(&Node, Spot)> {
        let Holds::Map(entries) = &self.holds else { return None };
        entries.iter().find(|(name, _, _)| name == key).map(|(_, place, node)| (node, *place))
    }

    /// The node at a sequence of keys.
    pub fn within(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key).map(|(node, _)| node))
    }

    pub fn text(&self, path: &[&str]) -> Option<&str> {
        match &self.within(path)?.holds {
            Holds::Text(text, _) => Some(text),
            Holds::Map(_) | Holds::List(_) => None,
        }
    }

    /// The node at a path.
    pub fn find(&self, path: &str) -> Option<&Node> {
        self.follow(path).map(|(node, _)| node)
    }

    /// Position of a field: its key in a map, its value in a list.
    pub fn at(&self, path: &str) -> Option<Spot> {
        self.follow(path).map(|(_, spot)| spot)
    }

    fn follow(&self, path: &str) -> Option<(&Node, Spot)> {
        let mut node = self;
        let mut place = (self.line, self.column);
        for step in steps(path)? {
            let (next, at) = match &node.holds {
                Holds::Map(_) => node.get(&step)?,
                Holds::List(items) => {
                    let by_number = step.parse::<usize>().ok().and_then(|at| items.get(at));
                    let by_name = || items.iter().find(|item| item.text(&["name"]) == Some(step.as_str()));
                    let item = by_number.or_else(by_name)?;
                    (item, (item.line, item.column))
                }
                Holds::Text(..) => return None,
            };
            (node, place) = (next, at);
        }
        Some((node, place))
    }
}

/// Position of a field in a text: line and column from 1.
pub fn spot(text: &str, path: &str) -> Option<Spot> {
    tree(text)?.at(path)
}

/// The steps of a path: `spec`, `containers`, `app`, `image` for `spec.containers[app].image`.
pub fn steps(path: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if let Some(inner) = rest.strip_prefix('[') {
            let (step, after) = inner.split_once(']')?;
            steps.push(step.trim_matches('"').to_owned());
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
    }
    Some(steps)
}

/// An incomplete node, and in a map the key that waits for its value.
type Open = (Node, Option<(String, Spot)>);

/// The first document of a text, as far as it can be read.
pub fn tree(text: &str) -> Option<Node> {
    let limits = options! { flow_nesting_limit: DEPTH, block_nesting_limit: DEPTH };
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str_with_options(text, limits) {
        let (event, span) = event.ok()?;
        let (line, column) = (span.start.line() as u64, span.start.col() as u64 + 1);
        let done = match event {
            Event::MappingStart(..) => {
                open.push((Node { line, column, holds: Holds::Map(Vec::new()) }, None));
                continue;
            }
            Event::SequenceStart(..) => {
                open.push((Node { line, column, holds: Holds::List(Vec::new()) }, None));
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => open.pop()?.0,
            Event::Scalar(text, style, ..) => {
                let literal = style == ScalarStyle::Literal;
                Node { line, column, holds: Holds::Text(text.to_string(), literal) }
            }
            Event::Alias(..) => Node { line, column, holds: Holds::Text(String::new(), false) },
            _ => continue,
        };
        let Some((parent, waiting)) = open.last_mut() else { return Some(done) };
        match &mut parent.holds {
            Holds::List(items) => items.push(done),
            Holds::Map(entries) => match waiting.take() {
                Some((key, place)) => entries.push((key, place, done)),
                None => {
                    let key = match done.holds {
                        Holds::Text(text, _) => text,
                        Holds::Map(_) | Holds::List(_) => String::new(),
                    };
                    *waiting = Some((key, (done.line, done.column)));
                }
            },
            Holds::Text(..) => return None,
        }
    }
    None
}
