//! Limits the number of clusters that run at a time.

use std::sync::{Condvar, Mutex};

/// A slot for a running cluster, whatever number of threads the test harness uses.
pub struct Slot(usize);

static TAKEN: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

impl Slot {
    /// Waits until that many places are free.
    pub fn take(places: usize) -> Slot {
        let limit = std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 6));
        let mut taken = TAKEN.0.lock().unwrap();
        while *taken + places > limit {
            taken = TAKEN.1.wait(taken).unwrap();
        }
        *taken += places;
        Slot(places)
    }

    /// For a cluster whose place was taken together with that of another.
    pub fn beside() -> Slot {
        Slot(0)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // Nothing panics while holding the lock, so it is never poisoned; a drop must not find out otherwise.
        if let Ok(mut taken) = TAKEN.0.lock() {
            *taken -= self.0;
        }
        TAKEN.1.notify_all();
    }
}
