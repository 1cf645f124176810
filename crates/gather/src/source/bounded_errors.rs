//! Bounded lists of similar errors: the first ones in full, and the number of the others. A file can have millions of
//! errors; memory and output stay bounded.

use crate::fetched::{Fetched, Why, left_out};

/// Number of errors to list in full.
pub const MOST: usize = 20;
/// Maximum number of reasons per outcome: those of several sorts, each with its count.
const REASONS: usize = 4 * MOST;
/// Maximum length of a message in characters; the middle of a longer one is cut out.
const LONG: usize = 1000;

/// Messages of one sort, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundedErrors {
    /// The first ones.
    pub messages: Vec<String>,
    /// Number of further messages.
    pub more: usize,
}

impl BoundedErrors {
    /// Adds a message, which is built only if it is kept.
    pub fn add(&mut self, message: impl FnOnce() -> String) {
        if self.messages.len() >= MOST {
            self.more += 1;
            return;
        }
        let message = shortened(message());
        if !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }

    /// Adds the messages of another list.
    pub fn merge(&mut self, other: BoundedErrors) {
        for message in other.messages {
            self.add(|| message);
        }
        self.more += other.more;
    }

    /// Whether further messages are only counted.
    pub fn is_full(&self) -> bool {
        self.messages.len() >= MOST
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.more == 0
    }

    /// Each message, and finally the number of others.
    pub fn messages(&self) -> impl Iterator<Item = String> {
        let more = (self.more > 0).then(|| left_out(self.more));
        self.messages.iter().cloned().chain(more)
    }
}

/// An outcome with at most [`REASONS`] reasons. Omitted reasons are malformed data or worse, so the outcome stays a
/// gap.
/// a gap.
pub fn bounded(fetched: Fetched) -> Fetched {
    match fetched {
        Fetched::Complete => Fetched::Complete,
        Fetched::Missing { reason } => Fetched::Missing { reason: short(reason) },
        Fetched::Partial { mut reasons } => {
            let more = reasons.len().saturating_sub(REASONS);
            // Already listed as a reason, this one would be lost in the count.
            let perhaps_more = reasons.iter().skip(REASONS).any(|why| *why == Why::PerhapsMore);
            reasons.truncate(REASONS);
            let mut reasons: Vec<Why> = reasons.into_iter().map(short).collect();
            if more > 0 {
                reasons.push(Why::Malformed { message: left_out(more) });
            }
            if perhaps_more {
                reasons.push(Why::PerhapsMore);
            }
            Fetched::Partial { reasons }
        }
    }
}

fn short(why: Why) -> Why {
    match why {
        Why::Denied { message } => Why::Denied { message: redacted(&message) },
        Why::Malformed { message } => Why::Malformed { message: redacted(&message) },
        Why::NoValue { message, close } => Why::NoValue { message: redacted(&message), close },
        Why::NotJudged { message } => Why::NotJudged { message: redacted(&message) },
        Why::Failed { message } => Why::Failed { message: redacted(&message) },
        other @ (Why::NotServed
        | Why::NotCaptured
        | Why::PerhapsMore
        | Why::NotInManifests
        | Why::NotOffered
        | Why::TimedOut { .. }
        | Why::OutOfTime { .. }) => other,
    }
}

/// The text of an error from any source, redacted and limited in length.
fn redacted(message: &str) -> String {
    shortened(crate::redact::text(message).into_owned())
}

/// A text with the middle cut out if it is very long.
fn shortened(text: String) -> String {
    if text.len() <= LONG {
        return text;
    }
    let half = LONG / 2;
    let head: String = text.chars().take(half).collect();
    let mut tail: Vec<char> = text.chars().rev().take(half).collect();
    tail.reverse();
    format!("{head} … {}", tail.into_iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_errors_are_listed_and_others_counted() {
        let mut few = BoundedErrors::default();
        for at in 0..50_000 {
            few.add(|| format!("line {at}"));
        }
        let said: Vec<String> = few.messages().collect();
        assert_eq!(said.len(), MOST + 1);
        assert_eq!(said[MOST], "and 49980 more of the same kind");
        let mut other = BoundedErrors::default();
        other.add(|| "line 0".to_owned());
        other.merge(few);
        assert_eq!((other.messages.len(), other.more), (MOST, 49_980));
    }

    #[test]
    fn outcome_reasons_are_bounded() {
        let why = |at: usize| Why::Malformed { message: format!("{at} {}", "x".repeat(1 << 16)) };
        let mut reasons: Vec<Why> = (0..1000).map(why).collect();
        reasons.push(Why::PerhapsMore);
        let Fetched::Partial { reasons } = bounded(Fetched::Partial { reasons }) else { panic!() };
        assert_eq!(reasons.len(), REASONS + 2);
        assert!(reasons.iter().all(|why| why.to_string().len() < 2 * LONG));
        assert_eq!(bounded(Fetched::Complete), Fetched::Complete);
    }
}
