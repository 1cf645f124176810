//! The owner of a container, and the parts of its command, arguments and environment to keep. Linkerd's components are
//! recognized by labels and namespace, injected containers by the injector's marks on the pod; never by the container's
//! name alone.

use std::borrow::Cow;

use serde_json::Value;

use super::free_text::{is_sensitive, is_words, plain};
use super::marker::{Marker, stand_in};
use super::object::{Counts, masked, replace};
use super::{controller_setting, json, keys, settings, text};

/// Containers that the injector adds to pods.
const INJECTED: [&str; 4] = ["linkerd-proxy", "linkerd-init", "linkerd-network-validator", "linkerd-debug"];
/// Last parts of the names of Linkerd's images, also in mirrors under another path.
const IMAGES: [&str; 6] = ["controller", "policy-controller", "proxy", "proxy-init", "cni-plugin", "metrics-api"];
/// Environment variables of the CNI installer.
const INSTALLERS: [&str; 8] = [
    "DEST_CNI_NET_DIR",
    "DEST_CNI_BIN_DIR",
    "CNI_NETWORK_CONFIG",
    "CNI_CONF_NAME",
    "KUBECONFIG_FILE_NAME",
    "KUBECONFIG_MODE",
    "SKIP_TLS_VERIFY",
    "SLEEP",
];
/// Prefixes of variables that Linkerd sets. If their name is not known, only values with a harmless form are kept.
const PROXYS: [&str; 3] = ["LINKERD2_PROXY_", "LINKERD_", "_"];
/// Maximum length of a setting.
const MAX_SETTING: usize = 512;
/// Kept in commands of any container: waiting for the proxy.
const AWAIT: &str = "linkerd-await";
/// Kept in commands of any container: proxy shutdown.
const SHUTDOWN: &str = ":4191/shutdown";

/// Owner of a pod or pod template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// Unknown: nothing of its containers is known to be harmless.
    Other,
    /// Unknown, but with the marks of Linkerd's injector.
    Injected,
    /// Linkerd: control plane, CNI plugin or extension.
    Linkerd,
}

impl Owner {
    /// From labels, annotation keys, and the namespace (empty if unknown).
    pub fn from_labels<'a>(
        label: impl Fn(&str) -> Option<&'a str>,
        mut keys: impl Iterator<Item = &'a str>,
        namespace: &str,
    ) -> Owner {
        let here = label("linkerd.io/control-plane-ns").is_none_or(|ns| namespace.is_empty() || ns == namespace);
        let control_plane = label("linkerd.io/control-plane-component").is_some() && here;
        let cni = label("linkerd.io/cni-resource") == Some("true") || label("k8s-app") == Some("linkerd-cni");
        if control_plane || cni || label("linkerd.io/extension").is_some() {
            Owner::Linkerd
        } else if keys.any(|key| key.starts_with("linkerd.io/") || key.starts_with("config.linkerd.io/")) {
            Owner::Injected
        } else {
            Owner::Other
        }
    }

    /// Whether a container's settings are kept. Labels alone do not identify a container, because anyone can set them.
    pub fn keeps(self, container: &str, image: &str) -> bool {
        match self {
            Owner::Other => false,
            Owner::Injected => INJECTED.contains(&container),
            Owner::Linkerd => INJECTED.contains(&container) || is_linkerds(image),
        }
    }

    fn of_metadata(metadata: &Value, namespace: &str) -> Owner {
        let keys = |field: &str| metadata[field].as_object().into_iter().flatten().map(|(key, _)| key.as_str());
        let keys = keys("labels").chain(keys("annotations"));
        Owner::from_labels(|label| metadata["labels"][label].as_str(), keys, namespace)
    }
}

/// Whether an image is one of Linkerd's.
fn is_linkerds(image: &str) -> bool {
    let name = image.split('@').next().unwrap_or_default();
    let path = name.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')).map_or(name, |(path, _)| path);
    let last = path.rsplit('/').next().unwrap_or_default();
    IMAGES.contains(&last) || ["linkerd", "l5d", "buoyant"].iter().any(|part| path.contains(part))
}

/// Applies a function to every container of an object and its templates.
pub(super) fn containers(value: &mut Value, counts: &mut Counts) {
    let namespace = value["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    within(value, Owner::Other, &namespace, counts);
}

fn within(value: &mut Value, owner: Owner, namespace: &str, counts: &mut Counts) {
    match value {
        Value::Object(map) => {
            let owner =
                map.get("metadata").map_or(owner, |metadata| owner.max(Owner::of_metadata(metadata, namespace)));
            for (key, value) in map.iter_mut() {
                if matches!(key.as_str(), "containers" | "initContainers" | "ephemeralContainers") {
                    for item in value.as_array_mut().into_iter().flatten() {
                        container(item, owner, counts);
                    }
                } else {
                    within(value, owner, namespace, counts);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| within(item, owner, namespace, counts)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn container(value: &mut Value, owner: Owner, counts: &mut Counts) {
    let keeps = owner.keeps(value["name"].as_str().unwrap_or_default(), value["image"].as_str().unwrap_or_default());
    for field in ["command", "args"] {
        let list = match value.get_mut(field) {
            Some(Value::Array(list)) => list,
            Some(other) => {
                hide(other, counts);
                continue;
            }
            None => continue,
        };
        let mut before = String::new();
        for word in list {
            let Value::String(content) = word else {
                hide(word, counts);
                continue;
            };
            let clean = argument(&before, content, keeps);
            before.clone_from(content);
            if let Cow::Owned(clean) = clean {
                *content = clean;
                counts.replaced += 1;
            }
        }
    }
    let env = match value.get_mut("env") {
        Some(Value::Array(env)) => env,
        Some(other) => return hide(other, counts),
        None => return,
    };
    for variable in env {
        if !variable.is_object() {
            hide(variable, counts);
            continue;
        }
        let name = variable["name"].as_str().unwrap_or_default().to_owned();
        let content = match variable.get_mut("value") {
            Some(Value::String(content)) => content,
            Some(other) => {
                hide(other, counts);
                continue;
            }
            None => continue,
        };
        if !keeps {
            if !controller_setting::is_variable(&name, content) {
                replace(content, counts);
            }
        } else if let Cow::Owned(clean) = setting(&name, content) {
            *content = clean;
            counts.replaced += 1;
        }
    }
}

/// Replaces a value of an unexpected type completely: nothing in it is known to be harmless.
fn hide(value: &mut Value, counts: &mut Counts) {
    match value {
        Value::String(content) => replace(content, counts),
        Value::Null | Value::Bool(_) => {}
        other => {
            *other = Value::String(stand_in(other.to_string().as_bytes()));
            counts.replaced += 1;
        }
    }
}

/// A word of a command line, after another.
pub fn argument<'a>(before: &str, word: &'a str, keeps: bool) -> Cow<'a, str> {
    let program = word.rsplit('/').next() == Some(AWAIT) && is_setting(word);
    let of_await = before.rsplit('/').next() == Some(AWAIT) && matches!(word, "--" | "-S" | "--shutdown");
    if program || of_await {
        return Cow::Borrowed(word);
    }
    // For any container, only the proxy shutdown is kept, not the script around it.
    if !keeps && word.contains(SHUTDOWN) {
        // Returned as owned to mark the replacement; callers keep borrowed words.
        return if word == SHUTDOWN { Cow::Borrowed(word) } else { Cow::Owned(SHUTDOWN.to_owned()) };
    }
    if !keeps && let Some(kept) = controller_setting::argument(before, word) {
        return if kept == word { text::text(word) } else { Cow::Owned(kept) };
    }
    if keeps && word.strip_prefix(HOST_PATTERN).is_some_and(is_host_pattern) {
        return text::text(word);
    }
    let announced = before.starts_with('-') && !before.contains('=') && is_sensitive(before);
    if keeps && let Some(value) = announced_value(word) {
        return match masked(&word[value..]) {
            Cow::Borrowed(_) => text::text(word),
            Cow::Owned(clean) if is_setting(&word[..value]) => {
                Cow::Owned(format!("{}{clean}", text::text(&word[..value])))
            }
            Cow::Owned(_) => masked(word),
        };
    }
    if !keeps || announced && !word.starts_with('-') || !is_setting(word) {
        return masked(word);
    }
    known_argument(before, word)
}

/// The argument of the dashboard with the regular expression of accepted hosts.
const HOST_PATTERN: &str = "-enforced-host=";

/// Whether a text consists of host names and operators of regular expressions.
fn is_host_pattern(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "-._:,^$|()[]{}?+*\\".contains(c))
}

/// A word of Linkerd's own command line: a known option, program or command, or the value of a known option.
/// Of an unknown option, the name is kept if it consists of words, and the value if its form is harmless.
fn known_argument<'a>(before: &str, word: &'a str) -> Cow<'a, str> {
    let is_name = |name: &str| settings::is_option(name) || is_words(name.trim_start_matches('-'));
    if word.starts_with('-') {
        return match word.split_once('=') {
            None if is_name(word) => text::text(word),
            Some((name, value)) if settings::is_option(name) => match plain(value) {
                Cow::Borrowed(_) => text::text(word),
                Cow::Owned(clean) => Cow::Owned(format!("{name}={clean}")),
            },
            Some((name, value)) if is_name(name) && settings::is_harmless_value(value) => text::text(word),
            Some((name, value)) if is_name(name) => match masked(value) {
                Cow::Borrowed(_) => Cow::Borrowed(word),
                Cow::Owned(clean) => Cow::Owned(format!("{name}={clean}")),
            },
            None | Some(_) => masked(word),
        };
    }
    let is_value = before.starts_with('-') && !before.contains('=') && settings::is_option(before);
    // The first word is the program: its directories and name consist of words.
    let is_path =
        before.is_empty() && word.starts_with('/') && word.split('/').all(|part| part.is_empty() || is_words(part));
    if is_value {
        return plain(word);
    }
    match is_path || settings::is_program(word) || settings::is_harmless_value(word) {
        true => text::text(word),
        false => masked(word),
    }
}

/// Start of the value after a sensitive name in `--flag=value` or `--flag=name=value`.
fn announced_value(word: &str) -> Option<usize> {
    let mut start = 0;
    for (at, _) in word.match_indices('=') {
        if is_sensitive(&word[start..at]) {
            return Some(at + 1);
        }
        start = at + 1;
    }
    None
}

/// The value of an environment variable of Linkerd's own.
pub fn setting<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    match name {
        // The configuration template of the installer.
        "CNI_NETWORK_CONFIG" => match json::config(value.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(value),
            Cow::Owned(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        },
        "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS" => super::object::certificates(value),
        _ if controller_setting::is_variable(name, value) => Cow::Borrowed(value),
        _ if !(INSTALLERS.contains(&name) || PROXYS.iter().any(|start| name.starts_with(start))) => masked(value),
        _ if keys::is_secret_in_text(name) || !is_setting(value) => masked(value),
        _ if !is_known_value(name, value) => masked(value),
        _ => plain(value),
    }
}

/// Whether the value of a variable is known to be harmless, by its name or by its form.
fn is_known_value(name: &str, value: &str) -> bool {
    INSTALLERS.contains(&name) || settings::is_variable(name) || settings::is_harmless_value(value)
}

/// Whether a text is one word of a setting: an address, a list of ports, a log level, a reference to another variable.
pub(super) fn is_setting(content: &str) -> bool {
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'.' | b'_'
                    | b'-'
                    | b':'
                    | b'/'
                    | b'+'
                    | b'*'
                    | b'%'
                    | b','
                    | b'~'
                    | b'='
                    | b'$'
                    | b'('
                    | b')'
                    | b'['
                    | b']'
                    | b'|'
            )
    };
    content.len() <= MAX_SETTING && content.bytes().all(plain) || Marker::whole(content.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_settings_are_kept_only_in_their_forms() {
        for (name, value) in [
            ("LINKERD2_PROXY_LOG", "warn,linkerd=info,hickory=error,[{headers}]=off"),
            ("LINKERD2_PROXY_DESTINATION_SVC_ADDR", "linkerd-dst-headless.linkerd.svc.cluster.local.:8086"),
            (
                "LINKERD2_PROXY_IDENTITY_LOCAL_NAME",
                "$(_pod_sa).$(_pod_ns).serviceaccount.identity.linkerd.cluster.local",
            ),
            ("LINKERD2_PROXY_DESTINATION_PROFILE_NETWORKS", "10.0.0.0/8,fd00::/8"),
            ("LINKERD2_PROXY_IDENTITY_TOKEN_FILE", "/var/run/secrets/tokens/linkerd-identity-token"),
        ] {
            let kept = setting(name, value);
            assert!(kept == value || !is_setting(value), "{name}: {kept}");
        }
        for name in ["LINKERD2_PROXY_LOG", "LINKERD2_PROXY_DESTINATION_SVC_ADDR"] {
            assert!(!setting(name, "Zq7xB4kTz9Lw2Pq").contains("Zq7x"), "{name}");
        }
        assert!(!argument("", "--log-level=Zq7xB4kTz9Lw2Pq", true).contains("Zq7x"));
        assert!(!argument("-log-level", "Zq7xB4kTz9Lw2Pq", true).contains("Zq7x"));
        assert_eq!(argument("", "--default-policy=all-unauthenticated", true), "--default-policy=all-unauthenticated");
    }
}
