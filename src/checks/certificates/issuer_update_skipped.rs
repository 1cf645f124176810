//! `issuer-update-skipped`: identity rejected a new issuer and uses the one that it started with.

use super::identity::{ISSUER, identity_deployment, identity_started};
use super::remedy;
use crate::checks::prelude::*;
use crate::model::events;
use crate::model::installed::COMPONENT;
use crate::model::moments;
use crate::objects::Event;

/// The events of identity for a rejected and for a loaded issuer.
const SKIPPED: &str = "IssuerUpdateSkipped";
const UPDATED: &str = "IssuerUpdated";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = &ctx.namespaces().control_plane;
    let pods = ctx.partial_list::<Pod>()?;
    let events = ctx.partial_list::<Event>()?;
    let last = |reason: &str| {
        let own = events.iter().filter(|e| e.reason == reason && e.about.namespace == *namespace);
        own.filter(|event| event.last.is_some()).max_by_key(|event| event.last)
    };
    let Some(skipped) = last(SKIPPED) else { return Ok(Verdict::fine()) };
    if last(UPDATED).is_some_and(|updated| updated.last > skipped.last) {
        return Ok(Verdict::fine());
    }
    let running = pods.iter().filter(|pod| {
        let meta = &pod.metadata;
        let own = meta.label(COMPONENT) == Some("identity");
        own && meta.namespace == *namespace && !pod.is_finished()
    });
    // A container that has started since has read the current issuer.
    let older: Vec<&Pod> =
        running.filter(|pod| identity_started(pod).is_none_or(|started| Some(started) < skipped.last.get())).collect();
    if older.is_empty() {
        return Ok(Verdict::fine());
    }
    let events = last(UPDATED).into_iter().chain([skipped]).flat_map(moments::of_event);
    let starts = older.iter().flat_map(|pod| moments::of_pod(pod, "created", |name| name == "identity"));
    let names: Vec<String> = older.iter().map(|pod| format!("{namespace}/{}", pod.metadata.name)).collect();
    let remedy = remedy::identity_restarted(
        ctx,
        "Restart identity, so that it reads the issuer and the trust anchors again. A pod that rejects \
                them does not become ready, and the old one keeps running",
    );
    let finding = ctx
        .finding(
            Subject::object("Secret", namespace, ISSUER),
            "identity rejected the new issuer and still uses the old one: certificates come from the old \
                issuer until it expires or identity restarts",
        )
        .evidence(events::quoted(format!("{} {namespace}/{}", skipped.about.kind, skipped.about.name), skipped))
        .evidence(Evidence::other("identity pods that started earlier", names.join(", ")))
        .timeline(events.chain(starts))
        .remedy(remedy)
        .tie(identity_deployment(ctx));
    Ok(finding.into())
}
