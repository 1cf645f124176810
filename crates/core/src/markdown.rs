//! The Markdown format of cards and demos: YAML front matter between two lines of `---`, headings, prose, and fenced
//! blocks with typed info strings. Parses only the structure.

use serde::de::DeserializeOwned;

/// A fenced block.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Type of its content.
    pub content: BlockKind,
    pub text: String,
    /// The line of its first line in the file, from 1.
    pub line: usize,
}

/// Type of a block, from its info string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// `yaml cluster` or `yaml cluster on=BASE`: Kubernetes objects on top of a base cluster.
    Cluster {
        /// Name of the base; several, separated by commas, are combined in order.
        on: Option<String>,
    },
    /// `yaml run`: time, versions, missing evidence.
    Run,
    /// `LANG node=NAME path=PATH`: a file of a node snapshot.
    NodeFile {
        /// The node; several, separated by commas, if they have the same file.
        node: String,
        /// The path in its snapshot.
        path: String,
    },
    /// `text log=NAME`: the log of a node, a pod or a container.
    Log {
        /// As in `--logs`.
        name: String,
    },
    /// `text diagnostics` or `text diagnostics=NAMESPACE/POD:PORT`: output of `linkerd diagnostics`.
    Diagnostics {
        /// As in `--diagnostics`.
        of: Option<String>,
    },
    /// `text repair`: the title of the card's case that is this cluster after the remedy, done by a person.
    Repair,
    /// `text expect`: the expected output.
    Expect,
}

/// A syntax error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct MarkdownError {
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The error and the expected syntax.
    pub message: String,
}

/// Prose and blocks under one heading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Body {
    /// The text between the blocks.
    pub prose: String,
    /// The blocks, in order.
    pub blocks: Vec<Block>,
}

/// Front matter, prose and blocks of a file without headings.
///
/// # Errors
/// A syntax error, or a heading.
pub fn read<F: DeserializeOwned>(name: &str, text: &str) -> Result<(F, Body), MarkdownError> {
    let (front, mut reader) = Reader::open(name, text.lines())?;
    let body = reader.body()?;
    match reader.line() {
        None => Ok((front, body)),
        Some(heading) => reader.fail(format!("no heading is expected here: {heading:?}")),
    }
}

/// The error for an unknown word, with the most similar known word instead of all of them.
pub fn with_nearest(said: &str) -> String {
    let quoted = |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let named = said.contains("unknown field `") || said.contains("unknown variant `");
    let near = said.split_once(", expected").filter(|_| named).and_then(|(head, known)| {
        let word = quoted(head).pop()?;
        let known = quoted(known);
        let near = crate::nearest::closest(&word, known.iter().map(String::as_str))?;
        Some(format!("{head}; did you mean `{near}`?"))
    });
    near.unwrap_or_else(|| said.to_owned())
}

/// Reads a file from top to bottom.
pub struct Reader<'a> {
    file: String,
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(name: &str, lines: impl Iterator<Item = &'a str>) -> Reader<'a> {
        Reader { file: format!("{name}.md"), lines: lines.collect(), at: 0 }
    }

    /// A reader positioned after the first line with this heading.
    pub fn behind(
        name: &str,
        lines: impl Iterator<Item = &'a str>,
        heading: &str,
    ) -> Result<Reader<'a>, MarkdownError> {
        let mut reader = Reader::new(name, lines);
        reader.at = reader.lines.iter().position(|line| *line == heading).unwrap_or(reader.lines.len());
        reader.heading(heading)?;
        Ok(reader)
    }

    /// Parses the front matter; positions the reader after it.
    pub fn open<F: DeserializeOwned>(
        name: &str,
        lines: impl Iterator<Item = &'a str>,
    ) -> Result<(F, Reader<'a>), MarkdownError> {
        let mut reader = Reader::new(name, lines);
        if reader.lines.first() != Some(&"---") {
            return reader.fail("the file starts with front matter between two lines of ---");
        }
        let Some(end) = reader.lines.iter().skip(1).position(|line| *line == "---") else {
            return reader.fail("the front matter has no closing ---");
        };
        reader.at = 1;
        let text = reader.lines[1..=end].join("\n");
        if let Err(refused) = crate::yaml::guard(text.as_bytes()) {
            reader.at = refused.line();
            return reader.fail(format!("front matter: {refused}"));
        }
        let front = match serde_yaml::from_str(&text) {
            Ok(front) => front,
            Err(error) => {
                // Line numbers start at the front matter's first line, which is the second of the file.
                reader.at = error.location().map_or(1, |place| place.line());
                let said = error.to_string();
                let said = said.split(" at line ").next().unwrap_or(&said);
                return reader.fail(format!("front matter: {}", with_nearest(said)));
            }
        };
        reader.at = end + 2;
        Ok((front, reader))
    }

    /// An error at the current line.
    pub fn fail<T>(&self, message: impl Into<String>) -> Result<T, MarkdownError> {
        Err(MarkdownError { file: self.file.clone(), line: self.at + 1, message: message.into() })
    }

    /// The current line, after blank lines; `None` at the end.
    pub fn line(&mut self) -> Option<&'a str> {
        while self.lines.get(self.at).is_some_and(|line| line.trim().is_empty()) {
            self.at += 1;
        }
        self.lines.get(self.at).copied()
    }

    /// Skips the current line.
    pub fn pass(&mut self) {
        self.at += 1;
    }

    /// Skips a required heading.
    pub fn heading(&mut self, heading: &str) -> Result<(), MarkdownError> {
        if self.line() != Some(heading) {
            return self.fail(format!("expected the heading {heading:?}"));
        }
        self.pass();
        Ok(())
    }

    /// The raw text up to the next heading, including blocks.
    pub fn prose(&mut self) -> String {
        let start = self.at;
        let mut fenced = false;
        while let Some(line) = self.lines.get(self.at) {
            if line.starts_with("```") {
                fenced = !fenced;
            } else if !fenced && is_heading(line) {
                break;
            }
            self.at += 1;
        }
        self.lines[start..self.at].join("\n").trim().to_owned()
    }

    /// Prose and blocks up to the next heading.
    pub fn body(&mut self) -> Result<Body, MarkdownError> {
        let mut prose = Vec::new();
        let mut blocks = Vec::new();
        while let Some(line) = self.lines.get(self.at).copied().filter(|line| !is_heading(line)) {
            let Some(info) = line.strip_prefix("```") else {
                prose.push(line);
                self.at += 1;
                continue;
            };
            let content = self.block_kind(info)?;
            let open = self.at;
            let Some(length) = self.lines[open + 1..].iter().position(|line| *line == "```") else {
                return self.fail("this block is never closed");
            };
            let text = self.lines[open + 1..open + 1 + length].join("\n");
            blocks.push(Block { content, text, line: open + 2 });
            self.at = open + length + 2;
        }
        Ok(Body { prose: prose.join("\n").trim().to_owned(), blocks })
    }

    fn block_kind(&self, info: &str) -> Result<BlockKind, MarkdownError> {
        let words: Vec<&str> = info.split_whitespace().skip(1).collect();
        let value = |name: &str| words.iter().find_map(|w| w.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned);
        match (words.first(), value("node"), value("path")) {
            (Some(&"cluster"), ..) => Ok(BlockKind::Cluster { on: value("on") }),
            (Some(&"run"), ..) => Ok(BlockKind::Run),
            (Some(&"repair"), ..) => Ok(BlockKind::Repair),
            (Some(&"expect"), ..) => Ok(BlockKind::Expect),
            (Some(_), None, None) if value("log").is_some() => {
                Ok(BlockKind::Log { name: value("log").unwrap_or_default() })
            }
            (Some(word), None, None) if word.split('=').next() == Some("diagnostics") => {
                Ok(BlockKind::Diagnostics { of: value("diagnostics") })
            }
            (_, Some(node), Some(path)) => Ok(BlockKind::NodeFile { node, path }),
            _ => self.fail(format!(
                "unknown block {info:?}: use `yaml cluster on=BASE`, `yaml run`, `json node=NAME path=PATH`, \
                 `text log=NAME`, `text diagnostics[=NAMESPACE/POD:PORT]`, `text repair` or `text expect`"
            )),
        }
    }
}

fn is_heading(line: &str) -> bool {
    line.starts_with("## ") || line.starts_with("### ")
}
