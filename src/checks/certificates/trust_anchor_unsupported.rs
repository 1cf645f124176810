//! `trust-anchor-unsupported`: proxies do not support a trust anchor's key, or it is not a CA, or
//! only `linkerd check` rejects it.

use super::algorithms::{self, Supported};
use super::identity::{Anchor, anchor_tie, anchors, bundles};
use super::remedy;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let bundles = bundles(ctx)?;
    let findings = anchors(&bundles).into_iter().flat_map(|anchor| {
        let unsupported = match algorithms::anchor(ctx, anchor.certificate) {
            Supported::Everywhere => None,
            Supported::InMesh => Some(refused_by_linkerd_check(ctx, &anchor)),
            Supported::Nowhere => Some(unsupported(ctx, &anchor)),
        };
        let no_authority = (!anchor.certificate.is_authority()).then(|| no_authority(ctx, &anchor));
        [unsupported, no_authority]
    });
    Ok(findings.flatten().collect())
}

fn message(anchor: &Anchor<'_>) -> String {
    let certificate = anchor.certificate;
    format!("{}: key {}, signature {}", certificate.summary(), certificate.key(), certificate.signed_with())
}

/// The mesh works with it.
fn refused_by_linkerd_check(ctx: &Context<'_>, anchor: &Anchor<'_>) -> Finding {
    ctx.finding(
        anchor.subject(),
        "linkerd check rejects the key or the signature of a trust anchor, but identity and proxies \
            accept them: the mesh works",
    )
    .severity(Severity::Info)
    .rows_as(Severity::Error)
    .explains_nothing()
    .evidences(anchor.evidence(&message(anchor)))
    .parameter(anchor.certificate.print())
    .parameter("command")
    .remedy(Remedy::new().note("If linkerd check must pass, use ECDSA P-256 at the next rotation"))
}

fn unsupported(ctx: &Context<'_>, anchor: &Anchor<'_>) -> Finding {
    let certificate = anchor.certificate;
    let steps = Remedy::new();
    let steps = remedy::put_root(ctx, remedy::new_root(ctx, steps));
    ctx.finding(
        anchor.subject(),
        "proxies of this release do not support the key of a trust anchor: they reject every certificate \
            that chains to it. Use ECDSA P-256",
    )
    .evidences(anchor.evidence(&message(anchor)))
    .parameter(certificate.print())
    .remedy(remedy::restart_meshed_apart(ctx, remedy::restart_control_plane(ctx, steps)))
    .tie(anchor_tie(certificate))
}

fn no_authority(ctx: &Context<'_>, anchor: &Anchor<'_>) -> Finding {
    let said = format!("{}: not a CA (CA:FALSE)", anchor.certificate.summary());
    let steps = remedy::take_out_anchor(ctx, Remedy::new(), anchor);
    ctx.finding(
        anchor.subject(),
        "a certificate among the trust anchors is not a CA: certificates that it signed are rejected",
    )
    .severity(Severity::Warning)
    .evidences(anchor.evidence(&said))
    .parameter(anchor.certificate.print())
    .parameter("no-authority")
    .remedy(steps)
    .fails_rows([])
    .tie(anchor_tie(anchor.certificate))
}
