//! A command is a value: programs with their arguments, and where they run. Text of a cluster enters only as an [`Arg`],
//! which is quoted for `sh` when the command is rendered; shell syntax is only ever a `&'static str`. So no rule quotes by
//! hand, and no name can run anything. Nothing here is run: commands are printed for people to paste.
//!
//! ```
//! use meshdoctor::command::{Arg, Command, kubectl};
//!
//! let pods = kubectl().namespace("shop").words("delete pod").operand("web-$(id)");
//! assert_eq!(Command::from(pods).to_string(), "kubectl -n shop delete pod 'web-$(id)'");
//! ```

mod arg;
mod asked;
mod call;
mod called;
mod connection;
mod line;
mod quote;
mod rerun;
mod values;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use arg::Arg;
pub use asked::Asked;
pub use call::{Call, Program, helm, kubectl, linkerd, meshdoctor, program};
pub use called::{Called, own};
pub use connection::Connection;
pub use line::Line;
pub use rerun::{Flag, Repeated, Rerun};
pub use values::helm_set;

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunsOn {
    /// A shell on the operator's machine.
    Workstation,
    /// A root shell on the host of a node, which the operator has opened there.
    Node,
}

/// The properties of a command in a saved report, in addition to its text.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// See [`Command::runs_on`].
    pub runs_on: RunsOn,
    /// See [`Command::node`].
    pub node: Option<String>,
    /// See [`Command::other_nodes`].
    pub other_nodes: Vec<String>,
    /// See [`Command::placeholders`].
    pub placeholders: Vec<&'static str>,
}

/// Something to paste: lines, in their order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Command {
    runs_on: RunsOn,
    node: Option<String>,
    other_nodes: Vec<String>,
    lines: Vec<Line>,
    whole: bool,
}

impl Command {
    /// Lines for the operator's machine.
    pub fn lines(lines: impl IntoIterator<Item = impl Into<Line>>) -> Command {
        Command {
            runs_on: RunsOn::Workstation,
            node: None,
            other_nodes: Vec::new(),
            lines: lines.into_iter().map(Into::into).collect(),
            whole: false,
        }
    }

    /// Lines for the operator's machine that are about one node, as [`Arg::node`]: the node's name stands once, in front,
    /// so that the same lines serve for other nodes.
    pub fn about_node(node: &str, lines: impl IntoIterator<Item = impl Into<Line>>) -> Command {
        Command { node: Some(node.to_owned()), whole: true, ..Command::lines(lines) }
    }

    /// A script that runs as root on the host of a node, from the operator's machine: wholly there, so that where no shell
    /// opens on the node nothing runs at all.
    pub fn on_node(node: &str, script: impl IntoIterator<Item = impl Into<Line>>) -> Command {
        let debug = kubectl()
            .words("debug")
            .arg(Arg::known("node/").then(Arg::node()))
            .words("-it --profile=sysadmin --image=busybox -- chroot /host sh -c")
            .arg(Arg::script(script));
        Command::about_node(node, [debug])
    }

    /// Lines for a root shell that somebody has opened on the host of a node.
    pub fn in_node_shell(script: impl IntoIterator<Item = impl Into<Line>>) -> Command {
        Command { runs_on: RunsOn::Node, whole: true, ..Command::lines(script) }
    }

    /// A command of a saved report, as it was printed; nothing in it is quoted or aimed again. Its lines belong together.
    pub fn recorded(text: &str, recorded: Recorded) -> Command {
        let Recorded { runs_on, node, other_nodes, placeholders } = recorded;
        let set = node.as_ref().map(|node| format!("{}\n", Line::set("NODE", node.as_str())));
        let text = set.as_ref().and_then(|set| text.strip_prefix(set.as_str())).unwrap_or(text);
        let mut placeholders = Some(placeholders);
        let line = |line| Line::recorded(line, placeholders.take().unwrap_or_default());
        let lines = text.split('\n').map(line).collect();
        Command { runs_on, node, other_nodes, lines, whole: true }
    }

    /// Says that its lines belong together: none may be left out where a report is short.
    pub fn whole(mut self) -> Command {
        self.whole = true;
        self
    }

    /// Where it runs.
    pub fn runs_on(&self) -> RunsOn {
        self.runs_on
    }

    /// The node that it is written for.
    pub fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// Further nodes on which the same is to be done.
    pub fn other_nodes(&self) -> &[String] {
        &self.other_nodes
    }

    /// Whether its lines belong together.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// What it says, line by line as it is pasted. An argument that ends in line breaks takes more than one.
    pub fn rendered(&self) -> Vec<String> {
        self.to_string().split('\n').map(str::to_owned).collect()
    }

    /// What has to be put into it by hand before it can run: names of variables.
    pub fn placeholders(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        self.lines.iter().for_each(|line| line.placeholders(&mut names));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The same command with another text wherever a text came from elsewhere: what a test pastes to see that no text can
    /// become more than an argument.
    pub fn retold(mut self, text: &dyn Fn(&str) -> String) -> Command {
        self.node = self.node.map(|node| text(&node));
        self.lines.iter_mut().for_each(|line| line.retell(text));
        self
    }

    /// The same for the cluster that was judged: every program that asks a cluster gets the options by which that cluster
    /// is reached.
    pub fn aimed(mut self, connection: &Connection) -> Command {
        self.lines.iter_mut().for_each(|line| line.aim(connection));
        self
    }

    /// Adds the lines of others, each once. What is written for a node stays as it is and names the nodes of the others.
    pub fn join<'a>(&mut self, others: impl IntoIterator<Item = &'a Command>) {
        let mut lines: BTreeSet<Line> = self.lines.iter().cloned().collect();
        let mut nodes: BTreeSet<String> = self.node.iter().cloned().collect();
        for other in others {
            match (&self.node, &other.node) {
                (Some(_), Some(node)) => {
                    if nodes.insert(node.clone()) {
                        self.other_nodes.push(node.clone());
                    }
                }
                _ => self
                    .lines
                    .extend(other.lines.iter().filter(|line| lines.insert((*line).clone())).cloned()),
            }
        }
    }

    /// Puts another before it.
    pub fn after(mut self, first: Command) -> Command {
        let mut lines = first.lines;
        lines.append(&mut self.lines);
        Command { node: first.node.or(self.node), whole: first.whole || self.whole, lines, ..self }
    }
}

impl<L: Into<Line>> From<L> for Command {
    fn from(line: L) -> Command {
        Command::lines([line.into()])
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = self.node.as_ref().map(|node| Line::set("NODE", node.as_str()));
        for (at, line) in node.iter().chain(&self.lines).enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
