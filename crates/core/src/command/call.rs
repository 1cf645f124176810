//! One program with its arguments.

use std::fmt;

use super::arg::Arg;
use super::connection::Connection;
use super::program_name::Called;
use super::values::helm_set;

/// What is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    /// `kubectl`.
    Kubectl,
    /// `linkerd`, with its extensions' commands.
    Linkerd,
    /// `helm`.
    Helm,
    /// `meshdoctor`.
    Meshdoctor,
    /// Another program, which contacts no cluster.
    Other(&'static str),
}

/// The subcommands of meshdoctor that contact a cluster.
const WITH_CLUSTER: [&str; 9] = ["check", "collect", "fix", "injection", "policy", "reach", "rotate", "sync", "ticket"];

/// The options that set values of a chart, the second one always strings.
const SET: &str = "--set";
const SET_STRING: &str = "--set-string";

/// A program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    program: Program,
    /// Its connection options, added by `with_connection`.
    connection: Vec<Arg>,
    /// It contacts no cluster, or another one.
    elsewhere: bool,
    words: Vec<Word>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Word {
    /// An option, its value, or a positional argument.
    Plain(Arg),
    /// A positional argument, whatever its text.
    Operand(Arg),
}

impl Word {
    fn arg(&self) -> &Arg {
        let (Word::Plain(arg) | Word::Operand(arg)) = self;
        arg
    }
}

/// `kubectl`.
pub fn kubectl() -> Call {
    Call::new(Program::Kubectl)
}

/// `linkerd`.
pub fn linkerd() -> Call {
    Call::new(Program::Linkerd)
}

/// `helm`.
pub fn helm() -> Call {
    Call::new(Program::Helm)
}

/// `meshdoctor`.
pub fn meshdoctor() -> Call {
    Call::new(Program::Meshdoctor)
}

/// Image of the pods that read nodes, with which this build was made; `None` if it was made without one.
pub const NODE_IMAGE: Option<&str> = option_env!("MESHDOCTOR_NODE_IMAGE");

/// `meshdoctor collect --node-pods`, with a placeholder for the image if this build has none.
pub fn collect_from_nodes() -> Call {
    let call = meshdoctor().words("collect --node-pods");
    match NODE_IMAGE {
        Some(_) => call,
        None => call.option("--node-image", Arg::placeholder("IMAGE")),
    }
}

/// Another program.
pub fn program(name: &'static str) -> Call {
    Call::new(Program::Other(name))
}

impl Call {
    /// Whether it begins with these constant words, apart from options and their values before them.
    pub(super) fn is(&self, program: Program, verb: &[&str]) -> bool {
        let plain = self.words.iter().filter(|word| matches!(word, Word::Plain(_)));
        let words: Vec<&str> = plain.filter_map(|word| word.arg().text()).collect();
        self.program == program && words.windows(verb.len()).any(|some| some == verb)
    }

    /// Its operands, and the call without them; `None` if it has none.
    pub(super) fn without_operands(&self) -> Option<(Call, Vec<Word>)> {
        let (operands, words): (Vec<Word>, Vec<Word>) =
            self.words.iter().cloned().partition(|word| matches!(word, Word::Operand(_)));
        (!operands.is_empty()).then(|| (Call { words, ..self.clone() }, operands))
    }

    /// Adds operands after those that it has.
    pub(super) fn add_operands(&mut self, more: Vec<Word>) {
        let last = self.words.iter().rposition(|word| matches!(word, Word::Operand(_)));
        let at = last.map_or(self.words.len(), |at| at + 1);
        self.words.splice(at..at, more);
    }

    fn new(program: Program) -> Call {
        Call { program, connection: Vec::new(), elsewhere: false, words: Vec::new() }
    }

    /// Uses another cluster, by a context that the reader must set.
    pub fn in_context(mut self, context: impl Into<Arg>) -> Call {
        self.elsewhere = true;
        let option = if self.program == Program::Helm { "--kube-context" } else { "--context" };
        self.option(option, context)
    }

    /// Contacts no cluster: gets no connection options.
    pub fn offline(mut self) -> Call {
        self.elsewhere = true;
        self
    }

    /// `-n NAMESPACE`; nothing for cluster-scoped objects.
    pub fn namespace(self, namespace: &str) -> Call {
        if namespace.is_empty() { self } else { self.option("-n", namespace) }
    }

    /// `-L NAMESPACE` for `linkerd`, unless it is the default.
    pub fn control_plane(self, namespace: &str) -> Call {
        if namespace == "linkerd" { self } else { self.option("-L", namespace) }
    }

    /// Constant words, separated by blanks: `rollout restart`.
    pub fn words(mut self, words: &'static str) -> Call {
        self.words.extend(words.split_ascii_whitespace().map(|word| Word::Plain(Arg::known(word))));
        self
    }

    /// The value of the preceding option, or a positional argument, which is moved after `--` if it looks like an
    /// option.
    pub fn arg(mut self, arg: impl Into<Arg>) -> Call {
        self.words.push(Word::Plain(arg.into()));
        self
    }

    /// An option and its value, as two words.
    pub fn option(self, option: &'static str, value: impl Into<Arg>) -> Call {
        self.words(option).arg(value)
    }

    /// A positional argument, whatever its text.
    pub fn operand(mut self, arg: impl Into<Arg>) -> Call {
        self.words.push(Word::Operand(arg.into()));
        self
    }

    /// Several positional arguments.
    pub fn operands(mut self, args: impl IntoIterator<Item = impl Into<Arg>>) -> Call {
        self.words.extend(args.into_iter().map(|arg| Word::Operand(arg.into())));
        self
    }

    /// Sets values of the chart that it installs or upgrades, in place of the options that set them now.
    pub(super) fn set_values(&mut self, values: &[(&str, &str, bool)]) {
        let has_values = self.is(Program::Linkerd, &["install-cni"]) || self.is(Program::Helm, &["upgrade"]);
        if !has_values {
            return;
        }
        let is_option = |word: &Word| matches!(word.arg().text(), Some(SET | SET_STRING));
        let is_set = |word: &Word| {
            let path = word.arg().text().and_then(|text| text.split_once('='));
            path.is_some_and(|(path, _)| values.iter().any(|(new, ..)| *new == path))
        };
        let old = std::mem::take(&mut self.words);
        let mut rest = old.into_iter().peekable();
        while let Some(word) = rest.next() {
            match is_option(&word) && rest.peek().is_some_and(is_set) {
                true => _ = rest.next(),
                false => self.words.push(word),
            }
        }
        for (path, value, is_text) in values {
            let option = if *is_text { SET_STRING } else { SET };
            let pair = helm_set(path, value);
            self.words.extend([Arg::known(option), Arg::from(pair)].map(Word::Plain));
        }
    }

    pub(super) fn with_connection(&mut self, connection: &Connection) {
        let asks_none = match (self.program, self.words.first()) {
            (Program::Other(_), _) => true,
            (Program::Meshdoctor, Some(Word::Plain(first))) => {
                !first.text().is_some_and(|text| WITH_CLUSTER.contains(&text))
            }
            (Program::Kubectl | Program::Linkerd | Program::Helm | Program::Meshdoctor, _) => false,
        };
        if !(self.elsewhere || asks_none) {
            self.connection = connection.options(self.program);
        }
        self.each(|arg| arg.with_connection(connection));
    }

    /// Whether it runs on a node, where the program has its own name.
    fn is_for_a_node(&self) -> bool {
        self.words.first().is_some_and(|word| word.arg().text() == Some("node-snapshot"))
    }

    /// Whether a word must not be parsed as an option; constants are written as intended.
    fn is_operand(&self, at: usize) -> bool {
        let is_value = |at: usize| at > 0 && self.words[at - 1].arg().is_known_option();
        match &self.words[at] {
            Word::Operand(_) => true,
            Word::Plain(arg) => !arg.is_known() && !is_value(at),
        }
    }

    fn each(&mut self, mut act: impl FnMut(&mut Arg)) {
        for Word::Plain(arg) | Word::Operand(arg) in &mut self.words {
            act(arg);
        }
    }

    pub(super) fn render_as(&mut self, text: &dyn Fn(&str) -> String) {
        self.connection.iter_mut().for_each(|arg| arg.render_as(text));
        self.each(|arg| arg.render_as(text));
    }

    pub(super) fn placeholders(&self, names: &mut Vec<&'static str>) {
        self.connection.iter().for_each(|arg| arg.placeholders(names));
        for Word::Plain(arg) | Word::Operand(arg) in &self.words {
            arg.placeholders(names);
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.program {
            Program::Kubectl => "kubectl",
            Program::Linkerd => "linkerd",
            Program::Helm => "helm",
            Program::Meshdoctor if self.is_for_a_node() => Called::Own.words(),
            Program::Meshdoctor => Called::current().words(),
            Program::Other(name) => name,
        };
        f.write_str(name)?;
        // meshdoctor's options belong to its subcommands.
        let subcommand = usize::from(self.program == Program::Meshdoctor);
        // From the first positional argument that looks like an option, all go after `--`.
        let words = || self.words.iter().enumerate();
        // Words after a constant `--` are written as intended.
        let is_end = |word: &Word| word.arg().is_known_option() && word.arg().text() == Some("--");
        let end = self.words.iter().position(is_end).unwrap_or(self.words.len());
        let is_risky = |(at, word): (usize, &Word)| self.is_operand(at) && word.arg().begins_with_dash();
        let risky = words().take(end).position(is_risky).unwrap_or(end);
        let (behind, front): (Vec<_>, Vec<_>) =
            words().partition(|(at, _)| (risky..end).contains(at) && self.is_operand(*at));
        let front: Vec<_> = front.into_iter().map(|(_, word)| word.arg()).collect();
        let (first, rest) = front.split_at(subcommand.min(front.len()));
        for arg in first.iter().copied().chain(&self.connection).chain(rest.iter().copied()) {
            write!(f, " {arg}")?;
        }
        if !behind.is_empty() {
            f.write_str(" --")?;
        }
        behind.into_iter().try_for_each(|(_, word)| write!(f, " {}", word.arg()))
    }
}
