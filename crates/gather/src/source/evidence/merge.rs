//! Merges the outcomes of several parts into one.

use crate::fetched::{Fetched, Why};

/// The outcome of a request to several parts.
pub(super) fn together(outcomes: Vec<Fetched>) -> Fetched {
    let complete = outcomes.contains(&Fetched::Complete);
    let some = complete || outcomes.iter().any(|outcome| matches!(outcome, Fetched::Partial { .. }));
    let mut reasons: Vec<Why> = Vec::new();
    for outcome in outcomes {
        match outcome {
            Fetched::Complete => {}
            Fetched::Partial { reasons: more } => reasons.extend(more),
            Fetched::Missing { reason } => reasons.push(reason),
        }
    }
    // If one part is complete, only unreadable objects are missing; if one part has some, it is not "not captured".
    reasons.retain(|why| match why {
        Why::Malformed { .. } | Why::NoValue { .. } | Why::NotJudged { .. } => true,
        Why::NotCaptured | Why::NotOffered => !some,
        Why::Denied { .. }
        | Why::NotServed
        | Why::PerhapsMore
        | Why::NotInManifests
        | Why::TimedOut { .. }
        | Why::OutOfTime { .. }
        | Why::Failed { .. } => !complete,
    });
    let mut seen = Vec::new();
    reasons.retain(|why| {
        !seen.contains(why) && {
            seen.push(why.clone());
            true
        }
    });
    if some {
        return if reasons.is_empty() { Fetched::Complete } else { Fetched::Partial { reasons } };
    }
    // The most informative one.
    let telling = |why: &Why| match why {
        Why::Malformed { .. } | Why::NoValue { .. } | Why::NotJudged { .. } => 0,
        Why::Denied { .. } => 1,
        Why::TimedOut { .. } | Why::OutOfTime { .. } | Why::Failed { .. } => 2,
        Why::NotServed | Why::PerhapsMore | Why::NotInManifests => 3,
        Why::NotCaptured => 4,
        Why::NotOffered => 5,
    };
    let reason = reasons.into_iter().min_by_key(telling).unwrap_or(Why::NotCaptured);
    Fetched::Missing { reason }
}
