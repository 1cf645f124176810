//! `issuer-update-skipped`: identity was given a new issuer, refused it, and goes on with the one that it started with.

use super::identity::{ISSUER, identity_deployment};
use crate::checks::control_plane::failing::event_evidence;
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::Kind;
use crate::model::installed::COMPONENT;
use crate::model::objects::{Event, Pod};

/// What identity says when it does not take what it is given, and when it does.
const SKIPPED: &str = "IssuerUpdateSkipped";
const UPDATED: &str = "IssuerUpdated";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = &ctx.namespaces().control_plane;
    let pods = ctx.seen::<Pod>(Kind::Pod)?;
    let events = ctx.seen::<Event>(Kind::Event)?;
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
    // Whoever started since has read what there is.
    let older: Vec<String> = running
        .filter(|pod| started(pod).is_none_or(|started| Some(started) < skipped.last))
        .map(|pod| format!("{namespace}/{}", pod.metadata.name))
        .collect();
    if older.is_empty() {
        return Ok(Verdict::fine());
    }
    let remedy = Remedy::verified_by(format!("kubectl -n {namespace} get events --field-selector reason={SKIPPED}"))
        .step(
            StepKind::Note,
            "See what else is found about the issuer and the trust anchors, and mend that first: they have to belong together",
        )
        .run(
            StepKind::Command,
            "Where they do, identity holds the trust anchors of before: restart it, so that it reads both anew. A pod that refuses \
             them again does not get ready, and the old one goes on",
            format!(
                "kubectl -n {namespace} rollout restart deployment/linkerd-identity\n\
                 kubectl -n {namespace} rollout status deployment/linkerd-identity --timeout=120s"
            ),
        );
    let finding = ctx
        .finding(
            Subject::object("Secret", namespace, ISSUER),
            "identity refused the issuer that it was given and goes on with the one before: certificates come from that one, until \
             it ends or identity restarts",
        )
        .evidence(event_evidence(&format!("{} {namespace}/{}", skipped.about.kind, skipped.about.name), skipped))
        .evidence(Evidence::other("pods of identity that run since before", older.join(", ")))
        .remedy(remedy)
        .tie(identity_deployment(ctx));
    Ok(vec![finding].into())
}

/// When the container that holds the issuer started.
fn started(pod: &Pod) -> Option<jiff::Timestamp> {
    pod.container_status("identity")?.state.running.as_ref()?.started_at
}
