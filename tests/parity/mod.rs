//! Compares rows of the real `linkerd check` with ours: the differences, and whether the reviewed list in
//! `checks/parity.yaml` explains them. Used on recorded and live clusters.

use std::collections::{BTreeMap, BTreeSet};

use meshdoctor::docgen::parity::{Difference, differences};
use meshdoctor::knowledge::{Knowledge, RowSeverity};
use meshdoctor::rows::RowResult;

/// A row by category and description.
pub type Name = (String, String);

/// The result of one side for a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowAnswer {
    /// The verdict.
    pub result: RowResult,
    /// The text next to it.
    pub error: String,
}

/// The rows of one side, in order.
pub type Rows = Vec<(Name, RowAnswer)>;

/// One run of both commands: the state and both results.
pub struct Pair<'a> {
    /// The state of the cluster: a recording's name.
    pub state: &'a str,
    /// The real command's rows.
    pub theirs: &'a Rows,
    /// Ours.
    pub ours: &'a Rows,
    /// Categories that the real command could not be recorded in.
    pub unrecorded: &'a [&'a str],
}

/// The differences that no entry of the list explains. Records the indexes of the used entries.
pub fn unexplained(pair: &Pair<'_>, used: &mut BTreeSet<usize>) -> Vec<String> {
    let knowledge = Knowledge::embedded().linkerd_check();
    let ours: BTreeMap<&Name, &RowAnswer> = pair.ours.iter().map(|(name, said)| (name, said)).collect();
    let theirs: BTreeMap<&Name, &RowAnswer> = pair.theirs.iter().map(|(name, said)| (name, said)).collect();
    let recorded = |name: &Name| !pair.unrecorded.contains(&name.0.as_str());
    // After a fatal row the real command prints nothing more of the core.
    let stopped = pair.theirs.iter().any(|((category, description), said)| {
        said.result == RowResult::Error
            && knowledge.row(category, description).is_some_and(|row| row.severity == RowSeverity::Fatal)
    });
    let mut wrong = Vec::new();
    for (name, said) in pair.theirs.iter().filter(|(name, _)| recorded(name)) {
        let own = ours.get(name).copied();
        if own.map(|own| own.result) == Some(said.result) {
            continue;
        }
        match differences().iter().position(|entry| explains(entry, pair.state, name, Some(said), own)) {
            Some(at) => _ = used.insert(at),
            None => wrong.push(format!(
                "{}: {} / {}\n    theirs {:?} {}\n    ours   {}",
                pair.state,
                name.0,
                name.1,
                said.result,
                said.error,
                own.map_or("(no such row)".to_owned(), |own| format!("{:?} {}", own.result, own.error)),
            )),
        }
    }
    for (name, own) in pair.ours.iter().filter(|(name, _)| recorded(name) && !theirs.contains_key(name)) {
        if stopped {
            continue;
        }
        if let Some(at) = differences().iter().position(|entry| explains(entry, pair.state, name, None, Some(own))) {
            used.insert(at);
        } else {
            wrong.push(format!(
                "{}: {} / {}: theirs prints no such row; ours {:?} {}",
                pair.state, name.0, name.1, own.result, own.error
            ));
        }
    }
    wrong
}

fn explains(
    entry: &Difference,
    state: &str,
    name: &Name,
    theirs: Option<&RowAnswer>,
    ours: Option<&RowAnswer>,
) -> bool {
    let says = |text: &str| theirs.is_some_and(|theirs| theirs.error.contains(text));
    let we_say = |text: &str| ours.is_some_and(|own| own.error.contains(text));
    (entry.recordings.is_empty() || entry.recordings.iter().any(|recording| recording == state))
        && entry.category == name.0
        && entry.description == name.1
        && entry.theirs == theirs.map(|theirs| theirs.result)
        && entry.ours == ours.map(|own| own.result)
        && entry.their_error.as_deref().is_none_or(says)
        && entry.our_error.as_deref().is_none_or(we_say)
}
