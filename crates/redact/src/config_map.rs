//! Data of ConfigMaps that is kept: known settings of Linkerd, its CNI plugin, Kubernetes and Cilium; of chart values
//! numbers, booleans, names and certificates. All other data is replaced.

use std::borrow::Cow;

use serde_json::Value;
use serde_yaml::Value as Yaml;

use super::allow::Rule;
use super::component::is_setting;
use super::corefile::Corefile;
use super::object::{Counts, leaf, masked, replace};
use super::scrape::ScrapeConfig;
use super::{controller_setting, json, keys, text};
use crate::chart::yaml;

/// Keys to read of Cilium's ConfigMap, which contains all of its settings.
const CILIUM: [&str; 7] = [
    "bpf-lb-sock",
    "bpf-lb-sock-hostns-only",
    "cni-chaining-mode",
    "cni-chaining-target",
    "cni-exclusive",
    "kube-proxy-replacement",
    "write-cni-conf-when-ready",
];
/// Chart values with lists of environment variables.
const ENVIRONMENTS: [&str; 4] = ["additionalEnv", "experimentalEnv", "env", "extraEnv"];
/// Maximum length of a setting.
const MAX_VALUE: usize = 512;

/// Applies this to a ConfigMap.
pub(super) fn data(map: &mut Value, counts: &mut Counts) {
    let of = |field: &str| map["metadata"][field].as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (of("namespace"), of("name"));
    if let Some(Value::Object(data)) = map.get_mut("data") {
        super::object::rename(data, &super::allow::Rule::Other, counts);
        for (key, entry) in data.iter_mut() {
            match entry {
                Value::String(content) => {
                    if let Cow::Owned(clean) = self::entry(&namespace, &name, key, content) {
                        *content = clean;
                        counts.replaced += 1;
                    }
                }
                other => super::object::walk(other, key, &Rule::Other, counts),
            }
        }
    } else if let Some(data) = map.get_mut("data") {
        super::object::walk(data, "", &Rule::Other, counts);
    }
    if let Some(Value::Object(data)) = map.get_mut("binaryData") {
        for entry in data.values_mut() {
            if let Value::String(content) = entry {
                replace(content, counts);
            }
        }
    }
}

fn entry<'a>(namespace: &str, name: &str, key: &str, content: &'a str) -> Cow<'a, str> {
    match (name, key) {
        ("linkerd-config", "values" | "global" | "proxy" | "install") => values(content),
        ("linkerd-identity-trust-roots" | "kube-root-ca.crt", _) => leaf(&Rule::Certificates, content),
        ("linkerd-cni-config", "cni_network_config") => match json::config(content.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(content),
            Cow::Owned(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        },
        ("linkerd-cni-config", _) if !keys::is_secret_in_text(key) && is_setting(content) => text::text(content),
        ("cilium-config", _) if namespace == "kube-system" && CILIUM.contains(&key) && is_setting(content) => {
            text::text(content)
        }
        // Of CoreDNS's configuration, only the cluster domains are kept.
        ("coredns", "Corefile") if namespace == "kube-system" => {
            let said = Corefile::parse(content).to_text();
            if said == content { Cow::Borrowed(content) } else { Cow::Owned(text::text(&said).into_owned()) }
        }
        // Of the configuration of viz's Prometheus, only the rules that choose Linkerd's targets are kept.
        ("prometheus-config", "prometheus.yml") => {
            let kept = ScrapeConfig::parse(content).to_text();
            if kept == content { Cow::Borrowed(content) } else { Cow::Owned(kept) }
        }
        _ if controller_setting::is_entry(key, content) => Cow::Borrowed(content),
        _ => masked(content),
    }
}

/// Chart values, as YAML or JSON. If all are kept, the text is unchanged.
fn values(content: &str) -> Cow<'_, str> {
    let Some(mut tree) = yaml::read(content).filter(|tree| tree.is_mapping() || tree.is_null()) else {
        return masked(content);
    };
    let written = tree.clone();
    value(&mut tree, "", "");
    // A comment may contain anything.
    let remarks = content.lines().any(|line| line.trim_start().starts_with('#') || line.contains(" #"));
    if tree == written && !remarks {
        return Cow::Borrowed(content);
    }
    match serde_yaml::to_string(&tree) {
        Ok(text) => Cow::Owned(text),
        Err(_) => masked(content),
    }
}

fn value(tree: &mut Yaml, parent: &str, key: &str) {
    match tree {
        Yaml::Mapping(map) => {
            let entries = std::mem::take(map);
            for (name, mut inner) in entries {
                let text = name.as_str().unwrap_or_default().to_owned();
                value(&mut inner, key, &text);
                let name = match text::text(&text) {
                    Cow::Owned(clean) => Yaml::String(clean),
                    Cow::Borrowed(_) => name,
                };
                map.insert(name, inner);
            }
        }
        Yaml::Sequence(list) => list.iter_mut().for_each(|inner| value(inner, parent, key)),
        Yaml::String(content) => {
            if let Cow::Owned(clean) = scalar(parent, key, content) {
                *content = clean;
            }
        }
        Yaml::Number(number) if keys::is_secret(key) => *number = 0.into(),
        Yaml::Tagged(_) => *tree = Yaml::Null,
        Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) => {}
    }
}

/// Whether a text consists of numbers and addresses: lists of ports and networks, a schedule; blanks are allowed.
fn is_of_numbers(content: &str) -> bool {
    let digit = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b' ' | b'.' | b':' | b'/' | b',' | b'*' | b'-');
    content.len() <= MAX_VALUE && content.bytes().all(digit) && content.bytes().any(|byte| byte.is_ascii_digit())
}

fn scalar<'a>(parent: &str, key: &str, content: &'a str) -> Cow<'a, str> {
    let certificate =
        ["PEM", "caBundle"].iter().any(|end| key.ends_with(end)) && !key.to_ascii_lowercase().contains("key");
    let announced = keys::is_secret_in_text(key) && key != "identityTrustAnchorsPEM";
    match () {
        () if certificate && !content.is_empty() => leaf(&Rule::Certificates, content),
        () if announced || ENVIRONMENTS.contains(&parent) && key == "value" => masked(content),
        () if is_of_numbers(content) => text::text(content),
        () if is_setting(content) => text::text(content),
        () => masked(content),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chart_values_without_keys_are_replaced() {
        for content in ["Zq7xB4kTz9Lw2Pq", "[Zq7xB4kTz9Lw2Pq]", "hunter"] {
            assert!(!values(content).contains(content), "{content}");
        }
        assert_eq!(values("clusterDomain: cluster.local\n"), "clusterDomain: cluster.local\n");
    }
}
