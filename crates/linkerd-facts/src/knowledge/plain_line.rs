//! The plain form of a log line. Proxies and controllers also log in JSON, and tools put names of pods or JSON around
//! lines; rows about lines describe the plain form only.

use std::borrow::Cow;
use std::fmt::{self, Write};

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Maximum number of bytes before a JSON object: times, and names of the pod and the container.
const LONGEST_PREFIX: usize = 600;
/// How many objects may be in one another: that of the container runtime, and that of the program.
const MOST_NESTED: usize = 2;

/// The source that `kubectl logs --prefix` writes before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixedLine<'l> {
    pub pod: &'l str,
    pub container: &'l str,
    /// The line without it.
    pub line: &'l str,
}

impl<'l> PrefixedLine<'l> {
    /// Parses `[pod/NAME/CONTAINER] LINE`.
    pub fn parse(line: &'l str) -> Option<PrefixedLine<'l>> {
        let (name, line) = line.strip_prefix("[pod/")?.split_once(']')?;
        let (pod, container) = name.split_once('/')?;
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
        };
        (is_name(pod) && is_name(container)).then(|| PrefixedLine {
            pod,
            container,
            line: line.strip_prefix(' ').unwrap_or(line),
        })
    }
}

/// The line as the program writes it without JSON, after the time that something else wrote before it. Lines in another
/// form are returned without the prefix of `kubectl logs`.
pub fn plain_line(line: &str) -> Cow<'_, str> {
    let line = PrefixedLine::parse(line).map_or(line, |prefixed| prefixed.line);
    plain(line, MOST_NESTED).map_or(Cow::Borrowed(line), Cow::Owned)
}

fn plain(line: &str, depth: usize) -> Option<String> {
    let at = line.find("{\"").filter(|at| *at <= LONGEST_PREFIX)?;
    let (prefix, json) = line.split_at(at);
    let fields: Fields = serde_json::from_str(json.trim_end()).ok()?;
    let is_time = |word: &&str| word.parse::<jiff::Timestamp>().is_ok();
    let time = prefix.split_whitespace().find(is_time).map(str::to_owned);
    // The runtime of Docker: `{"log":"LINE\n","stream":"stderr","time":"..."}`.
    if let (Some(inner), Some(_)) = (fields.text("log"), fields.text("stream")) {
        let time = time.or_else(|| fields.text("time")).unwrap_or_default();
        let inner = format!("{time} {}", inner.trim_end());
        let inner = inner.trim_start().to_owned();
        return Some(depth.checked_sub(1).and_then(|depth| plain(&inner, depth)).unwrap_or(inner));
    }
    traced(&fields, time.as_deref()).or_else(|| logged(&fields, time.as_deref()))
}

/// A line of a program in Rust (`tracing`): the proxy, the policy controller, the network validator.
fn traced(line: &Fields, time: Option<&str>) -> Option<String> {
    let (target, level) = (line.text("target")?, line.text("level")?);
    let fields: Fields = line.parsed("fields")?;
    let message = fields.shown("message")?;
    let stamp = line.text("timestamp").unwrap_or_default();
    // Proxies write the time since their start, or the time itself.
    let own = Some(stamp.as_str()).filter(|stamp| stamp.starts_with('[') || time.is_none());
    let mut plain = String::new();
    for part in [time, own].into_iter().flatten().filter(|part| !part.is_empty()) {
        write!(plain, "{part} ").ok()?;
    }
    let thread = line.text("threadId");
    // Lines of proxies have the time since their start, which rows about connections keep.
    if thread.is_some() && !stamp.starts_with('[') {
        plain.push_str("[-] ");
    }
    write!(plain, "{level:>5} ").ok()?;
    if let Some(thread) = thread {
        write!(plain, "{thread} ").ok()?;
    }
    let spans: Vec<Fields> = line.parsed("spans").unwrap_or_default();
    for span in &spans {
        plain.push_str(&span.text("name").unwrap_or_default());
        let keys = span.pairs_without("name").join(" ");
        if !keys.is_empty() {
            write!(plain, "{{{keys}}}").ok()?;
        }
        plain.push(':');
    }
    if !spans.is_empty() {
        plain.push(' ');
    }
    write!(plain, "{target}: {message}").ok()?;
    for pair in fields.pairs_without("message") {
        write!(plain, " {pair}").ok()?;
    }
    Some(plain)
}

/// A line of a program in Go (logrus): `time="..." level=error msg="..."`.
fn logged(line: &Fields, time: Option<&str>) -> Option<String> {
    let (level, message, own) = (line.text("level")?, line.text("msg")?, line.text("time")?);
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let mut plain = time.map(|time| format!("{time} ")).unwrap_or_default();
    write!(plain, "time=\"{own}\" level={level} msg=\"{}\"", quoted(&message)).ok()?;
    for (key, _) in line.0.iter().filter(|(key, _)| !["level", "msg", "time"].contains(&key.as_str())) {
        let value = line.shown(key)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/@^+".contains(&byte);
        match value.bytes().all(is_plain) {
            true => write!(plain, " {key}={value}").ok()?,
            false => write!(plain, " {key}=\"{}\"", quoted(&value)).ok()?,
        }
    }
    Some(plain)
}

/// The fields of a JSON object, in their order.
#[derive(Default)]
struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    fn parsed<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let (_, raw) = self.0.iter().find(|(key, _)| key == name)?;
        serde_json::from_str(raw.get()).ok()
    }

    fn text(&self, name: &str) -> Option<String> {
        self.parsed(name)
    }

    /// A value as one line, strings without quotes.
    fn shown(&self, name: &str) -> Option<String> {
        Some(match self.parsed(name)? {
            Value::String(text) => text.replace('\n', "\\n").replace('\r', "\\r"),
            other => other.to_string(),
        })
    }

    /// `KEY=VALUE` of each other field.
    fn pairs_without(&self, name: &str) -> Vec<String> {
        let keys = self.0.iter().map(|(key, _)| key).filter(|key| *key != name);
        keys.filter_map(|key| Some(format!("{key}={}", self.shown(key)?))).collect()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = map.next_entry()? {
                    all.push(one);
                }
                Ok(Fields(all))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::knowledge::Knowledge;

    /// The fields after a message: ` key=value key=value`.
    fn fields(rest: &str) -> (String, Vec<(String, String)>) {
        let key = regex::Regex::new(r"(?:^|\s)([a-z_][a-z_.]*)=").expect("a pattern");
        let marks: Vec<_> = key.captures_iter(rest).filter_map(|found| Some((found.get(0)?, found.get(1)?))).collect();
        let first = marks.first().map_or(rest.len(), |(whole, _)| whole.start());
        let each = marks.iter().enumerate().map(|(at, (whole, key))| {
            let end = marks.get(at + 1).map_or(rest.len(), |(next, _)| next.start());
            (key.as_str().to_owned(), rest[whole.end()..end].to_owned())
        });
        (rest[..first].trim().to_owned(), each.collect())
    }

    /// A line of the proxy or the policy controller, as its JSON format prints it.
    fn traced_as_json(line: &str) -> Option<String> {
        let form = regex::Regex::new(
            r"^(\[\s*[\d.]+s\]|\d{4}-\S+Z)\s+([A-Z]+) (ThreadId\(\d+\) )?(?:(\S+): )?([a-z_0-9]+(?:::[a-z_0-9]+)*): (.*)$",
        );
        let found = form.expect("a pattern").captures(line)?;
        let (message, fields) = fields(&found[6]);
        let each = regex::Regex::new(r"([a-z_.]+)(?:\{([^}]*)\})?:?").expect("a pattern");
        let spans = found.get(4).map_or("", |spans| spans.as_str());
        let spans = each.captures_iter(spans).map(|span| {
            let pairs = span.get(2).map_or("", |pairs| pairs.as_str());
            let pairs = pairs.split(' ').filter_map(|pair| pair.split_once('='));
            let pairs = pairs.map(|(key, value)| format!("{}:{},", json!(key), json!(value)));
            format!("{{{}\"name\":{}}}", pairs.collect::<String>(), json!(span[1]))
        });
        let fields: String = fields.iter().map(|(key, value)| format!(",{}:{}", json!(key), json!(value))).collect();
        Some(format!(
            "{{\"timestamp\":{},\"level\":{},\"fields\":{{\"message\":{}{fields}}},\"target\":{},\"spans\":[{}],\
             \"threadId\":\"ThreadId(1)\"}}",
            json!(found[1]),
            json!(found[2]),
            json!(message),
            json!(found[5]),
            spans.collect::<Vec<_>>().join(",")
        ))
    }

    /// A line of a controller in Go, as its JSON format prints it.
    fn logged_as_json(line: &str) -> Option<String> {
        let form = regex::Regex::new(r#"^time="([^"]+)" level=(\w+) msg="((?:[^"\\]|\\.)*)"(.*)$"#);
        let found = form.expect("a pattern").captures(line)?;
        let pair = regex::Regex::new(r#" ([a-z-]+)=("[^"]*"|\S+)"#).expect("a pattern");
        let pairs =
            pair.captures_iter(&found[4]).map(|one| format!("{}:{},", json!(one[1]), json!(one[2].trim_matches('"'))));
        let message = found[3].replace("\\\"", "\"").replace("\\\\", "\\");
        let pairs: String = pairs.collect();
        let (time, level) = (json!(found[1]), json!(found[2]));
        Some(format!("{{{pairs}\"level\":{level},\"msg\":{},\"time\":{time}}}", json!(message)))
    }

    #[test]
    fn examples_of_rows_match_also_in_json() {
        let logs = Knowledge::embedded().mesh_logs();
        let mut compared = 0;
        for row in logs.rows() {
            let line = &row.example;
            let Some(json) = traced_as_json(line).or_else(|| logged_as_json(line)) else { continue };
            compared += 1;
            for prefix in ["", "2026-01-15T11:58:12.5Z ", "2026-01-15T11:58:12.5Z stderr F "] {
                let json = format!("{prefix}{json}");
                for container in &row.containers {
                    let kept = logs.kept(container, &plain_line(&json));
                    assert!(kept.is_some(), "{container}: {line}: {}", plain_line(&json));
                    let first = |line: &str| {
                        let mut rows = logs.rows().iter().filter(|row| row.containers.contains(container));
                        rows.find(|row| row.matches(line)).map(|row| row.id.as_str())
                    };
                    assert_eq!(first(&plain_line(&json)), first(line), "{line}");
                }
            }
        }
        assert!(compared > 40, "{compared}");
    }

    #[test]
    fn proxy_line_in_json_becomes_plain() {
        let json = r#"2026-01-15T11:58:12.123Z {"timestamp":"[    48.376757s]","level":"INFO","fields":{"message":"Request failed","error":"endpoint 10.0.0.1:80: refused"},"target":"linkerd_app_core::errors","spans":[{"name":"inbound"},{"port":80,"name":"server"}],"threadId":"ThreadId(1)"}"#;
        assert_eq!(
            plain_line(json),
            "2026-01-15T11:58:12.123Z [    48.376757s]  INFO ThreadId(1) inbound:server{port=80}: \
             linkerd_app_core::errors: Request failed error=endpoint 10.0.0.1:80: refused"
        );
    }

    #[test]
    fn proxy_line_with_absolute_time_has_no_uptime() {
        let json = r#"{"timestamp":"2026-01-15T11:58:12.1Z","level":"WARN","fields":{"message":"x"},"target":"a::b","spans":[],"threadId":"ThreadId(1)"}"#;
        assert_eq!(plain_line(json), "2026-01-15T11:58:12.1Z [-]  WARN ThreadId(1) a::b: x");
    }

    #[test]
    fn other_lines_are_unchanged() {
        for line in [
            "",
            "[     0.1s]  INFO ThreadId(01) linkerd2_proxy: release 2.366.0",
            r#"{"msg":"order 17 paid","level":"info"}"#,
            r#"{"message":"order 17 paid","target":"shop"}"#,
            r#"time="2026-01-15T11:40:00Z" level=error msg="unexpected {\"a\":1}""#,
            "[pod/]: x",
        ] {
            assert_eq!(plain_line(line), line);
        }
    }

    #[test]
    fn prefix_of_kubectl_is_removed() {
        let line = "[pod/web-1/linkerd-proxy] 2026-01-15T11:58:12Z [ 1.2s]  WARN x";
        let of = PrefixedLine::parse(line).expect("a prefix");
        assert_eq!((of.pod, of.container), ("web-1", "linkerd-proxy"));
        assert_eq!(plain_line(line), "2026-01-15T11:58:12Z [ 1.2s]  WARN x");
    }

    #[test]
    fn lines_of_docker_are_unwrapped() {
        let line = r#"{"log":"[ 1.2s]  WARN x\n","stream":"stderr","time":"2026-01-15T11:58:12Z"}"#;
        assert_eq!(plain_line(line), "2026-01-15T11:58:12Z [ 1.2s]  WARN x");
    }
}
