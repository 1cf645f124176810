//! No token, no part of a signature and no private key is ever printed: not in any form of the report, not
//! with `-v`, not in a bundle, not in an error. Secrets are planted wherever users and Linkerd put them.

use std::path::Path;

use crate::binary::meshdoctor;

/// Texts that must never be printed. The first is a signature, the second the middle of a key.
const SIGNATURE: &str = "c2lnbmF0dXJlLWNhbmFyeS0wMDEtZG8tbm90LXByaW50";
const KEY: &str = "TUlJQ2Rrey1jYW5hcnktcHJpdmF0ZS1rZXktZG8tbm90LXByaW50";
const PASSWORD: &str = "canary-pässword-do-not-print";

/// A service-account token in the form Kubernetes gives it, with the canary as its signature.
pub fn token() -> String {
    use base64::Engine;
    let part = |value: serde_json::Value| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string());
    let header = part(serde_json::json!({ "alg": "RS256", "kid": "canary" }));
    let claims = part(serde_json::json!({
        "iss": "https://kubernetes.default.svc", "sub": "system:serviceaccount:linkerd-cni:linkerd-cni",
        "iat": 1_768_000_000, "exp": 1_799_536_000,
        "kubernetes.io": { "namespace": "linkerd-cni", "node": { "name": "n1" },
            "pod": { "name": "linkerd-cni-old", "uid": "gone" }, "serviceaccount": { "name": "linkerd-cni", "uid": "sa" } },
    }));
    format!("{header}.{claims}.{SIGNATURE}")
}

fn private_key() -> String {
    format!("-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----\n")
}

fn encoded(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// A dump and a node's directory with a secret in every place.
fn plant(folder: &Path) {
    let token = token();
    let pod = serde_json::json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "web-1", "namespace": "shop", "uid": "u1",
            "annotations": {
                "config.linkerd.io/proxy-log-level": format!("debug,{token}"),
                "config.linkerd.io/nonsense": token,
                "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"password\":\"{PASSWORD}\"}}"),
            } },
        "spec": { "nodeName": "n1", "containers": [{ "name": "web", "image": "web:1",
            "args": [format!("--password={PASSWORD}")],
            "env": [{ "name": "DB_PASSWORD", "value": PASSWORD }, { "name": "TOKEN", "value": token }] }] },
        "status": { "phase": "Pending", "containerStatuses": [{ "name": "web", "state": { "waiting": {
            "reason": "ContainerCreating", "message": format!("env TOKEN={token}") } } }] },
    });
    let event = serde_json::json!({
        "apiVersion": "v1", "kind": "Event", "metadata": { "name": "e1", "namespace": "shop" },
        "involvedObject": { "kind": "Pod", "namespace": "shop", "name": "web-1", "uid": "u1" },
        "reason": "FailedCreatePodSandBox", "type": "Warning", "count": 3, "lastTimestamp": "2026-01-15T11:59:00Z",
        "message": format!("Failed to create pod sandbox: plugin type=\"linkerd-cni\" name=\"linkerd-cni\" failed (add): Get \"https://u:{PASSWORD}@10.0.0.1\": bearer {token}: Unauthorized"),
    });
    let secret = serde_json::json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "linkerd-proxy-injector-k8s-tls", "namespace": "linkerd" },
        "data": { "tls.key": encoded(&private_key()), "tls.crt": encoded(&private_key()), "token": encoded(&token) },
    });
    let config = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "linkerd-config", "namespace": "linkerd" },
        "data": { "values": format!("linkerdVersion: edge-25.4.4\nidentity: {{issuer: {{tls: {{keyPEM: \"{}\"}}}}}}\nnote: {token}\n", private_key().replace('\n', "\\n")) },
    });
    let others = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "app", "namespace": "shop" },
        "data": { "password": PASSWORD },
    });
    let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": [pod, event, secret, config, others] });
    std::fs::write(folder.join("cluster.json"), list.to_string()).unwrap();

    let node = folder.join("net.d");
    std::fs::create_dir(&node).unwrap();
    let conflist = serde_json::json!({ "name": "aws-cni", "cniVersion": "0.4.0", "plugins": [
        { "type": "aws-cni", "password": PASSWORD },
        { "type": "linkerd-cni", "name": "linkerd-cni", "policy": { "type": "k8s", "k8s_auth_token": token },
          "kubernetes": { "kubeconfig": "/etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig" }, "linkerd": { "iptables-mode": "sideways" } },
    ] });
    std::fs::write(node.join("10-aws.conflist"), format!("{conflist:#}")).unwrap();
    std::fs::write(
        node.join("20-broken.conflist"),
        format!("{{\"plugins\": [{{\"token\": \"{token}\", \"password\": \"{PASSWORD}\""),
    )
    .unwrap();
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\nclusters: [{{name: local, cluster: {{server: 'https://10.96.0.1:443'}}}}]\nusers: [{{name: linkerd-cni, user: {{token: {token}, client-key-data: {}}}}}]\ncontexts: [{{name: linkerd-cni-context, context: {{cluster: local, user: linkerd-cni}}}}]\ncurrent-context: linkerd-cni-context\n",
        encoded(&private_key())
    );
    std::fs::write(node.join("ZZZ-linkerd-cni-kubeconfig"), kubeconfig).unwrap();
}

/// Panics if a secret is in these bytes, as it is or encoded once more.
pub fn clean(what: &str, bytes: &[u8]) {
    let signature = &SIGNATURE[4..28];
    let hidden =
        [signature.to_owned(), KEY[4..30].to_owned(), PASSWORD.to_owned(), encoded(SIGNATURE)[8..40].to_owned()];
    for secret in hidden {
        assert!(
            !bytes.windows(secret.len()).any(|window| window == secret.as_bytes()),
            "{what} holds {secret:?}:\n{}",
            String::from_utf8_lossy(bytes)
        );
    }
}

#[test]
fn no_form_of_the_report_holds_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    plant(folder.path());
    let cluster = folder.path().join("cluster.json").display().to_string();
    let node = format!("n1={}", folder.path().join("net.d").display());
    let mut said_something = 0;
    for form in ["table", "short", "json", "yaml"] {
        for complete in [&[][..], &["--complete", "all"]] {
            let mut args = vec![
                "check",
                "--bundle",
                &cluster,
                "--nodes",
                &node,
                "-v=2",
                "-o",
                form,
                "--at",
                "2026-01-15T12:00:00Z",
            ];
            args.extend(complete);
            let output = meshdoctor(&args).output().unwrap();
            clean(&format!("standard output of {args:?}"), &output.stdout);
            clean(&format!("standard error of {args:?}"), &output.stderr);
            said_something += usize::from(String::from_utf8_lossy(&output.stdout).contains("cni-add-unauthorized"));
        }
    }
    assert_eq!(said_something, 8, "the planted trouble is found, so the evidence did pass the border");
}

#[test]
fn no_bundle_holds_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    plant(folder.path());
    let cluster = folder.path().join("cluster.json").display().to_string();
    let node = format!("n1={}", folder.path().join("net.d").display());
    let bundle = folder.path().join("saved");
    let target = format!("{}/", bundle.display());
    let output = meshdoctor(&["collect", "-o", &target, "--bundle", &cluster, "--complete", "all", "--nodes", &node])
        .output()
        .unwrap();
    clean("what collect says", &[output.stdout, output.stderr].concat());
    let mut files = 0;
    for entry in walkdir::WalkDir::new(&bundle) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            files += 1;
            clean(&entry.path().display().to_string(), &std::fs::read(entry.path()).unwrap());
        }
    }
    assert!(files > 5, "a bundle of {files} files");
}

#[test]
fn no_ticket_holds_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    plant(folder.path());
    let cluster = folder.path().join("cluster.json").display().to_string();
    let node = format!("n1={}", folder.path().join("net.d").display());
    let args = ["--bundle", &cluster, "--complete", "all", "--nodes", &node];
    let listed = meshdoctor(&[&["ticket", "--dry-run"], &args[..]].concat()).output().unwrap();
    clean("the list of a ticket", &[listed.stdout, listed.stderr].concat());
    let ticket = folder.path().join("ticket");
    let target = format!("{}/", ticket.display());
    let output = meshdoctor(&[&["ticket", "-o", &target], &args[..]].concat()).output().unwrap();
    clean("what ticket says", &[output.stdout, output.stderr].concat());
    let mut read = String::new();
    for entry in walkdir::WalkDir::new(&ticket) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            clean(&entry.path().display().to_string(), &bytes);
            read.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    assert!(read.contains("cni-add-unauthorized"), "the planted trouble is in it");
}

#[test]
fn errors_hold_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let token = token();
    for (name, text) in [
        ("half.json", format!("{{\"kind\": \"Secret\", \"data\": {{\"token\": \"{token}\"")),
        (
            "wrong.json",
            format!(
                "{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"p\"}},\"spec\":\"{token}\"}}]}}"
            ),
        ),
        ("neither.txt", format!("token: [{token}\n  - {PASSWORD}")),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let output = meshdoctor(&["check", "-v=2", "-o", "json", "--bundle", path.to_str().unwrap()]).output().unwrap();
        clean(name, &[output.stdout, output.stderr].concat());
    }
}
