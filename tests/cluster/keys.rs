//! Private keys in Secrets of a live server.

use serde_json::json;

use crate::doctor::Doctor;
use crate::harness::kubeconfig::ADMIN;
use crate::harness::linkerd::recordings;
use crate::harness::objects::ObjectSet;
use crate::harness::{Cluster, Options};

/// The API server stores an empty entry unchanged, and the bundle of the run records that it was empty.
#[test]
fn an_empty_issuer_key_is_an_error() {
    let Some(recordings) = recordings() else { return };
    let Some(cluster) = Cluster::start(Options::still()) else { return };
    cluster.seed(&ObjectSet::read(&recordings.join("healthy-2.18/cluster.json")));
    let doctor = Doctor::new(&cluster, ADMIN);
    let words = ["--only", "issuer-key-mismatch"];
    assert!(doctor.check_twice(&[], &words).found().is_empty(), "nothing is known of the seeded key");

    let path = "/api/v1/namespaces/linkerd/secrets/linkerd-identity-issuer";
    cluster.api.merge(path, &json!({"data": {"key.pem": ""}}));
    let ran = doctor.check_twice(&[], &words);
    assert_eq!(ran.status, 1);
    let found = ran.found();
    assert!(found.len() == 1 && found[0].starts_with("error issuer-key-mismatch "), "{found:?}");
    assert!(ran.document.findings[0].message.contains("is empty"), "{}", ran.document.findings[0].message);
}
