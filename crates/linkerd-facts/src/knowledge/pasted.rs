//! `pasted.yaml`: texts that people see outside of a report: errors in responses of proxies, status codes without such
//! an error, and exit codes of Linkerd's programs. Also names the checks that read texts of logs and events.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::file::KnowledgeFile;
use super::{MeshSignature, Signature, SignatureScope};

/// What answered a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnsweredBy {
    /// Linkerd: the application did not see the request.
    Mesh,
    /// The application, or something between it and the mesh.
    Application,
    /// Either of them; the text does not tell.
    Either,
}

/// One meaning of an error of a proxy, or of a message of Kubernetes about Linkerd.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProxyError {
    /// Name of the row.
    pub id: String,
    #[serde(default)]
    all: Vec<String>,
    #[serde(default)]
    any: Vec<String>,
    /// A second list of which at least one text must match.
    #[serde(default)]
    also: Vec<String>,
    /// Texts that must not match.
    #[serde(default)]
    none: Vec<String>,
    /// What answers.
    pub answered_by: AnsweredBy,
    /// Status codes of such responses.
    #[serde(default)]
    pub status: Vec<u16>,
    /// The meaning, as a clause.
    pub means: String,
    /// The next checks to run, the most likely first.
    pub checks: Vec<String>,
    /// Position in the source.
    #[serde(rename = "where")]
    pub place: String,
    pub example: String,
}

/// The meaning of a status code without an error of a proxy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BareStatus {
    /// The status code.
    pub status: u16,
    /// The meaning if a proxy answered, as a clause.
    pub means: String,
    /// The next checks to run, the most likely first.
    pub checks: Vec<String>,
}

/// The meaning of exit codes of a program.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExitCode {
    /// The container of the program.
    pub container: String,
    pub codes: Vec<i32>,
    /// The meaning, as a clause.
    pub means: String,
    /// The next checks to run, the most likely first.
    pub checks: Vec<String>,
    /// Position in the source.
    #[serde(rename = "where")]
    pub place: String,
}

/// An environment variable of the proxy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProxyVariable {
    name: String,
    /// What it sets, as a noun or a clause.
    sets: String,
    annotation: Option<String>,
    value: Option<String>,
    #[serde(default)]
    by_charts: bool,
}

impl ProxyVariable {
    /// The prefix of the names.
    pub const PREFIX: &'static str = "LINKERD2_PROXY_";

    /// The annotation or the chart value that sets it; `None` if neither does.
    pub fn setting(&self) -> Option<String> {
        let annotation = self.annotation.as_ref().map(|key| format!("the annotation {key}"));
        annotation.or_else(|| self.value.as_ref().map(|path| format!("the chart value {path}")))
    }

    /// Whether only charts and injector set it.
    pub fn is_by_charts(&self) -> bool {
        self.by_charts
    }

    /// The name without the prefix.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it sets, and where, as a clause.
    pub fn means(&self) -> String {
        let by = match (&self.annotation, &self.value) {
            (Some(annotation), Some(value)) => {
                format!("the annotation {annotation} sets it for pods, and the chart value {value} for all proxies")
            }
            (Some(annotation), None) => format!("the annotation {annotation} sets it"),
            (None, Some(value)) => format!("the chart value {value} sets it for all proxies"),
            (None, None) if self.by_charts => "the charts and the injector set it".to_owned(),
            (None, None) => {
                "only the lists of additional variables set it (chart value proxy.additionalEnv, from edge-24.2.3 on)"
                    .to_owned()
            }
        };
        format!("it sets {}; {by}", self.sets)
    }
}

/// The tables.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Pasted {
    source: String,
    date: jiff::civil::Date,
    signatures: BTreeMap<SignatureScope, String>,
    rows: BTreeMap<String, Vec<String>>,
    containers: BTreeMap<String, String>,
    errors: Vec<ProxyError>,
    events: Vec<ProxyError>,
    headers: Vec<ProxyError>,
    phrases: Vec<ProxyError>,
    /// The next checks to run for an environment variable.
    variable_checks: Vec<String>,
    variables: Vec<ProxyVariable>,
    statuses: Vec<BareStatus>,
    grpc_statuses: Vec<BareStatus>,
    exits: Vec<ExitCode>,
}

impl ProxyError {
    /// Whether a text begins like the value that a proxy puts into a response: with the part of the proxy
    /// that failed, or with a text of this row that is long enough not to be someone else's.
    pub fn is_value(&self, text: &str) -> bool {
        const PARTS: [&str; 12] = [
            "HTTP Balancer ",
            "HTTP Logical ",
            "logical service ",
            "concrete service ",
            "endpoint ",
            "client ",
            "controller ",
            "required id ",
            "route ",
            "backend ",
            "error trying to connect: ",
            "tcp connect error: ",
        ];
        let is_long = |piece: &&String| piece.split_whitespace().count() > 2 && !piece.contains("os error");
        let own = self.all.iter().chain(&self.any).filter(is_long).map(String::as_str);
        PARTS.into_iter().chain(own).any(|start| text.starts_with(start))
    }

    /// Whether the row matches a text.
    pub fn matches(&self, text: &str) -> bool {
        let one_of = |pieces: &[String]| pieces.is_empty() || pieces.iter().any(|piece| text.contains(piece));
        self.all.iter().all(|piece| text.contains(piece))
            && one_of(&self.any)
            && one_of(&self.also)
            && !self.none.iter().any(|piece| text.contains(piece))
    }
}

impl Pasted {
    /// The first row that matches an error of a proxy.
    pub fn error(&self, text: &str) -> Option<&ProxyError> {
        self.errors.iter().find(|row| row.matches(text))
    }

    /// The row of errors of proxies one of whose texts a short text equals, without punctuation at the ends.
    pub fn short_error(&self, text: &str) -> Option<&ProxyError> {
        let bare = |text: &str| text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let text = bare(text);
        let is_whole = |piece: &String| !text.is_empty() && bare(piece) == text;
        let of_one = |row: &&ProxyError| row.all.len() < 2 && row.also.is_empty();
        self.errors.iter().filter(of_one).find(|row| row.all.iter().chain(&row.any).any(is_whole))
    }

    /// The first row that matches a message of an event or an answer of the API server.
    pub fn event(&self, text: &str) -> Option<&ProxyError> {
        self.events.iter().find(|row| row.matches(text))
    }

    /// The first row of the short texts that a text contains or equals. Letters of either case are equal.
    pub fn phrase(&self, text: &str) -> Option<&ProxyError> {
        let text = text.trim().trim_end_matches(['.', ':']).to_lowercase();
        let contains = |piece: &String| text.contains(&piece.to_lowercase());
        let is_whole = |piece: &String| text == piece.to_lowercase();
        self.phrases
            .iter()
            .find(|row| (!row.all.is_empty() && row.all.iter().all(contains)) || row.any.iter().any(is_whole))
    }

    /// The row of a header that proxies read or write, by its name in any case.
    pub fn header(&self, name: &str) -> Option<&ProxyError> {
        let is_name = |known: &String| known.eq_ignore_ascii_case(name);
        self.headers.iter().find(|row| row.any.iter().any(is_name))
    }

    /// The first environment variable of the proxy that a text names.
    pub fn variable(&self, text: &str) -> Option<&ProxyVariable> {
        let (_, rest) = text.split_once(ProxyVariable::PREFIX)?;
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.variables.iter().find(|variable| variable.name == rest[..end])
    }

    /// The next checks to run for an environment variable of the proxy.
    pub fn variable_checks(&self) -> &[String] {
        &self.variable_checks
    }

    /// All environment variables of the proxy.
    pub fn variables(&self) -> &[ProxyVariable] {
        &self.variables
    }

    /// All headers that proxies read or write.
    pub fn headers(&self) -> &[ProxyError] {
        &self.headers
    }

    /// All short texts, in order of evaluation.
    pub fn phrases(&self) -> &[ProxyError] {
        &self.phrases
    }

    /// All messages of events, in order of evaluation.
    pub fn events(&self) -> &[ProxyError] {
        &self.events
    }

    /// All errors of proxies, in order of evaluation.
    pub fn errors(&self) -> &[ProxyError] {
        &self.errors
    }

    /// The meaning of a status code without an error of a proxy.
    pub fn status(&self, status: u16) -> Option<&BareStatus> {
        self.statuses.iter().find(|row| row.status == status)
    }

    /// The meaning of a status code of gRPC without an error of a proxy.
    pub fn grpc_status(&self, status: u16) -> Option<&BareStatus> {
        self.grpc_statuses.iter().find(|row| row.status == status)
    }

    /// The rows of an exit code.
    pub fn exits(&self, code: i32) -> impl Iterator<Item = &ExitCode> {
        self.exits.iter().filter(move |row| row.codes.contains(&code))
    }

    /// The next checks for a text of a signature.
    pub fn checks_of_signature(&self, row: &Signature) -> &[String] {
        let own = self.rows.get(&row.id).map(Vec::as_slice);
        own.or_else(|| self.signatures.get(&row.scope).map(std::slice::from_ref)).unwrap_or_default()
    }

    /// The check that reads errors of linkerd-cni in events.
    pub fn check_of_event(&self) -> Vec<String> {
        self.signatures.get(&SignatureScope::Event).cloned().into_iter().collect()
    }

    /// The next checks for a line of a log signature.
    pub fn checks_of_line(&self, row: &MeshSignature) -> &[String] {
        let own = self.rows.get(&row.id).map(Vec::as_slice);
        let of_container = || row.containers.iter().find_map(|name| self.containers.get(name));
        own.or_else(|| of_container().map(std::slice::from_ref)).unwrap_or_default()
    }

    /// The ids of all checks that the tables name.
    pub fn checks(&self) -> impl Iterator<Item = &str> {
        let maps = self.signatures.values().chain(self.rows.values().flatten()).chain(self.containers.values());
        let errors = self.errors.iter().chain(&self.events).chain(&self.phrases).flat_map(|row| &row.checks);
        let statuses = self.statuses.iter().flat_map(|row| &row.checks);
        let exits = self.exits.iter().flat_map(|row| &row.checks);
        maps.chain(errors).chain(statuses).chain(exits).chain(&self.variable_checks).map(String::as_str)
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

impl KnowledgeFile for Pasted {
    const NAME: &'static str = "pasted.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/pasted.yaml");

    fn finish(&mut self) -> Result<(), String> {
        examples_match(&self.errors)?;
        examples_match(&self.events)?;
        examples_match(&self.phrases)
    }
}

/// Whether each row matches its own example, and no earlier row does.
fn examples_match(rows: &[ProxyError]) -> Result<(), String> {
    for (at, row) in rows.iter().enumerate() {
        if row.all.is_empty() && row.any.is_empty() {
            return Err(format!("{} would match every text", row.id));
        }
        match rows.iter().position(|other| other.matches(&row.example)) {
            Some(first) if first == at => {}
            Some(first) => {
                return Err(format!("{} matches the example of {}", rows[first].id, row.id));
            }
            None => return Err(format!("{}: its example does not match", row.id)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Knowledge;

    #[test]
    fn variables_name_known_settings() {
        let knowledge = Knowledge::embedded();
        let mut names = std::collections::BTreeSet::new();
        for variable in knowledge.pasted().variables() {
            assert!(names.insert(variable.name()), "{} is listed twice", variable.name());
            if let Some(annotation) = &variable.annotation {
                assert!(knowledge.annotations().get(annotation).is_some(), "{annotation}");
            }
        }
    }

    #[test]
    fn rows_name_rows_of_the_other_tables() {
        let knowledge = Knowledge::embedded();
        let signatures = knowledge.signatures().rows().iter().map(|row| row.id.as_str());
        let lines = knowledge.mesh_logs().rows().iter().map(|row| row.id.as_str());
        let known: Vec<&str> = signatures.chain(lines).collect();
        for id in knowledge.pasted().rows.keys() {
            assert!(known.contains(&id.as_str()), "{id}");
        }
        for row in knowledge.signatures().rows() {
            assert!(!knowledge.pasted().checks_of_signature(row).is_empty(), "{}", row.id);
        }
        for row in knowledge.mesh_logs().rows() {
            assert!(!knowledge.pasted().checks_of_line(row).is_empty(), "{}", row.id);
        }
    }
}
