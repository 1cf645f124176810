//! The sentences of the answer: the phase, the steps that must wait, and additional facts.

use std::collections::BTreeSet;

use super::evidence::{Evidence, is_current, renewed, trusts_next};
use super::proxies::Proxy;
use super::{AnchorRole, ConditionStatus, Obstacles, Phase, PlannedStage, Progress, RotationSubject, Stage};
use crate::certificates::Certificate;

/// The phase as a sentence.
pub(super) fn summary(phase: Phase, evidence: &Evidence<'_>, obstacles: &Obstacles) -> String {
    let proxies = &evidence.proxies;
    let count = |is: &dyn Fn(&Proxy<'_>) -> bool| proxies.iter().filter(|proxy| is(proxy)).count();
    match phase {
        Phase::Unknown => {
            let missing: BTreeSet<String> = evidence.gaps.iter().map(|missing| missing.request.to_string()).collect();
            let missing: Vec<String> = missing.into_iter().collect();
            let about = if missing.is_empty() { String::new() } else { format!(" about {}", missing.join(", ")) };
            format!("The state is unknown: evidence{about} is missing. Change neither trust anchors nor issuer")
        }
        Phase::Broken => {
            let first = obstacles.broken.first().map(|finding| finding.check).unwrap_or_default();
            format!("Blocked by {first}: repair it before any step of a rotation")
        }
        Phase::None => match evidence.due {
            Some(due) => format!(
                "No rotation is in progress; one is due, since the {} expires within 60 days",
                match due {
                    RotationSubject::Anchor => "trust anchor",
                    RotationSubject::Issuer => "issuer",
                }
            ),
            None => "No rotation is in progress, and none is due within 60 days".to_owned(),
        },
        Phase::AnchorAdded => {
            let left = count(&|proxy| trusts_next(evidence, proxy, RotationSubject::Anchor) != ConditionStatus::Yes);
            format!("A new trust anchor is in the bundle; {left} of {} pods are not known to trust it", proxies.len())
        }
        Phase::AnchorTrusted => {
            "All proxies trust both anchors: the issuer can be replaced by one under the new anchor".to_owned()
        }
        Phase::IssuerReplaced => {
            let left = count(&|proxy| renewed(evidence, proxy) != ConditionStatus::Yes);
            format!(
                "The issuer is under another anchor; {left} of {} pods may still have a certificate under the old one",
                proxies.len()
            )
        }
        Phase::AnchorUnneeded => "No proxy needs the old trust anchor".to_owned(),
        Phase::AnchorRemoved => {
            let left = count(&|proxy| is_current(evidence, proxy) == ConditionStatus::No);
            format!("The old anchor is no longer in the bundle; {left} of {} pods still trust it", proxies.len())
        }
    }
}

/// The steps that would break connections now, each with the reason.
pub(super) fn not_yet(
    phase: Phase,
    of: RotationSubject,
    evidence: &Evidence<'_>,
    plan: &[PlannedStage],
) -> Vec<(Stage, String)> {
    let is_later =
        |stage: Stage| plan.iter().any(|planned| planned.stage == stage && planned.progress == Progress::Later);
    let mut found = Vec::new();
    if is_later(Stage::ReplaceIssuer) {
        let why = match phase {
            Phase::None => "an issuer under another anchor is rejected by every running proxy until it has that anchor",
            Phase::AnchorAdded => {
                "proxies without the new anchor reject every proxy that a new issuer certifies, and cannot \
                 renew their own certificate"
            }
            Phase::Broken => "repair what is broken first",
            _ => "the state is not known to be safe",
        };
        found.push((Stage::ReplaceIssuer, why.to_owned()));
    }
    if is_later(Stage::RemoveAnchor) {
        let why = match (phase, evidence.lifetime.over) {
            (Phase::None | Phase::AnchorAdded | Phase::AnchorTrusted, _) => {
                "the issuer and all certificates are under it".to_owned()
            }
            (Phase::IssuerReplaced, Some(over)) if over > evidence.now => {
                format!("certificates under it may be in use until {over}; other proxies would reject them")
            }
            (Phase::IssuerReplaced, _) => {
                "certificates under it may be in use; proxies without it would reject them".to_owned()
            }
            (Phase::Broken, _) => "repair what is broken first".to_owned(),
            _ => "the state is not known to be safe".to_owned(),
        };
        found.push((Stage::RemoveAnchor, why));
    }
    if of == RotationSubject::Issuer && phase == Phase::None {
        found.clear();
    }
    found
}

/// Additional facts.
pub(super) fn notes(phase: Phase, evidence: &Evidence<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let has_links = evidence.linked.as_ref().is_ok_and(|linked| !linked.is_empty());
    let is_rotating =
        matches!(phase, Phase::AnchorAdded | Phase::AnchorTrusted | Phase::IssuerReplaced | Phase::AnchorUnneeded);
    if has_links && is_rotating {
        notes.push(
            "This cluster has Links: an anchor that the issuer does not use may belong to a linked cluster. \
             Then no rotation is in progress, and the anchor must stay"
                .to_owned(),
        );
    }
    let ends = evidence.with(AnchorRole::Current).map(Certificate::not_after).max();
    let mut longer = evidence.with(AnchorRole::Old).filter(|anchor| Some(anchor.not_after()) > ends);
    if let Some(anchor) = longer.next() {
        notes.push(format!(
            "{} is older than the anchor in use, but valid longer. If it was added for the next rotation, keep it",
            anchor.summary()
        ));
    }
    if evidence.new_anchor().is_some() && evidence.with(AnchorRole::Old).next().is_some() {
        let old: Vec<String> = evidence.with(AnchorRole::Old).map(Certificate::summary).collect();
        notes.push(format!("The bundle also has an older anchor that the issuer does not use: {}", old.join(", ")));
    }
    notes
}
