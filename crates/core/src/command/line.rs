//! One line of a command: programs and constant shell syntax.

use std::fmt;

use super::arg::Arg;
use super::call::{Call, Program, Word};
use super::connection::Connection;

/// The beginning of a line that runs only with one release of the linkerd CLI.
const GUARD: &str = "linkerd version --client --short | grep -Fx ";
/// The same as earlier versions wrote it, in saved reports.
const GUARD_BEFORE: &str = "test \"$(linkerd version --client --short)\" = ";

/// The parts of a printed line that runs only with one release of the linkerd CLI: the test, without `&&`, and the
/// rest. `None` for other lines.
pub fn guard_apart(line: &str) -> Option<(&str, &str)> {
    let is_guarded = line.starts_with(GUARD) || line.starts_with(GUARD_BEFORE);
    line.split_once(" && ").filter(|_| is_guarded)
}

/// A line for a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Piece {
    Call(Box<Call>),
    Syntax(&'static str),
    Arg(Arg),
    /// `NAME=VALUE`.
    Set(&'static str, Arg),
    /// `linkerd version --client --short | grep -Fx RELEASE &&`.
    OnlyWithCli(Arg),
    /// A line of a saved report, as it was printed.
    Recorded {
        text: String,
        placeholders: Vec<&'static str>,
    },
}

impl Line {
    /// Constant shell syntax: `for F in *; do`. Other text must use [`Line::arg`].
    pub fn shell(syntax: &'static str) -> Line {
        Line(vec![Piece::Syntax(syntax)])
    }

    /// A constant comment: some shells execute comments.
    pub fn comment(words: &'static str) -> Line {
        debug_assert!(
            words.starts_with("# ") && !words.contains(['\n', '$', '`', '\'', '"', '(', ';', '&', '|', '<', '>'])
        );
        Line::shell(words)
    }

    /// A line of a saved report, as it was printed.
    pub(super) fn recorded(text: &str, placeholders: Vec<&'static str>) -> Line {
        Line(vec![Piece::Recorded { text: text.to_owned(), placeholders }])
    }

    /// Sets a variable.
    pub fn set(variable: &'static str, value: impl Into<Arg>) -> Line {
        Line(vec![Piece::Set(variable, value.into())])
    }

    /// Adds shell syntax.
    pub fn and_shell(mut self, syntax: &'static str) -> Line {
        self.0.push(Piece::Syntax(syntax));
        self
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<Arg>) -> Line {
        self.0.push(Piece::Arg(arg.into()));
        self
    }

    /// Adds a program.
    pub fn call(mut self, call: Call) -> Line {
        self.0.push(Piece::Call(Box::new(call)));
        self
    }

    /// Adds another line.
    pub fn line(mut self, line: impl Into<Line>) -> Line {
        self.0.append(&mut line.into().0);
        self
    }

    /// `… | CALL`.
    pub fn pipe(self, into: Call) -> Line {
        self.and_shell("|").call(into)
    }

    /// `… > FILE`.
    pub fn to_file(self, file: impl Into<Arg>) -> Line {
        self.and_shell(">").arg(file)
    }

    /// `… && LINE`: only on success.
    pub fn and(self, line: impl Into<Line>) -> Line {
        self.and_shell("&&").line(line)
    }

    /// `… || echo WORDS`: prints a message on failure.
    pub fn or_say(self, words: impl Into<Arg>) -> Line {
        self.and_shell("|| echo").arg(words).and_shell(">&2")
    }

    /// Runs a line only with the linkerd CLI of a release. With another one nothing runs, not even the
    /// programs that the CLI is piped into: in every shell, `&&` binds more loosely than `|`. A line with `;`
    /// or `||` would end that protection; a further `&&` keeps it.
    pub fn only_with_cli(release: impl Into<Arg>, line: impl Into<Line>) -> Line {
        let line = line.into();
        let is_end = |syntax: &str| syntax.contains([';', '&']) || syntax.contains("||");
        let ends = |piece: &Piece| matches!(piece, Piece::Syntax(syntax) if is_end(syntax));
        debug_assert!(!line.0.iter().any(ends), "{line}");
        Line(vec![Piece::OnlyWithCli(release.into())]).line(line)
    }

    /// The workloads that it gives new pods, and the line without them: `kubectl rollout restart …`, or
    /// `kubectl get … | linkerd inject …`, perhaps only with one release of the CLI.
    pub(super) fn workloads(&self) -> Option<(Line, Vec<Word>)> {
        let at = self.of_workloads()?;
        let Some(Piece::Call(call)) = self.0.get(at) else { return None };
        let (call, workloads) = call.without_operands()?;
        let mut line = self.clone();
        line.0[at] = Piece::Call(Box::new(call));
        Some((line, workloads))
    }

    /// Adds workloads to those of the line.
    pub(super) fn add_workloads(&mut self, workloads: Vec<Word>) {
        let at = self.of_workloads();
        if let Some(Piece::Call(call)) = at.and_then(|at| self.0.get_mut(at)) {
            call.add_operands(workloads);
        }
    }

    /// The index of the program whose operands are the workloads.
    fn of_workloads(&self) -> Option<usize> {
        let (before, pieces) = match self.0.as_slice() {
            [Piece::OnlyWithCli(_), rest @ ..] => (1, rest),
            all => (0, all),
        };
        let renews = match pieces {
            [Piece::Call(call)] => call.is(Program::Kubectl, &["rollout", "restart"]),
            [Piece::Call(get), Piece::Syntax("|"), Piece::Call(inject), ..] => {
                get.is(Program::Kubectl, &["get"]) && inject.is(Program::Linkerd, &["inject"])
            }
            _ => false,
        };
        renews.then_some(before)
    }

    /// The release of the linkerd CLI that it requires, if any.
    pub(super) fn required_cli(&self) -> Option<&str> {
        self.0.iter().find_map(|piece| match piece {
            Piece::OnlyWithCli(release) => release.text(),
            Piece::Recorded { text, .. } => guard_apart(text)?.0.rsplit(' ').next(),
            _ => None,
        })
    }

    pub(super) fn with_connection(&mut self, connection: &Connection) {
        for piece in &mut self.0 {
            match piece {
                Piece::Call(call) => call.with_connection(connection),
                Piece::Arg(arg) | Piece::Set(_, arg) | Piece::OnlyWithCli(arg) => arg.with_connection(connection),
                Piece::Syntax(_) | Piece::Recorded { .. } => {}
            }
        }
    }

    pub(super) fn set_values(&mut self, values: &[(&str, &str, bool)]) {
        for piece in &mut self.0 {
            if let Piece::Call(call) = piece {
                call.set_values(values);
            }
        }
    }

    pub(super) fn render_as(&mut self, text: &dyn Fn(&str) -> String) {
        for piece in &mut self.0 {
            match piece {
                Piece::Call(call) => call.render_as(text),
                Piece::Arg(arg) | Piece::Set(_, arg) | Piece::OnlyWithCli(arg) => arg.render_as(text),
                Piece::Syntax(_) | Piece::Recorded { .. } => {}
            }
        }
    }

    pub(super) fn placeholders(&self, names: &mut Vec<&'static str>) {
        for piece in &self.0 {
            match piece {
                Piece::Call(call) => call.placeholders(names),
                Piece::Arg(arg) | Piece::Set(_, arg) | Piece::OnlyWithCli(arg) => arg.placeholders(names),
                Piece::Recorded { placeholders, .. } => names.extend(placeholders),
                Piece::Syntax(_) => {}
            }
        }
    }
}

impl From<Call> for Line {
    fn from(call: Call) -> Line {
        Line(vec![Piece::Call(Box::new(call))])
    }
}

impl Call {
    /// `… | CALL`.
    pub fn pipe(self, into: Call) -> Line {
        Line::from(self).pipe(into)
    }

    /// `… > FILE`.
    pub fn to_file(self, file: impl Into<Arg>) -> Line {
        Line::from(self).to_file(file)
    }

    /// `… && LINE`.
    pub fn and(self, line: impl Into<Line>) -> Line {
        Line::from(self).and(line)
    }

    /// `… || echo WORDS`.
    pub fn or_say(self, words: impl Into<Arg>) -> Line {
        Line::from(self).or_say(words)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, piece) in self.0.iter().enumerate() {
            let glued = matches!(piece, Piece::Syntax(syntax) if syntax.starts_with(';'));
            if at > 0 && !glued {
                f.write_str(" ")?;
            }
            match piece {
                Piece::Call(call) => write!(f, "{call}")?,
                Piece::Syntax(syntax) => f.write_str(syntax)?,
                Piece::Recorded { text, .. } => f.write_str(text)?,
                Piece::Arg(arg) => write!(f, "{arg}")?,
                Piece::Set(variable, value) => write!(f, "{variable}={value}")?,
                Piece::OnlyWithCli(release) => {
                    write!(f, "{GUARD}{release} &&")?;
                }
            }
        }
        Ok(())
    }
}
