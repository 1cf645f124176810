//! The Secret in which the linkerd CLI stores the values of an installation. It contains the issuer's private key, so
//! nothing of its content is kept, only whether `linkerd upgrade` can read it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use serde_yaml::{Mapping, Value as Yaml};

use super::withheld::is_placeholder;
use crate::chart::yaml;
use crate::yaml::guard;

/// Name of the Secret, and of its entry.
pub const STORED_VALUES: &str = "linkerd-config-overrides";
/// Annotation of the redacted Secret: a word of [`StoredValues`].
pub const STORED_VALUES_STATE: &str = "meshdoctor.io/stored-values";
/// Issuer scheme of certificates that the CLI stores.
const BY_LINKERD: &str = "linkerd.io/tls";
/// Issuer scheme of certificates that another tool provides.
const EXTERNAL: &str = "kubernetes.io/tls";

/// What `linkerd upgrade` finds in the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredValues {
    /// A YAML map, with the issuer's certificate and key if the CLI must have them.
    Usable,
    /// The entry is missing.
    Absent,
    /// It contains no value.
    Empty,
    /// It is not valid YAML.
    NotYaml,
    /// It is YAML, but not a map.
    NotAMap,
    /// It lacks the issuer's certificate or key, and its scheme requires them.
    WithoutIssuer,
    /// It has a certificate or key of the issuer, and its scheme forbids them.
    TwoIssuers,
    /// It was redacted, or cannot be judged.
    Unknown,
}

impl StoredValues {
    const KNOWN: [StoredValues; 7] = [
        StoredValues::Usable,
        StoredValues::Absent,
        StoredValues::Empty,
        StoredValues::NotYaml,
        StoredValues::NotAMap,
        StoredValues::WithoutIssuer,
        StoredValues::TwoIssuers,
    ];

    /// As it is written in the annotation.
    pub fn as_str(self) -> &'static str {
        match self {
            StoredValues::Usable => "usable",
            StoredValues::Absent => "absent",
            StoredValues::Empty => "empty",
            StoredValues::NotYaml => "not-yaml",
            StoredValues::NotAMap => "not-a-map",
            StoredValues::WithoutIssuer => "without-issuer",
            StoredValues::TwoIssuers => "two-issuers",
            StoredValues::Unknown => "unknown",
        }
    }

    /// Value of the annotation.
    pub fn parse(annotation: Option<&str>) -> StoredValues {
        let known = StoredValues::KNOWN.into_iter().find(|state| annotation == Some(state.as_str()));
        known.unwrap_or(StoredValues::Unknown)
    }
}

/// Records the state of the entry, if this is the Secret and the state is known. `live`: it comes directly
/// from a cluster; other sources may have redacted it. Runs before the entries are dropped.
pub(super) fn note_stored_values(value: &mut Value, live: bool) {
    if value["kind"] != "Secret" || value["metadata"]["name"] != STORED_VALUES {
        return;
    }
    let earlier = StoredValues::parse(value["metadata"]["annotations"][STORED_VALUES_STATE].as_str());
    let data = value["data"].as_object();
    let state = match data.and_then(|data| data.get(STORED_VALUES)) {
        // A bundle contains only the state.
        None if !live && earlier != StoredValues::Unknown => return,
        None if live || data.is_some_and(has_real_entries) => StoredValues::Absent,
        None => StoredValues::Unknown,
        Some(entry) => state_of_entry(entry, live),
    };
    let Some(Value::Object(metadata)) = value.get_mut("metadata") else { return };
    if state == StoredValues::Unknown {
        // The annotation is ours: a cluster's own objects cannot set it.
        if earlier != StoredValues::Unknown
            && let Some(Value::Object(annotations)) = metadata.get_mut("annotations")
        {
            annotations.remove(STORED_VALUES_STATE);
        }
        return;
    }
    let annotations = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    if !annotations.is_object() {
        *annotations = Value::Object(Map::new());
    }
    if let Value::Object(annotations) = annotations {
        annotations.insert(STORED_VALUES_STATE.to_owned(), state.as_str().into());
    }
}

/// Whether a Secret that was handed on still has its values: base64, and no placeholders.
fn has_real_entries(data: &Map<String, Value>) -> bool {
    let is_real = |entry: &Value| {
        let decoded = entry.as_str().and_then(|text| STANDARD.decode(text.trim()).ok());
        decoded.is_some_and(|bytes| !bytes.is_empty() && !is_placeholder(&String::from_utf8_lossy(&bytes)))
    };
    !data.is_empty() && data.values().all(is_real)
}

fn state_of_entry(entry: &Value, live: bool) -> StoredValues {
    let bytes = match entry {
        Value::Null => Some(Vec::new()),
        entry => entry.as_str().and_then(|text| STANDARD.decode(text.trim()).ok()),
    };
    // API servers return base64: another tool replaced the value.
    let Some(bytes) = bytes else { return StoredValues::Unknown };
    let state = match String::from_utf8(bytes) {
        Ok(text) if !live && is_placeholder(&text) => StoredValues::Unknown,
        Ok(text) => match state_of_text(&text) {
            // One word or line may replace the value.
            StoredValues::NotYaml | StoredValues::NotAMap if !live && text.trim().lines().count() < 2 => {
                StoredValues::Unknown
            }
            state => state,
        },
        Err(_) => StoredValues::NotYaml,
    };
    match state {
        // Tools blank the value, or the certificate and key in it.
        StoredValues::Empty | StoredValues::WithoutIssuer if !live => StoredValues::Unknown,
        state => state,
    }
}

fn state_of_text(text: &str) -> StoredValues {
    let has_content = |line: &str| !line.is_empty() && !line.starts_with('#') && line != "---";
    if !text.lines().map(str::trim).any(has_content) {
        return StoredValues::Empty;
    }
    if guard(text.as_bytes()).is_err() {
        return StoredValues::Unknown;
    }
    match yaml::read(text) {
        None => StoredValues::NotYaml,
        Some(Yaml::Null) => StoredValues::Empty,
        Some(Yaml::Mapping(values)) => state_of_values(&values),
        Some(Yaml::Bool(_) | Yaml::Number(_) | Yaml::String(_) | Yaml::Sequence(_) | Yaml::Tagged(_)) => {
            StoredValues::NotAMap
        }
    }
}

fn state_of_values(values: &Mapping) -> StoredValues {
    // Values below `global`, of old releases, apply to the top level.
    let global = child(values, "global").and_then(Yaml::as_mapping);
    let at_top = |name: &str| global.and_then(|global| child(global, name)).or_else(|| child(values, name));
    if values.is_empty() {
        return StoredValues::Empty;
    }
    let issuer = at_top("identity").and_then(|identity| child(identity.as_mapping()?, "issuer"));
    let issuer = issuer.and_then(Yaml::as_mapping);
    let scheme = issuer.and_then(|issuer| child(issuer, "scheme")).and_then(Yaml::as_str);
    let tls = issuer.and_then(|issuer| child(issuer, "tls")).and_then(Yaml::as_mapping);
    let has = |name: &str| {
        let text = tls.and_then(|tls| child(tls, name)).and_then(Yaml::as_str);
        text.is_some_and(|text| !text.trim().is_empty())
    };
    match scheme.unwrap_or(BY_LINKERD) {
        BY_LINKERD if !(has("crtPEM") && has("keyPEM")) => StoredValues::WithoutIssuer,
        EXTERNAL if has("crtPEM") || has("keyPEM") => StoredValues::TwoIssuers,
        _ => StoredValues::Usable,
    }
}

/// A value by its name; the CLI ignores case.
fn child<'a>(map: &'a Mapping, name: &str) -> Option<&'a Yaml> {
    let is_it = |key: &Yaml| key.as_str().is_some_and(|key| key.eq_ignore_ascii_case(name));
    map.get(name).or_else(|| map.iter().find(|(key, _)| is_it(key)).map(|(_, value)| value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::sanitize;
    use crate::withheld::note_withheld;
    use crate::{Counts, WITHHELD};

    const ISSUER: &str =
        "identity:\n  issuer:\n    tls:\n      crtPEM: |\n        crt\n      keyPEM: |\n        hush\n";

    /// The state after the whole redaction, and once more, as from a bundle.
    fn redacted_state(data: Value, live: bool) -> StoredValues {
        let mut secret = json!({"kind": "Secret", "metadata": {"name": STORED_VALUES}, "data": data});
        let mut seen = Vec::new();
        for live in [live, false] {
            note_withheld(&mut secret, live);
            let _: Counts = sanitize(&mut secret);
            assert_eq!(secret["data"], json!({}), "no content is kept");
            assert!(!secret.to_string().contains("hush"), "{secret}");
            assert!(secret["metadata"]["annotations"].get(WITHHELD).is_none());
            seen.push(StoredValues::parse(secret["metadata"]["annotations"][STORED_VALUES_STATE].as_str()));
        }
        assert_eq!(seen[0], seen[1], "a bundle gives the same state");
        seen.swap_remove(0)
    }

    fn entry(text: &str) -> Value {
        json!({STORED_VALUES: STANDARD.encode(text)})
    }

    #[test]
    fn state_is_that_of_linkerd_upgrade() {
        use StoredValues::{Absent, Empty, NotAMap, NotYaml, TwoIssuers, Usable, WithoutIssuer};
        let external = "identity: {issuer: {scheme: kubernetes.io/tls}}\nproxy: {cores: 2}\n";
        let global = format!("global:\n  {}", ISSUER.replace('\n', "\n  "));
        for (data, state) in [
            (entry(ISSUER), Usable),
            (entry(external), Usable),
            (entry(&global), Usable),
            (entry(&ISSUER.replace("crtPEM", "crtpem")), Usable),
            (entry(&format!("{ISSUER}proxy: {{cores: 1}}\nproxy: {{cores: 2}}\n")), Usable),
            (json!({}), Absent),
            (json!({"values": STANDARD.encode(ISSUER)}), Absent),
            (entry(""), Empty),
            (json!({STORED_VALUES: null}), Empty),
            (entry("# nothing\n"), Empty),
            (entry("{}\n"), Empty),
            (entry("a: [b\nc: d\n"), NotYaml),
            (entry("\tproxy: {}\n\tidentity: {}\n"), NotYaml),
            (entry("- a\n- b\n"), NotAMap),
            (entry("hello"), NotAMap),
            (entry("proxy:\n  cores: 2\n"), WithoutIssuer),
            (entry(&ISSUER.replace("keyPEM: |\n        hush", "keyPEM: \"\"")), WithoutIssuer),
            (entry(&ISSUER.replace("    tls:", "    scheme: kubernetes.io/tls\n    tls:")), TwoIssuers),
        ] {
            assert_eq!(redacted_state(data.clone(), true), state, "{data}");
        }
    }

    #[test]
    fn dump_shows_only_what_redaction_cannot_have_changed() {
        for data in [
            json!({}),
            json!({"other": ""}),
            json!({STORED_VALUES: ""}),
            json!({STORED_VALUES: null}),
            json!({STORED_VALUES: "REDACTED(len=9)"}),
            json!({STORED_VALUES: "1675 bytes long"}),
            entry("<hidden>"),
            entry("gone"),
            entry("proxy:\n  cores: 2\n"),
        ] {
            assert_eq!(redacted_state(data.clone(), false), StoredValues::Unknown, "{data}");
        }
        assert_eq!(redacted_state(entry(ISSUER), false), StoredValues::Usable);
        assert_eq!(redacted_state(entry("a: [b\nc: d\n"), false), StoredValues::NotYaml);
        let renamed = json!({"values": STANDARD.encode(ISSUER)});
        assert_eq!(redacted_state(renamed, false), StoredValues::Absent);
    }

    #[test]
    fn annotation_of_the_cluster_itself_has_no_effect() {
        let mut secret = json!({"kind": "Secret", "data": {STORED_VALUES: ""},
            "metadata": {"name": STORED_VALUES, "annotations": {STORED_VALUES_STATE: "usable"}}});
        note_withheld(&mut secret, true);
        assert_eq!(secret["metadata"]["annotations"][STORED_VALUES_STATE], "empty");
    }
}
