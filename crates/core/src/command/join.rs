//! Commands that grow by the lines of others.

use std::collections::{HashMap, HashSet};

use super::Command;
use super::call::Word;
use super::line::Line;

/// The lines, nodes and renewed workloads of a command, so that joining many others takes time in proportion to their
/// lines.
#[derive(Debug, Default)]
pub struct JoinIndex {
    lines: HashSet<Line>,
    nodes: HashSet<String>,
    /// Its lines that renew workloads, without these: where they are, and the workloads.
    renewals: HashMap<Line, (usize, HashSet<Word>)>,
}

impl JoinIndex {
    /// The index of a command.
    pub fn new(command: &Command) -> JoinIndex {
        let mut index = JoinIndex {
            lines: command.lines.iter().cloned().collect(),
            nodes: command.node.iter().chain(&command.other_nodes).cloned().collect(),
            renewals: HashMap::new(),
        };
        for (at, line) in command.lines.iter().enumerate() {
            index.add_renewal(at, line);
        }
        index
    }

    fn add_renewal(&mut self, at: usize, line: &Line) {
        if let Some((rest, workloads)) = line.workloads() {
            self.renewals.entry(rest).or_insert_with(|| (at, workloads.into_iter().collect()));
        }
    }
}

impl Line {
    /// Lines in their order; consecutive ones that renew workloads in the same way become one, for at most `at_once`.
    pub fn joined(lines: impl IntoIterator<Item = Line>, at_once: usize) -> Vec<Line> {
        let mut joined: Vec<Line> = Vec::new();
        for line in lines {
            let known = joined.last().and_then(Line::workloads);
            match (known, line.workloads()) {
                (Some((rest, all)), Some((same, more))) if rest == same && all.len() + more.len() <= at_once => {
                    joined.last_mut().into_iter().for_each(|last| last.add_workloads(more.clone()));
                }
                _ => joined.push(line),
            }
        }
        joined
    }
}

impl Command {
    /// The same as [`Command::join`] for one of many commands, with the index of this one.
    pub fn join_indexed(&mut self, index: &mut JoinIndex, other: &Command) {
        if let (Some(_), Some(node)) = (&self.node, &other.node) {
            if index.nodes.insert(node.clone()) {
                self.other_nodes.push(node.clone());
            }
            return;
        }
        let before = self.lines.len();
        for line in &other.lines {
            if !index.lines.insert(line.clone()) {
                continue;
            }
            // What a new line prepares comes after it: `rollout resume` before `rollout restart`.
            let renewal = line.workloads().filter(|_| self.lines.len() == before);
            let known = renewal.and_then(|(rest, more)| Some((index.renewals.get_mut(&rest)?, more)));
            match known {
                Some(((at, workloads), more)) => {
                    let new: Vec<Word> = more.into_iter().filter(|word| workloads.insert(word.clone())).collect();
                    self.lines[*at].add_workloads(new);
                }
                None => {
                    index.add_renewal(self.lines.len(), line);
                    self.lines.push(line.clone());
                }
            }
        }
    }
}
