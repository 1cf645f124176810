//! Fingerprints of the trust anchors in force: those in the ConfigMap that identity and the injector read,
//! and those that a proxy was created with. Shared by the checks of certificates and of extensions, which
//! report the consequence of a difference.

use sha2::{Digest, Sha256};

use super::Context;
use crate::certificates::BundlePrint;
use crate::item::Scope;
use crate::missing::Missing;
use crate::objects::container::{EnvVar, TRUST_ANCHORS};
use crate::objects::{ConfigMap, Pod};

/// The ConfigMap from which identity and the injector read the trust anchors.
pub(super) const TRUST_ROOTS: &str = "linkerd-identity-trust-roots";
/// Its key.
pub(super) const BUNDLE: &str = "ca-bundle.crt";

/// The fingerprints of the bundle in force; `None` if the ConfigMap does not exist.
///
/// # Errors
/// It is unknown whether the ConfigMap exists.
pub(super) fn in_force(ctx: &Context<'_>) -> Result<Option<BundlePrint>, Missing> {
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS)?;
    Ok(roots.map(|roots| BundlePrint::from_pem(roots.data.get(BUNDLE).map_or("", String::as_str))))
}

/// The annotation with the SHA-256 of the bundle text that the injector passed to a proxy, since 2.13.
pub(super) const TRUST_ROOT_HASH: &str = "linkerd.io/trust-root-sha256";

/// Whether a hash matches a text, as computed by the injector, the chart or `linkerd inject`, which treat
/// trailing blanks differently.
pub(super) fn is_hash_of(hash: &str, text: &str) -> bool {
    let trimmed = text.trim();
    let hex = |text: &str| {
        Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    [text, trimmed, &format!("{trimmed}\n")].into_iter().any(|text| hex(text) == hash)
}

/// The fingerprints of the bundle that a pod's proxy was created with; `None` if they are not available.
pub(super) fn written(pod: &Pod) -> Option<&str> {
    variable(pod)?.value.as_deref()
}

/// Whether the bundle that a pod's proxy was created with is redacted.
pub(super) fn is_hidden(pod: &Pod) -> bool {
    variable(pod).is_some_and(|variable| variable.value.is_none())
}

fn variable(pod: &Pod) -> Option<&EnvVar> {
    pod.spec.proxy()?.variable(TRUST_ANCHORS)
}
