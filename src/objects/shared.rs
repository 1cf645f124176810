//! Parts of objects that are the same in many: the labels of replicas, their containers. Each is kept once. Who reads one
//! sees no difference; nobody changes one after it was decoded.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};

/// A part that several objects may have in common.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// Becomes one with an equal part of another object.
    pub(super) fn share(&mut self, other: &Shared<T>)
    where
        T: PartialEq,
    {
        if self.0 == other.0 {
            self.0 = Arc::clone(&other.0);
        }
    }

    /// To change it while it is being decoded.
    pub(crate) fn edit(&mut self) -> &mut T
    where
        T: Clone,
    {
        Arc::make_mut(&mut self.0)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

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

impl<T> From<T> for Shared<T> {
    fn from(part: T) -> Shared<T> {
        Shared(Arc::new(part))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shared<T>, D::Error> {
        T::deserialize(deserializer).map(Shared::from)
    }
}
