//! The options of a run, stored in reports and tickets for reruns.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Options of a run that affect its result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RerunOptions {
    /// `installed`, `pre` (`--pre`), `crds` (`--crds`) or `upgrade` (`--to`).
    pub mode: String,
    /// `--to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// `--from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// `--to-kubernetes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_kubernetes: Option<String>,
    /// `--only`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// `--skip`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skip: Vec<String>,
    /// `--namespace`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// `--linkerd-cni-enabled`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub linkerd_cni_enabled: bool,
    /// `--expected-version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<String>,
    /// `--linkerd-namespace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linkerd_namespace: Option<String>,
    /// `--cni-namespace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cni_namespace: Option<String>,
    /// `--param`, by check and name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
    /// `--to-cni`; reports store it separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_cni: Option<String>,
}

impl RerunOptions {
    /// The corresponding flags, for people; empty for the default.
    pub fn flags(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        match self.mode.as_str() {
            "pre" => words.push("--pre".to_owned()),
            "crds" => words.push("--crds".to_owned()),
            _ => {}
        }
        if self.linkerd_cni_enabled {
            words.push("--linkerd-cni-enabled".to_owned());
        }
        let texts = [
            ("--to", &self.to),
            ("--from", &self.from),
            ("--to-kubernetes", &self.to_kubernetes),
            ("--to-cni", &self.to_cni),
            ("--expected-version", &self.expected_version),
        ];
        let texts = texts.into_iter().filter_map(|(flag, text)| Some(format!("{flag} {}", text.as_ref()?)));
        words.extend(texts);
        let lists = [("--only", &self.only), ("--skip", &self.skip), ("-n", &self.namespaces)];
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        words.extend(lists.map(|(flag, list)| format!("{flag} {}", list.join(","))));
        for (check, params) in &self.params {
            words.extend(params.iter().map(|(name, value)| {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                format!("--param {check}.{name}={value}")
            }));
        }
        words.join(" ")
    }
}

fn is_false(value: &bool) -> bool {
    !value
}
