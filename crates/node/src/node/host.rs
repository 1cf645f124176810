//! The host's and the runtime's small files: os-release, kernel modules, security modules, `crictl info`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::facts::{Lsm, OsRelease, RuntimeInfo};
use super::parse::{list, plain_dir, text, whole};

pub(super) fn os_release(text: &str) -> OsRelease {
    let fields = text.lines().filter_map(|line| {
        let (key, value) = line.trim().split_once('=')?;
        let value = value.trim();
        let bare = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        (!key.starts_with('#')).then(|| (key.to_owned(), bare.unwrap_or(value).to_owned()))
    });
    OsRelease { fields: fields.collect() }
}

/// Module names from lines of `/proc/modules`, `modules.builtin` or a plain list.
pub fn modules(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(|word| {
            let file = word.rsplit('/').next().unwrap_or(word);
            file.split(".ko").next().unwrap_or(file).replace('-', "_")
        })
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .collect()
}

pub(super) fn lsm(value: &Value) -> Lsm {
    let shown = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(on) => Some(if *on { "enabled" } else { "disabled" }.to_owned()),
        Value::Object(map) => map.get("mode").and_then(Value::as_str).map(str::to_owned),
        Value::Null | Value::Number(_) | Value::Array(_) => None,
    };
    Lsm { selinux: shown(&value["selinux"]), apparmor: shown(&value["apparmor"]) }
}

/// Reads both the snapshot's own format and the output of `crictl info`, whose keys vary in case and depth.
pub fn runtime_info(value: &Value) -> RuntimeInfo {
    let mut flat = Vec::new();
    flatten(value, 0, &mut flat);
    let find = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| flat.iter().find(|(key, value)| key == name && !value.is_null()))
            .map(|(_, value)| *value)
    };
    let words = |value: &Value| match value {
        Value::String(one) => vec![one.clone()],
        Value::Array(_) => list(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    let loaded = find(&["networks"]).and_then(Value::as_array).into_iter().flatten();
    RuntimeInfo {
        name: text(&value["name"]).or_else(|| text(&value["runtimeName"])),
        version: text(&value["version"]).or_else(|| text(&value["runtimeVersion"])),
        last_cni_load_status: find(&["lastcniloadstatus", "lastcniloadstatus.default"]).and_then(text),
        conf_dir: find(&["pluginconfdir", "confdir"]).and_then(plain_dir),
        bin_dirs: find(&["plugindirs", "bindirs", "bindir"]).map(words).unwrap_or_default(),
        max_conf_num: find(&["pluginmaxconfnum", "maxconfnum"]).and_then(whole),
        loaded_files: loaded
            .filter_map(|network| {
                ["file", "path", "Source"]
                    .iter()
                    .find_map(|key| text(&network[*key]).or_else(|| text(&network["Config"][*key])))
            })
            .filter(|file| file.starts_with('/'))
            .collect(),
    }
}

fn flatten<'a>(value: &'a Value, depth: usize, into: &mut Vec<(String, &'a Value)>) {
    if let Value::Object(map) = value
        && depth < 6
    {
        into.extend(map.iter().map(|(key, value)| (key.to_ascii_lowercase(), value)));
        map.values().for_each(|value| flatten(value, depth + 1, into));
    }
}
