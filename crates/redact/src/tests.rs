//! Canaries: secrets of each shape are removed in each place.

mod names;

use std::collections::BTreeMap;
use std::sync::Mutex;

use proptest::prelude::*;
use rcgen::KeyPair;
use serde_json::json;

use super::*;
use meshdoctor_objects::Kind;
use meshdoctor_test_support::{bound_token_payload, sample_token};

/// The rule of a kind, from the crate that defines the kinds.
pub(super) fn kind_rule(kind: Kind) -> &'static Rule {
    static RULES: Mutex<BTreeMap<Kind, &'static Rule>> = Mutex::new(BTreeMap::new());
    let new = || Box::leak(Box::new(rule(kind.info().passes).expect("a rule of a kind")));
    RULES.lock().unwrap().entry(kind).or_insert_with(|| new())
}

/// Redacts an object by its own kind; for a List, each item.
pub(super) fn sanitize(value: &mut serde_json::Value) -> Counts {
    let kind = value["kind"].as_str().unwrap_or_default().to_owned();
    if kind.ends_with("List")
        && let Some(serde_json::Value::Array(items)) = value.get_mut("items")
    {
        let mut counts = Counts::default();
        items.iter_mut().for_each(|item| counts += sanitize(item));
        return counts;
    }
    let known = Kind::ALL.iter().find(|known| known.info().kind == kind);
    object(&kind, known.map_or(unknown(), |known| kind_rule(*known)), value)
}

/// Part of every secret in these tests.
const CANARY: &str = "c4n4ryHunter2";

fn mk_jwt() -> String {
    // The signature part decodes to the canary, so look for its encoded form.
    sample_token(&bound_token_payload(), CANARY)
}

fn mk_private_key() -> String {
    format!("-----BEGIN EC PRIVATE KEY-----\n{CANARY}\nAAAA{CANARY}==\n-----END EC PRIVATE KEY-----\n")
}

#[test]
fn many_blocks_without_a_quote_are_linear() {
    let blocks = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n".repeat(20_000);
    let began = std::time::Instant::now();
    _ = text(&blocks);
    // With a search to the end for each block, this took over a minute.
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn only_a_jwt_is_hashed() {
    let jwt = mk_jwt();
    let clean = text(&jwt).into_owned();
    assert_eq!(clean, format!("REDACTED(sha256:{},len={})", crate::token::sha256_prefix(jwt.as_bytes()), jwt.len()));
    assert_eq!(text(&format!("token {jwt}, again {jwt}.")), format!("token {clean}, again {clean}."));
    assert_eq!(text(&format!("Bearer {jwt}")), format!("Bearer {clean}"));
    assert!(text(&format!("Bearer {CANARY}")).ends_with(&format!("REDACTED(len={})", CANARY.len())));
}

#[test]
fn secrets_of_each_shape_are_removed() {
    let half = mk_jwt().rsplit_once('.').unwrap().0.to_owned();
    for secret in [
        mk_jwt(),
        half.clone(),
        format!("\\n{half}"),
        mk_private_key(),
        mk_private_key().split("-----END").next().unwrap().to_owned(),
        mk_private_key().replace('\n', "\\n"),
        format!("https://user:{CANARY}@proxy.local:3128/path"),
        format!("http://{CANARY}@host"),
        format!("Authorization: Basic {CANARY}"),
        format!("\"Authorization\":[\"Bearer {CANARY}\"]"),
        format!("bearer {CANARY}"),
        format!("password={CANARY}"),
        format!("client_secret=password=\"first second {CANARY}\""),
        format!("note \\\"password=one\\\"two {CANARY}\\\"\""),
        format!("password=one\"two three\"four{CANARY}"),
        format!("password=one\"two three\"four\"five {CANARY}\" ok"),
        format!("--token={CANARY} --x"),
        format!("{{\"token\": \"{CANARY}\"}}"),
        format!("{{\\\"k8s_auth_token\\\":\\\"{CANARY}\\\"}}"),
        format!("access_token='{CANARY}'"),
        base64::Engine::encode(&base64::engine::general_purpose::STANDARD, mk_private_key()),
    ] {
        let clean = text(&secret).into_owned();
        for part in [
            CANARY,
            "eyJ",
            "LS0tLS1CRUdJTi",
            &base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, CANARY),
        ] {
            assert!(!clean.contains(part), "{secret}\n-> {clean}");
        }
        assert_eq!(text(&clean), clean, "redacting twice");
        assert_eq!(secret.lines().count(), clean.lines().count(), "lines stay: {clean}");
    }
}

#[test]
fn useful_text_is_kept() {
    for kept in [
        r#"plugin type="linkerd-cni" name="linkerd-cni" failed (add): Unauthorized"#,
        r#"MountVolume.SetUp failed for volume "certs" : secret "linkerd-identity-issuer" not found"#,
        r#"secretName: "web-tls", authority: "linkerd-dst:8086""#,
        "docker-pullable://nginx@sha256:0123456789abcdef",
        "dial tcp https://10.96.0.1:443/api/v1: i/o timeout, mail ops@example.com",
        "bearer authentication required; invalid bearer token, the token has expired",
        "authorization policy denied; is forbidden: User \"system:serviceaccount:linkerd-cni:linkerd-cni\"",
        "heyJude, keyJar",
    ] {
        assert_eq!(text(kept), kept);
    }
    let key = KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["a".into()]).unwrap().self_signed(&key).unwrap().pem();
    assert_eq!(text(&certificate), certificate, "certificates are public");
    let hidden = certificate.replacen("\nM", &format!("\n{CANARY}M"), 1);
    assert!(!text(&hidden).contains(CANARY), "text that only resembles a certificate is redacted");
}

#[test]
fn a_conflist_keeps_its_lines_and_columns() {
    let jwt = mk_jwt();
    let raw = format!(
        "{{\r\n  \"name\": \"k8s\",\r\n  \"plugins\": [{{\"policy\": {{\"k8s_auth_token\": \"{jwt}\", \"x\": 1}}, \"type\": \"linkerd-cni\"}}]\r\n}}"
    );
    let clean = String::from_utf8(config_bytes(raw.as_bytes()).into_owned()).unwrap();
    assert!(!clean.contains("eyJ") && clean.contains("REDACTED(sha256:"));
    let (before, after) = (raw.lines().nth(2).unwrap(), clean.lines().nth(2).unwrap());
    let column = after.find("\"type\"").unwrap() + 1;
    assert_eq!(original_column(after.as_bytes(), column), before.find("\"type\"").unwrap() + 1);
    serde_json::from_str::<serde_json::Value>(&clean).unwrap();
    assert!(clean.contains(r#""x": 1"#) && clean.contains(r#""name": "k8s""#));
}

#[test]
fn values_of_secret_keys_are_replaced() {
    let raw = json!({
        "TOKEN": CANARY, "a": [{"client-key-data": CANARY, "auth": {"x": [CANARY, {"y": CANARY}]}}],
        "dbPassword": CANARY, "my_secret": [CANARY], "pin-password": 123456, "name": "kept", "password": true,
        "k8s_auth_token": "__SERVICEACCOUNT_TOKEN__", "token": "",
    });
    let bytes = serde_json::to_vec(&raw).unwrap();
    let clean = config_bytes(&bytes);
    let value: serde_json::Value = serde_json::from_slice(&clean).unwrap();
    assert!(!String::from_utf8_lossy(&clean).contains(CANARY));
    assert_eq!((&value["name"], &value["password"], &value["token"]), (&json!("kept"), &json!(true), &json!("")));
    assert_eq!(value["k8s_auth_token"], "__SERVICEACCOUNT_TOKEN__");
    assert_eq!(value["pin-password"], 111111);
}

#[test]
fn truncated_and_odd_files_are_redacted() {
    let jwt = mk_jwt();
    let escaped = jwt.replacen("eyJ", "\\u0065yJ", 1);
    let wide =
        |text: &str, mark: &[u8]| [mark.to_vec(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat();
    let file = format!("{{\"plugins\": [{{\"token\": \"{CANARY}\", \"t\": \"{jwt}\"}}]}}");
    for raw in [
        format!("{{\"token\": \"{CANARY}").into_bytes(),
        format!("{{\"token\": {CANARY}, \"x\"").into_bytes(),
        format!("{{\"a\": \"b, \"token\": \"{CANARY}\"}}").into_bytes(),
        format!("{{\"\\u0074oken\": \"{CANARY}\"}}").into_bytes(),
        format!("{{\"x\": \"{escaped}\"}}").into_bytes(),
        format!("{{\"{jwt}\": 1}}").into_bytes(),
        format!("users:\n- user:\n    token: {CANARY}\n    client-key-data: {CANARY}\n").into_bytes(),
        format!("\u{FEFF}{file}").into_bytes(),
        wide(&file, &[0xFF, 0xFE]),
        wide(&file, &[]),
    ] {
        let clean = config_bytes(&raw).into_owned();
        let shown = String::from_utf8_lossy(&clean).replace('\0', "");
        assert!(!shown.contains(CANARY) && !shown.contains("eyJ") && !shown.contains("u0065yJ"), "{shown}");
        assert_eq!(config_bytes(&clean), clean, "redacting twice: {shown}");
    }
}

fn mk_pod() -> serde_json::Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "web", "managedFields": [{"manager": "kubectl"}],
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": CANARY, "linkerd.io/inject": "enabled",
                "example.com/api-token": CANARY, "example.com/big": CANARY.repeat(200),
                "config.linkerd.io/proxy-log-level": "warn",
            },
        },
        "spec": {
            "containers": [{
                "name": "app", "image": "app:1", "command": ["/linkerd-await", "--", CANARY], "args": [CANARY],
                "env": [{"name": "DB", "value": CANARY}, {"name": "LINKERD2_PROXY_LOG", "value": "warn"},
                        {"name": "REF", "valueFrom": {"secretKeyRef": {"name": "db", "key": "token"}}}],
                "livenessProbe": {"exec": {"command": ["sh", "-c", CANARY]}},
                "readinessProbe": {"httpGet": {"path": "/", "httpHeaders": [{"name": "Authorization", "value": CANARY}]}},
            }, {
                "name": "linkerd-proxy", "args": ["--kept"], "env": [{"name": "_pod_ns", "value": "x"}, {"name": "S", "value": CANARY}],
            }],
            "initContainers": [{"name": "linkerd-init", "args": ["--outbound-proxy-port", "4140"]}],
            "volumes": [{"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
                        {"name": "c", "secret": {"secretName": "web-tls"}}],
        },
        "status": {"containerStatuses": [{"name": "app", "imageID": "docker-pullable://nginx@sha256:ab",
                    "lastState": {"terminated": {"message": format!("login with {} failed", mk_jwt())}}}]},
    })
}

/// The script around a proxy shutdown request is removed, and the request stays.
#[test]
fn only_the_shutdown_request_of_a_script_is_kept() {
    let script = format!("./cleanup --key {CANARY}; curl -X POST http://localhost:4191/shutdown");
    let mut pod = mk_pod();
    pod["spec"]["containers"][0]["args"] = json!([script]);
    sanitize(&mut pod);
    assert!(!pod.to_string().contains(CANARY), "{pod}");
    assert_eq!(pod["spec"]["containers"][0]["args"][0], ":4191/shutdown");
}

#[test]
fn only_known_settings_of_linkerds_containers_are_kept() {
    let secret = "hunter2";
    let mut pod = mk_pod();
    pod["spec"]["containers"][1] = json!({
        "name": "linkerd-proxy",
        "command": ["/usr/lib/linkerd/linkerd2-proxy", secret],
        "args": ["--log-level", "warn", "-token", secret, "--flag", secret, format!("--flag={secret}"), secret,
            "--connect-addr", "1.1.1.1:20001", "--retries=3", "--retries", "3"],
        "env": [
            {"name": "LINKERD2_PROXY_FOO", "value": secret},
            {"name": "LINKERD2_PROXY_FOO_TIMEOUT", "value": "10s"},
            {"name": "LINKERD_FOO", "value": secret},
            {"name": "_foo", "value": secret},
            {"name": "LINKERD2_PROXY_INBOUND_DEFAULT_POLICY", "value": "all-unauthenticated"},
            {"name": "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS", "value": "127.0.0.1:4140,[::1]:4140"},
        ],
    });
    sanitize(&mut pod);
    let proxy = &pod["spec"]["containers"][1];
    assert!(!proxy.to_string().contains(secret), "{proxy}");
    let words = |field: &str| -> Vec<String> { serde_json::from_value(proxy[field].clone()).unwrap() };
    assert_eq!(words("command"), ["/usr/lib/linkerd/linkerd2-proxy", "REDACTED(len=7)"]);
    let hidden = "REDACTED(len=7)";
    assert_eq!(words("args")[..4], ["--log-level", "warn", "-token", hidden]);
    assert_eq!(words("args")[4..8], ["--flag", hidden, "--flag=REDACTED(len=7)", hidden]);
    assert_eq!(words("args")[8..], ["--connect-addr", "1.1.1.1:20001", "--retries=3", "--retries", "3"]);
    let values: Vec<&str> = (0..6).filter_map(|at| proxy["env"][at]["value"].as_str()).collect();
    let policy = "all-unauthenticated";
    assert_eq!(values, [hidden, "10s", hidden, hidden, policy, "127.0.0.1:4140,[::1]:4140"]);
}

#[test]
fn pod_keeps_only_nonsecret_fields_for_checks() {
    let mut pod = mk_pod();
    let counts = sanitize(&mut pod);
    let shown = pod.to_string();
    assert!(!shown.contains(CANARY) && !shown.contains("eyJ") && !shown.contains("managedFields"), "{shown}");
    assert!(counts.touched() && counts.dropped == 2, "{counts:?}");
    let app = &pod["spec"]["containers"][0];
    assert_eq!(app["command"][0], "/linkerd-await");
    assert_eq!(app["env"][1]["value"], "REDACTED(len=4)", "a name of a variable makes nothing Linkerd's");
    assert_eq!(app["env"][2]["valueFrom"]["secretKeyRef"]["key"], "token");
    assert_eq!(pod["spec"]["containers"][1]["args"][0], "--kept");
    assert_eq!(pod["spec"]["containers"][1]["env"][0]["value"], "x");
    assert_eq!(pod["spec"]["initContainers"][0]["args"][1], "4140");
    assert_eq!(pod["spec"]["volumes"][1]["secret"]["secretName"], "web-tls");
    assert_eq!(pod["metadata"]["annotations"]["linkerd.io/inject"], "enabled");
    assert_eq!(pod["status"]["containerStatuses"][0]["imageID"], "docker-pullable://nginx@sha256:ab");
    let once = pod.clone();
    assert!(!sanitize(&mut pod).touched());
    assert_eq!(pod, once, "redacting twice");
}

#[test]
fn templates_at_any_depth_and_lists_are_reached() {
    let mut revision = json!({"kind": "ControllerRevision", "data": {"spec": {"template": mk_pod()}}});
    sanitize(&mut revision);
    let mut list = json!({"kind": "PodList", "items": [mk_pod()]});
    sanitize(&mut list);
    assert!(!revision.to_string().contains(CANARY) && !list.to_string().contains(CANARY));
    let mut plane = json!({"kind": "Deployment", "spec": {"template": {
        "metadata": {"labels": {"linkerd.io/control-plane-component": "x"}},
        "spec": {"containers": [{"name": "renamed", "image": "r.example.com/linkerd/controller:1", "args": ["-controller-namespace=linkerd"]}]}}}});
    assert!(!sanitize(&mut plane).touched(), "{plane}");
}

#[test]
fn secret_keeps_certificates_and_key_match() {
    use base64::Engine as _;
    let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let (own, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let certificate = rcgen::CertificateParams::new(vec!["a".into()]).unwrap().self_signed(&own).unwrap().pem();
    let mk = |key: &KeyPair| {
        json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": {"name": "linkerd-identity-issuer"},
               "stringData": {"x": CANARY}, "surprise": CANARY,
               "data": {"tls.crt": encode(&format!("{}{certificate}", key.serialize_pem())), "tls.key": encode(&key.serialize_pem()),
                        "token": encode(CANARY), "ca.crt": encode(CANARY)}})
    };
    let key_body = |key: &KeyPair| key.serialize_pem().lines().nth(1).unwrap().to_owned();
    for (key, answer) in [(&own, "true"), (&other, "false")] {
        let mut secret = mk(key);
        let counts = sanitize(&mut secret);
        assert_eq!(secret["metadata"]["annotations"][KEY_MATCHES], answer);
        assert_eq!(secret["data"].as_object().unwrap().keys().collect::<Vec<_>>(), ["tls.crt"]);
        assert_eq!(secret["type"], "kubernetes.io/tls");
        let kept =
            base64::engine::general_purpose::STANDARD.decode(secret["data"]["tls.crt"].as_str().unwrap()).unwrap();
        let kept = String::from_utf8(kept).unwrap();
        assert!(kept.contains("BEGIN CERTIFICATE") && !kept.contains(&key_body(key)));
        assert!(!secret.to_string().contains(CANARY) && !secret.to_string().contains(&encode(CANARY)));
        assert_eq!((counts.certificates, counts.dropped), (1, 5));
        let once = secret.clone();
        sanitize(&mut secret);
        assert_eq!(secret, once, "redacting twice keeps the answer");
    }
    let mut keyless = mk(&own);
    keyless["data"].as_object_mut().unwrap().remove("tls.key");
    let mut handed_on = keyless.clone();
    sanitize(&mut handed_on);
    assert_eq!(handed_on["metadata"]["annotations"][KEY_MATCHES], "unknown", "an earlier tool may have removed it");
    note_absent_key(&mut keyless);
    sanitize(&mut keyless);
    assert_eq!(keyless["metadata"]["annotations"][KEY_MATCHES], "absent");
    let mut garbage = mk(&own);
    garbage["data"]["tls.key"] = encode("no key, though one would think so").into();
    let mut handed_on = garbage.clone();
    sanitize(&mut handed_on);
    assert_eq!(handed_on["metadata"]["annotations"][KEY_MATCHES], "unknown", "a word may stand for it");
    note_absent_key(&mut garbage);
    sanitize(&mut garbage);
    assert_eq!(garbage["metadata"]["annotations"][KEY_MATCHES], "unreadable");
    for empty in [json!(""), json!(null), json!(encode("\n"))] {
        let mut emptied = mk(&own);
        emptied["data"]["tls.key"] = empty;
        let mut handed_on = emptied.clone();
        sanitize(&mut handed_on);
        assert_eq!(handed_on["metadata"]["annotations"][KEY_MATCHES], "unknown", "dumps blank the key");
        note_absent_key(&mut emptied);
        sanitize(&mut emptied);
        assert_eq!(emptied["metadata"]["annotations"][KEY_MATCHES], "empty");
        sanitize(&mut emptied);
        assert_eq!(emptied["metadata"]["annotations"][KEY_MATCHES], "empty", "a bundle keeps it");
    }
    let mut both_layouts = mk(&own);
    both_layouts["data"]["key.pem"] = both_layouts["data"]["tls.key"].take();
    both_layouts["data"]["tls.key"] = json!("");
    note_absent_key(&mut both_layouts);
    sanitize(&mut both_layouts);
    assert_eq!(both_layouts["metadata"]["annotations"][KEY_MATCHES], "empty", "tls.key belongs to tls.crt");
    let mut whole = mk(&own);
    note_absent_key(&mut whole);
    sanitize(&mut whole);
    assert_eq!(whole["metadata"]["annotations"][KEY_MATCHES], "true");
    let mut roots = json!({"kind": "Secret", "data": {"ca-bundle.crt": encode(&certificate)}});
    sanitize(&mut roots);
    assert_eq!(roots["metadata"]["annotations"][KEY_MATCHES], "unknown");
}

#[test]
fn only_config_maps_that_are_read_keep_their_data() {
    let mk = |namespace: &str, name: &str, data: serde_json::Value| {
        let mut map = json!({"kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data});
        sanitize(&mut map);
        map["data"].clone()
    };
    let foreign = mk("shop", "settings", json!({"a.yaml": CANARY}));
    assert_eq!(foreign["a.yaml"], format!("REDACTED(len={})", CANARY.len()));
    assert_eq!(mk("kube-system", "cilium-config", json!({"cni-exclusive": "false"}))["cni-exclusive"], "false");
    assert_ne!(mk("shop", "cilium-config", json!({"cni-exclusive": "false"}))["cni-exclusive"], "false");
    let others = json!({"cluster-name": "prod", "cni-chaining-target": "aws-cni"});
    let kept = mk("kube-system", "cilium-config", others);
    assert_eq!(kept["cni-chaining-target"], "aws-cni");
    assert_ne!(kept["cluster-name"], "prod");
    let values = format!(
        "cniEnabled: true\nidentity:\n  issuer:\n    scheme: kubernetes.io/tls\n  serviceAccountTokenProjection: true\nimagePullSecrets: []\nlicense: {CANARY}\nx: |\n  {}",
        mk_private_key().replace('\n', "\n  ")
    );
    let values = mk("linkerd", "linkerd-config", json!({"values": values}));
    let values = values["values"].as_str().unwrap();
    assert!(!values.contains(CANARY), "{values}");
    for kept in ["cniEnabled: true", "serviceAccountTokenProjection: true", "imagePullSecrets: []", "kubernetes.io/tls"]
    {
        assert!(values.contains(kept), "{kept} in {values}");
    }
    let template =
        r#"{"policy": {"k8s_auth_token": "__SERVICEACCOUNT_TOKEN__"}, "linkerd": {"iptables-mode": "plain"}}"#;
    let cni = mk(
        "linkerd-cni",
        "linkerd-cni-config",
        json!({"cni_network_config": template, "dest_cni_net_dir": "/etc/cni/net.d"}),
    );
    assert_eq!(
        (cni["cni_network_config"].as_str(), cni["dest_cni_net_dir"].as_str()),
        (Some(template), Some("/etc/cni/net.d"))
    );
}

#[test]
fn unquoted_private_key_is_removed_completely() {
    let raw = format!("\"password=\":{}", mk_private_key());
    let clean = config_bytes(raw.as_bytes()).into_owned();
    let shown = String::from_utf8_lossy(&clean);
    assert!(!shown.contains(CANARY) && !shown.contains("PRIVATE KEY"), "{shown}");
}

fn mk_hostile() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(mk_jwt()),
        Just(mk_private_key()),
        Just(format!("\"token\": \"{CANARY}\"")),
        Just("REDACTED(len=7)".to_owned()),
        Just("REDACTED(sha256:a1b2c3d4e5f6,len=7)".to_owned()),
        Just("https://u:p@h".to_owned()),
        Just("password=".to_owned()),
        "[\\[\\]{}:,\"\\\\ \n'=.@/-]{1,4}",
        "[a-z]{1,6}",
        ".{0,3}",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #[test]
    fn no_jwt_or_key_survives(raw in mk_hostile()) {
        let clean = config_bytes(&raw).into_owned();
        let shown = String::from_utf8_lossy(&clean).into_owned();
        prop_assert!(!shown.contains(&mk_jwt()) && !shown.contains("EC PRIVATE KEY-----\n"), "{}", shown);
        prop_assert_eq!(config_bytes(&clean).into_owned(), clean.clone(), "twice");
        let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
        prop_assert_eq!(lines(&raw), lines(&clean));
    }

    #[test]
    fn texts_are_redacted_once_and_keep_their_lines(raw in mk_hostile()) {
        let raw = String::from_utf8_lossy(&raw).into_owned();
        let clean = text(&raw).into_owned();
        prop_assert!(!clean.contains(&mk_jwt()));
        prop_assert_eq!(raw.matches('\n').count(), clean.matches('\n').count());
        prop_assert_eq!(text(&clean).into_owned(), clean);
    }

    #[test]
    fn any_bytes_are_survived(raw in proptest::collection::vec(any::<u8>(), 0..200)) {
        let clean = config_bytes(&raw).into_owned();
        prop_assert_eq!(config_bytes(&clean).into_owned(), clean);
    }
}

#[test]
fn link_credentials_keep_only_the_address() {
    use base64::Engine as _;
    let kubeconfig = "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: e, cluster: {server: \"https://e:6443\", \
        certificate-authority-data: Y2FuYXJ5}}]\ncontexts: [{name: c, context: {cluster: e, user: u}}]\nusers: [{name: u, \
        user: {token: canary-token, client-key-data: Y2FuYXJ5LWtleQ==}}]\n";
    let data = base64::engine::general_purpose::STANDARD.encode(kubeconfig);
    let mut secret = serde_json::json!({
        "apiVersion": "v1", "kind": "Secret", "type": "mirror.linkerd.io/remote-kubeconfig",
        "metadata": {"name": "cluster-credentials-e", "namespace": "linkerd-multicluster"},
        "data": {"kubeconfig": data},
    });
    sanitize(&mut secret);
    let once = secret.to_string();
    for canary in ["canary", "Y2FuYXJ5", &data] {
        assert!(!once.contains(canary), "{once}");
    }
    assert!(once.contains("https://e:6443"), "{once}");
    sanitize(&mut secret);
    assert_eq!(secret.to_string(), once, "a second pass changes nothing");
}
