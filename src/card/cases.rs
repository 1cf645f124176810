//! The cases of a card: tiny clusters, and what the check says of them.

use crate::markdown::{Block, BlockKind, MarkdownError, Reader};

/// What the cases stand under.
pub(super) const HEADING: &str = "## Cases";

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

impl Case {
    /// Every case of a card, in its order.
    ///
    /// # Errors
    /// Anything that is not the grammar, with file and line.
    pub fn all(id: &str, text: &str) -> Result<Vec<Case>, MarkdownError> {
        let mut reader = Reader::behind(id, text.lines(), HEADING)?;
        reader.prose();
        let mut cases: Vec<Case> = Vec::new();
        while let Some(line) = reader.line() {
            let title = line.split_once(':').map_or("", |(_, title)| title.trim());
            if cases.iter().any(|before| before.title == title) {
                return reader.fail(format!("another case has the title {title:?}; give this one its own"));
            }
            cases.push(case(line, &mut reader)?);
        }
        Ok(cases)
    }
}

fn case(heading: &str, reader: &mut Reader<'_>) -> Result<Case, MarkdownError> {
    let Some((kind, title)) = heading.strip_prefix("### ").and_then(|rest| rest.split_once(':')) else {
        return reader.fail("expected a case: ### fires: …, ### quiet: … or ### unknown: …");
    };
    let kind = match kind {
        "fires" => CaseKind::Fires,
        "quiet" => CaseKind::Quiet,
        "unknown" => CaseKind::Unknown,
        other => return reader.fail(format!("unknown kind of case {other:?}: use fires, quiet or unknown")),
    };
    reader.pass();
    let body = reader.body()?;
    let (expect, blocks): (Vec<Block>, _) =
        body.blocks.into_iter().partition(|b| b.content == BlockKind::Expect);
    let [expect] = expect.as_slice() else {
        return reader.fail(
            "the case above has no ```text expect block, or several; write an empty one, which UPDATE=1 fills in",
        );
    };
    Ok(Case { kind, title: title.trim().to_owned(), reason: body.prose, blocks, expect: expect.text.clone() })
}
