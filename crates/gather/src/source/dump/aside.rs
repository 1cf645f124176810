//! Parts of manifests that cannot be applied as they are: unrendered templates, kustomize patches, objects with
//! placeholders, objects encrypted by SOPS. They are set aside and reported; everything else is still checked.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use serde_json::Value;

use crate::command::own;
use crate::item::Kind;
use crate::names::{self, NameRule};
use crate::objects::mistyped::mistyped;
use crate::objects::rule;

/// Reason for setting something aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aside {
    /// A Helm chart template.
    Chart,
    /// Another template.
    Template,
    /// A program that renders manifests, such as one in Jsonnet.
    Program,
    /// A kustomization changes its objects.
    Kustomization,
    /// It contains a placeholder, such as `${NAME}` of Flux.
    Placeholder,
    /// Encrypted by SOPS.
    Encrypted,
    /// Several folders contain the same object with differences, for example per environment.
    Environments,
    /// A link to a file without objects.
    Link,
    /// An object of a group of Linkerd, or of the Gateway API, whose kind is unknown.
    UnknownKind,
    /// An object of a kind that no check reads, with a pod spec, or with annotations or labels of Linkerd.
    OtherKind,
}

/// Number of places to list per reason.
const NAMED: usize = 3;
/// Number of places to distinguish per reason.
const MOST: usize = 1000;

/// Everything that was set aside.
#[derive(Debug, Clone, Default)]
pub struct SetAside(BTreeMap<Aside, SkippedPlaces>);

/// Places of one reason.
#[derive(Debug, Clone, Default)]
struct SkippedPlaces {
    things: usize,
    names: BTreeSet<String>,
}

impl SetAside {
    /// Sets aside the object at this place: the folder of a chart, a file, an object.
    pub fn add(&mut self, why: Aside, place: &str) {
        let places = self.0.entry(why).or_default();
        places.things += 1;
        self.place(why, place);
    }

    /// Adds another place of something that was already set aside.
    pub fn place(&mut self, why: Aside, place: &str) {
        let places = self.0.entry(why).or_default();
        if places.names.len() < MOST {
            places.names.insert(place.to_owned());
        }
    }

    /// A sentence for each reason, with the command that renders the manifests.
    pub fn reasons(&self) -> Vec<String> {
        self.0.iter().map(|(why, places)| sentence(*why, places)).collect()
    }
}

fn sentence(why: Aside, places: &SkippedPlaces) -> String {
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
            "{} in {named}: use helm template DIR | {}",
            of("unrendered Helm template", "unrendered Helm templates"),
            own("check --manifests -")
        ),
        Aside::Template => {
            format!("{} at {named}: pass the rendered output", of("unrendered template", "unrendered templates"))
        }
        Aside::Program => format!(
            "{} with Linkerd settings in Jsonnet or CUE, {named}: pass the rendered output",
            of("file", "files")
        ),
        Aside::Kustomization => format!(
            "changes that {} (patches, names, labels, several namespaces), in {named}: use kustomize build \
             DIR | {}",
            of("kustomization makes to its objects", "kustomizations make to their objects"),
            own("check --manifests -")
        ),
        Aside::Placeholder => {
            format!("{} with a placeholder, {named}: substitute the value first", of("object", "objects"))
        }
        Aside::Environments => format!(
            "{} with different content in several folders, in {named}: check one folder at a time",
            of("object", "objects")
        ),
        Aside::Link => {
            format!("{} without Kubernetes objects, {named}: skipped", of("link to a file", "links to files"))
        }
        Aside::UnknownKind => {
            format!(
                "{}, which the API server rejects: {named}",
                of("object of an unknown kind", "objects of unknown kinds")
            )
        }
        Aside::OtherKind => format!(
            "{} of another kind with pod specs, or with annotations or labels of Linkerd: {named}",
            of("object", "objects")
        ),
        Aside::Encrypted => {
            format!("{} encrypted by SOPS, {named}: run sops --decrypt first", of("object", "objects"))
        }
    }
}

/// Whether an unparsable text looks like a template: Helm, Jinja and Go use `{{`, Flux and envsubst `${NAME}`.
pub fn is_template(text: &[u8]) -> bool {
    let named = |at: usize| text.get(at + 2).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    memmem::find(text, b"{{").is_some() || memmem::find_iter(text, b"${").any(named)
}

/// Whether an unparsable text was meant to contain Kubernetes objects rather than data of another tool.
pub fn is_manifest(text: &[u8]) -> bool {
    let begins = |line: &[u8]| {
        // Deeper nesting means text inside a file of another tool.
        let deep = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count() > 4;
        let outermost = line.starts_with(b"kind:");
        let line = line.trim_ascii_start();
        let line = line.strip_prefix(b"- ").or_else(|| line.strip_prefix(b"{")).unwrap_or(line);
        let key = |key: &[u8]| line.trim_ascii_start().starts_with(key);
        key(b"\"apiVersion\"") || (key(b"apiVersion:") && !deep) || outermost
    };
    text.split(|byte| *byte == b'\n').any(begins)
}

/// Reason why an object of manifests is not filed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// It cannot be applied as it is.
    SetAside(Aside),
    /// It cannot be read, for this reason; the field and its error if the value has the wrong type.
    Broken(String, Option<(String, String)>),
}

/// Reason why an object is not filed, if any.
pub fn unfit(json: &[u8], kind: Kind) -> Option<Unfit> {
    let object: Value = serde_json::from_slice(json).ok()?;
    if object["sops"].is_object() {
        return Some(Unfit::SetAside(Aside::Encrypted));
    }
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
    let namespace = if kind.info().namespaced { namespace } else { "" };
    let templated = names::refused(NameRule::of_kind(kind.info().kind), namespace, name).is_some()
        || is_template(name.as_bytes())
        || has_placeholder(&object);
    if templated {
        return Some(Unfit::SetAside(Aside::Placeholder));
    }
    let why = kind.store().push(json, rule(kind)).err()?.to_string();
    // An object that is unreadable because of a placeholder may be valid once the value is substituted.
    Some(match is_template(json) {
        true => Unfit::SetAside(Aside::Placeholder),
        false => Unfit::Broken(why, mistyped(kind, json)),
    })
}

/// Whether a Linkerd key has a placeholder as its value, at any depth.
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
