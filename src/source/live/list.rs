//! Lists: page after page, taken in while they come. The next page is asked for as soon as this one says that there is one,
//! so that the server works on it meanwhile; what it sends waits in the connection until this one is done.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use http::StatusCode;
use tokio::task::JoinHandle;

use super::api_client::{self, Ahead, ApiClient, RequestError};
use super::call::{Accept, WHOLE_BODY};
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

/// Kinds that have many or large objects in a large cluster. The API server answers from its watch cache for them if the run
/// accepts that ([`super::Connect::from_cache`]).
const LARGE: [Kind; 5] =
    [Kind::Pod, Kind::ReplicaSet, Kind::EndpointSlice, Kind::ControllerRevision, Kind::Job];

/// The most pages of a list.
const MOST_PAGES: usize = 2_000;
/// The most pages in a row that bring no object and announce another page.
const MOST_EMPTY_PAGES: usize = 10;
/// The most objects of a list. Kubernetes is built for 150,000 pods.
const MOST_OBJECTS: usize = 500_000;
/// The longest continue token. API servers send some hundred bytes.
const LONGEST_TOKEN: usize = 16 * 1024;

/// How a list is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// From the watch cache, which sends everything at once. A server without one for the kind sends pages.
    FromCache,
    /// In pages, of the newest state.
    Pages,
    /// Everything at once, of the newest state.
    Whole,
}

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
    let mut form = if api.reads_cache() && LARGE.contains(&kind) { Form::FromCache } else { Form::Pages };
    let mut expired = 0;
    loop {
        let pages = Pages { api, meter, path, form, schema };
        let mut tally = Tally::default();
        let reason = match pages.all(sink, &mut tally).await {
            Ok(()) => return Fetched::Complete,
            Err(Ended::Malformed(message)) => Why::Malformed { message },
            Err(Ended::Endless(message)) => Why::Failed { message },
            Err(Ended::RequestError(RequestError::Refused(refusal)))
                if form == Form::FromCache && may_be_the_cache(refusal.status) =>
            {
                sink.restart();
                form = Form::Pages;
                continue;
            }
            Err(Ended::RequestError(RequestError::Refused(refusal)))
                if refusal.status == StatusCode::GONE && form == Form::Pages =>
            {
                sink.restart();
                expired += 1;
                form = if expired > RESTARTS { Form::Whole } else { Form::Pages };
                continue;
            }
            Err(Ended::RequestError(RequestError::Refused(refusal)))
                if refusal.status == StatusCode::NOT_FOUND =>
            {
                Why::NotServed
            }
            Err(Ended::RequestError(trouble)) => why(&trouble),
        };
        return why::ended(reason, tally.objects);
    }
}

/// Whether a list without the watch cache may succeed after this refusal of one with it.
fn may_be_the_cache(status: StatusCode) -> bool {
    !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND)
}

/// What a list has brought so far; it stops a list that has no end.
#[derive(Default)]
struct Tally {
    pages: usize,
    /// Pages in a row without an object.
    empty: usize,
    objects: usize,
    /// Bytes, decompressed.
    bytes: usize,
    /// Hashes of the continue tokens.
    tokens: HashSet<u64>,
}

impl Tally {
    /// Counts a page that announces another one.
    fn follow(&mut self, token: &str, whole: bool) -> Result<(), Ended> {
        self.pages += 1;
        let mut hasher = DefaultHasher::new();
        token.hash(&mut hasher);
        let pages = self.pages;
        let trouble = if whole {
            "the API server announced another page of a list without pages".to_owned()
        } else if token.len() > LONGEST_TOKEN {
            format!("the API server sent a continue token of more than {LONGEST_TOKEN} bytes")
        } else if !self.tokens.insert(hasher.finish()) {
            format!("the API server repeated a continue token; stopped after page {pages}")
        } else if pages >= MOST_PAGES {
            format!("the list has more than {MOST_PAGES} pages; stopped there")
        } else {
            return Ok(());
        };
        Err(Ended::Endless(trouble))
    }

    /// Counts the objects of a page.
    fn page(&mut self, objects: usize) -> Result<(), Ended> {
        self.objects += objects;
        self.empty = if objects == 0 { self.empty + 1 } else { 0 };
        if self.empty < MOST_EMPTY_PAGES {
            return Ok(());
        }
        let message =
            format!("the API server sent {MOST_EMPTY_PAGES} pages in a row without an object; stopped there");
        Err(Ended::Endless(message))
    }

    /// Counts a piece of a page that has brought so many objects.
    fn piece(&mut self, bytes: usize, objects: usize) -> Result<(), Ended> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > WHOLE_BODY {
            let most = WHOLE_BODY / (1024 * 1024);
            return Err(Ended::Endless(format!("the list is larger than {most} MB; stopped there")));
        }
        if self.objects + objects > MOST_OBJECTS {
            let message = format!("the list has more than {MOST_OBJECTS} objects; stopped there");
            return Err(Ended::Endless(message));
        }
        Ok(())
    }
}

/// The pages of one list.
struct Pages<'a> {
    api: &'a Arc<ApiClient>,
    meter: &'a Arc<Meter>,
    path: &'a str,
    form: Form,
    /// How its items are read from protobuf, if they can be.
    schema: Option<&'static Schema>,
}

impl Pages<'_> {
    /// Takes in every page.
    async fn all(&self, sink: &mut dyn ObjectSink, tally: &mut Tally) -> Result<(), Ended> {
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
                        tally.objects += page.known;
                        return Err(Ended::RequestError(trouble));
                    }
                };
                match self.read(flow, &mut page, &mut next, tally).await {
                    Err(Ended::RequestError(RequestError::Broken(broken)))
                        if tried < api_client::TRIES && broken.may_pass(true) => {}
                    Err(ended) => {
                        tally.objects += page.known.max(page.taken);
                        return Err(ended);
                    }
                    Ok(()) => break,
                }
                if token.is_some() {
                    // A token stands for one moment: the same items come again, in the same order.
                    page.known = page.known.max(page.taken);
                } else {
                    // The list begins again, perhaps in a newer state.
                    page.sink.restart();
                    (page.head, next) = (None, None);
                    tally.tokens.clear();
                }
                page.taken = 0;
                self.meter.retried();
                tokio::time::sleep(api_client::pause(tried)).await;
                opened = self.open(token.as_deref(), Ahead::No);
            }
            tally.page(page.known.max(page.taken))?;
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
        tally: &mut Tally,
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
                    tally.piece(bytes.len(), page.taken)?;
                }
                Ok(None) => break Ok(()),
                Err(ended) => break Err(ended),
            }
            self.follow(page, next, tally)?;
        };
        // What was whole before the answer broke off counts as well.
        let whole = splitter.finish(page);
        outcome?;
        whole.map_err(|error| Ended::Malformed(error.to_string()))?;
        self.follow(page, next, tally)
    }

    /// Requests the page after this one, once its token has come.
    fn follow(&self, page: &Page<'_>, next: &mut Option<Opened>, tally: &mut Tally) -> Result<(), Ended> {
        if next.is_none()
            && let Some(Head { next: Some(token) }) = &page.head
        {
            tally.follow(token, self.form == Form::Whole)?;
            *next = Some(self.open(Some(token), Ahead::Yes));
        }
        Ok(())
    }

    /// Requests a page.
    fn open(&self, token: Option<&str>, ahead: Ahead) -> Opened {
        let path = match (self.form, token) {
            (Form::Whole, _) => self.path.to_owned(),
            // A server without a watch cache for the kind heeds the limit.
            (Form::FromCache, None) => format!("{}?limit={PAGE}&resourceVersion=0", self.path),
            (Form::Pages, None) => format!("{}?limit={PAGE}", self.path),
            (Form::FromCache | Form::Pages, Some(token)) => {
                format!("{}?limit={PAGE}&continue={}", self.path, super::path::encode(token))
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
