//! Features of calls that older releases lack, and the lookup of backends without a namespace.

use super::*;

const ACCEPTED: &str = "
status:
  parents:
  - controllerName: linkerd.io/policy-controller
    parentRef: {group: core, kind: Service, namespace: shop, name: web, port: 80}
    conditions: [{type: Accepted, status: \"True\"}]
";

/// The handling of the backend of a route of `bank` at Service `shop/web`, named as given, for clients of
/// `bank`.
fn backend(backend: &str, services: &[&str]) -> String {
    let services = services
        .iter()
        .map(|key| {
            let (namespace, name) = key.split_once('/').unwrap();
            format!("kind: Service\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {{ports: [{{port: 80}}]}}\n---\n")
        })
        .collect::<String>();
    let world = World::parse(&format!(
        "{services}
kind: HTTPRoute
metadata: {{name: r, namespace: bank}}
spec:
  parentRefs: [{{group: core, kind: Service, name: web, namespace: shop, port: 80}}]
  rules: [{{backendRefs: [{backend}]}}]
{ACCEPTED}"
    ));
    let answer = world.calls(false).of_service(("shop", "web"), 80, "bank");
    match &answer.routes[0].rules[0].backends[0].to {
        Destination::Service { namespace, .. } => format!("to {namespace}"),
        Destination::NoService { namespace, .. } => format!("none in {namespace}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn backend_without_namespace_is_looked_up_at_the_parent() {
    let both = ["shop/web", "shop/web-v2", "bank/web-v2"];
    assert_eq!(backend("{name: web-v2, port: 80}", &both), "to shop");
    assert_eq!(backend("{name: web-v2, port: 80, namespace: bank}", &both), "to bank");
    let beside_the_route = ["shop/web", "bank/web-v2"];
    assert_eq!(backend("{name: web-v2, port: 80}", &beside_the_route), "none in shop");
}

/// Calls in a world whose release lacks a feature.
fn with(world: &World, lacks: impl Fn(&mut Quirks)) -> Outbound<'_> {
    let mut controller = controller(false);
    lacks(&mut controller.quirks);
    let objects = OutboundObjects {
        services: &world.services,
        egress_networks: &world.networks,
        routes: vec![(RouteKind::Grpc, &world.http)],
    };
    OutboundIndex::new(controller, &objects).of_service(("shop", "web"), 80, "shop")
}

#[test]
fn older_releases_lack_app_protocol_limits_and_grpc_routes() {
    let service = |more: &str| {
        format!(
            "
kind: Service
metadata: {{name: web, namespace: shop, annotations: {{timeout.linkerd.io/request: 3s, retry.linkerd.io/limit: \"2\"}}}}
spec: {{ports: [{{port: 80{more}}}]}}
"
        )
    };
    let (plain, tcp) = (World::parse(&service("")), World::parse(&service(", appProtocol: linkerd.io/tcp")));
    assert_eq!(with(&tcp, |_| {}).spoken, Spoken::Opaque);
    assert_eq!(with(&tcp, |quirks| quirks.app_protocol = false).spoken, Spoken::Detect);
    let limits = |answer: &Outbound<'_>| (answer.timeouts.request.is_some(), answer.retry.is_some());
    assert_eq!(limits(&with(&plain, |_| {})), (true, true));
    assert_eq!(limits(&with(&plain, |quirks| quirks.limit_annotations = false)), (false, false));
    let routed = World::parse(&format!(
        "{}---
kind: HTTPRoute
metadata: {{name: r, namespace: shop}}
spec: {{parentRefs: [{{group: core, kind: Service, name: web, port: 80}}]}}
{ACCEPTED}",
        service("")
    ));
    assert_eq!(with(&routed, |_| {}).spoken, Spoken::Grpc);
    assert_eq!(with(&routed, |quirks| quirks.grpc_calls = false).spoken, Spoken::Detect);
}

#[test]
fn releases_without_egress_networks_have_no_outside_policy() {
    let world = World::parse(
        "
kind: EgressNetwork
metadata: {name: all, namespace: shop}
spec: {trafficPolicy: Deny}
",
    );
    let objects = OutboundObjects { egress_networks: &world.networks, ..OutboundObjects::default() };
    let of = |egress| {
        let mut controller = controller(false);
        controller.quirks.egress = egress;
        OutboundIndex::new(controller, &objects)
            .of_address(at("192.0.2.1:443"), "shop")
            .map(|answer| answer.forbids_rest())
    };
    assert_eq!((of(true), of(false)), (Some(true), None));
}
