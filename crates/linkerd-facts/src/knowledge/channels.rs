//! `channels.yaml`: sources of each channel's charts, CLI and images, and differences of its charts.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::file::KnowledgeFile;
use crate::version::{Channel, LinkerdVersion};

/// The channels with known sources.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channels {
    source: String,
    date: jiff::civil::Date,
    channels: Vec<Origin>,
}

/// Sources of a channel's releases.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Origin {
    channel: String,
    /// Name of its chart repository.
    pub repository: String,
    /// URL of that repository.
    pub address: String,
    /// Script that installs its CLI.
    pub cli: String,
    /// Registry and path of its images.
    pub images: String,
    /// Its last release, if the channel has ended.
    pub last: Option<LinkerdVersion>,
    #[serde(default)]
    charts: BTreeMap<String, String>,
    #[serde(default)]
    unknown: Vec<String>,
    #[serde(default)]
    nested: Vec<String>,
    /// Variable with the license key that it requires.
    pub license: Option<String>,
    /// Installation guide of the vendor.
    pub guide: Option<String>,
}

impl Channels {
    /// Sources of a release; `None` for custom builds and unknown channels.
    pub fn origin(&self, release: &LinkerdVersion) -> Option<&Origin> {
        self.channels.iter().find(|origin| origin.channel == release.channel().prefix())
    }

    /// The names of an open-source chart in all channels, that of the open-source project first.
    pub fn names<'o>(&'o self, chart: &'o str) -> Vec<&'o str> {
        let mut names = vec![chart];
        for name in self.channels.iter().filter_map(|origin| origin.chart(chart)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Source of the facts, and date of the last review.
    pub fn source(&self) -> (&str, jiff::civil::Date) {
        (&self.source, self.date)
    }
}

impl Origin {
    /// Its name for an open-source chart; `None` if unknown.
    pub fn chart<'o>(&'o self, chart: &'o str) -> Option<&'o str> {
        if self.unknown.iter().any(|unknown| unknown == chart) {
            return None;
        }
        Some(self.charts.get(chart).map_or(chart, String::as_str))
    }

    /// Key in its values for those of an open-source chart; `None`: the top level.
    pub fn within<'o>(&'o self, chart: &str) -> Option<&'o str> {
        self.nested.iter().map(String::as_str).find(|nested| *nested == chart)
    }

    /// Path in its values of an open-source chart's value.
    pub fn value(&self, chart: &str, path: &str) -> String {
        self.within(chart).map_or_else(|| path.to_owned(), |within| format!("{within}.{path}"))
    }
}

impl KnowledgeFile for Channels {
    const NAME: &'static str = "channels.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/channels.yaml");

    fn finish(&mut self) -> Result<(), String> {
        const KNOWN: [Channel; 4] = [Channel::Edge, Channel::Stable, Channel::Enterprise, Channel::Preview];
        for (at, origin) in self.channels.iter().enumerate() {
            if !KNOWN.iter().any(|channel| channel.prefix() == origin.channel) {
                return Err(format!("{} is not a channel with charts", origin.channel));
            }
            if self.channels[..at].iter().any(|other| other.channel == origin.channel) {
                return Err(format!("channel {} is listed twice", origin.channel));
            }
            if !origin.address.starts_with("https://") || !origin.cli.starts_with("https://") {
                return Err(format!("channel {}: an address does not begin with https://", origin.channel));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::knowledge::Knowledge;
    use crate::version::LinkerdVersion;

    #[test]
    fn each_channel_has_its_chart_sources() {
        let channels = Knowledge::embedded().channels();
        let version = |text: &str| text.parse::<LinkerdVersion>().expect("a version");
        let of = |text: &str, chart: &str| {
            let release = version(text);
            let origin = channels.origin(&release)?;
            Some(format!("{}/{}", origin.repository, origin.chart(chart)?))
        };
        assert_eq!(of("edge-25.10.7", "linkerd-crds").as_deref(), Some("linkerd-edge/linkerd-crds"));
        assert_eq!(of("stable-2.14.10", "linkerd-viz").as_deref(), Some("linkerd/linkerd-viz"));
        assert_eq!(
            of("enterprise-2.19.6", "linkerd-control-plane").as_deref(),
            Some("linkerd-buoyant/linkerd-enterprise-control-plane")
        );
        assert_eq!(of("enterprise-2.19.6", "linkerd-viz"), None);
        assert_eq!(of("2.19.6", "linkerd-crds"), None, "the source is unknown");
        let enterprise = channels.origin(&version("enterprise-2.19.6")).expect("known");
        assert_eq!(enterprise.value("linkerd-control-plane", "proxy.cores"), "linkerd-control-plane.proxy.cores");
    }
}
