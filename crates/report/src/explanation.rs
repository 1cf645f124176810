//! Explains texts that people paste: log lines, response headers, status codes, event messages, exit codes, and
//! annotations. The meanings are those that the checks use.

mod check_output;
mod key;

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use self::check_output::CheckOutput;
use crate::command::own;
use crate::exit;
use crate::knowledge::{
    AnsweredBy, DefectTrigger, ExitCode, Knowledge, KnownDefect, MeshSignature, ProxyError, SignatureScope, plain_line,
};

/// Number of characters of a text that an explanation quotes.
const QUOTED: usize = 300;
/// Number of words of a text that states only an exit status: `exited with exit code 1`.
const OWN_EXIT_WORDS: usize = 5;
/// Response headers that proxies set themselves, in lower case. Others come from the application, or from something
/// between it and the mesh.
const OF_PROXIES: [&str; 10] = [
    "connection",
    "content-length",
    "content-type",
    "date",
    "grpc-message",
    "grpc-status",
    "l5d-proxy-connection",
    "l5d-proxy-error",
    "location",
    "te",
];

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextKind {
    /// An error that a proxy put into a response.
    ProxyError,
    /// A response without such an error.
    Response,
    /// A header that proxies read or write.
    Header,
    /// A line of a log.
    LogLine,
    /// A message of an event.
    Event,
    ExitCode,
    /// An annotation of Linkerd, with its value or without.
    Annotation,
    /// A label of Linkerd, with its value or without.
    Label,
    /// An environment variable of the proxy.
    Variable,
    /// A part of an error, or the reason of a pod's state.
    Phrase,
}

impl TextKind {
    /// The kind in words.
    pub fn label(self) -> &'static str {
        match self {
            TextKind::ProxyError => "error of a proxy",
            TextKind::Response => "response",
            TextKind::Header => "header",
            TextKind::LogLine => "log line",
            TextKind::Event => "event",
            TextKind::ExitCode => "exit code",
            TextKind::Annotation => "annotation",
            TextKind::Label => "label",
            TextKind::Variable => "environment variable of the proxy",
            TextKind::Phrase => "text",
        }
    }
}

/// The meaning of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The text, redacted and shortened.
    pub text: String,
    /// What it is.
    pub kind: TextKind,
    /// Whether the text itself shows that Linkerd wrote it; otherwise the meaning holds only if `program` did.
    pub certain: bool,
    /// What answered, or failed.
    pub answered_by: AnsweredBy,
    /// The meaning, as a clause.
    pub means: String,
    /// How to verify it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
    /// How to repair it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The next checks to run, the most likely first.
    pub checks: Vec<String>,
    /// The program that writes such texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The arguments of the command that shows more, if no check does.
    #[serde(skip)]
    pub next: Option<&'static str>,
    /// File and row of the meaning, or position in the source.
    pub source: String,
    /// Issues with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
}

impl Explanation {
    fn new(kind: TextKind, text: &str, means: &str, checks: &[String], source: String) -> Explanation {
        let cut: String = crate::redact::text(text.trim()).chars().take(QUOTED).collect();
        Explanation {
            text: cut,
            kind,
            certain: true,
            answered_by: AnsweredBy::Mesh,
            means: means.to_owned(),
            confirm: None,
            remedy: None,
            checks: checks.to_vec(),
            program: None,
            next: None,
            source,
            references: Vec::new(),
        }
    }
}

/// Modules of programs that redirect connections or test that, whose names begin like those of the proxy's modules.
const INSTALLERS: [&str; 3] = ["linkerd_network_validator", "linkerd_cni", "linkerd_reinitialize"];

/// The result for a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explained {
    /// The meanings, in the order of the text, each once.
    pub meanings: Vec<Explanation>,
    /// Number of lines without a known meaning.
    pub unknown: usize,
}

/// The text with each log line in its plain form.
fn plain_text(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", plain_line(line.trim()))).collect()
}

/// Explains a text, line by line; status line and headers of a response belong together.
pub fn explain(knowledge: &Knowledge, text: &str) -> Explained {
    let plain = plain_text(text);
    let text = plain.as_str();
    let response = Response::read(text);
    let mut explained = Explained::default();
    let mut add = |meaning: Explanation| {
        let is_known = |known: &Explanation| {
            (known.kind, &known.source, &known.means) == (meaning.kind, &meaning.source, &meaning.means)
        };
        if !explained.meanings.iter().any(is_known) {
            explained.meanings.push(meaning);
        }
    };
    let mut unknown = 0;
    let mut headers = Vec::new();
    let mut output = CheckOutput::new(knowledge, text);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(meaning) = output.line(line) {
            meaning.into_iter().for_each(&mut add);
            continue;
        }
        if let Some(value) = proxy_error(line) {
            add(of_proxy(knowledge, TextKind::ProxyError, value));
            continue;
        }
        if let Some(meaning) = of_grpc_status(knowledge, line).or_else(|| key::of_key(knowledge, line)) {
            add(meaning);
            continue;
        }
        if let Some(meaning) = of_header(knowledge, line) {
            headers.push(meaning);
            continue;
        }
        let mut found = of_line(knowledge, line);
        if found.is_empty() {
            found.extend(of_variable(knowledge, line));
        }
        let is_part = response.is_some() && (status(line).is_some() || header(line).is_some());
        if found.is_empty() && !is_part {
            unknown += 1;
        }
        found.into_iter().for_each(&mut add);
    }
    if let Some(response) = response
        && !response.headers.iter().any(|name| name == "l5d-proxy-error")
        && let Some(meaning) = response.explain(knowledge)
    {
        add(meaning);
    }
    // The other lines of a response have the reason.
    if explained.meanings.is_empty() {
        explained.meanings.append(&mut headers);
    }
    explained.unknown = unknown;
    if explained.meanings.is_empty()
        && let Some(row) = knowledge.pasted().phrase(text).or_else(|| knowledge.pasted().short_error(text))
    {
        explained.meanings.push(of_phrase(text, row));
        explained.unknown = 0;
    }
    explained
}

/// The meaning of a header that proxies read or write, with its value or without.
fn of_header(knowledge: &Knowledge, line: &str) -> Option<Explanation> {
    let name = header(line).unwrap_or_else(|| line.to_owned());
    Some(of_error(TextKind::Header, line, knowledge.pasted().header(&name)?))
}

/// The meaning of an environment variable of the proxy, with its value or in a line about it.
fn of_variable(knowledge: &Knowledge, line: &str) -> Option<Explanation> {
    let variable = knowledge.pasted().variable(line)?;
    let source = format!("pasted.yaml: {}; linkerd/app/src/env.rs", variable.name());
    let checks = knowledge.pasted().variable_checks();
    Some(Explanation::new(TextKind::Variable, line, &variable.means(), checks, source))
}

/// The meaning of a short text that proves nothing about its writer.
fn of_phrase(text: &str, row: &ProxyError) -> Explanation {
    let source = format!("pasted.yaml: {}; {}", row.id, row.place);
    let meaning = Explanation::new(TextKind::Phrase, text, &row.means, &row.checks, source);
    Explanation { answered_by: row.answered_by, certain: false, ..meaning }
}

/// The value of the response header in which a proxy names its error.
fn proxy_error(line: &str) -> Option<&str> {
    static HEADER: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?i)l5d-proxy-error(?:"\s*[:=]\s*"([^"]+)"|\s*[:=]\s*(.+))"#).ok());
    let found = HEADER.as_ref()?.captures(line)?;
    Some(found.get(1).or(found.get(2))?.as_str().trim())
}

/// The meaning of an error of a proxy; one without a known text is still an error of a proxy.
fn of_proxy(knowledge: &Knowledge, kind: TextKind, value: &str) -> Explanation {
    let pasted = knowledge.pasted();
    match pasted.error(value).or_else(|| pasted.short_error(value)) {
        Some(row) => of_error(kind, value, row),
        None => {
            let means = "a proxy answered the request itself, with an error that meshdoctor does not know";
            Explanation::new(kind, value, means, &[], "header l5d-proxy-error".to_owned())
        }
    }
}

fn of_error(kind: TextKind, text: &str, row: &ProxyError) -> Explanation {
    let source = format!("pasted.yaml: {}; {}", row.id, row.place);
    let program = writer(text).filter(|_| kind == TextKind::LogLine).map(str::to_owned);
    Explanation {
        answered_by: row.answered_by,
        program,
        ..Explanation::new(kind, text, &row.means, &row.checks, source)
    }
}

/// The meanings of a line that is not a header.
fn of_line(knowledge: &Knowledge, line: &str) -> Vec<Explanation> {
    if let Some(meaning) = of_event(knowledge, line) {
        return vec![meaning];
    }
    if let Some(meaning) = of_defect(knowledge, line).or_else(|| of_foreign_panic(line)) {
        return vec![meaning];
    }
    let lines = of_log(knowledge, line);
    if !lines.is_empty() {
        return lines;
    }
    if let Some(row) = knowledge.pasted().event(line) {
        let source = format!("pasted.yaml: {}; {}", row.id, row.place);
        let meaning = Explanation::new(TextKind::Event, line, &row.means, &row.checks, source);
        let certain = names_linkerd(line) || line.contains(":4191/");
        return vec![Explanation { answered_by: row.answered_by, certain, ..meaning }];
    }
    let exits = of_exit(knowledge, line);
    if !exits.is_empty() {
        return exits;
    }
    // Of a line of destination, the text before the error decides.
    let line = if writer(line) == Some("destination") { line } else { without_grpc_status(line) };
    // Applications write similar texts.
    let kind = if writer(line).is_some() { TextKind::LogLine } else { TextKind::ProxyError };
    // The last field of a structured log line of any program.
    let line =
        if kind == TextKind::LogLine { line } else { line.rsplit_once(" error=").map_or(line, |(_, value)| value) };
    let row = knowledge.pasted().error(line).filter(|row| kind == TextKind::LogLine || row.is_value(line));
    row.map(|row| of_error(kind, line, row)).into_iter().collect()
}

/// A message by which an event shows a known defect of some releases.
fn of_defect(knowledge: &Knowledge, line: &str) -> Option<Explanation> {
    let text = |row: &&KnownDefect| {
        let text = row.trigger.as_ref().and_then(DefectTrigger::message_text);
        text.is_some_and(|text| line.contains(text))
    };
    let row = knowledge.known_defects().rows().iter().find(text)?;
    let means = format!("{} (a known defect of releases {})", row.effect, row.releases());
    let checks = [crate::checks::KNOWN_DEFECT.to_owned()];
    Some(Explanation {
        remedy: row.workaround.clone(),
        references: row.references.clone(),
        ..Explanation::new(TextKind::Event, line, &means, &checks, format!("defects.yaml: {}", row.id))
    })
}

/// The message of an error that a gRPC client prints: in Go `rpc error: code = Unavailable desc = MESSAGE`, in Java
/// `StatusRuntimeException: UNAVAILABLE: MESSAGE`, in Node `14 UNAVAILABLE: MESSAGE`, in Python `details = "MESSAGE"`,
/// grpcurl `Message: MESSAGE`.
fn without_grpc_status(line: &str) -> &str {
    let go = line.split_once("rpc error: code = ").and_then(|(_, rest)| rest.split_once(" desc = "));
    if let Some((_, text)) = go {
        return text;
    }
    if let Some((_, text)) = line.split_once("details = \"") {
        return text.trim_end_matches(['"', ',']);
    }
    for mark in ["grpc-message: ", "Message: "] {
        if let Some((_, text)) = line.split_once(mark) {
            return text;
        }
    }
    let rest = line.rsplit_once("Exception: ").map_or(line, |(_, rest)| rest);
    let rest = rest.strip_prefix("Error: ").unwrap_or(rest);
    let is_number = |word: &str| word.parse::<u8>().is_ok();
    let rest = rest.split_once(' ').filter(|(word, _)| is_number(word)).map_or(rest, |(_, rest)| rest);
    let is_code = |word: &str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    rest.split_once(": ").filter(|(code, _)| is_code(code)).map_or(line, |(_, text)| text)
}

/// The meaning of a panic of a program in Rust whose position is not in Linkerd's sources: those of its programs and of
/// the libraries that they are built with.
fn of_foreign_panic(line: &str) -> Option<Explanation> {
    const OWN: [&str; 6] =
        ["linkerd", "policy-controller/", "spiffe-proto/", "hyper-balance/", "/usr/local/cargo/", "library/"];
    let (_, place) = line.split_once("panicked at ")?;
    let place = place.split([' ', ',']).next().unwrap_or_default();
    let (path, position) = place.split_once(".rs:")?;
    let is_position = position.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    let is_own = OWN.iter().any(|own| path.starts_with(own)) || path.contains("/.cargo/");
    if !is_position || is_own || names_linkerd(line) {
        return None;
    }
    let means = "a program in Rust ended with a panic in a file that is not of Linkerd, so it is probably another \
                 program";
    let meaning = Explanation::new(TextKind::LogLine, line, means, &[], "Rust's panic handler".to_owned());
    Some(Explanation { answered_by: AnsweredBy::Application, certain: false, ..meaning })
}

/// The program of Linkerd whose log a line is of: it names the module or the component that wrote it.
fn writer(line: &str) -> Option<&'static str> {
    const WRITERS: [(&str, &[&str]); 3] = [
        ("policy", &["linkerd_policy_controller", "kubert::", "kube_client::", "kube::client"]),
        ("linkerd-proxy", &["linkerd_", "linkerd2_", "rustls::"]),
        ("destination", &["component=endpoint-translator", "component=server", " from indexer "]),
    ];
    let names = |pieces: &[&str]| pieces.iter().any(|piece| line.contains(piece));
    WRITERS.into_iter().find(|(_, pieces)| names(pieces)).map(|(program, _)| program)
}

/// A failed ADD of linkerd-cni.
fn of_event(knowledge: &Knowledge, line: &str) -> Option<Explanation> {
    let failure = knowledge.signatures().match_add_failure(line)?;
    let meaning = match failure.signature {
        Some(row) => of_signature(knowledge, TextKind::Event, line, row),
        None => {
            let checks = knowledge.pasted().check_of_event();
            let means = "linkerd-cni refused a new pod, with an error that is not known";
            Explanation::new(TextKind::Event, line, means, &checks, "event FailedCreatePodSandBox".to_owned())
        }
    };
    Some(Explanation { text: quoted(failure.answer), program: Some("linkerd-cni".to_owned()), ..meaning })
}

fn quoted(text: &str) -> String {
    crate::redact::text(text.trim()).chars().take(QUOTED).collect()
}

fn of_signature(knowledge: &Knowledge, kind: TextKind, line: &str, row: &crate::knowledge::Signature) -> Explanation {
    let checks = knowledge.pasted().checks_of_signature(row);
    let source = format!("signatures.yaml: {}", row.id);
    Explanation {
        confirm: row.confirm.clone(),
        remedy: Some(row.remedy.clone()),
        references: row.refs.clone(),
        ..Explanation::new(kind, line, &row.cause, checks, source)
    }
}

/// The meanings of a line of a log that the checks know. Several programs print errors of iptables.
fn of_log(knowledge: &Knowledge, line: &str) -> Vec<Explanation> {
    // Of one container, the first row decides.
    let mut rows: Vec<&MeshSignature> = Vec::new();
    for row in knowledge.mesh_logs().rows().iter().filter(|row| row.matches(line)) {
        if !rows.iter().any(|known| known.containers.iter().any(|name| row.containers.contains(name))) {
            rows.push(row);
        }
    }
    let is_only = rows.len() == 1;
    let of_row = |row: &MeshSignature| {
        let checks = knowledge.pasted().checks_of_line(row);
        let source = format!("mesh-logs.yaml: {}; {}", row.id, row.place);
        Explanation {
            remedy: Some(row.remedy.clone()).filter(|remedy| !remedy.is_empty()),
            program: Some(row.containers.join(", ")),
            certain: is_only && names_linkerd(line),
            references: row.refs.clone(),
            ..Explanation::new(TextKind::LogLine, line, &row.says, checks, source)
        }
    };
    if !rows.is_empty() {
        return rows.into_iter().map(of_row).collect();
    }
    // The texts below are of other programs, also errors of the system such as "Permission denied".
    if writer(line).is_some() && !INSTALLERS.iter().any(|module| line.contains(module)) {
        return Vec::new();
    }
    let scopes = [
        (SignatureScope::Init, "linkerd-init"),
        (SignatureScope::Validator, "linkerd-network-validator"),
        (SignatureScope::InstallerLog, "install-cni"),
        (SignatureScope::Journal, "the container runtime"),
    ];
    let meaning = |(scope, program): (SignatureScope, &str)| {
        let row = knowledge.signatures().matching(scope, line)?;
        let meaning = of_signature(knowledge, TextKind::LogLine, line, row);
        Some(Explanation { program: Some(program.to_owned()), certain: false, ..meaning })
    };
    let mut meanings: Vec<Explanation> = scopes.into_iter().filter_map(meaning).collect();
    if let [meaning] = meanings.as_mut_slice() {
        meaning.certain = names_linkerd(line);
    }
    meanings
}

/// Whether a line names a program of Linkerd, or what it connects to.
fn names_linkerd(line: &str) -> bool {
    line.contains("linkerd")
}

/// The meanings of an exit code: those of the program that the line names, or else of every program.
fn of_exit(knowledge: &Knowledge, line: &str) -> Vec<Explanation> {
    static EXIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\bexit(?:ed|s)?(?:\s+with)?\s*(?:code|status)?\s*[:=]?\s*(\d{1,3})\b|exit_?code\W+(\d{1,3})\b")
            .ok()
    });
    let Some(found) = EXIT.as_ref().and_then(|exit| exit.captures(line)) else { return Vec::new() };
    let number = found.get(1).or_else(|| found.get(2)).and_then(|code| code.as_str().parse().ok());
    let Some(code) = number else { return Vec::new() };
    let rows: Vec<&ExitCode> = knowledge.pasted().exits(code).collect();
    let named: Vec<&&ExitCode> = rows.iter().filter(|row| line.contains(&row.container)).collect();
    let shown: Vec<&ExitCode> = if named.is_empty() { rows.clone() } else { named.into_iter().copied().collect() };
    let mut meanings: Vec<Explanation> = shown
        .into_iter()
        .map(|row| {
            let source = format!("pasted.yaml: exit code {code} of {}; {}", row.container, row.place);
            Explanation {
                program: Some(row.container.clone()),
                certain: line.contains(&row.container),
                ..Explanation::new(TextKind::ExitCode, line, &row.means, &row.checks, source)
            }
        })
        .collect();
    // The plugin itself is no container: its errors are in events.
    let of_plugin = knowledge.signatures().matching(SignatureScope::Event, &format!("exit status {code}"));
    let names_other = rows.iter().any(|row| line.contains(&row.container));
    if let Some(row) = of_plugin.filter(|_| !names_other) {
        let meaning = of_signature(knowledge, TextKind::ExitCode, line, row);
        let certain = line.contains("linkerd-cni");
        meanings.push(Explanation { program: Some("linkerd-cni".to_owned()), certain, ..meaning });
    }
    // A line of another program contains more than the status.
    let is_alone = line.split_whitespace().count() <= OWN_EXIT_WORDS || line.contains("meshdoctor");
    let own = of_own_exit(line, code).filter(|_| is_alone && !names_other && !line.contains("linkerd-cni"));
    // Every report prints its own exit status.
    own.into_iter().chain(meanings).collect()
}

/// The meaning of an exit status of `meshdoctor check`.
fn of_own_exit(line: &str, code: i32) -> Option<Explanation> {
    let (_, means) = exit::ALL.into_iter().find(|(status, _)| *status != exit::FINE && i32::from(*status) == code)?;
    let source = format!("exit statuses of {}", own("check"));
    Some(Explanation {
        program: Some("meshdoctor".to_owned()),
        certain: line.contains("meshdoctor"),
        next: Some(match u8::try_from(code) {
            Ok(exit::NOT_CHECKED) => "check --coverage",
            Ok(exit::USAGE) => "check --help",
            _ => "check",
        }),
        ..Explanation::new(TextKind::ExitCode, line, means, &[], source)
    })
}

/// Status and headers of an HTTP response.
struct Response<'t> {
    /// The line with the status.
    line: &'t str,
    status: u16,
    /// Names of the headers, in lower case.
    headers: Vec<String>,
}

impl<'t> Response<'t> {
    fn read(text: &'t str) -> Option<Response<'t>> {
        let (line, status) = text.lines().filter_map(|line| Some((line.trim(), status(line.trim())?))).next_back()?;
        let headers = text.lines().filter_map(|line| header(line.trim())).collect();
        Some(Response { line, status, headers })
    }

    /// The meaning of a response without an error of a proxy.
    fn explain(&self, knowledge: &Knowledge) -> Option<Explanation> {
        let row = knowledge.pasted().status(self.status)?;
        let other = self
            .headers
            .iter()
            .find(|name| !OF_PROXIES.contains(&name.as_str()) || (*name == "content-type" && !self.is_grpc()));
        let source = format!("pasted.yaml: status {}", self.status);
        Some(match other {
            Some(name) => {
                let means = format!(
                    "the header {name} is not one that a proxy sets, so the application answered, or \
                                     something between it and the mesh such as an ingress"
                );
                let meaning = Explanation::new(TextKind::Response, self.line, &means, &[], source);
                Explanation { answered_by: AnsweredBy::Application, ..meaning }
            }
            None => {
                let means = if self.headers.is_empty() {
                    format!("{}. Without its headers, this can also be the application's response", row.means)
                } else {
                    format!("only headers that proxies set; {}", row.means)
                };
                let meaning = Explanation::new(TextKind::Response, self.line, &means, &row.checks, source);
                Explanation { answered_by: AnsweredBy::Either, ..meaning }
            }
        })
    }

    fn is_grpc(&self) -> bool {
        self.headers.iter().any(|name| name.starts_with("grpc-"))
    }
}

/// The meaning of a failed gRPC call by the header or trailer with its status. Proxies and applications set it.
fn of_grpc_status(knowledge: &Knowledge, line: &str) -> Option<Explanation> {
    static STATUS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?i)^(?:<\s*)?"?grpc[- ]status"?\s*[:=]?\s*"?(\d{1,2})"?$"#).ok());
    let status = STATUS.as_ref()?.captures(line)?.get(1)?.as_str().parse().ok()?;
    let row = knowledge.pasted().grpc_status(status)?;
    let source = format!("pasted.yaml: grpc-status {status}");
    let meaning = Explanation::new(TextKind::Response, line, &row.means, &row.checks, source);
    Some(Explanation { answered_by: AnsweredBy::Either, certain: false, ..meaning })
}

/// The status code of a status line, or of a text such as `status 503` or `503 Service Unavailable`.
fn status(line: &str) -> Option<u16> {
    static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^(?:<\s*)?(?:HTTP/[0-9.]+\s+|status(?:\s+code)?\s*[:=]?\s*|http\s+)?([1-5]\d\d)(?:\s+[A-Za-z][A-Za-z -]*)?$").ok()
    });
    STATUS.as_ref()?.captures(line)?.get(1)?.as_str().parse().ok()
}

/// The name of a header, in lower case.
fn header(line: &str) -> Option<String> {
    let line = line.strip_prefix('<').unwrap_or(line).trim();
    let (name, _) = line.split_once(':')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    is_name.then(|| name.to_ascii_lowercase())
}
