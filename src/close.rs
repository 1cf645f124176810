//! How a gap in the evidence is closed.

use std::fmt;

use crate::command::{Command, Connection};

/// How a gap is closed: in words, and by a command where there is one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Close {
    /// What to do.
    pub text: String,
    /// What to paste.
    pub command: Option<Command>,
}

impl Close {
    /// By asking running programs.
    pub(crate) fn with_probe() -> Close {
        Close::say("rerun with --probe, on the cluster itself")
    }

    /// In words.
    pub(crate) fn say(text: impl Into<String>) -> Close {
        Close { text: text.into(), command: None }
    }

    /// In words, and what to paste.
    pub(crate) fn run(text: impl Into<String>, command: impl Into<Command>) -> Close {
        Close { text: text.into(), command: Some(command.into()) }
    }

    /// The same for the cluster that was asked.
    pub fn aimed(self, connection: &Connection) -> Close {
        Close { command: self.command.map(|command| command.aimed(connection)), ..self }
    }
}

impl fmt::Display for Close {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.command.as_ref().map_or(Ok(()), |command| write!(f, ": {command}"))
    }
}
