//! Values that are kept if they look like names, words, numbers or addresses: annotations, paths, names of events. Each
//! token that looks random is replaced.

use std::borrow::Cow;

use super::typed::{Numbers, is_common, is_hex, is_typed};
use super::words::{camel, is_image, is_name, is_words, lower};
use crate::knowledge::{FreeText, Knowledge, ValueType};
use crate::marker::{Marker, stand_in};
use crate::memo::Memo;
use crate::names::is_subdomain;
use crate::text;

/// Maximum length of one word.
const WORD: usize = 24;
/// Maximum number of digits after a word.
const NUMBER: usize = 4;
/// Maximum number of digits of a number.
const DIGITS: usize = 10;
/// Maximum number of consonants in sequence.
const CONSONANTS: usize = 6;
/// Shorter parts of names may be anything.
const SHORT: usize = 2;
/// Number of tokens after a word that announces a secret, of which only words are kept.
const NEAR: u8 = 3;
/// Length of an id of a container.
const ID: usize = 64;
/// Maximum length of a value of a few words.
const PHRASE: usize = 32;
/// Maximum number of characters of it that are not known words.
const UNKNOWN: usize = 8;
/// Longer unknown words of it have only letters.
const MIXED: usize = 4;

thread_local! {
    /// Cache of texts that are kept unchanged: the settings of proxies are the same in all pods.
    static PLAIN: Memo<()> = Memo::with_slots(1024);
    /// The same for names of environment variables.
    static NAMES: Memo<()> = Memo::with_slots(256);
}

/// A text without its random tokens.
pub(crate) fn plain(content: &str) -> Cow<'_, str> {
    let separates = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;|&=".contains(c);
    PLAIN.with(|known| known.unchanged(content, |content| judged(content, separates, is_plain)))
}

/// A path, a pattern of paths, or a path with a query, without its random segments.
pub(crate) fn path(content: &str) -> Cow<'_, str> {
    // Behind `(?`, a pattern has signs of groups: `(?!admin)`, `(?:v1)`.
    let passes = |known: &FreeText, token: &str| is_plain(known, token.trim_start_matches(['<', '!', ':']));
    judged(content, |c| c.is_whitespace() || "/?&=()[]{}|*+^$\\".contains(c), passes)
}

/// Host names, IP addresses and mesh identities, separated by commas.
pub(crate) fn address(content: &str) -> Cow<'_, str> {
    // The names in a host may resemble tokens.
    if content.contains('.') && is_subdomain(content.strip_suffix('.').unwrap_or(content)) {
        return Cow::Borrowed(content);
    }
    judged(content, |c| c.is_whitespace() || c == ',', is_address)
}

/// The name of an environment variable.
pub(crate) fn environment(content: &str) -> Cow<'_, str> {
    let passes =
        |known: &FreeText, name: &str| name.split(['_', '-', '.']).all(|part| part.len() <= 4 || is_atom(known, part));
    NAMES.with(|known| known.unchanged(content, |content| judged(content, |_| false, passes)))
}

/// The id of a container: `containerd://HEX`.
pub(crate) fn identifier(content: &str) -> Cow<'_, str> {
    judged(
        content,
        |_| false,
        |known, id| {
            let (scheme, id) = id.split_once("://").unwrap_or(("", id));
            (scheme.is_empty() || is_name(scheme)) && (id.len() <= ID && is_hex(id) || is_plain(known, id))
        },
    )
}

/// The value of a header: only control characters are kept, which make it invalid.
pub(crate) fn header(content: &str) -> Cow<'_, str> {
    judged(content, char::is_control, |_, _| false)
}

/// The value of an annotation of Linkerd: kept if it has the type of the key, or consists of words and numbers.
pub(crate) fn setting<'a>(value: &ValueType, content: &'a str) -> Cow<'a, str> {
    // The names of container ports are short, and each is alone between commas.
    let known = Knowledge::embedded().free_text();
    let is_port = |entry: &str| is_told(known, entry) || entry.len() <= 15 && is_name(entry);
    let are_ports = content.split(',').all(|entry| is_port(entry.trim()));
    let near = |known: &FreeText, token: &str| match value {
        ValueType::OneOf { values } | ValueType::Words { values } => {
            is_told(known, token)
                || token.len() <= WORD
                    && values
                        .iter()
                        .flat_map(|word| word.split('-').chain([word.as_str()]))
                        .any(|word| word.len() > SHORT && strsim::levenshtein(&lower(token), &lower(word)) <= 2)
        }
        ValueType::Quantity { .. }
        | ValueType::SignedQuantity {}
        | ValueType::GoDuration { .. }
        | ValueType::PolicyDuration { .. }
        | ValueType::SecondsOrGoDuration {}
        | ValueType::Integer { .. }
        | ValueType::Float { .. } => is_told(known, token) || is_measure(token),
        // Also names of container ports.
        ValueType::PortList { .. } => is_told(known, token) || are_ports && is_name(token),
        _ => is_told(known, token),
    };
    match value {
        ValueType::ImageTag {} | ValueType::LogFilter {} if !is_one_word(content) => {
            judged(content, char::is_whitespace, is_told)
        }
        kind if kind.is_free() => plain(content),
        ValueType::EnvList {} => variables(content),
        _ if value.check(content).is_ok() || is_brief(content) => Cow::Borrowed(content),
        _ => judged(content, |c| c.is_whitespace() || "\"'`()[]{}<>,;|&=/:-".contains(c), near),
    }
}

/// Whether a text has the characters of an image tag or a log filter.
fn is_one_word(content: &str) -> bool {
    content.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-,=:/[]{}*\"".contains(&byte))
}

/// Whether an invalid value of a typed field is harmless to show: a few words, and hardly a character of others. Too
/// short for a secret: `deny all`, `ten s`, `lots`.
pub(crate) fn is_brief(content: &str) -> bool {
    let known = Knowledge::embedded().free_text();
    let separates = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;|&=/:-".contains(c);
    let words = content.split(separates).filter(|word| !word.is_empty());
    let mut unknown = 0;
    for word in words.filter(|word| !is_told(known, word)) {
        if word.len() > MIXED && !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return false;
        }
        unknown += word.len();
    }
    let printable = content.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    printable
        && content.len() <= PHRASE
        && unknown <= UNKNOWN
        && !content.contains("REDACTED")
        && matches!(text::text(content), Cow::Borrowed(_))
}

/// A JSON list of environment variables without the values of other than Linkerd's own.
fn variables(content: &str) -> Cow<'_, str> {
    let Ok(serde_json::Value::Array(mut list)) = serde_json::from_str(content) else {
        return crate::object::masked(content);
    };
    let before = list.clone();
    for variable in &mut list {
        let name = variable["name"].as_str().unwrap_or_default().to_owned();
        let fields = match variable {
            serde_json::Value::Object(fields) => fields,
            other => {
                *other = serde_json::Value::Null;
                continue;
            }
        };
        fields.retain(|field, _| matches!(field.as_str(), "name" | "value" | "valueFrom"));
        for (field, value) in fields.iter_mut() {
            match (field.as_str(), &mut *value) {
                ("name", serde_json::Value::String(text)) => *text = environment(text).into_owned(),
                ("value", serde_json::Value::String(text)) => {
                    *text = crate::component::setting(&name, text).into_owned();
                }
                ("value", serde_json::Value::Bool(_) | serde_json::Value::Null) => {}
                ("value", serde_json::Value::Number(_)) => *value = 0.into(),
                _ => *value = serde_json::Value::Object(serde_json::Map::new()),
            }
        }
    }
    if list == before {
        return Cow::Borrowed(content);
    }
    Cow::Owned(serde_json::Value::Array(list).to_string())
}

/// Replaces each token that `passes` rejects. Markers stay, and secrets are removed by their shape.
fn judged<'a>(
    content: &'a str,
    separates: impl Fn(char) -> bool,
    passes: impl Fn(&FreeText, &str) -> bool,
) -> Cow<'a, str> {
    let known = Knowledge::embedded().free_text();
    let shaped = text::text(content);
    let mut out = String::with_capacity(shaped.len());
    let mut at = 0;
    // Number of tokens after a word that announces a secret.
    let mut near = 0_u8;
    while at < shaped.len() {
        let rest = &shaped[at..];
        if let Some(marker) = Marker::at(shaped.as_bytes(), at) {
            out.push_str(&shaped[at..marker.end]);
            at = marker.end;
            continue;
        }
        let end = rest.find(&separates).unwrap_or(rest.len());
        let marker = rest[..end].find("REDACTED").filter(|marker| *marker > 0);
        let end = marker.filter(|marker| Marker::at(shaped.as_bytes(), at + marker).is_some()).unwrap_or(end);
        if end == 0 {
            let sign = rest.chars().next().unwrap_or_default();
            out.push(sign);
            at += sign.len_utf8();
            continue;
        }
        let token = &rest[..end];
        if passes(known, token) && (near == 0 || is_words(known, token, false) || is_common(token)) {
            out.push_str(token);
        } else {
            out.push_str(&stand_in(token.as_bytes()));
        }
        near = if announces(known, token) { NEAR } else { near.saturating_sub(1) };
        at += end;
    }
    if out == content { Cow::Borrowed(content) } else { Cow::Owned(out) }
}

/// Whether a token is a word that announces a secret: `password`, not a name with it: `token-reader`.
fn announces(known: &FreeText, token: &str) -> bool {
    let word = token.trim_end_matches([':', '.', '!', '?']);
    word.bytes().all(|byte| byte.is_ascii_alphabetic()) && super::keys::is_sensitive(known, word)
}

/// Whether a part of a path is a lower-case word with one or two digits in it: `microk8s`, `k3s-agent`.
fn is_word_with_digits(part: &str) -> bool {
    part.len() <= WORD
        && part.bytes().filter(u8::is_ascii_digit).count() <= SHORT
        && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte))
}

/// Whether a token is a name, words, a number, an address or an image.
fn is_plain(known: &FreeText, token: &str) -> bool {
    if is_typed(token, Numbers::Usual) || is_image(known, token, true) {
        return true;
    }
    let inner = token.trim_end_matches(['!', '?', '.', ':', '%', '$', '~']);
    // Passwords end like this, words do not: `Winter7998$`.
    let signs = &token[inner.len()..];
    if inner.ends_with(|c: char| c.is_ascii_digit()) && signs.contains(['!', '$', '~']) {
        return false;
    }
    // Directories and files have names or words, other segments could be anything. A search path has several.
    if let Some(file) = inner.strip_prefix('/') {
        let is_part =
            |part: &str| part.is_empty() || is_name(part) || is_words(known, part, true) || is_word_with_digits(part);
        return file.split(['/', ':']).all(|part| is_typed(part, Numbers::Usual) || is_part(part));
    }
    !inner.contains(['!', '$', '%', '^', '\\', '~'])
        && inner.split(['/', ':', '@', '+', '*', '?', '#', '\'']).all(|part| {
            is_typed(part, Numbers::Usual)
                || is_name(part)
                || part.split(|c: char| !c.is_ascii_alphanumeric()).all(|atom| is_atom(known, atom))
        })
        && inner.is_ascii()
}

/// Whether a run of letters and digits is a word with a number behind it, or a number.
fn is_atom(known: &FreeText, atom: &str) -> bool {
    let letters = atom.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = atom.len() - letters.len();
    if letters.is_empty() || atom.len() <= SHORT {
        return digits <= DIGITS;
    }
    if known.has(&lower(atom)) {
        return true;
    }
    let vowel = |c: char| matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    let single = camel(letters).filter(|piece| piece.len() == 1).count();
    letters.len() <= WORD
        && digits <= NUMBER
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
        && single <= 1
        && letters.split(vowel).all(|run| run.len() <= CONSONANTS || letters.bytes().all(|b| b.is_ascii_uppercase()))
}

/// Whether a token consists of words of messages and numbers with a unit.
fn is_told(known: &FreeText, token: &str) -> bool {
    let digits = token.trim_start_matches(['-', '+']);
    let unit = digits.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_'));
    is_typed(token, Numbers::Usual)
        || is_words(known, token, true)
        || token.bytes().all(|byte| byte.is_ascii_punctuation())
        || unit.len() < digits.len() && (unit.len() <= 2 || is_words(known, unit, false) && !announces(known, unit))
}

/// Whether a token of a field for sizes, times or numbers is a number with a unit, in any spelling: `256Megs`,
/// `100msec`, `200mebibytes`; or a unit alone. A number with more digits or unknown letters may be a password.
fn is_measure(token: &str) -> bool {
    const PREFIXES: [&str; 12] =
        ["", "nano", "micro", "milli", "kilo", "mega", "giga", "tera", "kibi", "mebi", "gibi", "tebi"];
    const UNITS: [&str; 16] = [
        "", "b", "bit", "byte", "core", "cpu", "vcpu", "msec", "sec", "second", "min", "minute", "hr", "hour", "day",
        "week",
    ];
    let digits = token.trim_start_matches(['-', '+', '~']);
    let unit = digits.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_'));
    let number = digits.len() - unit.len();
    let unit = lower(unit);
    let is_unit = PREFIXES
        .iter()
        .filter_map(|prefix| unit.strip_prefix(prefix))
        .any(|rest| UNITS.contains(&rest) || rest.strip_suffix('s').is_some_and(|rest| UNITS.contains(&rest)));
    let has_short_unit = unit.len() <= 4 && unit.bytes().all(|byte| byte.is_ascii_lowercase());
    number <= DIGITS && is_unit && !unit.is_empty() || (1..=NUMBER).contains(&number) && has_short_unit
}

fn is_address(known: &FreeText, token: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'))
    };
    let host = token.strip_suffix('.').unwrap_or(token);
    is_typed(token, Numbers::Usual)
        || host.contains('.') && host.trim_start_matches("*.").split('.').all(label)
        || is_plain(known, token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Resource;

    #[test]
    fn names_words_and_addresses_are_kept() {
        for text in [
            "linkerd/helm edge-25.4.4",
            "web:apps/Deployment:shop/web",
            "warn,linkerd=info,hickory=error,[{headers}]=off",
            "http://prometheus.linkerd-viz.svc.cluster.local:9090",
            "2026-01-15T11:58:11Z",
            "cr.l5d.io/linkerd/proxy",
            "spec.containers{linkerd-proxy}",
            "- check: cni-daemonset-missing\n  reason: until the migration ends",
        ] {
            assert_eq!(plain(text), text);
        }
        for text in ["/api/v1/users", "/books/[^/]+/edit", "/grpc.health.v1.Health/Check", "/", "/live"] {
            assert_eq!(path(text), text);
        }
        for text in [
            "10.0.0.1",
            "a1b2c3d4e5f607182.elb.amazonaws.com,10.0.0.2",
            "linkerd-gateway.linkerd",
            "xapp-frontend.pypi-server-prod.svc.cluster.local.",
        ] {
            assert_eq!(address(text), text);
        }
    }

    #[test]
    fn random_tokens_are_replaced() {
        for text in ["hunterbQz02K!x", "a b hunterbQz02Kx", "9f7c5ae4-9a5c-4d9b-8000-0d9cf0a2a3c1", "aB3$dE6)gH9"] {
            assert!(matches!(plain(text), Cow::Owned(_)), "{text}");
            assert!(matches!(path(text), Cow::Owned(_)), "{text}");
            let clean = plain(text).into_owned();
            assert_eq!(plain(&clean), clean, "judged twice");
        }
        assert_eq!(path("/hook/T02AB3CD9x/send"), "/hook/REDACTED(len=10)/send");
        assert_eq!(plain("warn password Summer7702$"), "warn password REDACTED(len=11)");
        assert_eq!(path("/(?!admin).*"), "/(?!admin).*");
        assert_eq!(path("/(?:aB3xK9dE6gH9)/x"), "/(?REDACTED(len=13))/x");
        assert_eq!(plain("/usr/local/sbin:/usr/bin"), "/usr/local/sbin:/usr/bin");
        let folder = "/var/snap/microk8s/current/args/cni-network";
        assert_eq!(plain(folder), folder);
        assert_eq!(plain("Winter7998$:"), "REDACTED(len=12)");
        assert_eq!(plain("/v1/Summer7702/x"), "REDACTED(len=16)");
        assert_eq!(header("Basic x\ny"), "REDACTED(len=7)\nREDACTED(len=1)");
    }

    #[test]
    fn value_of_a_type_is_kept() {
        let ports = ValueType::PortList { blanks: true, lowest: 1 };
        assert_eq!(setting(&ports, "80, 443-445"), "80, 443-445");
        assert_eq!(setting(&ports, "http, admin-port"), "http, admin-port");
        assert!(!setting(&ports, "denied for velvet-orange-piano").contains("velvet"));
        assert!(!setting(&ports, "velvet-velvet-orange-piano").contains("velvet"));
        let state = ValueType::OneOf { values: vec!["enabled".to_owned()] };
        assert_eq!(setting(&state, "enabeld"), "enabeld");
        assert_ne!(setting(&state, "zanzi-brk01"), "zanzi-brk01");
        let policy = ValueType::OneOf { values: vec!["all-authenticated".to_owned()] };
        assert_eq!(setting(&policy, "All-Authenticated"), "All-Authenticated");
        assert_ne!(setting(&policy, "All-Turtlewalnut"), "All-Turtlewalnut");
        let amount = ValueType::Quantity { of: Resource::Bytes };
        for text in ["256Megs", "0,5", "256 megabytes", "200mebibytes", "500milli", "1024MB/s"] {
            assert_eq!(setting(&amount, text), text);
        }
        for text in ["4711secret", "482913pass"] {
            assert_ne!(setting(&amount, text), text);
        }
        for text in ["lots", "abc", "1GB", "plenty", "half of it", "5 Mi"] {
            assert_eq!(setting(&amount, text), text);
        }
        for text in ["hunter2", "correcthorse", "corrext horsf", "a1b2 c3d4 e5f6", "Zq7kX2vB", "token=abc"] {
            assert_ne!(setting(&amount, text), text);
        }
        for kind in [ValueType::ImageTag {}, ValueType::LogFilter {}] {
            for text in ["edge-26.8.3", "warn,linkerd=info,[{headers}]=off"] {
                assert_eq!(setting(&kind, text), text);
            }
            for text in ["the password Summer7702$", "Summer7702$", "deny zebivo47 now"] {
                assert_ne!(setting(&kind, text), text);
            }
        }
        let list = r#"[{"name":"A","value":"hunter"},{"name":"LINKERD2_PROXY_LOG","value":"info"}]"#;
        let clean = setting(&ValueType::EnvList {}, list).into_owned();
        assert!(!clean.contains("hunter") && clean.contains("info"), "{clean}");
    }
}
