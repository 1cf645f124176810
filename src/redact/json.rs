//! Secrets in a JSON file, whole or broken, without moving a line.
//!
//! A lexical pass rather than a parse: it treats half-written files like whole ones, and it replaces only
//! what lies inside a string literal, so that everything around keeps its line (and, by the length in the
//! marker, its column). A text stays behind keys that are known to hold names and the like ([`CONFIG`], [`FACTS`]); behind any
//! other it goes. What strict parsers would refuse is swept once more by the rules for plain text.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::keys;
use super::marker::Marker;
use super::{shapes, text};

/// How often a result is swept again; two rounds settle everything met so far.
const ROUNDS: usize = 6;

/// Keys of CNI configurations whose texts are names, addresses, paths or enumerations.
static CONFIG: &[&str] = &[
    "name",
    "type",
    "cniVersion",
    "cniVersions",
    "plugins",
    "delegates",
    "kubeconfig",
    "log_level",
    "logLevel",
    "logfile_path",
    "log_file_path",
    "log-file",
    "loglevel",
    "logFile",
    "log_file",
    "pluginLogFile",
    "pluginLogLevel",
    "datastore_type",
    "nodename",
    "nodename_file",
    "mtu",
    "ipam",
    "subnet",
    "subnets",
    "ranges",
    "rangeStart",
    "rangeEnd",
    "gateway",
    "routes",
    "dst",
    "gw",
    "dataDir",
    "bridge",
    "master",
    "mode",
    "hairpinMode",
    "policy",
    "kubernetes",
    "linkerd",
    "k8s_api_root",
    "assign_ipv4",
    "assign_ipv6",
    "ipv4_pools",
    "ipv6_pools",
    "vethPrefix",
    "vethMTU",
    "conf_dir",
    "cni_bin_dir",
    "capabilities",
    "clusterNetwork",
    "defaultNetworks",
    "confDir",
    "binDir",
    "cniDir",
    "socketDir",
    "readinessindicatorfile",
    "readinessIndicatorFile",
    "multusNamespace",
    "namespaceIsolation",
    "delegate",
    "snat",
    "conditionsV4",
    "externalSetMarkChain",
    "backend",
    "ipMasqBackend",
    "podSGEnforcingMode",
    "iptables-mode",
    "inbound-ports-to-ignore",
    "outbound-ports-to-ignore",
    "ports-to-redirect",
    "subnets-to-ignore",
    "incoming-proxy-port",
    "outgoing-proxy-port",
    "proxy-uid",
    "proxy-gid",
    "enable-debug",
    "chaining-mode",
    "eth",
    "provider",
    "network",
    "featureControl",
    "container_settings",
    "plugin_log_level",
    "excludeNamespaces",
    "exclude_namespaces",
    "cni_version",
    "interface",
    "ifName",
    "server_socket",
    "datastore",
    "addresses",
    "address",
    "nodeNameFile",
];
/// Keys of the files of a node snapshot that its collector writes itself.
static FACTS: &[&str] = &[
    "schema",
    "node",
    "nodeUID",
    "collectedAt",
    "collector",
    "hostRoot",
    "errors",
    "truncated",
    "notCaptured",
    "listed",
    "path",
    "error",
    "why",
    "confDir",
    "binDirs",
    "source",
    "cniDefaultNetwork",
    "dirs",
    "dir",
    "name",
    "type",
    "mode",
    "mtime",
    "sha256",
    "linkTarget",
    "parseError",
    "server",
    "currentContext",
    "contexts",
    "users",
    "caSha256",
    "tokenClaims",
    "tokenSha256Prefix",
    "tokenError",
    "entries",
    "linkerdCniVersion",
    "cniVersion",
    "supportedVersions",
    "runtimePath",
    "pathSource",
    "binaries",
    "proxyEnv",
    "links",
    "version",
    "selinux",
    "apparmor",
    "lastCNILoadStatus",
    "networks",
    "runtime",
    "kubelet",
    "file",
    "message",
    "iss",
    "sub",
    "namespace",
    "pod",
    "podName",
    "podUid",
    "uid",
    "serviceAccount",
    "serviceaccount",
    "issuer",
    "aud",
    "nodeName",
    "saUid",
    "binDir",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
];
/// Plugins for whose sake a file is kept that nobody loads.
const SPOKEN_OF: [&[u8]; 3] = [b"linkerd-cni", b"multus", b"cilium"];
/// Words outside of quotes up to this length are punctuation of some other language.
const MARKS: usize = 3;

/// A CNI configuration.
pub fn config(input: &[u8]) -> Cow<'_, [u8]> {
    either(input, CONFIG)
}

/// A file of a node snapshot that its collector wrote.
pub fn facts(input: &[u8]) -> Cow<'_, [u8]> {
    either(input, FACTS)
}

/// UTF-16 files are read as such and keep their encoding: runtimes refuse them, secrets in them are as real.
fn either<'a>(input: &'a [u8], keys: &'static [&'static str]) -> Cow<'a, [u8]> {
    if let Some(wide) = Wide::of(input) {
        let narrow = wide.decode(input);
        return match settle(narrow.as_bytes(), keys) {
            Cow::Borrowed(_) => Cow::Borrowed(input),
            Cow::Owned(clean) => Cow::Owned(wide.encode(&String::from_utf8_lossy(&clean))),
        };
    }
    settle(input, keys)
}

fn settle<'a>(input: &'a [u8], keys: &'static [&'static str]) -> Cow<'a, [u8]> {
    let mut current = Cow::Borrowed(input);
    for _ in 0..ROUNDS {
        match sweep(&current, keys) {
            None => return current,
            Some(next) => current = Cow::Owned(next),
        }
    }
    current
}

/// One round; `None` when nothing was left to replace.
fn sweep(input: &[u8], keys: &'static [&'static str]) -> Option<Vec<u8>> {
    let mut lexer = Lexer {
        input,
        at: 0,
        keys,
        broken: serde_json::from_slice::<IgnoredAny>(input).is_err(),
        open: Vec::new(),
        pending: None,
        hits: Vec::new(),
        digits: Vec::new(),
    };
    lexer.run();
    // In the same round: where a word of a key's first line is taken for a value, the rest would no longer look like a key.
    shapes::private_keys(input, &mut lexer.hits);
    let mut current = Cow::Borrowed(input);
    if !lexer.digits.is_empty() {
        let masked = current.to_mut();
        for digit in lexer.digits {
            masked[digit] = b'1';
        }
    }
    if let Some(next) = text::replace(&current, lexer.hits) {
        current = Cow::Owned(next);
    }
    let broken = serde_json::from_slice::<IgnoredAny>(&current).is_err();
    let swept = if broken { text::yaml_bytes(&current) } else { text::bytes(&current) };
    if let Cow::Owned(next) = swept {
        current = Cow::Owned(next);
    }
    (*current != *input).then(|| current.into_owned())
}

/// What is known of a value by the key before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// The key announces a secret, or stands below one that does.
    Secret,
    /// The key is known to hold names and the like.
    Known,
    /// Any other.
    Other,
}

struct Lexer<'a> {
    input: &'a [u8],
    at: usize,
    keys: &'static [&'static str],
    /// Whether strict parsers refuse the file.
    broken: bool,
    /// For each open bracket: what its values stand behind.
    open: Vec<Behind>,
    /// What the last key says, when its value has not come yet.
    pending: Option<Behind>,
    hits: Vec<Range<usize>>,
    /// Digits of numbers behind a secret key; replaced one for one, since a marker would need quotes.
    digits: Vec<usize>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(byte) = self.input.get(self.at) {
            match byte {
                b'"' => self.literal(),
                b'{' | b'[' => {
                    let inherited = self.behind();
                    self.open.push(inherited);
                    self.pending = None;
                    self.at += 1;
                }
                b'}' | b']' => {
                    self.open.pop();
                    self.pending = None;
                    self.at += 1;
                }
                b',' => {
                    self.pending = None;
                    self.at += 1;
                }
                b':' | b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                _ => self.bare(),
            }
        }
    }

    fn behind(&self) -> Behind {
        self.pending.or(self.open.last().copied()).unwrap_or(Behind::Other)
    }

    /// What a key says of its value. Settings of the kernel (`net.ipv4.ip_forward`) are numbers.
    fn said_by(&self, key: &str) -> Behind {
        let known = self.keys.iter().any(|known| known.eq_ignore_ascii_case(key));
        if self.open.last() == Some(&Behind::Secret) || keys::is_secret(key) && !known {
            Behind::Secret
        } else if known || key.starts_with("net.") || key.starts_with("fs.") {
            Behind::Known
        } else {
            Behind::Other
        }
    }

    /// A string literal: a key if a colon follows, else a value. One that never closes ends with its line.
    fn literal(&mut self) {
        let start = self.at + 1;
        let mut end = start;
        while let Some(byte) = self.input.get(end) {
            match byte {
                b'"' | b'\n' => break,
                b'\\' if self.input.get(end + 1).is_some_and(|next| *next != b'\n') => end += 2,
                _ => end += 1,
            }
        }
        let closed = self.input.get(end) == Some(&b'"');
        self.at = if closed { end + 1 } else { end };
        let content = &self.input[start..end];
        let next = self.input[self.at..].iter().find(|byte| !byte.is_ascii_whitespace());
        if closed && next == Some(&b':') {
            self.pending = Some(self.said_by(&decode(content)));
            if hides_secret(content) {
                self.hits.push(start..end);
            }
            return;
        }
        let content = if closed { content } else { content.trim_ascii_end() };
        let end = start + content.len();
        let passes = self.behind() == Behind::Known
            || keys::is_harmless(content)
            || Marker::whole(content).is_some()
            || self.behind() == Behind::Other && is_number(content);
        if !passes || hides_secret(content) {
            self.hits.push(start..end);
        }
        self.pending = None;
    }

    /// A number, `true`, or in a broken file any other word.
    fn bare(&mut self) {
        let start = self.at;
        let stop = |byte: u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':')
        };
        self.at += self.input[start..].iter().take_while(|byte| !stop(**byte)).count().max(1);
        let word = &self.input[start..self.at];
        let secret = self.behind() == Behind::Secret;
        let unknown = self.broken
            && word.len() > MARKS
            && !is_number(word)
            && !SPOKEN_OF.contains(&word)
            && !self.keys.iter().any(|key| key.as_bytes() == word);
        if (secret || unknown) && !keys::is_harmless(word) {
            if is_number(word) {
                let digits = (start..self.at).filter(|at| self.input[*at].is_ascii_digit());
                self.digits.extend(digits);
            } else if Marker::at(self.input, start).is_none_or(|marker| marker.end < self.at) {
                self.hits.push(start..self.at);
            }
        }
        self.pending = None;
    }
}

fn is_number(word: &[u8]) -> bool {
    word.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'))
}

/// Does an escape (`\u0065yJ...`) hide a secret from the scan of the raw bytes?
fn hides_secret(content: &[u8]) -> bool {
    if !content.contains(&b'\\') {
        return false;
    }
    let plain = decode(content);
    let Cow::Owned(clean) = text::text(&plain) else { return false };
    // Visible to the scan of the raw bytes as well: let that replace just the secret.
    decode(&text::bytes(content)) != clean
}

/// The text of a literal; escapes that are not valid stay as they are.
fn decode(content: &[u8]) -> String {
    let lossy = String::from_utf8_lossy(content);
    if !lossy.contains('\\') {
        return lossy.into_owned();
    }
    match serde_json::from_str::<String>(&format!("\"{lossy}\"")) {
        Ok(plain) => plain,
        Err(_) => decode_leniently(&lossy),
    }
}

fn decode_leniently(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let code = rest
            .strip_prefix('u')
            .and_then(|hex| hex.get(..4))
            .and_then(|hex| u32::from_str_radix(hex, 16).ok());
        match (code.and_then(char::from_u32), rest.chars().next()) {
            (Some(decoded), _) => {
                plain.push(decoded);
                rest = &rest[5..];
            }
            (None, Some('n')) => {
                plain.push('\n');
                rest = &rest[1..];
            }
            (None, Some(next)) => {
                plain.push(next);
                rest = &rest[next.len_utf8()..];
            }
            (None, None) => plain.push('\\'),
        }
    }
    plain.push_str(rest);
    plain
}

/// Text in two-byte units.
#[derive(Clone, Copy)]
struct Wide {
    big_endian: bool,
}

impl Wide {
    fn of(input: &[u8]) -> Option<Wide> {
        match input {
            [0xFF, 0xFE, ..] => return Some(Wide { big_endian: false }),
            [0xFE, 0xFF, ..] => return Some(Wide { big_endian: true }),
            _ => {}
        }
        // Without a byte-order mark: every other byte of an ASCII text is zero.
        let sample = &input[..input.len().min(4096)];
        let zeros = |parity: usize| sample.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
        let (even, odd) = (zeros(0), zeros(1));
        let many = sample.len() / 4;
        if many == 0 || even.max(odd) <= many {
            return None;
        }
        Some(Wide { big_endian: even > odd })
    }

    fn decode(self, input: &[u8]) -> String {
        let units = input.chunks(2).map(|pair| match (pair, self.big_endian) {
            ([high, low], true) => u16::from_be_bytes([*high, *low]),
            ([low, high], false) => u16::from_le_bytes([*low, *high]),
            // An odd last byte cannot be a character of its own.
            _ => 0xFFFD,
        });
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }

    fn encode(self, text: &str) -> Vec<u8> {
        text.encode_utf16()
            .flat_map(|unit| if self.big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() })
            .collect()
    }
}
