//! `issuer-not-reloaded`: identity rejects requests with another issuer than that of the Secret; or the issuer is newer
//! than the pods of identity, and no event shows that they loaded it.

use jiff::{SignedDuration, Timestamp};

use super::identity::{ISSUER, Issuer, identity_deployment, identity_started, issuer};
use super::rejections::{Rejection, identity_pods, rejections};
use super::remedy;
use crate::certificates::Validity;
use crate::checks::prelude::*;
use crate::checks::reported;
use crate::objects::Event;

/// The events of identity for a loaded and for a rejected issuer; another check reports the latter.
const UPDATED: &str = "IssuerUpdated";
const SKIPPED: &str = "IssuerUpdateSkipped";
/// The time after which a kubelet has updated a changed Secret in a pod, with a margin.
const DELIVERED: SignedDuration = SignedDuration::from_mins(5);
/// The default lifetime of events in API servers.
const KEPT: SignedDuration = SignedDuration::from_mins(60);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = &ctx.namespaces().control_plane;
    let issuer = issuer(ctx)?;
    let pods = ctx.partial_list::<Pod>()?;
    let made = issuer.certificate().not_before();
    let age = ctx.now().duration_since(made);
    let events = ctx.complete_list::<Event>();
    if let Some(rejection) = still_used(ctx, &issuer, ctx.optional_list::<Event>()) {
        let finding = rejected(ctx, &issuer, rejection);
        // An event that is missing may show that identity loaded the issuer since.
        let is_complete = ctx.or_note(events).is_some();
        return Ok(finding.observed_if(is_complete).into());
    }
    let older: Vec<(&Pod, Timestamp)> = identity_pods(ctx, pods)
        .filter_map(|pod| Some((pod, identity_started(pod)?)))
        .filter(|(_, started)| *started < made)
        .collect();
    if older.is_empty() || age < DELIVERED {
        return Ok(Verdict::fine());
    }
    let events = ctx.or_note(events);
    if said_since(ctx, events.unwrap_or_default(), made) {
        return Ok(Verdict::fine());
    }
    // The log of identity may show that it rejects requests with the old one.
    ctx.or_note(ctx.logs());
    // Older events have expired, so their absence proves nothing.
    let silent = age < KEPT && events.is_some();
    let message = if silent {
        "the issuer was replaced, but no event shows that identity loaded the new one: certificates may \
            still come from the old issuer and fail when it expires"
    } else {
        "the issuer is newer than the pods of identity: whether they have loaded it is unknown, as \
            events are kept for an hour"
    };
    let finding = ctx
        .finding(Subject::object("Secret", namespace, ISSUER), message)
        .severity(if silent { Severity::Warning } else { Severity::Info })
        .likely()
        .parameter(if silent { "silent" } else { "forgotten" })
        .evidence(issuer.quoted(format!("not before {made}")))
        .evidences(older.iter().map(|(pod, started)| {
            let object = format!("Pod {namespace}/{}", pod.metadata.name);
            Evidence::field(object, "status.containerStatuses[identity].state.running.startedAt", started.to_string())
        }))
        .evidences(silent.then(|| Evidence::other("Events", format!("no {UPDATED} since {made}"))))
        .remedy(restart(ctx));
    let finding = if silent { finding.tie(identity_deployment(ctx)) } else { finding.explains_nothing() };
    Ok(finding.into())
}

fn restart(ctx: &Context<'_>) -> Remedy {
    remedy::identity_restarted(ctx, "Restart identity: it reads the issuer when it starts")
}

/// Whether identity recorded since a time that it loaded or rejected an issuer.
fn said_since(ctx: &Context<'_>, events: &[Event], since: Timestamp) -> bool {
    let namespace = &ctx.namespaces().control_plane;
    events.iter().any(|event| {
        [UPDATED, SKIPPED].contains(&event.reason.as_str())
            && event.about.namespace == *namespace
            && event.last.get().is_some_and(|last| last >= since)
    })
}

/// The error about another issuer than the valid one of the Secret, if that was delivered before the error.
fn still_used(ctx: &Context<'_>, issuer: &Issuer<'_>, events: &[Event]) -> Option<Rejection> {
    let own = issuer.certificate();
    if own.validity(ctx.now()) != Validity::Current {
        return None;
    }
    let newest = rejections(ctx).into_iter().next()?;
    let is_delivered = newest.at.duration_since(own.not_before()) >= DELIVERED;
    (newest.is_of_other(own) && is_delivered && !said_since(ctx, events, newest.at)).then_some(newest)
}

/// The finding that identity rejects every request with an issuer that the Secret no longer holds.
fn rejected(ctx: &Context<'_>, issuer: &Issuer<'_>, rejection: Rejection) -> Finding {
    let own = issuer.certificate();
    let state = match rejection.ended() {
        Some(end) => format!("the issuer in its memory expired at {end}"),
        None => "the issuer in its memory fails verification".to_owned(),
    };
    let message = format!(
        "identity issues no certificates, because {state}. It has not loaded the valid issuer of the Secret, \
         and meshed pods lose their certificates"
    );
    ctx.finding(issuer.subject(), message)
        .severity(Severity::Error)
        .parameter("rejected")
        .evidence(rejection.evidence)
        .evidence(issuer.quoted(format!("not before {}, not after {}", own.not_before(), own.not_after())))
        .timeline(rejection.moments)
        .remedy(restart(ctx))
        .tie(identity_deployment(ctx))
        .tie(reported::logged("identity-not-obtained"))
}
