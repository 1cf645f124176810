//! The annotation that names another Prometheus than that of viz.

use crate::objects::Namespace;

/// The annotation of the namespace with the URL of an external Prometheus.
pub(super) const EXTERNAL: &str = "viz.linkerd.io/external-prometheus";

/// The URL of an external Prometheus in the annotation of viz's namespace.
pub(super) fn external(namespace: &Namespace) -> Option<&str> {
    namespace.metadata.annotation(EXTERNAL).filter(|url| !url.is_empty())
}
