//! `trust-anchors-drifted`: the next upgrade replaces the current trust anchors with others.

use super::identity::{IN_FORCE, Issuer, TRUST_ROOTS, bundles, identity_deployment, issuer, values};
use super::remedy;
use crate::certificates::{Certificate, Validity, from_restored_bundle, reach};
use crate::checks::prelude::*;
use crate::checks::upgrade::CURRENT_BUNDLE;

/// Trust anchors that differ between the current bundle and that of the next upgrade, as summaries.
pub(super) struct Drift {
    /// Only in the current bundle.
    goes: Vec<String>,
    /// Only in the stored chart values.
    comes: Vec<String>,
    /// The bundle of the next upgrade.
    next: Vec<Certificate>,
}

impl Drift {
    /// Both lists, for evidence.
    pub(super) fn lines(&self) -> Vec<String> {
        vec![format!("only current: {}", list(&self.goes)), format!("only stored: {}", list(&self.comes))]
    }
}

fn list(anchors: &[String]) -> String {
    if anchors.is_empty() { "none".to_owned() } else { anchors.join(", ") }
}

/// The difference between the current trust anchors and the stored ones; `None` if they are equal, or if one of them is
/// unknown, which other checks report.
///
/// # Errors
/// The bundle is missing, or a tool other than the chart writes it.
pub(super) fn drift(ctx: &Context<'_>) -> Result<Option<Drift>, Unjudged> {
    let bundles = bundles(ctx)?;
    let Some(values) = values(ctx) else { return Ok(None) };
    if values.bool("identity.externalCA") == Some(true) {
        return Err(Unjudged::not_applicable("a tool other than the chart writes the trust anchors"));
    }
    let next = values.text("identityTrustAnchorsPEM").map(|pem| from_restored_bundle(pem.trim())).and_then(Result::ok);
    let (Some(in_force), Some(next)) = (bundles.iter().find(|bundle| bundle.in_force), next) else {
        return Ok(None);
    };
    let without = |these: &[Certificate], those: &[Certificate]| -> Vec<String> {
        these.iter().filter(|anchor| !those.contains(anchor)).map(Certificate::summary).collect()
    };
    let (goes, comes) = (without(&in_force.anchors, &next), without(&next, &in_force.anchors));
    Ok((!goes.is_empty() || !comes.is_empty()).then_some(Drift { goes, comes, next }))
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = &ctx.namespaces().control_plane;
    let Some(Drift { goes, comes, next }) = drift(ctx)? else { return Ok(Verdict::fine()) };
    // If the next bundle does not cover the issuer, `issuer-not-trusted` reports it.
    let now = |certificate: &Certificate| certificate.validity(ctx.now()) == Validity::Current;
    let is_uncovered = |issuer: Issuer| reach(&issuer.chain, &next, &now).anchors.is_empty();
    if ctx.or_note(issuer(ctx)).is_some_and(is_uncovered) {
        return Ok(Verdict::fine());
    }
    let message = match (goes.is_empty(), comes.is_empty()) {
        (false, _) => {
            "the next upgrade removes trust anchors from the bundle, which was changed outside the \
                installation: proxies created after it reject certificates under the removed anchors"
        }
        (true, _) => {
            "the next upgrade adds trust anchors that the current bundle does not have, since it was \
                changed outside the installation: removed anchors return"
        }
    };
    let steps = remedy::read_bundle(
        ctx,
        Remedy::new(),
        "Write the current bundle to a file, and check that its content is correct",
        CURRENT_BUNDLE,
    );
    let finding = ctx
        .finding(Subject::object("ConfigMap", namespace, TRUST_ROOTS), message)
        .evidence(Evidence::field(
            format!("ConfigMap {namespace}/{TRUST_ROOTS}"),
            IN_FORCE,
            format!("only here: {}", list(&goes)),
        ))
        .evidence(Evidence::field(
            format!("ConfigMap {namespace}/linkerd-config"),
            "data.values: identityTrustAnchorsPEM",
            format!("only here: {}", list(&comes)),
        ))
        .remedy(remedy::put_bundle(ctx, steps, "Make it the bundle of the installation", CURRENT_BUNDLE))
        .tie(identity_deployment(ctx));
    Ok(finding.into())
}
