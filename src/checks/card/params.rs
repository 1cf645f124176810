//! Parameters: thresholds of a check that an operator can set. A card declares them with their unit; this file parses
//! and describes values.

use std::collections::BTreeMap;
use std::fmt;

use jiff::SignedDuration;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::Front;
use crate::nearest::closest;

/// A parameter of a built-in check: a whole number with a unit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Default value.
    pub default: i64,
    pub unit: Unit,
    /// What it controls, as a phrase.
    pub means: String,
    /// Minimum value.
    #[serde(default = "one")]
    pub least: i64,
    /// Maximum value.
    #[serde(default = "many")]
    pub most: i64,
}

/// Unit of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    Seconds,
    Minutes,
    Hours,
    Days,
    Percent,
    /// A number of things: pods, restarts.
    Number,
}

fn one() -> i64 {
    1
}

/// For days more than 27 years: every time stays representable.
fn many() -> i64 {
    10_000
}

impl Unit {
    /// A value with its unit: `60 days`, `30%`, `3`.
    pub fn with_unit(self, number: i64) -> String {
        let word = match self {
            Unit::Seconds => "second",
            Unit::Minutes => "minute",
            Unit::Hours => "hour",
            Unit::Days => "day",
            Unit::Percent => return format!("{number}%"),
            Unit::Number => return number.to_string(),
        };
        format!("{number} {word}{}", if number == 1 { "" } else { "s" })
    }

    /// A value as a duration, for units of time.
    pub fn span(self, number: i64) -> SignedDuration {
        let seconds = match self {
            Unit::Seconds | Unit::Percent | Unit::Number => 1,
            Unit::Minutes => 60,
            Unit::Hours => 3600,
            Unit::Days => 24 * 3600,
        };
        SignedDuration::from_secs(number.saturating_mul(seconds))
    }

    fn kind(self) -> &'static str {
        match self {
            Unit::Seconds => "a whole number of seconds",
            Unit::Minutes => "a whole number of minutes",
            Unit::Hours => "a whole number of hours",
            Unit::Days => "a whole number of days",
            Unit::Percent => "a whole number of percent",
            Unit::Number => "a whole number",
        }
    }
}

impl Param {
    /// Parses a value.
    ///
    /// # Errors
    /// It has another type or is out of range; in words.
    fn read(&self, name: &str, written: &str) -> Result<i64, String> {
        let number: i64 =
            written.parse().map_err(|_| format!("{name} must be {}, not {written:?}", self.unit.kind()))?;
        match (self.least..=self.most).contains(&number) {
            true => Ok(number),
            false => Err(format!("{name} must be {} from {} to {}", self.unit.kind(), self.least, self.most)),
        }
    }
}

/// A parameter for display and JSON, of a built-in check or one of your own.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown<'a> {
    pub name: &'a str,
    /// Default value.
    pub default: Value,
    /// Its unit; unknown for your own checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Minimum and maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(i64, i64)>,
    /// What it controls; unknown for your own checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub means: Option<&'a str>,
}

impl Shown<'_> {
    /// The default in words: `60 days`.
    pub fn default_in_words(&self) -> String {
        match (self.unit, &self.default) {
            (Some(unit), Value::Number(number)) => unit.with_unit(number.as_i64().unwrap_or_default()),
            (_, Value::String(text)) => text.clone(),
            (_, other) => other.to_string(),
        }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: default {}", self.name, self.default_in_words())?;
        self.means.map_or(Ok(()), |means| write!(f, "; {means}"))
    }
}

impl Front {
    /// Its parameters, by name.
    pub fn parameters(&self) -> Vec<Shown<'_>> {
        let written = self.params.iter().map(|(name, param)| Shown {
            name,
            default: param.default.into(),
            unit: Some(param.unit),
            range: Some((param.least, param.most)),
            means: Some(&param.means),
        });
        let expressed = self.rule.iter().flat_map(|rule| &rule.params).map(|(name, default)| Shown {
            name,
            default: default.clone(),
            unit: None,
            range: None,
            means: None,
        });
        written.chain(expressed).collect()
    }

    /// Parses a value for a parameter that the card declares with a unit.
    ///
    /// # Errors
    /// No parameter has that name, or the value is invalid; the error is a sentence.
    pub fn parameter(&self, name: &str, written: &str) -> Result<Value, String> {
        let Some(param) = self.params.get(name) else { return Err(none_of_the_name(name, &self.params)) };
        param.read(name, written).map(Value::from)
    }
}

/// The error for an unknown parameter, with a suggestion.
pub fn none_of_the_name<T>(name: &str, known: &BTreeMap<String, T>) -> String {
    if known.is_empty() {
        return "the check has no parameters".to_owned();
    }
    let names = || known.keys().map(String::as_str);
    match closest(name, names()) {
        Some(near) => format!("the check has no parameter {name}; did you mean {near}?"),
        None => {
            format!("the check has no parameter {name}; it has {}", names().collect::<Vec<_>>().join(", "))
        }
    }
}

/// A map with unique keys.
pub(super) fn unique_keys<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Value>, D::Error> {
    struct Once;
    impl<'de> Visitor<'de> for Once {
        type Value = BTreeMap<String, Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("values by name")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut values = BTreeMap::new();
            while let Some((name, value)) = map.next_entry::<String, Value>()? {
                if values.contains_key(&name) {
                    return Err(serde::de::Error::custom(format!("{name} occurs twice")));
                }
                values.insert(name, value);
            }
            Ok(values)
        }
    }
    deserializer.deserialize_map(Once)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_must_have_type_and_range() {
        let days = Param {
            default: 60,
            unit: Unit::Days,
            means: "warn this long before expiry".to_owned(),
            least: 1,
            most: 10_000,
        };
        assert_eq!(days.read("days", "30"), Ok(30));
        for wrong in ["30.5", "true", "soon", "", "30d", "99999999999999999999"] {
            let said = days.read("days", wrong);
            assert!(
                said.as_ref().is_err_and(|said| said.starts_with("days must be a whole number of days")),
                "{said:?}"
            );
        }
        for wrong in ["0", "-1", "10001"] {
            assert_eq!(days.read("days", wrong), Err("days must be a whole number of days from 1 to 10000".to_owned()));
        }
    }

    #[test]
    fn numbers_have_their_unit() {
        for (unit, number, said) in [
            (Unit::Days, 1, "1 day"),
            (Unit::Minutes, 5, "5 minutes"),
            (Unit::Percent, 30, "30%"),
            (Unit::Number, 3, "3"),
        ] {
            assert_eq!(unit.with_unit(number), said);
        }
        assert_eq!(Unit::Hours.span(2), SignedDuration::from_hours(2));
    }
}
