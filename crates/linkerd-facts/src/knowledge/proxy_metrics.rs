//! `proxy-metrics.yaml`: metric families of proxies and of control-plane containers, by meaning.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::file::KnowledgeFile;
use super::range::ReleaseRange;
use crate::version::{Contains, LinkerdVersion, MinorTable};

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
    /// HTTP requests that ended because a load balancer was in fail-fast.
    BackendFailFasts,
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
    /// Pods that the injector skipped since it started, by reason.
    SkippedPods,
    /// Updates of the endpoints of a Service port that destination made.
    EndpointUpdates,
    /// Clients that receive these updates.
    EndpointSubscribers,
    /// Responses to inbound requests, without probes and requests to the proxy itself.
    InboundResponses,
    /// Those among them whose latency in milliseconds is at most the bound of a bucket.
    InboundLatency,
    /// Results of outbound HTTP requests, by status or error.
    OutboundStatuses,
    /// Resident memory in bytes.
    ResidentMemory,
    /// Open connections that a change of inbound policy ended.
    EndedConnections,
    /// Requests that match no route of the port's Server.
    UnroutedRequests,
    /// Requests that a rate limit rejected.
    RateLimited,
    /// Responses on the routes of ServiceProfiles.
    ProfileResponses,
    /// The proxy's own version, in labels.
    ProxyBuild,
    /// Inbound requests and connections that a proxy allowed, by the policy and the authorization that it applied.
    AppliedPolicies,
    /// Renewals of the proxy's certificate, by result.
    CertificateRefreshes,
    /// Number of series that a process exports.
    SeriesCount,
    /// Outbound HTTP requests that an EgressNetwork denied.
    DeniedEgress,
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
    pub meaning: MetricMeaning,
    /// How values are read.
    pub kind: MetricKind,
    /// The labels that are kept.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Labels of the series that are read; others are ignored.
    #[serde(default)]
    pub only: BTreeMap<String, String>,
    /// Labels of which one of these values is read; others are ignored.
    #[serde(default)]
    pub among: BTreeMap<String, Vec<String>>,
    /// Labels and their values of the series that are ignored.
    #[serde(default)]
    pub except: BTreeMap<String, Vec<String>>,
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

/// Labels that a Prometheus server adds to series, by their role; of several, the first one that a series has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScrapeLabels {
    /// The pod's namespace.
    pub namespace: Vec<String>,
    pub pod: Vec<String>,
    pub container: Vec<String>,
    /// The container, in jobs that do not add the name of the pod.
    pub component: Vec<String>,
    /// Address and port.
    pub address: Vec<String>,
    /// The cluster, if a server has series of several.
    pub cluster: Vec<String>,
    /// Labels that tell separate scrapes of one process apart.
    pub origin: Vec<String>,
}

impl ScrapeLabels {
    /// All labels.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let roles = [&self.namespace, &self.pod, &self.container, &self.component, &self.address];
        let all = roles.into_iter().chain([&self.cluster, &self.origin]);
        all.flatten().map(String::as_str)
    }
}

/// A reason for which the injector skips pods.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkipReason {
    /// Its name in the label `skip_reason`.
    pub reason: String,
    /// Its meaning, as a clause.
    pub text: String,
    /// Whether no pod that is to be injected now can have it.
    #[serde(default)]
    pub contradicts: bool,
}

/// Families that are read in the same way, so that one query returns them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricGroup<'a> {
    /// Whether values are times: of several series the latest, else the sum.
    pub is_time: bool,
    /// The labels that are kept.
    pub labels: &'a [String],
    /// Labels of the series that are read.
    pub only: &'a BTreeMap<String, String>,
    /// Labels of which one of these values is read.
    pub among: &'a BTreeMap<String, Vec<String>>,
    /// Labels and their values of the series that are ignored.
    pub except: &'a BTreeMap<String, Vec<String>>,
    pub names: Vec<&'a str>,
    pub meanings: Vec<MetricMeaning>,
}

/// The families.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProxyMetricNames {
    source: String,
    date: jiff::civil::Date,
    scraped: ScrapeLabels,
    skip_reasons: Vec<SkipReason>,
    families: Vec<MetricFamily>,
}

impl MetricFamily {
    /// Whether a series with these labels is read.
    pub fn reads(&self, labels: &BTreeMap<String, String>) -> bool {
        let label = |name: &String| labels.get(name).map_or("", String::as_str);
        self.only.iter().all(|(name, value)| label(name) == value)
            && self.among.iter().all(|(name, values)| values.iter().any(|value| label(name) == value))
            && self.except.iter().all(|(name, values)| values.iter().all(|value| label(name) != value))
    }
}

impl ProxyMetricNames {
    /// The family with a name, and the labels that the name states; `None` if it is not used.
    pub fn family(&self, name: &str) -> Option<(&MetricFamily, &BTreeMap<String, String>)> {
        self.families.iter().find_map(|family| {
            let known = family.names.iter().find(|known| known.name == name)?;
            Some((family, &known.adds))
        })
    }

    /// Whether a release exports a family with this meaning once it is used.
    pub fn is_exported_by(&self, meaning: MetricMeaning, version: &LinkerdVersion, minors: &MinorTable) -> bool {
        let names = self.families.iter().filter(|family| family.meaning == meaning).flat_map(|of| &of.names);
        names.into_iter().any(|known| known.releases.covers(version, minors) == Contains::Yes)
    }

    /// How values of a meaning are read.
    pub fn kind(&self, meaning: MetricMeaning) -> Option<MetricKind> {
        self.families.iter().find(|family| family.meaning == meaning).map(|family| family.kind)
    }

    /// The labels that a Prometheus server adds.
    pub fn scraped(&self) -> &ScrapeLabels {
        &self.scraped
    }

    /// A reason for which the injector skips pods.
    pub fn skip_reason(&self, reason: &str) -> Option<&SkipReason> {
        self.skip_reasons.iter().find(|known| known.reason == reason)
    }

    /// All families, grouped by the way of reading them.
    pub fn groups(&self) -> Vec<MetricGroup<'_>> {
        let mut groups: Vec<MetricGroup<'_>> = Vec::new();
        for family in &self.families {
            let is_time = family.kind == MetricKind::Time;
            let is_same = |group: &&mut MetricGroup<'_>| {
                (group.is_time, group.labels) == (is_time, &family.labels[..])
                    && (group.only, group.among, group.except) == (&family.only, &family.among, &family.except)
            };
            let names = family.names.iter().map(|known| known.name.as_str());
            match groups.iter_mut().find(is_same) {
                Some(group) => {
                    group.names.extend(names);
                    group.meanings.push(family.meaning);
                }
                None => groups.push(MetricGroup {
                    is_time,
                    labels: &family.labels,
                    only: &family.only,
                    among: &family.among,
                    except: &family.except,
                    names: names.collect(),
                    meanings: vec![family.meaning],
                }),
            }
        }
        groups
    }

    /// The names of a meaning.
    pub fn names_of(&self, meaning: MetricMeaning) -> impl Iterator<Item = &str> {
        self.names().filter(move |(of, _)| *of == meaning).map(|(_, name)| name)
    }

    /// Every name, with its meaning.
    pub fn names(&self) -> impl Iterator<Item = (MetricMeaning, &str)> {
        self.families.iter().flat_map(|family| family.names.iter().map(|known| (family.meaning, known.name.as_str())))
    }
}

impl KnowledgeFile for ProxyMetricNames {
    const NAME: &'static str = "proxy-metrics.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/proxy-metrics.yaml");

    fn finish(&mut self) -> Result<(), String> {
        if self.source.is_empty() {
            return Err("no source".to_owned());
        }
        if self.scraped.pod.is_empty() || self.scraped.address.is_empty() {
            return Err("scraped: no label for the pod or the address".to_owned());
        }
        let names: Vec<&str> = self.names().map(|(_, name)| name).collect();
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                return Err(format!("{name} is listed twice"));
            }
        }
        for family in &self.families {
            // Names that state different labels exist next to each other.
            let is_replaced = |one: &FamilyName| family.names.iter().filter(|k| k.adds == one.adds).count() > 1;
            let is_open = |one: &&FamilyName| one.releases == ReleaseRange::default();
            if family.names.iter().filter(is_open).any(is_replaced) {
                return Err(format!("{:?}: each of several names needs its releases", family.meaning));
            }
        }
        Ok(())
    }
}
