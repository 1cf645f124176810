//! The images that nodes must pull for a release, and the commands that try it before the upgrade.

use std::collections::BTreeSet;

use super::Upgrade;
use super::target_images::{PodOwner, TargetImages};
use crate::checks::prelude::*;
use crate::command::{Line, program};
use crate::model::cni;
use crate::model::installed::COMPONENT;
use crate::version::CniVersion;

/// The label of the pods that try a pull.
const LABEL: &str = "meshdoctor-pull=test";
/// The account whose pull secrets the control plane uses, and what Pod Security and quotas of its namespace may
/// require.
fn overrides(container: &str) -> String {
    serde_json::json!({"spec": {
        "serviceAccountName": "linkerd-destination",
        "automountServiceAccountToken": false,
        "securityContext": {"runAsNonRoot": true, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{
            "name": container,
            "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
            "resources": {
                "requests": {"cpu": "10m", "memory": "16Mi"},
                "limits": {"cpu": "10m", "memory": "16Mi"},
            },
        }],
    }})
    .to_string()
}

/// Adds the steps that try to pull the images of a release. `from`: the installed release, whose pods show the images;
/// `plugin`: the version of linkerd-cni that comes with the release, if it changes. Reads `pods`.
pub(super) fn tried(
    ctx: &Context<'_>,
    remedy: Remedy,
    (from, to): (&LinkerdVersion, &LinkerdVersion),
    plugin: Option<&CniVersion>,
) -> Remedy {
    let images = images(ctx, (from, to), plugin);
    if images.is_empty() {
        return remedy;
    }
    let home = ctx.namespaces().control_plane.as_str();
    let run = (1..).zip(&images).map(|(number, image)| {
        let name = format!("meshdoctor-pull-{number}");
        let run = kubectl().namespace(home).words("run").operand(name.as_str());
        let run = run.option("--image", image.as_str()).words("--image-pull-policy=Always --restart=Never");
        let run = run.option("--labels", LABEL).words("--override-type=strategic");
        let run = run.option("--overrides", overrides(&name));
        // The program does not exist, so nothing of the image runs.
        Line::from(run.words("--command -- /only-pulled"))
    });
    let shown = [
        Line::from(program("sleep").words("60")),
        Line::from(kubectl().namespace(home).words("get pods -l").arg(LABEL)),
    ];
    let text = format!(
        "Test whether the nodes can pull the images of {to}: {}. ErrImagePull or ImagePullBackOff: the node cannot \
         pull it. Forbidden: the namespace refuses the test pod. Any other start error is expected",
        images.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    );
    let delete = kubectl().namespace(home).words("delete pods -l").arg(LABEL);
    remedy.command(text, Command::lines(run.chain(shown))).command("Delete the pods of this test", delete)
}

/// The images of the control plane and of linkerd-cni that a release changes, in order.
fn images(
    ctx: &Context<'_>,
    (from, to): (&LinkerdVersion, &LinkerdVersion),
    plugin: Option<&CniVersion>,
) -> BTreeSet<String> {
    let home = ctx.namespaces().control_plane.as_str();
    let evidence = || Evidence::other("--to", to.as_str());
    let way = Upgrade { from: from.clone(), seen: evidence(), to, target: evidence() };
    let target = TargetImages::with_plugin(ctx, &way, plugin);
    let none = Meta::default();
    let changed = |pod: &Pod| -> Vec<String> {
        let meta = &pod.metadata;
        let is_own = meta.namespace == home && meta.label(COMPONENT).is_some();
        let own = is_own.then_some(PodOwner::ControlPlane);
        let part = if cni::is_installer_pod(pod) { Some(PodOwner::LinkerdCni) } else { own };
        let Some(part) = part else { return Vec::new() };
        let (today, then) = target.changed(part, [meta, &none], &pod.spec);
        let pairs = today.iter().zip(then).filter(|(before, after)| before.image != after.image);
        pairs.map(|(_, after)| after.image).collect()
    };
    ctx.for_steps::<Pod>().iter().flat_map(changed).collect()
}
