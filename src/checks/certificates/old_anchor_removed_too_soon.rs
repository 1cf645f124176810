//! `old-anchor-removed-too-soon`: a trust anchor was removed while certificates under it may still
//! be in use.

use jiff::Timestamp;

use super::identity::{IN_FORCE, TRUST_ROOTS, USUAL_LIFETIME, issuance_lifetime, issuer, need_control_plane};
use super::proxies::holders;
use crate::checks::prelude::*;
use crate::checks::restart;
use crate::checks::trust_roots::in_force;

/// Maximum number of quoted workloads.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let Some(current) = in_force(ctx)? else {
        need_control_plane(ctx)?;
        return Err(Unjudged::blocked("trust-roots-missing", "the trust anchors are missing"));
    };
    let issuer = issuer(ctx)?;
    let made = issuer.certificate().not_before();
    let lifetime = issuance_lifetime(ctx).unwrap_or(USUAL_LIFETIME);
    let over = made.checked_add(lifetime).unwrap_or(Timestamp::MAX);
    // Bundles with an anchor that was removed from the current one, and with current ones.
    let wider = holders(ctx, &|held| held.overlaps(&current) && held.exceeds(&current))?;
    let older: Vec<_> = wider
        .iter()
        .filter_map(|held| {
            let pod = held.pods.iter().find(|pod| started(pod).is_some_and(|started| started < made))?;
            Some((held, *pod))
        })
        .collect();
    if older.is_empty() || ctx.now() >= over || ctx.now() < made {
        return Ok(Verdict::fine());
    }
    let namespace = &ctx.namespaces().control_plane;
    let object = format!("ConfigMap {namespace}/{TRUST_ROOTS}");
    let remedy = Remedy::new()
        .step(StepKind::Note, "Put the old trust anchor back next to the new one, in the way it was added");
    let remedy = restart::all_meshed(
        ctx,
        remedy,
        restart::Needs::NewPods,
        "Or restart the meshed workloads now: new pods have certificates of the new issuer",
    );
    let remedy = remedy
        .step(
            StepKind::Note,
            format!("If you put it back, remove it after {over}: the last certificate under it has expired then"),
        )
        .later();
    let finding = ctx
        .finding(
            Subject::object("ConfigMap", namespace, TRUST_ROOTS),
            "a trust anchor was removed while proxies may still have certificates of the previous \
                issuer: proxies that have only the new bundle reject these until they are renewed",
        )
        .likely()
        .evidence(Evidence::field(&object, IN_FORCE, current.shown()))
        .evidences(older.iter().take(QUOTED).filter_map(|(held, _)| held.evidence()))
        .evidence(issuer.quoted(format!(
            "not before {made}; certificates of the previous issuer expire \
            by {over}"
        )))
        .remedy(remedy);
    let finding = older.iter().fold(finding, |finding, (held, _)| {
        held.pods.iter().fold(finding, |finding, pod| {
            finding.tie(Tie::Pod(pod.metadata.namespace.to_string(), pod.metadata.name.clone()))
        })
    });
    Ok(finding.into())
}

fn started(pod: &Pod) -> Option<Timestamp> {
    pod.status.start_time.get().or(pod.metadata.creation_timestamp.get())
}
