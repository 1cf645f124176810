//! `extensions.yaml`: objects of Linkerd's extensions, by the names in their charts.

use serde::Deserialize;

use super::file::KnowledgeFile;
use super::range::ReleaseRange;
use crate::version::{Contains, LinkerdVersion, MinorTable};

/// Objects of extensions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Extensions {
    source: String,
    date: jiff::civil::Date,
    viz: Viz,
    jaeger: Jaeger,
    multicluster: Multicluster,
    optional_accounts: Vec<OptionalAccount>,
    exec_credentials: ReleaseRange,
    link_versions: Vec<LinkVersion>,
    service_mirror: Vec<ServiceMirror>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Viz {
    components: Vec<String>,
    cluster_roles: Vec<String>,
    cluster_role_bindings: Vec<String>,
    auth_reader: String,
    auth_reader_role: String,
    prometheus_role: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Jaeger {
    components: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Multicluster {
    components: Vec<String>,
    remote_access_account: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LinkVersion {
    version: String,
    releases: ReleaseRange,
}

/// A ServiceAccount that one extension's chart refers to and another extension creates.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct OptionalAccount {
    named_by: String,
    namespace: String,
    name: String,
    brought_by: String,
}

/// Installation method of link controllers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MirrorKind {
    /// `linkerd multicluster link`.
    Legacy,
    /// The multicluster chart.
    Managed,
}

/// The controller of a link and its objects; `{cluster}` is the target cluster's name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ServiceMirror {
    /// Its installation method.
    pub kind: MirrorKind,
    /// The label `component` of its Deployment.
    pub component: String,
    /// Its ServiceAccount, in the link's namespace.
    pub service_account: String,
    /// Its ClusterRole.
    pub cluster_role: String,
    /// Binding of the ClusterRole.
    pub cluster_role_binding: String,
    /// Its Role, in the link's namespace.
    pub role: String,
    pub role_binding: String,
    /// The Service of its gateway probes, in the link's namespace.
    pub probe_service: String,
}

impl Extensions {
    /// Components of viz with pods, except for Prometheus.
    pub fn viz_components(&self) -> &[String] {
        &self.viz.components
    }

    /// ClusterRoles of viz in that namespace, except for Prometheus.
    pub fn viz_cluster_roles(&self, namespace: &str) -> Vec<String> {
        self.viz.cluster_roles.iter().map(|name| in_namespace(name, namespace)).collect()
    }

    /// ClusterRoleBindings of viz in that namespace, except for Prometheus.
    pub fn viz_cluster_role_bindings(&self, namespace: &str) -> Vec<String> {
        self.viz.cluster_role_bindings.iter().map(|name| in_namespace(name, namespace)).collect()
    }

    /// RoleBinding and Role of viz's tap in kube-system.
    pub fn viz_auth_reader(&self, namespace: &str) -> (String, &str) {
        (in_namespace(&self.viz.auth_reader, namespace), &self.viz.auth_reader_role)
    }

    /// ClusterRole and ClusterRoleBinding of viz's Prometheus.
    pub fn viz_prometheus_role(&self, namespace: &str) -> String {
        in_namespace(&self.viz.prometheus_role, namespace)
    }

    /// Required components of jaeger.
    pub fn jaeger_components(&self) -> &[String] {
        &self.jaeger.components
    }

    /// Components of multicluster with pods, except for gateway and controllers of links. Older releases lack them.
    pub fn multicluster_components(&self) -> &[String] {
        &self.multicluster.components
    }

    /// The ServiceAccount with which other clusters read this one, by default.
    pub fn remote_access_account(&self) -> &str {
        &self.multicluster.remote_access_account
    }

    /// The extension that creates a ServiceAccount which the chart of `named_by` uses in its policies.
    pub fn brings_account(&self, named_by: &str, namespace: &str, name: &str) -> Option<&str> {
        let is_it = |one: &&OptionalAccount| one.named_by == named_by && one.namespace == namespace && one.name == name;
        self.optional_accounts.iter().find(is_it).map(|one| one.brought_by.as_str())
    }

    /// Whether a release accepts credentials of a Link that run a program.
    pub fn accepts_exec_credentials(&self, release: &LinkerdVersion, minors: &MinorTable) -> Contains {
        self.exec_credentials.covers(release, minors)
    }

    /// Version of the Link API that a release's CLI uses; `None` if unknown.
    pub fn link_version(&self, release: &LinkerdVersion, minors: &MinorTable) -> Option<&str> {
        let asked = |row: &&LinkVersion| row.releases.covers(release, minors) == Contains::Yes;
        self.link_versions.iter().find(asked).map(|row| row.version.as_str())
    }

    /// Installation methods of a link's controller, the older first.
    pub fn service_mirrors(&self) -> &[ServiceMirror] {
        &self.service_mirror
    }

    /// Source of the names, and date.
    pub fn source(&self) -> (&str, jiff::civil::Date) {
        (&self.source, self.date)
    }
}

fn in_namespace(name: &str, namespace: &str) -> String {
    name.replace("{namespace}", namespace)
}

impl KnowledgeFile for Extensions {
    const NAME: &'static str = "extensions.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/extensions.yaml");

    fn finish(&mut self) -> Result<(), String> {
        let components = [&self.viz.components, &self.jaeger.components, &self.multicluster.components];
        if components.into_iter().any(Vec::is_empty) {
            return Err("an extension needs at least one component".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::knowledge::Knowledge;

    #[test]
    fn every_release_uses_one_link_version() {
        let knowledge = Knowledge::embedded();
        let asked = |version: &str| {
            knowledge.extensions().link_version(&version.parse().expect("a version"), knowledge.minors())
        };
        assert_eq!(asked("edge-24.8.2"), Some("v1alpha1"));
        assert_eq!(asked("edge-24.11.8"), Some("v1alpha2"));
        assert_eq!(asked("edge-25.4.4"), Some("v1alpha3"));
        assert_eq!(asked("enterprise-2.19.1"), Some("v1alpha3"));
        assert_eq!(asked("stable-2.14.10"), Some("v1alpha1"));
    }

    #[test]
    fn names_depend_on_namespace() {
        let extensions = Knowledge::embedded().extensions();
        assert_eq!(extensions.viz_cluster_roles("linkerd-viz")[0], "linkerd-linkerd-viz-tap");
        assert_eq!(extensions.viz_prometheus_role("metrics"), "linkerd-metrics-prometheus");
    }
}
