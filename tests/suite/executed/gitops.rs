//! Stand-ins for a repository in Git and for the commands of Argo CD and Flux. A step without a command sets values or
//! versions of charts in Git; a sync renders the charts with them.

use meshdoctor::finding::{ChartSetting, ChartSettings, Step};
use meshdoctor::item::Kind;
use meshdoctor::scene::Scene;
use serde_json::{Value, json};

use super::programs::Call;
use super::world::{World, kind_of, objects};
use super::{VARIABLES, cni, linkerd};

/// What Argo CD writes on the objects of an Application, and Flux on those of a HelmRelease.
const TRACKING: &str = "argocd.argoproj.io/tracking-id";
const RELEASE: &str = "helm.toolkit.fluxcd.io/name";
const RELEASE_NAMESPACE: &str = "helm.toolkit.fluxcd.io/namespace";

/// Commits the values that a step sets, or the reason why they are incomplete.
pub fn commit(world: &mut World, step: &Step) {
    if let Some(settings) = &step.settings {
        world.git.push((**settings).clone());
    }
}

/// Applies what the tool of an operator renders from the values: an installation without GitOps has no sync.
pub fn rendered(world: &mut World) -> Result<(), String> {
    let is_synced = world.objects.values().any(|object| owner(object).is_some());
    if is_synced { Ok(()) } else { sync(world) }
}

/// The name of the Application or HelmRelease that an object belongs to.
fn owner(object: &Value) -> Option<&str> {
    let metadata = &object["metadata"];
    let tracked = metadata["annotations"][TRACKING].as_str().and_then(|id| id.split(':').next());
    let instance = || metadata["labels"]["argocd.argoproj.io/instance"].as_str();
    tracked.or_else(instance).or_else(|| metadata["labels"][RELEASE].as_str())
}

/// The commands of Argo CD.
pub fn argocd(world: &mut World, call: &Call) -> Result<String, String> {
    match call.plain(&["--timeout"]).as_slice() {
        ["app", "diff", name] => known(world, name).map(|()| String::new()),
        ["app", "sync", name] => {
            known(world, name)?;
            sync(world).map(|()| String::new())
        }
        ["app", "wait", name] => {
            known(world, name)?;
            match world.git.is_empty() {
                true => Ok(String::new()),
                false => Err(format!("application {name} is out of sync")),
            }
        }
        other => Err(format!("argocd {other:?} is not played")),
    }
}

/// The commands of Flux.
pub fn flux(world: &mut World, call: &Call) -> Result<String, String> {
    match call.plain(&["-n", "--namespace"]).as_slice() {
        ["reconcile", "kustomization", _] => Ok(String::new()),
        ["reconcile", "helmrelease", name] => {
            known(world, name)?;
            sync(world).map(|()| String::new())
        }
        other => Err(format!("flux {other:?} is not played")),
    }
}

fn known(world: &World, name: &str) -> Result<(), String> {
    let is_known = world.objects.values().any(|object| owner(object) == Some(name));
    if is_known { Ok(()) } else { Err(format!("{name} not found")) }
}

/// Renders the charts whose values changed in Git.
fn sync(world: &mut World) -> Result<(), String> {
    for change in std::mem::take(&mut world.git) {
        let call = call(&change)?;
        match change.chart.as_str() {
            "linkerd-control-plane" => {
                let mut objects = linkerd::control_plane(world, &call, false)?;
                objects.retain(|object| object["metadata"]["name"] != "linkerd-config-overrides");
                objects.iter().for_each(|object| world.apply(object));
            }
            "linkerd2-cni" => cni::upgrade(world, &call)?,
            other => return Err(format!("the chart {other} is not played")),
        }
    }
    Ok(())
}

/// Values in Git as the options of a command.
fn call(change: &ChartSettings) -> Result<Call, String> {
    let mut words = vec!["install".to_owned(), "--ignore-cluster".to_owned()];
    let escaped = |value: &str| value.replace('\\', "\\\\").replace(',', "\\,");
    for setting in &change.settings {
        match setting {
            ChartSetting::Value { path, value, is_text } => {
                words.push(if *is_text { "--set-string" } else { "--set" }.to_owned());
                words.push(format!("{path}={}", escaped(value)));
            }
            ChartSetting::Variable { path, value, variable } => {
                let own = VARIABLES.iter().find(|(name, _)| name == variable).ok_or("no such variable")?.1;
                let all = if value.is_empty() { own.to_owned() } else { format!("{value},{own}") };
                words.extend(["--set".to_owned(), format!("{path}={}", escaped(&all))]);
            }
            ChartSetting::File { path, file } => {
                words.extend(["--set-file".to_owned(), format!("{path}={file}")]);
            }
            ChartSetting::HighAvailability => words.push("--ha".to_owned()),
        }
    }
    Ok(Call { words })
}

/// A tool that installs Linkerd from Git.
#[derive(Debug, Clone, Copy)]
pub enum Tool {
    ArgoCd,
    Flux,
}

impl Tool {
    /// The scene as if the tool had installed the control plane and linkerd-cni.
    pub fn installs(self, scene: &Scene) -> Scene {
        let mut scene = scene.clone();
        for mut object in objects(&scene.memory).into_values() {
            let kind = kind_of(&object);
            let is_of_linkerd =
                object["metadata"]["namespace"] == "linkerd" || object["metadata"]["namespace"] == "linkerd-cni";
            if !is_of_linkerd || !matches!(kind, Some(Kind::Deployment | Kind::DaemonSet | Kind::ConfigMap)) {
                continue;
            }
            let path = format!("{}/{}", object["metadata"]["namespace"], object["metadata"]["name"]);
            match self {
                Tool::ArgoCd => {
                    let id = format!("mesh:apps/{}:{path}", object["kind"]).replace('"', "");
                    object["metadata"]["annotations"][TRACKING] = json!(id);
                }
                Tool::Flux => {
                    object["metadata"]["labels"][RELEASE] = json!("mesh");
                    object["metadata"]["labels"][RELEASE_NAMESPACE] = json!("flux-system");
                }
            }
            object["metadata"]["annotations"]["linkerd.io/created-by"] = json!("linkerd/helm edge-25.4.4");
            scene.memory.add(&object).unwrap();
        }
        if matches!(self, Tool::Flux) {
            scene.memory.add(&release()).unwrap();
        }
        scene
    }
}

/// The HelmRelease, which a Kustomization applies.
fn release() -> Value {
    json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": "mesh", "namespace": "flux-system", "labels": {
            "kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}},
        "spec": {"interval": "10m", "chart": {"spec": {"chart": "linkerd-control-plane",
            "sourceRef": {"kind": "HelmRepository", "name": "linkerd"}}}},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
}
