//! Tokens that are harmless by their content: words, names, hosts, paths, images.

use std::borrow::Cow;

use super::typed::{is_hex, is_uid};
use crate::knowledge::FreeText;

/// Letters of the suffixes that Kubernetes generates.
const SUFFIX: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// Maximum number of parts of a name.
const PARTS: usize = 16;
/// Maximum length of a name part without dashes.
const PART: usize = 24;

/// A word in lower case.
pub(super) fn lower(word: &str) -> Cow<'_, str> {
    if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(word.to_ascii_lowercase())
    } else {
        Cow::Borrowed(word)
    }
}

/// The parts of a CamelCase name.
pub(super) fn camel(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let first = bytes.first()?;
        let capitals = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let lower_from = |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let end = match capitals {
            0 => lower_from(0).max(first_char(rest)),
            1 => 1 + lower_from(1),
            _ if bytes.get(capitals).is_some_and(u8::is_ascii_lowercase) => capitals - 1,
            _ => capitals,
        };
        _ = first;
        let (part, more) = rest.split_at(end);
        rest = more;
        Some(part)
    })
}

fn first_char(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// Whether a token consists of words of messages: `not`, `linkerd-proxy`, `CreateContainerError`, `linkerd_reconnect`.
/// `digits`: whether it may contain numbers.
pub(super) fn is_words(known: &FreeText, token: &str, digits: bool) -> bool {
    if known.has(&lower(token)) {
        return true;
    }
    let token = token.trim_start_matches(['*', '$', '^', '~', '#', '+']).trim_end_matches(['*', '$', '+', '%']);
    let (mut words, mut short, mut numbers, mut parts) = (0, 0, 0, 0);
    for part in token.split(['-', '_', '.', '/', ':', '#', '*']) {
        parts += 1;
        if part.is_empty() {
            continue;
        }
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            numbers += part.len();
            // A port may be longer.
            if part.len() > 3 && !token.ends_with(&format!(":{part}")) {
                return false;
            }
            continue;
        }
        if !is_word(known, part, digits) {
            return false;
        }
        words += 1;
        short += usize::from(part.len() <= 2);
    }
    words > 0 && parts <= PARTS && short <= 2 && numbers <= if digits { 6 } else { 0 }
}

fn is_word(known: &FreeText, part: &str, digits: bool) -> bool {
    let plain = lower(part);
    if known.has(&plain) {
        return true;
    }
    if let Some((word, rest)) = part.split_once('\'') {
        return matches!(rest, "t" | "s" | "re" | "ve" | "ll" | "d" | "m" | "") && is_word(known, word, digits);
    }
    let word = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    if word.len() < plain.len() {
        return digits
            && plain.len() - word.len() <= 2
            && word.len() >= 2
            && is_word(known, &part[..word.len()], false);
    }
    let pieces = camel(part);
    part.bytes().all(|byte| byte.is_ascii_alphabetic())
        && part.bytes().any(|byte| byte.is_ascii_lowercase())
        && part[1..].bytes().any(|byte| byte.is_ascii_uppercase())
        && pieces.into_iter().all(|piece| (piece.len() > 1 || part.len() <= 4) && known.has(&lower(piece)))
}

/// Whether a token can be the name of an object: short parts in lower case, none of them random.
pub(super) fn is_name(token: &str) -> bool {
    // The prefix of a generated name.
    let token = token.strip_suffix('-').unwrap_or(token);
    let parts: Vec<&str> = token.split(['-', '.', '_']).collect();
    token.len() <= 253
        && parts.len() <= PARTS
        && token.starts_with(|c: char| c.is_ascii_alphanumeric())
        && parts.iter().enumerate().all(|(at, part)| is_part_of_name(part, at > 0))
}

fn is_part_of_name(part: &str, behind: bool) -> bool {
    let bytes = part.as_bytes();
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    if part.is_empty() || !bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return false;
    }
    match () {
        () if digits == 0 => part.len() <= PART,
        () if digits == part.len() => digits <= 8,
        () if letters + digits == part.len() && letters > 0 => digits <= 3 || behind && digits <= 6,
        () => part.len() <= 6 || behind && part.len() <= 10 && (is_suffix(part) || is_hex(part)),
    }
}

fn is_suffix(part: &str) -> bool {
    part.bytes().all(|byte| SUFFIX.contains(&byte))
}

/// Whether a token is the name of a ReplicaSet or its pod, recognizable by Kubernetes' suffix.
pub(super) fn is_generated_name(known: &FreeText, token: &str) -> bool {
    let token = token.strip_suffix('-').unwrap_or(token);
    let Some((owner, last)) = token.rsplit_once('-') else { return false };
    // Prefixes of API keys.
    if matches!(owner.split('-').next(), Some("sk" | "pk" | "rk" | "ak" | "glpat" | "xapp" | "xoxb" | "xoxp")) {
        return false;
    }
    let hash =
        |part: &str| (8..=10).contains(&part.len()) && is_suffix(part) && part.bytes().any(|b| b.is_ascii_digit());
    let of_set = last.len() == 5
        && is_suffix(last)
        && owner.rsplit_once('-').is_some_and(|(name, set)| hash(set) && is_name(name));
    let of_words = last.len() == 5 && is_suffix(last) && is_words(known, owner, true);
    of_set || of_words || hash(last) && is_name(owner)
}

/// A name, one with a namespace, or that of a pod in the kubelet's format (`web-1_shop`).
pub(super) fn is_reference(token: &str) -> bool {
    match token.split_once('/') {
        Some((namespace, name)) => is_name(namespace) && is_name(name),
        None => is_name(token),
    }
}

/// Whether a token is a non-secret host: of the cluster, its nodes, or a public one.
pub(super) fn is_host(known: &FreeText, token: &str) -> bool {
    let (host, port) = token.rsplit_once(':').unwrap_or((token, ""));
    let host = host.strip_suffix('.').unwrap_or(host);
    let within = ["svc", "cluster.local", "internal", "local", "arpa"]
        .iter()
        .any(|domain| host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')));
    port.len() <= 5
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && (known.is_public_host(host)
            || host == "localhost"
            || (within || host.contains(".svc.")) && is_name(host.trim_start_matches("*.")))
}

/// Whether a token is an image: `cr.l5d.io/linkerd/proxy:edge-26.8.3`. With other than public hosts, only after a word
/// for images.
pub(super) fn is_image(known: &FreeText, token: &str, named: bool) -> bool {
    let token =
        ["docker-pullable://", "docker://"].iter().find_map(|scheme| token.strip_prefix(scheme)).unwrap_or(token);
    let (name, digest) = token.split_once("@sha256:").unwrap_or((token, ""));
    let slash = name.rfind('/').map_or(0, |at| at + 1);
    let (path, tag) = match name[slash..].split_once(':') {
        Some((_, tag)) => (&name[..name.len() - tag.len() - 1], tag),
        None => (name, ""),
    };
    let (host, rest) = path.split_once('/').unwrap_or(("", path));
    let public = known.is_public_host(host);
    let digest_fits = digest.is_empty() || digest.len() == 64 && is_hex(digest);
    let host_fits = host.is_empty() || public || named && is_name(host.split(':').next().unwrap_or_default());
    (public || named)
        && digest_fits
        && host_fits
        && rest.split('/').all(is_name)
        && tag.len() <= 64
        && (tag.is_empty() || is_name(tag.trim_start_matches('v')))
}

/// Whether a token is a path on a node or of an API, without random parts.
pub(super) fn is_path(known: &FreeText, token: &str) -> bool {
    let Some(path) = token.strip_prefix('/') else { return false };
    let first = path.split('/').next().unwrap_or_default();
    // Paths of APIs and webhooks hold no uids.
    let of_pods = path.split('/').any(|part| matches!(part, "kubelet" | "pods" | "containers" | "sandboxes"));
    known.is_root(first)
        && path.split('/').all(|part| {
            let plain = part.trim_start_matches(['.', '*']);
            let volume = plain.split_once('~').is_some_and(|(domain, kind)| is_name(domain) && is_name(kind));
            plain.is_empty()
                || is_words(known, plain, true)
                || is_name(plain)
                || of_pods && is_uid(plain)
                || plain.strip_prefix("cni-").is_some_and(is_uid)
                || volume
        })
}

/// Whether a token is a URL of a host in the cluster or a public one, followed only by words and object names.
pub(super) fn is_url(known: &FreeText, token: &str) -> bool {
    let Some((scheme, rest)) = token.split_once("://") else { return false };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    if !query.is_empty() && !is_words(known, query, false) {
        return false;
    }
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
    if !known.has(scheme) && !matches!(scheme, "unix" | "containerd" | "npipe") || scheme.len() > 12 {
        return false;
    }
    // The account of all repositories.
    let authority = match scheme {
        "ssh" => authority.strip_prefix("git@").unwrap_or(authority),
        _ => authority,
    };
    if authority.is_empty() {
        return is_path(known, &format!("/{path}"));
    }
    let host = is_host(known, authority)
        || super::typed::is_typed(&authority.replace(['[', ']'], ""), super::typed::Numbers::Usual)
        || super::typed::is_typed(authority, super::typed::Numbers::Usual)
        || is_words(known, authority, true);
    let mut names = 0;
    host && path.split('/').all(|part| {
        let api = names > 0 && is_name(part);
        names = usize::from(matches!(part, "namespaces" | "pods" | "nodes" | "services" | "configmaps" | "secrets"))
            .max(if api { 2 } else { 0 });
        part.is_empty() || api || is_words(known, part, true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;

    #[test]
    fn words_names_hosts_and_paths_are_known() {
        let known = Knowledge::embedded().free_text();
        for token in [
            "not",
            "linkerd-proxy",
            "CreateContainerConfigError",
            "couldn't",
            "linkerd_reconnect",
            "spec.rules",
            "sha256",
        ] {
            assert!(is_words(known, token, true), "{token}");
        }
        for token in ["hunter2", "aBcDeF", "xK9", "phunter", "secret12345678"] {
            assert!(!is_words(known, token, true), "{token}");
        }
        for token in ["web-5d4f7b9c66-x7k2p", "web-5d4f7b9c66"] {
            assert!(is_generated_name(known, token), "{token}");
        }
        for token in ["hunter2", "a8f3k2j9d8s7", "correct-horse", "c4n4ryhunter2"] {
            assert!(!is_generated_name(known, token), "{token}");
        }
        assert!(!is_name("a8f3k2j9d8s7") && !is_name("AbC") && is_name("ip-10-0-1-12.ec2.internal"));
        assert!(is_host(known, "linkerd-dst.linkerd.svc.cluster.local:8086") && !is_host(known, "hooks.slack.com"));
        assert!(is_image(known, "cr.l5d.io/linkerd/proxy:edge-26.8.3", false));
        assert!(!is_image(known, "registry.example/x:y", false) && is_image(known, "registry.example/x:y", true));
        assert!(is_path(known, "/etc/cni/net.d/05-cilium.conflist") && !is_path(known, "/services/T00/B00/XyZ"));
        assert!(is_url(known, "https://10.96.0.1:443/api/v1/namespaces/shop/pods/web-1"));
        assert!(!is_url(known, "https://hooks.slack.com/services/T000/B000/XXXX"));
        assert!(!is_url(known, "https://10.96.0.1/hunter2"));
        assert!(is_url(known, "ssh://git@github.com/linkerd/mesh"));
        assert!(!is_url(known, "ssh://hunter2@github.com/mesh") && !is_url(known, "https://git@github.com/mesh"));
    }
}
