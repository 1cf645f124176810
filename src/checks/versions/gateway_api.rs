//! The definitions of Gateway API as checks of versions look at them: which they are, who manages them, and how they are
//! brought to a release that Linkerd supports. What is wrong with them is for the checks to say.

use crate::checks::Context;
use crate::command::kubectl;
use crate::finding::{Remedy, StepKind};
use crate::item::Scope;
use crate::knowledge::{GatewayApi, GatewayChannel};
use crate::missing::Missing;
use crate::objects::CustomResourceDefinition;

/// The API group.
pub(in crate::checks) const GROUP: &str = "gateway.networking.k8s.io";
pub(in crate::checks) const HTTP: &str = "httproutes.gateway.networking.k8s.io";
pub(in crate::checks) const GRPC: &str = "grpcroutes.gateway.networking.k8s.io";
/// The annotation with the release that a definition is from, and the one with its channel.
pub(in crate::checks) const BUNDLE: &str = "gateway.networking.k8s.io/bundle-version";
pub(in crate::checks) const CHANNEL: &str = "gateway.networking.k8s.io/channel";

/// A definition by its name; `None` when it is known not to exist.
pub(in crate::checks) fn definition<'a>(
    ctx: &Context<'a>,
    name: &str,
) -> Result<Option<&'a CustomResourceDefinition>, Missing> {
    ctx.named::<CustomResourceDefinition>(Scope::Cluster, name)
}

/// The release that a definition is from, as it says it and in numbers.
pub(in crate::checks) fn bundle(definition: &CustomResourceDefinition) -> Option<(&str, semver::Version)> {
    let said = definition.metadata.annotations.get(BUNDLE)?;
    Some((said, said.strip_prefix('v').unwrap_or(said).parse().ok()?))
}

/// Whether a definition serves a version.
pub(in crate::checks) fn serves(definition: &CustomResourceDefinition, version: &str) -> bool {
    definition.spec.versions.iter().any(|known| known.name == version && known.served)
}

/// Adds the step that brings the definitions to the newest release in the range: those that are there in their own channel,
/// and those that somebody manages not past them.
pub(in crate::checks) fn bring(
    ctx: &Context<'_>,
    remedy: Remedy,
    there: Option<&CustomResourceDefinition>,
    wanted: &GatewayApi,
) -> Remedy {
    let meta = there.map(|definition| &definition.metadata);
    let keys = meta.into_iter().flat_map(|meta| meta.labels.keys().chain(meta.annotations.keys()));
    if let Some((who, mark)) = ctx.knowledge.releases().gateway_api_manager(keys.map(String::as_str)) {
        return remedy.step(
            StepKind::Note,
            format!(
                "Do not replace the CRDs by hand: {who} manages them ({mark}) and reverts changes. Have it install a release \
                 from {} to {}, or choose a release of Linkerd that supports the one that is there",
                wanted.minimum, wanted.maximum
            ),
        );
    }
    let experimental = GatewayChannel::Experimental.name();
    let there =
        meta.and_then(|meta| meta.annotations.get(CHANNEL)).is_some_and(|there| there == experimental);
    let channel = if there { experimental } else { wanted.channel.name() };
    remedy.run(
        StepKind::Command,
        format!(
            "Install Gateway API {} from its {channel} channel, which serves the versions that this Linkerd release uses; \
             first \
             make sure that no other controller in the cluster needs another release",
            wanted.maximum
        ),
        kubectl().words("apply --server-side -f").arg(format!(
            "https://github.com/kubernetes-sigs/gateway-api/releases/download/v{}/{channel}-install.yaml",
            wanted.maximum
        )),
    )
}
