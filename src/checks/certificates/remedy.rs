//! How the certificates of the mesh are replaced: by whom they are written, and in which order. The steps follow Linkerd's
//! own procedures; which of them fits is for the checks.

use super::identity::{DEFAULT_DOMAIN, ISSUER, Issuer, Scheme, TRUST_ROOTS, trust_domain};
use crate::checks::Context;
use crate::checks::upgrade::{self, Options};
use crate::finding::{Remedy, StepKind};

/// Adds the commands that make a new root and an issuer under it, valid for a year.
pub(super) fn new_root(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let (root, issuer) = (names(ctx, "root"), names(ctx, "identity"));
    remedy.run(
        StepKind::Command,
        "Make a new trust anchor and an issuer under it (keep ca.key offline)",
        format!(
            "step certificate create {root} ca.crt ca.key --profile root-ca --no-password --insecure\n\
             step certificate create {issuer} issuer.crt issuer.key --profile intermediate-ca --not-after 8760h \
             --no-password --insecure --ca ca.crt --ca-key ca.key"
        ),
    )
}

/// Adds the command that makes a new issuer under the trust anchor that is there.
pub(super) fn new_issuer(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    remedy.run(
        StepKind::Command,
        "Make a new issuer under the current trust anchor (ca.crt and ca.key are its certificate and key; where the key is \
         lost, the anchor must be replaced as well)",
        format!(
            "step certificate create {} issuer.crt issuer.key --profile intermediate-ca --not-after 8760h --no-password \
             --insecure --ca ca.crt --ca-key ca.key",
            names(ctx, "identity")
        ),
    )
}

/// `root.linkerd.cluster.local`, with the namespace and the trust domain of this mesh.
fn names(ctx: &Context<'_>, what: &str) -> String {
    let domain = trust_domain(ctx).unwrap_or_else(|| DEFAULT_DOMAIN.to_owned());
    format!("{what}.{}.{domain}", ctx.namespaces().control_plane)
}

/// Adds the step that puts a new issuer in place, by whom the Secret is written.
pub(super) fn put_issuer(ctx: &Context<'_>, remedy: Remedy, issuer: Option<&Issuer<'_>>) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    match issuer.map(|issuer| (issuer.scheme, issuer.renewed_by())) {
        Some((_, Some("cert-manager"))) => remedy.run(
            StepKind::Command,
            "See why cert-manager does not renew it, and have it renewed",
            format!(
                "kubectl -n {namespace} describe certificate {ISSUER}\ncmctl -n {namespace} renew {ISSUER}"
            ),
        ),
        Some((Scheme::External, _)) => by_owner(ctx, remedy),
        _ => upgrade::step(
            ctx,
            remedy,
            StepKind::Command,
            "Put the new issuer in place",
            Options {
                cli: "--identity-issuer-certificate-file issuer.crt --identity-issuer-key-file issuer.key",
                helm: Some(
                    "--set-file identity.issuer.tls.crtPEM=issuer.crt --set-file identity.issuer.tls.keyPEM=issuer.key",
                ),
            },
        ),
    }
}

/// Adds the step that puts a new trust anchor and issuer in place at once.
pub(super) fn put_root(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    upgrade::step(
        ctx,
        remedy,
        StepKind::Command,
        "Put both in place (where trust-manager or cert-manager writes the bundle and the Secret, there)",
        Options {
            cli: "--identity-trust-anchors-file ca.crt --identity-issuer-certificate-file issuer.crt \
                  --identity-issuer-key-file issuer.key --force",
            helm: Some(
                "--set-file identityTrustAnchorsPEM=ca.crt --set-file identity.issuer.tls.crtPEM=issuer.crt --set-file \
                 identity.issuer.tls.keyPEM=issuer.key",
            ),
        },
    )
}

/// Adds the restart of the control plane, which reads the trust anchors only at its start.
pub(super) fn restart_control_plane(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    remedy.run(
        StepKind::Command,
        "Restart the control plane, which reads the trust anchors only as it starts",
        format!("kubectl -n {namespace} rollout restart deployment"),
    )
}

/// Adds the restart of what is meshed: proxies keep the bundle that they were created with.
pub(super) fn restart_meshed(remedy: Remedy) -> Remedy {
    remedy.step(
        StepKind::Note,
        "Then restart every meshed workload: a proxy keeps the trust anchors that it was created with",
    )
}

/// Adds the steps that take an anchor out of the bundle.
pub(super) fn take_out(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let remedy = read_bundle(ctx, remedy, "Write the bundle to a file, and take the anchor out of it");
    put_bundle(ctx, remedy, "Put the bundle in place (where trust-manager writes it, there)")
}

/// Adds the step that writes the bundle in force to `bundle.crt`.
pub(in crate::checks) fn read_bundle(ctx: &Context<'_>, remedy: Remedy, act: &str) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    remedy.run(
        StepKind::Command,
        act,
        format!(
            "kubectl -n {namespace} get configmap {TRUST_ROOTS} -o 'jsonpath={{.data.ca-bundle\\.crt}}' > bundle.crt"
        ),
    )
}

/// Adds the step that puts a bundle of trust anchors in place.
pub(in crate::checks) fn put_bundle(ctx: &Context<'_>, remedy: Remedy, act: &str) -> Remedy {
    let options = Options {
        cli: "--identity-trust-anchors-file bundle.crt",
        helm: Some("--set-file identityTrustAnchorsPEM=bundle.crt"),
    };
    upgrade::step(ctx, remedy, StepKind::Command, act, options)
}

/// Adds the step that puts an issuer in place where the chart does not write the Secret.
pub(super) fn by_owner(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    remedy.run(
        StepKind::Command,
        "Have the tool that owns the Secret write it again (cert-manager, or what stands in for it); by hand",
        format!(
            "kubectl -n {namespace} create secret generic {ISSUER} --type kubernetes.io/tls --from-file tls.crt=issuer.crt \
             --from-file tls.key=issuer.key --from-file ca.crt=ca.crt --dry-run=client -o yaml | kubectl apply -f -"
        ),
    )
}

/// Adds the look whether identity has taken a new issuer, which it does without a restart.
pub(super) fn see_it_taken(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    remedy.run(
        StepKind::Command,
        "Identity takes it within a minute or two and says so in an event, IssuerUpdated; if it does not run or does not say so, \
         restart it",
        format!(
            "kubectl -n {namespace} get events --field-selector reason=IssuerUpdated\n\
             kubectl -n {namespace} rollout restart deployment/linkerd-identity"
        ),
    )
}
