//! The servers of the Prometheus operator: which monitors they read.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::monitor::Monitor;
use super::selector::LabelSelector;
use super::texts::Texts;
use super::{Kind, KindInfo, Listed, object};

/// A Prometheus or a PrometheusAgent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PrometheusServer {
    /// Namespace, name.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: PrometheusServerSpec,
}

/// Selectors of monitors and of their namespaces. A missing selector of monitors selects none, a missing selector of
/// namespaces the server's own; an empty one selects all
/// (<https://prometheus-operator.dev/docs/api-reference/api/>).
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PrometheusServerSpec {
    pub pod_monitor_selector: Option<LabelSelector>,
    pub pod_monitor_namespace_selector: Option<LabelSelector>,
    pub service_monitor_selector: Option<LabelSelector>,
    pub service_monitor_namespace_selector: Option<LabelSelector>,
}

impl PrometheusServer {
    /// The selector of monitors of a kind, and the one of their namespaces.
    pub fn selectors(&self, kind: Kind) -> (Option<&LabelSelector>, Option<&LabelSelector>) {
        let spec = &self.spec;
        match kind {
            Kind::ServiceMonitor => {
                (spec.service_monitor_selector.as_ref(), spec.service_monitor_namespace_selector.as_ref())
            }
            _ => (spec.pod_monitor_selector.as_ref(), spec.pod_monitor_namespace_selector.as_ref()),
        }
    }

    /// Whether it reads a monitor of a kind by its labels.
    pub fn selects(&self, kind: Kind, monitor: &Monitor) -> bool {
        self.selectors(kind).0.is_some_and(|selector| selector.matches(&monitor.metadata.labels))
    }

    /// Whether it reads monitors of a kind in a namespace with these labels.
    pub fn looks_into(&self, kind: Kind, namespace: &str, labels: &Texts) -> bool {
        match self.selectors(kind).1 {
            Some(selector) => selector.matches(labels),
            None => self.metadata.namespace == namespace,
        }
    }
}

object!(PrometheusServer);

/// The kept fields of both kinds.
const PASSES: &str = "{spec: {podMonitorSelector: selector, podMonitorNamespaceSelector: selector, \
                      serviceMonitorSelector: selector, serviceMonitorNamespaceSelector: selector}}";

/// Lists of `Prometheus`.
#[derive(Debug, Clone, Copy)]
pub enum Prometheus {}

impl Listed for Prometheus {
    type Object = PrometheusServer;
    const KIND: Kind = Kind::Prometheus;
    const INFO: KindInfo = KindInfo {
        passes: PASSES,
        ..KindInfo::namespaced("monitoring.coreos.com", "v1", "Prometheus", "prometheuses")
    };
}

/// Lists of `PrometheusAgent`.
#[derive(Debug, Clone, Copy)]
pub enum PrometheusAgent {}

impl Listed for PrometheusAgent {
    type Object = PrometheusServer;
    const KIND: Kind = Kind::PrometheusAgent;
    const INFO: KindInfo = KindInfo {
        passes: PASSES,
        ..KindInfo::namespaced("monitoring.coreos.com", "v1alpha1", "PrometheusAgent", "prometheusagents")
    };
}
