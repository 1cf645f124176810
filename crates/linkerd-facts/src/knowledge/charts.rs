//! `charts.yaml`: values of each Linkerd chart, with their types and ranges of releases.

mod value;
mod versions;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

pub use value::{ChartValue, ValueKind};
use value::{is_of_resources, meant_of_resources};

use super::file::KnowledgeFile;
use crate::nearest::{closest, is_slip};
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
    Never(Option<Suggestion>),
}

/// The value that a path most likely means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    pub path: String,
    /// Whether only the spelling differs, so that it may be replaced without a question.
    pub is_spelling: bool,
}

/// Words for a part of a value's name that other charts use, and those of Linkerd's charts.
const SYNONYMS: [(&str, &str); 4] =
    [("tag", "version"), ("Tag", "Version"), ("repository", "name"), ("PDB", "PodDisruptionBudget")];

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
    pub fn refusals<'k>(&'k self, chart: &str, release: Option<EdgeTag>) -> impl Iterator<Item = &'k Refusal> {
        let holds = move |rule: &Refusal| match release {
            None => rule.since.is_none() && rule.until.is_none(),
            Some(release) => {
                rule.since.is_none_or(|since| since <= release) && rule.until.is_none_or(|until| release <= until)
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
        ends.filter_map(|above| self.values.get_key_value(above)).map(|(at, value)| (at.as_str(), value)).next()
    }

    /// A suggestion for a path: a similar name or a synonym at the same place, or the same name at another place.
    fn meant(&self, path: &str, release: Option<EdgeTag>) -> Option<Suggestion> {
        let (above, name) = path.rsplit_once('.').unwrap_or(("", path));
        let taken = || {
            let now = self.values.iter().filter(|(_, value)| matches!(value.at(release), Known::Taken(_)));
            now.map(|(path, _)| path.as_str())
        };
        let joined = |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        let guess = |path: String| Suggestion { path, is_spelling: false };
        let other_words = SYNONYMS.iter().filter_map(|(word, own)| {
            let is_end_of_word = word.starts_with(char::is_uppercase) || name == *word;
            let begin = name.strip_suffix(word).filter(|_| is_end_of_word)?;
            Some(joined(&format!("{begin}{own}")))
        });
        if let Some(found) = other_words.into_iter().find(|other| taken().any(|known| known == other)) {
            return Some(guess(found));
        }
        let beside: BTreeSet<&str> = taken()
            .filter_map(|known| {
                let rest = if above.is_empty() { known } else { known.strip_prefix(above)?.strip_prefix('.')? };
                rest.split('.').next()
            })
            .collect();
        if let Some(found) = beside.iter().find(|known| is_spelling(name, known)) {
            return Some(Suggestion { path: joined(found), is_spelling: true });
        }
        // A short name differs from many others by two letters: `enableIPv6` does not mean `enablePSP`.
        let most = |name: &str| (name.len() / 4).clamp(1, 3);
        let alike = |found: &String| {
            let apart = strsim::damerau_levenshtein(&found.to_lowercase(), &name.to_lowercase());
            apart <= most(name) && !has_other_word(found, name)
        };
        if let Some(found) = closest(name, beside).filter(alike) {
            return Some(guess(joined(&found)));
        }
        let part = above.split('.').next().unwrap_or_default();
        let near = closest(part, taken().filter_map(|known| known.split('.').next()));
        // A name that several parts of a chart have, or that is deep inside one of them, may mean another value.
        let is_telling = |known: &&str| match part.is_empty() {
            true => {
                let is_near_root = known.matches('.').count() == 1;
                name.len() >= 8 && name.contains(char::is_uppercase) && is_near_root
            }
            false => near.as_deref().is_some_and(|near| is_within(known, near)),
        };
        let is_named = |known: &&str| known.rsplit('.').next() == Some(name);
        let elsewhere: Vec<&str> = taken().filter(is_named).filter(is_telling).take(2).collect();
        if let [only] = elsewhere[..] {
            return Some(Suggestion { path: only.to_owned(), is_spelling: is_spelling(path, only) });
        }
        let nearest = |path: &str| {
            let apart = taken().map(|known| (strsim::damerau_levenshtein(known, path), known));
            let found = apart.filter(|(apart, _)| *apart <= most(path)).min().map(|(_, known)| known)?;
            let equal_letters =
                found.replace('.', "").eq_ignore_ascii_case(&path.replace('.', "")) || is_spelling(path, found);
            (equal_letters || !has_other_word(path, found)).then_some((found, equal_letters))
        };
        // A path inside a value that is used as a whole: requests and limits, labels.
        let within = |(at, _): (usize, &str)| {
            let ((known, is_spelling), rest) = (nearest(&path[..at])?, &path[at + 1..]);
            let path = match self.values.get(known)?.kind {
                ValueKind::Resources if is_of_resources(rest) => format!("{known}.{rest}"),
                ValueKind::Resources => Some(meant_of_resources(known, rest)).filter(|meant| !meant.contains(' '))?,
                ValueKind::Open if !rest.contains('.') => format!("{known}.{rest}"),
                _ => return None,
            };
            Some(Suggestion { path, is_spelling })
        };
        let depth = |path: &str| path.matches('.').count();
        let whole = nearest(path).filter(|(known, _)| depth(known) == depth(path));
        let whole = whole.map(|(known, is_spelling)| Suggestion { path: known.to_owned(), is_spelling });
        whole.or_else(|| path.rmatch_indices('.').find_map(within))
    }
}

/// The words of a name or path in lower case: `proxyInit.iptablesMode` has `proxy`, `init`, `iptables` and `mode`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = '.';
    for letter in name.chars() {
        let is_begin = !before.is_alphanumeric() || (letter.is_uppercase() && !before.is_uppercase());
        if letter.is_alphanumeric() {
            match words.last_mut().filter(|_| !is_begin) {
                Some(word) => word.extend(letter.to_lowercase()),
                None => words.push(letter.to_lowercase().collect()),
            }
        }
        before = letter;
    }
    words
}

/// Whether two names are one with another spelling: other capitals, a plural, or a slip in one word.
fn is_spelling(name: &str, known: &str) -> bool {
    let is_plural = |one: &str, other: &str| {
        let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
        short.len() >= 4 && long.strip_suffix('s') == Some(short)
    };
    let is_letter = |one: &str, other: &str| one.len().min(other.len()) >= 5 && strsim::osa_distance(one, other) == 1;
    let is_near = |one: &str, other: &str| is_plural(one, other) || is_slip(one, other) || is_letter(one, other);
    let (whole, other) = (name.to_lowercase(), known.to_lowercase());
    let (own, known) = (words(name), words(known));
    let differing: Vec<_> = own.iter().zip(&known).filter(|(one, other)| one != other).collect();
    match own.len() == known.len() {
        true => differing.iter().all(|(one, other)| is_near(one, other)) && differing.len() <= 1,
        false => whole == other || (whole.len() >= 8 && is_near(&whole, &other)),
    }
}

/// Whether two names differ in a whole word, such as `enablePDB` and `enablePSP`, or one has a word more.
fn has_other_word(name: &str, known: &str) -> bool {
    let (own, known) = (words(name), words(known));
    let is_other = |one: &str, other: &str| one != other && one.len().min(other.len()) <= 4 && !is_slip(one, other);
    match own.len() == known.len() {
        true => own.iter().zip(&known).any(|(one, other)| is_other(one, other)),
        false => own.starts_with(&known) || known.starts_with(&own),
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
            let values: Vec<&str> = about.clone().flat_map(|chart| chart.values.keys().map(String::as_str)).collect();
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
            if rule.when.is_empty() || rule.when.values().any(|found| *found == Found::Other) == rule.words.is_empty() {
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
        assert!(taken("clusterNetworks", "edge-25.4.4") && taken("nodeSelector.kubernetes.io/os", "edge-25.4.4"));
        assert!(
            taken("proxy.resources.cpu.limit", "edge-25.4.4") && taken("proxy.inbound.server.http2", "edge-25.4.4")
        );
        assert_eq!(known("proxy", "edge-25.4.4"), Known::Above);
        assert_eq!(known("global.x", "edge-25.4.4"), Known::Above);
        assert_eq!(
            known("proxy.resources.limits.cpu", "edge-25.4.4"),
            Known::Resources("proxy.resources.cpu.limit".to_owned())
        );
        assert_eq!(known("controlPlaneTracing", "edge-26.8.3"), Known::Gone("edge-25.9.4".parse().expect("edge")));
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
            let Known::Never(found) = known(wrong, "edge-26.8.3") else { panic!("{wrong}") };
            assert_eq!(found.map(|found| found.path).as_deref(), meant, "{wrong}");
        }
        // Names that all parts of a chart have are not suggested.
        let viz = Knowledge::embedded().charts().get("linkerd-viz").expect("a chart");
        let of = |path: &str| viz.known(path, edge("edge-25.10.7"));
        assert_eq!(of("grafana.enabled"), Known::Never(None));
        let meant = Suggestion { path: "prometheus.enabled".to_owned(), is_spelling: true };
        assert_eq!(of("prometeus.enabled"), Known::Never(Some(meant)));
        assert_eq!(of("url"), Known::Never(None));
    }

    #[test]
    fn only_another_spelling_is_sure() {
        let of = |chart: &str, path: &str, release: &str| {
            let known = Knowledge::embedded().charts().get(chart).expect("a chart").known(path, edge(release));
            let Known::Never(found) = known else { panic!("{path}: {known:?}") };
            found.map(|found| (found.path, found.is_spelling))
        };
        let control_plane = |path: &str| of("linkerd-control-plane", path, "edge-25.10.7");
        for (path, meant, is_spelling) in [
            ("proxy.nativesidecar", "proxy.nativeSidecar", true),
            ("clusterNetwork", "clusterNetworks", true),
            ("proxyInit.iptableMode", "proxyInit.iptablesMode", true),
            ("podAnnotation.a", "podAnnotations.a", true),
            ("proxyInjector.resources.limits.cpu", "proxyInjectorResources.cpu.limit", true),
            ("proxy.image.tag", "proxy.image.version", false),
            ("enablePDB", "enablePodDisruptionBudget", false),
            ("nativeSidecar", "proxy.nativeSidecar", false),
        ] {
            assert_eq!(control_plane(path), Some((meant.to_owned(), is_spelling)), "{path}");
        }
        for path in ["namespace", "serviceAccountName", "proxy.runAsUser", "enableIPv6"] {
            assert_eq!(control_plane(path), None, "{path}");
        }
        let routes = of("linkerd-crds", "enableHTTPRoutes", "edge-25.10.7");
        assert_eq!(routes, Some(("enableHttpRoutes".to_owned(), true)));
        assert_eq!(of("linkerd2-cni", "name", "edge-25.10.7"), None);
    }

    #[test]
    fn unread_values_depend_on_release() {
        let cni = Knowledge::embedded().charts().get("linkerd2-cni").expect("a chart");
        let Known::Taken(value) = cni.known("repairController.resources", edge("edge-24.2.4")) else { panic!("taken") };
        assert!(value.is_unread(edge("edge-24.2.4")) && !value.is_unread(edge("edge-24.8.2")));
        assert!(!value.is_unread(None));
    }

    #[test]
    fn invalid_line_is_rejected() {
        for wrong in
            ["", "bool", "text since", "text since 2.18", "text until edge-25.4.4 since edge-25.1.1", "text read"]
        {
            assert_eq!(ChartValue::parse(wrong), None, "{wrong:?}");
        }
    }
}
