//! The chart values that the control plane was installed with, as the ConfigMap `linkerd-config` keeps them. Knows how
//! to look a value up by its path; which values there are and what they mean is the checks' business.

use serde_yaml::Value;

use super::objects::ConfigMap;

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
}
