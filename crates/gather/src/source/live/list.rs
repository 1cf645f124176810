//! Lists, page by page, decoded while they arrive. The next page is requested as soon as its token is known, so that
//! the server prepares it meanwhile; its data waits in the connection.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use tokio::task::JoinHandle;

use super::api_client::{self, ApiClient, Backoff, RequestError};
use super::call::{Accept, WHOLE_BODY};
use super::fetch_error::{self, why};
use super::flow::{Ended, Flow};
use super::split::{ElementSink, Head, NotAList, Splitter};
use super::traffic::Meter;
use crate::fetched::{Fetched, Why};
use crate::item::Kind;
use crate::protobuf::Message;
use crate::protobuf::Schema;
use crate::source::ObjectSink;
use crate::source::kept::{MOST_EXCESS, MOST_OBJECTS, USUAL_OBJECT};

/// Page size, the same as client-go's.
const PAGE: u32 = 500;
/// Number of restarts after an expired continue token, before the list is requested in one piece.
const RESTARTS: u32 = 2;

/// Kinds with many or large objects. The API server answers from its watch cache for them if the run allows it
/// ([`super::Connect::from_cache`]).
const LARGE: [Kind; 5] = [Kind::Pod, Kind::ReplicaSet, Kind::EndpointSlice, Kind::ControllerRevision, Kind::Job];

/// Maximum number of pages of a list.
const MOST_PAGES: usize = 2_000;
/// Maximum number of consecutive pages that another one follows, although they are nearly empty.
const MOST_SPARSE_PAGES: usize = 10;
/// Minimum number of objects of a page that another one follows. API servers fill such a page up to its limit.
const FEWEST_OBJECTS: usize = PAGE as usize / 20;
/// Maximum length of a continue token. API servers send some hundred bytes.
const LONGEST_TOKEN: usize = 16 * 1024;

/// Form of a list request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListForm {
    /// From the watch cache, in one response. A server without a cache for the kind sends pages.
    FromCache,
    /// In pages, at the newest state.
    Pages,
    /// In one response, at the newest state.
    Whole,
}

/// Fetches all objects of a kind, in protobuf if supported, at the newest version that the server serves.
pub(super) async fn list(api: &Arc<ApiClient>, kind: Kind, meter: &Arc<Meter>, sink: &mut dyn ObjectSink) -> Fetched {
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
    let mut form = if api.reads_cache() && LARGE.contains(&kind) { ListForm::FromCache } else { ListForm::Pages };
    let mut expired = 0;
    loop {
        let pages = Pages { api, meter, path, form, schema };
        let mut tally = Tally::default();
        let reason = match pages.all(sink, &mut tally).await {
            Ok(()) => return Fetched::Complete,
            Err(Ended::Malformed(message)) => Why::Malformed { message },
            Err(Ended::Endless(message)) => Why::Failed { message },
            Err(Ended::HtmlPage) => Why::html_page(),
            Err(Ended::RequestError(RequestError::Refused(refusal)))
                if form == ListForm::FromCache && may_be_the_cache(refusal.status) =>
            {
                sink.restart();
                form = ListForm::Pages;
                continue;
            }
            Err(Ended::RequestError(RequestError::Refused(refusal)))
                if refusal.status == StatusCode::GONE && form == ListForm::Pages =>
            {
                sink.restart();
                expired += 1;
                form = if expired > RESTARTS { ListForm::Whole } else { ListForm::Pages };
                continue;
            }
            Err(Ended::RequestError(RequestError::Refused(refusal))) if refusal.status == StatusCode::NOT_FOUND => {
                Why::NotServed
            }
            Err(Ended::RequestError(trouble)) => why(&trouble),
        };
        return fetch_error::ended(reason, tally.objects);
    }
}

/// Whether the list may succeed without the watch cache after this error.
fn may_be_the_cache(status: StatusCode) -> bool {
    !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND)
}

/// Counters of a list; they stop an endless one.
#[derive(Default)]
struct Tally {
    pages: usize,
    /// Consecutive pages with fewer than [`FEWEST_OBJECTS`].
    sparse: usize,
    objects: usize,
    /// Bytes, decompressed.
    bytes: usize,
    /// Bytes beyond [`USUAL_OBJECT`] per object that were counted for the run.
    excess: usize,
    /// Hashes of the continue tokens.
    tokens: HashSet<u64>,
}

impl Tally {
    /// Counts a page that is followed by another one.
    fn follow(&mut self, token: &str, whole: bool) -> Result<(), Ended> {
        self.pages += 1;
        let mut hasher = DefaultHasher::new();
        token.hash(&mut hasher);
        let pages = self.pages;
        let trouble = if whole {
            "the API server announced another page of an unpaged list".to_owned()
        } else if token.len() > LONGEST_TOKEN {
            format!("the API server sent a continue token of more than {LONGEST_TOKEN} bytes")
        } else if !self.tokens.insert(hasher.finish()) {
            format!("the API server repeated a continue token; stopped after page {pages}")
        } else if pages >= MOST_PAGES {
            format!("the list has more than {MOST_PAGES} pages; the rest was not read")
        } else {
            return Ok(());
        };
        Err(Ended::Endless(trouble))
    }

    /// Counts the objects of a page.
    fn page(&mut self, objects: usize) -> Result<(), Ended> {
        self.objects += objects;
        self.sparse = if objects < FEWEST_OBJECTS { self.sparse + 1 } else { 0 };
        if self.sparse < MOST_SPARSE_PAGES {
            return Ok(());
        }
        let message = format!(
            "the API server sent {MOST_SPARSE_PAGES} pages in a row with fewer than {FEWEST_OBJECTS} objects; the rest \
             was not read"
        );
        Err(Ended::Endless(message))
    }

    /// Counts a piece of a page and its objects; `of_run` is the excess of all lists.
    fn piece(&mut self, bytes: usize, objects: usize, of_run: &AtomicUsize) -> Result<(), Ended> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > WHOLE_BODY {
            let most = WHOLE_BODY / (1024 * 1024);
            return Err(Ended::Endless(format!("the list is larger than {most} MB; the rest was not read")));
        }
        if self.objects + objects > MOST_OBJECTS {
            let message = format!("the list has more than {MOST_OBJECTS} objects; the rest was not read");
            return Err(Ended::Endless(message));
        }
        let excess = self.bytes.saturating_sub((self.objects + objects) * USUAL_OBJECT);
        let more = excess.saturating_sub(self.excess);
        self.excess += more;
        if of_run.fetch_add(more, Ordering::Relaxed) + more > MOST_EXCESS {
            let (usual, most) = (USUAL_OBJECT / 1024, MOST_EXCESS / (1024 * 1024));
            return Err(Ended::Endless(format!(
                "objects of more than {usual} kB fill {most} MB in this run; the rest of the list was not read"
            )));
        }
        Ok(())
    }
}

/// The pages of one list.
struct Pages<'a> {
    api: &'a Arc<ApiClient>,
    meter: &'a Arc<Meter>,
    path: &'a str,
    form: ListForm,
    /// Decoder for items in protobuf, if any.
    schema: Option<&'static Schema>,
}

impl Pages<'_> {
    /// Reads all pages.
    async fn all(&self, sink: &mut dyn ObjectSink, tally: &mut Tally) -> Result<(), Ended> {
        let mut token = None;
        let mut opened = self.open(None, Backoff::Yes);
        loop {
            let mut page = ListPage { sink: &mut *sink, schema: self.schema, head: None, known: 0, taken: 0 };
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
                    // A token refers to one state: the same items come again, in the same order.
                    page.known = page.known.max(page.taken);
                } else {
                    // The list restarts, possibly in a newer state.
                    page.sink.restart();
                    (page.head, next) = (None, None);
                    tally.tokens.clear();
                }
                page.taken = 0;
                self.meter.retried();
                tokio::time::sleep(api_client::pause(tried)).await;
                opened = self.open(token.as_deref(), Backoff::No);
            }
            tally.page(page.known.max(page.taken))?;
            let head = page.head.take().unwrap_or_default();
            match (head.next, next) {
                (Some(following), Some(next)) => (token, opened) = (Some(following), next),
                _ => match head.remaining.filter(|remaining| *remaining > 0) {
                    None => return Ok(()),
                    Some(remaining) => {
                        let message = format!(
                            "the API server announced {remaining} more objects, but no page that contains them"
                        );
                        return Err(Ended::Endless(message));
                    }
                },
            }
        }
    }

    /// Reads one page; `next` becomes the following one.
    async fn read(
        &self,
        mut flow: Flow,
        page: &mut ListPage<'_>,
        next: &mut Option<Opened>,
        tally: &mut Tally,
    ) -> Result<(), Ended> {
        // A server without protobuf for the kind sends JSON.
        let mut splitter = match self.schema {
            Some(schema) if flow.is_protobuf() => Splitter::messages(schema.name),
            _ => Splitter::json(),
        };
        let outcome = loop {
            match flow.next(self.meter).await {
                Ok(Some(bytes)) => {
                    if let Err(error) = splitter.push(&bytes, page) {
                        return Err(not_a_list(&error));
                    }
                    tally.piece(bytes.len(), page.taken, self.api.excess())?;
                }
                Ok(None) => break Ok(()),
                Err(ended) => break Err(ended),
            }
            self.follow(page, next, tally)?;
        };
        // Complete items before an interruption count.
        let whole = splitter.finish(page);
        outcome?;
        whole.map_err(|error| not_a_list(&error))?;
        self.follow(page, next, tally)
    }

    /// Requests the next page, once its token is known.
    fn follow(&self, page: &ListPage<'_>, next: &mut Option<Opened>, tally: &mut Tally) -> Result<(), Ended> {
        if next.is_none()
            && let Some(Head { next: Some(token), .. }) = &page.head
        {
            tally.follow(token, self.form == ListForm::Whole)?;
            *next = Some(self.open(Some(token), Backoff::Yes));
        }
        Ok(())
    }

    /// Requests a page.
    fn open(&self, token: Option<&str>, ahead: Backoff) -> Opened {
        let path = match (self.form, token) {
            (ListForm::Whole, _) => self.path.to_owned(),
            // A server without a watch cache for the kind respects the limit.
            (ListForm::FromCache, None) => format!("{}?limit={PAGE}&resourceVersion=0", self.path),
            (ListForm::Pages, None) => format!("{}?limit={PAGE}", self.path),
            (ListForm::FromCache | ListForm::Pages, Some(token)) => {
                format!("{}?limit={PAGE}&continue={}", self.path, super::path::encode(token))
            }
        };
        let accept = if self.schema.is_some() { Accept::Protobuf } else { Accept::Json };
        let (api, meter) = (Arc::clone(self.api), Arc::clone(self.meter));
        Opened(tokio::spawn(async move { api.open(&path, accept, &meter, ahead).await }))
    }
}

/// The end of a list whose page is not one.
fn not_a_list(error: &NotAList) -> Ended {
    match error {
        NotAList::Html => Ended::HtmlPage,
        _ => Ended::Malformed(error.to_string()),
    }
}

/// A requested page; aborted on drop.
struct Opened(JoinHandle<Result<Flow, RequestError>>);

impl Opened {
    async fn answer(&mut self) -> Result<Flow, RequestError> {
        // The task neither panics nor is aborted while it is awaited.
        (&mut self.0).await.unwrap_or_else(|_| Err(RequestError::lost()))
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Reads the items of a page, except for those known from an earlier attempt.
struct ListPage<'a> {
    sink: &'a mut dyn ObjectSink,
    schema: Option<&'static Schema>,
    head: Option<Head>,
    known: usize,
    taken: usize,
}

impl ElementSink for ListPage<'_> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_objects_of_all_lists_have_one_limit() {
        let of_run = AtomicUsize::new(0);
        let mut usual = Tally::default();
        for objects in 1..=20_000 {
            assert!(usual.piece(USUAL_OBJECT, objects, &of_run).is_ok());
        }
        let mut large = Tally::default();
        let mut read = |megabytes: std::ops::Range<usize>| {
            megabytes.into_iter().try_for_each(|objects| large.piece(1 << 20, objects + 1, &of_run))
        };
        assert!(read(0..520).is_ok());
        assert!(matches!(read(520..530), Err(Ended::Endless(_))));
        // Nothing is left for the next list.
        assert!(Tally::default().piece(1 << 20, 1, &of_run).is_err());
    }
}
