//! Objects that state what a GitOps tool applies and how that ended: Kustomizations and HelmReleases of Flux,
//! Applications of Argo CD. The fields are those of `kustomize.toolkit.fluxcd.io`, `helm.toolkit.fluxcd.io` and
//! `argoproj.io`.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable, redacted};
use super::route::Present;
use super::shared::Word;
use super::time::Time;
use super::{Kind, KindInfo, Listed, object};
use crate::redact::is_marked;

/// A Kustomization or HelmRelease.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FluxObject {
    /// Name, namespace.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: FluxSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: FluxStatus,
}

/// The spec.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FluxSpec {
    /// The template of a HelmRelease's chart.
    #[serde(deserialize_with = "nullable")]
    pub chart: ChartTemplate,
    /// The kubeconfig of another cluster; its presence is recorded.
    pub kube_config: Option<Present>,
    /// The namespace of a release, if it is not that of the object.
    #[serde(deserialize_with = "nullable")]
    pub target_namespace: String,
}

/// The template of the chart that a HelmRelease installs.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ChartTemplate {
    /// Its spec.
    #[serde(deserialize_with = "nullable")]
    pub spec: ChartName,
}

/// The name of a chart.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ChartName {
    /// The name in its repository.
    #[serde(deserialize_with = "nullable")]
    pub chart: String,
}

/// How the last reconciliation ended.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FluxStatus {
    /// `Ready` and others.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
    /// The releases of a HelmRelease, newest first.
    #[serde(deserialize_with = "nullable")]
    pub history: Vec<HelmSnapshot>,
}

/// A release of Helm.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HelmSnapshot {
    #[serde(deserialize_with = "nullable")]
    pub chart_name: String,
}

impl FluxObject {
    /// The chart that a HelmRelease installs: by its spec, else by its newest release.
    pub fn chart(&self) -> Option<&str> {
        let newest = self.status.history.first().map(|release| release.chart_name.as_str());
        Some(self.spec.chart.spec.chart.as_str()).filter(|name| !name.is_empty()).or(newest)
    }
}

object!(FluxObject);

/// An Application.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ArgoApplication {
    /// Name, namespace.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: ApplicationSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: ApplicationStatus,
}

/// The spec.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ApplicationSpec {
    /// The cluster and namespace of the objects.
    #[serde(deserialize_with = "nullable")]
    pub destination: Destination,
    /// Fields that the comparison with Git leaves out.
    #[serde(deserialize_with = "nullable")]
    pub ignore_differences: Vec<IgnoredDifference>,
    #[serde(deserialize_with = "nullable")]
    pub sync_policy: SyncPolicy,
    /// The only source.
    #[serde(deserialize_with = "nullable")]
    pub source: ChartName,
    /// Several sources.
    #[serde(deserialize_with = "nullable")]
    pub sources: Vec<ChartName>,
}

/// Fields of some objects that the comparison with Git leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IgnoredDifference {
    /// The API group without a version, or a pattern; empty for the core group.
    #[serde(deserialize_with = "nullable")]
    pub group: String,
    /// The kind, or a pattern.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// The name; empty for all.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The namespace; empty for all, and for objects without one.
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
}

/// When an Application is synced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SyncPolicy {
    /// `None` if each sync is requested.
    pub automated: Option<AutomatedSync>,
}

/// Syncs without a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AutomatedSync {
    /// `false` disables them; newer versions only.
    pub enabled: Option<bool>,
    /// Whether they delete objects that are not in Git.
    #[serde(deserialize_with = "nullable")]
    pub prune: bool,
    /// Whether changes in the cluster cause one, in addition to changes in Git.
    #[serde(deserialize_with = "nullable")]
    pub self_heal: bool,
}

impl SyncPolicy {
    /// The settings of automatic syncs, if they are enabled.
    pub fn active(&self) -> Option<&AutomatedSync> {
        self.automated.as_ref().filter(|automated| automated.enabled != Some(false))
    }
}

/// The cluster and namespace of an Application's objects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Destination {
    /// The name of the cluster; empty if `server` is set.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The URL of its API server.
    #[serde(deserialize_with = "nullable")]
    pub server: String,
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
}

impl Destination {
    /// Whether it is another cluster than the one of the Application itself.
    pub fn is_other_cluster(&self) -> bool {
        let is_here = |server: &str| {
            let host = server.strip_prefix("https://").unwrap_or(server).trim_end_matches('/');
            matches!(host.trim_end_matches(":443"), "kubernetes.default.svc" | "kubernetes.default")
                || host.starts_with("kubernetes.default.svc.")
        };
        let by_name = !self.name.is_empty() && self.name != "in-cluster";
        // A redacted server may be this one.
        let is_known = !self.server.is_empty() && !is_marked(&self.server);
        let by_server = self.name.is_empty() && is_known && !is_here(&self.server);
        by_name || by_server
    }
}

/// The state of the comparison with Git and of the last sync.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ApplicationStatus {
    /// Errors and warnings; without a status.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
    /// The last sync.
    #[serde(deserialize_with = "nullable")]
    pub operation_state: SyncOperation,
    /// Time of the last comparison.
    pub reconciled_at: Time,
    /// Its objects in Git and in the cluster; empty before the first comparison.
    #[serde(deserialize_with = "nullable")]
    pub resources: Vec<ComparedObject>,
}

/// An object of an Application, as compared with Git.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ComparedObject {
    /// The API group; empty for the core group.
    #[serde(deserialize_with = "nullable")]
    pub group: String,
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// Empty for objects without a namespace.
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// `Synced`, `OutOfSync`, `Unknown`.
    #[serde(deserialize_with = "nullable")]
    pub status: Word,
    /// Whether it is in the cluster and not in Git.
    #[serde(deserialize_with = "nullable")]
    pub requires_pruning: bool,
}

/// A sync.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SyncOperation {
    /// `Running`, `Succeeded`, `Failed`, `Error`, `Terminating`.
    #[serde(deserialize_with = "nullable")]
    pub phase: Word,
    #[serde(deserialize_with = "redacted")]
    pub message: Word,
    #[serde(deserialize_with = "nullable")]
    pub sync_result: SyncResult,
}

/// The objects of a sync.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SyncResult {
    #[serde(deserialize_with = "nullable")]
    pub resources: Vec<SyncedObject>,
}

/// An object of a sync.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SyncedObject {
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// `Synced`, `SyncFailed`, `Pruned`, `PruneSkipped`.
    #[serde(deserialize_with = "nullable")]
    pub status: Word,
    #[serde(deserialize_with = "redacted")]
    pub message: Word,
}

impl ArgoApplication {
    /// The charts that it installs.
    pub fn charts(&self) -> impl Iterator<Item = &str> {
        let all = std::iter::once(&self.spec.source).chain(&self.spec.sources);
        all.map(|source| source.chart.as_str()).filter(|name| !name.is_empty())
    }
}

object!(ArgoApplication);

/// Lists of `Kustomization` of Flux.
#[derive(Debug, Clone, Copy)]
pub enum Kustomization {}

impl Listed for Kustomization {
    type Object = FluxObject;
    const KIND: Kind = Kind::Kustomization;
    const INFO: KindInfo = KindInfo {
        older: &["v1beta2", "v1beta1"],
        aliases: &["ks"],
        passes: "{status: {conditions: conditions}}",
        ..KindInfo::namespaced("kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomizations")
    };
}

/// Lists of `HelmRelease` of Flux.
#[derive(Debug, Clone, Copy)]
pub enum HelmRelease {}

impl Listed for HelmRelease {
    type Object = FluxObject;
    const KIND: Kind = Kind::HelmRelease;
    const INFO: KindInfo = KindInfo {
        older: &["v2beta2", "v2beta1"],
        aliases: &["hr"],
        passes: "{spec: {chart: {spec: {chart: object}}, targetNamespace: object}, status: {conditions: \
                 conditions, history: {chartName: object}}}",
        ..KindInfo::namespaced("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases")
    };
}

/// Lists of `Application` of Argo CD.
#[derive(Debug, Clone, Copy)]
pub enum Application {}

impl Listed for Application {
    type Object = ArgoApplication;
    const KIND: Kind = Kind::Application;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {destination: {name: object, server: address, namespace: object}, source: {chart: object}, \
                 sources: {chart: object}, ignoreDifferences: {group: object, kind: object, name: object, namespace: \
                 object}}, status: {conditions: conditions, reconciledAt: text, resources: {group: object, kind: word, \
                 namespace: object, name: object, status: word}, operationState: {phase: word, message: sentence, \
                 syncResult: {resources: {kind: word, namespace: object, name: object, status: word, message: \
                 sentence}}}}}",
        ..KindInfo::namespaced("argoproj.io", "v1alpha1", "Application", "applications")
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_sync_may_be_disabled() {
        let is_active = |policy: serde_json::Value| {
            let policy: SyncPolicy = serde_json::from_value(policy).expect("a sync policy");
            policy.active().is_some()
        };
        assert!(is_active(serde_json::json!({"automated": {}})));
        assert!(is_active(serde_json::json!({"automated": {"enabled": true, "prune": true}})));
        for policy in [
            serde_json::json!({}),
            serde_json::json!({"automated": null}),
            serde_json::json!({"automated": {"enabled": false, "prune": true}}),
        ] {
            assert!(!is_active(policy));
        }
    }

    #[test]
    fn destination_of_another_cluster_is_recognised() {
        let is_other = |name: &str, server: &str| {
            Destination { name: name.to_owned(), server: server.to_owned(), ..Destination::default() }
                .is_other_cluster()
        };
        for (name, server) in [("east", ""), ("", "https://other:6443"), ("", "https://10.0.0.1")] {
            assert!(is_other(name, server), "{name} {server}");
        }
        for (name, server) in [
            ("", ""),
            ("in-cluster", ""),
            ("", "https://kubernetes.default.svc"),
            ("", "https://kubernetes.default.svc.cluster.local:443/"),
            ("", "REDACTED(len=20)"),
        ] {
            assert!(!is_other(name, server), "{name} {server}");
        }
    }
}
