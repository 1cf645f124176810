//! The DaemonSets of linkerd-cni, for its checks.

use crate::checks::prelude::*;
use crate::model::cni::{self, Installed};
use crate::objects::{DaemonSet, Event};

/// The container that deletes pods that were created before the plugin was ready.
pub(super) const REPAIR: &str = "repair-controller";

/// The DaemonSets of linkerd-cni in any namespace. Reads `daemonsets.apps`.
///
/// # Errors
/// DaemonSets are missing.
pub(super) fn installers<'a>(ctx: &Context<'a>) -> Result<Vec<&'a Workload>, Missing> {
    let sets = ctx.partial_list::<DaemonSet>()?;
    Ok(sets.iter().filter(|set| cni::is_installer(set)).collect())
}

/// The installed plugins, as far as pods and DaemonSets are known; missing ones are not noted as gaps. Reads
/// `pods` and `daemonsets.apps`.
pub(super) fn installed<'a>(ctx: &Context<'a>) -> Installed<'a> {
    Installed::new(ctx.optional_list::<Pod>(), ctx.optional_list::<DaemonSet>())
}

/// Evidence that no DaemonSet installs linkerd-cni.
pub(super) fn no_daemon_set() -> Evidence {
    Evidence::other("DaemonSets", "no linkerd-cni in any namespace")
}

/// A DaemonSet as a subject.
pub(super) fn subject(set: &Workload) -> Subject {
    Subject::object(Kind::DaemonSet, &set.metadata.namespace, &set.metadata.name)
}

/// The name of a DaemonSet in evidence.
pub(super) fn shown(set: &Workload) -> String {
    set.metadata.described("DaemonSet")
}

/// Ties a cause on a node to the pods there whose traffic is not redirected.
pub(super) fn not_redirected(node: &str) -> Tie {
    Tie::Fact(format!("not redirected on {node}"))
}

/// The newest event that Pod Security rejected a pod of a DaemonSet. Reads `events`, if available.
pub(super) fn refused_by_pod_security<'a>(ctx: &Context<'a>, set: &Workload) -> Option<&'a Event> {
    let meta = &set.metadata;
    let own = ctx.optional_list::<Event>().iter().filter(|event| {
        let about = &event.about;
        about.kind == "DaemonSet" && about.namespace == meta.namespace && about.name == meta.name
    });
    let refused = own.filter(|event| event.reason == "FailedCreate" && event.message.contains("PodSecurity"));
    refused.max_by_key(|event| event.last)
}

/// Ties the reason for which Pod Security rejects the pods of a DaemonSet to the nodes without them.
pub(super) fn pods_refused(set: &Workload) -> Tie {
    Tie::Fact(format!("pods of {} refused", shown(set)))
}
