//! Parts of objects that many share: labels of replicas, their containers, names of nodes. Each is stored approximately
//! once, and is immutable after decoding.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A part that several objects may share.
#[derive(Debug)]
pub struct Shared<T>(Arc<T>);

/// A shareable type. Its empty value is stored once.
pub trait Shareable: Default + PartialEq + 'static {
    /// Its empty value.
    fn nothing() -> &'static Arc<Self>;
}

/// Makes types shareable.
macro_rules! parts {
    ($( $part:ty ),* $(,)?) => {
        $(
            impl $crate::shared::Shareable for $part {
                fn nothing() -> &'static std::sync::Arc<$part> {
                    static NOTHING: std::sync::LazyLock<std::sync::Arc<$part>> =
                        std::sync::LazyLock::new(std::sync::Arc::default);
                    &NOTHING
                }
            }
        )*
    };
}
pub(super) use parts;

impl<T: Shareable> Default for Shared<T> {
    fn default() -> Shared<T> {
        Shared(Arc::clone(T::nothing()))
    }
}

/// Shared values are compared by pointer first.
impl<T: PartialEq> PartialEq for Shared<T> {
    #[inline]
    fn eq(&self, other: &Shared<T>) -> bool {
        self.is_same(other) || *self.0 == *other.0
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: Hash> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T> Shared<T> {
    /// Whether both are the same allocation, and therefore equal.
    #[inline]
    pub fn is_same(&self, other: &Shared<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Shares an equal part of another object.
    pub(super) fn share(&mut self, other: &Shared<T>)
    where
        T: PartialEq,
    {
        if !self.is_same(other) && *self.0 == *other.0 {
            self.0 = Arc::clone(&other.0);
        }
    }

    /// Mutable access during decoding.
    pub fn edit(&mut self) -> &mut T
    where
        T: Clone,
    {
        Arc::make_mut(&mut self.0)
    }
}

impl<T> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Shared<T> {
        Shared(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'a, T> IntoIterator for &'a Shared<T>
where
    &'a T: IntoIterator,
{
    type Item = <&'a T as IntoIterator>::Item;
    type IntoIter = <&'a T as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (&*self.0).into_iter()
    }
}

impl<T: Shareable> From<T> for Shared<T> {
    fn from(part: T) -> Shared<T> {
        if part == **T::nothing() { Shared::default() } else { Shared(Arc::new(part)) }
    }
}

impl<'de, T: Shareable + Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shared<T>, D::Error> {
        T::deserialize(deserializer).map(Shared::from)
    }
}

/// A text that many objects share: a namespace, a node, an image, a reason. It has the size of a pointer; the empty
/// text is stored without one.
#[derive(Clone, Default)]
pub struct Word(Option<Arc<Box<str>>>);

/// Number of cached words; of those with the same slot, the latest stays.
const REMEMBERED: usize = 1024;

thread_local! {
    static WORDS: RefCell<Vec<Word>> = RefCell::new(vec![Word::default(); REMEMBERED]);
}

impl Word {
    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        self.0.as_deref().map_or("", |text| text)
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Word {
        let mix = |hash: usize, byte: &u8| (hash ^ usize::from(*byte)).wrapping_mul(0x0100_0193);
        let place = text.bytes().fold(0x811c_9dc5, |hash, byte| mix(hash, &byte)) % REMEMBERED;
        WORDS.with_borrow_mut(|words| {
            let known = &mut words[place];
            if known != text {
                *known = Word((!text.is_empty()).then(|| Arc::new(Box::from(text))));
            }
            known.clone()
        })
    }
}

impl From<String> for Word {
    fn from(text: String) -> Word {
        Word::from(text.as_str())
    }
}

impl From<&Word> for String {
    #[inline]
    fn from(word: &Word) -> String {
        word.as_str().to_owned()
    }
}

impl From<Word> for String {
    #[inline]
    fn from(word: Word) -> String {
        word.as_str().to_owned()
    }
}

impl PartialEq for Word {
    #[inline]
    fn eq(&self, other: &Word) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Word {}

impl PartialOrd for Word {
    fn partial_cmp(&self, other: &Word) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Word {
    fn cmp(&self, other: &Word) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

/// Equal to the hash of the text, for map lookups.
impl Hash for Word {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Deref for Word {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Word {
    #[inline]
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl std::borrow::Borrow<str> for Word {
    #[inline]
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<str> for Word {
    #[inline]
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Word {
    #[inline]
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for Word {
    #[inline]
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<Word> for String {
    #[inline]
    fn eq(&self, other: &Word) -> bool {
        *self == other.as_str()
    }
}

impl PartialEq<Word> for str {
    #[inline]
    fn eq(&self, other: &Word) -> bool {
        self == other.as_str()
    }
}

impl PartialEq<Word> for &str {
    #[inline]
    fn eq(&self, other: &Word) -> bool {
        *self == other.as_str()
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
        struct SharedText;
        impl Visitor<'_> for SharedText {
            type Value = Word;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, text: &str) -> Result<Word, E> {
                Ok(Word::from(text))
            }
        }
        deserializer.deserialize_str(SharedText)
    }
}
