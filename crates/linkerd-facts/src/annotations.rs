//! Keys of annotations that are read: those for Linkerd, and those of tools that manage objects.

/// Annotations by which Helm and Argo CD mark the objects that they apply. Flux uses labels, which are all kept.
pub const MANAGERS: [&str; 4] = [HELM_RELEASE, HELM_NAMESPACE, ARGO_CD_TRACKING, ARGO_CD_INSTANCE];
/// The Helm release of an object.
pub const HELM_RELEASE: &str = "meta.helm.sh/release-name";
/// The namespace of that release.
pub const HELM_NAMESPACE: &str = "meta.helm.sh/release-namespace";
/// `APPLICATION:GROUP/KIND:NAMESPACE/NAME`.
pub const ARGO_CD_TRACKING: &str = "argocd.argoproj.io/tracking-id";
/// The application, if Argo CD tracks by a label or its own annotation.
pub const ARGO_CD_INSTANCE: &str = "argocd.argoproj.io/instance";

/// The revision of a Deployment, on its ReplicaSets.
pub const REVISION: &str = "deployment.kubernetes.io/revision";

/// OpenShift's uid range of a namespace: `FIRST/COUNT`.
pub const UID_RANGE: &str = "openshift.io/sa.scc.uid-range";
/// The default container of a pod.
pub const DEFAULT_CONTAINER: &str = "kubectl.kubernetes.io/default-container";
/// The class of an Ingress, before there was a field for it.
pub const INGRESS_CLASS: &str = "kubernetes.io/ingress.class";
/// Marks pods with their own network interface and security groups on AWS.
pub const POD_ENI: &str = "vpc.amazonaws.com/pod-eni";
/// What a VerticalPodAutoscaler changed in a pod when it was created.
pub const VPA_UPDATES: &str = "vpaUpdates";
/// The protocol by which ingress-nginx calls the backends of an Ingress.
pub const BACKEND_PROTOCOL: &str = "nginx.ingress.kubernetes.io/backend-protocol";
/// Makes ingress-nginx pass the clients' TLS connections through to the backends of an Ingress.
pub const SSL_PASSTHROUGH: &str = "nginx.ingress.kubernetes.io/ssl-passthrough";
/// The Services that the controller of NGINX, Inc. calls over TLS, separated by commas.
pub const SSL_SERVICES: &str = "nginx.org/ssl-services";
/// The ranges of clients that ingress-nginx admits.
pub const ALLOWLIST: &str = "nginx.ingress.kubernetes.io/allowlist-source-range";
/// The Middlewares of Traefik that the rules of an Ingress use.
pub const MIDDLEWARES: &str = "traefik.ingress.kubernetes.io/router.middlewares";
/// The older name of [`ALLOWLIST`].
pub const WHITELIST: &str = "nginx.ingress.kubernetes.io/whitelist-source-range";
/// The ranges of clients that ingress-nginx denies.
pub const DENYLIST: &str = "nginx.ingress.kubernetes.io/denylist-source-range";
/// The host of the requests that ingress-nginx sends.
pub const UPSTREAM_VHOST: &str = "nginx.ingress.kubernetes.io/upstream-vhost";
/// The host of the requests that Kong sends.
pub const HOST_HEADER: &str = "konghq.com/host-header";
/// Configuration of ingress-nginx for the locations of an Ingress.
pub const LOCATION_SNIPPET: &str = "nginx.ingress.kubernetes.io/configuration-snippet";
/// Configuration of ingress-nginx for the hosts of an Ingress.
pub const SERVER_SNIPPET: &str = "nginx.ingress.kubernetes.io/server-snippet";
/// Marks objects that Helm creates and waits for, apart from the other objects of a release.
pub const HELM_HOOK: &str = "helm.sh/hook";
/// How Argo CD syncs an object: options, separated by commas.
pub const ARGO_CD_OPTIONS: &str = "argocd.argoproj.io/sync-options";
/// Annotations that can contain anything: only their presence is kept.
pub const SNIPPETS: [&str; 2] = [LOCATION_SNIPPET, SERVER_SNIPPET];
/// Hooks of Velero: the annotation with the command, whose value is not kept, and that with the container.
pub const VELERO_HOOKS: [(&str, &str); 3] = [
    ("post.hook.backup.velero.io/command", "post.hook.backup.velero.io/container"),
    ("post.hook.restore.velero.io/command", "post.hook.restore.velero.io/container"),
    ("pre.hook.backup.velero.io/command", "pre.hook.backup.velero.io/container"),
];
/// States that Istio's ambient mode redirects the connections of a pod.
pub const AMBIENT_REDIRECTION: &str = "ambient.istio.io/redirection";
/// Annotations of other tools that checks read.
pub const OTHERS: [&str; 30] = [
    AMBIENT_REDIRECTION,
    VELERO_HOOKS[0].1,
    VELERO_HOOKS[1].1,
    VELERO_HOOKS[2].1,
    HELM_HOOK,
    ARGO_CD_OPTIONS,
    UID_RANGE,
    DEFAULT_CONTAINER,
    INGRESS_CLASS,
    "ingressclass.kubernetes.io/is-default-class",
    POD_ENI,
    VPA_UPDATES,
    ALLOWLIST,
    WHITELIST,
    DENYLIST,
    UPSTREAM_VHOST,
    HOST_HEADER,
    BACKEND_PROTOCOL,
    SSL_PASSTHROUGH,
    SSL_SERVICES,
    "nginx.ingress.kubernetes.io/affinity",
    "nginx.ingress.kubernetes.io/service-upstream",
    "nginx.org/use-cluster-ip",
    MIDDLEWARES,
    "traefik.ingress.kubernetes.io/service.nativelb",
    "traefik.ingress.kubernetes.io/service.sticky.cookie",
    "ingress.kubernetes.io/service-upstream",
    "haproxy-ingress.github.io/affinity",
    "haproxy-ingress.github.io/service-upstream",
    "cert-manager.io/inject-ca-from",
];

/// Whether an annotation key may be meant for Linkerd, including misspelled domains. All others except [`MANAGERS`] are
/// dropped while reading: they can be large and contain anything.
pub fn may_be_linkerds(key: &str) -> bool {
    let domain = key.split_once('/').map_or(key, |(domain, _)| domain).to_ascii_lowercase();
    ["link", "kerd", "l5d", "opentelemetry"].iter().any(|part| domain.contains(part))
        || key == REVISION
        || key.starts_with("kubectl.kubernetes.io/restarted")
        || key.starts_with("meshdoctor.io/")
        || key == "cert-manager.io/certificate-name"
}
