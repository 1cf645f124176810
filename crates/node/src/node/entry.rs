//! Linkerd's own entry in a CNI configuration, field by field, with positions.
//!
//! Types are as strict as the plugin's: a string instead of a number makes the plugin fail, so it is kept
//! as [`Field::Wrong`] and not converted.

use super::conflist::{self, Plugin, join};
use super::json::{Json, Located, Position, Span};
use crate::redact::Marker;

/// One field of the entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Field<T> {
    /// Missing, or null.
    #[default]
    Absent,
    Set {
        value: T,
        place: Position,
    },
    /// Present, but of a type that the plugin rejects.
    Wrong {
        /// As written, shortened.
        found: String,
        place: Position,
    },
}

impl<T> Field<T> {
    /// The value, if present and well-typed.
    pub fn value(&self) -> Option<&T> {
        match self {
            Field::Set { value, .. } => Some(value),
            Field::Absent | Field::Wrong { .. } => None,
        }
    }

    /// Its position, if present.
    pub fn place(&self) -> Option<Position> {
        match self {
            Field::Set { place, .. } | Field::Wrong { place, .. } => Some(*place),
            Field::Absent => None,
        }
    }
}

/// The contents of `policy.k8s_auth_token`. The plugin never reads it; old installers wrote a token there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyToken {
    /// A JWT; the first twelve hex digits of its hash.
    Jwt { sha256_prefix: String },
    /// The installer's placeholder, not replaced.
    Placeholder(String),
    /// Another value, which was redacted.
    Other,
    /// An empty string.
    Empty,
}

/// The entry of type `linkerd-cni`.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkerdEntry {
    /// `plugins[1]`, `delegates[0].plugins[3]`; `.` if the file contains only the entry.
    pub json_path: String,
    /// The whole object, to name the lines to delete.
    pub span: Span,
    /// The position of `type`, which findings point to.
    pub type_place: Option<Position>,
    /// Position among its siblings, 0-based.
    pub index: usize,
    pub siblings: usize,
    /// The number of multus entries above it.
    pub depth: usize,
    pub name: Field<String>,
    pub cni_version: Field<String>,
    pub log_level: Field<String>,
    /// `kubernetes.kubeconfig`: absolute path on the node.
    pub kubeconfig: Field<String>,
    pub incoming_proxy_port: Field<i64>,
    pub outgoing_proxy_port: Field<i64>,
    pub proxy_uid: Field<i64>,
    pub proxy_gid: Field<i64>,
    pub ports_to_redirect: Field<Vec<i64>>,
    pub inbound_ports_to_ignore: Field<Vec<String>>,
    pub outbound_ports_to_ignore: Field<Vec<String>>,
    pub subnets_to_ignore: Field<Vec<String>>,
    pub simulate: Field<bool>,
    pub use_wait_flag: Field<bool>,
    /// Absent in entries of charts before 2024.4.1.
    pub iptables_mode: Field<String>,
    pub ipv6: Field<bool>,
    /// Whether `policy` is present, as in charts before 2025.1.1.
    pub has_policy: bool,
    pub policy_token: Field<PolicyToken>,
    /// The whole redacted entry, for comparison.
    pub value: serde_json::Value,
}

impl LinkerdEntry {
    /// The path of one of its fields: `linkerd.iptables-mode` -> `plugins[1].linkerd.iptables-mode`.
    pub fn path_of(&self, field: &str) -> String {
        join(&self.json_path, field)
    }

    /// The position to point to: `type`, else the object.
    pub fn place(&self) -> Position {
        self.type_place.unwrap_or(self.span.start)
    }

    /// Every field that the plugin would reject: path, value found, and position.
    pub fn wrong_fields(&self) -> Vec<(String, String, Position)> {
        let mut wrong = Vec::new();
        let mut note = |field: &str, found: Option<(String, Position)>| {
            if let Some((found, place)) = found {
                wrong.push((self.path_of(field), found, place));
            }
        };
        note("name", self.name.wrong());
        note("cniVersion", self.cni_version.wrong());
        note("log_level", self.log_level.wrong());
        note("kubernetes.kubeconfig", self.kubeconfig.wrong());
        note("linkerd.incoming-proxy-port", self.incoming_proxy_port.wrong());
        note("linkerd.outgoing-proxy-port", self.outgoing_proxy_port.wrong());
        note("linkerd.proxy-uid", self.proxy_uid.wrong());
        note("linkerd.proxy-gid", self.proxy_gid.wrong());
        note("linkerd.ports-to-redirect", self.ports_to_redirect.wrong());
        note("linkerd.inbound-ports-to-ignore", self.inbound_ports_to_ignore.wrong());
        note("linkerd.outbound-ports-to-ignore", self.outbound_ports_to_ignore.wrong());
        note("linkerd.subnets-to-ignore", self.subnets_to_ignore.wrong());
        note("linkerd.simulate", self.simulate.wrong());
        note("linkerd.use-wait-flag", self.use_wait_flag.wrong());
        note("linkerd.iptables-mode", self.iptables_mode.wrong());
        note("linkerd.ipv6", self.ipv6.wrong());
        wrong
    }

    /// The keys below `linkerd` that plugins read.
    pub const SETTINGS: [&str; 12] = [
        "incoming-proxy-port",
        "outgoing-proxy-port",
        "proxy-uid",
        "proxy-gid",
        "ports-to-redirect",
        "inbound-ports-to-ignore",
        "outbound-ports-to-ignore",
        "subnets-to-ignore",
        "simulate",
        "use-wait-flag",
        "iptables-mode",
        "ipv6",
    ];

    /// The entry in a text: a single entry, as in the installer's ConfigMap, or the first one in a list.
    pub fn of_text(text: &str) -> Option<LinkerdEntry> {
        let config = conflist::read(text.as_bytes(), None).config?;
        config.linkerd_entries.into_iter().next()
    }

    pub(super) fn read(object: &Located, plugin: &Plugin) -> LinkerdEntry {
        let linkerd = |key: &str| object.get("linkerd").and_then(|inner| inner.get(key));
        let policy = object.get("policy").filter(|policy| policy.value != Json::Null);
        LinkerdEntry {
            json_path: plugin.json_path.clone(),
            span: plugin.span,
            type_place: plugin.type_place,
            index: plugin.index,
            siblings: plugin.siblings,
            depth: plugin.depth,
            name: field(object.get("name"), text),
            cni_version: field(object.get("cniVersion"), text),
            log_level: field(object.get("log_level"), text),
            kubeconfig: field(object.get("kubernetes").and_then(|inner| inner.get("kubeconfig")), text),
            incoming_proxy_port: field(linkerd("incoming-proxy-port"), integer),
            outgoing_proxy_port: field(linkerd("outgoing-proxy-port"), integer),
            proxy_uid: field(linkerd("proxy-uid"), integer),
            proxy_gid: field(linkerd("proxy-gid"), integer),
            ports_to_redirect: field(linkerd("ports-to-redirect"), |value| all(value, integer)),
            inbound_ports_to_ignore: field(linkerd("inbound-ports-to-ignore"), |value| all(value, text)),
            outbound_ports_to_ignore: field(linkerd("outbound-ports-to-ignore"), |value| all(value, text)),
            subnets_to_ignore: field(linkerd("subnets-to-ignore"), |value| all(value, text)),
            simulate: field(linkerd("simulate"), boolean),
            use_wait_flag: field(linkerd("use-wait-flag"), boolean),
            iptables_mode: field(linkerd("iptables-mode"), text),
            ipv6: field(linkerd("ipv6"), boolean),
            has_policy: policy.is_some(),
            policy_token: field(policy.and_then(|policy| policy.get("k8s_auth_token")), |value| {
                value.as_str().map(policy_token)
            }),
            value: object.to_value(),
        }
    }
}

impl<T> Field<T> {
    fn wrong(&self) -> Option<(String, Position)> {
        match self {
            Field::Wrong { found, place } => Some((found.clone(), *place)),
            Field::Absent | Field::Set { .. } => None,
        }
    }
}

fn field<T>(value: Option<&Located>, read: impl Fn(&Located) -> Option<T>) -> Field<T> {
    let Some(located) = value.filter(|value| value.value != Json::Null) else { return Field::Absent };
    let place = located.span.start;
    match read(located) {
        Some(value) => Field::Set { value, place },
        None => {
            let found: String = located.to_value().to_string().chars().take(80).collect();
            Field::Wrong { found, place }
        }
    }
}

fn text(value: &Located) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn boolean(value: &Located) -> Option<bool> {
    match value.value {
        Json::Bool(value) => Some(value),
        Json::Null | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

/// Runtimes rewrite lists before a plugin reads them, which turns `2102.0` into `2102`.
fn integer(value: &Located) -> Option<i64> {
    let Json::Number(text) = &value.value else { return None };
    if let Ok(whole) = text.parse() {
        return Some(whole);
    }
    let fraction: f64 = text.parse().ok()?;
    (fraction.fract() == 0.0 && fraction.abs() < 9e15).then_some(fraction as i64)
}

fn all<T>(value: &Located, read: impl Fn(&Located) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(read).collect()
}

fn policy_token(text: &str) -> PolicyToken {
    match Marker::whole(text.as_bytes()) {
        Some(Marker { sha256_prefix: Some(sha256_prefix), .. }) => PolicyToken::Jwt { sha256_prefix },
        None if text.is_empty() => PolicyToken::Empty,
        None if text.starts_with("__") && text.ends_with("__") => PolicyToken::Placeholder(text.to_owned()),
        Some(_) | None => PolicyToken::Other,
    }
}
