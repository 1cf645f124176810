//! Custom resources of third parties on a real server: a custom card reads them with the role that is printed
//! for it.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::doctor::Doctor;
use crate::harness::kubeconfig::ADMIN;
use crate::harness::{Cluster, Options};

const READER: &str = "reader";
const CHECK: &str = "certificate-not-ready";

/// The CustomResourceDefinition of cert-manager, as far as these tests need it.
fn definition() -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "certificates.cert-manager.io"},
        "spec": {
            "group": "cert-manager.io", "scope": "Namespaced",
            "names": {"kind": "Certificate", "listKind": "CertificateList", "plural": "certificates", "singular": "certificate"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

#[test]
fn a_custom_resource_is_asked_as_the_card_says() {
    let Some(mut cluster) = Cluster::start(Options::still().user(READER)) else { return };
    let cards = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/checks").join(format!("{CHECK}.md"));
    let cards = cards.to_str().unwrap();
    let words = ["--checks", cards, "--only", CHECK];
    let admin = Doctor::new(&cluster, ADMIN);

    let nothing = admin.check(&words);
    let why = nothing.document.checks[0].reason.clone().unwrap_or_default();
    assert_eq!((nothing.status, why.as_str()), (0, "the cluster has no certificates.cert-manager.io"));

    cluster.api.create(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "linkerd"}}));
    cluster.api.create(&definition());
    const PATH: &str = "/apis/cert-manager.io/v1/namespaces/linkerd/certificates";
    cluster.wait(Duration::from_secs(30), |api| match api.call("GET", PATH, "CertificateList", Vec::new()) {
        Ok(answer) if answer.status == 200 => Ok(()),
        Ok(answer) => Err(format!("certificates are not served yet: {}", answer.status)),
        Err(error) => Err(error),
    });
    cluster.api.post(PATH, &json!({
        "apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "issuer", "namespace": "linkerd"},
        "spec": {"secretName": "linkerd-identity-issuer"},
        "status": {"conditions": [{"type": "Ready", "status": "False", "message": "no such issuer"}]},
    }));
    let found = admin.check_twice(&[], &words);
    assert_eq!(found.found().len(), 1, "{:?}", found.found());

    // The reader may not list them; the printed role suffices.
    let reader = Doctor::new(&cluster, READER);
    assert_eq!(reader.check(&words).status, 3, "nothing can be read");
    let role = admin.words(&["rbac", "--checks", cards, "--only", CHECK]);
    let documents: Vec<Value> = serde_yaml_documents(&String::from_utf8(role.stdout).unwrap());
    let role = documents.iter().find(|document| document["kind"] == "ClusterRole").unwrap();
    cluster.grant(READER, &role["rules"]);
    let reader = Doctor::new(&cluster, READER).check(&words);
    reader.assert_same_but(&["redaction"], &found, "with the role that is printed");
}

fn serde_yaml_documents(text: &str) -> Vec<Value> {
    use serde::Deserialize as _;
    serde_yaml::Deserializer::from_str(text).map(|document| Value::deserialize(document).unwrap()).collect()
}
