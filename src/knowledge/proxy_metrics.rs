//! `proxy-metrics.yaml`: names of the proxy's metric families, by meaning.

use serde::Deserialize;

use super::file::KnowledgeFile;
use super::range::ReleaseRange;

/// The meaning of a metric family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricMeaning {
    /// Time at which the metrics were read, by the proxy's clock.
    ReadAt,
    /// Time at which the proxy started.
    StartedAt,
    /// Seconds since the start.
    Uptime,
    /// Expiry of the proxy's certificate; 0 if it never had one.
    CertificateExpiresAt,
    /// HTTP requests that inbound policy denied.
    DeniedRequests,
    /// Connections that inbound policy denied.
    DeniedConnections,
}

/// A meaning and its names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Family {
    meaning: MetricMeaning,
    names: Vec<FamilyName>,
}

/// A name and the releases whose proxies export it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FamilyName {
    name: String,
    #[serde(default)]
    releases: ReleaseRange,
}

/// The families.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProxyMetricNames {
    source: String,
    date: jiff::civil::Date,
    families: Vec<Family>,
}

impl ProxyMetricNames {
    /// Meaning of a family; `None` if it is not used.
    pub fn meaning(&self, name: &str) -> Option<MetricMeaning> {
        let has_name = |family: &&Family| family.names.iter().any(|known| known.name == name);
        self.families.iter().find(has_name).map(|family| family.meaning)
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
    const EMBEDDED: &'static str = include_str!("../../checks/knowledge/proxy-metrics.yaml");

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
            if family.names.len() > 1
                && family.names.iter().any(|known| known.releases == ReleaseRange::default())
            {
                return Err(format!("{:?}: each of several names needs its releases", family.meaning));
            }
        }
        Ok(())
    }
}
