//! `native-sidecar-key-not-read`: an annotation that switches native sidecars in releases other
//! than the installed one.

use super::family::{Fault, SidecarFault, Sure, Survey};
use super::wording;
use crate::checks::prelude::*;
use crate::checks::written::AnnotationReader;
use crate::request::Request;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = Survey::from_context(ctx)?;
    let mut findings = Vec::new();
    for found in &survey.found {
        match found.fault {
            Fault::NotRead(Sure::Yes) => findings.push(finding(ctx, survey, found, true)),
            Fault::NotRead(Sure::Likely) => findings.push(finding(ctx, survey, found, false).likely()),
            Fault::NotRead(Sure::No) => ctx.gap(unsure(survey, found)),
            Fault::Misspelled | Fault::Misplaced(_) | Fault::Invalid | Fault::Overridden { .. } => {}
        }
    }
    Ok(findings.into())
}

fn finding(ctx: &Context<'_>, survey: &Survey<'_>, found: &SidecarFault<'_>, sure: bool) -> Finding {
    let first = ctx.knowledge.annotations().get(found.key).and_then(|key| key.works.first()?.from);
    let since = first.map(|edge| format!(" (added in {edge})")).unwrap_or_default();
    let version = survey.switch.reader.version().map(ToString::to_string).unwrap_or_default();
    let key = found.key;
    let outcome = wording::outcome(found);
    let message = match sure {
        true => format!("Linkerd {version} does not support {key}{since} and ignores it{outcome}"),
        false => {
            format!("Linkerd {version} probably ignores {key}{since}: its base release does not support it{outcome}")
        }
    };
    let mut remedy = wording::with_right_key(ctx, survey, found, wording::remedy());
    if let Some(edge) = first {
        remedy = remedy.step(
            StepKind::Upgrade,
            format!("Alternatively, keep the annotation and upgrade Linkerd to {edge} or later"),
        );
    }
    wording::finding(ctx, survey, found, message, remedy)
}

/// The missing evidence that would decide whether a key is read.
fn unsure(survey: &Survey<'_>, found: &SidecarFault<'_>) -> Missing {
    if let AnnotationReader::Unknown(missing) = &survey.switch.reader {
        return missing.clone();
    }
    let version = survey.switch.reader.version().map(ToString::to_string).unwrap_or_default();
    Missing::part(
        Request::new(Item::List(Kind::Deployment)),
        Why::Malformed { message: format!("the version {version} does not show what the build contains") },
        format!("whether the injector reads {}", found.key),
    )
}
