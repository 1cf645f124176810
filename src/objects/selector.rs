//! Label selectors.

use std::fmt;

use serde::Deserialize;

use super::meta::nullable;
use super::texts::Texts;

/// A label selector.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// All of these.
    #[serde(deserialize_with = "nullable")]
    pub match_labels: Texts,
    /// And all of these.
    #[serde(deserialize_with = "nullable")]
    pub match_expressions: Vec<LabelRequirement>,
}

impl LabelSelector {
    /// A selector as kubectl takes it on its command line: `app=web,tier!=db`, `app in (a,b)`, `app`, `!app`. `None`: it is
    /// none, or empty.
    pub fn parse(text: &str) -> Option<LabelSelector> {
        let mut depth = 0;
        let parts = text.split(|c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        });
        let match_expressions = parts.map(|part| requirement(part.trim())).collect::<Option<Vec<_>>>()?;
        Some(LabelSelector { match_expressions, ..LabelSelector::default() })
    }

    /// Whether labels satisfy it, by the API server's rules: `NotIn` holds for a missing key, an empty selector for
    /// everything, an operator nobody knows for nothing.
    pub fn matches(&self, labels: &Texts) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|r| {
                let value = labels.get(&r.key);
                match r.operator.as_str() {
                    "In" => value.is_some_and(|v| r.values.contains(v)),
                    "NotIn" => value.is_none_or(|v| !r.values.contains(v)),
                    "Exists" => value.is_some(),
                    "DoesNotExist" => value.is_none(),
                    _ => false,
                }
            })
    }
}

/// One requirement of a selector.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct LabelRequirement {
    /// Label key.
    pub key: String,
    /// In, NotIn, Exists or DoesNotExist.
    pub operator: String,
    /// For In and NotIn.
    #[serde(deserialize_with = "nullable")]
    pub values: Vec<String>,
}
impl fmt::Display for LabelSelector {
    /// As kubectl takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels = self.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
        let expressions = self.match_expressions.iter().map(|one| {
            let LabelRequirement { key, operator, values } = one;
            match (operator.as_str(), values.as_slice()) {
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

/// One of the parts of a selector as kubectl takes it.
fn requirement(text: &str) -> Option<LabelRequirement> {
    let is_key = |key: &str| {
        !key.is_empty()
            && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
    };
    let of = |key: &str, operator: &str, values: Vec<String>| {
        let key = key.trim();
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
