//! The DaemonSets of linkerd-cni as its checks see them. Nothing here judges.

use crate::checks::Context;
use crate::finding::{Evidence, Subject, Tie};
use crate::item::Kind;
use crate::missing::Missing;
use crate::model::cni::{self, Installed};
use crate::objects::{DaemonSet, Pod, Workload};

/// The container that deletes pods which were made before the plugin was in place.
pub(super) const REPAIR: &str = "repair-controller";

/// The DaemonSets of linkerd-cni that are there, in any namespace. Reads `daemonsets.apps`.
///
/// # Errors
/// DaemonSets could not be had.
pub(super) fn installers<'a>(ctx: &Context<'a>) -> Result<Vec<&'a Workload>, Missing> {
    let sets = ctx.seen::<DaemonSet>()?;
    Ok(sets.iter().filter(|set| cni::is_installer(set)).collect())
}

/// What is installed, as far as pods and DaemonSets are there; that some are not is noted nowhere. Reads `pods` and
/// `daemonsets.apps`.
pub(super) fn installed<'a>(ctx: &Context<'a>) -> Installed<'a> {
    Installed::new(ctx.hints::<Pod>(), ctx.hints::<DaemonSet>())
}

/// What shows that nothing installs it.
pub(super) fn no_daemon_set() -> Evidence {
    Evidence::other("DaemonSets", "none of linkerd-cni in any namespace")
}

/// A DaemonSet as a subject.
pub(super) fn subject(set: &Workload) -> Subject {
    Subject::object(Kind::DaemonSet, &set.metadata.namespace, &set.metadata.name)
}

/// How a DaemonSet is called in evidence.
pub(super) fn shown(set: &Workload) -> String {
    format!("DaemonSet {}/{}", set.metadata.namespace, set.metadata.name)
}

/// What ties a cause on a node to the pods there whose traffic is not redirected.
pub(super) fn not_redirected(node: &str) -> Tie {
    Tie::Fact(format!("not redirected on {node}"))
}
