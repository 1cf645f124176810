//! Entries of Secrets and ConfigMaps that another tool redacted before. Their content is unknown, so they
//! must not be evaluated as an unreadable certificate or setting.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::object::CERTIFICATES;
use super::stored_values::note_stored_values;

/// Annotation of a redacted object: the entries that were redacted before meshdoctor read it, separated by commas.
pub const WITHHELD: &str = "meshdoctor.io/withheld";

/// Maximum length of a placeholder line, in bytes.
const MAX_PLACEHOLDER: usize = 200;
/// Words of placeholders, in lower case.
const WORDS: [&str; 12] = [
    "redacted",
    "***",
    "masked",
    "hidden",
    "removed",
    "omitted",
    "sanitized",
    "sanitised",
    "scrubbed",
    "filtered",
    "withheld",
    "enc[aes",
];

/// Whether a text is a placeholder that a tool wrote over a value: `REDACTED(len=12)`, `<hidden>`, `******`.
/// It replaces the whole value, so every line is one; the first and last line of a PEM block may remain.
pub fn is_placeholder(text: &str) -> bool {
    let mut lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("-----")).peekable();
    lines.peek().is_some() && lines.all(is_placeholder_line)
}

fn is_placeholder_line(line: &str) -> bool {
    if line.len() > MAX_PLACEHOLDER && !line.starts_with("ENC[") {
        return false;
    }
    let lower = line.to_ascii_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
        || (line.len() > 2 && line.chars().all(|c| "*xX.#\u{2022}".contains(c)))
}

/// The same for an entry of a Secret: a tool replaces the base64 text, or the value before it is encoded.
fn is_placeholder_entry(entry: &str) -> bool {
    let decoded = STANDARD.decode(entry.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    match decoded {
        Some(text) => is_placeholder(&text),
        None => is_placeholder(entry),
    }
}

/// Records the entries of a Secret or ConfigMap that a placeholder replaces. `live`: the object comes
/// directly from a cluster, so such a text is the real value.
pub(super) fn note_withheld(value: &mut Value, live: bool) {
    let is_secret = value["kind"] == "Secret";
    if !is_secret && value["kind"] != "ConfigMap" {
        return;
    }
    let names: Vec<String> = match value.get("data") {
        Some(Value::Object(data)) if !live => match is_secret {
            true => withheld_certificates(data),
            false => withheld_settings(data),
        },
        _ => Vec::new(),
    };
    note_stored_values(value, live);
    let Value::Object(map) = value else { return };
    let metadata = map.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(metadata) = metadata else { return };
    if names.is_empty() {
        // The annotation is ours: a cluster's own objects cannot set it.
        if live && let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
            annotations.remove(WITHHELD);
        }
        return;
    }
    let annotations = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    if !annotations.is_object() {
        *annotations = Value::Object(Map::new());
    }
    if let Value::Object(annotations) = annotations {
        annotations.insert(WITHHELD.to_owned(), Value::String(names.join(",")));
    }
}

fn withheld_certificates(data: &Map<String, Value>) -> Vec<String> {
    let of = |name: &&str| data.get(*name).and_then(Value::as_str).is_some_and(is_placeholder_entry);
    CERTIFICATES.into_iter().filter(of).map(str::to_owned).collect()
}

/// meshdoctor's own marker is excluded: in a bundle it replaces texts of a live cluster that are neither
/// certificates nor known settings.
fn withheld_settings(data: &Map<String, Value>) -> Vec<String> {
    let is_foreign = |text: &str| is_placeholder(text) && super::Marker::whole(text.trim().as_bytes()).is_none();
    let entries = data.iter().filter(|(_, entry)| entry.as_str().is_some_and(is_foreign));
    // A setting is at most a name: `hidden` may be one, and an entry that announces a secret is never read.
    let entries = entries.filter(|(name, _)| READ.contains(&name.as_str()));
    entries.map(|(name, _)| name.clone()).collect()
}

/// Entries of ConfigMaps that are read and contain more than a word.
const READ: [&str; 9] = [
    "ca-bundle.crt",
    "ca.crt",
    "values",
    "global",
    "proxy",
    "install",
    "cni_network_config",
    "Corefile",
    "prometheus.yml",
];

/// The entries that [`WITHHELD`] lists, for a message: `data[crt.pem]`.
pub fn withheld_entries(annotation: &str) -> String {
    let names: Vec<String> = annotation.split(',').map(|name| format!("data[{name}]")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Corefile;
    use crate::tests::sanitize;

    /// A certificate with only its first and last line.
    const PEM: &str = "-----BEGIN CERTIFICATE-----\nREDACTED\n-----END CERTIFICATE-----\n";

    fn redacted_note(mut object: Value, live: bool) -> Option<String> {
        note_withheld(&mut object, live);
        sanitize(&mut object);
        object["metadata"]["annotations"][WITHHELD].as_str().map(str::to_owned)
    }

    #[test]
    fn placeholders_in_handed_on_secrets_are_noted() {
        for entry in
            ["REDACTED", "REDACTED(len=700)", "<redacted>", "***", "****", "xxxx", "UkVEQUNURUQ=", "[hidden]", PEM]
        {
            let secret =
                || json!({"kind": "Secret", "metadata": {"name": "a"}, "data": {"crt.pem": entry, "key.pem": entry}});
            assert_eq!(redacted_note(secret(), false).as_deref(), Some("crt.pem"), "{entry}");
            assert_eq!(redacted_note(secret(), true), None, "{entry}");
        }
    }

    #[test]
    fn values_that_are_wrong_are_not_placeholders() {
        for entry in ["", "Z2FyYmFnZQ==", "garbage", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="] {
            let secret = json!({"kind": "Secret", "metadata": {}, "data": {"crt.pem": entry}});
            assert_eq!(redacted_note(secret, false), None, "{entry}");
        }
        let set =
            json!({"kind": "Secret", "metadata": {"annotations": {WITHHELD: "crt.pem"}}, "data": {"crt.pem": "eA=="}});
        assert_eq!(redacted_note(set, true), None, "a cluster's own annotation has no effect");
    }

    #[test]
    fn placeholders_in_handed_on_config_maps_are_noted() {
        let map = |text: &str| json!({"kind": "ConfigMap", "metadata": {"name": "linkerd-config"}, "data": {"values": text, "token": text}});
        assert_eq!(redacted_note(map("<redacted>"), false).as_deref(), Some("values"));
        assert_eq!(redacted_note(map("<redacted>"), true), None);
        // A bundle has the marker in place of a text that the cluster itself has.
        assert_eq!(redacted_note(map("REDACTED(len=5)"), false), None);
        assert_eq!(redacted_note(map("clusterDomain: cluster.local"), false), None);
    }

    #[test]
    fn redacted_part_does_not_withhold_the_rest() {
        let dns = |text: &str| json!({"kind": "ConfigMap", "metadata": {"name": "coredns", "namespace": "kube-system"}, "data": {"Corefile": text}});
        let kept = Corefile { zones: vec!["cluster.local".to_owned()], open: true }.to_text();
        assert_eq!(redacted_note(dns(&kept), false), None);
        assert_eq!(redacted_note(dns("[redacted]"), false).as_deref(), Some("Corefile"));
    }
}
