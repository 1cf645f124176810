//! `annotation-not-in-release`: an annotation or label that the installed release does not support.

use std::collections::BTreeMap;

use super::fault::{Fault, Found, Survey};
use super::wording;
use crate::checks::control_plane::installation::config;
use crate::checks::prelude::*;
use crate::checks::written::AnnotationReader;
use crate::knowledge::{Key, KeyStatus};
use crate::version::Channel;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    match AnnotationReader::new(ctx) {
        AnnotationReader::Unknown(missing) => return Err(missing.into()),
        AnnotationReader::Version(version, _) if matches!(version.channel(), Channel::Dev | Channel::Git) => {
            return Err(Unjudged::not_applicable(format!(
                "the version {version} does not show which annotations the build supports"
            )));
        }
        AnnotationReader::Version(..) | AnnotationReader::Absent => {}
    }
    let survey = Survey::from_context(ctx)?;
    if survey.depends_on_values
        && let Err(missing) = config(ctx)
    {
        ctx.gap(missing);
    }
    let findings = survey.found.iter().filter_map(|found| {
        let (severity, message, remedy) = describe(ctx, survey, found)?;
        Some(wording::finding(ctx, survey, found, message, remedy).severity(severity))
    });
    Ok(findings.collect::<Vec<Finding>>().into())
}

fn describe(ctx: &Context<'_>, survey: &Survey<'_>, found: &Found<'_>) -> Option<(Severity, String, Remedy)> {
    let Fault::NotInRelease(row, status) = &found.fault else { return None };
    let known = status.likely()?;
    let version = survey.reader.version()?;
    let doubt = if found.likely { " (judged by its base release)" } else { "" };
    let key = found.key;
    let why = match known {
        KeyStatus::NotYet { since: Some(edge) } => {
            format!("does not support {key}, which was added in {edge}")
        }
        KeyStatus::NotYet { since: None } => format!("does not support {key} yet"),
        KeyStatus::Gone { since: Some(edge), .. } => {
            format!("no longer supports {key}, which was removed in {edge}")
        }
        KeyStatus::Gone { since: None, .. } => format!("no longer supports {key}"),
        KeyStatus::Ineffective { since: Some(edge), .. } => {
            format!("ignores {key} from {edge} on")
        }
        KeyStatus::Ineffective { since: None, .. } => format!("ignores {key}"),
        KeyStatus::Conditional { when, .. } => {
            format!("uses {key} only when {when}, which does not apply here")
        }
        KeyStatus::Effective | KeyStatus::Unknown { .. } => return None,
    };
    let (severity, outcome) = match found.injected && !found.in_template {
        true => consequence(survey, known),
        false => (Severity::Warning, NO_EFFECT),
    };
    // Steps before an upgrade set annotations that only the target reads.
    let in_target = ctx.upgrade().map(|upgrade| row.status_in(&upgrade.to, ctx.knowledge));
    let is_read_there = in_target.is_some_and(|status| matches!(status.likely(), Some(KeyStatus::Effective)));
    let is_ahead = is_read_there && matches!(known, KeyStatus::NotYet { .. });
    if is_ahead && severity == Severity::Warning {
        return None;
    }
    let message = format!("Linkerd {version}{doubt} {why}: {outcome}");
    Some((severity, message, remedy(ctx, survey, found, row, known)))
}

/// What happens to a new pod with a key that does not take effect.
const NO_EFFECT: &str = "it has no effect";

/// What the installed release does with new pods that have the key: it rejects them, their linkerd-init fails, or it
/// ignores the key.
fn consequence(survey: &Survey<'_>, status: &KeyStatus) -> (Severity, &'static str) {
    let (KeyStatus::Conditional { refused, init_fails, .. }, Some(values)) = (status, &survey.values) else {
        return (Severity::Warning, NO_EFFECT);
    };
    let apply = |conditions: &BTreeMap<String, bool>| {
        let mut all = conditions.iter();
        !conditions.is_empty() && all.all(|(path, with)| values.bool(path).unwrap_or(false) == *with)
    };
    if apply(refused) {
        return (Severity::Error, "the injector rejects every new pod that has it");
    }
    match apply(init_fails) {
        true => (Severity::Error, "linkerd-init fails in every new pod that has it"),
        false => (Severity::Warning, NO_EFFECT),
    }
}

fn remedy(ctx: &Context<'_>, survey: &Survey<'_>, found: &Found<'_>, row: &Key, status: &KeyStatus) -> Remedy {
    let mut remedy = wording::remedy();
    let upgrade = match status {
        KeyStatus::NotYet { since } => *since,
        KeyStatus::Ineffective { again, .. } => *again,
        KeyStatus::Gone { .. } | KeyStatus::Conditional { .. } | KeyStatus::Effective | KeyStatus::Unknown { .. } => {
            None
        }
    };
    if let Some(edge) = upgrade {
        let text = format!("If the setting is needed, upgrade Linkerd to {edge} or later");
        return wording::remove(ctx, remedy.step(StepKind::Upgrade, text), "Otherwise remove it", found);
    }
    if let Some(note) = &row.note {
        let mut letters = note.chars();
        let first = letters.next().map(|c| c.to_ascii_lowercase()).into_iter();
        remedy = remedy.note(format!("Note: {}", first.chain(letters).collect::<String>()));
    }
    let heeded =
        |key: &&Key| survey.reader.version().is_some_and(|v| key.status_in(v, ctx.knowledge).is_likely_effective());
    if let KeyStatus::Gone { successor: Some(name), .. } = status
        && ctx.knowledge.annotations().get(name).filter(heeded).is_some()
    {
        // The value may have another meaning there, so the step does not copy it.
        let text = format!("If the setting is still needed, set its replacement, {name}");
        remedy = remedy.step(StepKind::Annotation, text);
    }
    wording::remove_it(ctx, remedy, found)
}
