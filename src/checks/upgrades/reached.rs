//! The state that a plan has reached: the versions of the Gateway API and linkerd-cni after the earlier
//! steps. No step repeats or downgrades an earlier one.

use std::cmp::Ordering;

use semver::Version;

use super::gateway_api_transfer::HeldDefinitions;
use crate::checks::versions::gateway_api::{GRPC, HTTP, bundle, comes_with_linkerd, definition, is_refused, serves};
use crate::checks::{Context, Plugin};
use crate::knowledge::GatewayApi;
use crate::model::cni;
use crate::model::managed_by::{Installer, ManagedBy};
use crate::objects::{CustomResourceDefinition, DaemonSet};
use crate::version::{CniVersion, LinkerdVersion};

/// A Gateway API version that a release requires.
pub(super) struct GatewayStep<'a> {
    /// The requirement of the release.
    pub(super) wanted: &'a GatewayApi,
    /// The version by then.
    pub(super) there: Version,
    /// The definition of HTTPRoute.
    pub(super) definition: &'a CustomResourceDefinition,
    /// The definition of GRPCRoute, if the new version would be refused because of it.
    pub(super) stored_as_alpha: Option<&'a CustomResourceDefinition>,
    /// Whether objects are stored as v1 by then.
    pub(super) stores_v1: bool,
    /// The older version with which the chart of the release replaces a sufficient one.
    pub(super) replaced_with: Option<Version>,
}

/// The state reached so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Reached {
    /// The Gateway API version; `None` if it is not installed or its version is unknown.
    gateway_api: Option<Version>,
    /// Whether an earlier step installed it.
    brought: bool,
    /// The operator's linkerd CLI, if it is known.
    cli: Option<LinkerdVersion>,
    /// The installed version of linkerd-cni, and whether the CLI installed it; `None` if it is not installed.
    plugin: Option<(CniVersion, bool)>,
}

impl Reached {
    /// The current state. Reads `daemonsets.apps` and the definition of HTTPRoute.
    pub(super) fn now(ctx: &Context<'_>) -> Reached {
        let http = definition(ctx, HTTP).ok().flatten();
        let set = ctx.optional_list::<DaemonSet>().iter().find(|set| cni::is_installer(set));
        let plugin = set.and_then(|set| {
            let by = ManagedBy::from_metadata(&set.metadata);
            let by_cli = by.installer == Some(Installer::Cli) && by.gitops.is_none();
            Some((cni::version_of(&set.spec.template)?, by_cli))
        });
        let gateway_api = http.and_then(bundle).map(|(_, number)| number);
        Reached { gateway_api, brought: false, cli: None, plugin }
    }

    /// The same, with the operator's linkerd CLI. Reads `cli-version`.
    pub(super) fn with_cli(self, ctx: &Context<'_>) -> Reached {
        Reached { cli: ctx.cli_version().ok().cloned(), ..self }
    }

    /// Whether the linkerd CLI of a release must be installed. It then is.
    pub(super) fn needs_cli(&mut self, release: &LinkerdVersion) -> bool {
        let is_installed = self.cli.as_ref().is_some_and(|cli| cli.same_build(release));
        self.cli = Some(release.clone());
        !is_installed
    }

    /// Whether an earlier step installed the Gateway API.
    pub(super) fn is_brought(&self) -> bool {
        self.brought
    }

    /// The Gateway API step for a release, if the version by then is too old and no chart of Linkerd installs
    /// it. Reads the definitions of routes.
    pub(super) fn next_gateway_api<'a>(&mut self, ctx: &Context<'a>, to: &LinkerdVersion) -> Option<GatewayStep<'a>> {
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
        let is_held = !self.brought && HeldDefinitions::find(ctx, http).is_some_and(|held| held.by_helm());
        let replaced_with = bundled.filter(|bundled| is_held && **bundled < there).cloned();
        // A version that an earlier step installed satisfies its range.
        let is_enough = wanted.compare(&there) != Ordering::Less && (newer || serves(http, &wanted.http_route));
        if is_enough && replaced_with.is_none() {
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
            replaced_with: replaced_with.filter(|_| is_enough),
        };
        if step.replaced_with.is_none() {
            self.gateway_api = Some(wanted.to_bring().clone());
        }
        self.brought = true;
        Some(step)
    }

    /// The version of linkerd-cni to install for a release: that of `--to-cni` in the last step or if the
    /// release's is newer, else the release's. `None` if the installed version can stay.
    pub(super) fn next_plugin(&mut self, ctx: &Context<'_>, to: &LinkerdVersion) -> Option<CniVersion> {
        let (there, by_cli) = self.plugin.clone()?;
        let upgrade = ctx.upgrade()?;
        let comes = Plugin::installed_by(to, ctx.knowledge.releases()).map(|plugin| plugin.by(by_cli).clone());
        let is_last = to.same_release(&upgrade.to);
        let named = ctx.settings.to_cni.clone();
        let past = |named: &CniVersion, comes: &CniVersion| named.plugin() <= comes.plugin();
        let next = match (named, comes) {
            (Some(named), _) if is_last => named,
            // An intermediate step does not install a newer version than requested.
            (Some(named), Some(comes)) if past(&named, &comes) => named,
            (_, comes) => comes?,
        };
        // Downgrade only on request; versions that cannot be compared are replaced if they differ.
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
