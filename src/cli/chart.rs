//! Chart values (`--values`, `--chart`): reads them, applies them on top of those in the cluster, and locates them by
//! file and line.

mod installed;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::args::Check;
use super::stop::Stop;
use crate::chart::gitops::{Installed, ValueKey};
use crate::chart::values_input::{ValuesFile, ValuesInput};
use crate::checks::{NoChart, Upgrade, chart};
use crate::finding::{Finding, ManifestLocation, Place};
use crate::item::{Item, Kind, Scope};
use crate::knowledge::Knowledge;
use crate::model::Cluster;
use crate::objects::ConfigMap;
use crate::source::change::Set;
use crate::version::LinkerdVersion;

/// The chart whose values the cluster stores.
const CONTROL_PLANE: &str = "linkerd-control-plane";
const CONFIG: &str = "linkerd-config";

/// Reads the values that the flags name.
///
/// # Errors
/// The chart or its release is unknown, or a file cannot be read.
pub(super) fn chart_values(args: &Check, knowledge: &Knowledge) -> Result<Option<ValuesInput>, Stop> {
    let Some(text) = &args.manifests.chart else { return Ok(None) };
    let (chart, release) = chart(text, knowledge).map_err(|error| {
        let next = match error {
            NoChart::Unknown { .. } => "name a chart with its release: --chart linkerd-viz@2.19",
            NoChart::Version(_) => {
                "name a minor such as 2.19, a release such as edge-26.5.5, or a chart \
                                    version such as 2025.10.7"
            }
        };
        Stop::usage(format!("--chart: {error}"), next)
    })?;
    let told = release.is_some() || args.rehearsal.to.is_some() || !is_alone(args);
    if !told {
        let next = format!("name it with --chart {chart}@2.19, or read it from the cluster with --bundle or --live");
        return Err(Stop::usage("the release of the chart is unknown", next));
    }
    let files = args.manifests.values.iter().map(|path| file(path)).collect::<Result<_, _>>()?;
    Ok(Some(ValuesInput { chart, release, files, by: None, partial: false }))
}

/// Chart values in manifests, and descriptions of those that cannot be checked. Without a version, the release of the
/// cluster applies.
pub(super) fn of_manifests(
    installed: Vec<Installed>,
    (over_a_cluster, told): (bool, Option<&LinkerdVersion>),
    knowledge: &Knowledge,
) -> (Vec<ValuesInput>, Vec<String>) {
    let (mut given, mut unknown, mut elsewhere) = (Vec::new(), Vec::new(), Vec::new());
    let (templated, installed): (Vec<_>, Vec<_>) = installed.into_iter().partition(Installed::is_templated);
    let (outside, installed): (Vec<_>, Vec<_>) =
        installed.into_iter().partition(|one: &Installed| one.chart_of.is_some());
    let outside = outside
        .into_iter()
        .filter_map(|one| Some(format!("{} ({}), which names {}", one.object, one.place, one.chart_of?)));
    let outside: Vec<String> = outside.collect();
    let templated: Vec<String> =
        templated.iter().map(|one| format!("{} in {} ({})", one.chart, one.object, one.place)).collect();
    for Installed { object, place, chart: name, version, files, absent, .. } in installed {
        let of = installed::release(&name, version.as_ref(), knowledge);
        let (release, version) = match (of, told) {
            (Ok(release), _) => (Some(release), version),
            (Err(_), Some(told)) => (Some(told.clone()), None),
            // An unknown version differs from the cluster's; a range of versions cannot be resolved.
            (Err(_), None) if over_a_cluster && !version.as_ref().is_some_and(installed::is_one) => (None, None),
            (Err(why), None) => {
                unknown.push(format!("{name} in {object} ({place}), which {why}"));
                continue;
            }
        };
        let partial = !absent.is_empty();
        if partial {
            elsewhere.push(format!("{name} in {object} ({place}): {}", absent.join(", ")));
        }
        given.push(ValuesInput { chart: name, release, files, by: Some((object, version)), partial });
    }
    let aside = [(UNKNOWN, unknown), (ELSEWHERE, elsewhere), (TEMPLATED, templated), (OUTSIDE, outside)];
    (given, aside.iter().filter_map(|(what, things)| few(what, things)).collect())
}

pub(super) use installed::over_control_plane;

const UNKNOWN: &str = "values of charts of an unknown release or a version range (set it with --linkerd-version)";
const TEMPLATED: &str = "charts in a template whose elements are not listed (check the rendered output)";
const OUTSIDE: &str = "charts that objects outside of the manifests name";
const ELSEWHERE: &str = "chart values that are missing or not plain YAML";
/// Number of items of one sort to name.
const NAMED: usize = 3;

fn few(what: &str, things: &[String]) -> Option<String> {
    let more = things.len().saturating_sub(NAMED);
    let named = things.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!things.is_empty()).then(|| format!("{what}: {named}{more}"))
}

/// Whether values are checked without a cluster.
pub(super) fn is_alone(args: &Check) -> bool {
    !args.manifests.values.is_empty()
        && args.evidence.bundle.is_empty()
        && !args.evidence.live
        && args.rehearsal.to.is_none()
}

fn file(path: &Path) -> Result<ValuesFile, Stop> {
    let name = if path.as_os_str() == "-" { "stdin".to_owned() } else { path.display().to_string() };
    let mut text = String::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().read_to_string(&mut text).map(|_| ()),
        false => std::fs::read_to_string(path).map(|read| text = read),
    };
    read.map_err(|error| Stop::usage(format!("--values {name}: {error}"), "give a values file for helm -f"))?;
    ValuesFile::read(&name, &text)
        .map_err(|error| Stop::usage(format!("--values {error}"), "give a values file for helm -f"))
}

/// The flags that name values, for recheck commands: the chart with its release, so that no cluster is needed, or else
/// the cluster.
pub(super) fn flags(args: &Check, given: &ValuesInput, upgrade: Option<&Upgrade>) -> Vec<(&'static str, String)> {
    let values = args.manifests.values.iter().map(|path: &PathBuf| ("--values", path.display().to_string()));
    let release = given.release.as_ref().or(upgrade.map(|upgrade| &upgrade.to));
    let chart = match release {
        Some(release) => format!("{}@{release}", given.chart),
        None => given.chart.clone(),
    };
    let live = (release.is_none() || (!is_alone(args) && upgrade.is_none())).then(|| ("--live", String::new()));
    values.chain([("--chart", chart)]).chain(live).collect()
}

/// The values on top of those in the cluster, as a change. The cluster stores only values of the control-plane chart.
pub(super) fn as_change(given: &ValuesInput, today: &Cluster) -> Set {
    if given.chart != CONTROL_PLANE {
        return Set::default();
    }
    let item = Item::Named { kind: Kind::ConfigMap, scope: Scope::ControlPlane, name: CONFIG.to_owned() };
    let config: Option<&ConfigMap> = today.answer(&item).and_then(|answer| answer.objects().first());
    let Some((config, values)) = config.and_then(|config| Some((config, config.chart_values()?))) else {
        return Set::default();
    };
    let Some(text) = given.over(&values).to_yaml() else { return Set::default() };
    let mut data = serde_json::Map::new();
    data.extend(config.data.iter().map(|(key, text)| (key.clone(), json!(text))));
    data.insert("values".to_owned(), json!(text));
    let (meta, namespace) = (&config.metadata, &today.namespaces.control_plane);
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONFIG, "namespace": namespace, "labels": *meta.labels, "annotations": *meta.annotations},
        "data": data,
    });
    Set::one(Kind::ConfigMap, object)
}

/// Adds to findings the file and line of the values that they are about.
pub(super) fn place(findings: &mut [Finding], all: &[ValuesInput]) {
    for given in all {
        place_of(findings, given);
    }
}

/// Adds to findings the file and line of the keys in chart values that they are about.
pub(super) fn place_keys(findings: &mut [Finding], keys: &[ValueKey]) {
    for finding in findings.iter_mut().filter(|finding| !finding.when.ends()) {
        let is_of = |place: &Place, key: &ValueKey| match place {
            Place::Field { object, path } => *object == key.object && *path == key.field,
            Place::File { .. } | Place::Event { .. } | Place::Other { .. } => false,
        };
        let named =
            finding.evidence.iter().flat_map(|evidence| keys.iter().filter(move |key| is_of(&evidence.place, key)));
        let written: Vec<ManifestLocation> = named
            .map(|key| ManifestLocation {
                object: format!("values in {}", key.object),
                path: Some(key.field.clone()),
                file: key.file.clone(),
                line: key.spot.0,
                column: key.spot.1,
                source: None,
            })
            .collect();
        finding.written.extend(written);
    }
}

fn place_of(findings: &mut [Finding], given: &ValuesInput) {
    let config =
        |object: &str| given.chart == CONTROL_PLANE && object.starts_with("ConfigMap ") && object.ends_with(CONFIG);
    for finding in findings.iter_mut().filter(|finding| !finding.when.ends()) {
        let mut written: Vec<ManifestLocation> = Vec::new();
        for evidence in &finding.evidence {
            let Place::Field { object, path } = &evidence.place else { continue };
            let named = given.files.iter().filter(|file| file.name == *object);
            let found = named.into_iter().find_map(|file| Some((file, file.find(path)?)));
            let kept = || {
                let value = path.strip_prefix("data.values: ").filter(|_| config(object))?;
                let (file, _) = given.at(value)?;
                Some((file, file.find(&file.field(value))?))
            };
            let Some((file, (path, (line, column)))) = found.or_else(kept) else { continue };
            written.push(ManifestLocation {
                object: format!("values of {}", given.chart),
                path: Some(path),
                file: file.file().to_owned(),
                line,
                column,
                source: None,
            });
        }
        written.sort();
        written.dedup();
        finding.written.extend(written);
    }
}
