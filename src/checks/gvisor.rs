//! Pods in gVisor's sandbox. It has a network stack of its own: the rules of linkerd-init fail in it, and those of
//! linkerd-cni do not apply. Names of RuntimeClasses are free, so findings are only likely.

use crate::checks::prelude::*;
use crate::model::injection::INJECT;

/// Parts of the names of RuntimeClasses that use gVisor.
const NAMES: [&str; 2] = ["gvisor", "runsc"];

/// The RuntimeClass of a pod, if it is one of gVisor.
pub(super) fn runtime_class(pod: &Pod) -> Option<Evidence> {
    let name = pod.spec.runtime_class_name.as_str();
    let is_its = NAMES.iter().any(|part| name.to_ascii_lowercase().contains(part));
    is_its.then(|| Evidence::field(pod.described(), "spec.runtimeClassName", name))
}

/// The steps for such pods.
pub(super) fn remedy() -> Remedy {
    Remedy::new().note("Remove runtimeClassName from the pod template, so that the pods run without gVisor").step(
        StepKind::Annotation,
        format!("Or set {INJECT}: disabled in the pod template: the pods then have no proxy"),
    )
}
