//! Waivers: accepted findings with a reason and an expiry date. A file lists the check or fingerprint,
//! scope, reason, owner and expiry of each. A waiver that has expired, would accept everything or names no
//! check has no effect and is itself a finding. So is a waiver that accepts nothing that was found.

mod index;
mod on_object;

pub use index::Waivers;
pub use on_object::on_objects;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_saphyr::Spanned;

use crate::command::own;
use crate::finding::{Evidence, Finding, ManifestLocation, Remedy, Severity, Subject, WaivedBy};
use crate::yaml;

/// Problems with waivers: id and title of the finding.
pub const PROBLEMS: [(&str, &str); 6] = [
    ("waiver-expired", "A waiver has expired"),
    ("waiver-misplaced", "A waiver is on a generated pod"),
    ("waiver-too-broad", "A waiver accepts everything that a check finds"),
    ("waiver-unknown-check", "A waiver names an unknown check"),
    ("waiver-unreadable", "A waiver cannot be read"),
    ("waiver-unused", "A waiver accepts no finding"),
];

/// What a waiver accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    Check(String),
    Fingerprint(String),
    /// The annotation of an object cannot be read; the problem.
    Unreadable(String),
    /// The annotation is on an object that will be replaced; the reason.
    Misplaced(String),
}

/// The scope of a waiver; `*` matches any text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scope {
    namespace: Option<String>,
    object: Option<String>,
    node: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    what: What,
    scope: Scope,
    by: WaivedBy,
    expires: Date,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    waivers: Vec<Spanned<WaiverEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaiverEntry {
    check: Option<String>,
    fingerprint: Option<String>,
    scope: Option<Scope>,
    reason: Option<String>,
    owner: Option<String>,
    expires: Option<String>,
}

/// A file that does not contain valid waivers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct NoWaivers {
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The problem.
    pub message: String,
}

/// Reads the waivers of a file.
///
/// # Errors
/// If it is not a file of waivers, or a waiver lacks a required field.
pub fn read(file: &str, text: &str) -> Result<Vec<Waiver>, NoWaivers> {
    let wrong = |line: u64, message: String| NoWaivers { file: file.to_owned(), line, message };
    yaml::guard(text.as_bytes()).map_err(|refused| wrong(refused.line() as u64, refused.to_string()))?;
    let read: File = serde_saphyr::from_str(text).map_err(|error| {
        let line = error.location().map_or(1, |place| place.line());
        let first = error.without_snippet().to_string();
        wrong(line, first.lines().next().unwrap_or("not a file of waivers").to_owned())
    })?;
    read.waivers
        .into_iter()
        .map(|entry| {
            let line = entry.referenced.line();
            waiver(file, line, entry.value).map_err(|message| wrong(line, message))
        })
        .collect()
}

fn waiver(file: &str, line: u64, entry: WaiverEntry) -> Result<Waiver, String> {
    let said = |name: &str, value: Option<String>| {
        let value = value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        value.ok_or_else(|| {
            format!("the waiver has no {name}; each has check or fingerprint, scope, reason, owner and expires")
        })
    };
    let what = match (entry.check, entry.fingerprint) {
        (Some(check), None) => What::Check(said("check", Some(check))?),
        (None, Some(print)) => What::Fingerprint(said("fingerprint", Some(print))?),
        (Some(_), Some(_)) => return Err("a waiver names a check or a fingerprint, not both".to_owned()),
        (None, None) => return Err("the waiver names neither a check nor a fingerprint".to_owned()),
    };
    let scope = match (&what, entry.scope) {
        (_, Some(scope)) => scope,
        (What::Fingerprint(_), None) => Scope::default(),
        (What::Check(_) | What::Unreadable(_) | What::Misplaced(_), None) => {
            return Err("the waiver has no scope: namespace, object or node".to_owned());
        }
    };
    let expires = said("expires", entry.expires)?;
    let expires: Date = expires.parse().map_err(|_| {
        format!(
            "expires is {expires:?}, which is not a date such as \
            2027-03-31"
        )
    })?;
    Ok(Waiver {
        what,
        scope,
        by: WaivedBy {
            reason: said("reason", entry.reason)?,
            owner: said("owner", entry.owner)?,
            expires: expires.to_string(),
            file: file.to_owned(),
            line,
        },
        expires,
    })
}

impl Waiver {
    /// The form in which a finding shows it.
    pub fn by(&self) -> &WaivedBy {
        &self.by
    }

    /// The problem with a waiver on its own. `is_known`: its check exists.
    fn problem(&self, is_known: bool, at: Timestamp) -> Option<&'static str> {
        match &self.what {
            What::Unreadable(_) => Some("waiver-unreadable"),
            What::Misplaced(_) => Some("waiver-misplaced"),
            What::Check(_) if !is_known => Some("waiver-unknown-check"),
            What::Check(_) if self.scope.is_everything() => Some("waiver-too-broad"),
            What::Check(_) | What::Fingerprint(_) => {
                (at.to_zoned(TimeZone::UTC).date() > self.expires).then_some("waiver-expired")
            }
        }
    }

    fn words(&self) -> String {
        let what = match &self.what {
            What::Check(word) => word.clone(),
            What::Fingerprint(print) => format!("fingerprint {print}"),
            What::Unreadable(_) | What::Misplaced(_) => "nothing".to_owned(),
        };
        let Scope { namespace, object, node } = &self.scope;
        let parts = [("namespace", namespace), ("object", object), ("node", node)];
        let parts: Vec<String> =
            parts.iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?))).collect();
        if parts.is_empty() { what } else { format!("{what} in {}", parts.join(", ")) }
    }
}

impl Scope {
    fn is_everything(&self) -> bool {
        let parts = [&self.namespace, &self.object, &self.node];
        parts.into_iter().flatten().all(|pattern| {
            let letters = pattern.chars().filter(|c| !matches!(c, '*' | '/' | ' ')).count();
            // `*e*` fits nearly every name.
            letters == 0 || letters < 3 && pattern.starts_with('*')
        })
    }

    fn holds(&self, subject: &Subject) -> bool {
        let fits = |pattern: &Option<String>, texts: &[&str]| {
            pattern.as_ref().is_none_or(|pattern| texts.iter().any(|text| matches(pattern, text)))
        };
        match subject {
            Subject::Object { .. } => {
                let texts = object_texts(subject);
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                self.node.is_none()
                    && fits(&self.namespace, &[subject.namespace().unwrap_or_default()])
                    && fits(&self.object, &texts)
            }
            Subject::Node { node, .. } => {
                self.namespace.is_none() && self.object.is_none() && fits(&self.node, &[node])
            }
            Subject::Thing { thing } => self.namespace.is_none() && self.node.is_none() && fits(&self.object, &[thing]),
        }
    }
}

/// Whether a text matches a pattern, in which `*` matches any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The texts by which a scope can name an object.
fn object_texts(subject: &Subject) -> Vec<String> {
    match subject {
        Subject::Object { kind, namespace, name, .. } => {
            vec![name.clone(), format!("{kind} {name}"), format!("{kind} {namespace}/{name}")]
        }
        Subject::Thing { thing } => vec![thing.clone()],
        Subject::Node { .. } => Vec::new(),
    }
}

fn problem_of(waiver: &Waiver, problem: &'static str, hint: &str) -> Finding {
    let unknown = format!("Correct the id: {} lists the ids", own("list"));
    let (message, step) = match problem {
        "waiver-expired" => (
            "the waiver has expired, so its findings count again",
            "Repair the findings, or extend the waiver with a new date and reason",
        ),
        "waiver-too-broad" => (
            "the waiver would accept everything that the check finds, so it is not applied",
            "Limit the waiver to namespaces, objects or nodes",
        ),
        "waiver-unreadable" => (
            "the annotation or a part of it is no valid waiver, and that part accepts nothing",
            "Write a list of waivers, each with check or fingerprint, reason, owner and expires",
        ),
        "waiver-misplaced" => (
            "the waiver is on a pod that a workload created and replaces, so it accepts nothing",
            "Move it to the workload: to its own annotations, not those of its template",
        ),
        "waiver-unknown-check" => {
            ("the waiver names a check that does not exist, so it accepts nothing", unknown.as_str())
        }
        _ => (
            "the waiver matches no finding: its finding is gone, or the run did not look for it",
            "Remove the waiver, unless this run left out its check or namespace",
        ),
    };
    let by = &waiver.by;
    let said = match &waiver.what {
        What::Unreadable(why) | What::Misplaced(why) => why.clone(),
        What::Check(_) | What::Fingerprint(_) => {
            format!("{} ({}, until {}): {}", waiver.words(), by.owner, by.expires, by.reason)
        }
    };
    // A waiver whose check did not run is also unused.
    let severity = if problem == "waiver-unused" { Severity::Info } else { Severity::Warning };
    let object = format!("waiver of {}", waiver.words());
    let mut finding = Finding::new(problem, severity, Subject::thing(&object), message)
        .evidence(Evidence::other(by.place(), said))
        .remedy(Remedy::new().note(format!("{step}{hint}")))
        .parameter(by.reason.clone())
        .explains_nothing()
        .fails_rows([]);
    if by.line > 0 {
        let (file, line) = (by.file.clone(), by.line);
        finding.written.push(ManifestLocation { object, path: None, file, line, column: 1, source: None });
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcard_patterns_match_any_text() {
        for (pattern, text, is) in [
            ("web", "web", true),
            ("web", "web-1", false),
            ("web-*", "web-1", true),
            ("*-web-*", "a-web-b", true),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, text), is, "{pattern} {text}");
        }
    }

    #[test]
    fn missing_field_is_an_error_with_its_line() {
        let whole = "waivers:\n  - check: a-check\n    scope: {namespace: shop}\n    reason: r\n    owner: o\n    expires: 2027-01-31\n";
        assert_eq!(read("w.yaml", whole).map(|all| all.len()), Ok(1));
        for (line, expected) in [
            ("    reason: r\n", "no reason"),
            ("    owner: o\n", "no owner"),
            ("    expires: 2027-01-31\n", "no expires"),
            ("    scope: {namespace: shop}\n", "no scope"),
        ] {
            let error = read("w.yaml", &whole.replace(line, "")).unwrap_err();
            assert!(error.message.contains(expected) && error.line == 2, "{error}");
        }
        assert!(read("w.yaml", &whole.replace("owner", "ownr")).unwrap_err().to_string().contains("ownr"));
        assert!(read("w.yaml", &whole.replace("2027-01-31", "soon")).is_err());
    }
}
