//! What passes of a Kubernetes object, whole: the table of fields ([`super::allow`]), and beside it what one field cannot say:
//! whose container it is, which ConfigMap, whether a Secret's key fits.
//!
//! Structure stays: keys, lists and types, so that a bundle serves checks of later versions and of users. Dropped are managed
//! fields, copies of the object in annotations, and what Secrets hold beside certificates.

use std::borrow::Cow;
use std::ops::AddAssign;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::allow::Rule;
use super::certificate::{KeyMatches, certificates_only, key_matches};
use super::copy::{copied, first_copied};
use super::free_text::free_text;
use super::marker::{Marker, stand_in};
use super::memo::Memo;
use super::parse::parse;
use super::pem::block;
use super::{component, config_map, keys, remote, shapes, text};

/// Annotation of a redacted Secret: whether its private key belonged to its certificate.
pub const KEY_MATCHES: &str = "meshdoctor.io/key-matches";

/// What redacting did, for the record of a bundle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Fields removed: managed fields, annotations with a copy of the object, entries of Secrets.
    pub dropped: usize,
    /// Values replaced by a marker.
    pub replaced: usize,
    /// Certificates kept from Secrets.
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
/// The type of the Secrets in which links keep their credentials.
const REMOTE_KUBECONFIG: &str = "mirror.linkerd.io/remote-kubeconfig";
/// An object that has passed the sanitizer, as JSON. Nothing else makes one, and nothing else is saved.
#[derive(Debug, Clone, PartialEq)]
pub struct Sanitized(Vec<u8>);

/// An object that has passed the sanitizer, and whether anything of it was replaced or dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct Passed {
    /// What passes of it.
    pub object: Sanitized,
    /// Whether that is not all.
    pub touched: bool,
}

impl Sanitized {
    /// What passes of an object of a kind, as it came. `alone`: version and kind that it gets where it says none. `live`: it comes
    /// from a cluster first-hand.
    ///
    /// # Errors
    /// It is no JSON.
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
        Sanitized::of(kind, rule, value)
    }

    /// What passes of the object that `text` begins with, and how long that is there. `None` where it takes the whole object to
    /// say, alone ([`Sanitized::read`]), and where it is broken or not whole.
    pub fn read_first(
        kind: &str,
        rule: &'static Rule,
        text: &str,
        alone: Option<(&str, &str)>,
    ) -> Option<(Passed, usize)> {
        let ((json, touched), length) = first_copied(kind, rule, text, alone)?;
        Some((Passed { object: Sanitized(json), touched }, length))
    }

    /// What passes of an object of a kind.
    ///
    /// # Errors
    /// It cannot be written as JSON; every tree can.
    pub fn of(kind: &str, rule: &'static Rule, mut value: Value) -> Result<Passed, serde_json::Error> {
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
    /// It is no JSON; what was written here is.
    pub fn value(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_slice(&self.0)
    }
}

/// Removes from an object what does not pass, by the rule of its kind.
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
        _ => None,
    };
    component::containers(value, &mut counts);
    copies(value, &mut counts);
    walk(value, "", rule, &mut counts);
    // Its own rules were applied.
    if let (Some(data), Some(place)) = (data, value.get_mut("data")) {
        *place = data;
    }
    counts
}

/// What a text is under a rule.
pub(super) fn leaf<'a>(rule: &Rule, content: &'a str) -> Cow<'a, str> {
    match rule {
        Rule::Text | Rule::Env => text::text(content),
        Rule::Sentence => free_text(content),
        Rule::Clean => Cow::Borrowed(content),
        Rule::Word if is_word(content) => text::text(content),
        Rule::Checksum if content.bytes().all(|byte| byte.is_ascii_hexdigit()) => Cow::Borrowed(content),
        Rule::Certificates => certificates(content),
        Rule::Word
        | Rule::Checksum
        | Rule::Other
        | Rule::Labels
        | Rule::Annotations
        | Rule::Map(_)
        | Rule::Fields(_) => masked(content),
    }
}

/// The marker of a text that says nothing but how long it was; nothing stays nothing.
pub(super) fn masked(content: &str) -> Cow<'_, str> {
    if content.is_empty() || Marker::whole(content.as_bytes()).is_some() {
        Cow::Borrowed(content)
    } else {
        Cow::Owned(stand_in(content.as_bytes()))
    }
}

/// Whether a text is one word: no blank in it, nor what only sentences and passwords have.
pub(super) fn is_word(content: &str) -> bool {
    content.len() <= 256
        && content.bytes().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'.' | b'_' | b'-' | b':' | b'/' | b'+' | b'*' | b'%' | b',' | b'~')
        })
        || Marker::whole(content.as_bytes()).is_some()
}

/// A text that holds nothing but certificates, as PEM or as base64 of that; of any other only its certificates stay.
pub(super) fn certificates(content: &str) -> Cow<'_, str> {
    thread_local! {
        /// Texts that hold nothing else: the trust anchors of ten thousand pods are one text.
        static CLEAN: Memo<()> = Memo::of(16);
    }
    if CLEAN.with(|known| known.get(content).is_some()) {
        return Cow::Borrowed(content);
    }
    let passes = certificates_alone(content);
    if matches!(passes, Cow::Borrowed(_)) {
        CLEAN.with(|known| known.put(content, ()));
    }
    passes
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
            if !rule.has_fields() {
                rename(map, counts);
            }
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

/// Keys that somebody chose may be secrets themselves.
pub(super) fn rename(map: &mut Map<String, Value>, counts: &mut Counts) {
    let owned = |key: &String| match text::text(key) {
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

/// Replaces the whole of a text, unless it is empty or was replaced before.
pub(super) fn replace(content: &mut String, counts: &mut Counts) {
    if let Cow::Owned(clean) = masked(content) {
        *content = clean;
        counts.replaced += 1;
    }
}

/// Drops the managed fields of an object and of what it is a template for, and annotations that hold a copy of it.
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

/// Annotations in which a tool keeps the whole object as it was applied.
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
    let decoded =
        |key: &str| data.get(key).and_then(Value::as_str).and_then(|text| STANDARD.decode(text.trim()).ok());
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
    // Fields that no Secret has, or will have one day: nothing here can be known to be harmless.
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
        // Without a key there is nothing to compare: the answer of an earlier pass stands.
        let earlier = annotations.get(KEY_MATCHES).and_then(Value::as_str);
        let earlier = earlier.filter(|answer| KeyMatches::of(Some(answer)) != KeyMatches::Unknown);
        if had_key || earlier.is_none() {
            annotations.insert(KEY_MATCHES.to_owned(), Value::String(matches.as_str().to_owned()));
        }
        if let Some(access) = access {
            annotations.insert(remote::KUBECONFIG.to_owned(), Value::String(access));
        }
    }
}

/// The entry with the private key to a Secret's certificate: the one of the certificate's own layout, if both exist.
fn private_key(data: &Map<String, Value>) -> Option<&Value> {
    let [tls, pem] = PRIVATE_KEYS;
    let order = if data.contains_key("tls.crt") { [tls, pem] } else { [pem, tls] };
    order.into_iter().find_map(|name| data.get(name))
}

/// The content of an entry of a Secret; `None` if it is not base64, which no API server serves.
fn entry_bytes(entry: &Value) -> Option<Vec<u8>> {
    match entry {
        Value::Null => Some(Vec::new()),
        entry => STANDARD.decode(entry.as_str()?.trim()).ok(),
    }
}

/// Notes of a Secret with a certificate that its private key is missing, empty, or a text without a key.
/// Only for what was read first-hand: dumps often leave the key out, blank it, or replace it by a word. Before
/// [`object`], which drops the entries.
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
        && let Value::Object(annotations) =
            metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()))
    {
        annotations.insert(KEY_MATCHES.to_owned(), Value::String(said.as_str().to_owned()));
    }
}

/// What a link's credentials say of themselves, as JSON; `None` for Secrets that are none, or that came without data.
fn remote_access(secret: &Map<String, Value>, data: &Map<String, Value>) -> Option<String> {
    let is_links = secret.get("type").and_then(Value::as_str) == Some(REMOTE_KUBECONFIG);
    if data.is_empty() || !(is_links || data.contains_key(remote::ENTRY)) {
        return None;
    }
    let kubeconfig = match data.get(remote::ENTRY).and_then(Value::as_str) {
        // No API server hands out anything but base64: somebody put a word in its place.
        Some(text) => Some(STANDARD.decode(text.trim()).ok()?),
        None => None,
    };
    serde_json::to_string(&remote::RemoteAccess::read(kubeconfig.as_deref())).ok()
}
