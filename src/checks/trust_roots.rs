//! Fingerprints of the trust anchors in force: those in the ConfigMap that identity and the injector read,
//! and those that a proxy was created with. Shared by the checks of certificates and of extensions, which
//! report the consequence of a difference.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::certificates::{BundlePrint, Certificate, from_restored_bundle, restored_text};
use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::command::meshdoctor;
use crate::finding::Applies;
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::objects::PodSpec;
use crate::objects::container::{EnvVar, TRUST_ANCHORS};

/// The ConfigMap from which identity and the injector read the trust anchors.
pub(super) const TRUST_ROOTS: &str = "linkerd-identity-trust-roots";
/// Its key.
pub(super) const BUNDLE: &str = "ca-bundle.crt";

/// The tie of findings that the absence of this ConfigMap explains.
pub(super) fn roots_absent() -> Tie {
    Tie::Fact(format!("absent:{TRUST_ROOTS}"))
}

/// Whether the kubelet's text states that this ConfigMap does not exist.
pub(super) fn names_absent_roots(said: &str) -> bool {
    said.contains(&format!("configmap \"{TRUST_ROOTS}\" not found"))
}

/// The fingerprints of the bundle in force; `None` if the ConfigMap does not exist.
///
/// # Errors
/// It is unknown whether the ConfigMap exists.
pub(super) fn in_force(ctx: &Context<'_>) -> Result<Option<BundlePrint>, Missing> {
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS)?;
    Ok(roots.map(|roots| BundlePrint::from_pem(&restored_text(roots.data.get(BUNDLE).map_or("", String::as_str)))))
}

/// The annotation with the SHA-256 of the bundle text that the injector passed to a proxy, since 2.13.
pub(super) const TRUST_ROOT_HASH: &str = "linkerd.io/trust-root-sha256";

/// Whether a hash matches a text, as computed by the injector, the chart or `linkerd inject`, which treat
/// trailing blanks differently.
pub(super) fn is_hash_of(hash: &str, text: &str) -> bool {
    let trimmed = text.trim();
    let hex = |text: &str| Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    [text, trimmed, &format!("{trimmed}\n")].into_iter().any(|text| hex(text) == hash)
}

/// The fingerprints of the bundle that a pod's proxy was created with; `None` if they are not available.
pub(super) fn written(pod: &Pod) -> Option<&str> {
    written_in(&pod.spec)
}

/// The fingerprints of the bundle with which the specification of a pod creates its proxy, if it contains one.
pub(super) fn written_in(spec: &PodSpec) -> Option<&str> {
    variable(spec)?.value.as_deref()
}

/// Whether the bundle that a pod's proxy was created with is redacted.
pub(super) fn is_hidden(pod: &Pod) -> bool {
    variable(&pod.spec).is_some_and(|variable| variable.value.is_none())
}

fn variable(spec: &PodSpec) -> Option<&EnvVar> {
    spec.proxy()?.variable(TRUST_ANCHORS)
}

/// Whether the chart writes the trust anchors, rather than trust-manager or a similar tool; `None` if the
/// values are unknown.
pub(super) fn chart_writes_bundle(ctx: &Context<'_>) -> Option<bool> {
    ctx.values_for_steps().map(|values| is_bundle_written(&values))
}

/// Whether the chart with these values writes the trust anchors.
fn is_bundle_written(values: &Values) -> bool {
    values.bool("identity.externalCA") != Some(true)
}

/// The meshed pods outside the control plane's namespace that share no trust anchor with the current bundle.
pub(super) fn foreign_pods<'a>(ctx: &Context<'a>) -> impl Iterator<Item = &'a Pod> + use<'a> {
    foreign(ctx, ctx.optional_list::<Pod>(), in_force(ctx).ok().flatten())
}

/// Whether the control plane, once restarted, shares no trust anchor with running proxies.
pub(super) fn strands_proxies(ctx: &Context<'_>) -> bool {
    let current = current_for_steps(ctx).map(|text| BundlePrint::from_pem(&restored_text(text)));
    foreign(ctx, ctx.for_steps::<Pod>(), current).next().is_some()
}

/// The bundle that the control-plane pods were created with, according to their annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::checks) enum ControlPlane {
    /// The current one, in all pods.
    Current,
    /// Another one, in all pods: identity keeps the issuer that it loaded under it.
    Older,
    /// Unknown, or not the same in all pods.
    Unknown,
}

impl ControlPlane {
    pub(in crate::checks) fn from_pods(ctx: &Context<'_>) -> ControlPlane {
        let namespace = &ctx.namespaces().control_plane;
        let Some(current) = current_for_steps(ctx) else {
            return ControlPlane::Unknown;
        };
        let own = ctx.for_steps::<Pod>().iter().filter(|pod| {
            let meta = &pod.metadata;
            meta.namespace == *namespace && meta.label(COMPONENT).is_some() && !pod.is_finished()
        });
        let has_current = |pod: &Pod| pod.metadata.annotation(TRUST_ROOT_HASH).map(|hash| is_hash_of(hash, current));
        let found: BTreeSet<Option<bool>> = own.map(has_current).collect();
        match found.into_iter().collect::<Vec<_>>().as_slice() {
            [] | [Some(true)] => ControlPlane::Current,
            [Some(false)] => ControlPlane::Older,
            _ => ControlPlane::Unknown,
        }
    }
}

/// The decision whether to interrupt traffic that works, as the first step.
pub(in crate::checks) fn decided() -> Remedy {
    let act = "If calls between your applications still work, do not do the other steps, which interrupt them. Follow \
               the steps of this command instead";
    let mut remedy = Remedy::new().run(StepKind::Note, act, meshdoctor().words("rotate"));
    remedy.steps.iter_mut().for_each(|step| step.applies = Applies::First);
    remedy
}

/// The steps after that decision, if the control plane restarts by them while calls may still work.
pub(in crate::checks) fn decided_before(ctx: &Context<'_>, mut remedy: Remedy) -> Remedy {
    let is_decided = remedy.steps.iter().any(|step| step.applies == Applies::First);
    if !is_decided && ControlPlane::from_pods(ctx) == ControlPlane::Older && strands_proxies(ctx) {
        remedy.steps.splice(0..0, decided().steps);
    }
    remedy
}

/// Those of some pods that share no trust anchor with a bundle.
fn foreign<'a>(
    ctx: &Context<'a>,
    pods: &'a [Pod],
    current: Option<BundlePrint>,
) -> impl Iterator<Item = &'a Pod> + use<'a> {
    let held = held_outside(ctx, pods);
    held.filter(move |(_, held)| current.as_ref().is_some_and(|current| !current.overlaps(held))).map(|(pod, _)| pod)
}

/// The meshed pods outside the control plane's namespace, with the fingerprints that their proxies were created with.
pub(super) fn held_outside<'a>(
    ctx: &Context<'a>,
    pods: &'a [Pod],
) -> impl Iterator<Item = (&'a Pod, BundlePrint)> + use<'a> {
    let home = ctx.namespaces().control_plane.as_str();
    let is_own = move |meta: &Meta| meta.label(CONTROL_PLANE_NS) == Some(home) && meta.namespace != home;
    pods.iter().filter(move |pod| is_own(&pod.metadata)).filter_map(|pod| Some((pod, written(pod)?.parse().ok()?)))
}

/// The text of the current bundle, if it was read.
pub(super) fn current_for_steps<'a>(ctx: &Context<'a>) -> Option<&'a str> {
    ctx.named_for_steps::<ConfigMap>(TRUST_ROOTS)?.data.get(BUNDLE).map(String::as_str)
}

/// The hashes of trust anchors in the pod templates of the control plane. The chart restarts the control plane when
/// it changes them.
fn template_hashes<'a>(ctx: &Context<'a>) -> impl Iterator<Item = &'a str> {
    let home = ctx.namespaces().control_plane.as_str();
    let own = ctx.for_steps::<Deployment>().iter().filter(move |one| one.metadata.namespace == home);
    own.filter_map(|deployment| deployment.spec.template.metadata.annotation(TRUST_ROOT_HASH))
}

/// Whether the installation may store other trust anchors than the current ones: its values have others, or the
/// control plane was last applied with others.
pub(super) fn may_store_others(ctx: &Context<'_>) -> bool {
    let values = ctx.values_for_steps().filter(is_bundle_written);
    let stored = values.as_ref().and_then(|values| values.text("identityTrustAnchorsPEM"));
    let (Some(current), Some(stored)) = (current_for_steps(ctx), stored) else { return false };
    let sorted = |pem: &str| -> Option<Vec<Certificate>> {
        let mut anchors = from_restored_bundle(pem.trim()).ok()?;
        anchors.sort_by_key(Certificate::print);
        Some(anchors)
    };
    let Some(anchors) = sorted(current).filter(|anchors| !anchors.is_empty()) else { return false };
    let is_of_none = |hash: &str| !is_hash_of(hash, current) && !is_hash_of(hash, stored);
    sorted(stored).is_some_and(|stored| stored != anchors) || template_hashes(ctx).any(is_of_none)
}

/// Whether the chart with the current trust anchors changes the pod templates of the control plane.
pub(super) fn changes_templates(ctx: &Context<'_>) -> bool {
    current_for_steps(ctx).is_some_and(|current| template_hashes(ctx).any(|hash| !is_hash_of(hash, current)))
}
