//! The values bound in the expressions of a rule: the object, its namespace and owner, known facts about
//! the cluster, and the mesh model's results for its objects. Unknown facts are not bound, so an expression
//! that reads one has no value.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::chart::values::Values;
use crate::checks::admission::Rules;
use crate::checks::control_plane::installation::installed;
use crate::checks::policy;
use crate::checks::prelude::*;
use crate::expression::{Known, KnownPorts, NoValue, Scope};
use crate::item::Scope as Place;
use crate::model::injection::{Admission, Decision, INJECT, effective};
use crate::model::owners::Owners;
use crate::model::policy::{Authorization, Inbound, TakenBy, Who, Workload};
use crate::objects::{PodSpec, PodTemplate};
use crate::redact;

/// The annotation that sets the default inbound policy, for ports that no Server selects.
const POLICY: &str = "config.linkerd.io/default-inbound-policy";

/// Known facts about a cluster.
pub(super) const CLUSTER: [&str; 6] = ["linkerd", "linkerdMinor", "kubernetes", "controlPlane", "cni", "trustDomain"];

/// The parts of the mesh model that an expression uses.
#[derive(Debug, Clone, Copy)]
pub(super) struct EvidenceNeeds {
    /// Whether pods are injected, and with which default policy.
    pub(super) injection: bool,
    /// The policy of ports.
    pub(super) policy: bool,
}

/// The values bound for a run.
pub(super) struct Bindings<'a> {
    kind: Kind,
    owners: &'a Owners<'a>,
    namespaces: BTreeMap<&'a str, &'a Namespace>,
    /// Whether all of them were read.
    knows_namespaces: bool,
    /// Known facts about the cluster.
    pub(super) cluster: Value,
    /// The mesh model's results for its objects.
    pub(super) known: Known,
}

impl<'a> Bindings<'a> {
    /// For the objects of a rule: evaluates the model only if the rule uses it.
    pub(super) fn new(ctx: &Context<'a>, kind: Kind, asks: EvidenceNeeds) -> Bindings<'a> {
        let namespaces = ctx.optional_list::<Namespace>().iter().map(|one| (one.metadata.name.as_str(), one)).collect();
        let known = if asks.injection { known(ctx, kind) } else { Known::default() };
        let ports = if asks.policy { ports(ctx) } else { BTreeMap::new() };
        let known = Known { ports, ..known };
        let knows_namespaces = ctx.complete_list::<Namespace>().is_ok();
        Bindings { kind, owners: ctx.owners(), namespaces, knows_namespaces, cluster: cluster(ctx), known }
    }

    /// Whether an object is selected (`-n`).
    pub(super) fn is_judged(&self, ctx: &Context<'_>, object: &Value) -> bool {
        !self.kind.info().namespaced || ctx.judges(text(object, "namespace"))
    }

    /// `Deployment shop/web`.
    pub(super) fn object_name(&self, object: &Value) -> String {
        Subject::object(self.kind, self.namespace(object), text(object, "name")).to_string()
    }

    fn namespace<'o>(&self, object: &'o Value) -> &'o str {
        if self.kind.info().namespaced { text(object, "namespace") } else { "" }
    }

    /// Binds the values of an object, and returns the subject of its finding.
    pub(super) fn bind(&self, scope: &mut Scope<'_>, object: &Value) -> Result<Subject, NoValue> {
        scope.bind("object", object)?;
        let (namespace, name) = (self.namespace(object), text(object, "name"));
        if let Some(home) = self.namespaces.get(namespace) {
            let metadata = &home.metadata;
            let home = json!({"metadata": {
                "name": metadata.name, "labels": *metadata.labels, "annotations": *metadata.annotations,
            }});
            scope.bind("namespaceObject", &home)?;
        } else if !namespace.is_empty() && !self.knows_namespaces {
            scope.leave("namespaceObject", NoValue::NoNamespace);
        }
        let pod: Option<Pod> = match self.kind {
            Kind::Pod => serde_json::from_value(object.clone()).ok(),
            _ => None,
        };
        let (subject, owner) = match pod.map(|pod| self.owners.owner(&pod)) {
            Some(owner) => {
                let pods = vec![name.to_owned()];
                let bound = json!({"kind": owner.kind, "namespace": owner.namespace, "name": owner.name});
                (owner.subject(pods), bound)
            }
            None => {
                let bound = json!({"kind": self.kind.info().kind, "namespace": namespace, "name": name});
                (Subject::object(self.kind, namespace, name), bound)
            }
        };
        scope.bind("owner", &owner)?;
        Ok(subject)
    }
}

fn text<'o>(object: &'o Value, field: &str) -> &'o str {
    object["metadata"][field].as_str().unwrap_or_default()
}

fn cluster(ctx: &Context<'_>) -> Value {
    let mut cluster = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            cluster.insert(name.to_owned(), value);
        }
    };
    let version = installed(ctx).ok().flatten().map(|(version, _)| version);
    let minor = version.as_ref().and_then(|version| version.minor(ctx.knowledge.minors()));
    put("linkerd", version.map(|version| json!(version.as_str())));
    put("linkerdMinor", minor.map(|minor| json!(minor.to_string())));
    put("kubernetes", ctx.server_version().ok().map(|version| json!(version.to_string())));
    put("controlPlane", Some(json!(ctx.namespaces().control_plane)));
    let config = ctx.object::<ConfigMap>(Place::ControlPlane, "linkerd-config").ok().flatten();
    if let Some(values) = config.and_then(ConfigMap::chart_values) {
        put("cni", Some(json!(values.bool("cniEnabled").unwrap_or_default())));
        let domain = values.written("identityTrustDomain").filter(|domain| !domain.is_empty());
        put("trustDomain", domain.or_else(|| values.written("clusterDomain")).map(Value::String));
    }
    Value::Object(cluster)
}

/// The inbound policy of pod ports: those that containers declare, and those that Servers select.
fn ports(ctx: &Context<'_>) -> BTreeMap<(String, String), KnownPorts> {
    let Ok(survey) = policy::survey(ctx) else { return BTreeMap::new() };
    let of_pod = |(pod, workload): &(&Pod, Workload<'_>)| {
        let is_tcp = |protocol: &str| protocol.is_empty() || protocol == "TCP";
        let listed = pod.spec.containers.iter().flat_map(|container| &container.ports);
        let listed = listed.filter(|port| port.container_port > 0 && is_tcp(&port.protocol));
        let mut all: BTreeSet<u16> = listed.map(|port| port.container_port).collect();
        all.extend(workload.ports.iter().map(|(_, port)| port));
        all.extend(survey.index.taken_ports(workload));
        let policies = all.into_iter().map(|port| (port, of_port(&survey.index.inbound(workload, port))));
        let mut names: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
        for (name, port) in &workload.ports {
            names.entry((*name).to_owned()).or_default().insert(*port);
        }
        let (namespace, name) = pod.metadata.key();
        let known = KnownPorts { policies: policies.collect(), names };
        ((namespace.to_owned(), name.to_owned()), known)
    };
    survey.pods.iter().map(of_pod).collect()
}

fn of_port(inbound: &Inbound<'_>) -> Value {
    let authorization = |one: &Authorization<'_>| {
        let (who, identities) = match &one.who {
            Who::Anybody => ("anybody", Vec::new()),
            Who::Meshed => ("meshed", Vec::new()),
            Who::Identities(all) => ("identities", all.iter().map(ToString::to_string).collect()),
        };
        let networks: Vec<String> = one.networks.iter().map(ToString::to_string).collect();
        json!({"name": one.by.name(), "who": who, "identities": identities, "networks": networks})
    };
    let mut said = json!({
        "protocol": inbound.protocol.label(),
        "routes": inbound.routes.len(),
        "authorizations": inbound.authorizations.iter().map(authorization).collect::<Vec<_>>(),
    });
    match inbound.taken_by {
        TakenBy::Server(server) => said["server"] = json!(server.metadata.name),
        TakenBy::Default(default) => said["default"] = json!(default.as_str()),
    }
    said
}

/// The rules of admission, with the values of the control plane if they are known. Manifests seldom contain
/// the injector's webhook: the one that the chart installs is assumed.
fn admission<'a>(ctx: &Context<'a>) -> Option<(Admission<'a>, Option<Values>)> {
    match Rules::from_context(ctx) {
        Ok(rules) => Some((rules.admission, rules.values)),
        Err(missing) if missing.why == Why::NotInManifests => {
            let namespaces = ctx.partial_list::<Namespace>().ok()?;
            Some((Admission::new(namespaces, None, None), None))
        }
        Err(_) => None,
    }
}

/// The model's results for every object of a kind that creates pods.
fn known(ctx: &Context<'_>, kind: Kind) -> Known {
    let mut known = Known::default();
    let Ok(objects) = ctx.whole(kind) else { return known };
    let rules = admission(ctx);
    let of_manifests = ctx.complete_list::<Namespace>().is_err_and(|missing| missing.why == Why::NotInManifests);
    for object in objects {
        let template: Option<PodTemplate> = match kind {
            Kind::Pod => serde_json::from_value(object.clone()).ok(),
            Kind::CronJob => serde_json::from_value(object["spec"]["jobTemplate"]["spec"]["template"].clone()).ok(),
            _ => serde_json::from_value(object["spec"]["template"].clone()).ok(),
        };
        let Some(template) = template.filter(|template| template.spec != PodSpec::default()) else {
            continue;
        };
        let (namespace, name) = (text(object, "namespace"), text(object, "name"));
        let place = (namespace.to_owned(), name.to_owned());
        let has_proxy = template.spec.proxy().is_some();
        // A bundle whose author could not read the template of such a kind does not show its annotations.
        let meta = &template.metadata;
        let is_cut = meta
            .annotations
            .iter()
            .chain(meta.labels.iter())
            .any(|(key, value)| key.contains("linkerd.io/") && redact::is_marked(value));
        let Some((admission, values)) = rules.as_ref().filter(|_| !is_cut) else {
            known.injected.insert(place, has_proxy.then_some(true));
            continue;
        };
        let decision = admission.decide(namespace, &template.metadata, &template.spec);
        // In manifests without the namespace, only the template decides.
        let by_template = || match template.metadata.annotation(INJECT).filter(|_| of_manifests) {
            Some("enabled" | "ingress") => Some(true),
            Some("disabled") => Some(false),
            _ => None,
        };
        let injected = match (has_proxy, decision) {
            (true, _) | (_, Decision::Inject { .. }) => Some(true),
            (false, Decision::Skip(_)) => Some(false),
            (false, Decision::Unknown) => by_template(),
        };
        known.injected.insert(place.clone(), injected);
        let home = admission.namespace(namespace);
        let said = effective(POLICY, &template.metadata, home, true).map(|(_, value)| value.to_owned());
        let by_chart = || values.as_ref()?.written("proxy.defaultInboundPolicy");
        if let Some(policy) = said.or_else(by_chart) {
            known.policies.insert(place, policy);
        }
    }
    known
}
