//! What a plan has reached on its way: the Gateway API and linkerd-cni that are there once the steps before are done. Nothing
//! is brought twice, and nothing goes back.

use std::cmp::Ordering;

use semver::Version;

use crate::checks::versions::gateway_api::{
    GRPC, HTTP, bundle, comes_with_linkerd, definition, is_refused, serves,
};
use crate::checks::{Context, Plugin};
use crate::knowledge::GatewayApi;
use crate::model::cni;
use crate::model::managed_by::{Installer, ManagedBy};
use crate::objects::{CustomResourceDefinition, DaemonSet};
use crate::version::{CniVersion, LinkerdVersion};

/// A Gateway API that has to be brought for a release.
pub(super) struct GatewayStep<'a> {
    /// What the release asks for.
    pub(super) wanted: &'a GatewayApi,
    /// What is there by then.
    pub(super) there: Version,
    /// The definition of HTTPRoute.
    pub(super) definition: &'a CustomResourceDefinition,
    /// The definition of GRPCRoute, where what is to be brought is refused for it.
    pub(super) stored_as_alpha: Option<&'a CustomResourceDefinition>,
    /// Whether objects are stored as v1 by then.
    pub(super) stores_v1: bool,
}

/// What is there by now.
#[derive(Debug, Clone, Default)]
pub(super) struct Reached {
    /// The release of Gateway API; `None` where there is none, or none that says its release.
    gateway_api: Option<Version>,
    /// Whether a step before brought it.
    brought: bool,
    /// The linkerd-cni that is installed, and whether the CLI did so; `None` where there is none.
    plugin: Option<(CniVersion, bool)>,
}

impl Reached {
    /// What is there today. Reads `daemonsets.apps` and the definition of HTTPRoute.
    pub(super) fn now(ctx: &Context<'_>) -> Reached {
        let http = definition(ctx, HTTP).ok().flatten();
        let set = ctx.hints::<DaemonSet>().iter().find(|set| cni::is_installer(set));
        let plugin = set.and_then(|set| {
            let by = ManagedBy::of(&set.metadata);
            let by_cli = by.installer == Some(Installer::Cli) && by.gitops.is_none();
            Some((cni::version_of(&set.spec.template)?, by_cli))
        });
        Reached { gateway_api: http.and_then(bundle).map(|(_, number)| number), brought: false, plugin }
    }

    /// Whether a step before brought the Gateway API.
    pub(super) fn is_brought(&self) -> bool {
        self.brought
    }

    /// The Gateway API to bring for a release, where what is there by then is too old and no chart of Linkerd brings it. Reads the
    /// definitions of routes.
    pub(super) fn next_gateway_api<'a>(
        &mut self,
        ctx: &Context<'a>,
        to: &LinkerdVersion,
    ) -> Option<GatewayStep<'a>> {
        let row = ctx.knowledge.releases().for_version(to)?;
        let wanted = row.gateway_api.as_ref()?;
        let http = definition(ctx, HTTP).ok()??;
        let there = self.gateway_api.clone()?;
        let bundled = ctx.knowledge.releases().bundled_gateway_api(to);
        let there = match bundled.filter(|_| !self.brought && comes_with_linkerd(ctx, http, to)) {
            Some(bundled) => there.max(bundled.clone()),
            None => there,
        };
        self.gateway_api = Some(there.clone());
        let newer = bundle(http).is_some_and(|(_, today)| there > today);
        // What was brought on the way serves what its range asks for.
        if wanted.compare(&there) != Ordering::Less && (newer || serves(http, &wanted.http_route)) {
            return None;
        }
        let grpc = definition(ctx, GRPC).ok().flatten();
        let stores_v1 = |grpc: &CustomResourceDefinition| {
            newer || grpc.spec.versions.iter().any(|version| version.name == "v1" && version.storage)
        };
        let step = GatewayStep {
            wanted,
            there,
            definition: http,
            stored_as_alpha: grpc.filter(|grpc| !self.brought && is_refused(grpc, wanted)),
            stores_v1: grpc.is_some_and(stores_v1),
        };
        (self.gateway_api, self.brought) = (Some(wanted.to_bring().clone()), true);
        Some(step)
    }

    /// The linkerd-cni to bring for a release: that of `--to-cni` once nothing older comes with the release, else what comes
    /// with it; `None` where what is there is at it or past it.
    pub(super) fn next_plugin(&mut self, ctx: &Context<'_>, to: &LinkerdVersion) -> Option<CniVersion> {
        let (there, by_cli) = self.plugin.clone()?;
        let upgrade = ctx.upgrade()?;
        let comes = Plugin::of(to, ctx.knowledge.releases()).map(|plugin| plugin.by(by_cli).clone());
        let is_last = to.same_release(&upgrade.to);
        let named = ctx.settings.to_cni.clone();
        let past = |named: &CniVersion, comes: &CniVersion| named.plugin() <= comes.plugin();
        let next = match (named, comes) {
            (Some(named), _) if is_last => named,
            // Nothing newer than what was named, on the way to it.
            (Some(named), Some(comes)) if past(&named, &comes) => named,
            (_, comes) => comes?,
        };
        // Back only where somebody said so, and from what states no version in any case.
        let said = is_last && ctx.settings.to_cni.is_some();
        let behind = match (there.plugin(), next.plugin()) {
            (Some(there), Some(next)) => there < next || (said && there != next),
            _ => there != next,
        };
        if !behind {
            return None;
        }
        self.plugin = Some((next.clone(), by_cli));
        Some(next)
    }
}
