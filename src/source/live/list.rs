//! Lists: page after page, the next one requested while this one is cut up and decoded. At most two pages of a list are
//! held as they came over the wire (compressed, as a rule), and a few blocks of items.

use std::sync::Arc;

use http::StatusCode;
use tokio::sync::{mpsc, oneshot};

use super::quote::quote;
use super::split::{Block, Head, NotAList, Part, Splitter};
use super::traffic::Meter;
use super::why::{self, why};
use super::wire::{Answer, Trouble, Wire};
use crate::source::{Fetched, Intake, Why};

/// Items in a page: what client-go asks for as well.
const PAGE: u32 = 500;
/// How often a list is begun again after its continue token has expired, before it is asked for in one piece.
const RESTARTS: u32 = 2;
/// Blocks that may wait to be decoded.
const WAITING: usize = 4;

/// What the task that gets pages tells the one that takes items in.
enum Event {
    Items(Block),
    /// The list ends here, because of this.
    Failed(Trouble),
    /// A page came, and is no list.
    Malformed(String),
}

/// Fetches the list at `path`.
pub(super) async fn list(
    wire: &Arc<Wire>,
    path: &str,
    meter: &Arc<Meter>,
    intake: &mut dyn Intake,
) -> Fetched {
    let mut begun = 0;
    loop {
        begun += 1;
        let limit = (begun <= 1 + RESTARTS).then_some(PAGE);
        let (sender, mut events) = mpsc::channel(WAITING);
        let pages = Pages {
            wire: Arc::clone(wire),
            meter: Arc::clone(meter),
            path: path.to_owned(),
            limit,
            events: sender,
        };
        let _ended_with_this_call = AbortOnDrop(tokio::spawn(pages.all()).abort_handle());
        let mut arrived = 0_usize;
        let mut end = None;
        while let Some(event) = events.recv().await {
            match event {
                Event::Items(block) => {
                    for item in block.items() {
                        arrived += 1;
                        intake.object(item);
                    }
                }
                Event::Failed(trouble) => end = Some(Err(trouble)),
                Event::Malformed(message) => end = Some(Ok(Why::Malformed { message })),
            }
        }
        let reason = match end {
            None => return Fetched::Complete,
            Some(Ok(malformed)) => malformed,
            Some(Err(Trouble::Refused(refusal))) if refusal.status == StatusCode::GONE && limit.is_some() => {
                intake.restart();
                continue;
            }
            Some(Err(Trouble::Refused(refusal))) if refusal.status == StatusCode::NOT_FOUND => Why::NotServed,
            Some(Err(trouble)) => why(&trouble),
        };
        return why::ended(reason, arrived);
    }
}

/// Ends a task when nobody waits for it any more.
struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The task that gets pages.
struct Pages {
    wire: Arc<Wire>,
    meter: Arc<Meter>,
    path: String,
    limit: Option<u32>,
    events: mpsc::Sender<Event>,
}

impl Pages {
    async fn all(self) {
        let mut page = self.page(None).await;
        loop {
            let answer = match page {
                Ok(answer) => answer,
                Err(trouble) => {
                    // Nobody listens when the list was given up.
                    let _ = self.events.send(Event::Failed(trouble)).await;
                    return;
                }
            };
            let (tell_head, head) = oneshot::channel();
            let (events, meter) = (self.events.clone(), Arc::clone(&self.meter));
            // Decompressing and cutting up keep a core busy for longer than a task that others wait for should.
            let cut = tokio::task::spawn_blocking(move || cut(answer, &meter, tell_head, &events));
            let next = async {
                match head.await {
                    Ok(Head { next: Some(token) }) => Some(self.page(Some(&token)).await),
                    Ok(Head { next: None }) | Err(_) => None,
                }
            };
            let (whole, next) = tokio::join!(cut, next);
            match (whole, next) {
                (Ok(true), Some(next)) => page = next,
                // The last page, or one after which no more is wanted.
                _ => return,
            }
        }
    }

    async fn page(&self, token: Option<&str>) -> Result<Answer, Trouble> {
        let path = match (self.limit, token) {
            (None, _) => self.path.clone(),
            (Some(limit), None) => format!("{}?limit={limit}", self.path),
            (Some(limit), Some(token)) => {
                format!("{}?limit={limit}&continue={}", self.path, super::path::encode(token))
            }
        };
        self.wire.get(&path, &self.meter, true).await
    }
}

/// Decompresses a page and cuts it into items; false when the list is not to go on.
fn cut(
    answer: Answer,
    meter: &Meter,
    tell_head: oneshot::Sender<Head>,
    events: &mpsc::Sender<Event>,
) -> bool {
    let mut splitter = Splitter::new();
    let mut tell_head = Some(tell_head);
    let mut wanted = true;
    let mut hand_on = |part: Part| match part {
        Part::Head(head) => {
            if let Some(tell) = tell_head.take() {
                let _ = tell.send(head);
            }
        }
        Part::Items(block) => wanted = wanted && events.blocking_send(Event::Items(block)).is_ok(),
    };
    let read = answer.read(meter, |bytes| splitter.push(bytes, &mut hand_on));
    let outcome = match read {
        Ok(Ok(())) => splitter.finish(&mut hand_on).map_err(|error| error.to_string()),
        Ok(Err(error)) => {
            // What was whole before the broken place still counts.
            let _: Result<(), NotAList> = splitter.finish(&mut hand_on);
            Err(error.to_string())
        }
        Err(error) => Err(format!("the compressed answer is broken: {}", quote(&error.to_string(), 100))),
    };
    match outcome {
        Ok(()) => wanted,
        Err(message) => {
            let _ = events.blocking_send(Event::Malformed(message));
            false
        }
    }
}
