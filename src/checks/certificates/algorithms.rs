//! Who takes a certificate's key and signature. Proxies verify more than `linkerd check` allows, and identity asks for no
//! algorithm; what only the command refuses is worth knowing and breaks nothing.

use crate::certificates::{Certificate, Key};
use crate::checks::Context;
use crate::checks::control_plane::installation::installed;

/// Who takes a key or a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Supported {
    /// Everybody.
    Everywhere,
    /// Identity and the proxies of the installed release; not `linkerd check`.
    InMesh,
    /// Proxies of this release do not verify it, or identity does not.
    Nowhere,
}

/// Who takes a trust anchor. Its own signature is looked at by `linkerd check` alone.
pub(super) fn anchor(ctx: &Context<'_>, anchor: &Certificate) -> Supported {
    let signed_with = anchor.signed_with();
    let by_linkerd_check = match anchor.key() {
        Key::Ecdsa(256) => matches!(signed_with.as_str(), "ECDSA-SHA256" | "SHA256-RSA"),
        Key::Rsa(2048 | 4096) => signed_with == "SHA256-RSA",
        Key::Rsa(_) | Key::Ecdsa(_) | Key::Ed25519 | Key::Other(_) => false,
    };
    let by_proxies = match anchor.key() {
        Key::Ecdsa(256 | 384) | Key::Rsa(2048..=8192) | Key::Ed25519 => true,
        key @ Key::Ecdsa(_) => verifies_late(ctx, &key.to_string()),
        Key::Rsa(_) | Key::Other(_) => false,
    };
    taken(by_linkerd_check, by_proxies)
}

/// Who takes the issuer's signature, which its anchor made.
pub(super) fn signature(ctx: &Context<'_>, issuer: &Certificate) -> Supported {
    let signed_with = issuer.signed_with();
    let by_linkerd_check = matches!(signed_with.as_str(), "ECDSA-SHA256" | "SHA256-RSA");
    let by_proxies = match signed_with.as_str() {
        "ECDSA-SHA256" | "ECDSA-SHA384" | "SHA256-RSA" | "SHA384-RSA" | "SHA512-RSA" | "Ed25519" => true,
        other => verifies_late(ctx, other),
    };
    taken(by_linkerd_check, by_proxies)
}

/// Who takes the issuer's key. Identity signs with ECDSA and SHA-256 alone, whatever the key, and proxies verify that.
pub(super) fn issuer_key(ctx: &Context<'_>, issuer: &Certificate) -> Supported {
    match issuer.key() {
        Key::Ecdsa(256) => Supported::Everywhere,
        Key::Ecdsa(384) => Supported::InMesh,
        key @ Key::Ecdsa(_) => taken(false, verifies_late(ctx, &key.to_string())),
        Key::Rsa(_) | Key::Ed25519 | Key::Other(_) => Supported::Nowhere,
    }
}

fn taken(by_linkerd_check: bool, by_proxies: bool) -> Supported {
    match (by_linkerd_check, by_proxies) {
        (true, true) => Supported::Everywhere,
        (false, true) => Supported::InMesh,
        (_, false) => Supported::Nowhere,
    }
}

/// Whether the proxies of the installed release verify what those of others do not. Where it is not known, they do not.
fn verifies_late(ctx: &Context<'_>, algorithm: &str) -> bool {
    let installed = installed(ctx).ok().flatten();
    installed.is_some_and(|(version, _)| {
        ctx.knowledge.control_plane().verifies_late(algorithm, &version, ctx.knowledge.minors())
    })
}
