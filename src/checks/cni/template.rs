//! Compares the entry on a node with the template in linkerd-cni's ConfigMap, field by field, as the plugin
//! reads them, and marks the differences that matter. The checks decide on the findings.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::knowledge::IptablesMode;
use crate::model::cni::INSTALLER;
use crate::model::node::{Field, LinkerdEntry, Position};
use crate::objects::{ConfigMap, Workload};

/// Placeholder of the kubeconfig's path, which the installer replaces.
const KUBECONFIG: &str = "__KUBECONFIG_FILEPATH__";
/// The kubeconfig's name unless the DaemonSet sets another.
const KUBECONFIG_NAME: &str = "ZZZ-linkerd-cni-kubeconfig";
/// The directory unless the ConfigMap names another.
const NET_DIR: &str = "/etc/cni/net.d";
/// Parts of an entry that the installer or the runtime sets, or that are never read.
const IGNORED: [&str; 8] =
    ["name", "type", "cniVersion", "policy", "prevResult", "runtimeConfig", "args", "kubernetes"];

/// A field in which an entry differs from its template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TemplateDifference {
    /// `linkerd.iptables-mode`.
    pub(super) field: String,
    pub(super) place: Option<Position>,
    pub(super) seen: String,
    pub(super) expected: String,
    /// Whether the field decides if pods start and get the correct rules.
    pub(super) grave: bool,
}

/// The template's entry; `None` if it cannot be read.
pub(super) fn entry(config: &ConfigMap) -> Option<LinkerdEntry> {
    LinkerdEntry::of_text(config.data.get("cni_network_config")?)
}

/// The differences between an entry and the template. `absent_mode` is the default mode of the plugin on the
/// node: `Some(None)` if the plugin does not read the key, `None` if the default is not known.
pub(super) fn differences(
    entry: &LinkerdEntry,
    template: &LinkerdEntry,
    config: &ConfigMap,
    set: Option<&Workload>,
    absent_mode: Option<Option<IptablesMode>>,
) -> Vec<TemplateDifference> {
    let mut found = vec![
        kubeconfig(entry, template, config, set),
        differs("linkerd.incoming-proxy-port", &entry.incoming_proxy_port, &template.incoming_proxy_port, None, true),
        differs("linkerd.outgoing-proxy-port", &entry.outgoing_proxy_port, &template.outgoing_proxy_port, None, true),
        differs("linkerd.proxy-uid", &entry.proxy_uid, &template.proxy_uid, None, true),
        differs("linkerd.proxy-gid", &entry.proxy_gid, &template.proxy_gid, Some(-1), false),
        differs("linkerd.simulate", &entry.simulate, &template.simulate, Some(false), false),
        differs("linkerd.use-wait-flag", &entry.use_wait_flag, &template.use_wait_flag, Some(false), false),
        differs("linkerd.ipv6", &entry.ipv6, &template.ipv6, Some(false), false),
        differs("log_level", &entry.log_level, &template.log_level, None, false),
        many("linkerd.ports-to-redirect", &entry.ports_to_redirect, &template.ports_to_redirect),
        many("linkerd.inbound-ports-to-ignore", &entry.inbound_ports_to_ignore, &template.inbound_ports_to_ignore),
        many("linkerd.outbound-ports-to-ignore", &entry.outbound_ports_to_ignore, &template.outbound_ports_to_ignore),
        many("linkerd.subnets-to-ignore", &entry.subnets_to_ignore, &template.subnets_to_ignore),
    ];
    // Without the version the default mode is not known, and old versions do not read the key.
    let both_set = entry.iptables_mode.value().is_some() && template.iptables_mode.value().is_some();
    if absent_mode.map_or(both_set, |mode| mode.is_some()) {
        let absent = absent_mode.flatten().map(|mode| mode.to_string());
        found.push(differs("linkerd.iptables-mode", &entry.iptables_mode, &template.iptables_mode, absent, true));
    }
    let mut found: Vec<TemplateDifference> = found.into_iter().flatten().collect();
    found.extend(unknown_keys(entry, template));
    found
}

fn kubeconfig(
    entry: &LinkerdEntry,
    template: &LinkerdEntry,
    config: &ConfigMap,
    set: Option<&Workload>,
) -> Option<TemplateDifference> {
    let dir = config.data.get("dest_cni_net_dir").map_or(NET_DIR, |dir| dir.trim_end_matches('/'));
    let container = set.and_then(|set| set.spec.template.spec.container(INSTALLER));
    let name = container.and_then(|container| container.env_value("KUBECONFIG_FILE_NAME"));
    let name = name.unwrap_or(KUBECONFIG_NAME);
    let expected = template.kubeconfig.value()?.replace(KUBECONFIG, &format!("{dir}/{name}"));
    let seen = entry.kubeconfig.value()?;
    (*seen != expected).then(|| TemplateDifference {
        field: "kubernetes.kubeconfig".to_owned(),
        place: entry.kubeconfig.place(),
        seen: seen.clone(),
        expected,
        grave: true,
    })
}

/// Compares values; one of a wrong type is not a difference, because another check reports it.
fn differs<T: PartialEq + Clone + std::fmt::Display>(
    field: &str,
    seen: &Field<T>,
    expected: &Field<T>,
    absent: Option<T>,
    grave: bool,
) -> Option<TemplateDifference> {
    if [seen, expected].iter().any(|field| matches!(field, Field::Wrong { .. })) {
        return None;
    }
    let value = |field: &Field<T>| field.value().cloned().or_else(|| absent.clone());
    let (is, should) = (value(seen), value(expected));
    let shown = |value: Option<T>| value.map_or("none".to_owned(), |value| value.to_string());
    (is != should).then(|| TemplateDifference {
        field: field.to_owned(),
        place: seen.place(),
        seen: shown(is),
        expected: shown(should),
        grave,
    })
}

/// Compares lists regardless of order; an absent list equals an empty one.
fn many<T: Ord + Clone + std::fmt::Display>(
    field: &str,
    seen: &Field<Vec<T>>,
    expected: &Field<Vec<T>>,
) -> Option<TemplateDifference> {
    if [seen, expected].iter().any(|field| matches!(field, Field::Wrong { .. })) {
        return None;
    }
    let set = |field: &Field<Vec<T>>| field.value().into_iter().flatten().cloned().collect::<BTreeSet<T>>();
    let shown = |set: &BTreeSet<T>| {
        let all: Vec<String> = set.iter().map(ToString::to_string).collect();
        if all.is_empty() { "none".to_owned() } else { all.join(",") }
    };
    let (is, should) = (set(seen), set(expected));
    (is != should).then(|| TemplateDifference {
        field: field.to_owned(),
        place: seen.place(),
        seen: shown(&is),
        expected: shown(&should),
        grave: false,
    })
}

/// Keys that only one of the two has, and unknown keys with different values.
fn unknown_keys(entry: &LinkerdEntry, template: &LinkerdEntry) -> Vec<TemplateDifference> {
    let mut found = Vec::new();
    for (prefix, pointer, known) in [("", "", &IGNORED[..]), ("linkerd.", "/linkerd", &LinkerdEntry::SETTINGS[..])] {
        let (is, should) = (entry.value.pointer(pointer), template.value.pointer(pointer));
        let keys = |value: Option<&Value>| {
            let keys = value.and_then(Value::as_object).map(|object| object.keys().cloned());
            keys.into_iter().flatten().collect::<BTreeSet<String>>()
        };
        let known = |key: &String| known.contains(&key.as_str()) || ["linkerd", "log_level"].contains(&key.as_str());
        for key in keys(is).union(&keys(should)).filter(|key| !known(key)) {
            let value = |of: Option<&Value>| of.and_then(|object| object.get(key)).cloned();
            let (is, should) = (value(is), value(should));
            if is != should {
                let shown = |value: Option<Value>| value.map_or("none".to_owned(), |value| value.to_string());
                found.push(TemplateDifference {
                    field: format!("{prefix}{key}"),
                    place: None,
                    seen: shown(is),
                    expected: shown(should),
                    grave: false,
                });
            }
        }
    }
    found
}
