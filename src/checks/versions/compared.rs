//! The texts that `linkerd check` compares as versions: for a proxy the tag of its image, if its pod runs and
//! the image is not pinned by digest; for the control plane the value in `linkerd-config`. This module
//! determines the rows that a text fails; other checks determine the actual releases.

use crate::checks::control_plane::installation::config;
use crate::checks::prelude::*;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::pod_status::label;

/// The rows about the version of one kind of component.
pub(super) struct Rows {
    /// Whether it has the newest or the expected release.
    pub(super) latest: &'static str,
    /// Whether it has the CLI's release.
    pub(super) cli: &'static str,
}

/// The version in `linkerd-config`.
pub(super) const CONFIG: Rows =
    Rows { latest: "control plane is up-to-date", cli: "control plane and cli versions match" };
/// The control plane's own proxies.
pub(super) const CONTROL_PLANE: Rows =
    Rows { latest: "control plane proxies are up-to-date", cli: "control plane proxies and cli versions match" };
/// All proxies in the checked namespaces.
pub(super) const DATA_PLANE: Rows =
    Rows { latest: "data plane is up-to-date", cli: "data plane and cli versions match" };

/// The version text of a pod's proxy, if any.
pub(in crate::checks) fn tag(pod: &Pod) -> Option<&str> {
    let image = &pod.spec.proxy()?.image;
    let tag = image.rsplit(':').next().filter(|tag| !tag.is_empty() && !image.contains('@'));
    tag.filter(|_| label(pod) == "Running")
}

/// The version in `linkerd-config`, empty if unset; `None` without values.
pub(super) fn configured(ctx: &Context<'_>) -> Option<String> {
    let values = config(ctx).ok().flatten().and_then(ConfigMap::chart_values)?;
    Some(values.scalar("linkerdVersion").unwrap_or_default())
}

/// Whether a text is not the wanted version, as compared by [`Same`].
pub(in crate::checks) fn differs(said: &str, wanted: &LinkerdVersion, same: Same) -> bool {
    !said.parse::<LinkerdVersion>().is_ok_and(|said| same(&said, wanted))
}

/// Equality of versions: another build of the expected release is equal ([`LinkerdVersion::same_release`]),
/// another build of the CLI's is not ([`LinkerdVersion::same_build`]).
pub(in crate::checks) type Same = fn(&LinkerdVersion, &LinkerdVersion) -> bool;

/// The rows that a text fails. `reference` is used if no release is expected or the CLI's is unknown.
pub(super) fn failed(ctx: &Context<'_>, said: &str, rows: &Rows, reference: &LinkerdVersion) -> Vec<&'static str> {
    let expected = ctx.settings.expected_version.as_ref().unwrap_or(reference);
    let cli = ctx.cli_version().unwrap_or(reference);
    let latest = differs(said, expected, LinkerdVersion::same_release).then_some(rows.latest);
    let other = differs(said, cli, LinkerdVersion::same_build).then_some(rows.cli);
    latest.into_iter().chain(other).collect()
}

/// The rows, selected by `row`, of the control plane, its proxies and the data plane's proxies with another
/// version than this. `missing` applies if `linkerd-config` has no values.
pub(super) fn all_failed(
    ctx: &Context<'_>,
    pods: &[Pod],
    wanted: &LinkerdVersion,
    same: Same,
    row: impl Fn(&Rows) -> &'static str,
) -> Vec<&'static str> {
    let home = ctx.namespaces().control_plane.as_str();
    let others = |of: &dyn Fn(&Pod) -> bool| {
        pods.iter().any(|pod| of(pod) && tag(pod).is_some_and(|tag| differs(tag, wanted, same)))
    };
    let own = |pod: &Pod| pod.metadata.namespace == home && pod.metadata.label(CONTROL_PLANE_NS).is_some();
    let meshed = |pod: &Pod| pod.metadata.label(CONTROL_PLANE_NS) == Some(home) && ctx.judges(&pod.metadata.namespace);
    let config = configured(ctx).is_none_or(|said| differs(&said, wanted, same));
    let rows = [(config, &CONFIG), (others(&own), &CONTROL_PLANE), (others(&meshed), &DATA_PLANE)];
    rows.into_iter().filter(|(fails, _)| *fails).map(|(_, rows)| row(rows)).collect()
}
