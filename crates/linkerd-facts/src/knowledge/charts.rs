//! `charts.yaml`: values of each Linkerd chart, with their types and ranges of releases.

mod value;
mod versions;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use value::{ChartValue, ValueKind};
use value::{is_of_resources, meant_of_resources};

use super::file::KnowledgeFile;
use crate::nearest::closest;
use crate::version::{EdgeTag, LinkerdVersion};

/// The table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charts {
    source: String,
    date: jiff::civil::Date,
    first: EdgeTag,
    through: EdgeTag,
    refuses: Vec<Refusal>,
    versions: BTreeMap<String, BTreeMap<semver::Version, LinkerdVersion>>,
    charts: BTreeMap<String, Chart>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    until: Option<EdgeTag>,
    values: BTreeMap<String, ChartValue>,
}

/// Values that make a chart fail to render.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Refusal {
    charts: Vec<String>,
    since: Option<EdgeTag>,
    until: Option<EdgeTag>,
    /// The maps to evaluate separately; empty: all values together.
    #[serde(default)]
    pub within: Vec<String>,
    /// The map with the limits that `above` compares with, if that of `within` has none.
    pub or_in: Option<String>,
    /// Conditions by path.
    pub when: BTreeMap<String, Found>,
    /// Accepted values for a condition `other`.
    #[serde(default)]
    pub words: Vec<String>,
    /// Whether the words are accepted in any case.
    #[serde(default)]
    pub any_case: bool,
    /// What happens if the chart can be rendered; `RELEASE` stands for the release.
    pub effect: Option<String>,
    /// The reason.
    pub why: String,
    /// The alternative.
    pub instead: String,
    /// The value to remove, if that is the only way.
    pub remove: Option<String>,
    /// The word that `false` without quotes was meant to be.
    pub false_means: Option<String>,
}

/// Condition of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Found {
    /// It is neither empty nor false.
    Set,
    /// It is not given, empty or false.
    Unset,
    /// It is given as false.
    No,
    /// It is set, and not one of the words.
    Other,
    /// It is 0.
    Zero,
    /// It is an amount of memory that no proxy can work with.
    Low,
    /// It is not given as false.
    Kept,
    /// It is a request above its limit.
    Above,
    /// It is a release that does not exist.
    Unreleased,
}

/// Status of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known<'k> {
    /// The release uses it.
    Taken(&'k ChartValue),
    /// It is a map that contains values.
    Above,
    /// Requests and limits in a format that the chart does not read, with the correct path.
    Resources(String),
    /// It was used up to this edge.
    Gone(EdgeTag),
    /// It is used from this edge on.
    Later(EdgeTag),
    /// No release uses it; with a suggestion.
    Never(Option<String>),
}

/// Values that Helm accepts in addition to those of a chart: those of all charts, and of subcharts.
const BESIDE: [&str; 3] = ["global", "partials", "tags"];

impl Charts {
    /// A chart by its name.
    pub fn get(&self, name: &str) -> Option<&Chart> {
        self.charts.get(name)
    }

    /// Names of the charts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.charts.keys().map(String::as_str)
    }

    /// Values that a chart of a release rejects; without a release, those that all reject.
    pub fn refusals<'k>(
        &'k self,
        chart: &str,
        release: Option<EdgeTag>,
    ) -> impl Iterator<Item = &'k Refusal> {
        let holds = move |rule: &Refusal| match release {
            None => rule.since.is_none() && rule.until.is_none(),
            Some(release) => {
                rule.since.is_none_or(|since| since <= release)
                    && rule.until.is_none_or(|until| release <= until)
            }
        };
        let chart = chart.to_owned();
        self.refuses.iter().filter(move |rule| rule.charts.contains(&chart) && holds(rule))
    }

    /// Whether the table covers the charts of a release.
    pub fn covers(&self, release: EdgeTag) -> bool {
        self.first <= release && release <= self.through
    }

    /// First and last edge of the table.
    pub fn range(&self) -> (EdgeTag, EdgeTag) {
        (self.first, self.through)
    }

    /// Source of the facts, and date of the last review.
    pub fn source(&self) -> (&str, jiff::civil::Date) {
        (&self.source, self.date)
    }
}

impl Chart {
    /// The last edge with it, if it was removed.
    pub fn last_release(&self) -> Option<EdgeTag> {
        self.until
    }

    /// Status of a path in a release; without one, over all releases.
    pub fn known(&self, path: &str, release: Option<EdgeTag>) -> Known<'_> {
        let head = path.split('.').next().unwrap_or(path);
        if BESIDE.contains(&head) {
            return Known::Above;
        }
        if let Some(value) = self.values.get(path) {
            return value.at(release);
        }
        if let Some((at, value)) = self.around(path) {
            let rest = &path[at.len() + 1..];
            return match value.kind {
                ValueKind::Open | ValueKind::Any | ValueKind::List => value.at(release),
                ValueKind::Resources if is_of_resources(rest) => value.at(release),
                ValueKind::Resources => Known::Resources(meant_of_resources(at, rest)),
                // It is not a map: the value itself is reported.
                ValueKind::Boolean | ValueKind::Integer | ValueKind::Number | ValueKind::Text => Known::Above,
            };
        }
        let inside = self.values.keys().any(|known| is_within(known, path));
        match inside {
            true => Known::Above,
            false => Known::Never(self.meant(path, release)),
        }
    }

    /// Expected type of a value in a release, if known.
    pub fn wanted(&self, path: &str, release: Option<EdgeTag>) -> Option<Wanted> {
        match self.values.get(path) {
            Some(value) => matches!(value.at(release), Known::Taken(_)).then_some(Wanted::Kind(value.kind)),
            None => self.values.keys().any(|known| is_within(known, path)).then_some(Wanted::Map),
        }
    }

    /// The value that contains a path.
    fn around(&self, path: &str) -> Option<(&str, &ChartValue)> {
        let ends = path.rmatch_indices('.').map(|(at, _)| &path[..at]);
        ends.filter_map(|above| self.values.get_key_value(above))
            .map(|(at, value)| (at.as_str(), value))
            .next()
    }

    /// A suggestion for a path: the same name at another place, or a similar one at the same place.
    fn meant(&self, path: &str, release: Option<EdgeTag>) -> Option<String> {
        let (above, name) = path.rsplit_once('.').unwrap_or(("", path));
        let taken = || {
            let now = self.values.iter().filter(|(_, value)| matches!(value.at(release), Known::Taken(_)));
            now.map(|(path, _)| path.as_str())
        };
        let beside = taken().filter_map(|known| {
            let rest = if above.is_empty() { known } else { known.strip_prefix(above)?.strip_prefix('.')? };
            rest.split('.').next()
        });
        let joined = |name: String| if above.is_empty() { name } else { format!("{above}.{name}") };
        // A short name differs from many others by two letters: `enableIPv6` does not mean `enablePSP`.
        let most = |name: &str| (name.len() / 4).clamp(1, 3);
        let alike = |found: &String| {
            let apart = strsim::damerau_levenshtein(&found.to_lowercase(), &name.to_lowercase());
            apart <= most(name)
        };
        if let Some(found) = closest(name, beside).filter(alike) {
            return Some(joined(found));
        }
        // Not if both are in unrelated parts of the chart that all have such a name.
        let part = above.split('.').next().unwrap_or_default();
        let heads = || taken().filter_map(|known| known.split('.').next());
        let is_part = heads().any(|head| head == part);
        let is_of_chart =
            part.is_empty() || name.contains(char::is_uppercase) || closest(part, heads()).is_some();
        let is_telling = |known: &&str| {
            is_of_chart && (!is_part || name.contains(char::is_uppercase) || is_within(known, part))
        };
        let elsewhere: Vec<&str> = taken()
            .filter(|known| is_telling(known) && known.rsplit('.').next() == Some(name))
            .take(2)
            .collect();
        match elsewhere[..] {
            [only] => Some(only.to_owned()),
            _ => {
                let nearest = |path: &str| {
                    let apart = taken().map(|known| (strsim::damerau_levenshtein(known, path), known));
                    apart.filter(|(apart, _)| *apart <= most(path)).min().map(|(_, known)| known)
                };
                // A path inside a value that is used as a whole: requests and limits, labels.
                let within = |(at, _): (usize, &str)| {
                    let (known, rest) = (nearest(&path[..at])?, &path[at + 1..]);
                    match self.values.get(known)?.kind {
                        ValueKind::Resources if is_of_resources(rest) => Some(format!("{known}.{rest}")),
                        ValueKind::Resources => {
                            Some(meant_of_resources(known, rest)).filter(|meant| !meant.contains(' '))
                        }
                        ValueKind::Open if !rest.contains('.') => Some(format!("{known}.{rest}")),
                        _ => None,
                    }
                };
                let depth = |path: &str| path.matches('.').count();
                let whole = nearest(path).filter(|known| depth(known) == depth(path)).map(str::to_owned);
                whole.or_else(|| path.rmatch_indices('.').find_map(within))
            }
        }
    }
}

/// Expected type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Kind(ValueKind),
    /// A map that contains values.
    Map,
}

/// Whether a path is below another.
fn is_within(path: &str, of: &str) -> bool {
    path.strip_prefix(of).is_some_and(|rest| rest.starts_with('.'))
}

impl KnowledgeFile for Charts {
    const NAME: &'static str = "charts.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/charts.yaml");

    fn finish(&mut self) -> Result<(), String> {
        if self.source.is_empty() {
            return Err("no source".to_owned());
        }
        if self.through < self.first {
            return Err("through is before first".to_owned());
        }
        for rule in &self.refuses {
            let unknown = rule.charts.iter().find(|chart| !self.charts.contains_key(*chart));
            if let Some(chart) = unknown {
                return Err(format!("refuses: unknown chart {chart}"));
            }
            let about = rule.charts.iter().filter_map(|chart| self.charts.get(chart));
            let values: Vec<&str> =
                about.clone().flat_map(|chart| chart.values.keys().map(String::as_str)).collect();
            let is_resource = |path: &str| {
                about.clone().flat_map(|chart| &chart.values).any(|(known, value)| {
                    let rest = path.strip_prefix(known.as_str()).and_then(|rest| rest.strip_prefix('.'));
                    value.kind == ValueKind::Resources && rest.is_some_and(is_of_resources)
                })
            };
            let is_used = |path: &str| values.contains(&path) || is_resource(path);
            let within = |path: &str| match rule.within.is_empty() {
                true => is_used(path),
                false => rule.within.iter().map(|map| format!("{map}.{path}")).all(|path| is_used(&path)),
            };
            if let Some(path) = rule.when.keys().find(|path| !within(path)) {
                return Err(format!("refuses: no chart uses {path}"));
            }
            if rule.remove.as_ref().is_some_and(|path| !rule.when.contains_key(path)) {
                return Err("refuses: `remove` names a value of `when`".to_owned());
            }
            if rule.when.is_empty()
                || rule.when.values().any(|found| *found == Found::Other) == rule.words.is_empty()
            {
                return Err("refuses: `when` names values, and `words` go with `other`".to_owned());
            }
        }
        for (name, chart) in &self.charts {
            if chart.values.is_empty() {
                return Err(format!("{name}: no values"));
            }
            // A value is a leaf: paths in it are not distinguished.
            let twice = chart.values.keys().find(|path| chart.around(path).is_some());
            if let Some(path) = twice {
                return Err(format!("{name}: {path} is inside a value"));
            }
            let backwards = chart
                .values
                .iter()
                .find(|(_, value)| value.since.zip(value.until).is_some_and(|(since, until)| until < since));
            if let Some((path, _)) = backwards {
                return Err(format!("{name}: {path} ends before it begins"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;

    fn edge(text: &str) -> Option<EdgeTag> {
        Some(text.parse().expect("an edge"))
    }

    #[test]
    fn path_status_depends_on_release() {
        let charts = Knowledge::embedded().charts();
        let chart = charts.get("linkerd-control-plane").expect("a chart");
        let known = |path: &str, release: &str| chart.known(path, edge(release));
        let taken = |path: &str, release: &str| matches!(known(path, release), Known::Taken(_));
        assert!(
            taken("clusterNetworks", "edge-25.4.4") && taken("nodeSelector.kubernetes.io/os", "edge-25.4.4")
        );
        assert!(
            taken("proxy.resources.cpu.limit", "edge-25.4.4")
                && taken("proxy.inbound.server.http2", "edge-25.4.4")
        );
        assert_eq!(known("proxy", "edge-25.4.4"), Known::Above);
        assert_eq!(known("global.x", "edge-25.4.4"), Known::Above);
        assert_eq!(
            known("proxy.resources.limits.cpu", "edge-25.4.4"),
            Known::Resources("proxy.resources.cpu.limit".to_owned())
        );
        assert_eq!(
            known("controlPlaneTracing", "edge-26.8.3"),
            Known::Gone("edge-25.9.4".parse().expect("edge"))
        );
        assert_eq!(known("disableIPv6", "edge-24.2.4"), Known::Later("edge-24.4.1".parse().expect("edge")));
        for (wrong, meant) in [
            ("proxy.nativeSidecars", Some("proxy.nativeSidecar")),
            ("proxy.nativesidecar", Some("proxy.nativeSidecar")),
            ("nativeSidecar", Some("proxy.nativeSidecar")),
            ("clusterNetwork", Some("clusterNetworks")),
            ("proxyInit.iptableMode", Some("proxyInit.iptablesMode")),
            ("proxy.resource.cpu.request", Some("proxy.resources.cpu.request")),
            ("somethingElse.entirely", None),
            ("podAnnotation.a", Some("podAnnotations.a")),
            ("proxyInjector.resources.limits.cpu", Some("proxyInjectorResources.cpu.limit")),
            ("enableIPv6", None),
            // `prometheus.enabled` belongs to another part.
            ("grafana.enabled", None),
        ] {
            assert_eq!(known(wrong, "edge-26.8.3"), Known::Never(meant.map(str::to_owned)), "{wrong}");
        }
        // Names that all parts of a chart have are not suggested.
        let viz = Knowledge::embedded().charts().get("linkerd-viz").expect("a chart");
        let of = |path: &str| viz.known(path, edge("edge-25.10.7"));
        assert_eq!(of("grafana.enabled"), Known::Never(None));
        assert_eq!(of("prometeus.enabled"), Known::Never(Some("prometheus.enabled".to_owned())));
    }

    #[test]
    fn unread_values_depend_on_release() {
        let cni = Knowledge::embedded().charts().get("linkerd2-cni").expect("a chart");
        let Known::Taken(value) = cni.known("repairController.resources", edge("edge-24.2.4")) else {
            panic!("taken")
        };
        assert!(value.is_unread(edge("edge-24.2.4")) && !value.is_unread(edge("edge-24.8.2")));
        assert!(!value.is_unread(None));
    }

    #[test]
    fn invalid_line_is_rejected() {
        for wrong in [
            "",
            "bool",
            "text since",
            "text since 2.18",
            "text until edge-25.4.4 since edge-25.1.1",
            "text read",
        ] {
            assert_eq!(ChartValue::parse(wrong), None, "{wrong:?}");
        }
    }
}
