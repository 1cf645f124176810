//! How a report is to look: how wide, in colour or not, how much of it. Decided by `cli` from the terminal and the
//! flags; here it is only obeyed.

use owo_colors::{OwoColorize, Style};

use crate::finding::Severity;

/// How a report is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns. Less than [`Look::NARROWEST`] is taken as that.
    pub width: usize,
    /// Whether to write colours.
    pub colour: bool,
    /// Whether to write everything: every subject, every piece of evidence, the steps of infos, all versions.
    pub verbose: bool,
    /// Whether to say of everything that was not checked why that is, and how to check it.
    pub coverage: bool,
}

impl Look {
    /// Below this nothing reads well, so lines are left to the terminal to break.
    pub const NARROWEST: usize = 40;

    /// Prose gets no wider than this: longer lines are hard to follow with the eye.
    const WIDEST_PROSE: usize = 120;

    /// No colours, nothing more than usual.
    pub fn plain(width: usize) -> Look {
        Look { width, colour: false, verbose: false, coverage: false }
    }

    /// Columns for what should use all of them.
    pub fn columns(self) -> usize {
        self.width.max(Look::NARROWEST)
    }

    /// Columns for sentences.
    pub fn prose(self) -> usize {
        self.columns().min(Look::WIDEST_PROSE)
    }

    /// At most so many, or all of them when everything is wanted.
    pub fn most(self, usual: usize) -> usize {
        if self.verbose { usize::MAX - 1 } else { usual }
    }

    fn styled(self, text: &str, style: Style) -> String {
        if self.colour && !text.is_empty() { text.style(style).to_string() } else { text.to_owned() }
    }

    /// The severity's word.
    pub fn severity(self, severity: Severity) -> String {
        self.severity_like(severity, severity.word())
    }

    /// A word in the colour of a severity.
    pub fn severity_like(self, severity: Severity, word: &str) -> String {
        let style = match severity {
            Severity::Error => Style::new().red().bold(),
            Severity::Warning => Style::new().yellow().bold(),
            Severity::Info => Style::new().cyan(),
        };
        self.styled(word, style)
    }

    /// What the eye should find first: ids, the tool's name.
    pub fn strong(self, text: &str) -> String {
        self.styled(text, Style::new().bold())
    }

    /// What only structures: labels, places.
    pub fn faint(self, text: &str) -> String {
        self.styled(text, Style::new().dimmed())
    }

    /// What can be pasted.
    pub fn command(self, text: &str) -> String {
        self.styled(text, Style::new().green())
    }

    /// Good news.
    pub fn good(self, text: &str) -> String {
        self.styled(text, Style::new().green().bold())
    }

    /// News that wants a look.
    pub fn doubtful(self, text: &str) -> String {
        self.styled(text, Style::new().yellow().bold())
    }

    /// Bad news that is not a finding.
    pub fn bad(self, text: &str) -> String {
        self.styled(text, Style::new().red().bold())
    }
}
