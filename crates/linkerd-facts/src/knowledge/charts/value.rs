//! A chart value, as in a line of `charts.yaml`: type, range of edges, and whether any template reads it.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::Known;
use crate::version::EdgeTag;

/// A value of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChartValue {
    /// Its type.
    pub kind: ValueKind,
    pub(super) since: Option<EdgeTag>,
    pub(super) until: Option<EdgeTag>,
    unread: Option<UnreadEdges>,
}

/// Edges whose chart has the value although no template reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnreadEdges {
    Always,
    Until(EdgeTag),
}

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    Number,
    Text,
    List,
    /// A map with any keys.
    Open,
    /// Requests and limits: `cpu`, `memory` and `ephemeral-storage`, each with `request` and `limit`.
    Resources,
    /// Unknown: it has no default.
    Any,
}

impl ChartValue {
    pub(super) fn at(&self, release: Option<EdgeTag>) -> Known<'_> {
        let Some(release) = release else { return Known::Taken(self) };
        match (self.since, self.until) {
            (Some(since), _) if release < since => Known::Later(since),
            (_, Some(until)) if until < release => Known::Gone(until),
            _ => Known::Taken(self),
        }
    }

    /// Whether no template of a release reads it; without a release, of any.
    pub fn is_unread(&self, release: Option<EdgeTag>) -> bool {
        match (self.unread, release) {
            (None, _) | (Some(UnreadEdges::Until(_)), None) => false,
            (Some(UnreadEdges::Always), _) => true,
            (Some(UnreadEdges::Until(last)), Some(release)) => release <= last,
        }
    }
}

const MEASURES: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Whether the charts read this path of requests and limits.
pub(super) fn is_of_resources(rest: &str) -> bool {
    match rest.split_once('.') {
        None => MEASURES.contains(&rest),
        Some((measure, which)) => MEASURES.contains(&measure) && ["limit", "request"].contains(&which),
    }
}

/// The path that the charts read instead of `limits.cpu`, which is Kubernetes' format.
pub(super) fn meant_of_resources(at: &str, rest: &str) -> String {
    let turned = rest.split_once('.').map(|(which, measure)| (which.trim_end_matches('s'), measure));
    match turned {
        Some((which @ ("limit" | "request"), measure)) if MEASURES.contains(&measure) => {
            format!("{at}.{measure}.{which}")
        }
        _ => format!("{at}.cpu.limit, .cpu.request, .memory.limit, .memory.request"),
    }
}

impl<'de> Deserialize<'de> for ChartValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ChartValue, D::Error> {
        let line = String::deserialize(deserializer)?;
        ChartValue::parse(&line)
            .ok_or_else(|| D::Error::custom(format!("{line:?}: KIND [since EDGE] [until EDGE] [unread [until EDGE]]")))
    }
}

impl ChartValue {
    pub(super) fn parse(line: &str) -> Option<ChartValue> {
        let mut words = line.split_whitespace().peekable();
        let kind = match words.next()? {
            "boolean" => ValueKind::Boolean,
            "integer" => ValueKind::Integer,
            "number" => ValueKind::Number,
            "text" => ValueKind::Text,
            "list" => ValueKind::List,
            "open" => ValueKind::Open,
            "resources" => ValueKind::Resources,
            "any" => ValueKind::Any,
            _ => return None,
        };
        let mut edge_after = |word: &str| -> Option<Option<EdgeTag>> {
            match words.next_if_eq(&word) {
                Some(_) => words.next()?.parse().ok().map(Some),
                None => Some(None),
            }
        };
        let (since, until) = (edge_after("since")?, edge_after("until")?);
        let unread = match words.next_if_eq(&"unread") {
            None => None,
            Some(_) => match words.next_if_eq(&"until") {
                None => Some(UnreadEdges::Always),
                Some(_) => Some(UnreadEdges::Until(words.next()?.parse().ok()?)),
            },
        };
        words.next().is_none().then_some(ChartValue { kind, since, until, unread })
    }
}
