//! The cases of a card: small clusters with the expected result.

use crate::markdown::{Block, BlockKind, MarkdownError, Reader};

/// Heading of the cases.
pub(super) const HEADING: &str = "## Cases";

/// The end of cases that a page of the repository shows folded; their fold begins below the heading.
const FOLD_END: &str = "</details>";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseKind {
    /// The check reports a finding.
    Fires,
    /// The check passes or does not apply.
    Quiet,
    /// Evidence is missing, and the check reports that.
    Unknown,
}

/// A small cluster and the expected result.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub kind: CaseKind,
    /// Its title, unique on the card.
    pub title: String,
    /// Explanation of the result.
    pub reason: String,
    /// The fenced blocks, without `expect`.
    pub blocks: Vec<Block>,
    /// The title of the case of this card that is the cluster after the remedy, if a person carries it out.
    pub repaired: Option<String>,
    /// The text of the `expect` block.
    pub expect: String,
}

impl Case {
    /// All cases of a card, in order.
    ///
    /// # Errors
    /// A syntax error, with file and line.
    pub fn all(id: &str, text: &str) -> Result<Vec<Case>, MarkdownError> {
        let text = text.trim_end().strip_suffix(FOLD_END).unwrap_or(text);
        let mut reader = Reader::behind(id, text.lines(), HEADING)?;
        reader.prose();
        let mut cases: Vec<Case> = Vec::new();
        while let Some(line) = reader.line() {
            let title = line.split_once(':').map_or("", |(_, title)| title.trim());
            if cases.iter().any(|before| before.title == title) {
                return reader.fail(format!("another case has the title {title:?}; use a different title"));
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
    let (expect, blocks): (Vec<Block>, _) = body.blocks.into_iter().partition(|b| b.content == BlockKind::Expect);
    let (repaired, blocks): (Vec<Block>, _) = blocks.into_iter().partition(|b| b.content == BlockKind::Repair);
    if repaired.len() > 1 {
        return reader.fail("the case above has several ```text repair blocks; keep one");
    }
    let repaired = repaired.into_iter().next().map(|block| block.text.trim().to_owned());
    let [expect] = expect.as_slice() else {
        return reader.fail(
            "the case above needs exactly one ```text expect block; add an empty one, which UPDATE=1 fills \
             in",
        );
    };
    let (title, expect) = (title.trim().to_owned(), expect.text.clone());
    Ok(Case { kind, title, reason: body.prose, blocks, repaired, expect })
}
