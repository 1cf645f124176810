//! Where the objects of one answer are filed while they arrive, whatever their type.

use serde::de::{DeserializeOwned, Error as _, IgnoredAny};

use super::Object;
use crate::protobuf::{Broken, Message};
use crate::redact::{Clean, Rule};

/// A store for one answer, its element type erased: what [`crate::collect`] fills and the model files by item.
pub trait Store: Send + Sync {
    /// Decodes one object, its texts sanitized by the rule; the error names what could not be read.
    fn push(&mut self, json: &[u8], rule: &'static Rule) -> Result<(), serde_json::Error>;
    /// Decodes the object that begins `text`; its length, unless it is broken or not whole.
    fn push_first(&mut self, text: &str, rule: &'static Rule) -> Option<usize>;
    /// Decodes one object from protobuf.
    fn push_message(&mut self, message: Message<'_>, rule: &'static Rule) -> Result<(), Broken>;
    /// Forgets everything (the source begins again).
    fn clear(&mut self);
    /// Sorts by namespace and name, so that order never depends on the source.
    fn finish(&mut self);
    /// How many objects.
    fn count(&self) -> usize;
    /// A store with the object of that name alone, or with none.
    fn only(&self, namespace: &str, name: &str) -> Box<dyn Store>;
    /// The typed list behind it.
    fn as_any(&self) -> &dyn std::any::Any;
}

impl<T: Object> Store for Vec<T> {
    fn push(&mut self, json: &[u8], rule: &'static Rule) -> Result<(), serde_json::Error> {
        // As text, so that a decoder of texts is the only one of JSON; what is none in between becomes `U+FFFD`, as in protobuf.
        let text = String::from_utf8_lossy(json);
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let object = T::deserialize(Clean::new(&mut deserializer, rule))?;
        deserializer.end()?;
        keep(self, object).map_err(serde_json::Error::custom)
    }

    fn push_first(&mut self, text: &str, rule: &'static Rule) -> Option<usize> {
        // One that is refused comes again, whole, and is counted then.
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
        // As an API server lists them they are sorted, and to sort takes half as much memory again.
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

/// Files an object, unless its names are none.
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
