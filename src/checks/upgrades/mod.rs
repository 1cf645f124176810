//! Checks of a planned upgrade (`--to`): breaking changes and other changes for the current cluster. Checks
//! of the installed release also run for the target if their cards are marked `rehearsed`.

use super::context::RunInput;
use super::control_plane::installation::of_control_plane;
use super::{Check, find, row};
use crate::checks::prelude::*;
use crate::knowledge::Between;

mod gateway_api_transfer;
pub(super) mod gitops;
pub(super) mod mirrors;
mod one_chart;
pub(super) mod phases;
pub(super) mod plan;
mod pull;
mod reached;
pub(super) mod release;
mod rollback;
mod target_images;
mod upgrade_changes_default;
mod upgrade_changes_policy;
mod upgrade_closes_shutdown;
mod upgrade_deletes_gateway_api;
mod upgrade_drops_architecture;
mod upgrade_drops_extension;
mod upgrade_drops_mesh_tls;
mod upgrade_drops_opencensus;
mod upgrade_drops_value;
mod upgrade_heeds_timeouts;
mod upgrade_image_refused;
mod upgrade_needs_storage_migration;
mod upgrade_orphans_gateway_api;
mod upgrade_path;
mod upgrade_pinned_proxy;
mod upgrade_refuses_undeclared_port;
mod upgrade_renames_port;
mod upgrade_rollout_blocked;
mod upgrade_stored_values_unusable;
mod upgrade_target_not_recommended;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("upgrades", "upgrade-changes-default", upgrade_changes_default),
    row!("upgrades", "upgrade-changes-policy", upgrade_changes_policy),
    row!("upgrades", "upgrade-closes-shutdown", upgrade_closes_shutdown),
    row!("upgrades", "upgrade-deletes-gateway-api", upgrade_deletes_gateway_api),
    row!("upgrades", "upgrade-drops-architecture", upgrade_drops_architecture),
    row!("upgrades", "upgrade-drops-extension", upgrade_drops_extension),
    row!("upgrades", "upgrade-drops-mesh-tls", upgrade_drops_mesh_tls),
    row!("upgrades", "upgrade-drops-opencensus", upgrade_drops_opencensus),
    row!("upgrades", "upgrade-drops-value", upgrade_drops_value),
    row!("upgrades", "upgrade-heeds-timeouts", upgrade_heeds_timeouts),
    row!("upgrades", "upgrade-image-refused", upgrade_image_refused),
    row!("upgrades", "upgrade-needs-storage-migration", upgrade_needs_storage_migration),
    row!("upgrades", "upgrade-orphans-gateway-api", upgrade_orphans_gateway_api),
    row!("upgrades", "upgrade-path", upgrade_path),
    row!("upgrades", "upgrade-pinned-proxy", upgrade_pinned_proxy),
    row!("upgrades", "upgrade-refuses-undeclared-port", upgrade_refuses_undeclared_port),
    row!("upgrades", "upgrade-renames-port", upgrade_renames_port),
    row!("upgrades", "upgrade-rollout-blocked", upgrade_rollout_blocked),
    row!("upgrades", "upgrade-stored-values-unusable", upgrade_stored_values_unusable),
    row!("upgrades", "upgrade-target-not-recommended", upgrade_target_not_recommended),
];

/// The check whose card lists the evidence for a plan.
pub(super) const PLANNED: &str = "upgrade-path";
/// The parameter of its finding about skipped releases.
const SKIPS: &str = "skips";
/// The parameter of its finding about an earlier release.
const BACK: &str = "back";

/// Whether a finding is about a downgrade as a whole, which explains all that begins with it.
pub fn is_downgrade(finding: &Finding) -> bool {
    finding.check == PLANNED && finding.parameters.iter().any(|one| one == BACK)
}

/// The releases of an upgrade in order, the target last; empty if the target is not a later release.
pub(super) fn releases(run: &RunInput<'_>) -> Vec<LinkerdVersion> {
    let Some(check) = find(PLANNED) else { return Vec::new() };
    let context = Context::new(check.id, check.card(), *run);
    let Ok(way) = Upgrade::from_context(&context) else { return Vec::new() };
    plan::hops(&context, &way.from, way.to).unwrap_or_default()
}

/// The source and the target of an upgrade.
pub(super) struct Upgrade<'a> {
    /// The installed release.
    pub(super) from: LinkerdVersion,
    /// The evidence for it.
    pub(super) seen: Evidence,
    /// The target.
    pub(super) to: &'a LinkerdVersion,
    /// The target as evidence.
    pub(super) target: Evidence,
}

impl<'a> Upgrade<'a> {
    /// The upgrade of this run. Reads `deployments.apps` and `linkerd-config`.
    ///
    /// # Errors
    /// The run has no upgrade, or the installed release is unknown.
    pub(super) fn from_context(ctx: &Context<'a>) -> Result<Upgrade<'a>, Unjudged> {
        let Some(upgrade) = ctx.upgrade() else {
            return Err(Unjudged::not_applicable("checked only before an upgrade, with --to"));
        };
        let (from, seen) = match &upgrade.from {
            Some(from) => (from.clone(), Evidence::other("--from", from.as_str())),
            None => of_control_plane(ctx)?,
        };
        Ok(Upgrade { from, seen, to: &upgrade.to, target: upgrade.evidence() })
    }

    /// The two releases.
    pub(super) fn between<'s>(&'s self, ctx: &'s Context<'_>) -> Between<'s> {
        Between { from: &self.from, to: self.to, minors: ctx.knowledge.minors() }
    }
}
