//! Shared parts of the annotation and native-sidecar checks: collects annotations on objects and the release
//! that reads them. Missing lists become gaps, and the rest is still evaluated.

use std::collections::BTreeMap;

use super::control_plane::installation::config;
use crate::annotations::may_be_linkerds;
use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::knowledge::Knowledge;
use crate::model::annotated::Annotated;
use crate::model::control_plane::{CORE, components, installed};
pub(super) use crate::model::injected::go_bool;
use crate::objects::{
    CronJob, DaemonSet, GRPCRoute, HTTPRoute, Job, KindOf, LinkerdHTTPRoute, Listed, ReplicaSet, Route, StatefulSet,
};

/// The kinds that create pods, and pods. Services are omitted: their annotations do not apply to pods.
pub(super) const MAKE_PODS: [Kind; 7] =
    [Kind::Namespace, Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::Job, Kind::CronJob, Kind::Pod];

/// The Linkerd version that reads the annotations.
pub(super) enum AnnotationReader {
    /// The version and its source.
    Version(LinkerdVersion, Evidence),
    /// A control plane exists or may exist, but its version is unknown; contains the missing evidence.
    Unknown(Missing),
    /// No control plane exists.
    Absent,
}

/// The release that decides, and its source: `2.18 (edge-25.4.4), from --linkerd-version`.
pub(super) fn of_release(ctx: &Context<'_>, version: &LinkerdVersion) -> Evidence {
    let said = match (AnnotationReader::new(ctx), &ctx.settings.linkerd_version) {
        (AnnotationReader::Version(_, source), Some(given)) if source.is_named("--linkerd-version") => {
            let release = match given == version {
                true => version.to_string(),
                false => format!("{given} ({version})"),
            };
            format!("{release}, from --linkerd-version")
        }
        _ => version.to_string(),
    };
    Evidence::other("Linkerd", said)
}

impl AnnotationReader {
    /// Reads the injector's image, then the chart values, then the other components.
    pub(super) fn new(ctx: &Context<'_>) -> AnnotationReader {
        let namespace = &ctx.namespaces().control_plane;
        let deployments = match ctx.partial_list::<Deployment>() {
            Ok(deployments) => deployments,
            Err(missing) => return AnnotationReader::Unknown(missing),
        };
        if let Some((version, evidence)) = installed(deployments, config(ctx).ok().flatten(), namespace) {
            return match ctx.upgraded() {
                Some(upgrade) => AnnotationReader::Version(upgrade.to.clone(), upgrade.evidence()),
                None => AnnotationReader::Version(version, evidence),
            };
        }
        if let Some(version) = &ctx.settings.linkerd_version {
            let evidence = Evidence::other("--linkerd-version", version.as_str());
            if let Some(upgrade) = ctx.upgraded() {
                return AnnotationReader::Version(upgrade.to.clone(), upgrade.evidence());
            }
            return AnnotationReader::Version(version.clone(), evidence);
        }
        let there = components(deployments, namespace).iter().any(|c| CORE.contains(&c.name));
        match ctx.complete_list::<Deployment>() {
            Ok(_) if there => AnnotationReader::Unknown(no_version(ctx)),
            Ok(_) => AnnotationReader::Absent,
            Err(missing) => AnnotationReader::Unknown(missing),
        }
    }

    /// The version, if it is known.
    pub(super) fn version(&self) -> Option<&LinkerdVersion> {
        match self {
            AnnotationReader::Version(version, _) => Some(version),
            AnnotationReader::Unknown(_) | AnnotationReader::Absent => None,
        }
    }

    /// The source of the version.
    pub(super) fn evidence(&self) -> Option<Evidence> {
        match self {
            AnnotationReader::Version(_, evidence) => Some(evidence.clone()),
            AnnotationReader::Unknown(_) | AnnotationReader::Absent => None,
        }
    }
}

/// The reason if no control plane can read a key.
pub(super) fn nothing_reads() -> Unjudged {
    Unjudged::not_applicable("there is no Linkerd control plane that could read an annotation")
}

/// The gap for a control plane image whose tag is not a version.
fn no_version(ctx: &Context<'_>) -> Missing {
    let message = "neither images nor labels of the control plane name a Linkerd version".to_owned();
    let request = crate::request::Request::new(crate::item::Item::List(Kind::Deployment));
    Missing::part(request, Why::Malformed { message }, format!("the version of {}", ctx.namespaces().control_plane))
}

/// The values of the control plane's installation, if available; those after the upgrade if one is rehearsed.
pub(super) fn values(ctx: &Context<'_>) -> Option<Values> {
    let config = config(ctx).ok()??;
    let values = config.chart_values()?;
    let installed = installed(ctx.optional_list::<Deployment>(), Some(config), &ctx.namespaces().control_plane);
    Some(ctx.upgraded_values(values, installed.as_ref().map(|(version, _)| version)))
}

fn workloads<'a>(ctx: &Context<'a>, list: KindOf<Workload>, objects: &mut Vec<Annotated<'a>>) -> Result<(), Missing> {
    let workloads = ctx.seen_of(list)?;
    objects.extend(workloads.iter().map(|workload| Annotated::workload(list.kind(), workload)));
    Ok(())
}

fn routes<'a>(kind: Kind, routes: &'a [Route], objects: &mut Vec<Annotated<'a>>) -> Result<(), Missing> {
    objects.extend(routes.iter().filter_map(|route| Annotated::route(kind, route)));
    Ok(())
}

/// The collected annotations.
pub(super) struct AnnotatedObjects<'a> {
    /// The objects to check, in the order of their kinds.
    pub(super) objects: Vec<Annotated<'a>>,
    /// Every namespace, checked or not.
    pub(super) namespaces: BTreeMap<&'a str, &'a Meta>,
    /// Whether they are from manifests that are only a part of a cluster.
    pub(super) is_of_manifests: bool,
}

impl<'a> AnnotatedObjects<'a> {
    /// All objects of these kinds in the checked namespaces. Namespaces are read from their list if it is
    /// available.
    pub(super) fn from_kinds(ctx: &Context<'a>, kinds: &[Kind]) -> AnnotatedObjects<'a> {
        let mut objects = Vec::new();
        let mut namespaces = BTreeMap::new();
        for &kind in kinds {
            let read = match kind {
                Kind::Namespace => ctx.partial_list::<Namespace>().map(|list| {
                    namespaces = list.iter().map(|n| (n.metadata.name.as_str(), &n.metadata)).collect();
                    objects.extend(list.iter().map(Annotated::namespace));
                }),
                Kind::Service => {
                    ctx.partial_list::<Service>().map(|list| objects.extend(list.iter().map(Annotated::service)))
                }
                Kind::Job => {
                    ctx.partial_list::<Job>().map(|list| objects.extend(list.iter().filter_map(Annotated::job)))
                }
                Kind::CronJob => {
                    ctx.partial_list::<CronJob>().map(|list| objects.extend(list.iter().map(Annotated::cron_job)))
                }
                Kind::Pod => {
                    ctx.partial_list::<Pod>().map(|list| objects.extend(list.iter().filter_map(Annotated::pod)))
                }
                // Absent routes are not evidence of anything.
                Kind::HTTPRoute => routes(kind, ctx.optional_list::<HTTPRoute>(), &mut objects),
                Kind::LinkerdHTTPRoute => routes(kind, ctx.optional_list::<LinkerdHTTPRoute>(), &mut objects),
                Kind::GRPCRoute => routes(kind, ctx.optional_list::<GRPCRoute>(), &mut objects),
                Kind::Deployment => workloads(ctx, Deployment::LIST, &mut objects),
                Kind::ReplicaSet => workloads(ctx, ReplicaSet::LIST, &mut objects),
                Kind::DaemonSet => workloads(ctx, DaemonSet::LIST, &mut objects),
                Kind::StatefulSet => workloads(ctx, StatefulSet::LIST, &mut objects),
                // Other kinds have no settings of Linkerd.
                _ => Ok(()),
            };
            _ = ctx.or_note(read);
        }
        objects.retain(|object| ctx.judges(object.namespace_name()));
        let is_of_manifests = kinds.contains(&Kind::Namespace)
            && ctx.complete_list::<Namespace>().is_err_and(|missing| missing.why == Why::NotInManifests);
        AnnotatedObjects { objects, namespaces, is_of_manifests }
    }

    /// The value of a namespace for a key; `None` for namespaces themselves.
    pub(super) fn of_namespace(&self, object: &Annotated<'_>, key: &str) -> Option<&'a str> {
        if object.kind == Kind::Namespace {
            return None;
        }
        self.namespaces.get(object.namespace_name())?.annotation(key)
    }
}

/// Whether a key is meant as the switch for native sidecars, spelled right or wrong. Only the checks of
/// native sidecars handle such keys.
pub(super) fn is_native_sidecar_key(key: &str, knowledge: &Knowledge) -> bool {
    let (native, annotations) = (knowledge.native_sidecar(), knowledge.annotations());
    knowledge.means_native_sidecar(key, || {
        native.is_native_sidecar_family(key)
            || (may_be_linkerds(key)
                && annotations.get(key).is_none()
                && annotations.nearest(key, |_| true).is_some_and(|near| native.is_native_sidecar_family(&near.key)))
    })
}
