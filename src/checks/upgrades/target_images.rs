//! The containers of a pod after an upgrade: the images of the target at the registries in use, and
//! linkerd-proxy among the init containers if the upgrade makes it a native sidecar.

use crate::annotations::may_be_linkerds;
use crate::chart::values::Values;
use crate::checks::Context;
use crate::checks::control_plane::installation::values;
use crate::checks::rehearsal::CHART;
use crate::checks::upgrade::managed_by;
use crate::model::cni::INSTALLER;
use crate::objects::container::{DEBUG_CONTAINER, INIT_CONTAINER, PROXY_CONTAINER, VALIDATOR_CONTAINER};
use crate::objects::{Meta, PodSpec};
use crate::version::{Channel, CniVersion, ImageRef};

use super::Upgrade;

/// The containers that run the proxy's image.
const OF_PROXY: [&str; 2] = [PROXY_CONTAINER, VALIDATOR_CONTAINER];
/// The annotation that pins the version of a proxy.
const PIN: &str = "config.linkerd.io/proxy-version";
/// The end of the annotations that choose a native sidecar, in each release.
const NATIVE: &str = "proxy-enable-native-sidecar";
/// The container of the policy controller, and the one whose image it may share.
const POLICY: (&str, &str) = ("policy", "destination");

/// A container: its name, image and place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Placed {
    pub(super) name: String,
    pub(super) image: String,
    /// Whether it is an init container.
    pub(super) init: bool,
    /// Whether it is a native sidecar.
    pub(super) native: bool,
}

/// The images of the target.
pub(super) struct TargetImages<'c, 'a> {
    ctx: &'c Context<'a>,
    way: &'c Upgrade<'c>,
    /// Whether the values fix the version of the proxy.
    pins_proxy: bool,
    /// The same, of the controllers.
    pins_controllers: bool,
    /// Whether the injector of the target adds native sidecars.
    native: bool,
    /// The version of linkerd-cni.
    plugin: Option<String>,
}

/// The owner of a pod, which decides the containers that the upgrade changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PodOwner {
    ControlPlane,
    Extension,
    LinkerdCni,
    /// A meshed workload: only injected containers change.
    Meshed,
}

impl<'c, 'a> TargetImages<'c, 'a> {
    /// Reads `deployments.apps` and `linkerd-config`.
    pub(super) fn new(ctx: &'c Context<'a>, way: &'c Upgrade<'_>) -> TargetImages<'c, 'a> {
        let by_cli = managed_by(ctx).is_by_cli();
        let comes = || Some(ctx.upgrade()?.plugin.as_ref()?.by(by_cli));
        TargetImages::with_plugin(ctx, way, ctx.settings.to_cni.as_ref().or_else(comes))
    }

    /// The same, with the version of linkerd-cni that comes with the target, if it changes.
    pub(super) fn with_plugin(
        ctx: &'c Context<'a>,
        way: &'c Upgrade<'_>,
        plugin: Option<&CniVersion>,
    ) -> TargetImages<'c, 'a> {
        let values = values(ctx).ok();
        let by_cli = managed_by(ctx).is_by_cli();
        // The CLI renders its own release into these values; in a chart they are empty.
        let pins = |path: &str| {
            let text = values.as_ref().and_then(|values| values.text(path)).filter(|text| !text.is_empty());
            text.is_some_and(|text| !by_cli || text != way.from.as_str())
        };
        TargetImages {
            pins_proxy: pins("proxy.image.version"),
            pins_controllers: pins("controllerImageVersion"),
            native: is_native(ctx, way, values.as_ref()),
            plugin: plugin.map(ToString::to_string),
            ctx,
            way,
        }
    }

    /// The containers of a pod or template: currently, and with the target.
    pub(super) fn changed(&self, part: PodOwner, inherited: [&Meta; 2], spec: &PodSpec) -> (Vec<Placed>, Vec<Placed>) {
        let placed = |container: &crate::objects::Container, init: bool| Placed {
            name: container.name.to_string(),
            image: container.image.to_string(),
            init,
            native: init && container.restart_policy.as_ref().is_some_and(|policy| policy.as_str() == "Always"),
        };
        let init = spec.init_containers.iter().map(|one| placed(one, true));
        let today: Vec<Placed> = init.chain(spec.containers.iter().map(|one| placed(one, false))).collect();
        let is_pinned = inherited.iter().any(|meta| meta.annotation(PIN).is_some());
        let mut then: Vec<Placed> = today.clone();
        for one in &mut then {
            if let Some(image) = self.image(part, one, is_pinned) {
                one.image = image;
            }
        }
        self.share_images(&mut then);
        let has_own_choice = inherited
            .iter()
            .any(|meta| meta.annotations.iter().any(|(key, _)| may_be_linkerds(key) && key.ends_with(NATIVE)));
        if self.native && !has_own_choice && part != PodOwner::LinkerdCni {
            let proxies = then.iter_mut().filter(|one| one.name == PROXY_CONTAINER);
            proxies.for_each(|proxy| (proxy.init, proxy.native) = (true, true));
        }
        (today, then)
    }

    /// The image of a container with the target; `None` if it stays.
    fn image(&self, part: PodOwner, one: &Placed, is_pinned: bool) -> Option<String> {
        let name = one.name.as_str();
        let injected = OF_PROXY.contains(&name) || [INIT_CONTAINER, DEBUG_CONTAINER].contains(&name);
        if !injected && part == PodOwner::Meshed {
            return None;
        }
        let image: ImageRef = one.image.parse().ok()?;
        // The target's digest is unknown.
        if image.digest.is_some() {
            return None;
        }
        if part == PodOwner::LinkerdCni && name == INSTALLER {
            return Some(self.on_channel(&image, self.plugin.as_deref()?));
        }
        let fixed = match part {
            _ if OF_PROXY.contains(&name) => is_pinned || self.pins_proxy,
            PodOwner::ControlPlane => !injected && self.pins_controllers,
            PodOwner::Extension | PodOwner::LinkerdCni | PodOwner::Meshed => false,
        };
        let of_release =
            [Channel::Edge, Channel::Stable, Channel::Enterprise].map(|channel| format!("{}-", channel.prefix()));
        if !fixed && image.tag.as_ref().is_some_and(|tag| of_release.iter().any(|begin| tag.starts_with(begin))) {
            return Some(self.on_channel(&image, self.way.to.as_str()));
        }
        let knowledge = self.ctx.knowledge;
        knowledge.upgrades().replaced_image(self.way.between(self.ctx), &one.image)
    }

    /// The image at a tag, from the registry of the target's channel if it comes from that of the installed one.
    fn on_channel(&self, image: &ImageRef, tag: &str) -> String {
        let channels = self.ctx.knowledge.channels();
        let path = image.path();
        let moved = channels.origin(&self.way.from).zip(channels.origin(self.way.to)).and_then(|(from, to)| {
            let name = path.strip_prefix(&from.images)?.strip_prefix('/')?;
            Some(format!("{}/{name}", to.images))
        });
        format!("{}:{tag}", moved.unwrap_or(path))
    }

    /// Containers that run the image of another one in the target.
    fn share_images(&self, then: &mut [Placed]) {
        let upgrades = self.ctx.knowledge.upgrades();
        let between = self.way.between(self.ctx);
        let of = |then: &[Placed], name: &str| then.iter().find(|one| one.name == name).map(|one| one.image.clone());
        let shared = [
            (upgrades.init_in_proxy(between), INIT_CONTAINER, PROXY_CONTAINER),
            (upgrades.policy_in_controller(between), POLICY.0, POLICY.1),
        ];
        for (begins, name, with) in shared {
            let Some(image) = begins.and_then(|_| of(then, with)) else { continue };
            then.iter_mut().filter(|one| one.name == name).for_each(|one| one.image.clone_from(&image));
        }
    }
}

/// Whether the target's injector adds native sidecars, from the values and the target's default.
fn is_native(ctx: &Context<'_>, way: &Upgrade<'_>, values: Option<&Values>) -> bool {
    const VALUE: &str = "proxy.nativeSidecar";
    let written = values.and_then(|values| values.written(VALUE));
    let changed = ctx.knowledge.releases().changed_defaults(CHART, &way.from, way.to);
    match changed.into_iter().find(|changed| changed.value == VALUE) {
        Some(changed) if written.is_none() || written.as_deref() == changed.from => changed.to == "true",
        _ => written.as_deref() == Some("true"),
    }
}
