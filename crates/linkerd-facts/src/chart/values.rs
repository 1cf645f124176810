//! The chart values of the installed control plane, from the ConfigMap `linkerd-config`. Looks values up by path;
//! checks interpret them.

use std::sync::{Arc, OnceLock};

use serde_yaml::{Mapping, Value};

use super::values_input::Leaf;
use super::yaml;
use crate::knowledge::ChartType;

/// The values, as YAML. Cloning is cheap.
#[derive(Debug, Clone, PartialEq)]
pub struct Values(Arc<Value>);

/// The parsed text of a ConfigMap, cached for dozens of checks. It depends only on the text, so it is ignored in
/// comparisons.
#[derive(Debug, Clone, Default)]
pub struct ReadOnce(OnceLock<Option<Values>>);

impl ReadOnce {
    /// Values of a text, which must be the same in each call.
    pub fn parse(&self, text: Option<&str>) -> Option<Values> {
        self.0.get_or_init(|| Values::read(text?)).clone()
    }
}

impl PartialEq for ReadOnce {
    fn eq(&self, _: &ReadOnce) -> bool {
        true
    }
}

impl Values {
    /// Values of a text; `None` if it has none or cannot be parsed.
    pub fn read(text: &str) -> Option<Values> {
        let root = without_global(yaml::read(text)?);
        let some = root.as_mapping().is_some_and(|mapping| !mapping.is_empty());
        some.then(|| Values(Arc::new(root)))
    }

    /// Merges other values over these.
    pub(super) fn overlaid(&self, over: &Mapping) -> Values {
        let mut root = (*self.0).clone();
        if let Value::Mapping(root) = &mut root {
            super::values_input::lay(over, root);
        }
        Values(Arc::new(root))
    }

    /// The values as text.
    pub fn to_yaml(&self) -> Option<String> {
        serde_yaml::to_string(&*self.0).ok()
    }

    /// The values that are set, with their paths.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        match &*self.0 {
            Value::Mapping(root) => super::values_input::gather(root),
            _ => Vec::new(),
        }
    }

    /// A value by its path, which may be a map or a list.
    pub fn value(&self, path: &str) -> Option<&Value> {
        self.get(path)
    }

    fn get(&self, path: &str) -> Option<&Value> {
        at(&self.0, path)
    }

    /// A boolean by its path, such as `proxy.nativeSidecar`.
    pub fn bool(&self, path: &str) -> Option<bool> {
        self.get(path)?.as_bool()
    }

    /// A whole number by its path, also if it was written as text.
    pub fn number(&self, path: &str) -> Option<i64> {
        let value = self.get(path)?;
        value.as_i64().or_else(|| value.as_str()?.parse().ok())
    }

    /// A text or number by its path, as written.
    pub fn scalar(&self, path: &str) -> Option<String> {
        match self.get(path)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// A text by its path; empty texts count as missing, as in the charts.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.get(path)?.as_str().filter(|text| !text.is_empty())
    }

    /// A text, number or boolean by its path, as written.
    pub fn written(&self, path: &str) -> Option<String> {
        match self.get(path)? {
            Value::Bool(value) => Some(value.to_string()),
            _ => self.scalar(path),
        }
    }

    /// The same values with one replaced or added.
    pub fn with(&self, path: &str, text: &str) -> Values {
        let mut root = (*self.0).clone();
        let place = path.split('.').try_fold(&mut root, |map, key| {
            let map = map.as_mapping_mut()?;
            Some(map.entry(Value::String(key.to_owned())).or_insert_with(|| Value::Mapping(Mapping::new())))
        });
        if let Some(place) = place {
            *place = match text {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                text => Value::String(text.to_owned()),
            };
        }
        Values(Arc::new(root))
    }

    /// Description of a value at a path that does not have the expected type. A missing value is always valid.
    pub fn unfit(&self, path: &str, wanted: ChartType) -> Option<&'static str> {
        let value = self.get(path)?;
        let fits = match (wanted, value) {
            (_, Value::Null) => true,
            (ChartType::Map, value) => value.is_mapping(),
            (ChartType::TextMap, value) => {
                value.as_mapping().is_some_and(|map| map.values().all(|value| !is_nested(value)))
            }
            (ChartType::List, value) => value.is_sequence(),
            (ChartType::TextList, value) => {
                value.as_sequence().is_some_and(|list| list.iter().all(|value| !is_nested(value)))
            }
            (ChartType::MapList, value) => {
                value.as_sequence().is_some_and(|list| list.iter().all(|value| value.is_mapping() || value.is_null()))
            }
            (ChartType::Number, value) => value.is_number(),
            (ChartType::Text, value) => !is_nested(value),
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
                ChartType::Number
                | ChartType::Boolean
                | ChartType::Text
                | ChartType::Map
                | ChartType::TextMap
                | ChartType::List
                | ChartType::TextList
                | ChartType::MapList => "a number",
            },
            Value::String(_) => "a string",
            Value::Sequence(_) if matches!(wanted, ChartType::TextList | ChartType::MapList) => "a list of other types",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) if wanted == ChartType::TextMap => "a map of something else",
            Value::Mapping(_) | Value::Tagged(_) => "a map",
        })
    }
}

/// The values without the map `global`, in which charts before 2.10 had most of them; it takes precedence.
fn without_global(mut root: Value) -> Value {
    if let Value::Mapping(values) = &mut root
        && let Some(Value::Mapping(global)) = values.remove("global")
    {
        values.extend(global);
    }
    root
}

fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

/// A map or list, which is not a text.
fn is_nested(value: &Value) -> bool {
    value.is_mapping() || value.is_sequence()
}

/// A number without a fraction.
fn whole(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_path() {
        let text =
            "proxy: {nativeSidecar: true, uid: 2102, gid: '7'}\ndebugContainer: {image: {name: a/debug, version: ''}}";
        let values = Values::read(text).expect("values");
        assert_eq!(values.bool("proxy.nativeSidecar"), Some(true));
        assert_eq!(values.bool("proxy.nothing.here"), None);
        assert_eq!(values.text("debugContainer.image.name"), Some("a/debug"));
        assert_eq!(values.text("debugContainer.image.version"), None);
        assert_eq!((values.number("proxy.uid"), values.number("proxy.gid")), (Some(2102), Some(7)));
        assert_eq!(Values::read(""), None);
        let text = "global: {clusterNetworks: a, proxy: {uid: 1}}\nclusterNetworks: b\nproxy: {gid: 2}";
        let values = Values::read(text).expect("values");
        assert_eq!((values.text("clusterNetworks"), values.number("proxy.uid")), (Some("a"), Some(1)));
        assert_eq!((values.number("proxy.gid"), values.text("global")), (None, None));
    }

    #[test]
    fn text_is_parsed_once() {
        let cache = ReadOnce::default();
        let text = Some("proxy: {uid: 1}");
        let (first, second) = (cache.parse(text).expect("values"), cache.parse(text).expect("values"));
        assert!(Arc::ptr_eq(&first.0, &second.0));
        assert_eq!(cache, ReadOnce::default(), "comparisons ignore the cache");
        let broken = ReadOnce::default();
        assert_eq!((broken.parse(Some("a: [")), broken.parse(Some("a: ["))), (None, None));
        assert_eq!(broken.0.get(), Some(&None), "an invalid text is parsed once too");
        assert_eq!(ReadOnce::default().parse(None), None);
    }

    #[test]
    fn wrong_types_are_described() {
        let text = "counts: {a: '3', b: -1, c: 3.0, d: 0.5, e: null}\n\
                    flags: {a: 'true', b: yes, c: 1, d: 'yes', e: \"Off\", f: No, g: nO, h: don't}\n\
                    texts: {a: [x], b: 1, c: {}}\nproxy: 3\n\
                    some: {a: {x: 1, y: null}, b: {x: [y]}, c: [x, 1], d: [{x: y}, null], e: 0.5, f: '1'}";
        let values = Values::read(text).expect("values");
        for (path, wanted, said) in [
            ("counts.a", ChartType::Count, Some("a string")),
            ("counts.b", ChartType::Count, Some("a negative number")),
            ("counts.b", ChartType::Integer, None),
            ("counts.c", ChartType::Count, None),
            ("counts.d", ChartType::Integer, Some("a fraction")),
            ("counts.e", ChartType::Integer, None),
            ("counts.f", ChartType::Integer, None),
            ("flags.a", ChartType::Boolean, Some("a string")),
            ("flags.b", ChartType::Boolean, None),
            ("flags.c", ChartType::Boolean, Some("a number")),
            ("flags.d", ChartType::Boolean, Some("a string")),
            ("flags.e", ChartType::Boolean, Some("a string")),
            ("flags.f", ChartType::Boolean, None),
            ("flags.g", ChartType::Boolean, Some("a string")),
            ("flags.h", ChartType::Boolean, Some("a string")),
            ("texts.a", ChartType::Text, Some("a list")),
            ("texts.b", ChartType::Text, None),
            ("texts.c", ChartType::Text, Some("a map")),
            ("proxy", ChartType::Map, Some("a number")),
            ("some.a", ChartType::TextMap, None),
            ("some.b", ChartType::TextMap, Some("a map of something else")),
            ("some.c", ChartType::TextMap, Some("a list")),
            ("some.c", ChartType::TextList, None),
            ("some.d", ChartType::TextList, Some("a list of other types")),
            ("some.d", ChartType::MapList, None),
            ("some.c", ChartType::MapList, Some("a list of other types")),
            ("some.a", ChartType::List, Some("a map")),
            ("some.e", ChartType::Number, None),
            ("some.f", ChartType::Number, Some("a string")),
        ] {
            assert_eq!(values.unfit(path, wanted), said, "{path}");
        }
        let flags = ["flags.b", "flags.d", "flags.e", "flags.f", "flags.g"].map(|path| values.bool(path));
        assert_eq!(flags, [Some(true), None, None, Some(false), None]);
        assert_eq!(values.text("flags.d"), Some("yes"));
    }
}
