//! Checks of native sidecars: their keys, the required Kubernetes version, and Jobs that hang without them.
//! Only these checks evaluate the keys of this family.

use super::{Check, row};
use crate::checks::prelude::*;
use crate::knowledge::KeyScope;

mod family;
mod job_held_by_proxy;
mod job_proxy_not_ended;
mod native_sidecar_key_misplaced;
mod native_sidecar_key_misspelled;
mod native_sidecar_key_not_read;
mod native_sidecar_key_overridden;
mod native_sidecar_kubernetes_too_old;
mod native_sidecar_value_invalid;
mod native_sidecar_wait_refused;
mod proxy_stopped_early;
mod wording;

pub(super) use family::Survey;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("native-sidecar", "job-held-by-proxy", job_held_by_proxy),
    row!("native-sidecar", "job-proxy-not-ended", job_proxy_not_ended),
    row!("native-sidecar", "native-sidecar-key-misplaced", native_sidecar_key_misplaced),
    row!("native-sidecar", "native-sidecar-key-misspelled", native_sidecar_key_misspelled),
    row!("native-sidecar", "native-sidecar-key-not-read", native_sidecar_key_not_read),
    row!("native-sidecar", "native-sidecar-key-overridden", native_sidecar_key_overridden),
    row!("native-sidecar", "native-sidecar-kubernetes-too-old", native_sidecar_kubernetes_too_old),
    row!("native-sidecar", "native-sidecar-value-invalid", native_sidecar_value_invalid),
    row!("native-sidecar", "native-sidecar-wait-refused", native_sidecar_wait_refused),
    row!("native-sidecar", "proxy-stopped-early", proxy_stopped_early),
];

/// The annotation that decides whether pods of a template get a native sidecar, and whether it is on their namespace.
pub(in crate::checks) fn decided_by<'a>(
    ctx: &Context<'a>,
    template: &Meta,
    namespace: &str,
) -> Option<(&'a str, bool)> {
    let switch = family::Switch::from_context(ctx);
    let home = ctx.optional_list::<Namespace>().iter().find(|home| home.metadata.name == namespace);
    let of_namespace = |key: &str| home.is_some_and(|home| home.metadata.annotation(key).is_some());
    switch.read_keys().find_map(|(key, is_copied)| match template.annotation(key) {
        Some(_) => Some((key, false)),
        None => (is_copied && of_namespace(key)).then_some((key, true)),
    })
}

/// The annotation with which a pod template requests a native sidecar; `None` if the installed release reads none.
pub(in crate::checks) fn requested_by<'a>(ctx: &Context<'a>) -> Option<&'a str> {
    family::Switch::from_context(ctx).right_key(KeyScope::PodTemplate)
}
