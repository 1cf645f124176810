//! `anchor-replaced-at-renewal`: cert-manager will renew the trust anchor with a new key, and trust-manager then
//! replaces it in the bundle, without a time in which proxies trust both.

use jiff::{SignedDuration, Timestamp};
use semver::Version;

use super::identity::{BUNDLE, TRUST_ROOTS, anchor_tie, source_bundle};
use super::managed_anchor::{ManagedAnchor, holds};
use crate::certificates::{Certificate, from_restored_bundle};
use crate::checks::dates::span;
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::checks::trust_roots::chart_writes_bundle;
use crate::command::meshdoctor;
use crate::objects::{Bundle, CertManagerCertificate, ManagedCertificate, TrustBundle, TrustSource};

/// The release of cert-manager from which on a renewal makes a new key by default.
const NEW_KEY_SINCE: Version = Version::new(1, 18, 0);
/// Times before the renewal from which on it is a warning, and an error.
const SOON: SignedDuration = SignedDuration::from_hours(60 * 24);
const NOW: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Why a renewal makes a new key.
enum NewKey {
    /// The Certificate requests it.
    Requested,
    /// The default of this release.
    Default(Version),
    /// The default, if the release of cert-manager, which is unknown, is new enough.
    Unknown,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS)?;
    let Some((roots, owner)) = roots.and_then(|roots| Some((roots, source_bundle(roots)?))) else {
        return Err(Unjudged::not_applicable("trust-manager does not write the trust anchors"));
    };
    let anchors = roots.data.get(BUNDLE).and_then(|pem| from_restored_bundle(pem).ok()).unwrap_or_default();
    let bundles = defined::<Bundle>(ctx)?;
    let Some(bundle) = bundles.iter().find(|bundle| bundle.metadata.name == owner.name) else {
        return Ok(Verdict::fine());
    };
    let certificates = defined::<CertManagerCertificate>(ctx)?;
    let findings = certificates.iter().filter_map(|managed| {
        let anchor = anchors.iter().find(|anchor| holds(managed, anchor))?;
        finding(ctx, managed, anchor, bundle)
    });
    Ok(findings.collect())
}

/// The time at which cert-manager renews a trust anchor that the chart does not write, if it does. Unavailable
/// Certificates are noted.
pub(super) fn renewal(ctx: &Context<'_>, anchor: &Certificate) -> Option<Timestamp> {
    (chart_writes_bundle(ctx) == Some(false)).then_some(())?;
    let certificates = ctx.or_note(defined::<CertManagerCertificate>(ctx))?;
    let managed = certificates.iter().find(|managed| holds(managed, anchor))?;
    managed.status.renewal_time.get().filter(|at| *at > ctx.now())
}

fn finding(
    ctx: &Context<'_>,
    managed: &ManagedCertificate,
    anchor: &Certificate,
    bundle: &TrustBundle,
) -> Option<Finding> {
    let secret =
        |source: &TrustSource| source.secret.as_ref().is_some_and(|secret| secret.name == managed.spec.secret_name);
    let sources = &bundle.spec.sources;
    // Another source holds the anchor before it, or after it.
    if !sources.iter().any(secret) || sources.iter().any(|source| !secret(source) && !source.is_default()) {
        return None;
    }
    let renewal = managed.status.renewal_time.get().filter(|at| *at > ctx.now())?;
    let left = renewal.duration_since(ctx.now());
    let why = new_key(ctx, managed)?;
    let (namespace, name) = managed.metadata.key();
    let message = format!(
        "cert-manager renews the trust anchor in {} with a new key, and trust-manager then replaces it in the \
         bundle. Proxies that hold only the old anchor reject all others until they are restarted",
        span(left)
    );
    let severity = match left {
        left if left < NOW => Severity::Error,
        left if left < SOON => Severity::Warning,
        _ => Severity::Info,
    };
    let object = format!("Certificate {namespace}/{name}");
    let policy = match (&why, managed.spec.private_key.rotation_policy.as_str()) {
        (NewKey::Requested, policy) => policy.to_owned(),
        (NewKey::Default(version), _) => format!("not set; Always by default in cert-manager {version}"),
        (NewKey::Unknown, _) => format!("not set; Always by default since cert-manager {NEW_KEY_SINCE}"),
    };
    let keep = kubectl().namespace(namespace).words("patch certificates.cert-manager.io").operand(name);
    let keep = keep.words("--type merge -p").arg(r#"{"spec":{"privateKey":{"rotationPolicy":"Never"}}}"#);
    let finding = ctx
        .finding(Subject::object(Kind::CertManagerCertificate, namespace, name), message)
        .severity(severity)
        .evidence(Evidence::field(&object, "status.renewalTime", renewal.to_string()))
        .evidence(Evidence::field(&object, "spec.privateKey.rotationPolicy", policy))
        .evidence(Evidence::field(
            format!("Bundle {}", bundle.metadata.name),
            "spec.sources",
            format!("only Secret {}", managed.spec.secret_name),
        ))
        .remedy(otherwise_kept(
            Remedy::new().run(
                StepKind::Command,
                "Keep the key at renewals (also in its source manifest): proxies then trust certificates under the \
                 old and the new anchor",
                keep,
            ),
            ManagedAnchor::new(managed, bundle),
        ))
        .tie(anchor_tie(anchor));
    Some(finding.likely_if(matches!(why, NewKey::Unknown)))
}

/// Adds the steps for a renewal with a new key.
fn otherwise_kept(remedy: Remedy, anchor: ManagedAnchor<'_>) -> Remedy {
    let act = "Or, for a new key, keep the current anchor in the Bundle as a source of its own: its certificate, \
               without the key";
    match anchor.kept(remedy.clone(), act) {
        Some(remedy) => remedy.command(
            "After a renewal with a new key, follow the rotation from its current state",
            meshdoctor().words("rotate"),
        ),
        None => remedy,
    }
}

/// Whether a renewal makes a new key; `None` if it keeps the key.
fn new_key(ctx: &Context<'_>, managed: &ManagedCertificate) -> Option<NewKey> {
    match managed.spec.private_key.rotation_policy.as_str() {
        "Always" => Some(NewKey::Requested),
        "" => match release(ctx) {
            Some(version) if version >= NEW_KEY_SINCE => Some(NewKey::Default(version)),
            Some(_) => None,
            None => Some(NewKey::Unknown),
        },
        _ => None,
    }
}

/// The release of cert-manager in this cluster, by the label of its chart and manifests.
fn release(ctx: &Context<'_>) -> Option<Version> {
    let deployments = ctx.or_note(ctx.partial_list::<Deployment>())?;
    let own = deployments.iter().find(|deployment| {
        let meta = &deployment.metadata;
        meta.label("app.kubernetes.io/name") == Some("cert-manager")
            && meta.label("app.kubernetes.io/component").is_none_or(|component| component == "controller")
    })?;
    let version = own.metadata.label("app.kubernetes.io/version")?;
    Version::parse(version.strip_prefix('v').unwrap_or(version)).ok()
}
