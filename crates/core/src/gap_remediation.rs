//! Remediation of missing evidence.

use std::fmt;

use crate::command::{Command, Connection};

/// How to provide missing evidence: an instruction, and a command if there is one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GapRemediation {
    /// The instruction.
    pub text: String,
    pub command: Option<Command>,
}

impl GapRemediation {
    /// Query running programs.
    pub fn with_probe() -> GapRemediation {
        GapRemediation::instruction("run again with --probe against the live cluster")
    }

    /// An instruction.
    pub fn instruction(text: impl Into<String>) -> GapRemediation {
        GapRemediation { text: text.into(), command: None }
    }

    /// An instruction and a command.
    pub fn run(text: impl Into<String>, command: impl Into<Command>) -> GapRemediation {
        GapRemediation { text: text.into(), command: Some(command.into()) }
    }

    /// The same for the cluster of the run.
    pub fn aimed(self, connection: &Connection) -> GapRemediation {
        GapRemediation { command: self.command.map(|command| command.aimed(connection)), ..self }
    }
}

impl fmt::Display for GapRemediation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.command.as_ref().map_or(Ok(()), |command| write!(f, ": {command}"))
    }
}
