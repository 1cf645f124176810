//! Evaluates links between clusters from both ends: compares the settings of one cluster with the state of
//! the other. Reads the evidence of both; a link to a cluster without evidence is reported as not checked.

mod access;
mod gateway;
mod mirrors;
mod serving;

use std::collections::BTreeSet;
use std::fmt;

use crate::certificates::{Certificate, from_bundle};
use crate::command::meshdoctor;
use crate::finding::Severity;
use crate::item::{Item, Scope};
use crate::model::Cluster;
use crate::objects::service::MIRRORS_CLUSTER as CLUSTER;
use crate::objects::{ConfigMap, CustomResourceDefinition, Kind, Link, Listed, Namespace, Service, is_undefined};
use access::Access;
use serving::Serving;

const TRUST_ROOTS: &str = "linkerd-identity-trust-roots";
const CONFIG: &str = "linkerd-config";
/// The reason if the links of a cluster are unknown.
pub const UNREAD: &str = "its links could not be read";

/// The evidence that is read of each cluster.
pub fn items() -> BTreeSet<Item> {
    let config = |name: &str| Item::named(Kind::ConfigMap, Scope::ControlPlane, name);
    let lists = [Kind::Link, Kind::Service, Kind::Namespace, Kind::CustomResourceDefinition].map(Item::List);
    lists
        .into_iter()
        .chain(access::KINDS.map(Item::List))
        .chain(serving::KINDS.map(Item::List))
        .chain([config(TRUST_ROOTS), config(CONFIG)])
        .collect()
}

/// The evidence of one cluster about links. `None` means that it could not be read.
#[derive(Debug, Clone, Default)]
pub struct End {
    links: Option<Vec<Link>>,
    services: Option<Vec<Service>>,
    namespaces: Option<BTreeSet<String>>,
    anchors: Option<BTreeSet<String>>,
    domain: Option<String>,
    control_plane: String,
    access: Option<Access>,
    serving: Serving,
    uid: Option<String>,
}

/// Every object of a kind, if all of them are known.
fn list<K: Listed>(cluster: &Cluster) -> Option<Vec<K::Object>>
where
    K::Object: Clone,
{
    let answer = cluster.answer(&Item::List(K::KIND))?;
    (answer.fetched == crate::fetched::Fetched::Complete).then(|| answer.objects::<K::Object>().to_vec())
}

/// A mismatch between two clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Short identifier.
    pub check: &'static str,
    pub severity: Severity,
    /// The cluster with the link, and the target cluster.
    pub between: (String, String),
    /// The link: `linkerd-multicluster/east`.
    pub link: String,
    /// What is wrong.
    pub message: String,
    /// The evidence: the cluster and the fact.
    pub evidence: Vec<(String, String)>,
    /// What to do.
    pub fix: String,
}

/// The result for the links of all clusters.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// What does not fit.
    pub mismatches: Vec<Mismatch>,
    /// Links without a mismatch, as far as both ends could be read.
    pub fit: Vec<Line>,
    /// Links that could not be checked.
    pub unseen: Vec<Unseen>,
}

/// A link that could not be checked, or not in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// The link.
    pub line: Line,
    /// The reason.
    pub why: String,
    /// Whether requested evidence was unavailable, which affects the exit status. A cluster outside the run
    /// does not count.
    pub was_asked_for: bool,
}

/// A link: source cluster, name, and target cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The cluster with the link.
    pub from: String,
    /// `linkerd-multicluster/east`.
    pub link: String,
    /// The link's name for the target cluster.
    pub to: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {} (Link {})", self.from, self.to, self.link)
    }
}

impl End {
    /// Reads the evidence of a cluster.
    pub fn from_cluster(cluster: &Cluster) -> End {
        let config = |name: &str| -> Option<&ConfigMap> {
            let item = Item::named(Kind::ConfigMap, Scope::ControlPlane, name);
            cluster.answer(&item)?.objects().first()
        };
        let anchors = config(TRUST_ROOTS).and_then(|roots| from_bundle(roots.data.get("ca-bundle.crt")?).ok());
        let values = config(CONFIG).and_then(ConfigMap::chart_values);
        let namespaces = list::<Namespace>(cluster);
        let definitions = list::<CustomResourceDefinition>(cluster);
        let undefined = definitions.is_some_and(|all| is_undefined(&all, Kind::Link));
        End {
            links: list::<Link>(cluster).or_else(|| undefined.then(Vec::new)),
            services: list::<Service>(cluster),
            namespaces: namespaces.map(|all| all.iter().map(|one| one.metadata.name.to_string()).collect()),
            anchors: anchors.map(|anchors| anchors.iter().map(Certificate::print).collect()),
            domain: values.and_then(|values| values.text("clusterDomain").map(str::to_owned)),
            control_plane: cluster.namespaces.control_plane.clone(),
            access: Access::from_cluster(cluster),
            serving: Serving::from_cluster(cluster),
            uid: cluster.uid(),
        }
    }

    /// An identifier of the cluster, if known.
    pub fn uid(&self) -> Option<&str> {
        self.uid.as_deref()
    }
}

/// Evaluates every link against its target cluster, by the link's name for it. `failed` are the requested
/// clusters without evidence.
pub fn look(ends: &[(String, End)], failed: &[String]) -> Seen {
    let mut seen = Seen::default();
    for (name, end) in ends {
        let Some(links) = &end.links else {
            let line = Line { from: name.clone(), link: "all".to_owned(), to: "?".to_owned() };
            seen.unseen.push(Unseen { line, why: UNREAD.to_owned(), was_asked_for: true });
            continue;
        };
        for link in links {
            let target = &link.spec.target_cluster_name;
            let line = Line {
                from: name.clone(),
                link: format!("{}/{}", link.metadata.namespace, link.metadata.name),
                to: target.clone(),
            };
            let Some((_, other)) = ends.iter().find(|(other, _)| other == target) else {
                let was_asked_for = failed.contains(target);
                let why = match was_asked_for {
                    true => format!("{target} could not be checked"),
                    false => {
                        format!(
                            "no cluster of this run has the name {target}: rename its context or bundle \
                         that name"
                        )
                    }
                };
                seen.unseen.push(Unseen { line, why, was_asked_for });
                continue;
            };
            let pair = Pair { line: &line, here: end, there: other, link };
            let before = seen.mismatches.len();
            let unread = pair.look(&mut seen.mismatches);
            match unread.is_empty() {
                true if seen.mismatches.len() == before => seen.fit.push(line),
                true => {}
                false => {
                    let why = format!("could not be read: {}", unread.join(", "));
                    seen.unseen.push(Unseen { line, why, was_asked_for: true });
                }
            }
        }
    }
    seen.mismatches.sort_by_key(|mismatch| std::cmp::Reverse(mismatch.severity));
    seen
}

struct Pair<'a> {
    line: &'a Line,
    here: &'a End,
    there: &'a End,
    link: &'a Link,
}

impl Pair<'_> {
    /// Runs all comparisons for which evidence exists, and returns the missing evidence.
    fn look(&self, found: &mut Vec<Mismatch>) -> Vec<String> {
        let mut unread = Vec::new();
        match (&self.here.anchors, &self.there.anchors) {
            (Some(here), Some(there)) => found.extend(self.anchors(here, there)),
            (here, _) => unread
                .push(format!("the trust anchors of {}", if here.is_none() { &self.line.from } else { &self.line.to })),
        }
        match &self.there.domain {
            Some(domain) => found.extend(self.domain(domain)),
            None => unread.push(format!("linkerd-config of {}", self.line.to)),
        }
        found.extend(self.control_plane());
        match &self.there.access {
            Some(access) => found.extend(self.access(access)),
            None => unread.push(format!("the ServiceAccounts and roles of {}", self.line.to)),
        }
        match &self.there.services {
            Some(services) => {
                unread.extend(self.gateways(services, found));
                match (&self.here.services, &self.here.namespaces) {
                    (Some(own), Some(namespaces)) => found.extend(self.mirrors(own, services, namespaces)),
                    _ => unread.push(format!("the services of {}", self.line.from)),
                }
            }
            None => unread.push(format!("the services of {}", self.line.to)),
        }
        unread
    }

    fn mismatch(
        &self,
        check: &'static str,
        severity: Severity,
        message: String,
        evidence: [(&str, String); 2],
        fix: String,
    ) -> Mismatch {
        Mismatch {
            check,
            severity,
            between: (self.line.from.clone(), self.line.to.clone()),
            link: self.line.link.clone(),
            message,
            evidence: evidence.into_iter().map(|(cluster, said)| (cluster.to_owned(), said)).collect(),
            fix,
        }
    }

    fn anchors(&self, here: &BTreeSet<String>, there: &BTreeSet<String>) -> Option<Mismatch> {
        if !here.is_disjoint(there) {
            return None;
        }
        let (from, to) = (&self.line.from, &self.line.to);
        let shown = |prints: &BTreeSet<String>| {
            format!("trust anchors {}", prints.iter().cloned().collect::<Vec<_>>().join(", "))
        };
        Some(self.mismatch(
            "anchors-not-shared",
            Severity::Error,
            format!(
                "{from} and {to} share no trust anchor: their proxies reject each other's \
             certificates, and every call over the link fails"
            ),
            [(from, shown(here)), (to, shown(there))],
            format!(
                "Give both clusters a bundle with the anchors of both, then restart both control \
             planes and their meshed workloads; {} prints the steps",
                meshdoctor().words("check --context").arg(from.as_str()).words("--probe")
            ),
        ))
    }

    fn domain(&self, there: &str) -> Option<Mismatch> {
        let said = &self.link.spec.target_cluster_domain;
        if said == there || said.is_empty() {
            return None;
        }
        let (from, to) = (&self.line.from, &self.line.to);
        Some(self.mismatch(
            "cluster-domain-differs",
            Severity::Error,
            format!(
                "the Link states the cluster domain {said} for {to}, but it is {there}: the names \
             requested for its services do not exist there"
            ),
            [
                (from, format!("Link {} spec.targetClusterDomain: {said}", self.line.link)),
                (to, format!("linkerd-config clusterDomain: {there}")),
            ],
            self.link_again(),
        ))
    }

    fn control_plane(&self) -> Option<Mismatch> {
        let said = &self.link.spec.target_cluster_linkerd_namespace;
        let there = &self.there.control_plane;
        if said.is_empty() || said == there {
            return None;
        }
        let (from, to) = (&self.line.from, &self.line.to);
        Some(self.mismatch(
            "control-plane-namespace-differs",
            Severity::Error,
            format!(
                "the Link looks for the control plane of {to} in {said}, but it is in {there}: \
             endpoints there cannot be requested"
            ),
            [
                (from, format!("Link {} spec.targetClusterLinkerdNamespace: {said}", self.line.link)),
                (to, format!("its control plane is in {there}")),
            ],
            self.link_again(),
        ))
    }

    fn link_again(&self) -> String {
        let (from, to) = (&self.line.from, &self.line.to);
        format!(
            "Create the Link again from the current state of {to}: linkerd --context {to} multicluster \
             link-gen --cluster-name {to} | kubectl --context {from} apply -f - (link, in commands before \
             2.18)"
        )
    }
}
