//! The pods that this control plane injected.

use super::Context;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::Pod;

impl Context<'_> {
    /// Whether this control plane injected a pod that is neither finished nor being deleted, in a namespace
    /// that is checked.
    pub(super) fn has_injected(&self, pod: &Pod) -> bool {
        let meta = &pod.metadata;
        meta.label(CONTROL_PLANE_NS) == Some(self.namespaces().control_plane.as_str())
            && !pod.is_finished()
            && meta.deletion_timestamp.is_none()
            && self.judges(&meta.namespace)
    }
}
