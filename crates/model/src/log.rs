//! Log texts that are provided in addition to a cluster: a node's journal, a container's log. Defines their
//! format, their limits and the lines that are kept. Knowledge and checks interpret the lines.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::node;
use crate::knowledge::{Knowledge, PrefixedLine, plain_line};
use crate::names::{is_label, is_subdomain};
use crate::objects::{Object, by_metadata, meta::Meta};
use crate::redact;

/// Number of bytes read from the end of one log.
pub const MAX_RAW: usize = node::MAX_RAW_LOG;

/// Lower-case words of container log lines that are kept: errors of the installer, the validator and the
/// repair controller. Lines of applications are dropped.
const WORDS: [&str; 16] = [
    "cni",
    "nsenter",
    "iptables",
    "xtables",
    "inotify",
    "max_user_instances",
    "validat",
    "kubernetes_service_host",
    "permission denied",
    "writeable",
    "read-only",
    "job ids",
    "os error",
    "new file",
    "connected",
    "no such file",
];

/// The source of a log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogOf {
    /// The journal of a node.
    Node(String),
    /// The log of a pod, or of one of its containers.
    Pod {
        namespace: String,
        pod: String,
        /// The container, if given.
        container: Option<String>,
    },
}

impl LogOf {
    /// Parses a name given to `--logs`: `NODE`, `NAMESPACE/POD` or `NAMESPACE/POD/CONTAINER`. `None` if it
    /// is not valid.
    pub fn parse(name: &str) -> Option<LogOf> {
        match name.split('/').collect::<Vec<_>>().as_slice() {
            [node] if is_subdomain(node) => Some(LogOf::Node((*node).to_owned())),
            [namespace, pod, container @ ..]
                if container.len() <= 1
                    && is_label(namespace)
                    && is_subdomain(pod)
                    && container.iter().all(|name| is_label(name)) =>
            {
                Some(LogOf::Pod {
                    namespace: (*namespace).to_owned(),
                    pod: (*pod).to_owned(),
                    container: container.first().map(|name| (*name).to_owned()),
                })
            }
            _ => None,
        }
    }
}

impl LogOf {
    /// Whether a line can be of this log: `kubectl logs --prefix` writes the pod and the container before each.
    pub fn wrote(&self, line: &str) -> bool {
        let (LogOf::Pod { pod, container, .. }, Some(of)) = (self, PrefixedLine::parse(line)) else {
            return true;
        };
        pod == of.pod && container.as_deref().is_none_or(|container| container == of.container)
    }
}

impl fmt::Display for LogOf {
    /// Formats it as `--logs` accepts it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogOf::Node(node) => f.write_str(node),
            LogOf::Pod { namespace, pod, container: None } => write!(f, "{namespace}/{pod}"),
            LogOf::Pod { namespace, pod, container: Some(container) } => {
                write!(f, "{namespace}/{pod}/{container}")
            }
        }
    }
}

/// A log as sources deliver it and bundles store it: an object with a text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LogObject {
    api_version: String,
    kind: String,
    metadata: LogMeta,
    /// The lines.
    pub text: String,
    /// Whether it was truncated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// `name` is the node, the pod or `POD/CONTAINER`; `namespace` is empty for nodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct LogMeta {
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    name: String,
}

impl LogObject {
    /// A provided log.
    pub fn new(of: &LogOf, text: String, cut: bool) -> LogObject {
        let metadata = match of {
            LogOf::Node(node) => LogMeta { namespace: String::new(), name: node.clone() },
            LogOf::Pod { namespace, pod, container } => LogMeta {
                namespace: namespace.clone(),
                name: container.as_ref().map_or_else(|| pod.clone(), |container| format!("{pod}/{container}")),
            },
        };
        LogObject { api_version: "meshdoctor.io/v1".to_owned(), kind: "Log".to_owned(), metadata, text, cut }
    }

    /// The source of the log; `None` if the names are invalid.
    pub fn log(&self) -> Option<LogOf> {
        let LogMeta { namespace, name } = &self.metadata;
        let whole = if namespace.is_empty() { name.clone() } else { format!("{namespace}/{name}") };
        LogOf::parse(&whole)
    }

    /// Redacts it and keeps only the last relevant lines, in their plain form. Idempotent.
    pub fn normalised(mut self) -> LogObject {
        if let Some(of @ LogOf::Pod { .. }) = self.log() {
            let own = self.text.lines().filter(|line| of.wrote(line));
            self.text = own.map(|line| format!("{}\n", plain_line(line))).collect();
        }
        if let Some(LogOf::Pod { container: Some(container), .. }) = self.log()
            && Knowledge::embedded().mesh_logs().reads(&container)
        {
            return self.of_mesh(&container);
        }
        let of_node = matches!(self.log(), Some(LogOf::Node(_)));
        let words: &[&str] = if of_node { &node::JOURNAL_WORDS } else { &WORDS };
        let kept = node::filter_log(self.text.as_bytes(), words);
        self.cut |= kept.cut;
        self.text = String::from_utf8_lossy(&kept.bytes).into_owned();
        self
    }
}

/// Maximum number of lines kept of one Linkerd container's log.
const MESH_LINES: usize = 400;

impl LogObject {
    /// Keeps the known lines of a Linkerd container, each without irrelevant parts.
    fn of_mesh(mut self, container: &str) -> LogObject {
        let logs = Knowledge::embedded().mesh_logs();
        let over = self.text.len().saturating_sub(MAX_RAW);
        let begin = self.text[..].char_indices().map(|(at, _)| at).find(|at| *at >= over).unwrap_or(0);
        // A key spans several lines, which must stay together for redaction.
        let clean = redact::free_text(&self.text[begin..]);
        let mut kept: Vec<String> = clean.lines().filter_map(|line| logs.kept(container, line)).collect();
        let more = kept.len().saturating_sub(MESH_LINES);
        kept.drain(..more);
        self.cut |= over > 0 || more > 0;
        self.text = kept.into_iter().map(|line| line + "\n").collect();
        self
    }
}

/// A log by lines.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "LogObject")]
pub struct Log {
    metadata: Meta,
    /// Its source; `None` if unknown.
    pub of: Option<LogOf>,
    /// The kept lines.
    pub lines: Vec<String>,
    /// Whether earlier lines were dropped because of the size.
    pub cut: bool,
}

impl From<LogObject> for Log {
    fn from(object: LogObject) -> Log {
        let of = object.log();
        let LogMeta { namespace, name } = object.metadata;
        Log {
            metadata: Meta { namespace: namespace.into(), name, ..Meta::default() },
            of,
            lines: object.text.lines().map(str::to_owned).collect(),
            cut: object.cut,
        }
    }
}

impl Object for Log {
    by_metadata!();

    /// The source was validated when the log was provided ([`LogOf::parse`]).
    fn refused(&self) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_of_a_name_decides_the_log_source() {
        for name in ["ip-10-0-1-12.ec2.internal", "shop/web-1", "shop/web-1/linkerd-network-validator"] {
            assert_eq!(LogOf::parse(name).map(|of| of.to_string()).as_deref(), Some(name));
        }
        for name in ["", "a/b/c/d", "../x", "A", "a//b", "a/", "/a", "x y", "-x", "x..y", "s.hop/web", "a/b/c.d"] {
            assert_eq!(LogOf::parse(name), None, "{name}");
        }
    }

    #[test]
    fn only_known_lines_without_secrets_are_kept() {
        let token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJlc2lnbmF0dXJl";
        let of = LogOf::parse("shop/web-1/linkerd-proxy").expect("a container");
        let text = format!(
            "2026-01-15T11:58:11Z  INFO outbound: GET /cni/validation?card=17\n\
             2026-01-15T11:58:12Z ERROR identity: certify: Failed to obtain identity error=bearer {token}\n"
        );
        let once = LogObject::new(&of, text, false).normalised();
        assert_eq!(once.text.lines().count(), 1, "{}", once.text);
        assert!(once.text.starts_with("2026-01-15T11:58:12Z Failed to obtain identity"), "{}", once.text);
        assert!(!once.text.contains(token), "{}", once.text);
        assert_eq!(once.clone().normalised(), once);
    }

    #[test]
    fn lines_in_json_or_with_prefix_are_kept_like_plain_ones() {
        let of = LogOf::parse("shop/web-1/linkerd-proxy").expect("a container");
        let json = r#"2026-01-15T11:58:12Z {"timestamp":"[  1.5s]","level":"ERROR","fields":{"message":"Failed to obtain identity","error":"status: Unknown"},"target":"linkerd_app","spans":[],"threadId":"ThreadId(1)"}"#;
        let text = "2026-01-15T11:58:12Z [  1.5s] ERROR ThreadId(01) linkerd_app: Failed to obtain identity error=status: Unknown";
        let kept = |text: &str| LogObject::new(&of, format!("{text}\n"), false).normalised();
        let plain = kept(text);
        assert_eq!(plain.text.lines().count(), 1, "{}", plain.text);
        assert_eq!(kept(json), plain);
        assert_eq!(kept(&format!("[pod/web-1/linkerd-proxy] {text}")), plain);
        assert_eq!(kept(&format!("[pod/web-1/linkerd-proxy] {json}")), plain);
        for other in ["[pod/web-2/linkerd-proxy]", "[pod/web-1/policy]"] {
            assert_eq!(kept(&format!("{other} {text}")).text, "");
        }
        assert_eq!(plain.clone().normalised(), plain);
    }

    #[test]
    fn log_normalisation_is_idempotent_without_tokens() {
        let token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJlc2lnbmF0dXJl";
        let of = LogOf::parse("linkerd-cni/linkerd-cni-x").expect("a pod");
        let text = format!("order 17 paid\n/host/opt/cni/bin is non-writeable, failure\ncni token {token}\n");
        let once = LogObject::new(&of, text, false).normalised();
        assert!(once.text.contains("non-writeable") && !once.text.contains("order") && !once.text.contains(token));
        assert_eq!(once.clone().normalised(), once);
        let json = serde_json::to_string(&once).expect("plain data");
        let log: Log = serde_json::from_str(&json).expect("the same form");
        assert_eq!((log.of, log.lines.len()), (Some(of), 2));
    }
}
