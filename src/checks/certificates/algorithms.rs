//! Which components accept a certificate's key and signature. Proxies support more than `linkerd
//! check` allows, and identity requires no particular algorithm; a certificate that only the
//! command rejects still works.

use crate::certificates::{Certificate, Key};
use crate::checks::Context;
use crate::checks::control_plane::installation::installed;

/// Which components accept a key or a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Supported {
    /// All components.
    Everywhere,
    /// Identity and the proxies of the installed release, but not `linkerd check`.
    InMesh,
    /// Proxies of this release, or identity, do not support it.
    Nowhere,
}

/// Which components accept a trust anchor. Only `linkerd check` looks at its own signature.
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

/// Which components accept the issuer's signature, which its anchor made.
pub(super) fn signature(ctx: &Context<'_>, issuer: &Certificate) -> Supported {
    let signed_with = issuer.signed_with();
    let by_linkerd_check = matches!(signed_with.as_str(), "ECDSA-SHA256" | "SHA256-RSA");
    let by_proxies = match signed_with.as_str() {
        "ECDSA-SHA256" | "ECDSA-SHA384" | "SHA256-RSA" | "SHA384-RSA" | "SHA512-RSA" | "Ed25519" => true,
        other => verifies_late(ctx, other),
    };
    taken(by_linkerd_check, by_proxies)
}

/// Which components accept the issuer's key. Identity signs only with ECDSA and SHA-256, whatever
/// the key, and proxies verify that.
pub(super) fn issuer_key(ctx: &Context<'_>, issuer: &Certificate) -> Supported {
    match issuer.key() {
        Key::Ecdsa(256) => Supported::Everywhere,
        Key::Ecdsa(384) => Supported::InMesh,
        key @ Key::Ecdsa(_) => taken(false, verifies_late(ctx, &key.to_string())),
        Key::Rsa(_) | Key::Ed25519 | Key::Other(_) => Supported::Nowhere,
    }
}

/// The name of a curve that proxies of the installed release do not support, by its bits. Adds a gap if that depends
/// on the release and the release is unknown.
pub(super) fn unsupported_curve(ctx: &Context<'_>, bits: u16) -> Option<String> {
    let key = match bits {
        0 | 256 | 384 => return None,
        bits => Key::Ecdsa(bits).to_string(),
    };
    let is_supported = ctx
        .or_note(installed(ctx))
        .flatten()
        .is_none_or(|(version, _)| ctx.knowledge.control_plane().verifies_late(&key, &version, ctx.knowledge.minors()));
    (!is_supported).then_some(key)
}

fn taken(by_linkerd_check: bool, by_proxies: bool) -> Supported {
    match (by_linkerd_check, by_proxies) {
        (true, true) => Supported::Everywhere,
        (false, true) => Supported::InMesh,
        (_, false) => Supported::Nowhere,
    }
}

/// Whether the proxies of the installed release support algorithms that others do not; `false` if
/// the release is unknown.
fn verifies_late(ctx: &Context<'_>, algorithm: &str) -> bool {
    let installed = installed(ctx).ok().flatten();
    installed.is_some_and(|(version, _)| {
        ctx.knowledge.control_plane().verifies_late(algorithm, &version, ctx.knowledge.minors())
    })
}
