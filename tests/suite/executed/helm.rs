//! A stand-in for helm: its releases are those that objects name, and an upgrade renders the base clusters of cards.

use meshdoctor::item::Kind;
use serde_json::{Value, json};

use super::programs::Call;
use super::world::World;
use super::{cni, linkerd};

const RELEASE: &str = "meta.helm.sh/release-name";
const NAMESPACE: &str = "meta.helm.sh/release-namespace";

struct Release {
    name: String,
    namespace: String,
    chart: String,
    version: String,
}

/// Chart and version of a release, by an object of it.
fn chart_of(object: &Value) -> (String, String) {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let labels = &object["metadata"]["labels"];
    let known = ["helm.sh/chart", "chart"].iter().find_map(|label| labels.get(*label)?.as_str());
    if let Some((chart, version)) = known.and_then(|known| known.rsplit_once('-')) {
        return (chart.to_owned(), version.to_owned());
    }
    let chart = match name {
        name if name.ends_with(".linkerd.io") => "linkerd-crds",
        "linkerd-cni" => "linkerd2-cni",
        "cilium" | "cilium-config" => "cilium",
        name if name.starts_with("linkerd-") => "linkerd-control-plane",
        "metrics-api" | "tap" | "web" | "prometheus" | "tap-injector" => "linkerd-viz",
        other => other,
    };
    let version = if chart == "cilium" { "1.16.5" } else { "2025.3.1" };
    (chart.to_owned(), version.to_owned())
}

fn releases(world: &World) -> Vec<Release> {
    let mut releases: Vec<Release> = Vec::new();
    let kinds = [Kind::DaemonSet, Kind::Deployment, Kind::ConfigMap, Kind::CustomResourceDefinition];
    for object in kinds.into_iter().flat_map(|kind| world.of_kind(kind)) {
        let text = |name: &str| object["metadata"]["annotations"].get(name)?.as_str().map(str::to_owned);
        let (Some(name), Some(namespace)) = (text(RELEASE), text(NAMESPACE)) else { continue };
        if releases.iter().all(|known| known.name != name || known.namespace != namespace) {
            let (chart, version) = chart_of(object);
            releases.push(Release { name, namespace, chart, version });
        }
    }
    releases
}

/// Answers `helm list`, `helm repo add` and `helm upgrade`.
pub fn run(world: &mut World, call: &Call) -> Result<String, String> {
    let valued = [
        "-n",
        "--namespace",
        "--filter",
        "-o",
        "--output",
        "--set",
        "--set-string",
        "--version",
        "--repo",
        "--max",
        "--kube-context",
    ];
    let plain = call.plain(&valued);
    let namespace = call.value(&["-n", "--namespace"]).unwrap_or("default").to_owned();
    match plain.as_slice() {
        ["repo", ..] | ["get", ..] => Ok(String::new()),
        ["history", name] => {
            let mut all = releases(world).into_iter();
            let release = all.find(|one| one.name == *name && one.namespace == namespace);
            let Some(release) = release else { return Ok(String::new()) };
            let row = json!({"chart": format!("{}-{}", release.chart, release.version), "revision": 1});
            Ok(serde_yaml::to_string(&json!([row])).unwrap())
        }
        ["list"] => {
            let filter = regex::Regex::new(call.value(&["--filter"]).unwrap_or("")).map_err(|e| e.to_string())?;
            let all = releases(world).into_iter();
            let here = all.filter(|one| one.namespace == namespace && filter.is_match(&one.name));
            let rows: Vec<Value> = here
                .map(|one| {
                    json!({"app_version": "", "chart": format!("{}-{}", one.chart, one.version),
                    "name": one.name, "namespace": one.namespace, "status": "deployed"})
                })
                .collect();
            Ok(match call.value(&["-o", "--output"]) {
                Some("json") => json!(rows).to_string(),
                _ => serde_yaml::to_string(&rows).unwrap(),
            })
        }
        ["upgrade", name, chart] => {
            let release = releases(world).into_iter().find(|one| one.name == *name && one.namespace == namespace);
            let is_new = call.has("--install") || call.has("-i");
            if release.is_none() && !is_new {
                return Err(format!("UPGRADE FAILED: \"{name}\" has no deployed releases"));
            }
            match chart.rsplit('/').next().unwrap_or_default() {
                "linkerd2-cni" => cni::upgrade(world, call)?,
                "linkerd-control-plane" => {
                    for object in linkerd::control_plane(world, call, true)? {
                        world.apply(&object);
                    }
                }
                "linkerd-viz" => {
                    for object in linkerd::extension("viz", world) {
                        world.apply(&object);
                    }
                }
                "linkerd-crds" => {
                    for mut object in linkerd::crds(world) {
                        object["metadata"]["annotations"] =
                            json!({RELEASE: *name, NAMESPACE: namespace, "linkerd.io/created-by": "linkerd/helm"});
                        world.apply(&object);
                    }
                }
                "cilium" => cilium(world, call),
                other => return Err(format!("the chart {other} is not played")),
            }
            Ok(String::new())
        }
        other => Err(format!("helm {other:?} is not played")),
    }
}

/// Cilium's chart writes its values into a ConfigMap.
fn cilium(world: &mut World, call: &Call) {
    let keys = [("cni.exclusive", "cni-exclusive")];
    for pair in call.values(&["--set"]) {
        for (value, key) in keys {
            if let Some(text) = pair.strip_prefix(value).and_then(|rest| rest.strip_prefix('=')) {
                let mut config =
                    world.get(Kind::ConfigMap, "kube-system", "cilium-config").cloned().unwrap_or_default();
                config["data"][key] = json!(text);
                world.put(Kind::ConfigMap, config);
            }
        }
    }
}
