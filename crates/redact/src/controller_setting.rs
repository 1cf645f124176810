//! Settings of ingress controllers that are kept, although their containers are not Linkerd's: the class and the
//! ConfigMap that they name, whether they send requests to Services, and the source of client addresses. Every other
//! argument, variable and key is replaced.

use crate::names::is_subdomain;

/// Options with the name of a class or an object, without their dashes.
const NAMES: [&str; 2] = ["controller-class", "configmap"];
/// Options of Traefik that are a boolean, in lower case.
const SWITCHES: [&str; 4] = [
    "providers.kubernetescrd",
    "providers.kubernetescrd.nativelbbydefault",
    "providers.kubernetesingress",
    "providers.kubernetesingress.nativelbbydefault",
];
/// Options without their values, in lower case.
const NAMED: [&str; 1] = ["configfile"];
/// Variables of Traefik that are a boolean.
const VARIABLES: [&str; 4] = [
    "TRAEFIK_PROVIDERS_KUBERNETESCRD",
    "TRAEFIK_PROVIDERS_KUBERNETESCRD_NATIVELBBYDEFAULT",
    "TRAEFIK_PROVIDERS_KUBERNETESINGRESS",
    "TRAEFIK_PROVIDERS_KUBERNETESINGRESS_NATIVELBBYDEFAULT",
];
/// The form in which options with middlewares of any entry point of Traefik are kept.
const MIDDLEWARES: &str = "--entrypoints.http.middlewares";
/// The form in which options with the PROXY protocol of any entry point of Traefik are kept.
const PROXY_PROTOCOL: &str = "--entrypoints.proxyprotocol";
/// Keys of the ConfigMaps that ingress controllers read, with a boolean.
const KEYS: [&str; 4] = ["enable-real-ip", "service-upstream", "use-forwarded-headers", "use-proxy-protocol"];

/// An argument of an ingress controller in the form that is kept; `None` if it is not known. `before`: the word before
/// it.
pub(super) fn argument(before: &str, word: &str) -> Option<String> {
    let Some(option) = option(word) else {
        let name = option(before).filter(|_| !before.contains('='))?;
        return (NAMES.contains(&name) && is_name(word)).then(|| word.to_owned());
    };
    let (name, value) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    };
    if NAMES.contains(&name) {
        return value.is_none_or(is_name).then(|| word.to_owned());
    }
    let name = name.to_ascii_lowercase();
    if SWITCHES.contains(&name.as_str()) {
        return value.is_none_or(is_boolean).then(|| word.to_owned());
    }
    if NAMED.contains(&name.as_str()) {
        return Some(format!("--{name}"));
    }
    let of_entry_points = name.strip_prefix("entrypoints.");
    let is_proxied = |rest: &str| rest == "proxyprotocol" || rest.starts_with("proxyprotocol.");
    let of_point = of_entry_points.map(|rest| rest.split_once('.').map_or(rest, |(_, rest)| rest));
    if of_entry_points.is_some_and(is_proxied) || of_point.is_some_and(is_proxied) {
        return Some(PROXY_PROTOCOL.to_owned());
    }
    let of_entry_point = of_entry_points.and_then(|rest| rest.strip_suffix("http.middlewares"));
    of_entry_point.is_some_and(|point| point.is_empty() || point.ends_with('.')).then(|| MIDDLEWARES.to_owned())
}

/// A word without the dashes of an option.
fn option(word: &str) -> Option<&str> {
    word.strip_prefix("--")
}

/// Whether an argument is kept, for a container that is not Linkerd's.
pub fn is_controller_argument(before: &str, word: &str) -> bool {
    argument(before, word).is_some_and(|kept| kept == word)
}

/// Whether a variable is kept, for a container that is not Linkerd's.
pub fn is_controller_variable(name: &str) -> bool {
    VARIABLES.contains(&name)
}

/// Whether the value of a variable is kept, for a container that is not Linkerd's.
pub(super) fn is_variable(name: &str, value: &str) -> bool {
    is_controller_variable(name) && is_boolean(value)
}

/// Whether an entry of a ConfigMap is kept.
pub(super) fn is_entry(key: &str, value: &str) -> bool {
    KEYS.contains(&key) && is_boolean(value)
}

/// The booleans of Go's `strconv.ParseBool`.
fn is_boolean(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "" | "0" | "1" | "f" | "t" | "false" | "true")
}

/// Whether a text is the name of a class or an object, perhaps in the namespace of a variable.
fn is_name(value: &str) -> bool {
    let value = value.strip_prefix("$(POD_NAMESPACE)/").unwrap_or(value);
    value.len() <= 253 && value.split('/').all(is_subdomain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_arguments_are_kept() {
        for word in [
            "--controller-class=k8s.io/ingress-nginx",
            "--configmap=$(POD_NAMESPACE)/ingress-nginx-controller",
            "--providers.kubernetesCRD.nativeLBByDefault=true",
            "--providers.kubernetesingress",
            "--configfile",
            MIDDLEWARES,
        ] {
            assert!(is_controller_argument("", word), "{word}");
        }
        assert!(is_controller_argument("--configmap", "ingress/nginx"));
        assert_eq!(argument("", "--configFile=/secret/s3cr3t"), Some("--configfile".to_owned()));
        assert_eq!(argument("", "--entryPoints.web.http.middlewares=auth@file").as_deref(), Some(MIDDLEWARES));
        for word in ["--entryPoints.web.proxyProtocol.trustedIPs=10.0.0.1", "--entrypoints.web.proxyprotocol.insecure"]
        {
            assert_eq!(argument("", word).as_deref(), Some(PROXY_PROTOCOL));
        }
        assert_eq!(argument("", PROXY_PROTOCOL).as_deref(), Some(PROXY_PROTOCOL));
        for (before, word) in [
            ("", "--token=abc"),
            ("--token", "abc"),
            ("", "--configmap=Hunter2!"),
            ("--configmap=a/b", "abc"),
            ("", "--providers.kubernetescrd.token=abc"),
            ("", "--providers.kubernetescrd=abc"),
        ] {
            assert_eq!(argument(before, word), None, "{before} {word}");
        }
    }
}
