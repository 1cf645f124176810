//! A played mesh in which every program answers as it does when it is well, or as a test has it answer, and the cluster that
//! its link leads to.

use std::collections::BTreeMap;
use std::sync::Arc;

use meshdoctor::item::{Kind, Program};
use meshdoctor::source::memory::Memory;
use serde_json::{Value, json};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::cluster::{Cluster, Server, change, mesh};
use super::program::Says;

/// The token of the link's kubeconfig. It must be seen nowhere.
pub(super) const LINKED_TOKEN: &str = "bGlua2VkLWNsdXN0ZXItY2FuYXJ5LXRva2Vu";
/// The webhooks: Secret, pods, port.
const WEBHOOKS: [(&str, &str, u16); 3] = [
    ("linkerd-proxy-injector", "linkerd-proxy-injector", 8443),
    ("linkerd-sp-validator", "linkerd-destination", 8443),
    ("linkerd-policy-validator", "linkerd-destination", 9443),
];

/// A mesh on a played API server, and another one that its link leads to.
pub(super) struct World {
    mesh: Memory,
    programs: BTreeMap<(String, u16), Says>,
    keys: Vec<String>,
}

impl World {
    /// In which everything is healthy.
    pub(super) fn well() -> World {
        let mut mesh = mesh();
        let mut programs = BTreeMap::new();
        let mut keys = Vec::new();
        for (name, pods, port) in WEBHOOKS {
            let (pem, key, config) = certificate(name);
            change(&mut mesh, Kind::Secret, &format!("{name}-k8s-tls"), |secret| {
                secret["data"] = json!({ "tls.crt": base64(&pem), "tls.key": base64(&key) });
                secret["metadata"]["annotations"] = json!({});
            });
            let kind = match name {
                "linkerd-proxy-injector" => Kind::MutatingWebhookConfiguration,
                _ => Kind::ValidatingWebhookConfiguration,
            };
            change(&mut mesh, kind, &format!("{name}-webhook-config"), |webhooks| {
                webhooks["webhooks"][0]["clientConfig"]["caBundle"] = base64(&pem).into();
            });
            programs.insert((pods.to_owned(), port), Says::Tls(config));
            keys.push(key.lines().nth(1).unwrap().to_owned());
        }
        let meshed = mesh.objects[&Kind::Pod]
            .iter()
            .map(|held| json!({ "metric": { "namespace": held.namespace, "pod": held.name }, "value": [1, "2"] }));
        let series = json!({ "status": "success", "data": { "result": meshed.collect::<Vec<_>>() } });
        let metrics = "# TYPE gateway_alive gauge\ngateway_alive{target_cluster_name=\"east\"} 1\n";
        for (pod, program, says) in [
            ("metrics-api", Program::MetricsApi, Says::http(200, "ok\n")),
            ("prometheus", Program::Prometheus, Says::http(200, &series.to_string())),
            ("controller-east", Program::ServiceMirror, Says::http(200, metrics)),
        ] {
            programs.insert((pod.to_owned(), program.port()), says);
        }
        World { mesh, programs, keys }
    }

    /// Every program answers this instead.
    pub(super) fn all_say(says: &Says) -> World {
        let mut world = World::well();
        world.programs.values_mut().for_each(|program| *program = says.clone());
        world
    }

    /// One program answers this instead.
    pub(super) fn answering(mut self, pod: &str, port: u16, says: Says) -> World {
        *self.programs.get_mut(&(pod.to_owned(), port)).unwrap() = says;
        self
    }

    /// Starts it; `linked` is where its link leads to.
    pub(super) async fn start(self, linked: &Server) -> (Server, Vec<String>) {
        self.linked_to(json!({ "server": linked.url })).await
    }

    /// Starts it; `cluster` is the entry of the link's kubeconfig.
    pub(super) async fn linked_to(mut self, cluster: Value) -> (Server, Vec<String>) {
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "east",
            "clusters": [{ "name": "east", "cluster": cluster }],
            "contexts": [{ "name": "east", "context": { "cluster": "east", "user": "mirror" } }],
            "users": [{ "name": "mirror", "user": { "token": LINKED_TOKEN } }],
        });
        change(&mut self.mesh, Kind::Secret, "cluster-credentials-east", |secret| {
            secret["data"]["kubeconfig"] = base64(&kubeconfig.to_string()).into();
        });
        let cluster = Cluster { memory: self.mesh, programs: self.programs, ..Cluster::default() };
        (Server::start(cluster).await, self.keys)
    }
}

/// A linked cluster with these anchors, or those of the simulated mesh.
pub(super) async fn linked(anchors: Option<&str>) -> Server {
    let roots = mesh();
    let roots = roots.objects[&Kind::ConfigMap].iter().find(|held| held.name == "linkerd-identity-trust-roots");
    let roots: Value = serde_json::from_slice(&roots.unwrap().json).unwrap();
    let anchors = anchors.or(roots["data"]["ca-bundle.crt"].as_str()).unwrap();
    let mut memory = Memory::default();
    memory
        .add(&json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "namespace": "linkerd", "name": "linkerd-config" },
            "data": { "values": json!({ "identityTrustAnchorsPEM": anchors, "secret": LINKED_TOKEN }).to_string() },
        }))
        .unwrap();
    Server::start(Cluster { memory, token: Some(LINKED_TOKEN), ..Cluster::default() }).await
}

pub(super) fn base64(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// A certificate of a webhook and its key in PEM, and a server that serves it.
pub(super) fn certificate(name: &str) -> (String, String, Arc<ServerConfig>) {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(vec![format!("{name}.linkerd.svc")]).unwrap();
    params.not_before = rcgen::date_time_ymd(2025, 11, 1);
    params.not_after = rcgen::date_time_ymd(2026, 11, 1);
    let certificate = params.self_signed(&key).unwrap();
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .unwrap();
    (certificate.pem(), key.serialize_pem(), Arc::new(config))
}
