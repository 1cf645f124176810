//! Whether components of the control plane are available to proxies, by the state of their pods.

use jiff::{SignedDuration, Timestamp};

use super::installed::COMPONENT;
use super::pod_status;
use crate::finding::{Evidence, Subject};
use crate::knowledge::go_duration;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Kind, Pod, Workload};

/// The defaults of the chart.
const LIFETIME: SignedDuration = SignedDuration::from_hours(24);
const SKEW: SignedDuration = SignedDuration::from_secs(20);

/// The control-plane components that proxies depend on, by their pods.
pub struct ControlPlane<'a> {
    namespace: &'a str,
    pods: Vec<&'a Pod>,
    /// Whether all of its pods are known.
    complete: bool,
}

/// The availability of a component.
pub enum Availability<'a> {
    /// A container of it is ready, or nothing shows that none is.
    Ready,
    /// No container of it is ready.
    Down {
        /// Since when, if known.
        since: Option<Timestamp>,
        evidence: Vec<Evidence>,
        namespace: &'a str,
    },
}

impl<'a> ControlPlane<'a> {
    /// Indexes pods. `complete`: there are no others.
    pub fn new(pods: &'a [Pod], namespace: &'a str, complete: bool) -> ControlPlane<'a> {
        let own = |pod: &&Pod| {
            pod.metadata.namespace == namespace && pod.metadata.label(COMPONENT).is_some() && !pod.is_finished()
        };
        ControlPlane { namespace, pods: pods.iter().filter(own).collect(), complete }
    }

    /// The pods of a component.
    pub fn pods_of(&self, component: &str) -> impl Iterator<Item = &'a Pod> {
        let component = component.to_owned();
        self.pods.iter().copied().filter(move |pod| pod.metadata.label(COMPONENT) == Some(&component))
    }

    /// Whether a container of a component is ready in any pod.
    pub fn state(&self, component: &str, container: &str) -> Availability<'a> {
        let namespace = self.namespace;
        let pods: Vec<&Pod> = self.pods_of(component).collect();
        if pods.is_empty() {
            let name = format!("pods of linkerd-{component} in namespace {namespace}");
            return match self.complete {
                true => Availability::Down { since: None, evidence: vec![Evidence::other(name, "none")], namespace },
                false => Availability::Ready,
            };
        }
        if !self.complete {
            return Availability::Ready;
        }
        let mut evidence = Vec::new();
        let mut since = Some(Timestamp::MIN);
        for pod in pods {
            match pod.container_status(container) {
                Some(status) if status.ready => return Availability::Ready,
                Some(_) => {
                    let said = pod_status::label(pod);
                    let path = format!("status.containerStatuses[{container}].ready");
                    evidence.push(Evidence::field(
                        Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name),
                        path,
                        format!("false ({said})"),
                    ));
                }
                // A pod without any status is pending, or comes from a dump without statuses.
                None if pod.status.phase.is_empty() => return Availability::Ready,
                None => {
                    let phase = pod.status.phase.to_string();
                    evidence.push(Evidence::field(
                        Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name),
                        "status.phase",
                        phase,
                    ));
                }
            }
            let ready = pod.condition("Ready").filter(|ready| ready.status != "True");
            let changed = ready.and_then(|ready| ready.last_transition_time.get());
            since = since.zip(changed).map(|(known, changed)| known.max(changed));
        }
        Availability::Down { since, evidence, namespace }
    }
}

/// When a pod's proxy started, if known; otherwise when the pod was created.
pub fn proxy_started(pod: &Pod) -> Option<Timestamp> {
    let status = pod.container_status(PROXY_CONTAINER);
    let started = status.and_then(|status| status.state.running()?.started_at.get());
    started.or(pod.metadata.creation_timestamp.get())
}

/// The lifetime of issued certificates with its allowance for clock skew, from identity's arguments.
pub fn certificate_lifetime(deployments: &[Workload], namespace: &str) -> SignedDuration {
    let identity = deployments.iter().find(|one| one.metadata.key() == (namespace, "linkerd-identity"));
    let args = identity.and_then(|one| Some(&one.spec.template.spec.container("identity")?.args));
    let argument = |flag: &str| {
        let said = args?.iter().find_map(|arg| arg.trim_start_matches('-').strip_prefix(flag)?.strip_prefix('='))?;
        go_duration(said)
    };
    let lifetime = argument("identity-issuance-lifetime").unwrap_or(LIFETIME);
    lifetime.saturating_add(argument("identity-clock-skew-allowance").unwrap_or(SKEW))
}
