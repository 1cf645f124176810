//! A list response, decompressed and counted while it arrives. Only unread data is held in memory; a slow reader makes
//! the server wait.

use std::io::Write;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use flate2::write::MultiGzDecoder;
use http_body_util::BodyExt;
use hyper::body::Frame;
use kube::client::Body;
use tokio::sync::OwnedSemaphorePermit;

use super::api_client::{RequestError, allowed};
use super::call::WHOLE_BODY;
use super::connection_lost::{ConnectionError, broken};
use super::quote::quote;
use super::traffic::Meter;

/// Compressed bytes to decompress at once: JSON expands tenfold, malicious data a thousandfold.
const PACKED: usize = 16 * 1024;

/// Encoding of a body, from its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    /// Gzip.
    pub(super) packed: bool,
    pub(super) protobuf: bool,
}

/// A 200 response whose body is still arriving.
pub(super) struct Flow {
    body: Body,
    protobuf: bool,
    packed: Option<Packed>,
    /// Maximum time without a byte.
    silence: Option<Duration>,
    /// Time spent waiting for the server.
    waited: Duration,
    length: usize,
    /// Permit for one of the parallel requests.
    _permit: Option<OwnedSemaphorePermit>,
}

/// Received data that is not decompressed yet, and the decompressor.
struct Packed {
    waiting: Bytes,
    decoder: MultiGzDecoder<Vec<u8>>,
}

/// Reason for the end of a response.
#[derive(Debug)]
pub(super) enum Ended {
    /// Network error.
    RequestError(RequestError),
    /// Decompression error, in words.
    Malformed(String),
    /// Limit reached, in words.
    Endless(String),
    /// The response is an HTML page.
    HtmlPage,
}

impl Flow {
    pub(super) fn new(body: Body, form: Form, silence: Option<Duration>, permit: Option<OwnedSemaphorePermit>) -> Flow {
        Flow {
            body,
            protobuf: form.protobuf,
            packed: form.packed.then(|| Packed { waiting: Bytes::new(), decoder: MultiGzDecoder::new(Vec::new()) }),
            silence,
            waited: Duration::ZERO,
            length: 0,
            _permit: permit,
        }
    }

    /// Whether it is in protobuf.
    pub(super) fn is_protobuf(&self) -> bool {
        self.protobuf
    }

    /// The next decompressed piece; `None` at the end.
    pub(super) async fn next(&mut self, meter: &Meter) -> Result<Option<Bytes>, Ended> {
        loop {
            if let Some(packed) = &mut self.packed
                && !packed.waiting.is_empty()
            {
                let piece = packed.unpack()?;
                if !piece.is_empty() {
                    meter.decoded(piece.len());
                    return Ok(Some(piece));
                }
                continue;
            }
            let Some(chunk) = self.receive(meter).await.map_err(Ended::RequestError)? else {
                let rest = match &mut self.packed {
                    None => return Ok(None),
                    Some(packed) => packed.rest()?,
                };
                self.packed = None;
                meter.decoded(rest.len());
                return Ok(Some(rest).filter(|rest| !rest.is_empty()));
            };
            match &mut self.packed {
                Some(packed) => packed.waiting = chunk,
                None => {
                    meter.decoded(chunk.len());
                    return Ok(Some(chunk));
                }
            }
        }
    }

    async fn receive(&mut self, meter: &Meter) -> Result<Option<Bytes>, RequestError> {
        loop {
            let Some(frame) = self.frame().await? else { return Ok(None) };
            let Ok(chunk) = frame.into_data() else { continue };
            meter.received(chunk.len());
            self.length += chunk.len();
            if self.length > WHOLE_BODY {
                return Err(RequestError::Broken(ConnectionError::TooLarge { limit: WHOLE_BODY }));
            }
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
    }

    /// Only the time spent waiting for the server counts.
    async fn frame(&mut self) -> Result<Option<Frame<Bytes>>, RequestError> {
        let frame = match self.silence {
            Some(silence) => {
                let (began, allowed) = (Instant::now(), allowed(silence, self.length));
                let left = allowed.saturating_sub(self.waited);
                let frame = tokio::time::timeout(silence.min(left), self.body.frame()).await;
                self.waited += began.elapsed();
                frame.map_err(|_| {
                    let waited = if left < silence { allowed } else { silence };
                    RequestError::TimedOut { seconds: waited.as_secs().max(1) }
                })?
            }
            None => self.body.frame().await,
        };
        frame.transpose().map_err(|error| RequestError::Broken(broken(&error)))
    }
}

impl Packed {
    fn unpack(&mut self) -> Result<Bytes, Ended> {
        let length = self.waiting.len().min(PACKED);
        let outcome = self.decoder.write_all(&self.waiting[..length]);
        self.waiting.advance(length);
        self.taken(outcome)
    }

    fn rest(&mut self) -> Result<Bytes, Ended> {
        let outcome = self.decoder.try_finish();
        self.taken(outcome)
    }

    fn taken(&mut self, outcome: std::io::Result<()>) -> Result<Bytes, Ended> {
        outcome.map_err(|error| {
            Ended::Malformed(format!("the compressed response is damaged: {}", quote(&error.to_string(), 100)))
        })?;
        Ok(Bytes::from(std::mem::take(self.decoder.get_mut())))
    }
}
