//! Predicts the status that the policy controller writes for routes, rate limits and EgressNetworks after a set is
//! applied, for new or changed objects and for objects that refer to added or removed ones. Accepted objects get that
//! status; for rejected ones the status is removed, so that checks report the reason. A stale status stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::admit::read;
use super::{Change, ObjectKey, key};
use crate::fetched::{Fetched, Why};
use crate::item::Kind;
use crate::model::policy::status::{ParentAnswer, Refused, StatusObjects, Statuses, Writes};
use crate::model::policy::{Controller, Quirks, ROUTES, RouteKind};
use crate::objects::{
    Condition, EgressNetwork, HTTPLocalRateLimitPolicy, Object, POLICY_CONTROLLER, Route, Server, Service, Workload,
};
use crate::source::Source;

/// Kinds with such a status.
fn stated() -> impl Iterator<Item = Kind> + Clone {
    ROUTES.into_iter().chain([Kind::HTTPLocalRateLimitPolicy, Kind::EgressNetwork])
}

/// Inputs of the prediction.
#[derive(Default)]
struct World {
    servers: Vec<Server>,
    services: Vec<Service>,
    egress_networks: Vec<EgressNetwork>,
    rate_limits: Vec<HTTPLocalRateLimitPolicy>,
    http_routes: Vec<Route>,
    linkerd_http_routes: Vec<Route>,
    grpc_routes: Vec<Route>,
    tls_routes: Vec<Route>,
    tcp_routes: Vec<Route>,
    /// Kinds whose list may be incomplete.
    partial: BTreeSet<Kind>,
}

impl World {
    fn add(&mut self, kind: Kind, values: Vec<Value>, ended: &Fetched) {
        fn slim<T: Object>(kind: Kind, values: Vec<Value>) -> Vec<T> {
            values.into_iter().filter_map(|value| read(kind, value)).collect()
        }
        if !matches!(ended, Fetched::Complete | Fetched::Missing { reason: Why::NotServed }) {
            self.partial.insert(kind);
        }
        match kind {
            Kind::Server => self.servers = slim(kind, values),
            Kind::Service => self.services = slim(kind, values),
            Kind::EgressNetwork => self.egress_networks = slim(kind, values),
            Kind::HTTPLocalRateLimitPolicy => self.rate_limits = slim(kind, values),
            Kind::HTTPRoute => self.http_routes = slim(kind, values),
            Kind::LinkerdHTTPRoute => self.linkerd_http_routes = slim(kind, values),
            Kind::GRPCRoute => self.grpc_routes = slim(kind, values),
            Kind::TLSRoute => self.tls_routes = slim(kind, values),
            _ => self.tcp_routes = slim(kind, values),
        }
    }

    fn objects(&self) -> StatusObjects<'_> {
        StatusObjects {
            servers: &self.servers,
            services: &self.services,
            egress_networks: &self.egress_networks,
            rate_limits: &self.rate_limits,
            http_routes: &self.http_routes,
            linkerd_http_routes: &self.linkerd_http_routes,
            grpc_routes: &self.grpc_routes,
            tls_routes: &self.tls_routes,
            tcp_routes: &self.tcp_routes,
        }
    }

    fn is_certain(&self, rests_on: Option<Kind>) -> bool {
        rests_on.is_none_or(|kind| !self.partial.contains(&kind))
    }
}

impl<S: Source> Change<'_, S> {
    /// Whether the set may change the status of a kind.
    pub(super) fn restates(&self, kind: Kind) -> bool {
        stated().any(|of| of == kind) && stated().chain([Kind::Server, Kind::Service]).any(|kind| self.touches(kind))
    }

    /// Writes the predicted status into objects of a kind.
    pub(super) async fn restate(&self, kind: Kind, objects: &mut [Value]) {
        if objects.is_empty() {
            return;
        }
        let (mut before, mut after) = (World::default(), World::default());
        for of in stated().chain([Kind::Server, Kind::Service]) {
            let (values, ended) = self.base_list(of).await;
            before.add(of, values, &ended);
            let (values, ended) = self.overlaid(of).await;
            after.add(of, values, &ended);
        }
        let base: BTreeMap<ObjectKey, Value> =
            self.base_list(kind).await.0.into_iter().map(|object| (key(&object, kind), object)).collect();
        let version = self.admitting().await.release().cloned();
        let writes = Writes::from_version(version.as_ref(), self.knowledge);
        let networks = |deployments: Vec<Value>| {
            let slim = |value| read::<Workload>(Kind::Deployment, value);
            let deployments: Vec<Workload> = deployments.into_iter().filter_map(slim).collect();
            let own = deployments.iter().find(|it| it.metadata.name == "linkerd-destination")?;
            let quirks = Quirks::from_version(version.as_ref(), self.knowledge);
            Controller::find(&deployments, &own.metadata.namespace, quirks).ok().map(|it| it.cluster_networks)
        };
        let (networks_before, networks_after) =
            (networks(self.base_list(Kind::Deployment).await.0), networks(self.overlaid(Kind::Deployment).await.0));
        let now = Statuses::new(writes, networks_before.as_deref().unwrap_or_default(), before.objects());
        let then = Statuses::new(writes, networks_after.as_deref().unwrap_or_default(), after.objects());
        for object in objects {
            let place = key(object, kind);
            let at = (place.0.as_str(), place.1.as_str());
            let known = base.get(&place);
            // An unchanged object gets a new status only if an object that it refers to changes.
            let same = known.is_some_and(|known| known["spec"] == object["spec"]);
            match kind {
                Kind::EgressNetwork if networks_after.is_none() || same && networks_before.is_none() => {}
                Kind::EgressNetwork => {
                    let find = |world: &'_ World| world.egress_networks.iter().position(|it| it.metadata.key() == at);
                    let was = find(&before).and_then(|at| now.of_egress_network(&before.egress_networks[at]));
                    let is = find(&after).and_then(|at| then.of_egress_network(&after.egress_networks[at]));
                    of_object(object, was.as_ref().filter(|_| same), is.as_ref(), &after);
                }
                Kind::HTTPLocalRateLimitPolicy => {
                    let find = |world: &'_ World| world.rate_limits.iter().position(|it| it.metadata.key() == at);
                    let was = find(&before).and_then(|at| now.of_rate_limit(&before.rate_limits[at]));
                    let is = find(&after).and_then(|at| then.of_rate_limit(&after.rate_limits[at]));
                    of_object(object, was.as_ref().filter(|_| same), is.as_ref(), &after);
                }
                _ => {
                    let was = answers(&now, kind, at);
                    of_route(
                        object,
                        was.as_deref().filter(|_| same),
                        &answers(&then, kind, at).unwrap_or_default(),
                        &after,
                    );
                }
            }
        }
    }
}

/// Status of a route at each parent; none for missing parents.
fn answers<'a>(statuses: &Statuses<'a>, kind: Kind, at: (&str, &str)) -> Option<Vec<ParentAnswer<'a>>> {
    let mut of_kind = statuses.objects().routes().into_iter().filter(|(known, _)| known.kind() == kind);
    let (kind, routes): (RouteKind, &'a [Route]) = of_kind.next()?;
    let route = routes.iter().find(|route| route.metadata.key() == at)?;
    Some(statuses.of_route(kind, route))
}

fn of_route(object: &mut Value, was: Option<&[ParentAnswer<'_>]>, is: &[ParentAnswer<'_>], after: &World) {
    let mut parents: Vec<Value> = object["status"]["parents"].as_array().cloned().unwrap_or_default();
    let as_it_was = parents.clone();
    for answer in is {
        let faults = answer.faults.as_deref().unwrap_or_default();
        let mut rests_on = answer.refused.as_ref().map(Refused::rests_on).into_iter();
        if !rests_on.all(|kind| after.is_certain(kind)) || !faults.iter().all(|it| after.is_certain(it.rests_on())) {
            continue;
        }
        let own = |entry: &Value| {
            entry["controllerName"] == json!(POLICY_CONTROLLER)
                && serde_json::from_value(entry["parentRef"].clone()).is_ok_and(|named| answer.parent.is(&named))
        };
        if let Some(was) = was {
            let before = was.iter().find(|known| known.parent == answer.parent).map(ParentAnswer::conditions);
            let Some(before) = before else { continue };
            let written = parents.iter().find(|entry| own(entry));
            let written: Vec<Condition> =
                written.and_then(|entry| serde_json::from_value(entry["conditions"].clone()).ok()).unwrap_or_default();
            if words(&before) == words(&answer.conditions()) || words(&before) != words(&written) {
                continue;
            }
        }
        parents.retain(|entry| !own(entry));
        if answer.refused.is_none() && faults.is_empty() {
            let parent = &answer.parent;
            let mut named = json!({
                "group": parent.group(), "kind": parent.kind.info().kind,
                "namespace": parent.namespace, "name": parent.name
            });
            if let Some(port) = parent.port {
                named["port"] = json!(port);
            }
            let conditions = answer.conditions();
            parents.push(json!({
                "controllerName": POLICY_CONTROLLER, "parentRef": named, "conditions": written(&conditions)
            }));
        }
    }
    if parents != as_it_was {
        object["status"]["parents"] = Value::Array(parents);
    }
}

fn of_object(
    object: &mut Value,
    was: Option<&Result<(), Refused<'_>>>,
    is: Option<&Result<(), Refused<'_>>>,
    after: &World,
) {
    let Some(is) = is.filter(|is| is.as_ref().err().is_none_or(|why| after.is_certain(why.rests_on()))) else {
        return;
    };
    let said = |answer: &Result<(), Refused<'_>>| answer.as_ref().err().map_or_else(taken, Refused::condition);
    let mut conditions: Vec<Value> = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let own = |condition: &Value| condition["type"] == json!("Accepted");
    if let Some(was) = was {
        let known = conditions.iter().find(|it| own(it)).and_then(|it| serde_json::from_value(it.clone()).ok());
        let known: Vec<Condition> = known.into_iter().collect();
        if words(&[said(was)]) == words(&[said(is)]) || words(&known) != words(&[said(was)]) {
            return;
        }
    }
    conditions.retain(|condition| !own(condition));
    if is.is_ok() {
        conditions.extend(written(&[taken()]));
    }
    object["status"]["conditions"] = Value::Array(conditions);
}

fn taken() -> Condition {
    Condition::new("Accepted", "True", "Accepted", "")
}

/// The parts of conditions to compare.
fn words(conditions: &[Condition]) -> Vec<(&str, &str, &str)> {
    conditions.iter().map(|it| (it.kind.as_str(), it.status.as_str(), it.reason.as_str())).collect()
}

fn written(conditions: &[Condition]) -> Vec<Value> {
    let one = |it: &Condition| {
        json!({
            "type": it.kind.as_str(), "status": it.status.as_str(),
            "reason": it.reason.as_str(), "message": it.message.as_str(),
        })
    };
    conditions.iter().map(one).collect()
}
