//! Step of a walk for the control plane: whether the client's proxy can resolve the destination, and the
//! policy that the server's proxy applies while the policy controller is down.

use super::{Caller, Mesh, subject};
use crate::certificates::BundlePrint;
use crate::checks::Issuance;
use crate::finding::{Evidence, Subject};
use crate::inspect::steps::{Outcome, Part, Walk};
use crate::model::availability::{Availability, proxy_started};
use crate::model::installed::COMPONENT;
use crate::model::policy::{AuthorizedBy, Inbound, Index, TakenBy, Workload};
use crate::network_policy::Verdict;
use crate::network_policy::control_plane as network;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Kind, Meta, Pod};

/// The components that a proxy needs before it sends a call: component, container and port.
const NEEDED: [(&str, &str, u16); 2] = [("destination", "destination", 8086), ("destination", "policy", 8090)];

/// Maximum number of evidence lines of a finding that a step repeats.
const EVIDENCE: usize = 2;

/// The client's proxy and destination reject each other's certificates.
const DISTRUSTS_DESTINATION: &str = "the client's proxy has none of the current trust anchors, \
    and destination has only these: calls hang, unless the proxy already knows this target";

impl<'a> Mesh<'a> {
    /// Evaluates service discovery of the client's proxy. Returns `false` if it fails.
    pub(super) fn discovery(&self, walk: &mut Walk, caller: Caller<'_>) -> bool {
        if !caller.meshed || caller.pod.metadata.label(COMPONENT) == Some("destination") {
            return true;
        }
        if self.belongs_elsewhere(walk, caller.pod, true) {
            return true;
        }
        if self.is_stranded(walk, caller.pod, true) {
            return false;
        }
        if !self.trusts_destination(walk, caller.pod) {
            return true;
        }
        for (component, container, _) in NEEDED {
            if let Availability::Down { evidence, .. } = self.control_plane.state(component, container) {
                let name = format!("linkerd-{component}");
                if let Some(finding) = self.faults.of_component(component) {
                    let step = walk.step(Part::ControlPlane, Outcome::Partly, finding.message.clone());
                    // A deleted or scaled component has no container to name.
                    let is_named = finding.message.contains(&format!("container {container} "));
                    let has_pods = self.control_plane.pods_of(component).next().is_some();
                    step.evidence.extend(evidence.into_iter().filter(|_| has_pods && !is_named));
                    step.evidence.extend(finding.evidence.iter().take(EVIDENCE).cloned());
                    self.remedy(step, &finding.remedy);
                    return true;
                }
                let lacking = match self.control_plane.pods_of(component).next() {
                    None => format!("{name} has no pod"),
                    Some(_) => format!("the container {container} of {name} is not ready in any pod"),
                };
                let says = format!("{lacking}: calls hang, unless the client's proxy already knows this target");
                let step = walk.step(Part::ControlPlane, Outcome::Partly, says);
                step.evidence.extend(evidence);
                step.fix(format!("Repair {name}: read the state of its pods")).paste(self.states_of_control_plane());
                return true;
            }
        }
        if self.has_discovery_fault(walk) || self.is_cut_off(walk, caller.pod) {
            return true;
        }
        self.selectors_are_valid(walk) && self.network_lets_out(walk, caller.pod)
    }

    /// Records that a proxy has addresses or identities of another control plane: the environment of a container never
    /// changes, so it has neither endpoints nor policies of before.
    pub(super) fn is_stranded(&self, walk: &mut Walk, pod: &Pod, is_client: bool) -> bool {
        let Some(finding) = self.faults.of_stranded(pod) else { return false };
        let outcome = if is_client { Outcome::Stops } else { Outcome::NotJudged };
        let says = format!("pod {}: {}", pod.metadata.name, finding.message);
        let step = walk.step(Part::ControlPlane, outcome, says);
        step.evidence.extend(finding.evidence.iter().take(EVIDENCE).cloned());
        self.remedy(step, &finding.remedy);
        true
    }

    /// Records an error of the control plane that keeps destination from serving its clients, although its
    /// pods are ready.
    fn has_discovery_fault(&self, walk: &mut Walk) -> bool {
        let Some(finding) = self.faults.discovery.first() else { return false };
        let subject = finding.subjects.first().map(ToString::to_string).unwrap_or_default();
        let says =
            format!("{subject}: {}. Calls hang, unless the client's proxy already knows this target", finding.message);
        let step = walk.step(Part::ControlPlane, Outcome::Partly, says);
        step.evidence.extend(finding.evidence.iter().take(EVIDENCE).cloned());
        step.fix(format!("repair {}. This command prints the steps", finding.check))
            .paste(self.shown(&[finding.check]));
        true
    }

    /// Records that the client and destination share no trust anchor, or may share none. Returns `false` if they
    /// share none. Proxies of the control plane read theirs from a ConfigMap at startup, so their environment does
    /// not contain them.
    fn trusts_destination(&self, walk: &mut Walk, client: &Pod) -> bool {
        let (Some(ours), Some((theirs, evidence))) = (super::identity::anchors(client), &self.certificates.roots)
        else {
            return true;
        };
        if ours.overlaps(theirs) {
            return true;
        }
        let witness = self.has_current_destination(&ours, theirs);
        let (outcome, says) = match witness {
            Some(_) => (Outcome::Partly, DISTRUSTS_DESTINATION),
            None => (
                Outcome::NotJudged,
                "the client's proxy has none of the current trust anchors: every call hangs if \
                 linkerd-destination was restarted since they changed",
            ),
        };
        let step = walk
            .step(Part::ControlPlane, outcome, says)
            .evidence(Evidence::field(subject(client), super::identity::path(), ours.shown()))
            .evidence(evidence.clone());
        if let Some(witness) = witness {
            step.evidence(Evidence::field(subject(witness), "its proxy got a certificate", "ready"));
        }
        match witness {
            Some(_) => self.restart(step, &[client]),
            // The control plane may still have the old ones too: a new proxy would not accept its certificates.
            None => self.fix_in_order(step, Issuance::RESTARTED),
        }
        witness.is_none()
    }

    /// A ready pod that shows that destination has a certificate under other anchors than `ours`: its proxy trusts only
    /// the current anchors (`theirs`), and got its certificate from the running identity pods. Destination got its own
    /// from them if its proxy started after them.
    pub(super) fn has_current_destination(&self, ours: &BundlePrint, theirs: &BundlePrint) -> Option<&'a Pod> {
        let identity = self.control_plane.pods_of("identity");
        let since = identity.filter_map(|pod| pod.metadata.creation_timestamp.get()).min()?;
        let started_since = |pod: &Pod| proxy_started(pod).is_some_and(|started| started >= since);
        let mut destination = self.control_plane.pods_of("destination").peekable();
        destination.peek()?;
        if !destination.all(started_since) {
            return None;
        }
        self.policy.pods.iter().find(|pod| {
            let is_ready = pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.ready);
            let held = super::identity::anchors(pod).filter(|_| is_ready && started_since(pod));
            held.is_some_and(|held| held.overlaps(theirs) && !held.overlaps(ours))
        })
    }

    /// Whether destination returns endpoints: in some releases a single Server with an invalid selector
    /// prevents this.
    fn selectors_are_valid(&self, walk: &mut Walk) -> bool {
        if !self.policy.index.controller.quirks.selector_drops_endpoints {
            return true;
        }
        let invalid = self.servers.iter().find_map(|server| {
            let why = server.spec.pod_selector.as_ref()?.invalid()?;
            Some((server, why))
        });
        let Some((server, why)) = invalid else { return true };
        let meta = &server.metadata;
        let says = format!(
            "the podSelector of Server {}/{} is not valid: this release of destination then returns no \
             endpoints for any Service",
            meta.namespace, meta.name
        );
        let object = Subject::object(Kind::Server, &meta.namespace, &meta.name);
        walk.step(Part::ControlPlane, Outcome::Stops, says)
            .evidence(Evidence::field(object, "spec.podSelector", why))
            .fix(format!("correct or delete Server {}/{}", meta.namespace, meta.name));
        false
    }

    /// Whether network policies allow the client's proxy to reach the control plane. A proxy that became
    /// ready under them shows that they do.
    fn network_lets_out(&self, walk: &mut Walk, client: &Pod) -> bool {
        let ready_since = client
            .container_status(PROXY_CONTAINER)
            .filter(|status| status.ready)
            .and_then(|status| status.state.running()?.started_at.get());
        for (component, container, port) in NEEDED {
            let servers: Vec<&Pod> = self.control_plane.pods_of(component).collect();
            let asked = network::to_component(self.network.policies(), client, &servers, port);
            for (direction, passage) in asked {
                let Verdict::Shut(by) = passage else { continue };
                let is_older = |meta: &Meta| {
                    let created = meta.creation_timestamp.get();
                    meta.is_unchanged() && ready_since.zip(created).is_some_and(|(ready, created)| created < ready)
                };
                if by.iter().all(|one| is_older(one.policy.meta())) {
                    continue;
                }
                let says = format!(
                    "network policies block the client's proxy from {container} (port {port} of \
                     linkerd-{component}, {}): calls hang, unless the proxy already knows this target",
                    direction.field()
                );
                let step = walk.step(Part::Network, Outcome::Partly, says);
                for decides in &by {
                    step.evidence(super::super::network::evidence(decides));
                }
                step.fix(format!("allow port {port} of the pods of linkerd-{component} in one of these policies"));
                return true;
            }
        }
        true
    }

    /// The policy that the server's proxy applies: while the policy controller is down, the last known one,
    /// or only the default policy for a pod that started later. The second value is a text about this.
    pub(super) fn applied(
        &self,
        workload: &Workload<'a>,
        pod: &Pod,
        port: u16,
    ) -> (Inbound<'a>, Option<(Outcome, String)>) {
        let index: &Index<'a> = &self.policy.index;
        let mut inbound = index.inbound(workload, port);
        let Availability::Down { since, .. } = self.control_plane.state("destination", "policy") else {
            return (inbound, None);
        };
        let Some(since) = since else {
            let says = "the policy controller is not ready: the pod's proxy may not have this policy";
            return (inbound, Some((Outcome::NotJudged, says.to_owned())));
        };
        if proxy_started(pod).is_some_and(|started| started >= since) {
            let says = format!(
                "pod {} started after the policy controller stopped being ready ({since}): only its default \
                 policy applies",
                pod.metadata.name
            );
            return (index.by_default(workload, port), Some((Outcome::Passes, says)));
        }
        let newer = |meta: &Meta| meta.creation_timestamp.get().is_some_and(|created| created >= since);
        let held = match inbound.taken_by {
            TakenBy::Server(server) if newer(&server.metadata) => {
                inbound = index.by_default(workload, port);
                format!("Server {} is newer and does not apply", server.metadata.name)
            }
            _ => {
                inbound.authorizations.retain(|one| match one.by {
                    AuthorizedBy::Policy(policy) => !newer(&policy.metadata),
                    AuthorizedBy::Server(policy) => !newer(&policy.metadata),
                    AuthorizedBy::Default(_) | AuthorizedBy::Probe => true,
                });
                "later changes do not apply".to_owned()
            }
        };
        let says = format!(
            "the policy controller has not been ready since {since}: the pod's proxy keeps the policy of \
             that time; {held}"
        );
        (inbound, Some((Outcome::Passes, says)))
    }
}
