//! Gateway API definitions for the version checks: lookup, their manager, and the steps that install a
//! version that Linkerd supports. The checks report the faults.

use semver::Version;

use crate::card::Mode;
use crate::checks::control_plane::installation::release;
use crate::checks::prelude::*;
use crate::checks::upgrade;
use crate::command::Call;
use crate::knowledge::{GatewayApi, GatewayChannel};
use crate::model::control_plane::CREATED_BY;
use crate::model::managed_by::Installer;
use crate::objects::CustomResourceDefinition;

/// The API group.
pub(in crate::checks) const GROUP: &str = "gateway.networking.k8s.io";
pub(in crate::checks) const HTTP: &str = "httproutes.gateway.networking.k8s.io";
pub(in crate::checks) const GRPC: &str = "grpcroutes.gateway.networking.k8s.io";
/// The annotations with the release and the channel of a definition.
pub(in crate::checks) const BUNDLE: &str = "gateway.networking.k8s.io/bundle-version";
pub(in crate::checks) const CHANNEL: &str = "gateway.networking.k8s.io/channel";

/// A definition by name; `None` if it does not exist.
pub(in crate::checks) fn definition<'a>(
    ctx: &Context<'a>,
    name: &str,
) -> Result<Option<&'a CustomResourceDefinition>, Missing> {
    ctx.object::<CustomResourceDefinition>(Scope::Cluster, name)
}

/// The release of a definition, as text and as a version.
pub(in crate::checks) fn bundle(definition: &CustomResourceDefinition) -> Option<(&str, semver::Version)> {
    let said = definition.metadata.annotations.get(BUNDLE)?;
    let version: Version = said.strip_prefix('v').unwrap_or(said).parse().ok()?;
    // Development builds have 0.0.0, whatever the release.
    (version.major > 0 || version.minor > 0).then_some((said.as_str(), version))
}

/// Whether a definition serves a version.
pub(in crate::checks) fn serves(definition: &CustomResourceDefinition, version: &str) -> bool {
    definition.spec.versions.iter().any(|known| known.name == version && known.served)
}

/// The Linkerd tool that installed a definition, if any: `linkerd/cli edge-25.4.4`, `linkerd/helm
/// edge-25.4.4`.
pub(in crate::checks) fn brought_by(definition: &CustomResourceDefinition) -> Option<&str> {
    definition.metadata.annotations.get(CREATED_BY).map(String::as_str).filter(|by| !by.is_empty())
}

/// Whether the CLI installed it.
pub(in crate::checks) fn is_of_the_cli(definition: &CustomResourceDefinition) -> bool {
    brought_by(definition).is_some_and(|by| by.starts_with("linkerd/cli"))
}

/// Whether an upgrade to a release upgrades a definition too: Linkerd installed it, and the chart still
/// contains it; or the CLI installed it, which upgrades its own whatever the chart's default.
pub(in crate::checks) fn comes_with_linkerd(
    ctx: &Context<'_>,
    definition: &CustomResourceDefinition,
    release: &LinkerdVersion,
) -> bool {
    brought_by(definition).is_some() && (brings_gateway_api(ctx, release) || is_of_the_cli(definition))
}

/// Whether the CLI refuses the evaluated upgrade: it requires the definitions beforehand, and only installs
/// those that it installed before. Reads `deployments.apps`.
pub(in crate::checks) fn is_refused_by_the_cli(ctx: &Context<'_>) -> bool {
    let Some(upgrade) = ctx.upgraded() else { return false };
    let by = upgrade::managed_by(ctx);
    by.installer == Some(Installer::Cli)
        && by.gitops.is_none()
        && ctx.knowledge.releases().cli_needs_gateway_api(&upgrade.to)
}

/// Whether the CLI of the release to be installed exits without the definitions.
pub(in crate::checks) fn stops_an_installation(ctx: &Context<'_>, release: &LinkerdVersion) -> bool {
    ctx.settings.mode == Mode::Pre && ctx.knowledge.releases().cli_needs_gateway_api(release)
}

/// The Gateway API definitions that an installation with the CLI needs first.
pub(in crate::checks) enum NeededFirst<'a> {
    /// They are missing, and the CLI exits without them.
    Missing(&'a GatewayApi),
    /// They exist, or the CLI does not need them.
    Nothing,
    /// It is not known whether they exist.
    Unknown,
}

/// What an installation with the CLI needs first, if no control plane is installed. Reads the definitions,
/// `deployments.apps`, `linkerd-config` and `cli-version`.
pub(in crate::checks) fn needed_first<'a>(ctx: &Context<'a>) -> NeededFirst<'a> {
    let Ok((release, _)) = release(ctx) else { return NeededFirst::Unknown };
    let releases = ctx.knowledge.releases();
    if !releases.cli_needs_gateway_api(&release) {
        return NeededFirst::Nothing;
    }
    let wanted = releases.for_version(&release).and_then(|row| row.gateway_api.as_ref());
    match (definition(ctx, HTTP), definition(ctx, GRPC), wanted) {
        (Ok(Some(_)), ..) | (_, Ok(Some(_)), _) => NeededFirst::Nothing,
        (Ok(None), Ok(None), Some(wanted)) => NeededFirst::Missing(wanted),
        _ => NeededFirst::Unknown,
    }
}

/// Whether the charts of a release contain the definitions by default.
pub(in crate::checks) fn brings_gateway_api(ctx: &Context<'_>, release: &LinkerdVersion) -> bool {
    installing_value(ctx, release).is_some()
}

/// The chart value with which a release installs the definitions by default; `None` if it does not.
pub(in crate::checks) fn installing_value(ctx: &Context<'_>, release: &LinkerdVersion) -> Option<&'static str> {
    match ctx.knowledge.releases().default_of("linkerd-crds", "installGatewayAPI", release) {
        Some("false") => None,
        Some(_) => Some("installGatewayAPI"),
        // Older charts have another value for it, on by default.
        None => Some("enableHttpRoutes"),
    }
}

/// Whether the policy controller of a release reads a kind of routes: whether it may list them.
pub(in crate::checks) fn reads(ctx: &Context<'_>, version: &LinkerdVersion, resource: &str) -> bool {
    let (table, minors) = (ctx.knowledge.control_plane(), ctx.knowledge.minors());
    let roles = table.roles(&ctx.namespaces().control_plane, version, minors, |_| false);
    roles.iter().any(|role| role.rights.contains(&(GROUP, resource, "list")))
}

/// A release in which GRPCRoute has both versions, so that objects can be stored in the newer one.
const WITH_BOTH: Version = Version::new(1, 1, 1);
/// The first release of Gateway API without the older version.
const WITHOUT_ALPHA: Version = Version::new(1, 2, 0);
/// The older version.
pub(in crate::checks) const ALPHA: &str = "v1alpha2";

/// Whether the API server would reject the newest release in the range: objects are stored in a version that
/// it lacks.
pub(in crate::checks) fn is_refused(definition: &CustomResourceDefinition, wanted: &GatewayApi) -> bool {
    let stored = definition.status.stored_versions.iter().any(|stored| stored == ALPHA);
    definition.metadata.name == GRPC && stored && *wanted.to_bring() >= WITHOUT_ALPHA
}

/// Adds the steps that store GRPCRoutes as v1, through an intermediate release if the installed one cannot.
pub(in crate::checks) fn stored_again(remedy: Remedy, grpc: &CustomResourceDefinition, stores_v1: bool) -> Remedy {
    let channel = grpc.metadata.annotations.get(CHANNEL).map_or("experimental", String::as_str);
    let remedy = match stores_v1 {
        true => remedy,
        false => remedy.command(
            format!(
                "First install Gateway API {WITH_BOTH}, in which GRPCRoute has v1alpha2 and v1, and stores \
                 v1"
            ),
            over(Some(grpc)).arg(bundle_address(&WITH_BOTH, channel)),
        ),
    };
    remedy.command(
        "Rewrite every GRPCRoute as v1. Only when this has succeeded, or none exists, remove v1alpha2 from \
         status.storedVersions: the API server rejects the newer CRD otherwise",
        restore(GRPC, "v1"),
    )
}

/// The command that stores every object of a definition again, and then removes other versions from its
/// status.
fn restore(definition: &str, version: &str) -> Command {
    Command::lines([
        kubectl().words("get").arg(definition.to_owned()).words("-A -o json").pipe(kubectl().words("replace -f -")),
        stored_versions(definition, &[version]).into(),
    ])
}

/// The command that sets the stored versions of a definition.
pub(super) fn stored_versions(definition: &str, versions: &[&str]) -> Call {
    kubectl()
        .words("patch customresourcedefinition")
        .operand(definition)
        .words("--subresource=status --type=merge -p")
        .arg(serde_json::json!({"status": {"storedVersions": versions}}).to_string())
}

fn bundle_address(version: &Version, channel: &str) -> String {
    format!("https://github.com/kubernetes-sigs/gateway-api/releases/download/v{version}/{channel}-install.yaml")
}

/// Adds the step that installs the documented release of the range, or else the newest: in the current
/// channel for existing definitions. Definitions with a known manager are left to it.
pub(in crate::checks) fn bring(
    ctx: &Context<'_>,
    remedy: Remedy,
    there: Option<&CustomResourceDefinition>,
    wanted: &GatewayApi,
) -> Remedy {
    let meta = there.map(|definition| &definition.metadata);
    let keys = meta.into_iter().flat_map(|meta| meta.labels.keys().chain(meta.annotations.keys()));
    if there.and_then(brought_by).is_some_and(|by| by.starts_with("linkerd/helm")) {
        let remedy = remedy.note(
            "Linkerd's chart linkerd-crds holds these CRDs, has no newer ones, and would restore its own: \
             transfer their ownership first, https://linkerd.io/2/tasks/gateway-api-ownership-migration/",
        );
        return install_bundle(remedy, there, wanted);
    }
    if let Some((who, mark)) = ctx.knowledge.releases().gateway_api_manager(keys.map(|key| key.as_str())) {
        return remedy.note(format!(
            "Do not replace the CRDs by hand: {who} manages them ({mark}) and reverts changes. Install \
                 a release from {} to {} with it, or choose a Linkerd release that supports the installed \
                 one",
            wanted.minimum, wanted.maximum
        ));
    }
    install_bundle(remedy, there, wanted)
}

/// Adds the steps of [`bring`] for definitions without a manager.
pub(in crate::checks) fn install_bundle(
    remedy: Remedy,
    there: Option<&CustomResourceDefinition>,
    wanted: &GatewayApi,
) -> Remedy {
    let meta = there.map(|definition| &definition.metadata);
    let experimental = GatewayChannel::Experimental.name();
    let of_it = meta.and_then(|meta| meta.annotations.get(CHANNEL)).is_some_and(|there| there == experimental);
    let channel = if of_it { experimental } else { wanted.channel.name() };
    let words = format!(
        "Install Gateway API {} from its {channel} channel, which serves the versions that this Linkerd release uses \
         (first make sure that no other controller in the cluster needs another release)",
        wanted.to_bring()
    );
    let install = over(there).arg(bundle_address(wanted.to_bring(), channel));
    let remedy = remedy.command(words, install);
    match there.filter(|definition| is_of_the_cli(definition)) {
        Some(_) => unmark(remedy, &[HTTP, GRPC]),
        None => remedy,
    }
}

/// Adds the step that installs a release over older definitions.
pub(in crate::checks) fn reinstall(
    remedy: Remedy,
    older: &CustomResourceDefinition,
    release: &Version,
    channel: &str,
) -> Remedy {
    remedy.command(
        format!("Install Gateway API {release} again, from its {channel} channel"),
        over(Some(older)).arg(bundle_address(release, channel)),
    )
}

/// Adds the step that removes the mark of Linkerd's CLI: otherwise it would install its own definitions again, and
/// `linkerd prune` would list them.
pub(in crate::checks) fn unmark(remedy: Remedy, definitions: &[&str]) -> Remedy {
    let annotate = kubectl().words("annotate --overwrite crd");
    let annotate = definitions.iter().fold(annotate, |call, name| call.operand(*name));
    remedy.command(
        "Mark these CRDs as no longer managed by Linkerd: otherwise its CLI installs its own again",
        annotate.arg(format!("{CREATED_BY}-")),
    )
}

/// The command that applies definitions over existing ones; fields of Helm must be taken over.
fn over(there: Option<&CustomResourceDefinition>) -> Call {
    match there.and_then(brought_by).is_some_and(|by| by.starts_with("linkerd/helm")) {
        true => kubectl().words("apply --server-side --force-conflicts -f"),
        false => kubectl().words("apply --server-side -f"),
    }
}
