//! `annotation-value-invalid`: an annotation or label that Linkerd reads, with an invalid value.

use std::collections::BTreeMap;

use super::calls::NO_TIMEOUT;
use super::fault::{Fault, Found, Survey};
use super::guess::{guess, is_of_windows};
use super::wording;
use crate::checks::prelude::*;
use crate::checks::serving::annotation_denied;
use crate::checks::words::sentence;
use crate::knowledge::{Key, OnInvalid};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = Survey::from_context(ctx)?;
    let findings = survey.found.iter().filter_map(|found| {
        let Fault::Value(row, accepted, consequence) = &found.fault else { return None };
        if is_of_windows(found.key, found.value) {
            return None;
        }
        let in_template = found.in_template && consequence.is_of_injector();
        let fails = fails(survey, *consequence) && !in_template;
        let refuses = *consequence == OnInvalid::PodRefused && found.injected && !in_template;
        // Errors keep the next pod from starting, or leave it outside the mesh against its author's intent.
        let is_error = fails && found.injected
            || *consequence == OnInvalid::RequestsFail
            || !in_template && leaves_out(ctx, survey, found, row, *consequence);
        let severity = if is_error { Severity::Error } else { Severity::Warning };
        let once = if fails && !found.injected { " once they request a proxy" } else { "" };
        let invalid = invalid(found, row, accepted);
        let consequence = consequence_for(found, *consequence);
        let expected = sentence(accepted);
        let message = match () {
            () if in_template => format!("{invalid}. {IN_TEMPLATE}. {expected}"),
            () if accepted.starts_with(NEEDS) => format!("{} has no effect. {expected}", found.key),
            () => format!("{invalid}, so {consequence}{once}. {expected}"),
        };
        let remedy = remedy(ctx, survey, found, row, accepted);
        let finding = wording::finding(ctx, survey, found, message, remedy);
        let finding = finding.severity(severity);
        Some(if refuses { of_denied(found, finding) } else { finding.symptoms(BTreeMap::new()) })
    });
    let findings = findings.chain(super::route_timeouts::findings(ctx)).chain(super::in_values::invalid(ctx));
    Ok(findings.collect())
}

/// Ties an annotation of a namespace to the pods there that are rejected. One of a workload shares its subject.
fn of_denied(found: &Found<'_>, finding: Finding) -> Finding {
    match found.object.kind {
        Kind::Namespace => finding.tie(annotation_denied(&found.object.meta.name)),
        _ => finding,
    }
}

/// The consequence for a template with the proxy.
const IN_TEMPLATE: &str =
    "The pod template already contains the proxy, so only the next linkerd inject reads the annotation";

/// The start of the text about another annotation that a key depends on.
const NEEDS: &str = "it needs ";

/// Longest value that a message quotes; the evidence has longer ones.
const QUOTED: usize = 40;

/// The key and its value: `linkerd.io/inject: "true" is not valid`.
fn invalid(found: &Found<'_>, row: &Key, accepted: &str) -> String {
    // A value that conflicts with another one is named by what follows.
    let is_quoted = found.value.chars().count() <= QUOTED && !row.value.is_env_list() && accepted.starts_with(EXPECTED);
    match is_quoted {
        true => format!("{}: {:?} is not valid", found.key, found.value),
        false => format!("{} has an invalid value", found.key),
    }
}

/// The consequence for the object that has the annotation.
fn consequence_for(found: &Found<'_>, consequence: OnInvalid) -> String {
    match (consequence, found.object.kind) {
        (OnInvalid::RouteRefused, Kind::Service) => {
            let group = if found.key.starts_with("retry.") { "retry" } else { "timeout" };
            format!("all {group} settings of the Service are ignored")
        }
        (consequence, _) => consequence.to_string(),
    }
}

/// The start of the text that describes valid values.
const EXPECTED: &str = "expected ";

/// Whether a value prevents injection that its author wanted: anything but an attempt to disable it.
fn leaves_out(ctx: &Context<'_>, survey: &Survey<'_>, found: &Found<'_>, row: &Key, consequence: OnInvalid) -> bool {
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
        | OnInvalid::RouteRefused
        | OnInvalid::RequestsFail
        | OnInvalid::PausesFail
        | OnInvalid::NeverEjects
        | OnInvalid::ProxyKilled => false,
    }
}

fn remedy(ctx: &Context<'_>, survey: &Survey<'_>, found: &Found<'_>, row: &Key, accepted: &str) -> Remedy {
    let (version, minors) = (survey.reader.version(), ctx.knowledge.minors());
    if let Fault::Value(_, _, OnInvalid::RequestsFail | OnInvalid::PausesFail) = &found.fault {
        let remedy = wording::remove(ctx, wording::remedy(), NO_TIMEOUT, found);
        return remedy.step(StepKind::Annotation, format!("Otherwise set {} to a time such as 10s", row.key));
    }
    if let Some(other) = accepted.strip_prefix(NEEDS) {
        let other = other.split(',').next().unwrap_or_default();
        let text = format!("Set {other}: consecutive on the Service, or remove {}", row.key);
        return wording::remedy().step(StepKind::Annotation, text);
    }
    // One that does not fit another value parses.
    let parses = row.check_value(found.value, version, minors).is_ok();
    match guess(row, found.value, version, minors).filter(|_| !parses) {
        Some(value) => {
            wording::replace(ctx, wording::remedy(), &format!("Set {}: {value:?}", row.key), found, row, &value)
        }
        None => {
            let (key, place) = (&row.key, wording::place(found));
            let act = match accepted.strip_prefix(EXPECTED) {
                Some(valid) => format!("Set {key} on {place} to {valid}"),
                None => format!("Give {key} on {place} a valid value: {accepted}"),
            };
            let remedy = wording::remedy().step(StepKind::Annotation, act);
            crate::checks::rewrite::restart(ctx, remedy, &found.object)
        }
    }
}
