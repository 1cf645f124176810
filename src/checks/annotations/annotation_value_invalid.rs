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
        let Fault::Value(row, accepted, consequence) = &found.fault else { return None };
        let key = found.key;
        let fails = fails(survey, *consequence);
        // Errors keep the next pod from starting, or leave it outside the mesh against its author's intent.
        let is_error = fails && found.injected || leaves_out(ctx, survey, found, row, *consequence);
        let severity = if is_error { Severity::Error } else { Severity::Warning };
        let once = if fails && !found.injected { " once they request a proxy" } else { "" };
        let message = format!("{key} has an invalid value, so {consequence}{once}: {accepted}");
        let remedy = remedy(ctx, survey, found, row, accepted);
        let finding = wording::finding(ctx, survey, found, message, remedy);
        Some(finding.severity(severity))
    });
    Ok(findings.collect::<Vec<_>>().into())
}

/// Whether a value prevents injection that its author wanted: anything but an attempt to disable it.
fn leaves_out(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    found: &Found<'_>,
    row: &Key,
    consequence: OnInvalid,
) -> bool {
    let meant = || guess(row, found.value, survey.reader.version(), ctx.knowledge.minors());
    consequence == OnInvalid::SkipsInjection && meant().is_none_or(|value| value != "disabled")
}

/// Whether such a value keeps pods with a proxy from starting.
fn fails(survey: &Survey<'_>, consequence: OnInvalid) -> bool {
    let cni = || survey.values.as_ref().and_then(|values| values.bool("cniEnabled")) == Some(true);
    match consequence {
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
    let (version, minors) = (survey.reader.version(), ctx.knowledge.minors());
    // One that does not fit another value parses.
    let parses = row.check_value(found.value, version, minors).is_ok();
    match guess(row, found.value, version, minors).filter(|_| !parses) {
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
            crate::checks::rewrite::restart(ctx, remedy, &found.object)
        }
    }
}
