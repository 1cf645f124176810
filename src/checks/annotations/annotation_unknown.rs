//! `annotation-unknown`: an annotation or label in Linkerd's domains that no release knows.

use super::fault::{Fault, Found, Survey};
use super::{in_values, wording};
use crate::checks::prelude::*;
use crate::knowledge::{KeyScope, Suggestion};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = Survey::from_context(ctx)?;
    for (object, more) in &survey.left_out {
        let message = format!("it has {more} unknown annotations and labels above the limit");
        let part = object.subject().to_string();
        ctx.gap(ctx.missing(Item::List(object.kind), Why::Malformed { message }, part));
    }
    let mut findings = wording::findings(ctx, survey, |_, found| {
        let Fault::Unknown(suggestion) = &found.fault else { return None };
        let mut remedy = on_workload_too(ctx, found);
        if let Some(advice) = suggestion.and_then(|suggestion| suggestion.advice) {
            remedy = remedy.note(format!("Note: {advice}"));
        }
        remedy = match suggestion.and_then(|suggestion| suggestion.key) {
            Some(row) => wording::replace(ctx, remedy, &format!("Use {} instead", row.key), found, row, found.value),
            None => wording::remove(ctx, remedy, "Remove the unknown key", found),
        };
        Some((message(ctx, found, *suggestion), remedy))
    });
    findings.extend(in_values::unknown(ctx));
    Ok(findings.into())
}

/// The step that removes the key from the workload itself, if it is there and in the template.
fn on_workload_too(ctx: &Context<'_>, found: &Found<'_>) -> Remedy {
    let mut other = found.object.sites.iter().filter(|site| site.scope == KeyScope::Workload);
    let is_twice =
        found.scope == KeyScope::PodTemplate && other.any(|site| wording::has(site.meta, found.written_as, found.key));
    match is_twice {
        true => wording::remove_it(ctx, wording::remedy(), &Found { scope: KeyScope::Workload, ..found.clone() }),
        false => wording::remedy(),
    }
}

fn message(ctx: &Context<'_>, found: &Found<'_>, suggestion: Option<Suggestion<'_>>) -> String {
    let (key, word) = (found.key, wording::annotation_or_label(found));
    let meant = match suggestion.and_then(|suggestion| suggestion.key) {
        Some(row) if row.kind == found.written_as => format!(". Did you mean {}?", row.key),
        Some(row) => format!(". Did you mean the {} {}?", row.kind, row.key),
        None => match ctx.knowledge.annotations().not_a_key(key) {
            Some(other) => format!("; it is the {}", other.used_as),
            None => String::new(),
        },
    };
    let who = if found.likely { "no published release of Linkerd" } else { "no release of Linkerd" };
    format!("{who} knows the {word} {key}, so it has no effect{meant}")
}
