//! The card grammar: one markdown file says everything about a check that people read, and holds the cases that prove
//! it. This file parses cards; it knows no check and runs nothing.
//!
//! A card is YAML front matter, prose sections in a fixed order, and a `## Cases` section of `### kind: title` headings
//! with fenced blocks. The file name is the id.

use std::collections::BTreeSet;
use std::str::FromStr;

use serde::Deserialize;

use crate::finding::Severity;
use crate::item::Item;

/// The prose sections, in order. `Cases` follows.
pub const SECTIONS: [&str; 4] = ["What it finds", "Why it matters", "How to fix", "What it cannot see"];

/// A parsed card.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// The check's id: the file name without `.md`.
    pub id: String,
    /// The front matter.
    pub front: Front,
    /// The four prose sections, in the order of [`SECTIONS`].
    pub prose: [String; 4],
    /// The cases.
    pub cases: Vec<Case>,
}

/// The front matter of a card.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Front {
    /// One line that says the bad state.
    pub title: String,
    /// The highest severity its findings may have.
    pub severity: Severity,
    /// The category: the folder of the card.
    pub category: String,
    /// The release that first had it.
    pub since: String,
    /// Evidence without which the check cannot judge.
    #[serde(deserialize_with = "items")]
    pub needs: BTreeSet<Item>,
    /// Evidence that sharpens the judgement; without it the check still judges.
    #[serde(default, deserialize_with = "items")]
    pub uses: BTreeSet<Item>,
    /// To what it applies, in words.
    #[serde(default)]
    pub applies: Option<String>,
    /// Former ids, and the anchors of the rows of `linkerd check` that ask the same.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The rows of `linkerd check` that it answers.
    #[serde(default)]
    pub linkerd_check: Vec<String>,
    /// Ids of the symptoms that it accounts for.
    #[serde(default)]
    pub explains: Vec<String>,
    /// Where to read more.
    #[serde(default)]
    pub references: Vec<String>,
}

fn items<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<Item>, D::Error> {
    Vec::<String>::deserialize(deserializer)?
        .iter()
        .map(|text| Item::from_str(text).map_err(serde::de::Error::custom))
        .collect()
}

/// What a case shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseKind {
    /// The check finds something.
    Fires,
    /// It looked, and it is fine; or it does not apply.
    Quiet,
    /// Evidence is missing, and it says so.
    Unknown,
}

/// A tiny cluster and the expected result.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What it shows.
    pub kind: CaseKind,
    /// What makes it different.
    pub title: String,
    /// Why the result is right.
    pub reason: String,
    /// The fenced blocks, `expect` aside.
    pub blocks: Vec<Block>,
    /// The text of the `expect` block.
    pub expect: String,
}

/// A fenced block of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// What it holds.
    pub content: BlockKind,
    /// Its text.
    pub text: String,
    /// The line of its first line in the card, from 1.
    pub line: usize,
}

/// What a block holds, from its info string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// `yaml cluster` or `yaml cluster on=BASE`: Kubernetes objects, laid over a base cluster.
    Cluster {
        /// The base's name.
        on: Option<String>,
    },
    /// `yaml run`: time, versions, what is missing.
    Run,
    /// `LANG node=NAME path=PATH`: a file of a node snapshot.
    NodeFile {
        /// The node.
        node: String,
        /// The path in its snapshot.
        path: String,
    },
}

/// A card that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct CardError {
    /// The card's file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what is expected.
    pub message: String,
}

impl Card {
    /// Parses a card.
    ///
    /// # Errors
    /// Anything that is not the grammar, with file and line.
    pub fn parse(id: &str, text: &str) -> Result<Card, CardError> {
        let error = |line: usize, message: String| CardError { file: format!("{id}.md"), line, message };
        let lines: Vec<&str> = text.lines().collect();
        if lines.first() != Some(&"---") {
            return Err(error(1, "a card starts with front matter between two lines of ---".to_owned()));
        }
        let end = lines[1..]
            .iter()
            .position(|line| *line == "---")
            .map(|at| at + 1)
            .ok_or_else(|| error(1, "the front matter has no closing ---".to_owned()))?;
        let front: Front = serde_yaml::from_str(&lines[1..end].join("\n"))
            .map_err(|e| error(2, format!("front matter: {e}")))?;

        let mut reader = Reader { lines: &lines, at: end + 1, error: &error };
        let mut prose: [String; 4] = Default::default();
        for (section, title) in prose.iter_mut().zip(SECTIONS) {
            reader.heading(&format!("## {title}"))?;
            *section = reader.prose();
        }
        reader.heading("## Cases")?;
        let mut cases = Vec::new();
        reader.prose();
        while let Some(case) = reader.case()? {
            cases.push(case);
        }
        Ok(Card { id: id.to_owned(), front, prose, cases })
    }
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
    error: &'a dyn Fn(usize, String) -> CardError,
}

impl<'a> Reader<'a> {
    fn fail<T>(&self, message: impl Into<String>) -> Result<T, CardError> {
        Err((self.error)(self.at + 1, message.into()))
    }

    fn skip_blank(&mut self) {
        while self.lines.get(self.at).is_some_and(|line| line.trim().is_empty()) {
            self.at += 1;
        }
    }

    fn heading(&mut self, heading: &str) -> Result<(), CardError> {
        self.skip_blank();
        if self.lines.get(self.at) != Some(&heading) {
            return self.fail(format!("expected the heading {heading:?}"));
        }
        self.at += 1;
        Ok(())
    }

    /// Text up to the next heading; headings inside fenced blocks do not count.
    fn prose(&mut self) -> String {
        let start = self.at;
        let mut fenced = false;
        while let Some(line) = self.lines.get(self.at) {
            if line.starts_with("```") {
                fenced = !fenced;
            } else if !fenced && (line.starts_with("## ") || line.starts_with("### ")) {
                break;
            }
            self.at += 1;
        }
        self.lines[start..self.at].join("\n").trim().to_owned()
    }

    fn case(&mut self) -> Result<Option<Case>, CardError> {
        self.skip_blank();
        let Some(line) = self.lines.get(self.at) else { return Ok(None) };
        let Some((kind, title)) = line.strip_prefix("### ").and_then(|rest| rest.split_once(':')) else {
            return self.fail("expected a case: ### fires: …, ### quiet: … or ### unknown: …");
        };
        let kind = match kind {
            "fires" => CaseKind::Fires,
            "quiet" => CaseKind::Quiet,
            "unknown" => CaseKind::Unknown,
            other => {
                return self.fail(format!("unknown kind of case {other:?}: use fires, quiet or unknown"));
            }
        };
        let title = title.trim().to_owned();
        self.at += 1;
        let mut case = Case { kind, title, reason: String::new(), blocks: vec![], expect: String::new() };
        let mut expected = false;
        let mut reason = Vec::new();
        while let Some(line) = self.lines.get(self.at) {
            if line.starts_with("### ") || line.starts_with("## ") {
                break;
            }
            let Some(info) = line.strip_prefix("```") else {
                reason.push(*line);
                self.at += 1;
                continue;
            };
            let content = if info.trim() == "text expect" { None } else { Some(self.block_kind(info)?) };
            self.at += 1;
            let start = self.at;
            while self.lines.get(self.at).is_some_and(|line| *line != "```") {
                self.at += 1;
            }
            if self.at >= self.lines.len() {
                self.at = start - 1;
                return self.fail("this block is never closed");
            }
            let text = self.lines[start..self.at].join("\n");
            self.at += 1;
            match content {
                Some(content) => case.blocks.push(Block { content, text, line: start + 1 }),
                None => {
                    expected = true;
                    case.expect = text;
                }
            }
        }
        if !expected {
            return self.fail(
                "this case has no ```text expect block; write an empty one and run UPDATE=1 cargo test",
            );
        }
        case.reason = reason.join("\n").trim().to_owned();
        Ok(Some(case))
    }

    fn block_kind(&self, info: &str) -> Result<BlockKind, CardError> {
        let mut words = info.split_whitespace();
        let _language = words.next();
        let rest: Vec<&str> = words.collect();
        let value =
            |name: &str| rest.iter().find_map(|w| w.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned);
        match rest.first() {
            Some(&"cluster") => Ok(BlockKind::Cluster { on: value("on") }),
            Some(&"run") => Ok(BlockKind::Run),
            _ => match (value("node"), value("path")) {
                (Some(node), Some(path)) => Ok(BlockKind::NodeFile { node, path }),
                _ => self.fail(format!(
                    "unknown block {info:?}: use `yaml cluster on=BASE`, `yaml run`, `json node=NAME path=PATH` or `text expect`"
                )),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &str = "---\ntitle: A thing is off\nseverity: error\ncategory: cni\nsince: 0.1.0\nneeds: [pods]\n---\n\
        ## What it finds\nThis.\n## Why it matters\nThat.\n## How to fix\nSo.\n## What it cannot see\nMuch.\n## Cases\n\
        ### fires: off\nBecause.\n```yaml cluster on=healthy\nkind: Pod\n```\n```json node=a path=cni/net.d/x\n{}\n```\n\
        ```text expect\nerror\n```\n";

    #[test]
    fn a_card_is_read() {
        let card = Card::parse("thing-off", CARD).expect("it is a card");
        assert_eq!(card.front.needs.len(), 1);
        assert_eq!(card.prose[3], "Much.");
        assert_eq!(card.cases.len(), 1);
        assert_eq!(card.cases[0].reason, "Because.");
        assert_eq!(card.cases[0].expect, "error");
        assert_eq!(card.cases[0].blocks[0].content, BlockKind::Cluster { on: Some("healthy".to_owned()) });
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let broken = CARD.replace("## How to fix", "## How to mend");
        assert_eq!(Card::parse("x", &broken).map_err(|e| e.line), Err(12));
        let open = CARD.replace("error\n```", "error\n");
        assert!(Card::parse("x", &open).is_err_and(|e| e.message.contains("never closed")));
    }
}
