//! Maps of texts, such as labels and annotations: small and very numerous, so each is stored in one sorted allocation,
//! with shared names.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::shared::{Word, parts};

/// Texts by name, in the order of the names.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Texts(Box<[(Word, String)]>);

parts!(Texts);

/// Names and texts, alternating.
pub type Iter<'a> =
    std::iter::Map<std::slice::Iter<'a, (Word, String)>, fn(&'a (Word, String)) -> (&'a Word, &'a String)>;

impl Texts {
    /// The text of a name.
    #[inline]
    pub fn get(&self, name: &str) -> Option<&String> {
        let at = self.0.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        Some(&self.0[at].1)
    }

    /// Whether the name exists.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Every name and its text.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        self.0.iter().map(|(name, text)| (name, text))
    }

    /// Every name.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Word> + Clone {
        self.0.iter().map(|(name, _)| name)
    }

    /// Every text.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &String> + Clone {
        self.0.iter().map(|(_, text)| text)
    }

    /// Number.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is missing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As a map that can be changed.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        self.iter().map(|(name, text)| (name.into(), text.clone())).collect()
    }
}

/// Of duplicate names the last applies, as in JSON.
impl<N: Into<Word>> FromIterator<(N, String)> for Texts {
    fn from_iter<I: IntoIterator<Item = (N, String)>>(all: I) -> Texts {
        let mut all: Vec<(Word, String)> = all.into_iter().map(|(name, text)| (name.into(), text)).collect();
        all.reverse();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all.dedup_by(|(next, _), (first, _)| next == first);
        Texts(all.into_boxed_slice())
    }
}

impl From<BTreeMap<String, String>> for Texts {
    fn from(map: BTreeMap<String, String>) -> Texts {
        map.into_iter().collect()
    }
}

impl<'a> IntoIterator for &'a Texts {
    type Item = (&'a Word, &'a String);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, text)| (name.as_str(), text)))
    }
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Texts, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of text to text")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts, A::Error> {
                let mut all: Vec<(Word, String)> = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(all.into_iter().collect())
            }
        }
        deserializer.deserialize_map(All)
    }
}

#[cfg(test)]
mod tests {
    use super::Texts;

    #[test]
    fn texts_are_found_in_any_order() {
        let texts: Texts = serde_json::from_str(r#"{"b":"2","a":"1","c":"3","a":"4"}"#).unwrap();
        assert_eq!(texts.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(texts.get("a").unwrap(), "4", "of two of one name the last counts");
        assert_eq!((texts.get("b").unwrap().as_str(), texts.get("d"), texts.len()), ("2", None, 3));
        assert_eq!(Texts::from(texts.to_map()), texts);
    }
}
