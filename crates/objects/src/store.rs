//! Type-erased stores for the objects of a response.

use serde::de::{DeserializeOwned, Error as _, IgnoredAny};

use super::Object;
use crate::protobuf::{Broken, Message};
use crate::redact::{Clean, Rule};

/// A type-erased store for one response: the collector fills it, and the model files it by item.
pub trait Store: Send + Sync {
    /// Decodes one object with redaction by the rule; the error names the invalid field.
    fn push(&mut self, json: &[u8], rule: &'static Rule) -> Result<(), serde_json::Error>;
    /// The path of the field that makes an object undecodable, and the error of the decoder.
    fn fault(&self, json: &[u8], rule: &'static Rule) -> Option<(String, serde_json::Error)>;
    /// Decodes the object at the start of `text`; returns its length, unless it is invalid or incomplete.
    fn push_first(&mut self, text: &str, rule: &'static Rule) -> Option<usize>;
    /// Decodes one object from protobuf.
    fn push_message(&mut self, message: Message<'_>, rule: &'static Rule) -> Result<(), Broken>;
    /// Clears the store (the source restarts).
    fn clear(&mut self);
    /// Sorts by namespace and name, independent of the source.
    fn finish(&mut self);
    /// Number of objects.
    fn count(&self) -> usize;
    /// A store with only the object of that name, or an empty one.
    fn only(&self, namespace: &str, name: &str) -> Box<dyn Store>;
    /// The typed list behind it.
    fn as_any(&self) -> &dyn std::any::Any;
}

impl<T: Object> Store for Vec<T> {
    fn push(&mut self, json: &[u8], rule: &'static Rule) -> Result<(), serde_json::Error> {
        // Decoded as text, so that only one JSON decoder exists; invalid UTF-8 becomes `U+FFFD`, as in protobuf.
        let text = String::from_utf8_lossy(json);
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let object = T::deserialize(Clean::new(&mut deserializer, rule))?;
        deserializer.end()?;
        keep(self, object).map_err(serde_json::Error::custom)
    }

    fn fault(&self, json: &[u8], rule: &'static Rule) -> Option<(String, serde_json::Error)> {
        let text = String::from_utf8_lossy(json);
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let decoded = serde_path_to_error::deserialize::<_, T>(Clean::new(&mut deserializer, rule));
        let error = decoded.err()?;
        Some((error.path().to_string(), error.into_inner()))
    }

    fn push_first(&mut self, text: &str, rule: &'static Rule) -> Option<usize> {
        // A declined object comes again as a whole, and is then counted.
        let (object, length) = first(text, rule)?;
        keep(self, object).ok().map(|()| length)
    }

    fn push_message(&mut self, message: Message<'_>, rule: &'static Rule) -> Result<(), Broken> {
        keep(self, T::deserialize(Clean::new(message, rule))?).map_err(Broken::custom)
    }

    fn clear(&mut self) {
        Vec::clear(self);
    }

    fn finish(&mut self) {
        // Lists of an API server are already sorted, and sorting needs more memory.
        if !self.is_sorted_by(|a, b| a.key() <= b.key()) {
            self.sort_by(|a, b| a.key().cmp(&b.key()));
        }
        self.shrink_to_fit();
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn only(&self, namespace: &str, name: &str) -> Box<dyn Store> {
        let found = self.iter().filter(|object| object.key() == (namespace, name));
        Box::new(found.cloned().collect::<Vec<T>>())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// Stores an object unless its names are invalid.
fn keep<T: Object>(objects: &mut Vec<T>, mut object: T) -> Result<(), String> {
    if let Some(why) = object.refused() {
        return Err(why);
    }
    object.trim();
    if let Some(before) = objects.last() {
        object.share(before);
    }
    objects.push(object);
    Ok(())
}

fn first<T: DeserializeOwned>(text: &str, rule: &'static Rule) -> Option<(T, usize)> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(Clean::new(&mut deserializer, rule)).ok()?;
    Some((value, deserializer.into_iter::<IgnoredAny>().byte_offset()))
}
