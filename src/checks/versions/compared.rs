//! What `linkerd check` compares of versions: texts. Of a proxy the tag of its image, where its pod runs and the image is not
//! pinned by digest; of the control plane what `linkerd-config` says. Which release a thing is of is for the checks; this says
//! which rows a text fails.

use crate::checks::Context;
use crate::checks::control_plane::installation::config;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::pod_status::word;
use crate::objects::ConfigMap;
use crate::objects::Pod;
use crate::version::LinkerdVersion;

/// The rows that ask the same of one kind of thing.
pub(super) struct Rows {
    /// Whether it is of the newest or the expected release.
    pub(super) latest: &'static str,
    /// Whether it is of the release of the CLI.
    pub(super) cli: &'static str,
}

/// What `linkerd-config` says.
pub(super) const CONFIG: Rows =
    Rows { latest: "control plane is up-to-date", cli: "control plane and cli versions match" };
/// The control plane's own proxies.
pub(super) const CONTROL_PLANE: Rows = Rows {
    latest: "control plane proxies are up-to-date",
    cli: "control plane proxies and cli versions match",
};
/// All proxies of the namespaces that are asked about.
pub(super) const DATA_PLANE: Rows =
    Rows { latest: "data plane is up-to-date", cli: "data plane and cli versions match" };

/// The text that counts as the version of a pod's proxy; `None` where none does.
pub(in crate::checks) fn tag(pod: &Pod) -> Option<&str> {
    let image = &pod.spec.proxy()?.image;
    let tag = image.rsplit(':').next().filter(|tag| !tag.is_empty() && !image.contains('@'));
    tag.filter(|_| word(pod) == "Running")
}

/// The version in `linkerd-config`, empty where it has none; `None` where there are no values.
pub(super) fn configured(ctx: &Context<'_>) -> Option<String> {
    let values = config(ctx).ok().flatten().and_then(ConfigMap::chart_values)?;
    Some(values.scalar("linkerdVersion").unwrap_or_default())
}

/// Whether a text is another version than the one that is wanted, as [`Same`] has it.
pub(in crate::checks) fn differs(said: &str, wanted: &LinkerdVersion, same: Same) -> bool {
    !said.parse::<LinkerdVersion>().is_ok_and(|said| same(&said, wanted))
}

/// When two versions are the same: of the expected release another build will do ([`LinkerdVersion::same_release`]), of the
/// CLI's it will not ([`LinkerdVersion::same_build`]).
pub(in crate::checks) type Same = fn(&LinkerdVersion, &LinkerdVersion) -> bool;

/// The rows that a text fails. Where nobody says what is expected, or nothing is known of a CLI, `reference` counts.
pub(super) fn failed(
    ctx: &Context<'_>,
    said: &str,
    rows: &Rows,
    reference: &LinkerdVersion,
) -> Vec<&'static str> {
    let expected = ctx.settings.expected_version.as_ref().unwrap_or(reference);
    let cli = ctx.cli_version().unwrap_or(reference);
    let latest = differs(said, expected, LinkerdVersion::same_release).then_some(rows.latest);
    let other = differs(said, cli, LinkerdVersion::same_build).then_some(rows.cli);
    latest.into_iter().chain(other).collect()
}

/// What of the control plane, its proxies and those of the data plane is of another version than this: the row of each, as
/// `row` picks it. `missing` counts where `linkerd-config` has no values.
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
    let meshed =
        |pod: &Pod| pod.metadata.label(CONTROL_PLANE_NS) == Some(home) && ctx.judges(&pod.metadata.namespace);
    let config = configured(ctx).is_none_or(|said| differs(&said, wanted, same));
    let rows = [(config, &CONFIG), (others(&own), &CONTROL_PLANE), (others(&meshed), &DATA_PLANE)];
    rows.into_iter().filter(|(fails, _)| *fails).map(|(_, rows)| row(rows)).collect()
}
