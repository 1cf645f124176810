//! How two steps of a plan become one.

use std::collections::BTreeSet;

use crate::command::Command;
use crate::finding::{Restarts, Step};

/// How two steps become one.
pub(super) enum Merge {
    /// The first includes the second.
    First,
    /// A step that does what both do: the second, one command that changes a list as both do, or one that sets the
    /// values of both.
    Into(Box<Step>),
    /// The same for one of the commands that were joined to the first, by its index.
    Part(usize, Box<Step>),
    /// The commands of both.
    Both,
}

impl Merge {
    /// Two steps can be merged that have the same command, the same text without a command, or the same text with
    /// commands whose lines can run together, and restarts of which one includes the other. `of_several`: the text of
    /// `other` for several workloads.
    pub(super) fn find(one: &Step, other: &Step, of_several: &str) -> Option<Merge> {
        if includes_restart(one, other) {
            return Some(Merge::First);
        }
        if includes_restart(other, one) {
            return Some(Merge::Into(Box::new(other.clone())));
        }
        match (&one.command, &other.command) {
            (None, None) => (one.text == other.text).then_some(Merge::First),
            (Some(a), Some(b)) if a == b => Some(Merge::First),
            (Some(a), Some(b)) => {
                let separable = |command: &Command| !command.is_whole() && command.node().is_none();
                let is_same = || one.text == other.text || one.text == of_several;
                (separable(a) && separable(b) && is_same()).then_some(Merge::Both)
            }
            _ => None,
        }
    }
}

/// Whether a step recreates all pods that another one only restarts.
pub(super) fn includes_restart(one: &Step, other: &Step) -> bool {
    match (one.restarts, other.restarts) {
        (Restarts::ControlPlane | Restarts::ControlPlaneByUpgrade, Restarts::ControlPlane) => true,
        (Restarts::Workloads, Restarts::Workloads) => {
            let of = |step: &Step| step.command.as_ref().map(restarted).unwrap_or_default();
            of(one).is_superset(&of(other))
        }
        _ => false,
    }
}

/// The lines of a command, those that renew several workloads once for each of them.
fn restarted(command: &Command) -> BTreeSet<String> {
    command.rendered().iter().flat_map(|line| of_each_workload(line).unwrap_or_else(|| vec![line.clone()])).collect()
}

/// A line that renews several workloads, once for each of them: `kubectl rollout restart A B`, or
/// `kubectl get A B -o yaml | linkerd inject ...`.
fn of_each_workload(line: &str) -> Option<Vec<String>> {
    const RESTART: &str = " rollout restart ";
    const INJECT: &str = " -o yaml | linkerd ";
    let (before, workloads, after) = match line.split_once(INJECT) {
        Some((before, after)) => {
            let (before, workloads) = before.split_once(" get ")?;
            (format!("{before} get "), workloads, format!("{INJECT}{after}"))
        }
        None => {
            let (before, workloads) = line.split_once(RESTART)?;
            (format!("{before}{RESTART}"), workloads, String::new())
        }
    };
    Some(workloads.split(' ').map(|workload| format!("{before}{workload}{after}")).collect())
}
