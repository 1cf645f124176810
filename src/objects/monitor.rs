//! Monitors of the Prometheus operator: which pods and Services are asked for metrics, and at which of their ports.

use serde::Deserialize;

use super::container::PROXY_CONTAINER;
use super::meta::{Meta, nullable};
use super::selector::LabelSelector;
use super::service::TargetPort;
use super::{Kind, KindInfo, Listed, object};

/// A PodMonitor or a ServiceMonitor.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Monitor {
    /// Name, namespace, labels.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: MonitorSpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MonitorSpec {
    /// The pods, or the Services.
    #[serde(deserialize_with = "nullable")]
    pub selector: LabelSelector,
    /// Where they are; the monitor's own namespace where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub namespace_selector: MonitoredNamespaces,
    /// At which ports they are asked.
    #[serde(alias = "podMetricsEndpoints", deserialize_with = "nullable")]
    pub endpoints: Vec<MonitorEndpoint>,
}

/// Where something is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MonitoredNamespaces {
    /// Everywhere.
    #[serde(deserialize_with = "nullable")]
    pub any: bool,
    /// In these.
    #[serde(deserialize_with = "nullable")]
    pub match_names: Vec<String>,
}

/// A port that is asked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MonitorEndpoint {
    /// Of pods the name of the container's port, of Services that of theirs.
    #[serde(deserialize_with = "nullable")]
    pub port: String,
    /// The port of the container, by number or name.
    pub target_port: Option<TargetPort>,
    /// What is taken and left out by labels.
    #[serde(deserialize_with = "nullable")]
    pub relabelings: Vec<Relabeling>,
}

/// A rule about labels.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Relabeling {
    /// The labels that it looks at.
    #[serde(deserialize_with = "nullable")]
    pub source_labels: Vec<String>,
    /// What they have to look like.
    #[serde(deserialize_with = "nullable")]
    pub regex: String,
}

/// The port of the metrics of proxies, by name and number, and their container: one of them stands in whatever asks for them.
const METRICS: (&str, u16) = ("linkerd-admin", 4191);

impl Monitor {
    /// Whether it asks proxies for their metrics, as far as its ports and its rules about labels say.
    pub fn asks_proxies(&self) -> bool {
        self.spec.endpoints.iter().any(|endpoint| {
            let target = match &endpoint.target_port {
                Some(TargetPort::Name(name)) => name == METRICS.0,
                Some(TargetPort::Number(number)) => *number == METRICS.1,
                None => false,
            };
            let by_rule =
                |rule: &Relabeling| [METRICS.0, PROXY_CONTAINER].iter().any(|name| rule.regex.contains(name));
            target || endpoint.port == METRICS.0 || endpoint.relabelings.iter().any(by_rule)
        })
    }

    /// Whether it looks into a namespace.
    pub fn looks_into(&self, namespace: &str) -> bool {
        let said = &self.spec.namespace_selector;
        said.any
            || said.match_names.iter().any(|name| name == namespace)
            || said.match_names.is_empty() && self.metadata.namespace == namespace
    }
}

object!(Monitor);

/// Lists of `PodMonitor`.
#[derive(Debug, Clone, Copy)]
pub enum PodMonitor {}

impl Listed for PodMonitor {
    type Object = Monitor;
    const KIND: Kind = Kind::PodMonitor;
    const INFO: KindInfo = KindInfo {
        aliases: &["pmon"],
        passes: "{spec: {selector: selector, namespaceSelector: {matchNames: text}, \
                 podMetricsEndpoints: {port: text, targetPort: text, \
                 relabelings: {sourceLabels: text, regex: text}}}}",
        ..KindInfo::namespaced("monitoring.coreos.com", "v1", "PodMonitor", "podmonitors")
    };
}

/// Lists of `ServiceMonitor`.
#[derive(Debug, Clone, Copy)]
pub enum ServiceMonitor {}

impl Listed for ServiceMonitor {
    type Object = Monitor;
    const KIND: Kind = Kind::ServiceMonitor;
    const INFO: KindInfo = KindInfo {
        aliases: &["smon"],
        passes: "{spec: {selector: selector, namespaceSelector: {matchNames: text}, \
                 endpoints: {port: text, targetPort: text, \
                 relabelings: {sourceLabels: text, regex: text}}}}",
        ..KindInfo::namespaced("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors")
    };
}
