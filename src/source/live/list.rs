//! Lists: page after page, taken in while they come. The next page is asked for as soon as this one says that there is one,
//! so that the server works on it meanwhile; what it sends waits in the connection until this one is done.

use std::sync::Arc;

use http::StatusCode;
use tokio::task::JoinHandle;

use super::api_client::{self, Ahead, ApiClient, RequestError};
use super::call::Accept;
use super::flow::{Ended, Flow};
use super::split::{ElementSink, Head, Splitter};
use super::traffic::Meter;
use super::why::{self, why};
use crate::fetched::{Fetched, Why};
use crate::item::Kind;
use crate::protobuf::Message;
use crate::protobuf::Schema;
use crate::source::ObjectSink;

/// Items in a page: what client-go asks for as well.
const PAGE: u32 = 500;
/// How often a list is begun again after its continue token has expired, before it is asked for in one piece.
const RESTARTS: u32 = 2;

/// Fetches every object of a kind, in protobuf where that can be read, at the newest version that the server serves.
pub(super) async fn list(
    api: &Arc<ApiClient>,
    kind: Kind,
    meter: &Arc<Meter>,
    sink: &mut dyn ObjectSink,
) -> Fetched {
    let not_served = Fetched::Missing { reason: Why::NotServed };
    for path in super::path::lists(kind) {
        let fetched = list_at(api, kind, &path, meter, sink).await;
        if fetched != not_served {
            return fetched;
        }
    }
    not_served
}

async fn list_at(
    api: &Arc<ApiClient>,
    kind: Kind,
    path: &str,
    meter: &Arc<Meter>,
    sink: &mut dyn ObjectSink,
) -> Fetched {
    let schema = if sink.takes_messages() { kind.info().message } else { None };
    let mut begun = 0;
    loop {
        begun += 1;
        let limit = (begun <= 1 + RESTARTS).then_some(PAGE);
        let pages = Pages { api, meter, path, limit, schema };
        let mut arrived = 0;
        let reason = match pages.all(sink, &mut arrived).await {
            Ok(()) => return Fetched::Complete,
            Err(Ended::Malformed(message)) => Why::Malformed { message },
            Err(Ended::RequestError(RequestError::Refused(refusal)))
                if refusal.status == StatusCode::GONE && limit.is_some() =>
            {
                sink.restart();
                continue;
            }
            Err(Ended::RequestError(RequestError::Refused(refusal)))
                if refusal.status == StatusCode::NOT_FOUND =>
            {
                Why::NotServed
            }
            Err(Ended::RequestError(trouble)) => why(&trouble),
        };
        return why::ended(reason, arrived);
    }
}

/// The pages of one list.
struct Pages<'a> {
    api: &'a Arc<ApiClient>,
    meter: &'a Arc<Meter>,
    path: &'a str,
    limit: Option<u32>,
    /// How its items are read from protobuf, if they can be.
    schema: Option<&'static Schema>,
}

impl Pages<'_> {
    /// Takes in every page; `arrived` counts the items.
    async fn all(&self, sink: &mut dyn ObjectSink, arrived: &mut usize) -> Result<(), Ended> {
        let mut token = None;
        let mut opened = self.open(None, Ahead::Yes);
        loop {
            let mut page = Page { sink: &mut *sink, schema: self.schema, head: None, known: 0, taken: 0 };
            let mut next = None;
            let mut tried = 0;
            loop {
                tried += 1;
                let flow = match opened.answer().await {
                    Ok(flow) => flow,
                    Err(trouble) => {
                        *arrived += page.known;
                        return Err(Ended::RequestError(trouble));
                    }
                };
                match self.read(flow, &mut page, &mut next).await {
                    Err(Ended::RequestError(RequestError::Broken(broken)))
                        if tried < api_client::TRIES && broken.may_pass(true) => {}
                    other => {
                        *arrived += page.known.max(page.taken);
                        other?;
                        break;
                    }
                }
                if token.is_some() {
                    // A token stands for one moment: the same items come again, in the same order.
                    page.known = page.known.max(page.taken);
                } else {
                    page.sink.restart();
                    next = None;
                }
                page.taken = 0;
                self.meter.retried();
                tokio::time::sleep(api_client::pause(tried)).await;
                opened = self.open(token.as_deref(), Ahead::No);
            }
            match (page.head.take().and_then(|head| head.next), next) {
                (Some(following), Some(next)) => (token, opened) = (Some(following), next),
                _ => return Ok(()),
            }
        }
    }

    /// Takes in one page; `next` becomes the one after it.
    async fn read(
        &self,
        mut flow: Flow,
        page: &mut Page<'_>,
        next: &mut Option<Opened>,
    ) -> Result<(), Ended> {
        // A server that has no protobuf for it answers in JSON.
        let mut splitter = match self.schema {
            Some(schema) if flow.is_protobuf() => Splitter::messages(schema.name),
            _ => Splitter::json(),
        };
        let outcome = loop {
            match flow.next(self.meter).await {
                Ok(Some(bytes)) => {
                    if let Err(error) = splitter.push(&bytes, page) {
                        return Err(Ended::Malformed(error.to_string()));
                    }
                }
                Ok(None) => break Ok(()),
                Err(ended) => break Err(ended),
            }
            if next.is_none()
                && let Some(Head { next: Some(token) }) = &page.head
            {
                *next = Some(self.open(Some(token), Ahead::Yes));
            }
        };
        // What was whole before the answer broke off counts as well.
        let whole = splitter.finish(page);
        outcome?;
        whole.map_err(|error| Ended::Malformed(error.to_string()))?;
        if next.is_none()
            && let Some(Head { next: Some(token) }) = &page.head
        {
            *next = Some(self.open(Some(token), Ahead::Yes));
        }
        Ok(())
    }

    /// Asks for a page.
    fn open(&self, token: Option<&str>, ahead: Ahead) -> Opened {
        let path = match (self.limit, token) {
            (None, _) => self.path.to_owned(),
            (Some(limit), None) => format!("{}?limit={limit}", self.path),
            (Some(limit), Some(token)) => {
                format!("{}?limit={limit}&continue={}", self.path, super::path::encode(token))
            }
        };
        let accept = if self.schema.is_some() { Accept::Protobuf } else { Accept::Json };
        let (api, meter) = (Arc::clone(self.api), Arc::clone(self.meter));
        Opened(tokio::spawn(async move { api.open(&path, accept, &meter, ahead).await }))
    }
}

/// A page that was asked for; taken back when nobody waits for it any more.
struct Opened(JoinHandle<Result<Flow, RequestError>>);

impl Opened {
    async fn answer(&mut self) -> Result<Flow, RequestError> {
        // A task that asks neither panics nor is aborted while somebody waits for it.
        (&mut self.0).await.unwrap_or_else(|_| Err(RequestError::lost()))
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Takes in the items of a page, those that it knows from an earlier try excepted.
struct Page<'a> {
    sink: &'a mut dyn ObjectSink,
    schema: Option<&'static Schema>,
    head: Option<Head>,
    known: usize,
    taken: usize,
}

impl ElementSink for Page<'_> {
    fn head(&mut self, head: Head) {
        self.head = Some(head);
    }

    fn begun(&mut self, text: &str) -> Option<usize> {
        if self.taken < self.known {
            return None;
        }
        let length = self.sink.begun(text)?;
        self.taken += 1;
        Some(length)
    }

    fn item(&mut self, text: &[u8]) {
        self.taken += 1;
        if self.taken > self.known {
            self.sink.object(text);
        }
    }

    fn message(&mut self, bytes: &[u8]) -> bool {
        let Some(schema) = self.schema else { return false };
        self.taken += 1;
        self.taken <= self.known || self.sink.message(Message::new(schema, bytes))
    }
}
