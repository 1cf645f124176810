//! Releases of the Gateway API, as `kubectl apply -f https://...` installs them.

use meshdoctor::item::Kind;
use serde_json::{Value, json};

use super::programs::Call;
use super::world::World;

/// A kind: kind, plural, scope, and served versions from the oldest, with the release that added each.
type Definition = (&'static str, &'static str, &'static str, &'static [(&'static str, (u64, u64))]);

/// Kinds of both channels.
const STANDARD: [Definition; 5] = [
    ("GatewayClass", "gatewayclasses", "Cluster", &[("v1beta1", (0, 5)), ("v1", (1, 0))]),
    ("Gateway", "gateways", "Namespaced", &[("v1beta1", (0, 5)), ("v1", (1, 0))]),
    ("HTTPRoute", "httproutes", "Namespaced", &[("v1beta1", (0, 5)), ("v1", (1, 0))]),
    ("GRPCRoute", "grpcroutes", "Namespaced", &[("v1", (1, 1))]),
    ("ReferenceGrant", "referencegrants", "Namespaced", &[("v1beta1", (0, 6))]),
];

/// Kinds of the experimental channel.
const EXPERIMENTAL: [Definition; 3] = [
    ("TLSRoute", "tlsroutes", "Namespaced", &[("v1alpha2", (0, 4))]),
    ("TCPRoute", "tcproutes", "Namespaced", &[("v1alpha2", (0, 4))]),
    ("UDPRoute", "udproutes", "Namespaced", &[("v1alpha2", (0, 4))]),
];

/// Installs the CustomResourceDefinitions of the release in the URL of a command.
pub fn applied(world: &mut World, call: &Call) -> Result<String, String> {
    let url = call.words.iter().find(|word| word.starts_with("https://")).ok_or("no address")?;
    let pattern = r"gateway-api/releases/download/(v(\d+)\.(\d+)\.\d+)/(standard|experimental)-install\.yaml$";
    let found = regex::Regex::new(pattern).unwrap().captures(url).ok_or_else(|| format!("{url} is not played"))?;
    let release = (found[2].parse::<u64>().unwrap(), found[3].parse::<u64>().unwrap());
    let more: &[_] = if &found[4] == "experimental" { &EXPERIMENTAL } else { &[] };
    for (kind, plural, scope, versions) in STANDARD.iter().chain(more) {
        let served = versions.iter().filter(|(_, since)| *since <= release).map(|(version, _)| *version);
        let served: Vec<&str> = served.collect();
        if let Some(newest) = served.last() {
            let crd = definition(kind, plural, scope, (&served, newest), (&found[1], &found[4]));
            put(world, crd);
        }
    }
    Ok(String::new())
}

fn definition(
    kind: &str,
    plural: &str,
    scope: &str,
    (served, newest): (&[&str], &str),
    (release, channel): (&str, &str),
) -> Value {
    let group = "gateway.networking.k8s.io";
    let versions: Vec<Value> =
        served.iter().map(|version| json!({"name": version, "served": true, "storage": version == &newest})).collect();
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}"), "annotations": {
            "gateway.networking.k8s.io/bundle-version": release, "gateway.networking.k8s.io/channel": channel}},
        "spec": {"group": group, "scope": scope, "names": {"kind": kind, "plural": plural}, "versions": versions},
        "status": {"storedVersions": [newest], "conditions": [{"type": "Established", "status": "True"}]}})
}

/// An apply keeps the owner and the stored versions.
fn put(world: &mut World, mut crd: Value) {
    let name = crd["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    if let Some(before) = world.get(Kind::CustomResourceDefinition, "", &name) {
        let mut after = before.clone();
        crd.as_object_mut().unwrap().remove("status");
        super::strategic::apply(&mut after, &crd);
        crd = after;
    }
    world.put(Kind::CustomResourceDefinition, crd);
}
