//! How long a component of the control plane has been unavailable, and what that means for certificates.

use jiff::{SignedDuration, Timestamp};

use crate::checks::prelude::*;
use crate::model::availability::certificate_lifetime;
use crate::model::control_plane::Component;
use crate::model::pod_status::lost_readiness;

/// The time without enough available pods.
#[derive(Clone, Copy)]
pub(super) struct Outage {
    since: Timestamp,
    /// Its length at the evaluation time.
    pub length: SignedDuration,
    /// Whether the Deployment's condition states the time.
    pub is_reported: bool,
}

impl Outage {
    pub fn evidence(self, component: &Component<'_>) -> Evidence {
        let meta = &component.deployment.metadata;
        let object = meta.described("Deployment");
        match self.is_reported {
            true => Evidence::field(object, "status.conditions[Available]", format!("False since {}", self.since)),
            false => Evidence::other(format!("Pods of {object}"), format!("none ready since {}", self.since)),
        }
    }
}

/// Since when a component has been unavailable: by its Deployment, else by the pods, of which none is ready.
pub(super) fn outage(ctx: &Context<'_>, component: &Component<'_>, own: &[&Pod]) -> Option<Outage> {
    let reported = component.deployment.unavailable_since();
    let changed = |pod: &&Pod| {
        let lost = lost_readiness(pod, None);
        lost.or(pod.metadata.creation_timestamp.get())
    };
    let none_ready = component.deployment.status.ready_replicas == 0;
    let by_pods = || own.iter().filter(|_| none_ready).filter_map(changed).max();
    let since = reported.or_else(by_pods)?;
    Some(Outage { since, length: ctx.now().duration_since(since), is_reported: reported.is_some() })
}

/// The lifetime of certificates, if identity has been down for longer, so that no proxy has a valid one.
pub(super) fn expired(ctx: &Context<'_>, component: &Component<'_>, down: Option<Outage>) -> Option<SignedDuration> {
    let deployments = ctx.optional_list::<Deployment>();
    let lifetime = certificate_lifetime(deployments, &ctx.namespaces().control_plane);
    (component.name == "identity" && down?.length > lifetime).then_some(lifetime)
}
