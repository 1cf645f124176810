//! Commands that authorize clients of an existing Server, each with an AuthorizationPolicy of its own.

use serde_json::{Value, json};

use crate::checks::prelude::*;
use crate::command::{Line, program};

const GROUP: &str = "policy.linkerd.io";

/// The command that authorizes a service account for a Server.
pub(super) fn account(server: &Meta, (namespace, account): (&str, &str)) -> Line {
    let target = json!({"group": GROUP, "kind": "Server", "name": server.name});
    let name = format!("{}-from-{namespace}-{account}", server.name);
    let reference = json!({"kind": "ServiceAccount", "namespace": namespace, "name": account});
    applied(policy(&server.namespace, &name, &target, &reference).to_string())
}

/// The command that authorizes the kubelet's requests of one path, from the networks of the nodes.
pub(super) fn probe(server: &Meta, path: &str) -> Vec<Line> {
    let name = format!("{}-probes", server.name);
    let parent = json!({"group": GROUP, "kind": "Server", "name": server.name});
    let matched = json!([{"path": {"type": "Exact", "value": path}, "method": "GET"}]);
    let route = object(
        &server.namespace,
        "v1beta1",
        "HTTPRoute",
        &name,
        json!({"parentRefs": [parent], "rules": [{"matches": matched}]}),
    );
    let target = json!({"group": GROUP, "kind": "HTTPRoute", "name": name});
    from_network(Some(&route), server, &name, &target, "NODE_NETWORK")
}

/// The command that authorizes a network, which the reader fills in as `network`, for all requests to a Server. `who`
/// ends the names of the objects.
pub(super) fn network(server: &Meta, who: &str, network: &'static str) -> Vec<Line> {
    let target = json!({"group": GROUP, "kind": "Server", "name": server.name});
    from_network(None, server, &format!("{}-{who}", server.name), &target, network)
}

/// Applies the network, which the reader fills in, the route, and then the policy for a target that requires the
/// network.
/// Without the network, the policy authorizes no client.
fn from_network(route: Option<&Value>, server: &Meta, name: &str, target: &Value, mark: &'static str) -> Vec<Line> {
    let reference = json!({"group": GROUP, "kind": "NetworkAuthentication", "name": name});
    let policy = policy(&server.namespace, name, target, &reference);
    let networks = json!({"networks": [{"cidr": mark}]});
    let networks = object(&server.namespace, "v1alpha1", "NetworkAuthentication", name, networks).to_string();
    let (before, after) = networks.split_once(mark).unwrap_or_default();
    let text = Arg::from(before.to_owned()).then(Arg::placeholder(mark)).then(Arg::from(after.to_owned()));
    let route = route.map(|route| applied(route.to_string()));
    [applied(text)].into_iter().chain(route).chain([applied(policy.to_string())]).collect()
}

fn object(namespace: &str, version: &str, kind: &str, name: &str, spec: Value) -> Value {
    let metadata = json!({"name": name, "namespace": namespace});
    json!({"apiVersion": format!("{GROUP}/{version}"), "kind": kind, "metadata": metadata, "spec": spec})
}

fn policy(namespace: &str, name: &str, target: &Value, reference: &Value) -> Value {
    let spec = json!({"targetRef": target, "requiredAuthenticationRefs": [reference]});
    object(namespace, "v1alpha1", "AuthorizationPolicy", name, spec)
}

/// Applies objects, as JSON.
pub(super) fn applied(text: impl Into<Arg>) -> Line {
    program("echo").arg(text).pipe(kubectl().words("apply -f -"))
}
