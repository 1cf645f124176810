//! Custom resources that only cards of users read. The card describes the kind, which is registered before any request.
//! Only text fields that cards name are kept, after the usual search for secrets.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{PoisonError, RwLock};

use serde::Deserialize;

use super::meta::Meta;
use super::{Kind, KindInfo, object};
use crate::redact::{self, Rule};

/// All registered kinds, with their redaction rules.
static KNOWN: RwLock<Vec<(Foreign, Passing)>> = RwLock::new(Vec::new());

/// A kind that a card describes.
#[derive(Clone, Copy)]
pub struct Foreign(&'static KindInfo);

/// Redaction rules of a kind.
#[derive(Default)]
struct Passing {
    /// Text fields to keep, as a tree of names.
    reads: Reads,
    /// Whether its pod template is redacted like that of a workload.
    makes_pods: bool,
    /// The parsed rule, after first use; fixed from then on.
    rule: Option<&'static Rule>,
}

/// A tree of field names; leaves are text fields.
#[derive(Debug, Clone, Default, PartialEq)]
struct Reads(BTreeMap<String, Reads>);

/// Description of a kind on a card.
#[derive(Debug, Clone, Copy)]
pub struct Description<'a> {
    /// API group, which must contain a dot.
    pub group: &'a str,
    /// The version to request.
    pub version: &'a str,
    /// As in manifests.
    pub kind: &'a str,
    /// As in URLs.
    pub plural: &'a str,
    /// Whether it is namespaced.
    pub namespaced: bool,
    /// Text fields that the card reads: `spec.issuerRef.name`; in lists, for every element.
    pub reads: &'a [String],
    /// Whether its `spec.template` is a pod template, redacted like that of a workload.
    pub makes_pods: bool,
}

/// An object of such a kind.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ForeignObject {
    /// Name, namespace, labels.
    pub metadata: Meta,
}

object!(ForeignObject);

impl Foreign {
    /// Registers a kind, or finds an earlier registration.
    ///
    /// # Errors
    /// Another card describes it differently, or a field cannot be kept; in words.
    pub fn register(said: Description<'_>) -> Result<Kind, String> {
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        let same = |(one, _): &(Foreign, Passing)| {
            one.0.group == said.group && (one.0.plural == said.plural || one.0.kind == said.kind)
        };
        if let Some((foreign, passing)) = known.iter_mut().find(|one| same(one)) {
            let info = foreign.0;
            let of_it = (info.version, info.kind, info.plural, info.namespaced);
            if of_it != (said.version, said.kind, said.plural, said.namespaced) {
                return Err(format!(
                    "another card reads {} at {}, kind {}; one run reads it in one way",
                    Kind::Foreign(*foreign).resource(),
                    info.version,
                    info.kind
                ));
            }
            passing.add(said)?;
            return Ok(Kind::Foreign(*foreign));
        }
        let mut passing = Passing::default();
        passing.add(said)?;
        let leaked = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let (group, version) = (leaked(said.group), leaked(said.version));
        let (kind, plural) = (leaked(said.kind), leaked(said.plural));
        let info = match said.namespaced {
            true => KindInfo::namespaced(group, version, kind, plural),
            false => KindInfo::of_cluster(group, version, kind, plural),
        };
        let foreign = Foreign(Box::leak(Box::new(info)));
        known.push((foreign, passing));
        Ok(Kind::Foreign(foreign))
    }

    /// All registered kinds.
    pub(super) fn all() -> Vec<Foreign> {
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
        known.iter().map(|(foreign, _)| *foreign).collect()
    }

    /// Its description.
    pub const fn info(self) -> &'static KindInfo {
        self.0
    }

    /// Its redaction rules.
    pub(super) fn rule(self) -> &'static Rule {
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter_mut().find(|(foreign, _)| *foreign == self);
        found.map_or_else(redact::unknown, |(_, passing)| passing.rule())
    }
}

impl Passing {
    /// Adds text fields to keep.
    fn add(&mut self, said: Description<'_>) -> Result<(), String> {
        let mut all = self.reads.clone();
        for path in said.reads {
            all.add(path)?;
        }
        let makes_pods = self.makes_pods || said.makes_pods;
        if makes_pods {
            all.add("spec.template")?;
        }
        if (&all, makes_pods) != (&self.reads, self.makes_pods) && self.rule.is_some() {
            return Err("objects of its kind were read already, with fewer fields".to_owned());
        }
        (self.reads, self.makes_pods) = (all, makes_pods);
        Ok(())
    }

    fn rule(&mut self) -> &'static Rule {
        let made = || -> &'static Rule {
            Box::leak(Box::new(redact::rule(&self.reads.passes(self.makes_pods)).unwrap_or(Rule::Other)))
        };
        self.rule.get_or_insert_with(made)
    }
}

impl Reads {
    fn add(&mut self, path: &str) -> Result<(), String> {
        let steps: Vec<&str> = path.split('.').collect();
        let is_name =
            |step: &&str| !step.is_empty() && step.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if !steps.iter().all(is_name) {
            return Err(format!("{path:?} is not a path of fields such as spec.issuerRef.name"));
        }
        if matches!(steps[0], "metadata" | "apiVersion" | "kind") {
            return Err(format!("{path}: names, labels and the annotations of Linkerd are read without being named"));
        }
        if let Some(secret) = steps.iter().find(|step| redact::names_a_secret(step)) {
            return Err(format!("{path}: no expression sees what {secret:?} may hold"));
        }
        let mut at = self;
        for step in steps {
            at = at.0.entry(step.to_owned()).or_default();
        }
        Ok(())
    }

    /// In the syntax of `redaction.yaml`.
    fn passes(&self, makes_pods: bool) -> String {
        match self.0.is_empty() {
            true => String::new(),
            false => self.fields(if makes_pods { &["spec", "template"] } else { &[] }),
        }
    }

    /// `template`: the path from here to a pod template.
    fn fields(&self, template: &[&str]) -> String {
        let field = |(name, below): (&String, &Reads)| {
            let on_the_way = template.first().is_some_and(|first| first == name);
            match (on_the_way, template) {
                (true, [_]) => format!("{name:?}: template"),
                _ if below.0.is_empty() => format!("{name:?}: text"),
                (true, [_, rest @ ..]) => format!("{name:?}: {}", below.fields(rest)),
                _ => format!("{name:?}: {}", below.fields(&[])),
            }
        };
        format!("{{{}}}", self.0.iter().map(field).collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.info().plural, self.info().group)
    }
}

impl Foreign {
    fn name(self) -> (&'static str, &'static str) {
        (self.info().group, self.info().plural)
    }
}

impl PartialEq for Foreign {
    fn eq(&self, other: &Foreign) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Foreign {}

impl PartialOrd for Foreign {
    fn partial_cmp(&self, other: &Foreign) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Foreign {
    fn cmp(&self, other: &Foreign) -> Ordering {
        self.name().cmp(&other.name())
    }
}

impl Hash for Foreign {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described<'a>(plural: &'a str, kind: &'a str, reads: &'a [String]) -> Description<'a> {
        Description { group: "example.com", version: "v1", kind, plural, namespaced: true, reads, makes_pods: false }
    }

    #[test]
    fn registered_kind_is_known_by_every_name() {
        let kind = Foreign::register(described("pumps", "Pump", &[])).unwrap();
        assert_eq!("pumps.example.com".parse::<Kind>(), Ok(kind));
        assert_eq!(Kind::of_manifest("example.com/v1alpha1", "Pump"), Some(kind));
        assert_eq!(kind.resource(), "pumps.example.com");
        assert!("pumps.example.org".parse::<Kind>().is_err());
    }

    #[test]
    fn cards_of_one_kind_must_agree() {
        let (one, other) = (["spec.a.b".to_owned()], ["spec.a.c".to_owned(), "spec.d".to_owned()]);
        let kind = Foreign::register(described("valves", "Valve", &one)).unwrap();
        assert_eq!(Foreign::register(described("valves", "Valve", &other)), Ok(kind));
        let Kind::Foreign(foreign) = kind else { panic!("{kind}") };
        let mut reads = Reads::default();
        one.iter().chain(&other).for_each(|path| reads.add(path).unwrap());
        assert_eq!(reads.passes(false), r#"{"spec": {"a": {"b": text, "c": text}, "d": text}}"#);
        reads.add("spec.template.spec.nodeName").expect("a path");
        let passes = reads.passes(true);
        assert_eq!(passes, r#"{"spec": {"a": {"b": text, "c": text}, "d": text, "template": template}}"#);
        assert!(matches!(foreign.rule(), Rule::Fields(_)));
        let unlike = Description { version: "v2", ..described("valves", "Valve", &[]) };
        assert!(Foreign::register(unlike).unwrap_err().contains("another card reads valves.example.com at v1"));
        let late = ["spec.e".to_owned()];
        assert!(Foreign::register(described("valves", "Valve", &late)).unwrap_err().contains("already"));
    }

    #[test]
    fn possible_secret_fields_are_rejected() {
        for path in ["spec.password", "data", "spec.auth.token", "stringData.x", "metadata.name", "spec..x", ""] {
            let path = [path.to_owned()];
            assert!(Foreign::register(described("locks", "Lock", &path)).is_err(), "{path:?}");
        }
        assert!("locks.example.com".parse::<Kind>().is_err(), "a kind that was refused is not known");
    }
}
