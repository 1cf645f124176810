//! Label selectors.

use std::fmt;

use std::ops::Deref;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::meta::nullable;
use super::texts::Texts;
use crate::names::{is_label_key, is_label_value};
use crate::redact::is_marked;

/// The label with the name of a namespace, which the API server sets.
const OWN_NAME: &str = "kubernetes.io/metadata.name";

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Required labels.
    #[serde(deserialize_with = "nullable")]
    pub match_labels: MatchLabels,
    /// Further requirements.
    #[serde(deserialize_with = "nullable")]
    pub match_expressions: Vec<LabelRequirement>,
}

impl LabelSelector {
    /// Parses a selector in kubectl's syntax: `app=web,tier!=db`, `app in (a,b)`, `app`, `!app`. `None` if it is
    /// invalid or empty.
    pub fn parse(text: &str) -> Option<LabelSelector> {
        let mut depth = 0;
        let parts = text.split(|c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        });
        let match_expressions = parts.map(|part| requirement(part.trim())).collect::<Option<Vec<_>>>()?;
        Some(LabelSelector { match_expressions, ..LabelSelector::default() })
    }

    /// Whether labels match, by the API server's rules: `NotIn` matches a missing key, an empty selector everything, an
    /// unknown operator nothing.
    pub fn matches(&self, labels: &Texts) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|r| {
                let value = labels.get(&r.key);
                match r.operator.as_str() {
                    "In" => value.is_some_and(|v| r.lists(v)),
                    "NotIn" => value.is_none_or(|v| !r.lists(v)),
                    "Exists" => value.is_some(),
                    "DoesNotExist" => value.is_none(),
                    _ => false,
                }
            })
    }

    /// The labels that it requires, if it requires nothing else and they can be written again.
    pub fn only_labels(&self) -> Option<Vec<(&str, &str)>> {
        let is_simple = self.match_expressions.is_empty() && !self.is_redacted();
        let labels = || self.match_labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        is_simple.then(|| labels().collect())
    }

    /// The same of a selector of namespaces, if a namespace can be given them: the API server sets its name itself.
    pub fn only_labels_of_namespace(&self) -> Option<Vec<(&str, &str)>> {
        self.only_labels().filter(|labels| labels.iter().all(|(key, _)| *key != OWN_NAME))
    }

    /// Whether a key or a value of it was redacted, so that it cannot be written again.
    pub fn is_redacted(&self) -> bool {
        let labels = self.match_labels.iter().any(|(key, value)| is_marked(key) || is_marked(value));
        let listed = |one: &LabelRequirement| one.values.iter().flatten().any(|value| is_marked(value));
        labels || self.match_expressions.iter().any(|one| is_marked(&one.key) || listed(one))
    }

    /// Reason why Kubernetes' library rejects it, if it does. Schemas of Linkerd's kinds accept it.
    pub fn invalid(&self) -> Option<String> {
        if let Some(key) = &self.match_labels.no_text {
            return Some(format!("the value of {key} is not a string"));
        }
        let labels = self.match_labels.iter().map(|(key, value)| (key.as_ref(), value.as_str()));
        let expressions = self.match_expressions.iter().flat_map(|one| {
            let values = one.values.iter().flatten();
            values.map(|value| (one.key.as_str(), value.as_str())).chain([(one.key.as_str(), "")])
        });
        for (key, value) in labels.chain(expressions) {
            if !is_label_key(key) && !is_marked(key) {
                return Some(format!("{key:?} is not a valid label key"));
            }
            if !is_label_value(value) && !is_marked(value) {
                return Some(format!("{value:?} is not a valid value of the label {key}"));
            }
        }
        self.match_expressions.iter().find_map(|one| {
            let some = one.values.as_ref().is_some_and(|values| !values.is_empty());
            let (key, operator) = (&one.key, &one.operator);
            match (operator.as_str(), some) {
                ("In" | "NotIn", true) | ("Exists" | "DoesNotExist", false) => None,
                ("In" | "NotIn", false) => Some(format!("the operator {operator} of {key} needs values")),
                ("Exists" | "DoesNotExist", true) => Some(format!("the operator {operator} of {key} takes no values")),
                _ => Some(format!("{operator:?} is not an operator")),
            }
        })
    }

    /// Reason why no object can match it, by the rules of Linkerd's policy controller, if that follows from
    /// the selector alone. Schemas of Linkerd's kinds accept such selectors.
    pub fn matches_nothing_in_policy(&self) -> Option<String> {
        let is_value = |value: &str| is_label_value(value) || is_marked(value);
        let impossible = |key: &str, value: &str| match (is_label_key(key) || is_marked(key), is_value(value)) {
            (false, _) => Some(format!("{key:?} is not a valid label key")),
            (true, false) => Some(format!("{value:?} is not a valid value of a label")),
            (true, true) => None,
        };
        let by_label = self.match_labels.iter().find_map(|(key, value)| impossible(key, value));
        by_label.or_else(|| {
            self.match_expressions.iter().find_map(|one| {
                let LabelRequirement { key, operator, values } = one;
                match (operator.as_str(), values.as_deref()) {
                    ("In" | "NotIn", None) | ("In", Some([])) => {
                        Some(format!("the operator {operator} of {key} needs values"))
                    }
                    ("In", Some(values)) if values.iter().all(|value| impossible(key, value).is_some()) => {
                        impossible(key, values.first()?)
                    }
                    ("Exists", None) => impossible(key, ""),
                    ("Exists" | "DoesNotExist", Some(_)) => {
                        Some(format!("the operator {operator} of {key} takes no values"))
                    }
                    _ => None,
                }
            })
        })
    }

    /// Whether labels match, by the rules of Linkerd's policy controller: a requirement with missing or superfluous
    /// values matches nothing, and no schema rejects it.
    pub fn matches_in_policy(&self, labels: &Texts) -> bool {
        let is_legal = |one: &LabelRequirement| match one.operator.as_str() {
            "In" | "NotIn" => one.values.is_some(),
            _ => one.values.is_none(),
        };
        self.match_expressions.iter().all(is_legal) && self.matches(labels)
    }
}

/// Labels of a selector. Schemas of Linkerd's kinds accept any value here, such as a number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct MatchLabels {
    texts: Texts,
    /// A label whose value is not a text.
    pub no_text: Option<String>,
}

impl Deref for MatchLabels {
    type Target = Texts;

    fn deref(&self) -> &Texts {
        &self.texts
    }
}

impl<'de> Deserialize<'de> for MatchLabels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MatchLabels, D::Error> {
        struct Labels;
        impl<'de> Visitor<'de> for Labels {
            type Value = MatchLabels;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("labels")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MatchLabels, A::Error> {
                let (mut texts, mut no_text) = (Vec::new(), None);
                while let Some(key) = map.next_key::<String>()? {
                    match map.next_value()? {
                        LabelValue::Text(text) => texts.push((key, text)),
                        LabelValue::Other(IgnoredAny) => no_text = no_text.or(Some(key)),
                    }
                }
                Ok(MatchLabels { texts: texts.into_iter().collect(), no_text })
            }
        }
        deserializer.deserialize_map(Labels)
    }
}

/// The value of a label, as written.
#[derive(Deserialize)]
#[serde(untagged)]
enum LabelValue {
    Text(String),
    Other(IgnoredAny),
}

/// One requirement of a selector.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(default)]
pub struct LabelRequirement {
    /// Label key.
    pub key: String,
    /// In, NotIn, Exists or DoesNotExist.
    pub operator: String,
    /// For In and NotIn.
    pub values: Option<Vec<String>>,
}

impl LabelRequirement {
    /// Whether it has this value.
    pub fn lists(&self, value: &str) -> bool {
        self.values.iter().flatten().any(|listed| listed == value)
    }
}

impl fmt::Display for LabelSelector {
    /// In kubectl's syntax.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels = self.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
        let expressions = self.match_expressions.iter().map(|one| {
            let LabelRequirement { key, operator, values } = one;
            match (operator.as_str(), values.as_deref().unwrap_or_default()) {
                ("In", [value]) => format!("{key}={value}"),
                ("NotIn", [value]) => format!("{key}!={value}"),
                ("Exists", _) => key.clone(),
                ("DoesNotExist", _) => format!("!{key}"),
                (operator, values) => {
                    format!("{key} {} ({})", operator.to_ascii_lowercase(), values.join(","))
                }
            }
        });
        f.write_str(&labels.chain(expressions).collect::<Vec<_>>().join(","))
    }
}

/// One part of a selector in kubectl's syntax.
fn requirement(text: &str) -> Option<LabelRequirement> {
    let is_key = |key: &str| {
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
    };
    let of = |key: &str, operator: &str, values: Vec<String>| {
        let key = key.trim();
        let values = Some(values).filter(|values| !values.is_empty());
        is_key(key).then(|| LabelRequirement { key: key.to_owned(), operator: operator.to_owned(), values })
    };
    let listed = |values: &str| -> Option<Vec<String>> {
        let values = values.trim().strip_prefix('(')?.strip_suffix(')')?;
        Some(values.split(',').map(|value| value.trim().to_owned()).collect())
    };
    if let Some((key, values)) = text.split_once(" notin ") {
        return of(key, "NotIn", listed(values)?);
    }
    if let Some((key, values)) = text.split_once(" in ") {
        return of(key, "In", listed(values)?);
    }
    if let Some((key, value)) = text.split_once("!=") {
        return of(key, "NotIn", vec![value.trim().to_owned()]);
    }
    if let Some((key, value)) = text.split_once('=') {
        return of(key, "In", vec![value.trim_start_matches('=').trim().to_owned()]);
    }
    match text.strip_prefix('!') {
        Some(key) => of(key, "DoesNotExist", Vec::new()),
        None => of(text, "Exists", Vec::new()),
    }
}
