//! Commands that grow by the lines of others.

use std::collections::{HashMap, HashSet};

use super::Command;
use super::call::{RestartOptions, Word};
use super::line::Line;

/// The lines, nodes and restarts of a command, so that joining many others takes time in proportion to their lines.
#[derive(Debug, Default)]
pub struct JoinIndex {
    lines: HashSet<Line>,
    nodes: HashSet<String>,
    /// Its lines that restart workloads: where they are, and the workloads.
    restarts: HashMap<RestartOptions, (usize, HashSet<Word>)>,
}

impl JoinIndex {
    /// The index of a command.
    pub fn new(command: &Command) -> JoinIndex {
        let mut index = JoinIndex {
            lines: command.lines.iter().cloned().collect(),
            nodes: command.node.iter().chain(&command.other_nodes).cloned().collect(),
            restarts: HashMap::new(),
        };
        for (at, line) in command.lines.iter().enumerate() {
            index.add_restart(at, line);
        }
        index
    }

    fn add_restart(&mut self, at: usize, line: &Line) {
        if let Some((options, workloads)) = line.restart() {
            self.restarts.entry(options).or_insert_with(|| (at, workloads.into_iter().collect()));
        }
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
        for line in &other.lines {
            if !index.lines.insert(line.clone()) {
                continue;
            }
            let restart = line.restart();
            let known = restart.and_then(|(options, more)| Some((index.restarts.get_mut(&options)?, more)));
            match known {
                Some(((at, workloads), more)) => {
                    let new: Vec<Word> =
                        more.into_iter().filter(|word| workloads.insert(word.clone())).collect();
                    self.lines[*at].add_restarted(new);
                }
                None => {
                    index.add_restart(self.lines.len(), line);
                    self.lines.push(line.clone());
                }
            }
        }
    }
}
