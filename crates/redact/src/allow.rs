//! Fields of objects that are kept, from `redaction.yaml`, as rules that are applied field by field. A field is kept if
//! it is known to contain names, numbers, enumerations, versions or sentences of Kubernetes or Linkerd; even there,
//! secrets are removed by their shape. Text in other fields is replaced; keys, lists and types stay.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use super::memo::Memo;
use super::remote::KUBECONFIG;
use super::{free_text, keys, name, text};
use crate::annotations::{ARGO_CD_INSTANCE, ARGO_CD_TRACKING, HELM_NAMESPACE, HELM_RELEASE, REVISION, may_be_linkerds};
use crate::knowledge::{Field, Fields, KeyKind, Knowledge, META, Redaction, Sort, ValueType};
use crate::names::is_subdomain;

/// Rule for the content of a field.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// Unknown: texts are replaced.
    Other,
    /// A version, a time, a command.
    Text,
    /// The name of an object, a port, a host or a key.
    Object,
    /// The value of a label.
    Label,
    /// An image.
    Image,
    /// A selector of Calico.
    Selectors,
    /// Free text of another program: known harmless parts are kept.
    Sentence,
    /// One word: an enumeration, a quantity, a number written as text; or a short number with units.
    Word,
    /// Certificates: PEM, or PEM in base64. Other content is removed.
    Certificates,
    /// A checksum of public data.
    Checksum,
    /// A name; tokens that look random are replaced.
    Name,
    /// A path of requests; segments that look random are replaced.
    Path,
    /// Host names, addresses, mesh identities.
    Address,
    /// The id of a container.
    Identifier,
    /// The value of a header: replaced.
    Header,
    /// A value in the form that a tool writes: any other was written by a person.
    Written(WrittenForm),
    /// The value of a key of Linkerd, by its type.
    Setting(&'static ValueType),
    /// A label whose name may announce a secret: words of messages are kept.
    Hinted,
    /// Facts about a kubeconfig, as this program writes them.
    Access,
    /// Name of an environment variable.
    Variable,
    /// Value of an environment variable; the container's rule decides which are kept.
    Env,
    /// Labels: names by name.
    Labels,
    /// Annotations: those that may be Linkerd's, and those of known tools.
    Annotations,
    /// The same rule for every key.
    Map(&'static Rule),
    /// Keep everything: it was redacted before.
    Clean,
    /// Fields by name.
    Fields(&'static Names),
}

/// The form of an annotation that a tool writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenForm {
    /// Digits.
    Number,
    /// The name of an object.
    Name,
    /// `APPLICATION:GROUP/KIND:NAMESPACE/NAME`, with an empty group or namespace if there is none.
    Tracking,
}

impl WrittenForm {
    /// Whether a value has the form.
    pub(super) fn fits(self, value: &str) -> bool {
        // Names of roles and applications may have colons.
        let is_name = |name: &str| !name.is_empty() && name.split([':', '_']).all(is_subdomain);
        match self {
            WrittenForm::Number => (1..=10).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit()),
            WrittenForm::Name => is_subdomain(value),
            WrittenForm::Tracking => {
                let mut parts = value.splitn(3, ':');
                let (Some(application), Some(kind), Some(object)) = (parts.next(), parts.next(), parts.next()) else {
                    return false;
                };
                let is_kind = kind.split_once('/').is_some_and(|(group, kind)| {
                    let is_plain = kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
                    (group.is_empty() || is_subdomain(group)) && !kind.is_empty() && is_plain
                });
                let is_object = object.split_once('/').is_some_and(|(namespace, name)| {
                    (namespace.is_empty() || is_subdomain(namespace)) && is_name(name)
                });
                is_name(application) && is_kind && is_object
            }
        }
    }
}

/// Fields by name, in a compact form: every key of every object is looked up here.
#[derive(Debug)]
pub struct Names([Vec<(&'static str, Rule)>; Names::ROWS]);

impl Names {
    const ROWS: usize = 64;

    fn leak(fields: Vec<(&'static str, Rule)>) -> &'static Names {
        let mut rows = [const { Vec::new() }; Names::ROWS];
        for (name, rule) in fields {
            rows[Names::row(name)].push((name, rule));
        }
        Box::leak(Box::new(Names(rows)))
    }

    #[inline]
    fn row(name: &str) -> usize {
        let byte = |at: Option<&u8>| at.map_or(0, |byte| usize::from(*byte));
        let bytes = name.as_bytes();
        (bytes.len() * 7 + byte(bytes.first()) * 3 + byte(bytes.last())) % Names::ROWS
    }

    #[inline]
    fn get(&self, name: &str) -> Option<&Rule> {
        self.0[Names::row(name)].iter().find(|(known, _)| *known == name).map(|(_, rule)| rule)
    }
}

static OTHER: Rule = Rule::Other;
static LABEL: Rule = Rule::Label;
static CHECKSUM: Rule = Rule::Checksum;
static NAME: Rule = Rule::Name;
static NUMBER: Rule = Rule::Written(WrittenForm::Number);
static OBJECT_NAME: Rule = Rule::Written(WrittenForm::Name);
static TRACKING: Rule = Rule::Written(WrittenForm::Tracking);
static HINTED: Rule = Rule::Hinted;
static ACCESS: Rule = Rule::Access;
/// For objects that were redacted before.
pub static CLEAN: Rule = Rule::Clean;

impl Rule {
    /// The rule for a part of it.
    #[inline]
    pub(super) fn child(&'static self, key: &str) -> &'static Rule {
        match self {
            Rule::Fields(fields) => fields.get(key).unwrap_or(&OTHER),
            Rule::Map(rule) => rule,
            Rule::Clean => &CLEAN,
            Rule::Labels => LABELS.with(|known| known.known(key, |key| Some(of_label(key)))).unwrap_or(&OTHER),
            Rule::Annotations => {
                ANNOTATIONS.with(|known| known.known(key, |key| Some(of_annotation(key)))).unwrap_or(&OTHER)
            }
            Rule::Other
            | Rule::Text
            | Rule::Object
            | Rule::Label
            | Rule::Image
            | Rule::Selectors
            | Rule::Sentence
            | Rule::Word
            | Rule::Certificates
            | Rule::Checksum
            | Rule::Name
            | Rule::Path
            | Rule::Address
            | Rule::Identifier
            | Rule::Header
            | Rule::Written(_)
            | Rule::Setting(_)
            | Rule::Hinted
            | Rule::Access
            | Rule::Variable
            | Rule::Env => &OTHER,
        }
    }

    /// A key of a map with this rule. Names of fields are few; others are chosen by users, and may be secrets.
    #[inline]
    pub(super) fn key<'a>(&self, key: &'a str) -> Cow<'a, str> {
        match self {
            Rule::Fields(_) | Rule::Clean => Cow::Borrowed(key),
            Rule::Labels | Rule::Annotations if name::is_key(key) => Cow::Borrowed(key),
            _ => text::text(key),
        }
    }
}

thread_local! {
    /// Cache for annotations.
    static ANNOTATIONS: Memo<Option<&'static Rule>> = Memo::with_slots(256);
    /// Cache for labels.
    static LABELS: Memo<Option<&'static Rule>> = Memo::with_slots(256);
}

/// The rule of an annotation: known keys by the type of their value, others by their name and the form of the
/// value.
fn of_annotation(key: &str) -> &'static Rule {
    match key {
        // A checksum by Linkerd of public data.
        _ if key.starts_with("linkerd.io/") && key.ends_with("sha256") => &CHECKSUM,
        KUBECONFIG => &ACCESS,
        REVISION => &NUMBER,
        HELM_RELEASE | HELM_NAMESPACE | ARGO_CD_INSTANCE => &OBJECT_NAME,
        ARGO_CD_TRACKING => &TRACKING,
        _ if data().annotations.iter().any(|known| known == key) => &NAME,
        _ if !may_be_linkerds(key) => &OTHER,
        _ => known(key, KeyKind::Annotation).unwrap_or_else(|| rule_for(key, &NAME)),
    }
}

fn of_label(key: &str) -> &'static Rule {
    known(key, KeyKind::Label).map_or_else(|| rule_for(key, &LABEL), |_| &LABEL)
}

/// The rule for the values of a key of Linkerd.
fn known(key: &str, kind: KeyKind) -> Option<&'static Rule> {
    static RULES: OnceLock<HashMap<&str, Rule>> = OnceLock::new();
    let keys = Knowledge::embedded().annotations();
    // Prefix keys are handled by their name.
    let row = keys.get_as(key, kind).or_else(|| keys.get(key)).filter(|row| !row.is_prefix())?;
    let rules =
        RULES.get_or_init(|| keys.keys().iter().map(|row| (row.key.as_str(), Rule::Setting(&row.value))).collect());
    rules.get(row.key.as_str())
}

/// The rule of a key by the name after its domain: nothing is kept if it announces a secret.
fn rule_for(key: &str, otherwise: &'static Rule) -> &'static Rule {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    match () {
        () if keys::is_secret_in_text(name) => &OTHER,
        () if free_text::is_sensitive(name) => &HINTED,
        () => otherwise,
    }
}

fn data() -> &'static Redaction {
    Knowledge::embedded().redaction()
}

/// Keys of CNI configurations with names, addresses, paths or enumerations as texts.
pub(super) fn configuration() -> &'static [String] {
    &data().cni_configuration
}

/// Keys of node snapshot files that its collector writes itself.
pub(super) fn facts() -> &'static [String] {
    &data().node_facts
}

/// Keys among them with sentences as texts.
pub(super) fn sentences() -> &'static [String] {
    &data().node_sentences
}

/// The rule of a kind, from its text (see [`Redaction::fields`]); kept for the process.
///
/// # Errors
/// The text is invalid, or refers to a field group that is not in `redaction.yaml`.
pub fn rule(passes: &str) -> Result<Rule, String> {
    let read: &'static Fields = Box::leak(Box::new(data().fields(passes)?));
    let parts = parts();
    let mut fields = vec![("apiVersion", Rule::Word), ("kind", Rule::Word)];
    fields.extend(listed(read, parts));
    if fields.iter().all(|(name, _)| *name != "metadata") {
        fields.push(("metadata", parts.get(META).copied().unwrap_or(Rule::Other)));
    }
    Ok(Rule::Fields(Names::leak(fields)))
}

/// The rule for objects of unknown kinds.
pub fn unknown() -> &'static Rule {
    static UNKNOWN: OnceLock<Rule> = OnceLock::new();
    UNKNOWN.get_or_init(|| rule("").unwrap_or(Rule::Other))
}

/// Field groups that several kinds share, created once per process.
fn parts() -> &'static HashMap<&'static str, Rule> {
    static PARTS: OnceLock<HashMap<&str, Rule>> = OnceLock::new();
    PARTS.get_or_init(|| {
        let mut parts = HashMap::new();
        for (name, field) in &data().parts.0 {
            let rule = made(field, &parts);
            parts.insert(name.as_str(), rule);
        }
        parts
    })
}

fn made(field: &'static Field, parts: &HashMap<&str, Rule>) -> Rule {
    match field {
        Field::Holds(Sort::Text) => Rule::Text,
        Field::Holds(Sort::Object) => Rule::Object,
        Field::Holds(Sort::Label) => Rule::Label,
        Field::Holds(Sort::Image) => Rule::Image,
        Field::Holds(Sort::Selectors) => Rule::Selectors,
        Field::Holds(Sort::Sentence) => Rule::Sentence,
        Field::Holds(Sort::Word) => Rule::Word,
        Field::Holds(Sort::Certificates) => Rule::Certificates,
        Field::Holds(Sort::Checksum) => Rule::Checksum,
        Field::Holds(Sort::Environment) => Rule::Env,
        Field::Holds(Sort::Variable) => Rule::Variable,
        Field::Holds(Sort::Name) => Rule::Name,
        Field::Holds(Sort::Path) => Rule::Path,
        Field::Holds(Sort::Address) => Rule::Address,
        Field::Holds(Sort::Id) => Rule::Identifier,
        Field::Holds(Sort::Header) => Rule::Header,
        Field::Holds(Sort::Labels) => Rule::Labels,
        Field::Holds(Sort::Annotations) => Rule::Annotations,
        // The loader rejects unknown field groups; unknown fields are replaced.
        Field::Part(name) => parts.get(name.as_str()).copied().unwrap_or(Rule::Other),
        Field::Each(each) => Rule::Map(Box::leak(Box::new(made(each, parts)))),
        Field::Fields(fields) => Rule::Fields(Names::leak(listed(fields, parts))),
    }
}

fn listed(fields: &'static Fields, parts: &HashMap<&str, Rule>) -> Vec<(&'static str, Rule)> {
    fields.0.iter().map(|(name, field)| (name.as_str(), made(field, parts))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotations::MANAGERS;

    #[test]
    fn manager_annotations_are_kept_in_the_form_of_the_tool() {
        let fits = |key: &str, value: &str| match Rule::Annotations.child_of(key) {
            Rule::Written(form) => form.fits(value),
            other => panic!("{key}: {other:?}"),
        };
        for key in MANAGERS.into_iter().chain([REVISION]) {
            for other in ["", "pword=Turtlewalnut7993#", "velvet piano", "a:b", "hunter2 is the password"] {
                assert!(!fits(key, other), "{key}: {other:?}");
            }
        }
        for (key, value) in [
            (REVISION, "17"),
            (HELM_RELEASE, "linkerd-control-plane"),
            (HELM_NAMESPACE, "linkerd"),
            (ARGO_CD_INSTANCE, "mesh.prod"),
            (ARGO_CD_TRACKING, "mesh:apps/Deployment:linkerd/linkerd-identity"),
            (ARGO_CD_TRACKING, "argocd_mesh:/Service:linkerd/linkerd-dst"),
            (ARGO_CD_TRACKING, "mesh:rbac.authorization.k8s.io/ClusterRole:/linkerd-linkerd-policy"),
            (ARGO_CD_TRACKING, "mesh:rbac.authorization.k8s.io/ClusterRole:kube-system/system:auth-delegator"),
        ] {
            assert!(fits(key, value), "{key}: {value}");
        }
        assert!(!fits(REVISION, "12345678901") && !fits(REVISION, "v17"));
    }

    impl Rule {
        fn child_of(self, key: &str) -> &'static Rule {
            Box::leak(Box::new(self)).child(key)
        }
    }
}
