//! The phase of a rotation and the conditions of each step, from the evidence. A condition that the evidence
//! does not show is unknown, and a step with such a condition is not a go.

use super::evidence::{Evidence, is_current, renewed, trusts, trusts_next};
use super::proxies::Proxy;
use super::rows::{anchors, issuer_row, workloads};
use super::steps::remedy;
use super::templates::of_templates;
use super::texts::{not_yet, notes, summary};
use super::{
    AnchorRole, Condition, ConditionStatus, Obstacles, Phase, PlannedStage, Progress, Rotation, RotationSubject, Stage,
    condition,
};
use crate::certificates::{Certificate, Validity};
use crate::checks::certificates::identity::ISSUER;
use crate::checks::certificates::stranded;
use crate::checks::certificates::trust_anchors_drifted::drift;
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::command::own;

/// Maximum number of names in a piece of evidence.
const NAMED: usize = 4;

/// The state, with its plan. `obstacles` is the result of the blocking checks.
pub(super) fn rotation(ctx: &Context<'_>, evidence: &Evidence<'_>, obstacles: &Obstacles) -> Rotation {
    let reached = phase(evidence);
    let phase = if obstacles.broken.is_empty() { reached } else { Phase::Broken };
    let of = match reached {
        Phase::None | Phase::Broken | Phase::Unknown => evidence.of,
        _ => RotationSubject::Anchor,
    };
    let next = next(reached, of, evidence);
    let stages: &[Stage] = match of {
        RotationSubject::Anchor => &Stage::ALL,
        RotationSubject::Issuer => &[Stage::ReplaceIssuer],
    };
    let plan = stages.iter().map(|&stage| {
        let progress = match next {
            // Without a second anchor, proxies that trust none of the bundle look like the end of a rotation.
            Some(_) if phase == Phase::Broken && matches!(reached, Phase::None | Phase::AnchorRemoved) => {
                Progress::Later
            }
            Some(next) if stage < next => Progress::Done,
            Some(next) if stage == next && phase != Phase::Broken => Progress::Next,
            _ => Progress::Later,
        };
        let is_done = progress == Progress::Done;
        let conditions = if is_done { Vec::new() } else { conditions(ctx, evidence, obstacles, stage, of) };
        let remedy = if is_done { Default::default() } else { remedy(ctx, evidence, stage, (reached, of)) };
        let remedy = remedy.aimed(&ctx.settings.rerun.connection);
        PlannedStage { stage, progress, conditions, remedy }
    });
    let plan: Vec<PlannedStage> = plan.collect();
    Rotation {
        phase,
        summary: summary(phase, evidence, obstacles),
        of,
        is_due: evidence.due.is_some(),
        anchors: anchors(evidence),
        issuer: evidence.issuer.as_ref().map(|issuer| issuer_row(evidence, issuer.certificate())),
        meshed: evidence.knows_proxies.then(|| evidence.proxies.iter().filter(|proxy| !proxy.is_control_plane).count()),
        workloads: workloads(evidence),
        not_yet: not_yet(phase, of, evidence, &plan),
        notes: notes(phase, evidence),
        plan,
        kept: stranded::kept(ctx).aimed(&ctx.settings.rerun.connection),
        gaps: evidence.gaps.clone(),
    }
}

/// The phase, whether or not something is broken.
fn phase(evidence: &Evidence<'_>) -> Phase {
    let has_bundle = evidence.bundled.is_some() && !evidence.anchors.is_empty();
    if !evidence.gaps.is_empty() || !has_bundle || evidence.issuer.is_none() {
        return Phase::Unknown;
    }
    if evidence.with(AnchorRole::Unknown).next().is_some() {
        return Phase::Unknown;
    }
    if let Some(anchor) = evidence.new_anchor() {
        let is_trusted = evidence.proxies.iter().all(|proxy| trusts(evidence, proxy, anchor) == ConditionStatus::Yes);
        return if is_trusted { Phase::AnchorTrusted } else { Phase::AnchorAdded };
    }
    if evidence.with(AnchorRole::Old).next().is_some() {
        let is_renewed = evidence.proxies.iter().all(|proxy| renewed(evidence, proxy) == ConditionStatus::Yes);
        return if is_renewed { Phase::AnchorUnneeded } else { Phase::IssuerReplaced };
    }
    let is_left = evidence.proxies.iter().any(|proxy| is_current(evidence, proxy) == ConditionStatus::No);
    if is_left { Phase::AnchorRemoved } else { Phase::None }
}

/// The next step of a phase.
fn next(phase: Phase, of: RotationSubject, evidence: &Evidence<'_>) -> Option<Stage> {
    match (phase, of) {
        (Phase::Unknown | Phase::Broken, _) => None,
        (Phase::None, RotationSubject::Anchor) => Some(Stage::AddAnchor),
        (Phase::None, RotationSubject::Issuer) | (Phase::AnchorTrusted, _) => Some(Stage::ReplaceIssuer),
        (Phase::AnchorAdded, _) => {
            let anchor = evidence.new_anchor();
            let mut own = evidence.proxies.iter().filter(|proxy| proxy.is_control_plane);
            let is_ready =
                own.all(|proxy| anchor.is_some_and(|anchor| trusts(evidence, proxy, anchor) == ConditionStatus::Yes));
            Some(if is_ready { Stage::RestartWorkloads } else { Stage::RestartControlPlane })
        }
        (Phase::IssuerReplaced, _) => Some(Stage::RenewCertificates),
        (Phase::AnchorUnneeded, _) => Some(Stage::RemoveAnchor),
        (Phase::AnchorRemoved, _) => Some(Stage::DropOldAnchor),
    }
}

fn conditions(
    ctx: &Context<'_>,
    evidence: &Evidence<'_>,
    obstacles: &Obstacles,
    stage: Stage,
    of: RotationSubject,
) -> Vec<Condition> {
    let mut all = vec![works(evidence, obstacles)];
    match stage {
        Stage::AddAnchor => {}
        Stage::RenewCertificates => all.push(replaced(evidence)),
        Stage::DropOldAnchor => all.push(removed(evidence)),
        Stage::RestartControlPlane => all.push(has_new_anchor(evidence)),
        Stage::RestartWorkloads => {
            all.push(has_new_anchor(evidence));
            all.push(of_proxies(ctx, evidence, true, of));
        }
        Stage::ReplaceIssuer => {
            all.push(stored(ctx));
            if of == RotationSubject::Anchor {
                all.push(has_new_anchor(evidence));
            }
            all.push(of_proxies(ctx, evidence, true, of));
            all.push(of_proxies(ctx, evidence, false, of));
            if of == RotationSubject::Anchor {
                all.extend(of_templates(evidence, stage));
                all.extend(of_linked(evidence, stage));
                all.extend(of_external(evidence));
            }
        }
        Stage::RemoveAnchor => {
            all.push(replaced(evidence));
            all.push(of_certificates(ctx, evidence));
            all.extend(of_templates(evidence, stage));
            all.extend(of_linked(evidence, stage));
            all.extend(of_external(evidence));
        }
    }
    all
}

/// The step renders the chart with its stored values, which replace the bundle.
fn stored(ctx: &Context<'_>) -> Condition {
    let text = "The stored chart values hold the current trust anchors, so an upgrade keeps them";
    match drift(ctx) {
        Ok(None) | Err(Unjudged::NotApplicable(_) | Unjudged::Blocked { .. }) => {
            condition(text, ConditionStatus::Yes, Vec::new())
        }
        Ok(Some(drift)) => Condition {
            close: Some("store the current bundle first: the warning about trust anchors has the steps".to_owned()),
            ..condition(text, ConditionStatus::No, drift.lines())
        },
        Err(Unjudged::Missing(missing)) => Condition {
            close: Some(missing.close().to_string()),
            ..condition(text, ConditionStatus::Unknown, vec![missing.to_string()])
        },
    }
}

/// Nothing is broken, and the evidence of the state is complete.
fn works(evidence: &Evidence<'_>, obstacles: &Obstacles) -> Condition {
    let text = "Certificates, control plane and injector have no errors";
    if !obstacles.broken.is_empty() {
        let named = obstacles.broken.iter().map(|finding| {
            let subject = finding.subjects.first().map(ToString::to_string).unwrap_or_default();
            format!("{}  {subject}", finding.check)
        });
        return condition(text, ConditionStatus::No, named.collect());
    }
    let mut gaps: Vec<&Missing> = evidence.gaps.iter().chain(&obstacles.unjudged).collect();
    gaps.sort();
    gaps.dedup();
    if let Some(gap) = gaps.first() {
        let missing = named_gaps(&gaps);
        return Condition {
            close: Some(gap.close().to_string()),
            ..condition(text, ConditionStatus::Unknown, missing)
        };
    }
    condition(text, ConditionStatus::Yes, Vec::new())
}

/// The first of the gaps, and the number of others.
fn named_gaps(gaps: &[&Missing]) -> Vec<String> {
    let mut named: Vec<String> = gaps.iter().take(NAMED).map(ToString::to_string).collect();
    if gaps.len() > NAMED {
        named.push(format!("and {} more", gaps.len() - NAMED));
    }
    named
}

fn has_new_anchor(evidence: &Evidence<'_>) -> Condition {
    let text = "The bundle has a new trust anchor that is valid";
    match evidence.new_anchor() {
        Some(anchor) => {
            let state = ConditionStatus::from_bool(anchor.validity(evidence.now) == Validity::Current);
            condition(text, state, vec![anchor.summary()])
        }
        None => {
            condition(text, ConditionStatus::No, vec!["the bundle has no anchor newer than the issuer's".to_owned()])
        }
    }
}

fn replaced(evidence: &Evidence<'_>) -> Condition {
    let text = "The issuer is signed by another anchor of the bundle";
    let is_replaced = evidence.new_anchor().is_none() && evidence.with(AnchorRole::Old).next().is_some();
    condition(
        text,
        ConditionStatus::from_bool(is_replaced),
        evidence.with(AnchorRole::Current).map(Certificate::summary).collect(),
    )
}

fn removed(evidence: &Evidence<'_>) -> Condition {
    let anchors = evidence.anchors.iter().map(|(anchor, _)| anchor.summary()).collect();
    let is_removed = evidence.anchors.iter().all(|(_, role)| *role == AnchorRole::Current);
    condition("The bundle has only anchors of the issuer", ConditionStatus::from_bool(is_removed), anchors)
}

/// Every pod of the control plane, or every other proxy, trusts the anchor of the next issuer.
fn of_proxies(ctx: &Context<'_>, evidence: &Evidence<'_>, control_plane: bool, of: RotationSubject) -> Condition {
    let text = match (control_plane, of) {
        (true, RotationSubject::Anchor) => "Every control-plane pod started with the new anchor",
        (true, RotationSubject::Issuer) => "Every control-plane pod trusts the issuer's anchor",
        (false, RotationSubject::Anchor) => "Every meshed proxy trusts the new anchor",
        (false, RotationSubject::Issuer) => "Every meshed proxy trusts the issuer's anchor",
    };
    let states = evidence.proxies.iter().filter(|proxy| proxy.is_control_plane == control_plane);
    let states: Vec<(&Proxy<'_>, ConditionStatus)> =
        states.map(|proxy| (proxy, trusts_next(evidence, proxy, of))).collect();
    let mut found = counted(text, &states, ("trust it", "do not trust it"));
    if of == RotationSubject::Anchor && evidence.new_anchor().is_none() {
        found.state = ConditionStatus::No;
        found.evidence = vec!["the bundle has no new anchor yet".to_owned()];
    }
    if control_plane && found.state == ConditionStatus::Unknown {
        let home = &ctx.namespaces().control_plane;
        let times = kubectl().namespace(home).words("get configmap linkerd-identity-trust-roots");
        found.close = Some(format!(
            "restart the control plane, or pass the time of the last change of the bundle as --bundle-since: {}",
            written_at(ctx, times)
        ));
    }
    found
}

/// The command that prints the times at which an object was written.
fn written_at(ctx: &Context<'_>, object: crate::command::Call) -> String {
    let call = object.words("--show-managed-fields -o").arg("jsonpath={.metadata.managedFields[*].time}");
    crate::command::Command::from(call).aimed(&ctx.settings.rerun.connection).to_string()
}

/// No proxy has a certificate of an earlier issuer.
fn of_certificates(ctx: &Context<'_>, evidence: &Evidence<'_>) -> Condition {
    let text = "No proxy has a certificate of an earlier issuer";
    let states: Vec<(&Proxy<'_>, ConditionStatus)> =
        evidence.proxies.iter().map(|proxy| (proxy, renewed(evidence, proxy))).collect();
    let mut found = counted(text, &states, ("have a new certificate", "may have an old one"));
    if let Some((at, source)) = &evidence.since {
        found.evidence.push(format!("issuer in place since {at} at the latest ({source})"));
    }
    if let (Some(over), true) = (evidence.lifetime.over, found.state != ConditionStatus::Yes) {
        found.evidence.push(format!("the last of them expires by {over}"));
    }
    if found.state == ConditionStatus::Unknown {
        let home = &ctx.namespaces().control_plane;
        let times = kubectl().namespace(home).words("get secret").arg(ISSUER);
        found.close = Some(format!(
            "pass a time at which the issuer was in place as --issuer-since; it was written at: {}",
            written_at(ctx, times)
        ));
    }
    found
}

/// A condition on proxies: the number of each state, and the names of those that do not meet it.
fn counted(text: &str, states: &[(&Proxy<'_>, ConditionStatus)], (meets, fails): (&str, &str)) -> Condition {
    let of = |state: ConditionStatus| -> Vec<String> {
        states.iter().filter(|(_, own)| *own == state).map(|(proxy, _)| proxy.name()).collect()
    };
    let (yes, no, unknown) = (of(ConditionStatus::Yes), of(ConditionStatus::No), of(ConditionStatus::Unknown));
    let mut evidence = vec![format!("{} of {} {meets}", yes.len(), states.len())];
    if !no.is_empty() {
        evidence.push(format!("{} {fails}: {}", no.len(), some(&no, NAMED)));
    }
    if !unknown.is_empty() {
        evidence.push(format!("not known of {}: {}", unknown.len(), some(&unknown, NAMED)));
    }
    let state = states.iter().map(|(_, state)| *state).min().unwrap_or(ConditionStatus::Yes);
    condition(text, state, evidence)
}

/// Linked clusters: they trust the new anchor, or no longer have the old one.
fn of_linked(evidence: &Evidence<'_>, stage: Stage) -> Option<Condition> {
    let (text, prints): (&str, Vec<String>) = match stage {
        Stage::ReplaceIssuer => (
            "Every linked cluster trusts the new anchor",
            evidence.new_anchor().map(Certificate::print).into_iter().collect(),
        ),
        _ => {
            ("No linked cluster needs the old anchor", evidence.with(AnchorRole::Old).map(Certificate::print).collect())
        }
    };
    let linked = match &evidence.linked {
        Ok(linked) if linked.is_empty() => return None,
        Ok(linked) => linked,
        Err(missing) => {
            let found = condition(text, ConditionStatus::Unknown, vec![missing.to_string()]);
            return Some(Condition { close: Some(missing.close().to_string()), ..found });
        }
    };
    if evidence.statements.linked_clusters {
        return Some(condition(text, ConditionStatus::Yes, vec!["stated with --confirm linked-clusters".to_owned()]));
    }
    let mut found = condition(text, ConditionStatus::Yes, Vec::new());
    for one in linked {
        let (state, said) = match (&one.anchors, stage) {
            (Err(why), _) => (ConditionStatus::Unknown, format!("not known: {why}")),
            (Ok(anchors), Stage::ReplaceIssuer) => {
                let has = !prints.is_empty() && prints.iter().all(|print| anchors.contains(print));
                (ConditionStatus::from_bool(has), if has { "it has it" } else { "it does not have it" }.to_owned())
            }
            (Ok(anchors), _) if prints.iter().any(|print| anchors.contains(print)) => {
                (ConditionStatus::Unknown, "it has it, and its issuer may be under it".to_owned())
            }
            (Ok(_), _) => (ConditionStatus::Yes, "it does not have it".to_owned()),
        };
        found.evidence.push(format!("cluster {}: {said}", one.cluster));
        if state == ConditionStatus::Unknown && found.close.is_none() {
            found.close = one
                .close
                .clone()
                .or_else(|| Some(format!("run {} in that cluster, and add --confirm linked-clusters", own("rotate"))));
        }
        found.state = found.state.min(state);
    }
    Some(found)
}

/// Proxies outside the cluster, of which no evidence exists.
fn of_external(evidence: &Evidence<'_>) -> Option<Condition> {
    let text = "Proxies of ExternalWorkloads are ready";
    match &evidence.external {
        Ok(0) => None,
        Ok(_) if evidence.statements.external_workloads => {
            Some(condition(text, ConditionStatus::Yes, vec!["stated with --confirm external-workloads".to_owned()]))
        }
        Ok(count) => {
            let said = format!("{count} of them, whose proxies run outside the cluster");
            let close = "check trust anchors and certificates on those machines, and add --confirm external-workloads";
            Some(Condition { close: Some(close.to_owned()), ..condition(text, ConditionStatus::Unknown, vec![said]) })
        }
        Err(missing) => {
            let close = Some(missing.close().to_string());
            Some(Condition { close, ..condition(text, ConditionStatus::Unknown, vec![missing.to_string()]) })
        }
    }
}
