//! What a bundle keeps of a Kubernetes object.
//!
//! Everything a check reads stays; what could hold a secret and is read by no check goes. Dropped whole:
//! managed fields, copies of the object in annotations, private keys. Replaced by a marker: values of
//! environment variables and arguments of containers that are not Linkerd's, data of other ConfigMaps,
//! and secrets in any text.

use std::ops::AddAssign;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::certificate::{KeyMatches, certificates_only, key_matches};
use super::marker::{Marker, stand_in};
use super::pem::block;
use super::{json, keys, remote, text};

/// Annotation of a redacted Secret: whether its private key belonged to its certificate.
pub const KEY_MATCHES: &str = "meshdoctor.io/key-matches";

/// What redacting did, for the record of a bundle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Fields removed: managed fields, annotations with a copy of the object, entries of Secrets.
    pub dropped: usize,
    /// Values replaced by a marker.
    pub replaced: usize,
    /// Certificates kept from Secrets.
    pub certificates: usize,
}

impl Counts {
    /// Whether anything was replaced or dropped.
    pub fn touched(self) -> bool {
        self.dropped > 0 || self.replaced > 0
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.dropped += other.dropped;
        self.replaced += other.replaced;
        self.certificates += other.certificates;
    }
}

/// Entries of Secrets that hold certificates.
const CERTIFICATES: [&str; 4] = ["tls.crt", "crt.pem", "ca.crt", "ca-bundle.crt"];
/// Entries of Secrets that hold the private key to `tls.crt` or `crt.pem`.
const PRIVATE_KEYS: [&str; 2] = ["tls.key", "key.pem"];
/// ConfigMaps whose data is read: Linkerd's, the CNI's, and the cluster's root certificate.
const CONFIG_MAPS: [&str; 4] =
    ["linkerd-config", "linkerd-cni-config", "linkerd-identity-trust-roots", "kube-root-ca.crt"];
/// What is read of Cilium's ConfigMap, which holds all of its settings.
const CILIUM: [&str; 4] =
    ["cni-exclusive", "cni-chaining-mode", "cni-chaining-target", "write-cni-conf-when-ready"];
/// Containers whose arguments are read: injected ones, the CNI installer's, the control plane's.
const CONTAINERS: [&str; 21] = [
    "linkerd-proxy",
    "linkerd-init",
    "linkerd-network-validator",
    "linkerd-debug",
    "install-cni",
    "repair-controller",
    "identity",
    "destination",
    "policy",
    "sp-validator",
    "proxy-injector",
    "heartbeat",
    "controller",
    "public-api",
    "metrics-api",
    "tap",
    "tap-injector",
    "web",
    "service-mirror",
    "gateway",
    "pause",
];
/// Labels that only Linkerd's own workloads carry.
const COMPONENT_LABELS: [&str; 3] =
    ["linkerd.io/control-plane-component", "linkerd.io/cni-resource", "linkerd.io/extension"];
/// Environment variables of the CNI installer that are read.
const ENV: [&str; 8] = [
    "DEST_CNI_NET_DIR",
    "DEST_CNI_BIN_DIR",
    "CNI_NETWORK_CONFIG",
    "CNI_CONF_NAME",
    "KUBECONFIG_FILE_NAME",
    "KUBECONFIG_MODE",
    "SKIP_TLS_VERIFY",
    "SLEEP",
];
/// The type of the Secrets in which links keep their credentials.
const REMOTE_KUBECONFIG: &str = "mirror.linkerd.io/remote-kubeconfig";
/// Annotations longer than this are somebody's data, unless they are Linkerd's own. Bytes.
const MAX_ANNOTATION: usize = 1024;

/// Removes from an object what a bundle does not keep.
pub fn object(value: &mut Value) -> Counts {
    let mut counts = Counts::default();
    match value["kind"].as_str().unwrap_or_default() {
        "Secret" => secret(value, &mut counts),
        "ConfigMap" => config_map(value, &mut counts),
        _ => {}
    }
    // A List, as kubectl prints it: item by item.
    if value["kind"].as_str().is_some_and(|kind| kind.ends_with("List"))
        && let Some(Value::Array(items)) = value.get_mut("items")
    {
        for item in items {
            counts += object(item);
        }
        return counts;
    }
    walk(value, "", is_linkerds(value), &mut counts);
    counts
}

/// Does a label say that this is part of Linkerd?
fn is_linkerds(value: &Value) -> bool {
    COMPONENT_LABELS.iter().any(|label| value["metadata"]["labels"].get(label).is_some())
}

fn walk(value: &mut Value, key: &str, linkerds: bool, counts: &mut Counts) {
    match value {
        Value::Object(map) => {
            if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
                self::metadata(metadata, counts);
            }
            for (key, value) in map.iter_mut() {
                match key.as_str() {
                    "containers" | "initContainers" | "ephemeralContainers" => {
                        for item in value.as_array_mut().into_iter().flatten() {
                            container(item, linkerds, counts);
                        }
                    }
                    // Public by nature, and any letters may occur in it.
                    "caBundle" => {}
                    _ => {
                        let linkerds = linkerds || key == "template" && is_linkerds(value);
                        walk(value, key, linkerds, counts);
                    }
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, key, linkerds, counts)),
        Value::String(content) => string(content, key, counts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Fields of API objects that hold a secret by their very name. (References such as `secretName` do not.)
fn is_secret_field(key: &str) -> bool {
    matches!(
        key.to_ascii_lowercase().as_str(),
        "token"
            | "password"
            | "passwd"
            | "k8s_auth_token"
            | "apikey"
            | "accesskey"
            | "secretkey"
            | "clientsecret"
            | "secretaccesskey"
            | "privatekey"
            | "authorization"
            | "bearertoken"
            | "client-key-data"
            | "stringdata"
    )
}

fn string(content: &mut String, key: &str, counts: &mut Counts) {
    if is_secret_field(key) {
        replace(content, counts);
    } else if let std::borrow::Cow::Owned(clean) = text::text(content) {
        *content = clean;
        counts.replaced += 1;
    }
}

/// Replaces the whole of a text, unless it is empty or was replaced before.
fn replace(content: &mut String, counts: &mut Counts) {
    if !content.is_empty() && Marker::whole(content.as_bytes()).is_none() {
        *content = stand_in(content.as_bytes());
        counts.replaced += 1;
    }
}

fn metadata(metadata: &mut Map<String, Value>, counts: &mut Counts) {
    counts.dropped += usize::from(metadata.remove("managedFields").is_some());
    let Some(Value::Object(annotations)) = metadata.get_mut("annotations") else { return };
    let before = annotations.len();
    annotations.retain(|key, _| !holds_a_copy(key));
    counts.dropped += before - annotations.len();
    for (key, value) in annotations.iter_mut() {
        let Value::String(content) = value else { continue };
        let linkerds = key.contains("linkerd") || key == KEY_MATCHES || key == remote::KUBECONFIG;
        let secret = !linkerds && keys::is_secret_in_text(key.rsplit('/').next().unwrap_or(key));
        if secret || !linkerds && content.len() > MAX_ANNOTATION {
            replace(content, counts);
        }
    }
}

/// Annotations in which a tool keeps the whole object as it was applied.
fn holds_a_copy(key: &str) -> bool {
    key.contains("last-applied")
        || key.contains("last-handled")
        || key.ends_with("/applied")
        || key.ends_with("/original")
}

/// Is this the name of a container of Linkerd's, whose arguments are kept?
pub fn is_linkerd_container(name: &str) -> bool {
    CONTAINERS.contains(&name)
}

fn container(value: &mut Value, linkerds: bool, counts: &mut Counts) {
    let keeps = linkerds || value["name"].as_str().is_some_and(is_linkerd_container);
    if let Some(Value::Array(env)) = value.get_mut("env") {
        for variable in env {
            let name = variable["name"].as_str().unwrap_or_default();
            let proxys = name.starts_with("LINKERD2_PROXY_");
            let installers =
                keeps && (name.starts_with('_') || name.starts_with("LINKERD_") || ENV.contains(&name));
            if let (false, Some(Value::String(content))) = (proxys || installers, variable.get_mut("value")) {
                replace(content, counts);
            }
        }
    }
    if !keeps {
        strangers(value, counts);
    }
    walk(value, "", linkerds, counts);
}

/// Arguments, commands and headers of a container that is not Linkerd's. The program's name stays: whether
/// it is `linkerd-await` matters.
fn strangers(value: &mut Value, counts: &mut Counts) {
    let Value::Object(map) = value else { return };
    for (key, value) in map.iter_mut() {
        match (key.as_str(), &mut *value) {
            ("args" | "command", Value::Array(words)) => {
                for (index, word) in words.iter_mut().enumerate() {
                    let Value::String(content) = word else { continue };
                    let program = key == "command" && index == 0 && !content.contains([' ', '=', '\n']);
                    if !program && !content.contains("linkerd-await") {
                        replace(content, counts);
                    }
                }
            }
            ("httpHeaders", Value::Array(headers)) => {
                for header in headers {
                    if let Some(Value::String(content)) = header.get_mut("value") {
                        replace(content, counts);
                    }
                }
            }
            ("env", _) => {}
            (_, Value::Object(_)) => strangers(value, counts),
            _ => {}
        }
    }
}

fn config_map(value: &mut Value, counts: &mut Counts) {
    let name = value["metadata"]["name"].as_str().unwrap_or_default();
    let cilium = name == "cilium-config" && value["metadata"]["namespace"].as_str() == Some("kube-system");
    let known = CONFIG_MAPS.contains(&name);
    if let Some(Value::Object(data)) = value.get_mut("data") {
        for (key, entry) in data.iter_mut() {
            let Value::String(content) = entry else { continue };
            let keeps = known || cilium && CILIUM.contains(&key.as_str());
            if !keeps || keys::is_secret_in_text(key) && !keys::is_harmless(content.as_bytes()) {
                replace(content, counts);
                continue;
            }
            // Both hold names and values, as JSON or YAML, where a telling name counts.
            let clean = if content.trim_start().starts_with(['{', '[']) {
                json::json_bytes(content.as_bytes())
            } else {
                text::yaml_bytes(content.as_bytes())
            };
            if *clean != *content.as_bytes() {
                *entry = Value::String(String::from_utf8_lossy(&clean).into_owned());
                counts.replaced += 1;
            }
        }
    }
    if let Some(Value::Object(data)) = value.get_mut("binaryData") {
        for entry in data.values_mut() {
            if let Value::String(content) = entry {
                replace(content, counts);
            }
        }
    }
}

fn secret(value: &mut Value, counts: &mut Counts) {
    let Value::Object(map) = value else { return };
    let data = match map.remove("data") {
        Some(Value::Object(data)) => data,
        Some(_) | None => Map::new(),
    };
    counts.dropped += usize::from(map.remove("stringData").is_some());
    let decoded =
        |key: &str| data.get(key).and_then(Value::as_str).and_then(|text| STANDARD.decode(text.trim()).ok());
    let first = |names: &[&str]| names.iter().find_map(|name| decoded(name));
    let had_key = PRIVATE_KEYS.iter().any(|key| data.contains_key(*key));
    let matches = match (first(&["tls.crt", "crt.pem"]), first(&PRIVATE_KEYS)) {
        (Some(certificate), Some(key)) => key_matches(&certificate, &key),
        _ => KeyMatches::Unknown,
    };

    let access = remote_access(map, &data);
    let mut kept = Map::new();
    for name in CERTIFICATES {
        if let Some(pem) = decoded(name).and_then(|pem| certificates_only(&pem)) {
            counts.certificates += pem.matches("-----BEGIN CERTIFICATE-----").count();
            kept.insert(name.to_owned(), Value::String(STANDARD.encode(pem)));
        }
    }
    counts.dropped += data.keys().filter(|key| !kept.contains_key(*key)).count();
    // Fields that no Secret has, or will have one day: nothing here can be known to be harmless.
    let before = map.len();
    map.retain(|key, _| matches!(key.as_str(), "apiVersion" | "kind" | "metadata" | "type" | "immutable"));
    counts.dropped += before - map.len();
    map.insert("data".to_owned(), Value::Object(kept));

    let metadata = map.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(metadata) = metadata else { return };
    let annotations = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    if !annotations.is_object() {
        *annotations = Value::Object(Map::new());
    }
    if let Value::Object(annotations) = annotations {
        // Without a key there is nothing to compare: the answer of an earlier pass stands.
        let earlier = annotations.get(KEY_MATCHES).and_then(Value::as_str);
        let earlier = earlier.filter(|answer| KeyMatches::of(Some(answer)) != KeyMatches::Unknown);
        if had_key || earlier.is_none() {
            annotations.insert(KEY_MATCHES.to_owned(), Value::String(matches.as_str().to_owned()));
        }
        if let Some(access) = access {
            annotations.insert(remote::KUBECONFIG.to_owned(), Value::String(access));
        }
    }
}

/// Notes of a Secret with a certificate that it has no entry for a key, or one with a text in which there is no key at all.
/// Only for what was read first-hand: others leave the key out of what they hand on, or put a word in its place. Before
/// [`object`], which drops the entries.
pub fn note_absent_key(value: &mut Value) {
    let Some(Value::Object(data)) = value.get_mut("data") else { return };
    let certified = ["tls.crt", "crt.pem"].iter().any(|name| data.contains_key(*name));
    let texts: Vec<Vec<u8>> = PRIVATE_KEYS
        .iter()
        .filter_map(|name| STANDARD.decode(data.get(*name)?.as_str()?.trim()).ok())
        .collect();
    let keyless = PRIVATE_KEYS.iter().all(|name| !data.contains_key(*name));
    let garbage = !texts.is_empty()
        && texts.iter().all(|text| !text.is_empty() && block(&String::from_utf8_lossy(text)).is_none());
    if !certified || !(keyless || garbage) || value["kind"] != "Secret" {
        return;
    }
    let said = if keyless { KeyMatches::Absent } else { KeyMatches::Unreadable };
    if let Some(Value::Object(data)) = value.get_mut("data") {
        data.retain(|name, _| !PRIVATE_KEYS.contains(&name.as_str()));
    }
    if let Some(Value::Object(metadata)) = value.get_mut("metadata")
        && let Value::Object(annotations) =
            metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()))
    {
        annotations.insert(KEY_MATCHES.to_owned(), Value::String(said.as_str().to_owned()));
    }
}

/// What a link's credentials say of themselves, as JSON; `None` for Secrets that are none, or that came without data.
fn remote_access(secret: &Map<String, Value>, data: &Map<String, Value>) -> Option<String> {
    let is_links = secret.get("type").and_then(Value::as_str) == Some(REMOTE_KUBECONFIG);
    if data.is_empty() || !(is_links || data.contains_key(remote::ENTRY)) {
        return None;
    }
    let kubeconfig = match data.get(remote::ENTRY).and_then(Value::as_str) {
        // No API server hands out anything but base64: somebody put a word in its place.
        Some(text) => Some(STANDARD.decode(text.trim()).ok()?),
        None => None,
    };
    serde_json::to_string(&remote::RemoteAccess::read(kubeconfig.as_deref())).ok()
}
