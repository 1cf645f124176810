//! Predicts whether `linkerd upgrade` refuses to run because of the data plane: unless forced, it verifies
//! the new issuer with the trust anchors of every proxy outside the control plane's namespace. All printed
//! `linkerd upgrade` commands use this decision.

use std::collections::BTreeSet;

use super::FORCED;
use super::stored::ISSUER;
use crate::certificates::{BundlePrint, Certificate, Trust, from_base64_bundle, from_bundle, trust};
use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::checks::trust_roots::{current_for_steps, held_outside};
use crate::finding::Forced;
use crate::model::owners::Owners;
use crate::objects::{Job, ReplicaSet, Secret};

/// The option that skips the verification.
const FORCE: &str = "--force";

/// The issuer that an upgrade writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::checks) enum IssuerWritten {
    /// The current issuer.
    Kept,
    /// A new one, signed by a current trust anchor.
    New,
}

/// The option that `linkerd upgrade` of a release needs, if it would refuse otherwise. A release of `None` is
/// unknown, and presumed to verify.
pub(in crate::checks) fn force(
    ctx: &Context<'_>,
    release: Option<&LinkerdVersion>,
    issuer: IssuerWritten,
) -> Option<&'static str> {
    let verifies = |release| ctx.knowledge.upgrades().guards_issuer(release, ctx.knowledge.minors());
    (release.is_none_or(verifies) && writes_issuer(ctx) && refused_pods(ctx, issuer).next().is_some()).then_some(FORCE)
}

/// The option as long as the pods for which an upgrade must be forced are not replaced; afterwards `upgrade`
/// waits for their successors. `None` if a restart of one of their workloads is not a single command.
pub(super) fn until_replaced(ctx: &Context<'_>, issuer: IssuerWritten, upgrade: &Command) -> Option<Forced> {
    let until = refused_workloads(ctx, issuer)?;
    let waits = until.iter().map(|(namespace, workload)| {
        kubectl().namespace(namespace).words("rollout status").operand(workload).words("--timeout=10m")
    });
    let mut without = Command::lines(waits);
    without.join([upgrade]);
    Some(Forced { reason: FORCED, until, without: without.whole() })
}

/// The workloads of the pods for which an upgrade must be forced, as namespace and `deployment/web`; `None`
/// if a restart of one of them is not a single command.
fn refused_workloads(ctx: &Context<'_>, issuer: IssuerWritten) -> Option<BTreeSet<(String, String)>> {
    let owners = Owners::new(ctx.for_steps::<ReplicaSet>(), ctx.for_steps::<Job>());
    let named = |pod: &Pod| {
        let owner = owners.owner(pod);
        Some((owner.namespace.clone(), owner.restartable()?))
    };
    refused_pods(ctx, issuer).map(named).collect()
}

/// Whether Linkerd writes the issuer: an issuer of another tool is not verified.
fn writes_issuer(ctx: &Context<'_>) -> bool {
    ctx.values_for_steps().is_none_or(|values| is_issuer_written(&values))
}

/// Whether the chart with these values writes the issuer, rather than another tool.
pub(super) fn is_issuer_written(values: &Values) -> bool {
    matches!(values.text("identity.issuer.scheme"), None | Some("linkerd.io/tls"))
}

/// The meshed pods outside the control plane's namespace that do not trust the issuer.
fn refused_pods<'a>(ctx: &Context<'a>, issuer: IssuerWritten) -> impl Iterator<Item = &'a Pod> {
    let roots = current_for_steps(ctx);
    let current = roots.map(BundlePrint::from_pem).filter(|current| !current.is_empty());
    let signers = roots.filter(|_| issuer == IssuerWritten::Kept).and_then(|pem| signers(ctx, pem));
    let is_refused = move |held: &BundlePrint| match (&signers, &current) {
        (Some(signers), _) => !signers.iter().any(|signer| held.has(signer)),
        (None, Some(current)) => !current.overlaps(held),
        (None, None) => false,
    };
    held_outside(ctx, ctx.for_steps::<Pod>()).filter(move |(_, held)| is_refused(held)).map(|(pod, _)| pod)
}

/// The anchors of the bundle that the kept issuer chains to; `None` if the issuer is unknown or chains to
/// none of them.
pub(in crate::checks) fn signers(ctx: &Context<'_>, bundle: &str) -> Option<Vec<Certificate>> {
    let secret = ctx.named_for_steps::<Secret>(ISSUER)?;
    let chain = from_base64_bundle(secret.data.get("crt.pem")?).ok()?;
    let anchors = from_bundle(bundle).ok()?;
    let leads = |anchor: &Certificate| trust(&chain, std::slice::from_ref(anchor)) == Trust::Yes;
    let signers: Vec<Certificate> = anchors.into_iter().filter(leads).collect();
    (!signers.is_empty()).then_some(signers)
}
