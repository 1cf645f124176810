//! `meshdoctor policy`: the policy controller's result for the ports of workloads, and objects without
//! effect.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value, json};

use super::evidence::PolicyEvidence;
use super::steps::place_and_port;
use crate::checks::KNOWN_DEFECT;
use crate::command::meshdoctor;
use crate::item::Item;
use crate::missing::Missing;
use crate::model::owners::{Owners, workload_of};
use crate::model::policy::{Ignored, Inbound, TakenBy, Workload, to_json};
use crate::model::skipped::{IN, skipped, skipped_subnets};
use crate::names;
use crate::objects::{Kind, Pod, ProbePort, Server};

/// The port of the proxy's own metrics and probes.
pub const ADMIN: u16 = 4191;
/// The annotation of ports without protocol detection.
const OPAQUE: &str = "config.linkerd.io/opaque-ports";

/// A target of the command: the pods of a namespace, one pod, or one of its ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub namespace: String,
    /// A pod or an ExternalWorkload; `None` means all of the namespace.
    pub workload: Option<String>,
    /// A port; `None` means all known ones.
    pub port: Option<u16>,
}

/// A text that is not a workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a NAMESPACE, NAMESPACE/NAME or NAMESPACE/NAME:PORT")]
pub struct NoTarget(pub String);

impl FromStr for Target {
    type Err = NoTarget;

    fn from_str(text: &str) -> Result<Target, NoTarget> {
        let refused = || NoTarget(text.to_owned());
        let (place, port) = place_and_port(text).ok_or_else(refused)?;
        let (namespace, workload) = match place.split_once('/') {
            Some((namespace, workload)) => (namespace, Some(workload.to_owned())),
            None => (place, None),
        };
        let named = names::NameRule::Label.accepts(namespace)
            && workload.as_deref().is_none_or(|name| names::NameRule::Subdomain.accepts(name));
        if !named || port.is_some() && workload.is_none() {
            return Err(refused());
        }
        Ok(Target { namespace: namespace.to_owned(), workload, port })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.namespace)?;
        if let Some(workload) = &self.workload {
            write!(f, "/{workload}")?;
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        Ok(())
    }
}

impl Target {
    fn means(&self, namespace: &str, name: &str) -> bool {
        self.namespace == namespace && self.workload.as_deref().is_none_or(|workload| workload == name)
    }
}

/// Whether the targets include a workload; without targets all are included.
pub fn means(targets: &[Target], namespace: &str, name: &str) -> bool {
    targets.is_empty() || targets.iter().any(|target| target.means(namespace, name))
}

/// The targets, with each workload replaced by its pods: those of a Deployment, StatefulSet, DaemonSet, Job
/// or any other owner of pods.
pub fn resolved(evidence: &PolicyEvidence<'_>, targets: &[Target]) -> Vec<Target> {
    let owners = Owners::new(&[], &[]);
    let of_workload = |target: &Target| -> Vec<Target> {
        let Some(name) = target.workload.as_deref() else { return vec![target.clone()] };
        let here = || evidence.pods.iter().filter(|pod| pod.metadata.namespace == target.namespace);
        let externals = || evidence.external.iter().map(|it| it.metadata.key());
        if here().any(|pod| pod.metadata.name == name)
            || externals().any(|key| key == (target.namespace.as_str(), name))
        {
            return vec![target.clone()];
        }
        let own = here().filter(|pod| !pod.is_finished() && owners.owner(pod).name == name);
        let pods: Vec<Target> =
            own.map(|pod| Target { workload: Some(pod.metadata.name.clone()), ..target.clone() }).collect();
        if pods.is_empty() { vec![target.clone()] } else { pods }
    };
    targets.iter().flat_map(of_workload).collect()
}

/// The targets that match nothing.
pub fn lost<'t>(evidence: &PolicyEvidence<'_>, targets: &'t [Target]) -> Vec<&'t Target> {
    let pods = evidence.pods.iter().map(|pod| &pod.metadata);
    let keys: Vec<(&str, &str)> =
        pods.chain(evidence.external.iter().map(|it| &it.metadata)).map(|meta| meta.key()).collect();
    targets.iter().filter(|target| !keys.iter().any(|(namespace, name)| target.means(namespace, name))).collect()
}

/// A suggestion for a target without a match: the first pod of a workload of that name, or a similar name.
pub fn near(evidence: &PolicyEvidence<'_>, target: &Target) -> Option<Target> {
    let pods = evidence.pods.iter().map(|pod| &pod.metadata);
    let Some(name) = target.workload.as_deref() else {
        let near = crate::nearest::closest(&target.namespace, pods.map(|meta| &*meta.namespace))?;
        return Some(Target { namespace: near, ..target.clone() });
    };
    let here = pods.chain(evidence.external.iter().map(|it| &it.metadata));
    let here = here.filter(|meta| meta.namespace == target.namespace);
    let mut names: Vec<&str> = here.map(|meta| meta.name.as_str()).collect();
    names.sort_unstable();
    let owners = Owners::new(&[], &[]);
    let own = evidence.pods.iter().filter(|pod| pod.metadata.namespace == target.namespace);
    let workloads: BTreeSet<String> = own.map(|pod| owners.owner(pod).name).collect();
    let of_workload = names.iter().find(|pod| pod.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')));
    let near = match of_workload {
        Some(pod) => (*pod).to_owned(),
        None => {
            let known = workloads.iter().map(String::as_str);
            crate::nearest::closest(name, known.chain(names.iter().copied()))?
        }
    };
    Some(Target { workload: Some(near), ..target.clone() })
}

/// One port of a workload.
pub struct PortAnswer<'a> {
    pub port: u16,
    pub names: Vec<&'a str>,
    /// Its policy.
    pub inbound: Inbound<'a>,
    /// Whether the proxies of clients carry connections to it as opaque: a Server that declares HTTP denies them.
    pub opaque_to_clients: bool,
    /// Other Servers that select it, but are overridden by an older one.
    pub passed_over: Vec<&'a Server>,
    /// Whether the pod's connections to it skip the proxy, so that no policy applies.
    pub skips_proxy: bool,
    /// The client addresses whose connections skip the proxy, as written; empty: none.
    pub skips_from: String,
}

/// Pods with equal answers, or an ExternalWorkload, with their ports.
pub struct WorkloadAnswer<'a> {
    /// `Pod` or `ExternalWorkload`.
    pub kind: Kind,
    pub namespace: &'a str,
    /// The names of these pods.
    pub names: Vec<&'a str>,
    /// Their owner, if any: kind and name.
    pub owner: Option<(&'a str, &'a str)>,
    /// Their ports; `None` if the controller does not know the pods because they are not injected.
    pub ports: Option<Vec<PortAnswer<'a>>>,
}

/// The answers for the targets, by workload.
pub fn answers<'a>(evidence: &PolicyEvidence<'a>, targets: &[Target]) -> Vec<WorkloadAnswer<'a>> {
    let mut alike: BTreeMap<(&str, String), WorkloadAnswer<'a>> = BTreeMap::new();
    for pod in evidence.pods {
        let (namespace, name) = pod.metadata.key();
        if pod.is_finished() || !means(targets, namespace, name) {
            continue;
        }
        let owner = workload_of(&pod.metadata);
        let ports = evidence.workload(pod).map(|workload| {
            let ports = known_ports(&workload, pod, evidence);
            requested_ports(ports, targets, namespace, name)
                .into_iter()
                .map(|port| port_answer(evidence, &workload, pod, port))
                .collect::<Vec<_>>()
        });
        // Without a target, pods that are not injected are omitted.
        if ports.is_none() && targets.is_empty() {
            continue;
        }
        let said = ports.as_ref().map(|ports| fingerprint(ports)).unwrap_or_default();
        let who = owner.map_or_else(|| name.to_owned(), |(kind, name)| format!("{kind} {name}"));
        let answer = alike.entry((namespace, format!("{who} {said}"))).or_insert(WorkloadAnswer {
            kind: Kind::Pod,
            namespace,
            names: Vec::new(),
            owner,
            ports,
        });
        answer.names.push(name);
    }
    let mut answers: Vec<WorkloadAnswer<'a>> = alike.into_values().collect();
    for external in evidence.external {
        let (namespace, name) = external.metadata.key();
        if !means(targets, namespace, name) {
            continue;
        }
        let workload = Workload::of_external(external);
        let mut ports: BTreeSet<u16> = external.spec.ports.iter().map(|port| port.port).collect();
        ports.extend(evidence.index.taken_ports(&workload));
        let answer = |port| PortAnswer {
            port,
            names: workload.names_of(port).collect(),
            inbound: evidence.index.inbound(&workload, port),
            opaque_to_clients: evidence.index.is_opaque_to_clients(&workload, port),
            passed_over: passed_over(evidence, &workload, port),
            skips_proxy: false,
            skips_from: String::new(),
        };
        let ports = requested_ports(ports, targets, namespace, name).into_iter().map(answer).collect();
        answers.push(WorkloadAnswer {
            kind: Kind::ExternalWorkload,
            namespace,
            names: vec![name],
            owner: None,
            ports: Some(ports),
        });
    }
    // Applications first, Linkerd's own workloads last.
    let own = linkerds(evidence);
    answers.sort_by_key(|answer| own.contains(answer.namespace));
    answers
}

/// The objects without an effect in the namespaces of the answers, with the reason.
pub fn without_effect<'e, 'a>(
    evidence: &'e PolicyEvidence<'a>,
    answers: &[WorkloadAnswer<'_>],
) -> Vec<(Kind, (&'a str, &'a str), Cow<'e, str>)> {
    let here = |namespace: &str| answers.iter().any(|answer| answer.namespace == namespace);
    let by_itself = evidence.index.ignored().iter().map(|one: &Ignored<'a>| (one.kind, one.key, one.why.as_str()));
    let namespaces: BTreeSet<&str> = answers.iter().map(|answer| answer.namespace).collect();
    let policies = || namespaces.iter().flat_map(|namespace| evidence.index.policies(namespace));
    let dangling =
        policies().filter_map(|(policy, why)| Some((Kind::AuthorizationPolicy, policy.metadata.key(), why?)));
    let refused = evidence.refused.iter().map(|(kind, key, why)| (*kind, *key, why.as_str()));
    let known = by_itself.chain(refused).filter(|(_, (namespace, _), _)| here(namespace)).chain(dangling);
    let mut nothing: Vec<_> = known.map(|(kind, key, why)| (kind, key, Cow::from(why))).collect();
    let untargeted = policies().filter(|(policy, _)| {
        let target = &policy.spec.target_ref;
        let mut servers = evidence.index.servers(&policy.metadata.namespace).iter();
        target.is_a("policy.linkerd.io", "Server") && !servers.any(|read| read.server.metadata.name == target.name)
    });
    nothing.extend(untargeted.map(|(policy, _)| {
        let why = format!("its target, Server {}, does not exist", policy.spec.target_ref.name);
        (Kind::AuthorizationPolicy, policy.metadata.key(), Cow::from(why))
    }));
    nothing.extend(unselecting(evidence, &namespaces));
    nothing
}

/// The Servers of namespaces that select no running pod.
fn unselecting<'a>(
    evidence: &PolicyEvidence<'a>,
    namespaces: &BTreeSet<&str>,
) -> Vec<(Kind, (&'a str, &'a str), Cow<'static, str>)> {
    // Pods that are not known may be selected.
    let is_unknown = |gap: &Missing| gap.request.item == Item::List(Kind::Pod);
    if evidence.gaps.iter().any(is_unknown) {
        return Vec::new();
    }
    let quirks = evidence.index.controller.quirks;
    let of_pods = evidence.pods.iter().filter_map(|pod| Workload::of_pod(pod, quirks));
    let workloads: Vec<Workload<'a>> = of_pods.chain(evidence.external.iter().map(Workload::of_external)).collect();
    let selecting: HashSet<*const Server> = workloads
        .iter()
        .flat_map(|workload| evidence.index.selecting_at_any_port(workload))
        .map(|read| std::ptr::from_ref(read.server))
        .collect();
    let servers = namespaces.iter().flat_map(|namespace| evidence.index.servers(namespace));
    let idle = servers.filter(|read| !selecting.contains(&std::ptr::from_ref(read.server)));
    idle.map(|read| {
        let selector = read.server.spec.pod_selector.as_ref();
        let why = match selector.and_then(|selector| selector.invalid()) {
            Some(why) => match &evidence.selector_defect {
                Some((id, title)) => {
                    let check = meshdoctor().words("check --only").arg(format!("{KNOWN_DEFECT}/{id}"));
                    format!("its selector is invalid: {why}. Known defect of this release: {title}: {check}")
                }
                None => format!("its selector is invalid: {why}"),
            },
            None => "it selects no pod and no ExternalWorkload".to_owned(),
        };
        (Kind::Server, read.server.metadata.key(), Cow::from(why))
    })
    .collect()
}

/// The namespaces of the control plane and of the extensions.
fn linkerds<'e>(evidence: &'e PolicyEvidence<'_>) -> BTreeSet<&'e str> {
    let of_extension = |pod: &&Pod| pod.metadata.label(EXTENSION).is_some();
    let extensions = evidence.pods.iter().filter(of_extension).map(|pod| pod.metadata.namespace.as_str());
    extensions.chain([evidence.index.controller.namespace.as_str()]).collect()
}

/// The label of the workloads of an extension.
const EXTENSION: &str = "linkerd.io/extension";

/// The requested ports, or all known ones.
fn requested_ports(known: BTreeSet<u16>, targets: &[Target], namespace: &str, name: &str) -> BTreeSet<u16> {
    let here: Vec<&Target> = targets.iter().filter(|target| target.means(namespace, name)).collect();
    if here.is_empty() || here.iter().any(|target| target.port.is_none()) {
        let named = here.iter().filter_map(|target| target.port);
        return known.into_iter().chain(named).collect();
    }
    here.iter().filter_map(|target| target.port).collect()
}

/// The known ports of a pod: declared ports, ports of probes, ports of Servers, and the proxy's own.
fn known_ports<'a>(workload: &Workload<'a>, pod: &'a Pod, evidence: &PolicyEvidence<'a>) -> BTreeSet<u16> {
    let named = declared(pod);
    let proxy = pod.spec.proxy().map(|_| ADMIN);
    let taken = evidence.index.taken_ports(workload);
    named.into_iter().chain(workload.probes.iter().map(|(port, _)| *port)).chain(proxy).chain(taken).collect()
}

fn declared(pod: &Pod) -> BTreeSet<u16> {
    // The proxy's own ports are not application ports, except for its metrics.
    let own = |container: &&crate::objects::Container| !container.name.starts_with("linkerd-");
    let containers = pod.spec.all_containers().filter(own);
    let tcp = |port: &&crate::objects::container::ContainerPort| port.protocol.is_empty() || port.protocol == "TCP";
    containers.flat_map(|container| container.ports.iter().filter(tcp)).map(|port| port.container_port).collect()
}

fn port_answer<'a>(evidence: &PolicyEvidence<'a>, workload: &Workload<'a>, pod: &'a Pod, port: u16) -> PortAnswer<'a> {
    let names = pod.spec.all_containers().flat_map(|container| &container.ports);
    let mut names: Vec<&str> = names
        .filter(|named| named.container_port == port && !named.name.is_empty())
        .map(|named| named.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    PortAnswer {
        port,
        names,
        inbound: evidence.index.inbound(workload, port),
        opaque_to_clients: evidence.index.is_opaque_to_clients(workload, port),
        passed_over: passed_over(evidence, workload, port),
        skips_proxy: skipped(pod, IN, &evidence.cni).is_some_and(|skipped| skipped.holds(port)),
        skips_from: skipped_subnets(pod, port, &evidence.cni).map(|subnets| subnets.list()).unwrap_or_default(),
    }
}

fn passed_over<'a>(evidence: &PolicyEvidence<'a>, workload: &Workload<'a>, port: u16) -> Vec<&'a Server> {
    evidence.index.selecting(workload, port).skip(1).map(|read| read.server).collect()
}

/// A key that is equal for pods with equal answers.
fn fingerprint(ports: &[PortAnswer<'_>]) -> String {
    let each = ports
        .iter()
        .map(|port| format!("{}={}{}{}", port.port, to_json(&port.inbound), port.skips_proxy, port.skips_from));
    each.collect::<Vec<_>>().join(" ")
}

/// The Server that selects a port, as a table cell.
pub fn taken_by(inbound: &Inbound<'_>) -> String {
    match inbound.taken_by {
        TakenBy::Server(server) => format!("Server {}", server.metadata.name),
        TakenBy::Default(_) => "none".to_owned(),
    }
}

/// All ports that containers, probes or Servers of a namespace mention.
fn ports_of(evidence: &PolicyEvidence<'_>, namespace: &str) -> BTreeSet<u16> {
    let mut ports: BTreeSet<u16> =
        evidence.index.servers(namespace).iter().filter_map(|read| read.port().parse().ok()).collect();
    let here = evidence.pods.iter().filter(|pod| pod.metadata.namespace == namespace);
    for container in here.flat_map(|pod| pod.spec.all_containers()) {
        ports.extend(container.ports.iter().map(|port| port.container_port));
        ports.extend(container.http_probes().filter_map(|probe| match probe.port {
            Some(ProbePort::Number(number)) => u16::try_from(number).ok(),
            _ => None,
        }));
    }
    ports
}

/// The answers in the controller's format: `{"inbound": {"ns/pod": {"port": answer}}}` for every requested
/// pod; `{"error": "NOT_FOUND"}` for unknown ones.
pub fn as_controller(evidence: &PolicyEvidence<'_>, targets: &[Target]) -> Value {
    let mut inbound = Map::new();
    let mut by_namespace: BTreeMap<&str, BTreeSet<u16>> = BTreeMap::new();
    for pod in evidence.pods {
        let (namespace, name) = pod.metadata.key();
        if !means(targets, namespace, name) {
            continue;
        }
        let workload = evidence.workload(pod);
        let mut ports = by_namespace.entry(namespace).or_insert_with(|| ports_of(evidence, namespace)).clone();
        if pod.metadata.annotation(OPAQUE).is_some() {
            ports.extend(&evidence.index.controller.opaque_ports);
        }
        ports.insert(ADMIN);
        if let Some(workload) = &workload {
            ports.extend(evidence.index.taken_ports(workload));
        }
        let answer = |port: u16| match &workload {
            Some(workload) => to_json(&evidence.index.inbound(workload, port)),
            None => json!({"error": "NOT_FOUND"}),
        };
        let ports = requested_ports(ports, targets, namespace, name).into_iter();
        let answers: Map<String, Value> = ports.map(|port| (port.to_string(), answer(port))).collect();
        inbound.insert(format!("{namespace}/{name}"), Value::Object(answers));
    }
    let mut external = Map::new();
    for object in evidence.external {
        let (namespace, name) = object.metadata.key();
        if !means(targets, namespace, name) {
            continue;
        }
        let workload = Workload::of_external(object);
        let mut ports: BTreeSet<u16> = object.spec.ports.iter().map(|port| port.port).collect();
        ports.extend(evidence.index.taken_ports(&workload));
        let ports = requested_ports(ports, targets, namespace, name).into_iter();
        let answers: Map<String, Value> =
            ports.map(|port| (port.to_string(), to_json(&evidence.index.inbound(&workload, port)))).collect();
        external.insert(format!("{namespace}/{name}"), Value::Object(answers));
    }
    let mut document = json!({ "inbound": inbound });
    if !external.is_empty() {
        document["external_workloads"] = Value::Object(external);
    }
    document
}
