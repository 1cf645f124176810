//! The version that the others are measured against: that of the installed control plane.

use crate::checks::Context;
use crate::finding::Evidence;
use crate::item::{Item, Kind, Scope};
use crate::missing::Missing;
use crate::model::control_plane::{components, installed as version};
use crate::model::objects::{ConfigMap, Workload};
use crate::source::Why;
use crate::version::LinkerdVersion;

/// The installed version and where it is seen; `None` when no control plane is installed. Reads Deployments, and
/// `linkerd-config` where it is there.
///
/// # Errors
/// Deployments could not be had, or nothing about the control plane states a version.
pub(super) fn installed(ctx: &Context<'_>) -> Result<Option<(LinkerdVersion, Evidence)>, Missing> {
    let deployments = ctx.seen::<Workload>(Kind::Deployment)?;
    let config =
        ctx.named::<ConfigMap>(Kind::ConfigMap, Scope::ControlPlane, "linkerd-config").ok().flatten();
    let namespace = &ctx.namespaces().control_plane;
    if components(deployments, namespace).is_empty() {
        ctx.every::<Workload>(Kind::Deployment)?;
        return Ok(None);
    }
    match version(deployments, config, namespace) {
        Some(found) => Ok(Some(found)),
        None => Err(ctx.lacking(
            Item::List(Kind::Deployment),
            Why::Malformed {
                message: "no image, label or annotation of it states a Linkerd version".to_owned(),
            },
            "the control plane's version",
        )),
    }
}

/// `one minor`, `three minors`: distances between versions in words.
pub(super) fn minors(distance: u32) -> String {
    match distance {
        1 => "one minor".to_owned(),
        2 => "two minors".to_owned(),
        3 => "three minors".to_owned(),
        more => format!("{more} minors"),
    }
}
