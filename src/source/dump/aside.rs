//! What stands among manifests and cannot be applied as it is: templates that nobody rendered, patches of kustomize, objects with
//! values still to be put in, objects that SOPS encrypted. It is set aside and said; nothing else goes unchecked because of it.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use serde_json::Value;

use crate::command::own;
use crate::item::Kind;
use crate::names::{self, Rule};
use crate::objects::rule;

/// Why something is set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aside {
    /// A template of a Helm chart.
    Chart,
    /// A template of something else.
    Template,
    /// A kustomization changes the objects that it takes.
    Kustomization,
    /// A value is still to be put in, as Flux does with `${NAME}`.
    Placeholder,
    /// Encrypted by SOPS.
    Encrypted,
    /// Several folders hold an object, and differ, as environments do.
    Environments,
    /// A link to something that holds no objects.
    Link,
}

/// So many places of one reason are named.
const NAMED: usize = 3;
/// So many places of one reason are told apart.
const MOST: usize = 1000;

/// Everything that was set aside.
#[derive(Debug, Clone, Default)]
pub struct SetAside(BTreeMap<Aside, Places>);

/// Where things of one reason are.
#[derive(Debug, Clone, Default)]
struct Places {
    things: usize,
    names: BTreeSet<String>,
}

impl SetAside {
    /// Sets something aside that is in this place: the folder of a chart, a file, an object.
    pub fn add(&mut self, why: Aside, place: &str) {
        let places = self.0.entry(why).or_default();
        places.things += 1;
        self.place(why, place);
    }

    /// Names one more place of what was set aside already.
    pub fn place(&mut self, why: Aside, place: &str) {
        let places = self.0.entry(why).or_default();
        if places.names.len() < MOST {
            places.names.insert(place.to_owned());
        }
    }

    /// What was set aside, a sentence for each reason, with what makes manifests of it.
    pub fn said(&self) -> Vec<String> {
        self.0.iter().map(|(why, places)| sentence(*why, places)).collect()
    }
}

fn sentence(why: Aside, places: &Places) -> String {
    let named: Vec<&str> = places.names.iter().map(String::as_str).take(NAMED).collect();
    let more = places.names.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = format!("{}{more}", named.join(", "));
    let of = |one: &str, more: &str| match places.things {
        1 => format!("1 {one}"),
        things => format!("{things} {more}"),
    };
    match why {
        Aside::Chart => format!(
            "{} of Helm, not rendered, in {named}: helm template DIR | {}",
            of("template", "templates"),
            own("check --manifests -")
        ),
        Aside::Template => {
            format!("{}, not rendered, at {named}: give what comes of it", of("template", "templates"))
        }
        Aside::Kustomization => format!(
            "what {} (patches, names, labels, several namespaces), in {named}: kustomize build DIR | {}",
            of("kustomization changes in its objects", "kustomizations change in their objects"),
            own("check --manifests -")
        ),
        Aside::Placeholder => {
            format!("{} with a value still to be put in, {named}: put it in first", of("object", "objects"))
        }
        Aside::Environments => format!(
            "{} in several folders that differ, as environments do, in {named}: check one of them at a time",
            of("object", "objects")
        ),
        Aside::Link => {
            format!("{} without Kubernetes objects, {named}: skipped", of("link to a file", "links to files"))
        }
        Aside::Encrypted => {
            format!("{} encrypted by SOPS, {named}: sops --decrypt first", of("object", "objects"))
        }
    }
}

/// Whether a text that could not be read has the marks of a template: Helm, Jinja and Go write `{{`, Flux and envsubst `${NAME}`.
pub fn is_template(text: &[u8]) -> bool {
    let named = |at: usize| text.get(at + 2).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    memmem::find(text, b"{{").is_some() || memmem::find_iter(text, b"${").any(named)
}

/// Whether a text that could not be read was to be objects of Kubernetes, rather than the file of another tool.
pub fn is_manifest(text: &[u8]) -> bool {
    let begins = |line: &[u8]| {
        // Deeper down it is a text that the file of another tool holds.
        let deep = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count() > 4;
        let outermost = line.starts_with(b"kind:");
        let line = line.trim_ascii_start();
        let line = line.strip_prefix(b"- ").or_else(|| line.strip_prefix(b"{")).unwrap_or(line);
        let key = |key: &[u8]| line.trim_ascii_start().starts_with(key);
        key(b"\"apiVersion\"") || (key(b"apiVersion:") && !deep) || outermost
    };
    text.split(|byte| *byte == b'\n').any(begins)
}

/// What keeps an object of manifests from being filed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// It cannot be applied as it is.
    SetAside(Aside),
    /// It cannot be read, for this reason.
    Broken(String),
}

/// What keeps an object from being filed, if anything does.
pub fn unfit(json: &[u8], kind: Kind) -> Option<Unfit> {
    let object: Value = serde_json::from_slice(json).ok()?;
    if object["sops"].is_object() {
        return Some(Unfit::SetAside(Aside::Encrypted));
    }
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
    let namespace = if kind.info().namespaced { namespace } else { "" };
    let templated = names::refused(Rule::of_kind(kind.info().kind), namespace, name).is_some()
        || is_template(name.as_bytes())
        || has_placeholder(&object);
    if templated {
        return Some(Unfit::SetAside(Aside::Placeholder));
    }
    let why = kind.store().push(json, rule(kind)).err()?.to_string();
    // What a placeholder keeps from being read may be well once something is in its place.
    Some(if is_template(json) { Unfit::SetAside(Aside::Placeholder) } else { Unfit::Broken(why) })
}

/// Whether a key of Linkerd's has one for its value, wherever it stands.
fn has_placeholder(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| match value {
            Value::String(text) => key.contains("linkerd.io/") && is_template(text.as_bytes()),
            other => has_placeholder(other),
        }),
        Value::Array(items) => items.iter().any(has_placeholder),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
