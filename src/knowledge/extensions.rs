//! `extensions.yaml`: what the extensions of Linkerd bring with them, by the names that their charts give it.

use serde::Deserialize;

use super::file::KnowledgeFile;
use super::range::ReleaseRange;
use crate::version::{Contains, LinkerdVersion, MinorTable};

/// What extensions bring.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Extensions {
    source: String,
    date: jiff::civil::Date,
    viz: Viz,
    jaeger: Jaeger,
    optional_accounts: Vec<OptionalAccount>,
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
struct LinkVersion {
    version: String,
    releases: ReleaseRange,
}

/// A ServiceAccount that the chart of one extension names and another extension brings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct OptionalAccount {
    named_by: String,
    namespace: String,
    name: String,
    brought_by: String,
}

/// Who makes the controllers of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MirrorKind {
    /// `linkerd multicluster link`.
    Legacy,
    /// The multicluster chart.
    Managed,
}

/// The controller of a link and what it needs, by name; `{cluster}` stands for the target cluster.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ServiceMirror {
    /// Who makes it.
    pub kind: MirrorKind,
    /// The label `component` of its Deployment.
    pub component: String,
    /// Its ServiceAccount, beside the link.
    pub service_account: String,
    /// Its ClusterRole.
    pub cluster_role: String,
    /// What grants it that.
    pub cluster_role_binding: String,
    /// Its Role, beside the link.
    pub role: String,
    /// What grants it that.
    pub role_binding: String,
}

impl Extensions {
    /// The components of viz that have pods, Prometheus aside.
    pub fn viz_components(&self) -> &[String] {
        &self.viz.components
    }

    /// The ClusterRoles of viz in that namespace, its Prometheus' aside.
    pub fn viz_cluster_roles(&self, namespace: &str) -> Vec<String> {
        self.viz.cluster_roles.iter().map(|name| in_namespace(name, namespace)).collect()
    }

    /// The ClusterRoleBindings of viz in that namespace, its Prometheus' aside.
    pub fn viz_cluster_role_bindings(&self, namespace: &str) -> Vec<String> {
        self.viz.cluster_role_bindings.iter().map(|name| in_namespace(name, namespace)).collect()
    }

    /// The RoleBinding in kube-system of tap of viz in that namespace, and the Role that it gives.
    pub fn viz_auth_reader(&self, namespace: &str) -> (String, &str) {
        (in_namespace(&self.viz.auth_reader, namespace), &self.viz.auth_reader_role)
    }

    /// ClusterRole and ClusterRoleBinding of the Prometheus that comes with viz.
    pub fn viz_prometheus_role(&self, namespace: &str) -> String {
        in_namespace(&self.viz.prometheus_role, namespace)
    }

    /// The components of jaeger that have to be there.
    pub fn jaeger_components(&self) -> &[String] {
        &self.jaeger.components
    }

    /// The extension that brings a ServiceAccount which the chart of the extension `named_by` names in its policies.
    pub fn brings_account(&self, named_by: &str, namespace: &str, name: &str) -> Option<&str> {
        let is_it = |one: &&OptionalAccount| {
            one.named_by == named_by && one.namespace == namespace && one.name == name
        };
        self.optional_accounts.iter().find(is_it).map(|one| one.brought_by.as_str())
    }

    /// The version of the Link API that the command of a release asks for; `None` where that is not known.
    pub fn link_version(&self, release: &LinkerdVersion, minors: &MinorTable) -> Option<&str> {
        let asked = |row: &&LinkVersion| row.releases.covers(release, minors) == Contains::Yes;
        self.link_versions.iter().find(asked).map(|row| row.version.as_str())
    }

    /// The ways in which a link's controller is made, the older first.
    pub fn service_mirrors(&self) -> &[ServiceMirror] {
        &self.service_mirror
    }

    /// Where the names were read, and when.
    pub fn source(&self) -> (&str, jiff::civil::Date) {
        (&self.source, self.date)
    }
}

fn in_namespace(name: &str, namespace: &str) -> String {
    name.replace("{namespace}", namespace)
}

impl KnowledgeFile for Extensions {
    const NAME: &'static str = "extensions.yaml";
    const EMBEDDED: &'static str = include_str!("../../checks/knowledge/extensions.yaml");

    fn finish(&mut self) -> Result<(), String> {
        if self.viz.components.is_empty() || self.jaeger.components.is_empty() {
            return Err("an extension without components would pass whatever is missing".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::knowledge::Knowledge;

    #[test]
    fn every_release_asks_for_one_version_of_links() {
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
    fn names_are_those_of_the_namespace() {
        let extensions = Knowledge::embedded().extensions();
        assert_eq!(extensions.viz_cluster_roles("linkerd-viz")[0], "linkerd-linkerd-viz-tap");
        assert_eq!(extensions.viz_prometheus_role("metrics"), "linkerd-metrics-prometheus");
    }
}
