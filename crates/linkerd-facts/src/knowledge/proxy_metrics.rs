//! `proxy-metrics.yaml`: metric families of proxies and of control-plane containers, by meaning.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::file::KnowledgeFile;
use super::range::ReleaseRange;

/// The meaning of a metric family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricMeaning {
    /// Time at which the metrics were read, by the clock of the node.
    ReadAt,
    /// Time at which the process started.
    StartedAt,
    /// Seconds since the start.
    Uptime,
    /// Expiry of the proxy's certificate; 0 if it never had one.
    CertificateExpiresAt,
    /// Time of the last renewal of the proxy's certificate.
    CertificateRefreshedAt,
    /// HTTP requests that inbound policy denied.
    DeniedRequests,
    /// Connections that inbound policy denied.
    DeniedConnections,
    /// Open file descriptors.
    OpenFiles,
    /// Limit of file descriptors.
    FileLimit,
    /// Endpoints of the proxy's clients of the control plane, by state.
    ControlEndpoints,
    /// Time at which such a client could send requests again; 0 while it cannot.
    ControlGateOpenedAt,
    /// Time at which such a client could no longer send requests; 0 while it can.
    ControlGateShutAt,
    /// Responses of the control plane to the proxy, by address and classification.
    ControlResponses,
    /// Endpoints of a load balancer for a Service, by state.
    BalancerEndpoints,
    /// Number of times that a load balancer entered fail-fast.
    BalancerGateShuts,
    /// Time at which a load balancer left fail-fast; 0 while it is in it.
    BalancerGateOpenedAt,
    /// Errors of inbound requests and connections.
    InboundErrors,
    /// Errors of outbound requests and connections.
    OutboundErrors,
    /// Results of inbound protocol detection.
    InboundDetection,
    /// Results of outbound protocol detection.
    OutboundDetection,
    /// Closed outbound connections of opaque and TLS routes, by error.
    RouteCloses,
    /// DNS resolutions of the proxy's clients of the control plane.
    DnsResolutions,
    /// Outbound connections to endpoints without mutual TLS.
    PlaintextConnections,
    /// Seconds until identity's issuer expires.
    IssuerLifetime,
    /// Updates that destination dropped because a client reads too slowly.
    UpdateOverflows,
    /// Updates of objects that the control plane received.
    InformerUpdates,
    /// Those among them that arrived within 10 seconds.
    InformerUpdatesInTime,
}

/// How values of a family are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricKind {
    /// Only grows; judged by its growth between two reads.
    Counter,
    /// A current value.
    Gauge,
    /// Seconds since 1970.
    Time,
}

/// A meaning and its names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MetricFamily {
    /// The meaning.
    pub meaning: MetricMeaning,
    /// How values are read.
    pub kind: MetricKind,
    /// The labels that are kept.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Labels of the series that are read; others are ignored.
    #[serde(default)]
    pub only: BTreeMap<String, String>,
    names: Vec<FamilyName>,
}

/// A name and the releases whose proxies export it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FamilyName {
    name: String,
    #[serde(default)]
    releases: ReleaseRange,
    #[serde(default)]
    adds: BTreeMap<String, String>,
}

/// The families.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProxyMetricNames {
    source: String,
    date: jiff::civil::Date,
    families: Vec<MetricFamily>,
}

impl ProxyMetricNames {
    /// The family with a name, and the labels that the name states; `None` if it is not used.
    pub fn family(&self, name: &str) -> Option<(&MetricFamily, &BTreeMap<String, String>)> {
        self.families.iter().find_map(|family| {
            let known = family.names.iter().find(|known| known.name == name)?;
            Some((family, &known.adds))
        })
    }

    /// How values of a meaning are read.
    pub fn kind(&self, meaning: MetricMeaning) -> Option<MetricKind> {
        self.families.iter().find(|family| family.meaning == meaning).map(|family| family.kind)
    }

    /// Every name, with its meaning.
    pub fn names(&self) -> impl Iterator<Item = (MetricMeaning, &str)> {
        self.families
            .iter()
            .flat_map(|family| family.names.iter().map(|known| (family.meaning, known.name.as_str())))
    }
}

impl KnowledgeFile for ProxyMetricNames {
    const NAME: &'static str = "proxy-metrics.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/proxy-metrics.yaml");

    fn finish(&mut self) -> Result<(), String> {
        if self.source.is_empty() {
            return Err("no source".to_owned());
        }
        let names: Vec<&str> = self.names().map(|(_, name)| name).collect();
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                return Err(format!("{name} is listed twice"));
            }
        }
        for family in &self.families {
            // Names that state different labels exist next to each other.
            let is_replaced =
                |one: &FamilyName| family.names.iter().filter(|k| k.adds == one.adds).count() > 1;
            let is_open = |one: &&FamilyName| one.releases == ReleaseRange::default();
            if family.names.iter().filter(is_open).any(is_replaced) {
                return Err(format!("{:?}: each of several names needs its releases", family.meaning));
            }
        }
        Ok(())
    }
}
