//! Problems of the control plane that keep proxies from endpoints or policies although destination is ready,
//! for commands that answer a single question.

use crate::checks::prelude::*;
use crate::checks::serving::component_missing;
use crate::checks::{Check, Settings, certificates, control_plane, data_plane, evaluate, policy};
use crate::knowledge::Knowledge;
use crate::model::Cluster;

/// The checks of [`CallFaults`]. All but the last five keep destination from serving its clients.
const CHECKS: [&str; 11] = [
    "control-plane-rbac-missing",
    "control-plane-service-missing",
    DEFINITIONS,
    SERVER,
    OF_ALL[0],
    OF_ALL[1],
    UNREADY,
    NETWORK,
    UNCERTIFIED,
    STRANDED,
    PROXY,
];
/// The check of network policies that block the proxies of applications.
const NETWORK: &str = "network-policy-blocks-proxy";
/// The check of components without a ready pod.
const UNREADY: &str = "control-plane-not-ready";
/// The checks whose errors concern the connections of all proxies, those to destination among them.
const OF_ALL: [&str; 2] = ["control-plane-domains-differ", "issuer-named-like-anchor"];
/// The check of Servers that authorize no client.
const SERVER: &str = "server-without-authorization";
/// The check of proxies that identity does not certify.
const UNCERTIFIED: &str = "proxy-trust-domain-differs";
/// The check of proxies with addresses or identities of another control plane.
const STRANDED: &str = "proxy-control-plane-differs";
/// The check of proxies that are not ready.
const PROXY: &str = "proxy-not-ready";
/// The check of the CRDs.
const DEFINITIONS: &str = "crd-missing";
/// The component that proxies read endpoints and policies from.
const COMPONENT: &str = "destination";

/// Errors of checks that calls through the mesh depend on.
pub struct CallFaults {
    /// Those that keep destination from serving its clients.
    pub discovery: Vec<Finding>,
    /// Those about components without a ready pod; their subjects are Deployments.
    pub unready: Vec<Finding>,
    /// Findings about network policies that block proxies of applications.
    pub network: Vec<Finding>,
    /// Those about proxies that identity does not certify; their subjects name the pods.
    uncertified: Vec<Finding>,
    /// Those about proxies that do not find or accept the control plane; their subjects name the pods.
    stranded: Vec<Finding>,
    /// Those about proxies that are not ready; their subjects name the pods.
    proxies: Vec<Finding>,
}

impl CallFaults {
    /// The check of ExternalWorkloads that provide no endpoint.
    pub const OF_EXTERNAL: &str = "external-workload-without-endpoint";

    /// Evaluates the checks.
    pub fn read(cluster: &Cluster, knowledge: &Knowledge) -> CallFaults {
        let all = [control_plane::TABLE, certificates::TABLE, policy::TABLE, data_plane::TABLE].into_iter().flatten();
        let checks: Vec<&'static Check> = all.filter(|check| CHECKS.contains(&check.id)).collect();
        let results = evaluate(&checks, cluster, knowledge, &Settings::default());
        let found = results.into_iter().flat_map(|result| result.findings);
        let (network, found): (Vec<Finding>, Vec<Finding>) = found.partition(|finding| finding.check == NETWORK);
        let (proxies, found): (Vec<Finding>, Vec<Finding>) =
            found.into_iter().partition(|finding| finding.check == PROXY);
        let errors = found.into_iter().filter(|finding| finding.severity == Severity::Error);
        let (uncertified, others): (Vec<Finding>, Vec<Finding>) =
            errors.partition(|finding| finding.check == UNCERTIFIED);
        let (stranded, others): (Vec<Finding>, Vec<Finding>) =
            others.into_iter().partition(|finding| finding.check == STRANDED);
        let (unready, mut discovery): (Vec<Finding>, Vec<Finding>) =
            others.into_iter().partition(|finding| finding.check == UNREADY);
        // Every cluster has roles, and every mesh has CRDs: without any, the evidence is a part of a cluster.
        let has = |kind| cluster.answer(&Item::List(kind)).is_some_and(|answer| answer.count() > 0);
        let is_whole = has(Kind::ClusterRole) && has(Kind::CustomResourceDefinition);
        let home = cluster.namespaces.control_plane.as_str();
        discovery.retain(|finding| is_whole && concerns_destination(finding, home));
        CallFaults { discovery, unready, network, uncertified, stranded, proxies }
    }

    /// The finding about a component without a ready pod: `identity`.
    pub fn of_component(&self, component: &str) -> Option<&Finding> {
        let name = format!("linkerd-{component}");
        let is_own = |subject: &Subject| matches!(subject, Subject::Object { name: of, .. } if *of == name);
        self.unready.iter().find(|finding| finding.subjects.iter().any(is_own))
    }

    /// The finding about the proxy of a pod that is not ready.
    pub fn of_proxy(&self, pod: &Pod) -> Option<&Finding> {
        about(&self.proxies, pod)
    }

    /// The finding about a pod whose proxy does not find or accept the control plane.
    pub fn of_stranded(&self, pod: &Pod) -> Option<&Finding> {
        about(&self.stranded, pod)
    }

    /// The finding about a pod whose proxy identity does not certify.
    pub fn of_uncertified(&self, pod: &Pod) -> Option<&Finding> {
        about(&self.uncertified, pod)
    }
}

/// The finding whose subjects name a pod.
fn about<'f>(findings: &'f [Finding], pod: &Pod) -> Option<&'f Finding> {
    let (home, own) = pod.metadata.key();
    let is_own = |subject: &Subject| match subject {
        Subject::Object { namespace, name, pods, .. } => {
            namespace == home && (name == own || pods.iter().any(|pod| pod == own))
        }
        _ => false,
    };
    findings.iter().find(|finding| finding.subjects.iter().any(is_own))
}

/// Whether a finding concerns destination: by its ties or its namespace (`home`), or because every controller watches
/// the kinds of the CRDs.
fn concerns_destination(finding: &Finding, home: &str) -> bool {
    if finding.check == SERVER {
        let is_own = |subject: &Subject| matches!(subject, Subject::Object { namespace, .. } if namespace == home);
        return finding.subjects.iter().any(is_own);
    }
    let refused = Tie::Fact(format!("component-refused:{COMPONENT}"));
    finding.check == DEFINITIONS
        || OF_ALL.contains(&finding.check)
        || finding.ties.contains(&component_missing(COMPONENT))
        || finding.ties.contains(&refused)
}
