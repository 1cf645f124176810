//! `annotation-unknown`: an annotation or label in Linkerd's domains that no release knows.

use super::fault::{Fault, Found};
use super::wording;
use crate::checks::{Context, Judgement};
use crate::finding::StepKind;
use crate::knowledge::Suggestion;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    wording::judge(ctx, |_, found| {
        let Fault::Unknown(suggestion) = &found.fault else { return None };
        let mut remedy = wording::remedy();
        if let Some(advice) = suggestion.and_then(|suggestion| suggestion.advice) {
            remedy = remedy.step(StepKind::Note, format!("Note: {advice}"));
        }
        remedy = match suggestion.and_then(|suggestion| suggestion.key) {
            Some(row) => {
                wording::replace(ctx, remedy, &format!("Use {} instead", row.key), found, row, found.value)
            }
            None => wording::remove(remedy, "Look up the one that was meant, and remove this one", found),
        };
        Some((message(ctx, found, *suggestion), remedy))
    })
}

fn message(ctx: &Context<'_>, found: &Found<'_>, suggestion: Option<Suggestion<'_>>) -> String {
    let (key, word) = (found.key, wording::word(found));
    let meant = match suggestion.and_then(|suggestion| suggestion.key) {
        Some(row) if row.kind == found.written_as => format!("; {} was probably meant", row.key),
        Some(row) => format!("; the {} {} was probably meant", row.kind, row.key),
        None => match ctx.knowledge.annotations().not_a_key(key) {
            Some(other) => format!("; it is the {}", other.used_as),
            None => String::new(),
        },
    };
    let who = if found.likely { "no published release of Linkerd" } else { "no release of Linkerd" };
    format!("{who} knows the {word} {key}: it is silently ignored{meant}")
}
