//! Objects that state what a GitOps tool applies and how that ended: Kustomizations and HelmReleases of Flux,
//! Applications of Argo CD. The fields are those of `kustomize.toolkit.fluxcd.io`, `helm.toolkit.fluxcd.io` and
//! `argoproj.io`.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable, redacted};
use super::shared::Word;
use super::{Kind, KindInfo, Listed, object};

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
#[serde(default)]
pub struct FluxSpec {
    /// The template of a HelmRelease's chart.
    #[serde(deserialize_with = "nullable")]
    pub chart: ChartTemplate,
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
#[serde(default)]
pub struct ApplicationSpec {
    /// The only source.
    #[serde(deserialize_with = "nullable")]
    pub source: ChartName,
    /// Several sources.
    #[serde(deserialize_with = "nullable")]
    pub sources: Vec<ChartName>,
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
        passes: "{spec: {chart: {spec: {chart: text}}}, status: {conditions: conditions, history: {chartName: text}}}",
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
        passes: "{spec: {source: {chart: text}, sources: {chart: text}}, status: {conditions: conditions, \
                 operationState: {phase: word, message: sentence, syncResult: {resources: {kind: word, namespace: \
                 text, name: text, status: word, message: sentence}}}}}",
        ..KindInfo::namespaced("argoproj.io", "v1alpha1", "Application", "applications")
    };
}
