//! Compact uids of objects; nearly all are UUIDs.

use std::fmt;

use serde::{Deserialize, Deserializer};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

use super::meta::Text;

/// Unique id of an object by the API server: a new object with the same name has another one.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(UidBytes);

#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum UidBytes {
    /// Missing.
    #[default]
    Nothing,
    /// A UUID, as the API server writes one: in small letters, with hyphens.
    Uuid(Uuid),
    /// Any other text.
    Text(Box<str>),
}

impl Uid {
    /// Whether it is missing.
    pub fn is_empty(&self) -> bool {
        self.0 == UidBytes::Nothing
    }
}

impl From<&str> for Uid {
    fn from(text: &str) -> Uid {
        if text.is_empty() {
            return Uid::default();
        }
        let mut room = [0; Hyphenated::LENGTH];
        let uuid = Uuid::try_parse(text).ok().filter(|uuid| uuid.hyphenated().encode_lower(&mut room) == text);
        Uid(uuid.map_or_else(|| UidBytes::Text(text.into()), UidBytes::Uuid))
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            UidBytes::Nothing => Ok(()),
            UidBytes::Uuid(uuid) => uuid.hyphenated().fmt(f),
            UidBytes::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<'de> Deserialize<'de> for Uid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Uid, D::Error> {
        Text::deserialize(deserializer).map(|Text(text)| Uid::from(&*text))
    }
}

#[cfg(test)]
mod tests {
    use super::Uid;

    #[test]
    fn every_uid_round_trips() {
        let all = [
            "",
            "kube-system",
            "8d3f2a64-6c0e-4f8e-9b7a-0d5d1c7c1f00",
            "8D3F2A64-6C0E-4F8E-9B7A-0D5D1C7C1F00",
            "8d3f2a646c0e4f8e9b7a0d5d1c7c1f00",
            "{8d3f2a64-6c0e-4f8e-9b7a-0d5d1c7c1f00}",
        ];
        for text in all {
            assert_eq!(Uid::from(text).to_string(), text);
            assert_eq!(Uid::from(text).is_empty(), text.is_empty());
        }
        assert_ne!(Uid::from(all[2]), Uid::from(all[3]));
        assert!(size_of::<Uid>() <= size_of::<String>());
    }
}
