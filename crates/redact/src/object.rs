//! Redacts a whole Kubernetes object: the table of fields ([`super::allow`]), and rules beyond single fields: the owner
//! of a container, known ConfigMaps, the match of a Secret's key.
//!
//! Structure stays (keys, lists and types), so that a bundle also serves later versions and user-defined checks.
//! Dropped are managed fields, copies of the object in annotations, and contents of Secrets other than certificates.

use std::borrow::Cow;
use std::ops::AddAssign;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::allow::Rule;
use super::certificate::{KeyMatches, certificates_only, key_matches};
use super::copy::{copied, first_copied};
use super::marker::{Marker, stand_in};
use super::memo::Memo;
use super::parse::parse;
use super::pem::block;
use super::{component, config_map, free_text, keys, name, remote, route, shapes, text};

/// Annotation of a redacted Secret: whether its private key matched its certificate.
pub const KEY_MATCHES: &str = "meshdoctor.io/key-matches";

/// Result of a redaction, for the record of a bundle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of removed fields: managed fields, annotations with a copy of the object, entries of Secrets.
    pub dropped: usize,
    /// Number of values replaced by a marker.
    pub replaced: usize,
    /// Number of certificates kept from Secrets.
    pub certificates: usize,
}

impl Counts {
    /// Whether anything was replaced or dropped.
    pub fn touched(self) -> bool {
        self.dropped > 0 || self.replaced > 0
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.dropped += other.dropped;
        self.replaced += other.replaced;
        self.certificates += other.certificates;
    }
}

/// Entries of Secrets that hold certificates.
pub(super) const CERTIFICATES: [&str; 4] = ["tls.crt", "crt.pem", "ca.crt", "ca-bundle.crt"];
/// Entries of Secrets that hold the private key to `tls.crt` or `crt.pem`.
const PRIVATE_KEYS: [&str; 2] = ["tls.key", "key.pem"];
/// Type of the Secrets with credentials of links.
const REMOTE_KUBECONFIG: &str = "mirror.linkerd.io/remote-kubeconfig";
/// A redacted object as JSON. Only this module creates it, and only this is saved.
#[derive(Debug, Clone, PartialEq)]
pub struct Sanitized(Vec<u8>);

/// A redacted object, and whether anything was replaced or dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct Passed {
    /// The redacted object.
    pub object: Sanitized,
    /// Whether anything is missing.
    pub touched: bool,
}

impl Sanitized {
    /// Redacts an object of a kind from JSON. `alone`: version and kind for objects without them. `live`: it comes
    /// directly from a cluster.
    ///
    /// # Errors
    /// It is not JSON.
    pub fn read(
        kind: &str,
        rule: &'static Rule,
        json: &[u8],
        alone: Option<(&str, &str)>,
        live: bool,
    ) -> Result<Passed, serde_json::Error> {
        let text = String::from_utf8_lossy(json);
        if let Some((json, touched)) = copied(kind, rule, &text, alone) {
            return Ok(Passed { object: Sanitized(json), touched });
        }
        let mut value = parse(text.as_bytes())?;
        if let (Some((version, kind)), Some(object)) = (alone, value.as_object_mut()) {
            object.entry("apiVersion").or_insert_with(|| version.into());
            object.entry("kind").or_insert_with(|| kind.into());
        }
        super::withheld::note_withheld(&mut value, live);
        if live {
            note_absent_key(&mut value);
            remote::note_absent_kubeconfig(&mut value);
        }
        Sanitized::sanitize(kind, rule, value)
    }

    /// Redacts the object at the start of `text`; returns its length. `None` if the whole object is needed
    /// ([`Sanitized::read`]), or it is invalid or incomplete.
    pub fn read_first(
        kind: &str,
        rule: &'static Rule,
        text: &str,
        alone: Option<(&str, &str)>,
    ) -> Option<(Passed, usize)> {
        let ((json, touched), length) = first_copied(kind, rule, text, alone)?;
        Some((Passed { object: Sanitized(json), touched }, length))
    }

    /// Redacts an object of a kind.
    ///
    /// # Errors
    /// It cannot be written as JSON; every tree can.
    pub fn sanitize(kind: &str, rule: &'static Rule, mut value: Value) -> Result<Passed, serde_json::Error> {
        let touched = object(kind, rule, &mut value).touched();
        Ok(Passed { object: Sanitized(serde_json::to_vec(&value)?), touched })
    }

    /// The object.
    pub fn json(&self) -> &[u8] {
        &self.0
    }

    /// The object as a tree.
    ///
    /// # Errors
    /// It is not JSON; data written here is.
    pub fn value(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_slice(&self.0)
    }
}

/// Redacts an object by the rule of its kind.
pub fn object(kind: &str, rule: &'static Rule, value: &mut Value) -> Counts {
    let mut counts = Counts::default();
    let data = match kind {
        "Secret" => {
            secret(value, &mut counts);
            value.get_mut("data").map(Value::take)
        }
        "ConfigMap" => {
            config_map::data(value, &mut counts);
            value.get_mut("data").map(Value::take)
        }
        "HTTPRoute" | "GRPCRoute" => {
            route::matches(value, &mut counts);
            None
        }
        _ => None,
    };
    component::containers(value, &mut counts);
    copies(value, &mut counts);
    walk(value, "", rule, &mut counts);
    // Its own rules were already applied.
    if let (Some(data), Some(place)) = (data, value.get_mut("data")) {
        *place = data;
    }
    counts
}

/// Applies a rule to a text.
pub(super) fn leaf<'a>(rule: &Rule, content: &'a str) -> Cow<'a, str> {
    match rule {
        Rule::Text | Rule::Env => text::text(content),
        Rule::Object => name::object(content),
        Rule::Label => name::label(content),
        Rule::Image => name::image(content),
        Rule::Selectors => name::selectors(content),
        Rule::Sentence => free_text::free_text(content),
        Rule::Clean => Cow::Borrowed(content),
        Rule::Word if is_word(content) || is_amount(content) || free_text::is_brief(content) => text::text(content),
        Rule::Checksum if content.bytes().all(|byte| byte.is_ascii_hexdigit()) => Cow::Borrowed(content),
        Rule::Certificates => certificates(content),
        Rule::Name => free_text::plain(content),
        // The form of a name: of the release, the application and the object.
        Rule::Written(form) if form.fits(content) => Cow::Borrowed(content),
        Rule::Path => free_text::path(content),
        Rule::Address => free_text::address(content),
        Rule::Identifier => free_text::identifier(content),
        Rule::Header => free_text::header(content),
        Rule::Variable => free_text::environment(content),
        Rule::Setting(value) => free_text::setting(value, content),
        Rule::Access if remote::RemoteAccess::parse(Some(content)).is_some() => text::text(content),
        Rule::Hinted if matches!(content, "true" | "false") || free_text::is_words(content) => Cow::Borrowed(content),
        Rule::Word
        | Rule::Access
        | Rule::Hinted
        | Rule::Checksum
        | Rule::Written(_)
        | Rule::Other
        | Rule::Labels
        | Rule::Annotations
        | Rule::Map(_)
        | Rule::Fields(_) => masked(content),
    }
}

/// A marker with only the length of the text; the empty text stays.
pub(super) fn masked(content: &str) -> Cow<'_, str> {
    if content.is_empty() || Marker::whole(content.as_bytes()).is_some() {
        Cow::Borrowed(content)
    } else {
        Cow::Owned(stand_in(content.as_bytes()))
    }
}

/// Whether a text is one word: without blanks and characters of sentences and passwords.
pub(super) fn is_word(content: &str) -> bool {
    content.len() <= 256
        && content.bytes().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'.' | b'_' | b'-' | b':' | b'/' | b'+' | b'*' | b'%' | b',' | b'~')
        })
        || Marker::whole(content.as_bytes()).is_some()
}

/// Whether a text is a number with units, perhaps miswritten: `5 s`, `1 min 30 sec`. It is too short for a secret.
fn is_amount(content: &str) -> bool {
    let count = |is: fn(&char) -> bool| content.chars().filter(is).count();
    let (digits, letters) = (count(char::is_ascii_digit), count(|c| c.is_alphabetic()));
    let longest = content.split(|c: char| !c.is_alphabetic()).map(str::len).max().unwrap_or_default();
    content.len() <= 24
        && (1..=9).contains(&digits)
        && (letters <= 12 && longest <= 7)
        && content.trim_start_matches([' ', '+', '-', '.']).starts_with(|c: char| c.is_ascii_digit())
        && content
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | ',' | '+' | '-' | ':' | '\u{b5}' | '\u{3bc}'))
}

/// A text of certificates, as PEM or base64 of PEM; of other texts only the certificates are kept.
pub(super) fn certificates(content: &str) -> Cow<'_, str> {
    thread_local! {
        /// Cache of texts with only certificates: all pods have the same trust anchors.
        static CLEAN: Memo<()> = Memo::with_slots(16);
    }
    CLEAN.with(|known| known.unchanged(content, certificates_alone))
}

fn certificates_alone(content: &str) -> Cow<'_, str> {
    let decoded = STANDARD.decode(content.trim()).ok();
    let pem = decoded.as_deref().unwrap_or(content.as_bytes());
    let mut rest = 0;
    let mut only = true;
    for block in shapes::certificates(pem) {
        only &= pem[rest..block.start].trim_ascii().is_empty();
        rest = block.end;
    }
    if only && rest > 0 && pem[rest..].trim_ascii().is_empty() {
        return Cow::Borrowed(content);
    }
    match certificates_only(pem) {
        None => masked(content),
        Some(kept) if kept.as_bytes() == pem => Cow::Borrowed(content),
        Some(kept) => Cow::Owned(if decoded.is_some() { STANDARD.encode(kept) } else { kept }),
    }
}

pub(super) fn walk(value: &mut Value, key: &str, rule: &'static Rule, counts: &mut Counts) {
    match value {
        Value::Object(map) => {
            rename(map, rule, counts);
            for (key, value) in map.iter_mut() {
                walk(value, key, rule.child(key), counts);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, key, rule, counts)),
        Value::String(content) => {
            if let Cow::Owned(clean) = leaf(rule, content) {
                *content = clean;
                counts.replaced += 1;
            }
        }
        Value::Number(number) => {
            if matches!(rule, Rule::Other) && keys::is_secret(key) && number.as_i64() != Some(0) {
                *value = 0.into();
                counts.replaced += 1;
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Keys chosen by users may be secrets themselves.
pub(super) fn rename(map: &mut Map<String, Value>, rule: &Rule, counts: &mut Counts) {
    let owned = |key: &String| match rule.key(key) {
        Cow::Owned(clean) => Some((key.clone(), clean)),
        Cow::Borrowed(_) => None,
    };
    let named: Vec<(String, String)> = map.keys().filter_map(owned).collect();
    for (key, clean) in named {
        if let Some(value) = map.remove(&key) {
            map.insert(clean, value);
            counts.replaced += 1;
        }
    }
}

/// Replaces a whole text, unless it is empty or already replaced.
pub(super) fn replace(content: &mut String, counts: &mut Counts) {
    if let Cow::Owned(clean) = masked(content) {
        *content = clean;
        counts.replaced += 1;
    }
}

/// Drops managed fields of an object and its templates, and annotations with a copy of it.
fn copies(value: &mut Value, counts: &mut Counts) {
    match value {
        Value::Object(map) => {
            if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
                counts.dropped += usize::from(metadata.remove("managedFields").is_some());
                if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
                    let before = annotations.len();
                    annotations.retain(|key, _| !holds_a_copy(key));
                    counts.dropped += before - annotations.len();
                }
            }
            map.values_mut().for_each(|value| copies(value, counts));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| copies(item, counts)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Annotations with a copy of the applied object.
pub(super) fn holds_a_copy(key: &str) -> bool {
    key.contains("last-applied")
        || key.contains("last-handled")
        || key.ends_with("/applied")
        || key.ends_with("/original")
}

fn secret(value: &mut Value, counts: &mut Counts) {
    let Value::Object(map) = value else { return };
    let data = match map.remove("data") {
        Some(Value::Object(data)) => data,
        Some(_) | None => Map::new(),
    };
    counts.dropped += usize::from(map.remove("stringData").is_some());
    let decoded = |key: &str| data.get(key).and_then(Value::as_str).and_then(|text| STANDARD.decode(text.trim()).ok());
    let first = |names: &[&str]| names.iter().find_map(|name| decoded(name));
    let key = private_key(&data);
    let had_key = key.is_some();
    let matches = match (first(&["tls.crt", "crt.pem"]), key.and_then(entry_bytes)) {
        (Some(certificate), Some(key)) => key_matches(&certificate, &key),
        _ => KeyMatches::Unknown,
    };

    let access = remote_access(map, &data);
    let mut kept = Map::new();
    for name in CERTIFICATES {
        if let Some(pem) = decoded(name).and_then(|pem| certificates_only(&pem)) {
            counts.certificates += pem.matches("-----BEGIN CERTIFICATE-----").count();
            kept.insert(name.to_owned(), Value::String(STANDARD.encode(pem)));
        }
    }
    counts.dropped += data.keys().filter(|key| !kept.contains_key(*key)).count();
    // Unknown fields of a Secret: their content may be secret.
    let before = map.len();
    map.retain(|key, _| matches!(key.as_str(), "apiVersion" | "kind" | "metadata" | "type" | "immutable"));
    counts.dropped += before - map.len();
    map.insert("data".to_owned(), Value::Object(kept));

    let metadata = map.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(metadata) = metadata else { return };
    let annotations = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    if !annotations.is_object() {
        *annotations = Value::Object(Map::new());
    }
    if let Value::Object(annotations) = annotations {
        // Without a key there is nothing to compare: keep the result of an earlier redaction.
        let earlier = annotations.get(KEY_MATCHES).and_then(Value::as_str);
        let earlier = earlier.filter(|answer| KeyMatches::parse(Some(answer)) != KeyMatches::Unknown);
        if had_key || earlier.is_none() {
            annotations.insert(KEY_MATCHES.to_owned(), Value::String(matches.as_str().to_owned()));
        }
        if let Some(access) = access {
            annotations.insert(remote::KUBECONFIG.to_owned(), Value::String(access));
        }
    }
}

/// The entry with the private key of a Secret's certificate: the one in the certificate's layout, if both exist.
fn private_key(data: &Map<String, Value>) -> Option<&Value> {
    let [tls, pem] = PRIVATE_KEYS;
    let order = if data.contains_key("tls.crt") { [tls, pem] } else { [pem, tls] };
    order.into_iter().find_map(|name| data.get(name))
}

/// Content of an entry of a Secret; `None` if it is not base64, which API servers never return.
fn entry_bytes(entry: &Value) -> Option<Vec<u8>> {
    match entry {
        Value::Null => Some(Vec::new()),
        entry => STANDARD.decode(entry.as_str()?.trim()).ok(),
    }
}

/// Records that the private key of a Secret with a certificate is missing, empty, or not a key. Only for Secrets read
/// directly from the cluster: dumps often omit, blank or replace the key. Runs before [`object`], which drops the
/// entries.
pub fn note_absent_key(value: &mut Value) {
    let Some(Value::Object(data)) = value.get_mut("data") else { return };
    let certified = ["tls.crt", "crt.pem"].iter().any(|name| data.contains_key(*name));
    let said = match private_key(data).map(entry_bytes) {
        None => KeyMatches::Absent,
        Some(Some(key)) if key.trim_ascii().is_empty() => KeyMatches::Empty,
        Some(Some(key)) if block(&String::from_utf8_lossy(&key)).is_none() => KeyMatches::Unreadable,
        Some(_) => return,
    };
    if !certified || value["kind"] != "Secret" {
        return;
    }
    if let Some(Value::Object(data)) = value.get_mut("data") {
        data.retain(|name, _| !PRIVATE_KEYS.contains(&name.as_str()));
    }
    if let Some(Value::Object(metadata)) = value.get_mut("metadata")
        && let Value::Object(annotations) = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()))
    {
        annotations.insert(KEY_MATCHES.to_owned(), Value::String(said.as_str().to_owned()));
    }
}

/// Metadata of a link's credentials as JSON; `None` for other Secrets, or without data.
fn remote_access(secret: &Map<String, Value>, data: &Map<String, Value>) -> Option<String> {
    let is_links = secret.get("type").and_then(Value::as_str) == Some(REMOTE_KUBECONFIG);
    if data.is_empty() || !(is_links || data.contains_key(remote::ENTRY)) {
        return None;
    }
    let kubeconfig = match data.get(remote::ENTRY).and_then(Value::as_str) {
        // API servers always return base64: the value was replaced by a word.
        Some(text) => Some(STANDARD.decode(text.trim()).ok()?),
        None => None,
    };
    serde_json::to_string(&remote::RemoteAccess::read(kubeconfig.as_deref())).ok()
}
