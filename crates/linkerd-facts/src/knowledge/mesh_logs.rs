//! `mesh-logs.yaml`: meanings of lines in control-plane and proxy logs, and the parts to keep. All other lines are
//! dropped: they may contain data of applications or requests.

use std::borrow::Cow;

use serde::Deserialize;

use super::file::KnowledgeFile;
use crate::finding::Severity;

/// Number of bytes to keep after the time.
const KEPT: usize = 400;

/// One meaning of a line.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MeshSignature {
    /// Name of the row.
    pub id: String,
    /// The containers in whose logs it is searched.
    pub containers: Vec<String>,
    #[serde(default)]
    all: Vec<String>,
    #[serde(default)]
    any: Vec<String>,
    #[serde(default)]
    none: Vec<String>,
    #[serde(default)]
    over: Vec<String>,
    /// Number of such lines required.
    #[serde(default = "default_count")]
    pub times: usize,
    /// Whether the process exits with it.
    #[serde(default)]
    pub ends: bool,
    /// Whether it is logged once and applies until the process restarts.
    #[serde(default)]
    pub lasting: bool,
    /// Whether it only shows that the process ended. Left out if another row shows the reason.
    #[serde(default)]
    pub general: bool,
    /// Whether nothing after the matched parts is kept.
    #[serde(default)]
    bare: bool,
    /// Whether a Service or its address follows the first piece: `backend Service.shop.api:80`. Of such a
    /// line only this and its last piece are kept. The lines concern that Service, not the proxy.
    #[serde(default)]
    pub names_service: bool,
    /// Whether a check of its own evaluates the lines or the same state, and they are not reported otherwise.
    /// Nothing after the matched parts is kept, unless `to_end` is set.
    #[serde(default)]
    pub judged_apart: bool,
    /// Whether such a line is kept to its end.
    #[serde(default)]
    to_end: bool,
    /// Whether the container runtime of the node causes it.
    #[serde(default)]
    pub of_runtime: bool,
    /// Severity, if it is current.
    pub severity: Severity,
    /// The problem, as a clause.
    pub says: String,
    /// The repair step, starting with a verb; empty if a restart is enough.
    #[serde(default)]
    pub remedy: String,
    /// Whether the workload must be restarted, after the repair step.
    #[serde(default)]
    pub restart: bool,
    /// Releases whose source contains the text.
    pub seen_in: Vec<String>,
    /// Position in the source.
    #[serde(rename = "where")]
    pub place: String,
    /// Issues and threads with it.
    #[serde(default)]
    pub refs: Vec<String>,
    /// An example line.
    pub example: String,
}

fn default_count() -> usize {
    1
}

/// The table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MeshLogs {
    source: String,
    date: jiff::civil::Date,
    signatures: Vec<MeshSignature>,
}

impl MeshSignature {
    /// Whether it is the trace of a crash, of which nothing more is kept.
    pub fn is_crash(&self) -> bool {
        self.bare
    }

    /// Whether a line matches.
    pub fn matches(&self, line: &str) -> bool {
        self.at(line).is_some()
    }

    /// Whether a line shows that the problem is over.
    pub fn is_over(&self, line: &str) -> bool {
        self.over.iter().any(|piece| line.contains(piece.as_str()))
    }

    /// The Service that a line names: `shop.api:80`, or its address and port.
    pub fn service<'l>(&self, line: &'l str) -> Option<&'l str> {
        let first = self.all.first().filter(|_| self.names_service && self.matches(line))?;
        let (_, rest) = line.split_once(first.as_str())?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '-' | '[' | ']');
        let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        Some(name.trim_end_matches(':')).filter(|name| !name.is_empty())
    }

    /// The part of a line that is kept, if it matches.
    fn kept<'l>(&self, line: &'l str) -> Option<Cow<'l, str>> {
        let (begin, end) = self.at(line)?;
        if !self.names_service {
            let end = if self.general { end + source_position(&line[end..]) } else { end };
            return Some(
                if self.bare || (self.judged_apart && !self.to_end) { &line[begin..end] } else { &line[begin..] }
                    .into(),
            );
        }
        let (first, last) = (self.all.first()?, self.all.last()?);
        Some(format!("{first}{}: {last}", self.service(line)?).into())
    }

    /// Range of the matched parts in a line.
    fn at(&self, line: &str) -> Option<(usize, usize)> {
        if self.none.iter().any(|piece| line.contains(piece.as_str())) {
            return None;
        }
        let mut ends = (usize::MAX, 0);
        let mut take = |piece: &String| {
            let at = line.find(piece.as_str())?;
            ends = (ends.0.min(at), ends.1.max(at + piece.len()));
            Some(())
        };
        for piece in &self.all {
            take(piece)?;
        }
        if !self.any.is_empty() && !self.any.iter().any(|piece| take(piece).is_some()) {
            return None;
        }
        Some(ends)
    }
}

/// The length of the position in Rust source code with which a text begins: ` src/index.rs:391:18`.
fn source_position(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(' ') else { return 0 };
    let place = rest.split([' ', ',']).next().unwrap_or_default().trim_end_matches(':');
    let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    let is_position = place
        .split_once(".rs:")
        .is_some_and(|(path, at)| path.chars().all(is_path) && at.chars().all(|c| c.is_ascii_digit() || c == ':'));
    if is_position { place.len() + 1 } else { 0 }
}

impl MeshLogs {
    pub fn rows(&self) -> &[MeshSignature] {
        &self.signatures
    }

    /// A row by name.
    pub fn get(&self, id: &str) -> Option<&MeshSignature> {
        self.signatures.iter().find(|row| row.id == id)
    }

    /// Whether logs of a container with that name are filtered by these lines.
    pub fn reads(&self, container: &str) -> bool {
        self.signatures.iter().any(|row| row.containers.iter().any(|of| of == container))
    }

    /// The part of a log line to keep; none if no row matches. Idempotent.
    pub fn kept(&self, container: &str, line: &str) -> Option<String> {
        let rows = self.signatures.iter().filter(|row| row.containers.iter().any(|of| of == container));
        let part = rows.clone().find_map(|row| row.kept(line));
        let over = || {
            let mut pieces = rows.clone().flat_map(|row| &row.over);
            pieces.find(|piece| line.contains(piece.as_str())).map(|piece| Cow::from(piece.as_str()))
        };
        let part = part.or_else(over)?;
        let part = part.trim_end_matches(['"', '\r']);
        let cut = part.char_indices().nth(KEPT).map_or(part, |(at, _)| &part[..at]);
        Some(match written_at(line) {
            Some(time) => format!("{time} {cut}"),
            None => cut.to_owned(),
        })
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

/// Timestamp at the start of a line, in the formats of kubelets, logrus and Rust programs.
pub fn written_at(line: &str) -> Option<jiff::Timestamp> {
    let first = line.split_whitespace().next()?;
    let logrus = line.strip_prefix("time=\"").and_then(|rest| rest.split('"').next());
    let at: jiff::Timestamp = logrus.unwrap_or(first).parse().ok()?;
    jiff::Timestamp::from_second(at.as_second()).ok()
}

impl KnowledgeFile for MeshLogs {
    const NAME: &'static str = "mesh-logs.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/mesh-logs.yaml");

    fn finish(&mut self) -> Result<(), String> {
        for row in &self.signatures {
            let id = &row.id;
            if row.all.is_empty() && row.any.is_empty() || row.containers.is_empty() {
                return Err(format!("{id}: neither a text nor a container"));
            }
            if !row.matches(&row.example) {
                return Err(format!("{id}: its example does not match"));
            }
            if row.seen_in.is_empty() || row.times == 0 {
                return Err(format!("{id}: no release, or no line"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::knowledge::Knowledge;

    #[test]
    fn examples_match_their_row_and_are_idempotent() {
        let logs = Knowledge::embedded().mesh_logs();
        for row in logs.rows() {
            for container in &row.containers {
                let kept = logs.kept(container, &row.example).expect("an example is kept");
                assert!(row.matches(&kept), "{}: {kept}", row.id);
                assert_eq!(logs.kept(container, &kept).as_deref(), Some(kept.as_str()), "{}", row.id);
                let first =
                    logs.rows().iter().find(|other| other.containers.contains(container) && other.matches(&kept));
                assert_eq!(first.map(|row| &row.id), Some(&row.id));
            }
        }
    }

    #[test]
    fn only_known_parts_of_a_line_are_kept() {
        let logs = Knowledge::embedded().mesh_logs();
        for noise in [
            "[ 9.1s]  INFO ThreadId(01) outbound: linkerd_app_core::serve: Connection closed \
             error=connection error: password hunter2",
            "[ 9.1s] DEBUG ThreadId(01) request{path=/secret?token=abc}: linkerd_proxy_http: done",
            "2026/01/15 11:58:12 http: TLS handshake error from 10.0.0.1:34052: EOF",
            "[ 9.1s]  WARN linkerd_reconnect: Failed to connect error=endpoint 127.0.0.1:8090: Connection \
             refused (os error 111)",
            "[ 9.1s]  WARN linkerd_stack::failfast: Service entering failfast after 3s",
        ] {
            for container in ["linkerd-proxy", "proxy-injector", "identity", "policy", "destination"] {
                assert_eq!(logs.kept(container, noise), None, "{noise}");
            }
        }
        let line = "2026-01-15T11:58:12Z span{authority=web.shop key=hunter2}: Failed to obtain identity \
                    error=status: Unknown";
        let kept = logs.kept("linkerd-proxy", line);
        assert_eq!(kept.as_deref(), Some("2026-01-15T11:58:12Z Failed to obtain identity error=status: Unknown"));
        for (line, kept) in [
            (
                "[ 9.1s]  INFO http:rescue{client.addr=10.0.1.5:40001}: HTTP/1.1 request failed \
                 error=logical service 10.96.0.40:80: route shop.pay: backend Service.shop.api:80: \
                 Service.shop.api:80: service in fail-fast path=/secret?token=abc",
                "backend Service.shop.api:80: service in fail-fast",
            ),
            (
                "[ 9.1s]  WARN outbound:proxy{addr=10.96.0.40:80}:request{path=/secret}: \
                 linkerd_stack::failfast: Service entering failfast after 3s",
                "proxy{addr=10.96.0.40:80: entering failfast",
            ),
        ] {
            assert_eq!(logs.kept("linkerd-proxy", line).as_deref(), Some(kept));
        }
        let panic = "thread 'main' panicked at 'secret hunter2', src/main.rs:1:1";
        assert_eq!(logs.kept("policy", panic).as_deref(), Some("panicked at"));
        let panic = "thread 'main' panicked at policy-controller/k8s/status/src/index.rs:391:18: secret hunter2";
        let kept = "panicked at policy-controller/k8s/status/src/index.rs:391:18";
        assert_eq!(logs.kept("policy", panic).as_deref(), Some(kept));
        assert_eq!(logs.kept("policy", kept).as_deref(), Some(kept));
        assert_eq!(
            logs.kept("linkerd-proxy", "[ 1.0s] INFO linkerd2_proxy: Certified identity id=web.shop").as_deref(),
            Some("Certified identity")
        );
    }
}
