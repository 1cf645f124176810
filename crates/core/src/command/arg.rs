//! One argument of a program: quoted text, or one of the few values that the shell fills in.

use std::fmt;

use super::connection::Connection;
use super::line::Line;
use super::quote;

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arg(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    /// A constant in this program.
    Known(&'static str),
    /// A value from outside, possibly from a cluster.
    Text(String),
    /// A file path, possibly from a cluster.
    Path(String),
    Variable(&'static str),
    Placeholder(&'static str),
    Output(Box<Line>),
    Script(Vec<Line>),
}

impl Arg {
    /// A constant word.
    pub fn known(word: &'static str) -> Arg {
        Arg(vec![Part::Known(word)])
    }

    /// A file path that no program treats as an option, even in a variable.
    pub fn path(path: impl Into<String>) -> Arg {
        Arg(vec![Part::Path(path.into())])
    }

    /// A variable that an earlier line of the command sets.
    pub fn variable(name: &'static str) -> Arg {
        Arg(vec![Part::Variable(name)])
    }

    /// The node of the command; see [`super::Command::about_node`].
    pub fn node() -> Arg {
        Arg::variable("NODE")
    }

    /// A value that the reader must set first, by the name of a variable: if it is not set, the shell prints an error
    /// and runs nothing.
    pub fn placeholder(name: &'static str) -> Arg {
        Arg(vec![Part::Placeholder(name)])
    }

    /// The output of a line, as one argument.
    pub fn output(line: impl Into<Line>) -> Arg {
        Arg(vec![Part::Output(Box::new(line.into()))])
    }

    /// Lines for another shell.
    pub fn script(lines: impl IntoIterator<Item = impl Into<Line>>) -> Arg {
        Arg(vec![Part::Script(lines.into_iter().map(Into::into).collect())])
    }

    /// The same with a suffix and no blank: `spec.nodeName=` and [`Arg::node`].
    pub fn then(mut self, more: impl Into<Arg>) -> Arg {
        self.0.append(&mut more.into().0);
        self
    }

    /// Whether it could be parsed as an option.
    pub(super) fn begins_with_dash(&self) -> bool {
        match self.0.first() {
            Some(Part::Text(text)) => text.starts_with('-'),
            Some(Part::Known(word)) => word.starts_with('-'),
            // The value of a variable is unknown.
            Some(Part::Path(_) | Part::Variable(_) | Part::Placeholder(_) | Part::Output(_) | Part::Script(_))
            | None => false,
        }
    }

    /// Whether it starts with a constant.
    pub(super) fn is_known(&self) -> bool {
        matches!(self.0.first(), Some(Part::Known(_)))
    }

    /// Whether it is a constant option.
    pub(super) fn is_known_option(&self) -> bool {
        matches!(self.0.as_slice(), [Part::Known(word)] if word.starts_with('-'))
    }

    pub(super) fn placeholders(&self, names: &mut Vec<&'static str>) {
        for part in &self.0 {
            match part {
                Part::Placeholder(name) => names.push(name),
                Part::Output(line) => line.placeholders(names),
                Part::Script(lines) => lines.iter().for_each(|line| line.placeholders(names)),
                Part::Known(_) | Part::Text(_) | Part::Path(_) | Part::Variable(_) => {}
            }
        }
    }

    /// A script runs elsewhere, so only its substitutions get connection options.
    pub(super) fn with_connection(&mut self, connection: &Connection) {
        for part in &mut self.0 {
            if let Part::Output(line) = part {
                line.with_connection(connection);
            }
        }
    }

    pub(super) fn render_as(&mut self, text: &dyn Fn(&str) -> String) {
        for part in &mut self.0 {
            match part {
                Part::Text(old) | Part::Path(old) => *old = text(old),
                Part::Output(line) => line.render_as(text),
                Part::Script(lines) => lines.iter_mut().for_each(|line| line.render_as(text)),
                Part::Known(_) | Part::Variable(_) | Part::Placeholder(_) => {}
            }
        }
    }

    /// Its text, if it is only text.
    pub(super) fn text(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Text(text)] => Some(text),
            [Part::Known(word)] => Some(word),
            _ => None,
        }
    }
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.0 {
            match part {
                Part::Known(word) => f.write_str(&quote::shell_word(word))?,
                Part::Text(text) => f.write_str(&quote::shell_word(text))?,
                Part::Path(path) if path.starts_with('-') => f.write_str(&quote::shell_word(&format!("./{path}")))?,
                Part::Path(path) => f.write_str(&quote::shell_word(path))?,
                Part::Variable(name) => write!(f, "\"${name}\"")?,
                Part::Placeholder(name) => write!(f, "\"${{{name}:?}}\"")?,
                Part::Output(line) => write!(f, "\"$({line})\"")?,
                Part::Script(lines) => {
                    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
                    f.write_str(&quote::single(&lines.join("\n")))?;
                }
            }
        }
        Ok(())
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Arg {
        Arg(vec![Part::Text(text.to_owned())])
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Arg {
        Arg(vec![Part::Text(text)])
    }
}

impl From<&String> for Arg {
    fn from(text: &String) -> Arg {
        text.as_str().into()
    }
}
