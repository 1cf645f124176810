//! `cert-manager-meshed`: the controller of cert-manager has a proxy, whose certificate depends on the issuer that
//! the controller renews.

use std::collections::BTreeMap;

use super::identity::{BUNDLE, TRUST_ROOTS, identity_deployment, issuer};
use super::managed_anchor::{holds, is_of_issuer};
use crate::certificates::{Validity, from_restored_bundle};
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::checks::restart::is_injected_by_hand;
use crate::checks::rewrite;
use crate::command::linkerd;
use crate::model::injection::INJECT;
use crate::model::managed_by::ManagedBy;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{CertManagerCertificate, ManagedCertificate};
use crate::version::ImageRef;

/// Maximum number of quoted pods.
const QUOTED: usize = 2;
/// The name of the controller's image.
const IMAGE: &str = "cert-manager-controller";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let managed = managed(ctx)?;
    if managed.is_empty() {
        return Err(Unjudged::not_applicable("cert-manager issues neither the issuer nor the trust anchor"));
    }
    let all: Vec<&Pod> = ctx.partial_list::<Pod>()?.iter().filter(|pod| is_controller(pod)).collect();
    let owners = ctx.owners();
    let mut groups: BTreeMap<Owner, Vec<&Pod>> = BTreeMap::new();
    for pod in all.iter().filter(|pod| pod.spec.proxy().is_some()) {
        groups.entry(owners.owner(pod)).or_default().push(pod);
    }
    // One ready controller renews everything.
    let ended = match all.iter().any(|pod| pod.is_ready()) {
        true => None,
        false => managed.iter().copied().find(|one| is_expired(ctx, one)),
    };
    let findings = groups.iter().map(|(owner, pods)| {
        let ended = ended.filter(|_| !pods.iter().any(|pod| has_ready_proxy(pod)));
        finding(ctx, owner, pods, managed[0], ended)
    });
    Ok(findings.collect())
}

fn has_ready_proxy(pod: &Pod) -> bool {
    pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.ready)
}

/// Links the renewal of a certificate to the controller that does not run.
pub(super) fn renewal_of(managed: &ManagedCertificate) -> Tie {
    let (namespace, name) = managed.metadata.key();
    Tie::Fact(format!("renewal of {namespace}/{name}"))
}

/// The Certificates of the issuer, then those of trust anchors.
fn managed<'a>(ctx: &Context<'a>) -> Result<Vec<&'a ManagedCertificate>, Unjudged> {
    let all = defined::<CertManagerCertificate>(ctx)?;
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS).ok().flatten();
    let anchors = roots.and_then(|roots| from_restored_bundle(roots.data.get(BUNDLE)?).ok());
    let anchors = anchors.unwrap_or_default();
    let is_anchor = |one: &&ManagedCertificate| anchors.iter().any(|anchor| holds(one, anchor));
    let (mut found, others): (Vec<_>, Vec<_>) = all.iter().partition(|one| is_of_issuer(ctx, one));
    found.extend(others.into_iter().filter(is_anchor));
    Ok(found)
}

/// Whether a pod runs the controller of cert-manager, which issues and renews.
fn is_controller(pod: &Pod) -> bool {
    let label = |key: &str, value: &str| pod.metadata.label(key) == Some(value);
    let is_of_image = |image: &str| image.parse::<ImageRef>().is_ok_and(|image| image.name() == IMAGE);
    !pod.is_finished()
        && pod.metadata.deletion_timestamp.is_none()
        && (pod.spec.containers.iter().any(|container| is_of_image(&container.image))
            || label("app.kubernetes.io/name", "cert-manager") && label("app.kubernetes.io/component", "controller"))
}

/// Whether the certificate of a Certificate has expired: that of the issuer by its Secret, if available.
fn is_expired(ctx: &Context<'_>, managed: &ManagedCertificate) -> bool {
    match issuer(ctx) {
        Ok(issuer) if is_of_issuer(ctx, managed) => issuer.certificate().validity(ctx.now()) == Validity::Over,
        _ => managed.status.not_after.get().is_some_and(|at| at < ctx.now()),
    }
}

/// The finding for the pods of one owner. `ended`: the expired certificate, if none of the controllers can renew it.
fn finding(
    ctx: &Context<'_>,
    owner: &Owner,
    pods: &[&Pod],
    managed: &ManagedCertificate,
    ended: Option<&ManagedCertificate>,
) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let message = match ended {
        Some(_) => {
            "cert-manager waits for its proxy, which gets no certificate, since the issuer or trust anchor has \
             expired. So cert-manager cannot renew it"
        }
        None => {
            "cert-manager renews the issuer, and its controller has a proxy. If the issuer expires, a new pod of \
             the controller gets no certificate and cannot renew the issuer"
        }
    };
    let shown = ended.unwrap_or(managed);
    let (namespace, name) = shown.metadata.key();
    let object = format!("Certificate {namespace}/{name}");
    let proxies = pods.iter().take(QUOTED).map(|pod| {
        let state = if has_ready_proxy(pod) { "ready" } else { "not ready" };
        Evidence::field(pod.described(), format!("containers[{PROXY_CONTAINER}]"), state)
    });
    let finding = ctx
        .finding(owner.subject(names), message)
        .evidence(Evidence::field(&object, "spec.secretName", shown.spec.secret_name.as_str()))
        .evidences(proxies)
        .remedy(remedy(ctx, owner, pods, ended.is_some()));
    match ended {
        Some(ended) => finding.tie(renewal_of(ended)).tie(identity_deployment(ctx)),
        None => finding.severity(Severity::Warning).explains_nothing(),
    }
}

fn remedy(ctx: &Context<'_>, owner: &Owner, pods: &[&Pod], is_blocked: bool) -> Remedy {
    let by_hand = pods.iter().any(|pod| is_injected_by_hand(pod));
    let target = owner.restartable();
    let known = rewrite::workload(ctx, owner).and_then(|(_, known)| known);
    let git = known.and_then(|known| ManagedBy::from_metadata(&known.metadata).in_git());
    let act = "Remove the proxy from the pod template, which contains it";
    let remedy = match (&target, git) {
        _ if !by_hand => Remedy::new(),
        (_, Some(git)) => Remedy::new().note(format!("{act}; {git}")),
        (Some(target), None) => {
            let get = kubectl().namespace(&owner.namespace).words("get").operand(target).words("-o yaml");
            // `apply` would keep containers that it has not applied before.
            let replaced = get.pipe(linkerd().words("uninject -")).pipe(kubectl().words("replace -f -"));
            let text = format!("{act} (also from its source manifest)");
            Remedy::new().run(StepKind::Command, text, replaced)
        }
        (None, None) => Remedy::new().note(act),
    };
    let act = format!("Keep the controller out of the mesh: set {INJECT}: disabled");
    let remedy = rewrite::of_owner(ctx, remedy, &act, owner, &[(INJECT, Some("disabled"))]);
    match target {
        Some(target) if is_blocked => {
            let wait = kubectl().namespace(&owner.namespace).words("rollout status").operand(target);
            let act = "Wait until the controller runs without a proxy. It then renews expired certificates";
            remedy.command(act, Command::from(wait.words("--timeout=5m")))
        }
        _ => remedy,
    }
}
