//! The trust anchors in force, as prints: what the ConfigMap holds that identity and the injector read, and what a proxy was
//! created with. Shared by the checks of certificates and of extensions; what a difference means is theirs to say.

use sha2::{Digest, Sha256};

use super::Context;
use crate::certificates::BundlePrint;
use crate::item::Scope;
use crate::missing::Missing;
use crate::objects::container::{EnvVar, TRUST_ANCHORS};
use crate::objects::{ConfigMap, Pod};

/// The ConfigMap from which identity and the injector take the trust anchors.
pub(super) const TRUST_ROOTS: &str = "linkerd-identity-trust-roots";
/// Its key.
pub(super) const BUNDLE: &str = "ca-bundle.crt";

/// The prints of the bundle in force; `None` when it is known that the ConfigMap does not exist.
///
/// # Errors
/// It is not known whether it exists.
pub(super) fn in_force(ctx: &Context<'_>) -> Result<Option<BundlePrint>, Missing> {
    let roots = ctx.named::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS)?;
    Ok(roots.map(|roots| BundlePrint::of(roots.data.get(BUNDLE).map_or("", String::as_str))))
}

/// The annotation in which the injector leaves the SHA-256 of the text that it gave to a proxy, since 2.13.
pub(super) const TRUST_ROOT_HASH: &str = "linkerd.io/trust-root-sha256";

/// Whether a hash is that of a text, as the injector, the chart and `linkerd inject` compute it: none of them minds the
/// blanks at its end in the same way.
pub(super) fn is_hash_of(hash: &str, text: &str) -> bool {
    let trimmed = text.trim();
    let hex = |text: &str| {
        Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    [text, trimmed, &format!("{trimmed}\n")].into_iter().any(|text| hex(text) == hash)
}

/// The prints of the bundle that a pod's proxy was created with, as they are filed; `None` where they are not shown.
pub(super) fn written(pod: &Pod) -> Option<&str> {
    variable(pod)?.value.as_deref()
}

/// Whether a pod's proxy was created with a bundle that is not shown: somebody blotted it out.
pub(super) fn is_hidden(pod: &Pod) -> bool {
    variable(pod).is_some_and(|variable| variable.value.is_none())
}

fn variable(pod: &Pod) -> Option<&EnvVar> {
    pod.spec.proxy()?.env.iter().find(|variable| variable.name == TRUST_ANCHORS)
}
