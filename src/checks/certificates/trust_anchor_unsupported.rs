//! `trust-anchor-unsupported`: a trust anchor has a key or a signature that Linkerd does not take, or is no authority.

use super::identity::{Anchor, anchor_tie, anchors, bundles};
use super::remedy;
use crate::checks::{Context, Judgement};
use crate::finding::{Finding, Remedy, Severity};
use crate::model::certificates::{Certificate, Key};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let bundles = match bundles(ctx)? {
        Ok(bundles) => bundles,
        Err(verdict) => return Ok(verdict),
    };
    let findings = anchors(&bundles).into_iter().flat_map(|anchor| {
        let unsupported = (!is_supported(anchor.certificate)).then(|| unsupported(ctx, &anchor));
        let no_authority = (!anchor.certificate.is_authority()).then(|| no_authority(ctx, &anchor));
        [unsupported, no_authority]
    });
    Ok(findings.flatten().collect::<Vec<_>>().into())
}

/// An anchor may have an RSA key; only the issuer must not.
fn is_supported(anchor: &Certificate) -> bool {
    let signed_with = anchor.signed_with();
    match anchor.key() {
        Key::Ecdsa(256) => signed_with == "ECDSA-SHA256" || signed_with == "SHA256-RSA",
        Key::Rsa(2048 | 4096) => signed_with == "SHA256-RSA",
        Key::Rsa(_) | Key::Ecdsa(_) | Key::Ed25519 | Key::Other(_) => false,
    }
}

fn unsupported(ctx: &Context<'_>, anchor: &Anchor<'_>) -> Finding {
    let certificate = anchor.certificate;
    let said = format!(
        "{}: key {}, signature {}",
        certificate.summary(),
        certificate.key(),
        certificate.signed_with()
    );
    let steps = Remedy::verified_by("meshdoctor check --only certificates");
    let steps = remedy::put_root(ctx, remedy::new_root(ctx, steps));
    ctx.finding(
        anchor.subject(),
        "a trust anchor has a key or a signature that Linkerd does not support: it must be ECDSA P-256, or RSA with 2048 or \
         4096 bits, signed with SHA-256",
    )
    .evidences(anchor.evidence(&said))
    .parameter(certificate.print())
    .remedy(remedy::restart_meshed(remedy::restart_control_plane(ctx, steps)))
    .tie(anchor_tie(certificate))
}

fn no_authority(ctx: &Context<'_>, anchor: &Anchor<'_>) -> Finding {
    let said = format!("{}: no authority (CA:FALSE)", anchor.certificate.summary());
    let steps = remedy::take_out(ctx, Remedy::verified_by("meshdoctor check --only certificates"));
    ctx.finding(
        anchor.subject(),
        "a certificate among the trust anchors is no authority: nothing that it signed is accepted",
    )
    .severity(Severity::Warning)
    .evidences(anchor.evidence(&said))
    .parameter(anchor.certificate.print())
    .parameter("no-authority")
    .remedy(remedy::restart_meshed(steps))
    .fails_rows([])
    .tie(anchor_tie(anchor.certificate))
}
