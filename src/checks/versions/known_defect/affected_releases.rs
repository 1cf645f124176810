//! The versions that decide whether a defect applies: of the control plane, of the proxies, of the service mirrors.

use std::collections::BTreeMap;

use crate::checks::prelude::*;
use crate::finding::Confidence;
use crate::knowledge::{AffectedComponent, KnownDefect};
use crate::model::control_plane::{proxy_version, tag_version};
use crate::version::Contains;

/// The label of an extension's objects.
const EXTENSION: &str = "linkerd.io/extension";
/// The containers of service mirrors, in old and new versions of the extension.
const MIRRORS: [&str; 2] = ["service-mirror", "controller"];

/// A version that has a defect.
#[derive(Debug, Clone)]
pub(super) struct Deciding {
    pub(super) version: LinkerdVersion,
    pub(super) evidence: Evidence,
}

/// The versions of a run.
pub(super) struct Releases {
    control_plane: Deciding,
    /// Running proxies.
    proxies: Vec<Deciding>,
    /// All proxies, also of finished pods.
    past_proxies: Vec<Deciding>,
    mirrors: Vec<Deciding>,
    /// The target, in the evaluation after the upgrade.
    target: Option<Deciding>,
}

impl Releases {
    /// Reads `pods` and `deployments.apps`.
    pub(super) fn new(ctx: &Context<'_>, version: LinkerdVersion, evidence: Evidence) -> Releases {
        let target =
            ctx.upgraded().map(|upgrade| Deciding { version: upgrade.to.clone(), evidence: upgrade.evidence() });
        let control_plane = Deciding { version, evidence };
        let pods = ctx.or_note(ctx.partial_list::<Pod>()).unwrap_or_default();
        let running = pods.iter().filter(|pod| !pod.is_finished());
        Releases {
            control_plane,
            proxies: proxies(running),
            past_proxies: proxies(pods.iter()),
            mirrors: mirrors(ctx),
            target,
        }
    }

    /// The version that has a defect, if any, and whether it surely has it.
    pub(super) fn affected(&self, ctx: &Context<'_>, row: &KnownDefect) -> Option<(Deciding, Confidence)> {
        let minors = ctx.knowledge.minors();
        if row.occurs_with(&self.control_plane.version, minors) != Contains::Yes {
            return None;
        }
        let control_plane = std::slice::from_ref(&self.control_plane);
        let reads_objects = row.trigger.as_ref().is_some_and(|trigger| !trigger.reads_pods());
        let all = match (row.decides, &self.target) {
            (AffectedComponent::ControlPlane, _) => control_plane,
            // The upgrade of the control plane does not change running proxies.
            (AffectedComponent::Proxy, target) if target.is_none() || row.is_of_skew() => {
                // Without a running proxy, the next pod gets the one of the control plane.
                match (reads_objects, self.proxies.is_empty()) {
                    (false, _) => &self.past_proxies,
                    (true, false) => &self.proxies,
                    (true, true) => control_plane,
                }
            }
            (AffectedComponent::ServiceMirror, None) => &self.mirrors,
            (AffectedComponent::ServiceMirror, Some(_)) if self.mirrors.is_empty() => &[],
            (_, Some(target)) => std::slice::from_ref(target),
            (AffectedComponent::Proxy, None) => &self.proxies,
        };
        let likely = all.iter().filter_map(|one| Some((one.clone(), row.affects(&one.version, minors)?)));
        likely.max_by_key(|(_, confidence)| *confidence)
    }

    /// Whether the proxy of one pod has or may have a defect, or the target's.
    pub(super) fn of_pod(ctx: &Context<'_>, row: &KnownDefect, pod: &Pod) -> bool {
        let version = match ctx.upgraded() {
            Some(upgrade) => Some(upgrade.to.clone()),
            None => proxy_version(pod),
        };
        version.is_some_and(|version| row.affects(&version, ctx.knowledge.minors()).is_some())
    }
}

/// The versions of the pods' proxies, with an example and their number.
fn proxies<'p>(pods: impl Iterator<Item = &'p Pod>) -> Vec<Deciding> {
    let mut by_version: BTreeMap<String, (LinkerdVersion, &Pod, usize)> = BTreeMap::new();
    for pod in pods {
        if let Some(version) = proxy_version(pod) {
            let entry = by_version.entry(version.as_str().to_owned()).or_insert_with(|| (version, pod, 0));
            entry.2 += 1;
        }
    }
    let deciding = by_version.into_values().map(|(version, pod, count)| {
        let (namespace, name) = pod.metadata.key();
        let image = pod.spec.proxy().map_or("", |proxy| proxy.image.as_str());
        let more = if count > 1 { format!(" ({count} pods)") } else { String::new() };
        let evidence = Evidence::field(
            format!("Pod {namespace}/{name}"),
            "spec.containers[linkerd-proxy].image",
            format!("{image}{more}"),
        );
        Deciding { version, evidence }
    });
    deciding.collect()
}

/// The versions of service mirrors.
fn mirrors(ctx: &Context<'_>) -> Vec<Deciding> {
    let of_extension = |deployment: &&crate::objects::Workload| {
        deployment.metadata.label(EXTENSION) == Some("multicluster")
            || deployment.metadata.label("component").is_some_and(|part| part == "linkerd-service-mirror")
    };
    let deployments = ctx.optional_list::<Deployment>().iter().filter(of_extension);
    let deciding = deployments.filter_map(|deployment| {
        let mut containers = deployment.spec.template.spec.containers.iter();
        let container = containers.find(|container| MIRRORS.contains(&container.name.as_str()))?;
        let (namespace, name) = deployment.metadata.key();
        let evidence = Evidence::field(
            format!("Deployment {namespace}/{name}"),
            format!("spec.template.spec.containers[{}].image", container.name),
            container.image.to_string(),
        );
        Some(Deciding { version: tag_version(container)?, evidence })
    });
    deciding.collect()
}
