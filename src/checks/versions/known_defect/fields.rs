//! The fields of objects that expressions of `defects.yaml` read, as JSON in the shape of the API. They are the redacted
//! fields that checks read, so no object needs to be kept completely.

use serde_json::{Map, Value, json};

use crate::checks::Context;
use crate::finding::Subject;
use crate::item::{Item, Kind, Scope};
use crate::missing::Missing;
use crate::objects::{
    ConfigMap, Container, DaemonSet, Deployment, EgressNetwork, ExternalWorkload, GRPCRoute, HTTPRoute,
    LabelSelector, Link, LinkerdHTTPRoute, Meta, MethodMatch, Namespace, Route, RouteFilter, RouteRule,
    Server, ServerPort, Service, ServiceProfile, StatefulSet, TCPRoute, TLSRoute, Texts, Workload,
};

/// An object, by type.
enum Object<'a> {
    Server(&'a Server),
    Route(&'a Route),
    Service(&'a Service),
    Egress(&'a EgressNetwork),
    Profile(&'a ServiceProfile),
    External(&'a ExternalWorkload),
    Link(&'a Link),
    Workload(&'a Workload),
    Namespace(&'a Namespace),
    Config(&'a ConfigMap),
}

/// An object of a kind.
pub(super) struct ObjectFields<'a> {
    kind: Kind,
    object: Object<'a>,
}

/// The objects of a kind. The kind configmaps has only linkerd-config.
///
/// # Errors
/// They are not available, or the kind has no fields here.
pub(super) fn objects<'a>(
    ctx: &Context<'a>,
    kind: Kind,
) -> Result<Box<dyn Iterator<Item = ObjectFields<'a>> + 'a>, Missing> {
    macro_rules! all {
        ($listed:ident, $object:ident) => {
            Box::new(
                ctx.seen::<$listed>()?
                    .iter()
                    .map(move |object| ObjectFields { kind, object: Object::$object(object) }),
            )
        };
    }
    Ok(match kind {
        Kind::Server => all!(Server, Server),
        Kind::HTTPRoute => all!(HTTPRoute, Route),
        Kind::LinkerdHTTPRoute => all!(LinkerdHTTPRoute, Route),
        Kind::GRPCRoute => all!(GRPCRoute, Route),
        Kind::TLSRoute => all!(TLSRoute, Route),
        Kind::TCPRoute => all!(TCPRoute, Route),
        Kind::Service => all!(Service, Service),
        Kind::EgressNetwork => all!(EgressNetwork, Egress),
        Kind::ServiceProfile => all!(ServiceProfile, Profile),
        Kind::ExternalWorkload => all!(ExternalWorkload, External),
        Kind::Link => all!(Link, Link),
        Kind::Deployment => all!(Deployment, Workload),
        Kind::StatefulSet => all!(StatefulSet, Workload),
        Kind::DaemonSet => all!(DaemonSet, Workload),
        Kind::Namespace => all!(Namespace, Namespace),
        Kind::ConfigMap => {
            let config = ctx.named::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
            Box::new(
                config.into_iter().map(move |object| ObjectFields { kind, object: Object::Config(object) }),
            )
        }
        _ => Box::new(std::iter::empty()),
    })
}

/// Whether expressions can read objects of a kind.
pub(super) fn is_readable(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Server
            | Kind::HTTPRoute
            | Kind::LinkerdHTTPRoute
            | Kind::GRPCRoute
            | Kind::TLSRoute
            | Kind::TCPRoute
            | Kind::Service
            | Kind::EgressNetwork
            | Kind::ServiceProfile
            | Kind::ExternalWorkload
            | Kind::Link
            | Kind::Deployment
            | Kind::StatefulSet
            | Kind::DaemonSet
            | Kind::Namespace
            | Kind::ConfigMap
    )
}

impl<'a> ObjectFields<'a> {
    fn metadata(&self) -> &'a Meta {
        match self.object {
            Object::Server(object) => &object.metadata,
            Object::Route(object) => &object.metadata,
            Object::Service(object) => &object.metadata,
            Object::Egress(object) => &object.metadata,
            Object::Profile(object) => &object.metadata,
            Object::External(object) => &object.metadata,
            Object::Link(object) => &object.metadata,
            Object::Workload(object) => &object.metadata,
            Object::Namespace(object) => &object.metadata,
            Object::Config(object) => &object.metadata,
        }
    }

    /// Annotations of the pod template, or of the object if it has none.
    pub(super) fn annotations(&self) -> &'a Texts {
        match self.object {
            Object::Workload(object) => &object.spec.template.metadata.annotations,
            _ => &self.metadata().annotations,
        }
    }

    /// The object as a subject.
    pub(super) fn subject(&self) -> Subject {
        let (namespace, name) = self.metadata().key();
        Subject::object(self.kind, namespace, name)
    }

    /// Whether it is in a namespace that the run checks.
    pub(super) fn is_judged(&self, ctx: &Context<'_>) -> bool {
        let namespace = &self.metadata().namespace;
        !self.kind.info().namespaced || *namespace == ctx.namespaces().control_plane || ctx.judges(namespace)
    }

    /// The item that it belongs to.
    pub(super) fn item(&self) -> Item {
        match self.object {
            Object::Config(_) => Item::Named {
                kind: Kind::ConfigMap,
                scope: Scope::ControlPlane,
                name: "linkerd-config".to_owned(),
            },
            _ => Item::List(self.kind),
        }
    }

    /// Its fields.
    pub(super) fn json(&self) -> Value {
        let mut json = match self.object {
            Object::Server(object) => json!({"spec": server(object)}),
            Object::Route(object) => json!({"spec": route(object)}),
            Object::Service(object) => json!({"spec": service(object)}),
            Object::Egress(object) => json!({"spec": {"trafficPolicy": object.spec.traffic_policy}}),
            Object::Profile(object) => {
                let routes = object.spec.routes.iter();
                let routes: Vec<Value> =
                    routes.map(|one| json!({"name": one.name, "isRetryable": one.is_retryable})).collect();
                json!({"spec": {"routes": routes}})
            }
            Object::External(object) => {
                let ports = object.spec.ports.iter().map(|port| {
                    fields([("name", port.name.as_ref().map(|name| json!(name)))], json!({"port": port.port}))
                });
                json!({"spec": {"ports": ports.collect::<Vec<_>>()}})
            }
            // The lists may be long, and expressions need only their length.
            Object::Link(object) => json!({"status": {
                "mirrorServices": object.status.mirror_services.len(),
                "federatedServices": object.status.federated_services.len(),
            }}),
            Object::Workload(object) => json!({"spec": {"template": template(object)}}),
            Object::Namespace(_) => json!({}),
            Object::Config(object) => json!({"values": values(object)}),
        };
        json["metadata"] = metadata(self.metadata());
        json
    }
}

/// An object with its optional fields, if they are set.
fn fields<const N: usize>(optional: [(&str, Option<Value>); N], always: Value) -> Value {
    let mut map = match always {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    map.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    Value::Object(map)
}

fn metadata(meta: &Meta) -> Value {
    json!({
        "name": meta.name,
        "namespace": meta.namespace.as_str(),
        "labels": meta.labels.to_map(),
        "annotations": meta.annotations.to_map(),
    })
}

fn selector(selector: &LabelSelector) -> Value {
    let mut labels: Map<String, Value> =
        selector.match_labels.iter().map(|(key, value)| (key.to_string(), json!(value))).collect();
    // A value that is not text, as in the manifest.
    labels.extend(selector.match_labels.no_text.iter().map(|key| (key.clone(), json!(0))));
    let expressions = selector.match_expressions.iter().map(|one| {
        let always = json!({"key": one.key, "operator": one.operator});
        fields([("values", one.values.as_ref().map(|values| json!(values)))], always)
    });
    json!({"matchLabels": labels, "matchExpressions": expressions.collect::<Vec<_>>()})
}

fn server(object: &Server) -> Value {
    let spec = &object.spec;
    let port = spec.port.as_ref().map(|port| match port {
        ServerPort::Number(number) => json!(number),
        ServerPort::Name(name) => json!(name),
    });
    let optional = [
        ("podSelector", spec.pod_selector.as_ref().map(selector)),
        ("externalWorkloadSelector", spec.external_workload_selector.as_ref().map(selector)),
        ("port", port),
        ("proxyProtocol", spec.proxy_protocol.as_ref().map(|text| json!(text))),
        ("accessPolicy", spec.access_policy.as_ref().map(|text| json!(text))),
    ];
    fields(optional, json!({}))
}

fn service(object: &Service) -> Value {
    let ports = object.spec.ports.iter().map(
        |port| json!({"name": port.name, "port": port.port, "protocol": port.protocol, "appProtocol": port.app_protocol}),
    );
    json!({
        "type": object.spec.kind.as_str(),
        "headless": object.spec.cluster_ip.headless,
        "selector": object.spec.selector.to_map(),
        "ports": ports.collect::<Vec<_>>(),
    })
}

fn route(object: &Route) -> Value {
    let parents = object.spec.parent_refs.iter().map(|parent| {
        let optional = [
            ("group", parent.group.as_ref().map(|text| json!(text))),
            ("namespace", parent.namespace.as_ref().map(|text| json!(text))),
            ("port", parent.port.map(|port| json!(port))),
        ];
        fields(optional, json!({"name": parent.name, "kind": parent.kind.as_deref().unwrap_or("Gateway")}))
    });
    json!({
        "parentRefs": parents.collect::<Vec<_>>(),
        "hostnames": object.spec.hostnames,
        "rules": object.spec.rules.iter().map(rule).collect::<Vec<_>>(),
    })
}

fn rule(rule: &RouteRule) -> Value {
    let matches = rule.matches.iter().map(|one| {
        let path =
            one.path.as_ref().and_then(|path| path.value.as_ref()).map(|value| json!({"value": value}));
        let method = one.method.as_ref().map(|method| match method {
            MethodMatch::Http(method) => json!(method),
            MethodMatch::Grpc { service, method, .. } => fields(
                [
                    ("service", service.as_ref().map(|text| json!(text))),
                    ("method", method.as_ref().map(|text| json!(text))),
                ],
                json!({}),
            ),
        });
        let headers: Vec<Value> = one.headers.iter().map(|header| json!({"name": header.name})).collect();
        fields([("path", path), ("method", method)], json!({"headers": headers}))
    });
    let backends = rule.backend_refs.iter().map(|backend| {
        let optional = [
            ("group", backend.group.as_ref().map(|text| json!(text))),
            ("kind", backend.kind.as_ref().map(|text| json!(text))),
            ("namespace", backend.namespace.as_ref().map(|text| json!(text))),
            ("port", backend.port.map(|port| json!(port))),
            ("weight", backend.weight.map(|weight| json!(weight))),
        ];
        fields(optional, json!({"name": backend.name}))
    });
    json!({
        "matches": matches.collect::<Vec<_>>(),
        "filters": rule.filters.iter().map(filter).collect::<Vec<_>>(),
        "backendRefs": backends.collect::<Vec<_>>(),
    })
}

fn filter(filter: &RouteFilter) -> Value {
    let redirect = filter.request_redirect.as_ref().map(|redirect| {
        let path = redirect.path.as_ref().map(|path| {
            let optional = [
                ("replaceFullPath", path.replace_full_path.as_ref().map(|text| json!(text))),
                ("replacePrefixMatch", path.replace_prefix_match.as_ref().map(|text| json!(text))),
            ];
            fields(optional, json!({}))
        });
        fields([("path", path)], json!({}))
    });
    fields([("requestRedirect", redirect)], json!({"type": filter.kind}))
}

fn template(object: &Workload) -> Value {
    let template = &object.spec.template;
    let containers = |all: &mut dyn Iterator<Item = &Container>| -> Vec<Value> {
        all.map(|container| {
            let ports = container.ports.iter().map(
                |port| json!({"name": port.name.as_str(), "containerPort": port.container_port, "hostPort": port.host_port}),
            );
            let always = json!({
                "name": container.name.as_str(),
                "image": container.image.as_str(),
                "ports": ports.collect::<Vec<_>>(),
            });
            let policy = container.restart_policy.as_ref().map(|policy| json!(policy.as_str()));
            fields([("restartPolicy", policy)], always)
        })
        .collect()
    };
    json!({
        "metadata": {"labels": template.metadata.labels.to_map(), "annotations": template.metadata.annotations.to_map()},
        "spec": {
            "containers": containers(&mut template.spec.containers.iter()),
            "initContainers": containers(&mut template.spec.init_containers.iter()),
        },
    })
}

/// The chart values of linkerd-config.
fn values(config: &ConfigMap) -> Value {
    let text = config.chart_values().and_then(|values| values.to_yaml()).unwrap_or_default();
    serde_yaml::from_str(&text).unwrap_or(Value::Null)
}
