//! `signatures.yaml`: meanings of error texts. Also unwraps plugin errors from the messages of runtimes, multus and the
//! event recorder, and attributes them to the right plugin.

use serde::Deserialize;

use super::file::KnowledgeFile;

/// Source of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignatureScope {
    /// linkerd-cni's response to ADD, in an event.
    Event,
    /// The container runtime's journal.
    Journal,
    /// The log of the install-cni container.
    InstallerLog,
    /// The log of the linkerd-network-validator container.
    Validator,
    /// The last message of linkerd-init before it failed.
    Init,
}

/// One meaning of a text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Signature {
    /// Name of the row.
    pub id: String,
    /// Sources of such texts.
    pub scope: SignatureScope,
    #[serde(default)]
    all: Vec<String>,
    #[serde(default)]
    any: Vec<String>,
    #[serde(default)]
    none: Vec<String>,
    /// The problem, as a clause.
    pub cause: String,
    /// Verification step, starting with a verb.
    pub confirm: Option<String>,
    /// Repair step, starting with a verb.
    pub remedy: String,
    /// Whether it is, or ends with, a restart of linkerd-cni's DaemonSet.
    #[serde(default)]
    pub restart: bool,
    /// Issues with it: `owner/repository#number`.
    #[serde(default)]
    pub refs: Vec<String>,
    pub example: String,
}

/// The table of signatures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Signatures {
    source: String,
    date: jiff::civil::Date,
    signatures: Vec<Signature>,
}

/// A failed ADD with a response of linkerd-cni.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddFailure<'t, 'k> {
    /// linkerd-cni's own text, without wrappers.
    pub answer: &'t str,
    /// Its meaning; `None` if no signature matches.
    pub signature: Option<&'k Signature>,
}

const PLUGIN: &str = "linkerd-cni";
const NOT_FOUND: &str = "failed to find plugin \"linkerd-cni\" in path";

impl Signature {
    /// Whether the row matches a text of its scope.
    pub fn matches(&self, text: &str) -> bool {
        self.all.iter().all(|piece| holds(text, piece))
            && (self.any.is_empty() || self.any.iter().any(|piece| holds(text, piece)))
            && !self.none.iter().any(|piece| holds(text, piece))
    }
}

/// Whether `text` contains `piece`; `exit status 127` does not contain `exit status 1`.
fn holds(text: &str, piece: &str) -> bool {
    let number = piece.ends_with(|c: char| c.is_ascii_digit());
    text.match_indices(piece).any(|(at, _)| {
        let next = text[at + piece.len()..].chars().next();
        !(number && next.is_some_and(|c| c.is_ascii_digit()))
    })
}

impl Signatures {
    /// All rows, in order of evaluation.
    pub fn rows(&self) -> &[Signature] {
        &self.signatures
    }

    /// A row by name.
    pub fn get(&self, id: &str) -> Option<&Signature> {
        self.signatures.iter().find(|row| row.id == id)
    }

    /// The first row of `scope` that matches.
    pub fn matching(&self, scope: SignatureScope, text: &str) -> Option<&Signature> {
        self.signatures.iter().find(|row| row.scope == scope && row.matches(text))
    }

    /// Parses the message of a failed sandbox: `None` unless linkerd-cni failed. Of nested calls (multus), the
    /// innermost failed ADD counts, so that a failure of another plugin is not attributed to linkerd-cni.
    pub fn match_add_failure<'t>(&self, message: &'t str) -> Option<AddFailure<'t, '_>> {
        let answer = linkerd_cni_answer(message)?;
        Some(AddFailure { answer, signature: self.matching(SignatureScope::Event, answer) })
    }

    /// Source of the facts.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Date of the last review.
    pub fn date(&self) -> jiff::civil::Date {
        self.date
    }
}

/// Response of linkerd-cni, if the innermost failed ADD in `message` is its own.
fn linkerd_cni_answer(message: &str) -> Option<&str> {
    // `plugin type="NAME" name="NETWORK" failed (add): ANSWER`, quotes escaped where multus or a log nests it in JSON.
    let mut last = None;
    let mut starts = message.match_indices("plugin type=").map(|(at, piece)| at + piece.len()).peekable();
    while let Some(start) = starts.next() {
        let end = starts.peek().copied().unwrap_or(message.len());
        let call = &message[start..end];
        let Some(name) = quoted(call) else { continue };
        if let Some(at) = call.find("failed (add):") {
            last = Some((name, start + at + "failed (add):".len()));
        }
    }
    match last {
        Some((PLUGIN, at)) => {
            let answer = &message[at..];
            // Text about another plugin's call is not part of the response.
            let end = answer.find("plugin type=").unwrap_or(answer.len());
            Some(answer[..end].trim())
        }
        Some(_) => None,
        None => {
            // Older CNI libraries do not name the failed plugin; the error for a missing binary does.
            let escaped = NOT_FOUND.replace('"', "\\\"");
            let at = message.find(NOT_FOUND).or_else(|| message.find(&escaped))?;
            Some(message[at..].trim())
        }
    }
}

fn quoted(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\\').unwrap_or(text).strip_prefix('"')?;
    text.split(['"', '\\']).next()
}

impl KnowledgeFile for Signatures {
    const NAME: &'static str = "signatures.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/signatures.yaml");

    fn finish(&mut self) -> Result<(), String> {
        for (at, row) in self.signatures.iter().enumerate() {
            if row.all.is_empty() && row.any.is_empty() {
                return Err(format!("the signature {} would match every text", row.id));
            }
            if self.signatures[..at].iter().any(|other| other.id == row.id) {
                return Err(format!("the signature {} is listed twice", row.id));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Knowledge;
    use super::*;
    use proptest::prelude::*;

    fn signatures() -> &'static Signatures {
        Knowledge::embedded().signatures()
    }

    fn id(message: &str) -> Option<&'static str> {
        signatures().match_add_failure(message).map(|failure| failure.signature.map_or("none", |s| s.id.as_str()))
    }

    #[test]
    fn each_example_matches_only_its_row() {
        for row in signatures().rows() {
            let fitting: Vec<&str> = signatures()
                .rows()
                .iter()
                .filter(|other| other.scope == row.scope && other.matches(&row.example))
                .map(|other| other.id.as_str())
                .collect();
            assert_eq!(fitting, [row.id.as_str()], "{}", row.example);
        }
    }

    #[test]
    fn wrappers_of_runtimes_and_multus_are_removed() {
        let containerd = "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for \
            sandbox \"4c1f\": plugin type=\"linkerd-cni\" name=\"aws-cni\" failed (add): exit status 127";
        assert_eq!(id(containerd), Some("exit-127"));
        assert_eq!(signatures().match_add_failure(containerd).map(|f| f.answer), Some("exit status 127"));
        assert_eq!(id(&format!("(combined from similar events): {containerd}")), Some("exit-127"));
        let crio = "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create pod network sandbox \
            k8s_web: error adding pod shop_web to CNI network \"cilium\": plugin type=\"linkerd-cni\" name=\"cilium\" \
            failed (add): Unauthorized";
        assert_eq!(id(crio), Some("unauthorized"));
        let multus = "plugin type=\"multus\" name=\"multus-cni-network\" failed (add): [shop/web:k8s-pod-network]: \
            error adding container to network \"k8s-pod-network\": plugin type=\"linkerd-cni\" \
            name=\"k8s-pod-network\" failed (add): Unauthorized";
        assert_eq!(id(multus), Some("unauthorized"));
        assert_eq!(id(&multus.replace('"', "\\\"")), Some("unauthorized"));
    }

    #[test]
    fn failures_of_other_plugins_do_not_match() {
        for message in [
            "plugin type=\"aws-cni\" name=\"aws-cni\" failed (add): add cmd: failed to assign an IP address to container",
            "plugin type=\"istio-cni\" name=\"x\" failed (add): Unauthorized",
            "plugin type=\"multus\" name=\"m\" failed (add): error adding container: plugin type=\"cilium-cni\" failed (add): exit status 127",
            "plugin type=\"linkerd-cni\" name=\"x\" failed (delete): Unauthorized",
            "Error: linkerd-cni Unauthorized",
            "",
        ] {
            assert_eq!(id(message), None, "{message}");
        }
        assert_eq!(id("plugin type=\"linkerd-cni\" failed (add): something new"), Some("none"));
        let cleaned = "plugin type=\"linkerd-cni\" failed (add): exit status 1, failed to clean up sandbox: plugin \
            type=\"aws-cni\" failed (delete): Unauthorized";
        assert_eq!(id(cleaned), Some("exit-1"));
        assert_eq!(id("failed to find plugin \"linkerd-cni\" in path [/opt/cni/bin]"), Some("plugin-missing"));
    }

    #[test]
    fn truncated_texts_match_only_linkerd_cni() {
        let head = "(combined from similar events): Failed to create pod sandbox: rpc error: code = Unknown desc = failed \
            to setup network for sandbox \"4c1f\": ";
        let own = format!(
            "{head}plugin type=\"linkerd-cni\" name=\"x\" failed (add): Get \"https://10.96.0.1:443/api\": dial tcp 10.96.0.1:443: i/o timeout"
        );
        assert_eq!(id(&own), Some("api-unreachable"));
        let foreign = format!("{head}plugin type=\"aws-cni\" name=\"linkerd-cni\" failed (add): Unauthorized");
        let nested = format!(
            "{head}plugin type=\"multus\" failed (add): [shop/web/u1:x]: error adding container to network: plugin type=\"istio-cni\" failed (add): Unauthorized, after plugin type=\"linkerd-cni\" succeeded"
        );
        // Truncated at any position (the API server truncates at 1024 bytes), a failure of another plugin is never
        // attributed to linkerd-cni.
        for text in [&foreign, &nested] {
            for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                assert_eq!(id(&text[..end]), None, "{}", &text[..end]);
            }
        }
        let long = format!("{own} {}", "x".repeat(1024));
        assert_eq!(id(&long[..1024]), Some("api-unreachable"));
        let crio = "error adding pod shop_web to CNI network \"linkerd-cni\": plugin type=\"cilium-cni\" name=\"linkerd-cni\" failed (add): exit status 127";
        assert_eq!(id(crio), None);
    }

    #[test]
    fn every_row_has_a_verification() {
        for row in signatures().rows() {
            assert!(row.confirm.is_some(), "{}", row.id);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(plugin type=|\\\\?\"linkerd-cni\\\\?\"| failed \\(add\\):|exit status 1|é|.){0,12}") {
            if let Some(failure) = signatures().match_add_failure(&text) {
                prop_assert!(text.contains(failure.answer));
            }
        }
    }
}
