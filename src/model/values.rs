//! The chart values that the control plane was installed with, as the ConfigMap `linkerd-config` keeps them. Knows how
//! to look a value up by its path; which values there are and what they mean is the checks' business.

use serde_yaml::Value;

use super::objects::ConfigMap;
use crate::knowledge::ChartType;

/// The values, as YAML.
#[derive(Debug, Clone, PartialEq)]
pub struct Values(Value);

impl Values {
    /// The values in `linkerd-config`; `None` where it holds none, or none that can be read.
    pub fn of(config: &ConfigMap) -> Option<Values> {
        let values: Value = serde_yaml::from_str(config.data.get("values")?).ok()?;
        let some = values.as_mapping().is_some_and(|mapping| !mapping.is_empty());
        some.then_some(Values(values))
    }

    fn get(&self, path: &str) -> Option<&Value> {
        path.split('.').try_fold(&self.0, |value, key| value.get(key))
    }

    /// A boolean by its path, such as `proxy.nativeSidecar`.
    pub fn bool(&self, path: &str) -> Option<bool> {
        self.get(path)?.as_bool()
    }

    /// A whole number by its path, also where it was written as text.
    pub fn number(&self, path: &str) -> Option<i64> {
        let value = self.get(path)?;
        value.as_i64().or_else(|| value.as_str()?.parse().ok())
    }

    /// A text or number by its path, as the text it is written as.
    pub fn scalar(&self, path: &str) -> Option<String> {
        match self.get(path)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// A text by its path; empty texts count as absent, as they do in the charts.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.get(path)?.as_str().filter(|text| !text.is_empty())
    }

    /// What stands at a path, in words, where it cannot be read as what it has to be. Nothing at all can always be read.
    pub fn unfit(&self, path: &str, wanted: ChartType) -> Option<&'static str> {
        let value = self.get(path)?;
        let fits = match (wanted, value) {
            (_, Value::Null) => true,
            (ChartType::Map, value) => value.is_mapping(),
            (ChartType::Text, value) => !value.is_mapping() && !value.is_sequence(),
            // Who writes YAML of an older kind may mean a boolean by one of these words.
            (ChartType::Boolean, Value::String(text)) => {
                OLD_BOOLEANS.iter().any(|word| text.eq_ignore_ascii_case(word))
            }
            (ChartType::Boolean, value) => value.is_bool(),
            (ChartType::Count, value) => whole(value).is_some_and(|number| number >= 0.0),
            (ChartType::Integer, value) => whole(value).is_some(),
        };
        (!fits).then(|| match value {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => match wanted {
                ChartType::Count if whole(value).is_some() => "a negative number",
                ChartType::Count | ChartType::Integer => "a fraction",
                ChartType::Boolean | ChartType::Text | ChartType::Map => "a number",
            },
            Value::String(_) => "a text",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) | Value::Tagged(_) => "a map",
        })
    }
}

/// What YAML 1.1 calls booleans, beside true and false.
const OLD_BOOLEANS: [&str; 6] = ["y", "n", "yes", "no", "on", "off"];

/// A number without a fraction.
fn whole(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_path() {
        let text = "proxy: {nativeSidecar: true, uid: 2102, gid: '7'}\ndebugContainer: {image: {name: a/debug, version: ''}}";
        let config =
            ConfigMap { data: [("values".to_owned(), text.to_owned())].into(), ..ConfigMap::default() };
        let values = Values::of(&config).expect("values");
        assert_eq!(values.bool("proxy.nativeSidecar"), Some(true));
        assert_eq!(values.bool("proxy.nothing.here"), None);
        assert_eq!(values.text("debugContainer.image.name"), Some("a/debug"));
        assert_eq!(values.text("debugContainer.image.version"), None);
        assert_eq!((values.number("proxy.uid"), values.number("proxy.gid")), (Some(2102), Some(7)));
        assert_eq!(Values::of(&ConfigMap::default()), None);
    }

    #[test]
    fn values_of_another_type_are_told() {
        let text = "counts: {a: '3', b: -1, c: 3.0, d: 0.5, e: null}\nflags: {a: 'true', b: yes, c: 1}\n\
                    texts: {a: [x], b: 1, c: {}}\nproxy: 3";
        let config =
            ConfigMap { data: [("values".to_owned(), text.to_owned())].into(), ..ConfigMap::default() };
        let values = Values::of(&config).expect("values");
        for (path, wanted, said) in [
            ("counts.a", ChartType::Count, Some("a text")),
            ("counts.b", ChartType::Count, Some("a negative number")),
            ("counts.b", ChartType::Integer, None),
            ("counts.c", ChartType::Count, None),
            ("counts.d", ChartType::Integer, Some("a fraction")),
            ("counts.e", ChartType::Integer, None),
            ("counts.f", ChartType::Integer, None),
            ("flags.a", ChartType::Boolean, Some("a text")),
            ("flags.b", ChartType::Boolean, None),
            ("flags.c", ChartType::Boolean, Some("a number")),
            ("texts.a", ChartType::Text, Some("a list")),
            ("texts.b", ChartType::Text, None),
            ("texts.c", ChartType::Text, Some("a map")),
            ("proxy", ChartType::Map, Some("a number")),
        ] {
            assert_eq!(values.unfit(path, wanted), said, "{path}");
        }
    }
}
