//! `issuer-not-reloaded`: the issuer is newer than the pods of identity, and no event shows that
//! they loaded it.

use jiff::{SignedDuration, Timestamp};

use super::identity::{ISSUER, identity_deployment, identity_started, issuer};
use super::remedy;
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Severity, Subject};
use crate::model::installed::COMPONENT;
use crate::objects::{Event, Pod};

/// The events of identity for a loaded and for a rejected issuer; another check reports the latter.
const SAID: [&str; 2] = ["IssuerUpdated", "IssuerUpdateSkipped"];
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
    let older: Vec<(&Pod, Timestamp)> = pods
        .iter()
        .filter(|pod| {
            let meta = &pod.metadata;
            meta.namespace == *namespace && meta.label(COMPONENT) == Some("identity") && !pod.is_finished()
        })
        .filter_map(|pod| Some((pod, identity_started(pod)?)))
        .filter(|(_, started)| *started < made)
        .collect();
    if older.is_empty() || age < DELIVERED {
        return Ok(Verdict::fine());
    }
    let events = ctx.or_note(ctx.complete_list::<Event>());
    let told = events.unwrap_or_default().iter().any(|event| {
        SAID.contains(&event.reason.as_str())
            && event.about.namespace == *namespace
            && event.last.get().is_some_and(|last| last >= made)
    });
    if told {
        return Ok(Verdict::fine());
    }
    // Older events have expired, so their absence proves nothing.
    let silent = age < KEPT && events.is_some();
    let remedy = remedy::identity_restarted(ctx, "Restart identity: it reads the issuer when it starts");
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
            Evidence::field(
                object,
                "status.containerStatuses[identity].state.running.startedAt",
                started.to_string(),
            )
        }))
        .evidences(silent.then(|| Evidence::other("Events", format!("no {} since {made}", SAID[0]))))
        .remedy(remedy);
    let finding = if silent { finding.tie(identity_deployment(ctx)) } else { finding.explains_nothing() };
    Ok(vec![finding].into())
}
