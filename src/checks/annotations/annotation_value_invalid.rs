//! `annotation-value-invalid`: an annotation or label that Linkerd reads, with an invalid value.

use super::fault::{Fault, Found, Survey};
use super::guess::guess;
use super::wording;
use crate::checks::{Context, Judgement};
use crate::finding::{Remedy, Severity, StepKind};
use crate::knowledge::{Key, OnInvalid};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = Survey::of(ctx)?;
    let findings = survey.found.iter().filter_map(|found| {
        let Fault::Value(row, accepted) = &found.fault else { return None };
        let key = found.key;
        let severity = severity(survey, found, row);
        let once = if fails(survey, row) && !found.injected { " once they request a proxy" } else { "" };
        let message = format!("{key} has an invalid value, so {}{once}: {accepted}", row.invalid);
        let remedy = remedy(ctx, survey, found, row, accepted);
        let finding = wording::finding(ctx, survey, found, message, remedy);
        Some(finding.severity(severity))
    });
    Ok(findings.collect::<Vec<_>>().into())
}

/// What is ignored is a warning; an error is what keeps the next pod from starting.
fn severity(survey: &Survey<'_>, found: &Found<'_>, row: &Key) -> Severity {
    if fails(survey, row) && found.injected { Severity::Error } else { Severity::Warning }
}

/// Whether such a value keeps pods with a proxy from starting.
fn fails(survey: &Survey<'_>, row: &Key) -> bool {
    let cni = || survey.values.as_ref().and_then(|values| values.bool("cniEnabled")) == Some(true);
    match row.invalid {
        OnInvalid::PodRefused | OnInvalid::PodFails => true,
        OnInvalid::FailsWithCni => cni(),
        OnInvalid::Ignored
        | OnInvalid::SkipsInjection
        | OnInvalid::PassedOn
        | OnInvalid::ElementIgnored
        | OnInvalid::ListVoided
        | OnInvalid::SettingDropped
        | OnInvalid::RouteRefused => false,
    }
}

fn remedy(ctx: &Context<'_>, survey: &Survey<'_>, found: &Found<'_>, row: &Key, accepted: &str) -> Remedy {
    match guess(row, found.value, survey.reader.version(), ctx.knowledge.minors()) {
        Some(value) => wording::replace(
            ctx,
            wording::remedy(),
            &format!("Set {}: {value:?}", row.key),
            found,
            row,
            &value,
        ),
        None => {
            let act = format!("Give {} on {} a valid value: {accepted}", row.key, wording::place(found));
            let remedy = wording::remedy().step(StepKind::Annotation, act);
            crate::checks::rewrite::restart(remedy, &found.object)
        }
    }
}
