//! The kinds of objects that can be read, their API coordinates and the names that kubectl takes for them.

use std::fmt;
use std::str::FromStr;

/// Where a kind lives in the Kubernetes API.
#[derive(Debug, PartialEq, Eq)]
pub struct KindInfo {
    /// API group, empty for core.
    pub group: &'static str,
    /// The version that is asked for.
    pub version: &'static str,
    /// Resource name, as in URLs and RBAC rules.
    pub plural: &'static str,
    /// Kind, as in manifests.
    pub kind: &'static str,
    /// Whether objects live in a namespace.
    pub namespaced: bool,
    /// Other names that kubectl takes for it.
    pub aliases: &'static [&'static str],
}

macro_rules! kinds {
    ($( $variant:ident: $group:literal $version:literal $plural:literal $namespaced:literal [$($alias:literal),*]; )*) => {
        /// A kind of Kubernetes object that meshdoctor can read. Ordered as declared, which is the order of reports.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $( #[doc = concat!("`", $plural, "`")] $variant, )* }

        impl Kind {
            /// Every kind, in order.
            pub const ALL: &'static [Kind] = &[ $( Kind::$variant, )* ];

            /// API coordinates and names.
            pub const fn info(self) -> &'static KindInfo {
                match self { $( Kind::$variant => &KindInfo {
                    group: $group, version: $version, plural: $plural, kind: stringify!($variant),
                    namespaced: $namespaced, aliases: &[$($alias),*],
                }, )* }
            }
        }
    };
}

kinds! {
    Namespace: "" "v1" "namespaces" false ["ns"];
    Node: "" "v1" "nodes" false ["no"];
    Pod: "" "v1" "pods" true ["po"];
    Service: "" "v1" "services" true ["svc"];
    Endpoints: "" "v1" "endpoints" true ["ep"];
    EndpointSlice: "discovery.k8s.io" "v1" "endpointslices" true [];
    ConfigMap: "" "v1" "configmaps" true ["cm"];
    Secret: "" "v1" "secrets" true [];
    ServiceAccount: "" "v1" "serviceaccounts" true ["sa"];
    Deployment: "apps" "v1" "deployments" true ["deploy"];
    ReplicaSet: "apps" "v1" "replicasets" true ["rs"];
    DaemonSet: "apps" "v1" "daemonsets" true ["ds"];
    StatefulSet: "apps" "v1" "statefulsets" true ["sts"];
    ControllerRevision: "apps" "v1" "controllerrevisions" true [];
    Job: "batch" "v1" "jobs" true [];
    CronJob: "batch" "v1" "cronjobs" true ["cj"];
    Event: "" "v1" "events" true ["ev"];
    Role: "rbac.authorization.k8s.io" "v1" "roles" true [];
    RoleBinding: "rbac.authorization.k8s.io" "v1" "rolebindings" true [];
    ClusterRole: "rbac.authorization.k8s.io" "v1" "clusterroles" false [];
    ClusterRoleBinding: "rbac.authorization.k8s.io" "v1" "clusterrolebindings" false [];
    CustomResourceDefinition: "apiextensions.k8s.io" "v1" "customresourcedefinitions" false ["crd", "crds"];
    MutatingWebhookConfiguration: "admissionregistration.k8s.io" "v1" "mutatingwebhookconfigurations" false [];
    ValidatingWebhookConfiguration: "admissionregistration.k8s.io" "v1" "validatingwebhookconfigurations" false [];
    APIService: "apiregistration.k8s.io" "v1" "apiservices" false [];
    PodDisruptionBudget: "policy" "v1" "poddisruptionbudgets" true ["pdb"];
    ResourceQuota: "" "v1" "resourcequotas" true ["quota"];
    LimitRange: "" "v1" "limitranges" true ["limits"];
    AuthorizationPolicy: "policy.linkerd.io" "v1alpha1" "authorizationpolicies" true [];
    // Every release serves this version, and every field that is read is in it.
    Link: "multicluster.linkerd.io" "v1alpha1" "links" true [];
}

impl Kind {
    /// `pods` or `deployments.apps`: the way kubectl writes a resource, and the way reports name it.
    pub fn resource(self) -> String {
        let info = self.info();
        if info.group.is_empty() { info.plural.to_owned() } else { format!("{}.{}", info.plural, info.group) }
    }

    /// `v1` or `apps/v1`.
    pub fn api_version(self) -> String {
        let info = self.info();
        if info.group.is_empty() {
            info.version.to_owned()
        } else {
            format!("{}/{}", info.group, info.version)
        }
    }

    /// The kind for a manifest's `apiVersion` and `kind`; any version of the group counts.
    pub fn of_manifest(api_version: &str, kind: &str) -> Option<Kind> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        // The events API serves the same objects under two groups.
        let group = if group == "events.k8s.io" && kind == "Event" { "" } else { group };
        Kind::ALL.iter().copied().find(|k| k.info().kind == kind && k.info().group == group)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().kind)
    }
}

/// A word that is no kind we read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown resource kind {0:?}: use the name kubectl uses, such as pods or deployments.apps")]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;

    /// Takes what kubectl takes: plural, singular, short name, with or without the group, any case.
    fn from_str(text: &str) -> Result<Kind, UnknownKind> {
        let word = text.trim().to_ascii_lowercase();
        let (name, group) = match word.split_once('.') {
            Some((name, group)) => (name, Some(group)),
            None => (word.as_str(), None),
        };
        let named = |k: &&Kind| {
            let info = k.info();
            info.plural == name || info.kind.eq_ignore_ascii_case(name) || info.aliases.contains(&name)
        };
        let grouped = |k: &&Kind| {
            let info = k.info();
            match group {
                None => true,
                // kubectl also takes `deployments.v1.apps`
                Some(g) => g == info.group || g.split_once('.').is_some_and(|(_, rest)| rest == info.group),
            }
        };
        Kind::ALL.iter().find(|k| named(k) && grouped(k)).copied().ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_named_as_kubectl_names_them() {
        for (text, kind) in [
            ("ns", Kind::Namespace),
            ("pods", Kind::Pod),
            ("Deployment", Kind::Deployment),
            ("deployments.apps", Kind::Deployment),
            ("deploy.v1.apps", Kind::Deployment),
            ("endpointslices.discovery.k8s.io", Kind::EndpointSlice),
            ("CRD", Kind::CustomResourceDefinition),
        ] {
            assert_eq!(text.parse(), Ok(kind), "{text}");
        }
        assert!("deployments.batch".parse::<Kind>().is_err());
    }
}
