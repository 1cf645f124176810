//! A command as a value: programs with their arguments, and the place to run. Text of a cluster must be an [`Arg`],
//! which is quoted for `sh`; shell syntax is always `&'static str`. So rules need no quoting, and names cannot run
//! anything. Commands are only printed.
//!
//! ```
//! use meshdoctor_core::command::{Arg, Command, kubectl};
//!
//! let pods = kubectl().namespace("shop").words("delete pod").operand("web-$(id)");
//! assert_eq!(Command::from(pods).to_string(), "kubectl -n shop delete pod 'web-$(id)'");
//! ```

mod arg;
mod call;
mod connection;
mod join;
mod line;
mod placeholder;
mod program_name;
mod quote;
mod rerun;
mod rerun_options;
mod values;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use arg::Arg;
pub use call::{Call, NODE_IMAGE, Program, collect_from_nodes, helm, kubectl, linkerd, meshdoctor, program};
pub use connection::Connection;
pub use join::JoinIndex;
pub use line::{Line, guard_apart};
pub use placeholder::is_named;
pub use program_name::{Called, own};
pub use rerun::{Flag, Repeated, Rerun};
pub use rerun_options::RerunOptions;
pub use values::helm_set;

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunsOn {
    /// A shell on the operator's machine.
    Workstation,
    /// A root shell on a node, opened by the operator.
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

/// A command to paste: lines in order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Command {
    runs_on: RunsOn,
    node: Option<String>,
    other_nodes: Vec<String>,
    lines: Vec<Line>,
    whole: bool,
}

impl Command {
    /// Whether a text in it was redacted, so that it must not be run.
    pub fn holds_redacted_value(&self) -> bool {
        const MARKER: &str = "REDACTED(";
        self.rendered().iter().any(|line| line.contains(MARKER))
    }

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

    /// Lines for the operator's machine about one node ([`Arg::node`]): the node's name is in the first line, so that
    /// the others can be reused for other nodes.
    pub fn about_node(node: &str, lines: impl IntoIterator<Item = impl Into<Line>>) -> Command {
        Command { node: Some(node.to_owned()), whole: true, ..Command::lines(lines) }
    }

    /// A script that runs as root on a node, from the operator's machine: completely in the node's shell, so that
    /// nothing runs if no shell opens.
    pub fn on_node(node: &str, script: impl IntoIterator<Item = impl Into<Line>>) -> Command {
        let debug = kubectl()
            .words("debug")
            .arg(Arg::known("node/").then(Arg::node()))
            .words("-it --profile=sysadmin --image=busybox -- chroot /host sh -c")
            .arg(Arg::script(script));
        Command::about_node(node, [debug])
    }

    /// A script about the CNI files of a node whose host has no shell, from the operator's machine. It runs in the
    /// container of the debug pod, where links make the paths those of the node.
    pub fn on_node_files(node: &str, script: impl IntoIterator<Item = impl Into<Line>>) -> Command {
        let links = Line::shell("ln -s /host/etc/cni /etc/cni && mkdir -p /opt && ln -s /host/opt/cni /opt/cni");
        let script = std::iter::once(links).chain(script.into_iter().map(Into::into));
        Command::in_debug_pod(node, [Arg::known("sh"), Arg::known("-c"), Arg::script(script)])
    }

    /// A program of the image that a debug pod on a node runs as root. Talos allows such pods in this namespace only.
    pub fn in_debug_pod(node: &str, words: impl IntoIterator<Item = Arg>) -> Command {
        let debug = kubectl()
            .namespace("kube-system")
            .words("debug")
            .arg(Arg::known("node/").then(Arg::node()))
            .words("-it --profile=sysadmin --image=busybox --");
        Command::about_node(node, [words.into_iter().fold(debug, Call::arg)])
    }

    /// Lines for a root shell on a node.
    pub fn in_node_shell(script: impl IntoIterator<Item = impl Into<Line>>) -> Command {
        Command { runs_on: RunsOn::Node, whole: true, ..Command::lines(script) }
    }

    /// A command of a saved report, as printed; it is neither quoted nor given a connection again. Its lines
    /// are a unit.
    pub fn recorded(text: &str, recorded: Recorded) -> Command {
        let Recorded { runs_on, node, other_nodes, placeholders } = recorded;
        let set = node.as_ref().map(|node| format!("{}\n", Line::set("NODE", node.as_str())));
        let text = set.as_ref().and_then(|set| text.strip_prefix(set.as_str())).unwrap_or(text);
        let mut placeholders = Some(placeholders);
        let line = |line| Line::recorded(line, placeholders.take().unwrap_or_default());
        let lines = text.split('\n').map(line).collect();
        Command { runs_on, node, other_nodes, lines, whole: true }
    }

    /// Marks its lines as a unit: a short report must not omit any.
    pub fn whole(mut self) -> Command {
        self.whole = true;
        self
    }

    /// Where it runs.
    pub fn runs_on(&self) -> RunsOn {
        self.runs_on
    }

    pub fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// Further nodes to run it on.
    pub fn other_nodes(&self) -> &[String] {
        &self.other_nodes
    }

    /// The same command for one of its nodes only.
    pub fn only_on(&self, node: &str) -> Command {
        let node = self.node.as_ref().map(|_| node.to_owned());
        Command { node, other_nodes: Vec::new(), ..self.clone() }
    }

    /// The nodes on which it calls a subcommand of kubectl, if it is about nodes.
    pub fn nodes_of(&self, subcommand: &str) -> Option<Vec<&str>> {
        let first = self.node.as_deref()?;
        let is_call = |line: &String| line.starts_with("kubectl ") && line.split(' ').any(|word| word == subcommand);
        let nodes = || std::iter::once(first).chain(self.other_nodes.iter().map(String::as_str)).collect();
        self.rendered().iter().any(is_call).then(nodes)
    }

    /// Whether its lines are a unit.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Its text, line by line. An argument that ends in line breaks takes several lines.
    pub fn rendered(&self) -> Vec<String> {
        self.to_string().split('\n').map(str::to_owned).collect()
    }

    /// The release of the linkerd CLI without which it does nothing, if it is guarded.
    pub fn required_cli(&self) -> Option<&str> {
        self.lines.iter().find_map(Line::required_cli)
    }

    /// The release of the linkerd CLI that it installs, if it does.
    pub fn installed_cli(&self) -> Option<String> {
        let rendered = self.rendered();
        let (_, rest) = rendered.iter().find_map(|line| line.split_once("LINKERD2_VERSION="))?;
        rest.split([' ', '\'', '"']).next().map(str::to_owned)
    }

    /// Variables that the reader must set first.
    pub fn placeholders(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        self.lines.iter().for_each(|line| line.placeholders(&mut names));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The text of its step with the meanings of the variables that neither `text` nor the `earlier` texts name.
    pub fn introduced(&self, text: &str, earlier: &[&str]) -> String {
        let is_new = |name: &&str| !is_named(name, text) && !earlier.iter().any(|text| is_named(name, text));
        placeholder::introducing(text, self.placeholders().into_iter().filter(is_new))
    }

    /// The command with all texts from outside replaced, for tests of quoting.
    pub fn retold(mut self, text: &dyn Fn(&str) -> String) -> Command {
        self.node = self.node.map(|node| text(&node));
        self.lines.iter_mut().for_each(|line| line.render_as(text));
        self
    }

    /// The command with another value of an annotation, in `kubectl annotate` or in a patch; `None` removes the
    /// annotation.
    pub fn with_annotation(self, key: &str, from: Option<&str>, to: Option<&str>) -> Command {
        let operand = |value: Option<&str>| match value {
            Some(value) => format!("{key}={value}"),
            None => format!("{key}-"),
        };
        let field = |value: Option<&str>| format!("\"{key}\":{}", serde_json::json!(value));
        let (old, new) = (field(from), field(to));
        self.retold(&|text| match text == operand(from) {
            true => operand(to),
            false => text.replace(&old, &new),
        })
    }

    /// The command with other values of the charts that it installs or upgrades: each as its path, the value, and
    /// whether it stays a string.
    pub fn with_values(mut self, values: &[(&str, &str, bool)]) -> Command {
        self.lines.iter_mut().for_each(|line| line.set_values(values));
        self
    }

    /// The command with connection options for the cluster of the run.
    pub fn aimed(mut self, connection: &Connection) -> Command {
        self.lines.iter_mut().for_each(|line| line.with_connection(connection));
        self
    }

    /// Adds the lines of others, each once. A command for a node is kept and lists the nodes of the others.
    pub fn join<'a>(&mut self, others: impl IntoIterator<Item = &'a Command>) {
        let mut index = JoinIndex::new(self);
        others.into_iter().for_each(|other| self.join_indexed(&mut index, other));
    }

    /// Deletes a file after the lines that `reads` selects by their text, only if they succeed.
    pub fn and_delete(&mut self, file: &str, reads: impl Fn(&str) -> bool) {
        for line in self.lines.iter_mut().filter(|line| reads(&line.to_string())) {
            *line = line.clone().and(program("rm").words("-f").arg(file.to_owned()));
        }
    }

    /// Replaces the lines of one command by those of another one.
    pub fn replace_lines(&mut self, old: &Command, new: &Command) {
        let Some(at) = self.lines.iter().position(|line| old.lines.contains(line)) else { return };
        self.lines.retain(|line| !old.lines.contains(line));
        self.lines.splice(at..at, new.lines.iter().cloned());
    }

    /// Puts another one before it.
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
