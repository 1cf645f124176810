//! Keys of annotations that are looked at: those that may be meant for Linkerd, and those of who manages an object.

/// The annotations in which Helm and Argo CD name themselves on what they apply. Flux uses labels, all of which are kept.
pub const MANAGERS: [&str; 4] = [HELM_RELEASE, HELM_NAMESPACE, ARGO_CD_TRACKING, ARGO_CD_INSTANCE];
/// The Helm release that an object belongs to.
pub const HELM_RELEASE: &str = "meta.helm.sh/release-name";
/// The namespace of that release.
pub const HELM_NAMESPACE: &str = "meta.helm.sh/release-namespace";
/// `APPLICATION:GROUP/KIND:NAMESPACE/NAME`.
pub const ARGO_CD_TRACKING: &str = "argocd.argoproj.io/tracking-id";
/// The application, where Argo CD tracks by a label or an annotation of its own.
pub const ARGO_CD_INSTANCE: &str = "argocd.argoproj.io/instance";

/// The annotation in which OpenShift gives a namespace its uids: `FIRST/COUNT`.
pub const UID_RANGE: &str = "openshift.io/sa.scc.uid-range";
/// The annotation that says which container of a pod is meant where nobody says which.
pub const DEFAULT_CONTAINER: &str = "kubectl.kubernetes.io/default-container";
/// The annotation by which Ingresses named their class before there was a field for it.
pub const INGRESS_CLASS: &str = "kubernetes.io/ingress.class";
/// The annotation of AWS's network on pods that have an interface and security groups of their own.
pub const POD_ENI: &str = "vpc.amazonaws.com/pod-eni";
/// Annotations of others that checks read.
pub const OTHERS: [&str; 10] = [
    UID_RANGE,
    DEFAULT_CONTAINER,
    INGRESS_CLASS,
    "ingressclass.kubernetes.io/is-default-class",
    POD_ENI,
    "nginx.ingress.kubernetes.io/service-upstream",
    "nginx.org/use-cluster-ip",
    "traefik.ingress.kubernetes.io/service.nativelb",
    "ingress.kubernetes.io/service-upstream",
    "haproxy-ingress.github.io/service-upstream",
];

/// Whether an annotation's key may be meant for Linkerd, misspelled domains included. Everything else but [`MANAGERS`] is
/// dropped while reading: other tools' annotations can be large and can hold anything.
pub fn may_be_linkerds(key: &str) -> bool {
    let domain = key.split_once('/').map_or(key, |(domain, _)| domain).to_ascii_lowercase();
    ["link", "kerd", "l5d", "opentelemetry"].iter().any(|part| domain.contains(part))
        || key == "deployment.kubernetes.io/revision"
        || key.starts_with("kubectl.kubernetes.io/restarted")
        || key.starts_with("meshdoctor.io/")
        || key == "cert-manager.io/certificate-name"
}
