//! Monitors of the Prometheus operator: scraped pods and Services, and their ports.

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
    #[serde(deserialize_with = "nullable")]
    pub spec: MonitorSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MonitorSpec {
    /// Selector of pods or Services.
    #[serde(deserialize_with = "nullable")]
    pub selector: LabelSelector,
    /// Their namespaces; by default the monitor's own.
    #[serde(deserialize_with = "nullable")]
    pub namespace_selector: MonitoredNamespaces,
    /// Scraped ports.
    #[serde(alias = "podMetricsEndpoints", deserialize_with = "nullable")]
    pub endpoints: Vec<MonitorEndpoint>,
}

/// Selected namespaces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MonitoredNamespaces {
    /// Everywhere.
    #[serde(deserialize_with = "nullable")]
    pub any: bool,
    /// Only these.
    #[serde(deserialize_with = "nullable")]
    pub match_names: Vec<String>,
}

/// A scraped port.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MonitorEndpoint {
    /// Name of the container port or Service port.
    #[serde(deserialize_with = "nullable")]
    pub port: String,
    /// The port of the container, by number or name.
    pub target_port: Option<TargetPort>,
    /// Relabeling rules.
    #[serde(deserialize_with = "nullable")]
    pub relabelings: Vec<Relabeling>,
}

/// A relabeling rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Relabeling {
    #[serde(deserialize_with = "nullable")]
    pub source_labels: Vec<String>,
    /// Regular expression.
    #[serde(deserialize_with = "nullable")]
    pub regex: String,
}

/// The proxies' metrics port, by name and number, and their container; monitors use one of them.
const METRICS: (&str, u16) = ("linkerd-admin", 4191);

impl Monitor {
    /// Whether it scrapes proxies, according to its ports and relabeling rules.
    pub fn asks_proxies(&self) -> bool {
        self.spec.endpoints.iter().any(|endpoint| {
            let target = match &endpoint.target_port {
                Some(TargetPort::Name(name)) => name == METRICS.0,
                Some(TargetPort::Number(number)) => *number == METRICS.1,
                None => false,
            };
            let by_rule = |rule: &Relabeling| [METRICS.0, PROXY_CONTAINER].iter().any(|name| rule.regex.contains(name));
            target || endpoint.port == METRICS.0 || endpoint.relabelings.iter().any(by_rule)
        })
    }

    /// Whether it selects a namespace.
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
        passes: "{spec: {selector: selector, namespaceSelector: {matchNames: object}, \
                 podMetricsEndpoints: {port: object, targetPort: object, \
                 relabelings: {sourceLabels: object, regex: text}}}}",
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
        passes: "{spec: {selector: selector, namespaceSelector: {matchNames: object}, \
                 endpoints: {port: object, targetPort: object, \
                 relabelings: {sourceLabels: object, regex: text}}}}",
        ..KindInfo::namespaced("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors")
    };
}
