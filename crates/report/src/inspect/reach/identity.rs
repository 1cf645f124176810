//! Step of a walk for certificates: whether the proxies of both ends accept each other.

use jiff::{SignedDuration, Timestamp};

use super::{Mesh, subject};
use crate::certificates::{BundlePrint, Certificate, Validity, from_base64_bundle, from_bundle};
use crate::fetched::Fetched;
use crate::finding::{Evidence, Subject};
use crate::inspect::steps::{Outcome, Part, Walk};
use crate::item::{Item, Scope};
use crate::model::Cluster;
use crate::model::availability::{Availability, ControlPlane, certificate_lifetime, proxy_started};
use crate::model::cluster::TimeSource;
use crate::objects::container::TRUST_ANCHORS;
use crate::objects::{ConfigMap, Deployment, Kind, Pod, Secret};

/// The Secret of the issuer.
const ISSUER: &str = "linkerd-identity-issuer";

/// The evidence for valid proxy certificates.
pub(super) struct Certificates {
    /// The validity of the issuer and its evidence; `None` if the issuer could not be read.
    issuer: Option<(Validity, Evidence)>,
    /// The end of the last trust anchor, if no certificate that was issued before it can still be valid.
    anchors_ended: Option<Evidence>,
    /// The current trust anchors and their location.
    pub(super) roots: Option<(BundlePrint, Evidence)>,
    /// Whether the issuer is unknown.
    pub(super) unseen: bool,
    /// Lifetime of certificates, including the allowance for clock skew.
    lifetime: SignedDuration,
    at: Timestamp,
    /// Whether `at` is this machine's clock, for evidence without a capture time.
    by_clock: bool,
}

/// The ConfigMap of the trust anchors.
const TRUST_ROOTS: &str = "linkerd-identity-trust-roots";

/// The item of that ConfigMap.
pub(in crate::inspect) fn roots_item() -> Item {
    Item::named(Kind::ConfigMap, Scope::ControlPlane, TRUST_ROOTS)
}

/// The item of the issuer's Secret.
pub(in crate::inspect) fn issuer_item() -> Item {
    Item::named(Kind::Secret, Scope::ControlPlane, ISSUER)
}

impl Certificates {
    /// Reads them.
    pub(super) fn read(cluster: &Cluster) -> Certificates {
        let answer = cluster.answer(&issuer_item());
        let secret = answer.and_then(|answer| answer.objects::<Secret>().first());
        let unseen = answer.is_none_or(|answer| secret.is_none() && answer.fetched != Fetched::Complete);
        let issuer = secret.and_then(|secret| {
            let (key, text) = ["crt.pem", "tls.crt"].into_iter().find_map(|key| Some((key, secret.data.get(key)?)))?;
            let chain = from_base64_bundle(text).ok()?;
            let certificate = chain.first()?;
            let object = Subject::object(Kind::Secret, &secret.metadata.namespace, ISSUER);
            let said = format!("valid until {}", certificate.not_after());
            Some((certificate.validity(cluster.at), Evidence::field(object, format!("data[{key}]"), said)))
        });
        let by_clock = cluster.time_source == TimeSource::Clock && !cluster.live;
        let lifetime = lifetime(cluster);
        let roots = cluster.answer(&roots_item()).and_then(|answer| answer.objects::<ConfigMap>().first());
        let anchors_ended = roots.and_then(|roots| {
            let ends = from_bundle(roots.data.get("ca-bundle.crt")?).ok()?;
            let last = ends.iter().map(Certificate::not_after).max()?;
            let object = Subject::object(Kind::ConfigMap, &roots.metadata.namespace, TRUST_ROOTS);
            let said = format!("valid until {last}");
            // Identity verifies its issuer before it signs, so no certificate is younger.
            (cluster.at.duration_since(last) > lifetime).then(|| Evidence::field(object, "data[ca-bundle.crt]", said))
        });
        let roots = roots.and_then(|roots| {
            let print = BundlePrint::from_pem(roots.data.get("ca-bundle.crt")?);
            let object = Subject::object(Kind::ConfigMap, &roots.metadata.namespace, TRUST_ROOTS);
            let evidence = Evidence::field(object, "data[ca-bundle.crt]", print.shown());
            Some((print, evidence)).filter(|(print, _)| !print.is_empty())
        });
        Certificates { issuer, anchors_ended, roots, unseen, lifetime, at: cluster.at, by_clock }
    }

    /// Whether no proxy, or no proxy of one of these pods, can have a valid certificate, with the evidence.
    fn expired(&self, control_plane: &ControlPlane<'_>, pods: [&Pod; 2]) -> Option<Expired> {
        if let Some((what, evidence)) = self.ended() {
            let is_foreign = |pod: &Pod| {
                let held = anchors(pod).zip(self.roots.as_ref());
                held.is_some_and(|(held, (roots, _))| !held.overlaps(roots))
            };
            let known = !pods.into_iter().all(is_foreign);
            let says = match known {
                true => {
                    format!("{what} expired, and with it the certificates of all proxies that depend on it")
                }
                false => format!(
                    "{what} expired. These proxies have none of the current trust anchors, so their certificates may \
                     come from another issuer"
                ),
            };
            return Some(Expired { known, says, evidence: vec![evidence.clone()] });
        }
        let Availability::Down { since, evidence, .. } = control_plane.state("identity", "identity") else {
            return None;
        };
        let Some(since) = since else { return self.perhaps_expired(pods, evidence) };
        let old = control_plane.pods_of("identity").filter_map(|pod| pod.metadata.creation_timestamp.get()).max();
        // A proxy that is older than the identity pods may have a certificate from other settings.
        let by_these = |pod: &&Pod| proxy_started(pod).zip(old).is_some_and(|(started, old)| started >= old);
        let away = self.at.duration_since(since);
        let renewed = self.lifetime.checked_mul(3).unwrap_or(self.lifetime) / 10;
        if away < renewed {
            return None;
        }
        let pod = pods.into_iter().find(by_these).filter(|_| away > self.lifetime);
        let says = match pod {
            Some(pod) => format!(
                "the certificate of pod {} has expired, because identity has not been ready since {since}",
                pod.metadata.name
            ),
            None => {
                format!("identity has not been ready since {since}: certificates of proxies may have expired")
            }
        };
        Some(Expired { known: pod.is_some(), says, evidence })
    }

    /// The certificate whose end ended those of the proxies, with its evidence.
    fn ended(&self) -> Option<(&'static str, &Evidence)> {
        match (&self.issuer, &self.anchors_ended) {
            (Some((Validity::Over, evidence)), _) => Some(("the issuer's certificate has", evidence)),
            (_, Some(evidence)) => Some(("the trust anchor of the mesh has", evidence)),
            _ => None,
        }
    }

    /// Identity is away for an unknown time. Proxies that started within the lifetime of a certificate still
    /// have a valid one.
    fn perhaps_expired(&self, pods: [&Pod; 2], evidence: Vec<Evidence>) -> Option<Expired> {
        let is_older =
            |pod: &&Pod| proxy_started(pod).is_none_or(|started| self.at.duration_since(started) > self.lifetime);
        let pod = pods.into_iter().find(is_older)?;
        let says = format!(
            "identity has no ready pod, and nothing shows since when: the certificate of pod {} may have expired",
            pod.metadata.name
        );
        Some(Expired { known: false, says, evidence })
    }
}

/// Expired certificates, known or possible.
struct Expired {
    known: bool,
    says: String,
    evidence: Vec<Evidence>,
}

/// The lifetime of issued certificates.
fn lifetime(cluster: &Cluster) -> SignedDuration {
    certificate_lifetime(cluster.list::<Deployment>(), &cluster.namespaces.control_plane)
}

/// The trust anchors in the environment of a pod's proxy, if known.
pub(super) fn anchors(pod: &Pod) -> Option<BundlePrint> {
    // The stored value of the variable is the fingerprint of its certificates.
    let print: BundlePrint = pod.spec.proxy()?.env_value(TRUST_ANCHORS)?.parse().ok()?;
    Some(print).filter(|print| !print.is_empty())
}

/// The field of the anchors.
pub(super) fn path() -> String {
    format!("containers[linkerd-proxy].env[{TRUST_ANCHORS}]")
}

impl Mesh<'_> {
    /// Evaluates whether the proxies of client and server accept each other. Returns `false` if they do not.
    pub(super) fn identities(&self, walk: &mut Walk, client: &Pod, server: &Pod) -> bool {
        if let Some(mut expired) = self.certificates.expired(&self.control_plane, [client, server]) {
            if self.certificates.by_clock {
                expired.known = false;
                expired.says.push_str("; the evidence does not state when it was collected: give --at");
            }
            let outcome = if expired.known { Outcome::Stops } else { Outcome::NotJudged };
            let says = match expired.known {
                true => format!("{}: {}", expired.says, self.calls.certificate_expired),
                false => expired.says,
            };
            let step = walk.step(Part::Identity, outcome, says);
            step.evidence.extend(expired.evidence);
            if expired.known {
                match (self.fix_first(step), self.faults.of_component("identity")) {
                    (true, _) => {}
                    (false, Some(finding)) => self.remedy(step, &finding.remedy),
                    (false, None) => {
                        step.fix("Repair linkerd-identity: read the state of its pods")
                            .paste(self.states_of_control_plane());
                    }
                }
                return false;
            }
        } else {
            self.new_certificates(walk);
        }
        self.are_certified(walk, [client, server]);
        match (anchors(client), anchors(server)) {
            (Some(ours), Some(theirs)) if !ours.overlaps(&theirs) => {
                // Without discovery, the client's proxy connects only to targets that it knows.
                let roots = self.certificates.roots.as_ref().map(|(roots, _)| roots);
                let is_cut_off = roots
                    .is_some_and(|roots| !ours.overlaps(roots) && self.has_current_destination(&ours, roots).is_some());
                let lead = match is_cut_off {
                    true => "if the client's proxy knows the target, the call gets ",
                    false => "",
                };
                let says = format!(
                    "the proxies of client and server share no trust anchor, so neither accepts the other's \
                     certificate: {lead}{}",
                    self.calls.anchors_disjoint
                );
                let is_current = |held: &BundlePrint| {
                    self.certificates.roots.as_ref().is_some_and(|(roots, _)| held.overlaps(roots))
                };
                let ends = [(client, &ours), (server, &theirs)];
                let mut stale: Vec<&Pod> =
                    ends.iter().filter(|(_, held)| !is_current(held)).map(|(pod, _)| *pod).collect();
                // Both have a current anchor, but different ones of the bundle: new pods get the whole
                // bundle.
                if stale.is_empty() {
                    stale = vec![client, server];
                }
                let step = walk
                    .step(Part::Identity, Outcome::Stops, says)
                    .evidence(Evidence::field(subject(client), path(), ours.shown()))
                    .evidence(Evidence::field(subject(server), path(), theirs.shown()));
                self.restart(step, &stale);
                return false;
            }
            (Some(_), Some(_)) if self.certificates.unseen => {
                let says = "both proxies share a trust anchor; the evidence does not show whether the \
                 issuer has expired";
                walk.step(Part::Identity, Outcome::NotJudged, says);
            }
            (Some(_), Some(_)) => {
                walk.step(Part::Identity, Outcome::Passes, "both proxies share a trust anchor");
            }
            _ => {
                let says = "the trust anchors of the proxies are not in their environment";
                walk.step(Part::Identity, Outcome::NotJudged, says);
            }
        }
        true
    }

    /// Records whose proxy identity does not certify.
    fn are_certified(&self, walk: &mut Walk, pods: [&Pod; 2]) {
        for pod in pods {
            let Some(finding) = self.faults.of_uncertified(pod) else { continue };
            let says = format!("pod {}: {}", pod.metadata.name, finding.message);
            let step = walk.step(Part::Identity, Outcome::Partly, says);
            step.evidence.extend(finding.evidence.iter().take(2).cloned());
            self.restart(step, &[pod]);
        }
    }

    /// Records a reason why identity cannot issue certificates: running proxies keep theirs until expiry.
    fn new_certificates(&self, walk: &mut Walk) {
        for finding in &self.issuance.obstacles {
            let says = format!(
                "identity issues no certificates, at the latest after its next restart ({}): the call works as long as \
                 both proxies hold valid ones",
                finding.check
            );
            let step = walk.step(Part::Identity, Outcome::NotJudged, says);
            step.evidence.extend(finding.evidence.iter().take(1).cloned());
            self.fix_first(step);
        }
    }
}
