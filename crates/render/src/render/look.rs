//! The appearance of a report: width, color and verbosity. `cli` decides from the terminal and the flags.

use owo_colors::{OwoColorize, Style};

use crate::finding::Severity;

/// The appearance of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns. Values below [`Look::NARROWEST`] are raised to it.
    pub width: usize,
    /// Whether to use colors.
    pub colour: bool,
    /// Whether to print everything: every subject, every piece of evidence, the steps of infos, all versions.
    pub verbose: bool,
    /// Whether to list all missing evidence, with the reason and the remedy.
    pub coverage: bool,
}

impl Look {
    /// Minimum width; on narrower terminals, the terminal wraps.
    pub const NARROWEST: usize = 40;

    /// Maximum width of prose: longer lines are hard to read.
    const WIDEST_PROSE: usize = 120;

    /// No colors, default verbosity.
    pub fn plain(width: usize) -> Look {
        Look { width, colour: false, verbose: false, coverage: false }
    }

    /// Columns for output that should use all of them.
    pub fn columns(self) -> usize {
        self.width.max(Look::NARROWEST)
    }

    /// Columns for sentences.
    pub fn prose(self) -> usize {
        self.columns().min(Look::WIDEST_PROSE)
    }

    /// `usual`, or no limit in verbose output.
    pub fn most(self, usual: usize) -> usize {
        if self.verbose { usize::MAX - 1 } else { usual }
    }

    fn styled(self, text: &str, style: Style) -> String {
        if self.colour && !text.is_empty() { text.style(style).to_string() } else { text.to_owned() }
    }

    /// The name of a severity in its color.
    pub fn severity(self, severity: Severity) -> String {
        self.severity_like(severity, severity.label())
    }

    /// A word in the color of a severity.
    pub fn severity_like(self, severity: Severity, word: &str) -> String {
        let style = match severity {
            Severity::Error => Style::new().red().bold(),
            Severity::Warning => Style::new().yellow().bold(),
            Severity::Info => Style::new().cyan(),
        };
        self.styled(word, style)
    }

    /// Text that should stand out: ids, the tool's name.
    pub fn strong(self, text: &str) -> String {
        self.styled(text, Style::new().bold())
    }

    /// Structural text: labels, locations.
    pub fn faint(self, text: &str) -> String {
        self.styled(text, Style::new().dimmed())
    }

    /// Text to paste.
    pub fn command(self, text: &str) -> String {
        self.styled(text, Style::new().green())
    }

    /// A good result.
    pub fn good(self, text: &str) -> String {
        self.styled(text, Style::new().green().bold())
    }

    /// A result that needs attention.
    pub fn doubtful(self, text: &str) -> String {
        self.styled(text, Style::new().yellow().bold())
    }

    /// A bad result that is not a finding.
    pub fn bad(self, text: &str) -> String {
        self.styled(text, Style::new().red().bold())
    }
}
