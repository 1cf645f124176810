//! Cost of requests: number, bytes, time. Keeps no content.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::request::Request;

/// Cost of one item, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// HTTP requests, including retries.
    pub requests: u64,
    /// Number of retries.
    pub retries: u64,
    /// Bytes of bodies on the wire.
    pub wire_bytes: u64,
    /// The same, decompressed.
    pub body_bytes: u64,
    /// Time from the request to the end of the response, including decoding.
    pub elapsed: Duration,
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.requests += other.requests;
        self.retries += other.retries;
        self.wire_bytes += other.wire_bytes;
        self.body_bytes += other.body_bytes;
        self.elapsed += other.elapsed;
    }
}

/// Counts while an item is requested.
#[derive(Debug, Default)]
pub(super) struct Meter {
    requests: AtomicU64,
    retries: AtomicU64,
    api: AtomicU64,
    body: AtomicU64,
}

impl Meter {
    pub(super) fn requested(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn retried(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn received(&self, bytes: usize) {
        self.api.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn decoded(&self, bytes: usize) {
        self.body.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn read(&self, elapsed: Duration) -> Traffic {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Traffic {
            requests: load(&self.requests),
            retries: load(&self.retries),
            wire_bytes: load(&self.api),
            body_bytes: load(&self.body),
            elapsed,
        }
    }
}

/// The numbers of finished items.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<BTreeMap<Request, Traffic>>);

impl Ledger {
    pub(super) fn add(&self, request: &Request, traffic: Traffic) {
        let mut items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *items.entry(request.clone()).or_default() += traffic;
    }

    pub(super) fn items(&self) -> Vec<(Request, Traffic)> {
        let items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        items.iter().map(|(request, traffic)| (request.clone(), *traffic)).collect()
    }
}

/// Counts one item, and records it on drop, also if the request was cancelled.
pub(super) struct Account<'a> {
    ledger: &'a Ledger,
    request: &'a Request,
    started: std::time::Instant,
    pub(super) meter: Arc<Meter>,
}

impl<'a> Account<'a> {
    pub(super) fn open(ledger: &'a Ledger, request: &'a Request) -> Account<'a> {
        Account { ledger, request, started: std::time::Instant::now(), meter: Arc::new(Meter::default()) }
    }
}

impl Drop for Account<'_> {
    fn drop(&mut self) {
        self.ledger.add(self.request, self.meter.read(self.started.elapsed()));
    }
}
