//! Cases that the recordings do not contain, decided by the controller's source.

use std::net::SocketAddr;

use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::status::{StatusObjects, Statuses, Writes};
use super::*;
use crate::objects::{EgressNetwork, ExternalWorkload, HTTPLocalRateLimitPolicy, Pod, Route, Server, Service};

mod calls;

fn objects<T: DeserializeOwned>(text: &str, kind: &str) -> Vec<T> {
    let all = serde_yaml::Deserializer::from_str(text).map(|one| Value::deserialize(one).unwrap());
    all.filter(|one| one["kind"] == kind).map(|one| serde_json::from_value(one).unwrap()).collect()
}

fn controller(voids: bool) -> Controller {
    Controller {
        namespace: "linkerd".into(),
        identity_domain: "cluster.local".into(),
        cluster_domain: "cluster.local".into(),
        cluster_networks: vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()],
        probe_networks: Vec::new(),
        opaque_ports: Vec::new(),
        egress_namespace: "linkerd-egress".into(),
        default_policy: DefaultPolicy::AllUnauthenticated,
        started: None,
        quirks: Quirks {
            selector_drops_endpoints: false,
            opaque_across_namespaces: false,
            keeps_deleted_authentications: false,
            broken_voids_kind: voids,
            servers_by_age: true,
            init_container_ports: true,
            probe_uris: true,
            refuses_undeclared_ports: true,
            refuses_undeclared_ports_with_profile: true,
            gateway_timeouts: true,
            unified_accrual: true,
            app_protocol: true,
            limit_annotations: true,
            grpc_calls: true,
            egress: true,
        },
    }
}

const POD: &str = "
kind: Pod
metadata: {name: web, namespace: shop, labels: {app: web, linkerd.io/control-plane-ns: linkerd}}
spec: {containers: [{name: app, ports: [{name: http, containerPort: 8080}]}]}
";

/// The Server or default of the pod's port 8080, and the names of its authorizations.
fn taken(text: &str, voids: bool) -> (String, Vec<String>) {
    let (servers, pods): (Vec<Server>, Vec<Pod>) = (objects(text, "Server"), objects(POD, "Pod"));
    let server_authorizations = objects(text, "ServerAuthorization");
    let authorization_policies = objects(text, "AuthorizationPolicy");
    let mesh_tls_authentications = objects(text, "MeshTLSAuthentication");
    let network_authentications = objects(text, "NetworkAuthentication");
    let rate_limits = objects(text, "HTTPLocalRateLimitPolicy");
    let given = Objects {
        servers: &servers,
        server_authorizations: &server_authorizations,
        authorization_policies: &authorization_policies,
        mesh_tls_authentications: &mesh_tls_authentications,
        network_authentications: &network_authentications,
        rate_limits: &rate_limits,
        ..Objects::default()
    };
    let controller = controller(voids);
    let workload = Workload::of_pod(&pods[0], controller.quirks).unwrap();
    let index = Index::new(controller, given);
    let inbound = index.inbound(&workload, 8080);
    let by = match inbound.taken_by {
        TakenBy::Server(server) => server.metadata.name.clone(),
        TakenBy::Default(policy) => policy.to_string(),
    };
    (by, inbound.authorizations.iter().map(|one| one.by.name().to_owned()).collect())
}

fn server(selector: &str) -> String {
    format!("kind: Server\nmetadata: {{name: web, namespace: shop}}\nspec: {{podSelector: {selector}, port: 8080}}\n")
}

#[test]
fn invalid_requirements_select_nothing() {
    for (selector, selects) in [
        ("{matchExpressions: [{key: app, operator: Exists}]}", true),
        ("{matchExpressions: [{key: app, operator: Exists, values: []}]}", false),
        ("{matchExpressions: [{key: tier, operator: DoesNotExist}]}", true),
        ("{matchExpressions: [{key: tier, operator: DoesNotExist, values: [x]}]}", false),
        ("{matchExpressions: [{key: tier, operator: NotIn, values: [x]}]}", true),
        ("{matchExpressions: [{key: tier, operator: NotIn, values: []}]}", true),
        ("{matchExpressions: [{key: tier, operator: NotIn}]}", false),
        ("{matchExpressions: [{key: app, operator: In}]}", false),
        ("{matchExpressions: [{key: app, operator: In, values: [web]}], matchLabels: {app: api}}", false),
    ] {
        let by = taken(&server(selector), false).0;
        assert_eq!(by, if selects { "web" } else { "all-unauthenticated" }, "{selector}");
    }
}

#[test]
fn server_with_a_non_string_label_is_unreadable() {
    let both = format!(
        "{}---\nkind: Server\nmetadata: {{name: api, namespace: shop}}\nspec: {{podSelector: {{matchLabels: {{version: 2}}}}, port: 80}}\n",
        server("{}")
    );
    assert_eq!(taken(&both, false).0, "web");
    assert_eq!(taken(&both, true).0, "all-unauthenticated");
}

#[test]
fn identity_reference_without_a_name_is_unreadable() {
    let text = |name: &str| {
        format!(
            "{}---
kind: AuthorizationPolicy
metadata: {{name: ap, namespace: shop}}
spec:
  targetRef: {{group: policy.linkerd.io, kind: Server, name: web}}
  requiredAuthenticationRefs: [{{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: good}}]
---
kind: MeshTLSAuthentication
metadata: {{name: good, namespace: shop}}
spec: {{identities: [\"*\"]}}
---
kind: MeshTLSAuthentication
metadata: {{name: other, namespace: shop}}
spec: {{identityRefs: [{{kind: Namespace{name}}}]}}
",
            server("{}")
        )
    };
    assert_eq!(taken(&text(", name: shop"), true).1, ["ap"]);
    assert_eq!(taken(&text(""), false).1, ["ap"]);
    assert_eq!(taken(&text(""), true).1, Vec::<String>::new());
}

#[test]
fn network_authentications_after_an_empty_one_are_unread() {
    let text = |needs: &str| {
        format!(
            "{}---
kind: AuthorizationPolicy
metadata: {{name: ap, namespace: shop}}
spec:
  targetRef: {{group: policy.linkerd.io, kind: Server, name: web}}
  requiredAuthenticationRefs: [{{group: policy.linkerd.io, kind: NetworkAuthentication, name: {needs}}}]
---
kind: NetworkAuthentication
metadata: {{name: c, namespace: shop}}
spec: {{networks: [{{cidr: 10.0.0.0/8}}]}}
---
kind: NetworkAuthentication
metadata: {{name: b, namespace: shop}}
spec: {{networks: []}}
---
kind: NetworkAuthentication
metadata: {{name: a, namespace: shop}}
spec: {{networks: [{{cidr: 10.0.0.0/8}}]}}
",
            server("{}")
        )
    };
    assert_eq!(taken(&text("a"), false).1, ["ap"]);
    assert_eq!(taken(&text("c"), false).1, Vec::<String>::new());
}

#[test]
fn rate_limit_beyond_32_bits_is_unreadable() {
    let limits: Vec<HTTPLocalRateLimitPolicy> = objects(
        "
kind: HTTPLocalRateLimitPolicy
metadata: {name: rl, namespace: shop}
spec: {targetRef: {group: policy.linkerd.io, kind: Server, name: web}, total: {requestsPerSecond: -1}}
",
        "HTTPLocalRateLimitPolicy",
    );
    assert!(super::read::read_rate_limit(&limits[0]).is_err());
}

struct World {
    services: Vec<Service>,
    networks: Vec<EgressNetwork>,
    http: Vec<Route>,
    servers: Vec<Server>,
}

impl World {
    fn parse(text: &str) -> World {
        World {
            services: objects(text, "Service"),
            networks: objects(text, "EgressNetwork"),
            http: objects(text, "HTTPRoute"),
            servers: objects(text, "Server"),
        }
    }

    fn calls(&self, voids: bool) -> OutboundIndex<'_> {
        self.calls_of(controller(voids))
    }

    fn calls_of(&self, controller: Controller) -> OutboundIndex<'_> {
        OutboundIndex::new(
            controller,
            &OutboundObjects {
                services: &self.services,
                egress_networks: &self.networks,
                routes: vec![(RouteKind::LinkerdHttp, &self.http)],
            },
        )
    }

    /// `Accepted` of the first route, if it has such a status.
    fn accepted(&self, voids: bool) -> Option<String> {
        let writes =
            Writes { grpc_routes: true, egress: true, rate_limits: true, broken_voids_kind: voids, conflicts: true };
        let all = StatusObjects {
            servers: &self.servers,
            services: &self.services,
            egress_networks: &self.networks,
            linkerd_http_routes: &self.http,
            ..StatusObjects::default()
        };
        let statuses = Statuses::new(writes, &[], all);
        let said = statuses.of_route(RouteKind::LinkerdHttp, self.http.first()?);
        Some(said.first()?.conditions().first()?.reason.as_str().to_owned())
    }
}

fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

#[test]
fn a_service_has_the_addresses_of_both_families() {
    let world = World::parse(
        "
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, \"fd00::1\"], ports: [{port: 80}]}
",
    );
    let calls = world.calls(false);
    for address in ["10.0.0.1:80", "[fd00::1]:80"] {
        let parent = calls.of_address(at(address), "shop").map(|answer| answer.parent);
        assert!(matches!(parent, Some(Parent::Service { name, .. }) if name == "web"), "{address}");
    }
}

#[test]
fn app_protocol_counts_on_a_tcp_and_udp_port() {
    let world = World::parse(
        "
kind: Service
metadata: {name: dns, namespace: shop}
spec: {clusterIP: 10.0.0.1, ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP, appProtocol: http}, {port: 53, protocol: SCTP}]}
",
    );
    assert_eq!(world.calls(false).of_service(("shop", "dns"), 53, "shop").spoken, Spoken::Http1);
}

#[test]
fn smaller_egress_network_takes_precedence() {
    let world = World::parse(
        "
kind: EgressNetwork
metadata: {name: half, namespace: shop}
spec: {trafficPolicy: Allow, networks: [{cidr: 192.0.0.0/8, except: [192.128.0.0/9, 192.64.0.0/10, 192.32.0.0/11]}]}
---
kind: EgressNetwork
metadata: {name: quarter, namespace: shop}
spec: {trafficPolicy: Allow, networks: [{cidr: 192.0.0.0/10}]}
",
    );
    let answer = world.calls(false).of_address(at("192.0.2.1:443"), "shop").unwrap();
    assert_eq!(answer.parent.object().unwrap().2, "half");
}

#[test]
fn unreadable_egress_network_may_void_the_others() {
    let world = World::parse(
        "
kind: EgressNetwork
metadata: {name: bad, namespace: shop}
spec: {trafficPolicy: Deny, networks: [{cidr: 192.0.2.0/33}]}
---
kind: EgressNetwork
metadata: {name: good, namespace: shop}
spec: {trafficPolicy: Deny}
---
kind: HTTPRoute
metadata: {name: r, namespace: shop}
spec: {parentRefs: [{group: policy.linkerd.io, kind: EgressNetwork, name: good, port: 443}]}
",
    );
    let parent = |voids| world.calls(voids).of_address(at("192.0.2.1:443"), "shop").unwrap().parent.object().is_some();
    assert!(parent(false));
    assert!(!parent(true));
    assert_eq!(world.accepted(false).as_deref(), Some("Accepted"));
    assert_eq!(world.accepted(true).as_deref(), Some("NoMatchingParent"));
}

#[test]
fn later_unreadable_route_voids_its_kind_at_the_next_start() {
    let world = |metadata: &str| {
        World::parse(&format!(
            "
kind: Service
metadata: {{name: web, namespace: shop}}
spec: {{clusterIP: 10.0.0.1, ports: [{{port: 80}}]}}
---
kind: HTTPRoute
metadata: {{name: good, namespace: shop}}
spec: {{parentRefs: [{{group: core, kind: Service, name: web, port: 80}}]}}
status:
  parents:
  - controllerName: linkerd.io/policy-controller
    parentRef: {{group: core, kind: Service, namespace: shop, name: web, port: 80}}
    conditions: [{{type: Accepted, status: \"True\"}}]
---
kind: HTTPRoute
metadata: {{name: bad, namespace: shop, {metadata}}}
spec: {{rules: [{{filters: [{{type: RequestRedirect}}]}}]}}
"
        ))
    };
    let kind = crate::objects::Kind::LinkerdHTTPRoute;
    for (metadata, is_later) in [
        ("creationTimestamp: 2026-01-01T00:00:00Z", false),
        ("creationTimestamp: 2026-01-03T00:00:00Z", true),
        ("creationTimestamp: 2026-01-01T00:00:00Z, generation: 2", true),
    ] {
        let world = world(metadata);
        let started = "2026-01-02T00:00:00Z".parse().ok();
        let calls = world.calls_of(Controller { started, ..controller(true) });
        let routes = calls.of_service(("shop", "web"), 80, "shop").routes.len();
        assert_eq!(routes, usize::from(is_later), "{metadata}");
        assert_eq!(calls.void_later().collect::<Vec<_>>(), if is_later { vec![kind] } else { vec![] }, "{metadata}");
    }
}

#[test]
fn unreadable_route_voids_its_kind_in_older_releases() {
    let world = World::parse(
        "
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.0.0.1, ports: [{port: 80}]}
---
kind: HTTPRoute
metadata: {name: good, namespace: shop}
spec: {parentRefs: [{group: core, kind: Service, name: web, port: 80}]}
status:
  parents:
  - controllerName: linkerd.io/policy-controller
    parentRef: {group: core, kind: Service, namespace: shop, name: web, port: 80}
    conditions: [{type: Accepted, status: \"True\"}]
---
kind: HTTPRoute
metadata: {name: bad, namespace: shop}
spec: {rules: [{filters: [{type: RequestRedirect}]}]}
",
    );
    let routes = |voids| world.calls(voids).of_service(("shop", "web"), 80, "shop").routes.len();
    assert_eq!((routes(false), routes(true)), (1, 0));
    assert_eq!(world.calls(true).void(), [crate::objects::Kind::LinkerdHTTPRoute]);
    assert_eq!((world.accepted(false).as_deref(), world.accepted(true)), (Some("Accepted"), None));
}

#[test]
fn route_without_a_port_applies_if_any_port_accepted_it() {
    let world = World::parse(
        "
kind: HTTPRoute
metadata: {name: r, namespace: shop}
spec: {parentRefs: [{group: core, kind: Service, name: web}, {group: core, kind: Service, name: web, port: 80}]}
status:
  parents:
  - controllerName: linkerd.io/policy-controller
    parentRef: {group: core, kind: Service, namespace: shop, name: web}
    conditions: [{type: Accepted, status: \"False\"}]
  - controllerName: linkerd.io/policy-controller
    parentRef: {group: core, kind: Service, namespace: shop, name: web, port: 80}
    conditions: [{type: Accepted, status: \"True\"}]
",
    );
    let routes = |port| world.calls(false).of_service(("shop", "web"), port, "shop").routes.len();
    assert_eq!((routes(80), routes(90)), (1, 1));
}

#[test]
fn external_workload_is_selected_by_its_servers() {
    let text = "
kind: Server
metadata: {name: vm, namespace: shop}
spec: {externalWorkloadSelector: {matchLabels: {app: vm}}, port: http}
";
    let external: Vec<ExternalWorkload> = objects(
        "
kind: ExternalWorkload
metadata: {name: vm, namespace: shop, labels: {app: vm}}
spec: {ports: [{name: http, port: 8080}, {name: http, port: 9090, protocol: UDP}]}
",
        "ExternalWorkload",
    );
    let servers: Vec<Server> = objects(text, "Server");
    let index = Index::new(controller(false), Objects { servers: &servers, ..Objects::default() });
    assert_eq!(index.taken_ports(&Workload::of_external(&external[0])), [8080]);
}
