//! Limits of the objects that stay in memory: for the lists of a run, and for files before their lists are requested.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of objects, of one list of an API server and of a whole run. Kubernetes supports 150,000 pods.
pub const MOST_OBJECTS: usize = 500_000;
/// Size of an object that counts only by number. Pods have about 15 kB; etcd stores at most 1.5 MB.
pub const USUAL_OBJECT: usize = 32 * 1024;
/// Maximum number of bytes beyond [`USUAL_OBJECT`] per object, in all lists of a run.
pub const MOST_EXCESS: usize = 512 << 20;

/// The next step for files that reach a limit.
pub const FEWER: &str = "pass fewer files, or only the lists that checks read";

/// Objects that are kept, by number and size.
#[derive(Debug, Default)]
pub struct ObjectCount {
    objects: AtomicUsize,
    /// Bytes beyond [`USUAL_OBJECT`].
    excess: AtomicUsize,
}

/// A limit that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    #[error("more than {MOST_OBJECTS} objects in this run")]
    Objects,
    #[error("objects of more than {} kB fill {} MB in this run", USUAL_OBJECT / 1024, MOST_EXCESS / (1024 * 1024))]
    Excess,
}

impl ObjectCount {
    /// Counts an object of this size, unless a limit is reached.
    ///
    /// # Errors
    /// The limit; the object is not counted.
    pub fn admit(&self, size: usize) -> Result<(), Limit> {
        self.room()?;
        self.objects.fetch_add(1, Ordering::Relaxed);
        self.excess.fetch_add(excess(size), Ordering::Relaxed);
        Ok(())
    }

    /// Whether another object may be counted.
    ///
    /// # Errors
    /// The limit.
    pub fn room(&self) -> Result<(), Limit> {
        if self.objects.load(Ordering::Relaxed) >= MOST_OBJECTS {
            return Err(Limit::Objects);
        }
        if self.excess.load(Ordering::Relaxed) > MOST_EXCESS { Err(Limit::Excess) } else { Ok(()) }
    }

    /// Forgets objects that were discarded: their number, and their bytes beyond the usual.
    pub fn discard(&self, objects: usize, excess: usize) {
        self.objects.fetch_sub(objects, Ordering::Relaxed);
        self.excess.fetch_sub(excess, Ordering::Relaxed);
    }
}

/// The bytes of an object beyond [`USUAL_OBJECT`].
pub fn excess(size: usize) -> usize {
    size.saturating_sub(USUAL_OBJECT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_and_size_of_objects_are_limited() {
        let many = ObjectCount::default();
        for _ in 0..MOST_OBJECTS {
            assert_eq!(many.admit(USUAL_OBJECT), Ok(()));
        }
        assert_eq!(many.admit(1), Err(Limit::Objects));
        many.discard(1, 0);
        assert_eq!(many.admit(1), Ok(()));
        let large = ObjectCount::default();
        let read = (0..1000).take_while(|_| large.admit(1 << 20).is_ok()).count();
        assert!((512..=530).contains(&read), "{read}");
        assert_eq!(large.admit(1), Err(Limit::Excess));
    }
}
