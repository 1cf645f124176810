//! Recent lines of container logs: bounded, timestamped, and reduced before they are kept.

use std::collections::BTreeSet;

use super::Live;
use super::api_client::RequestError;
use super::call::Call;
use super::fetch_error::why;
use super::path::encode;
use super::traffic::Meter;
use crate::fetched::Why;
use crate::source::logs::{ContainerLog, Logs};

/// Number of lines to request.
const LINES: usize = 1000;
/// Number of bytes to request.
const BYTES: usize = 512 * 1024;
/// Number of logs to read in parallel.
const AT_ONCE: usize = 4;

impl Live {
    /// Reads recent lines of these logs, and adds them to given ones. Failures are recorded with them.
    pub async fn tails(&self, tails: &[ContainerLog], mut logs: Logs) -> Logs {
        let mut denied = BTreeSet::new();
        for some in tails.chunks(AT_ONCE) {
            // A 403 on one log applies to the whole namespace.
            let some: Vec<_> = some.iter().filter(|tail| !denied.contains(&tail.namespace)).collect();
            let read = futures::future::join_all(some.iter().map(|tail| self.tail(tail))).await;
            for (tail, outcome) in some.into_iter().zip(read) {
                match outcome {
                    Ok(Some(bytes)) => {
                        let cut = bytes.len() >= BYTES;
                        logs.add(tail, String::from_utf8_lossy(&bytes).into_owned(), cut);
                    }
                    Ok(None) => {}
                    Err(why) => {
                        if matches!(why, Why::Denied { .. }) {
                            denied.insert(tail.namespace.clone());
                        }
                        logs.unread(why);
                    }
                }
            }
        }
        logs
    }

    /// One log; empty if the run or the pod no longer exists.
    async fn tail(&self, tail: &ContainerLog) -> Result<Option<Vec<u8>>, Why> {
        let meter = Meter::default();
        let (namespace, pod) = (encode(&tail.namespace), encode(&tail.pod));
        let container = encode(&tail.container);
        let previous = if tail.previous { "&previous=true" } else { "" };
        let path = format!(
            "/api/v1/namespaces/{namespace}/pods/{pod}/log?container={container}\
             &tailLines={LINES}&limitBytes={BYTES}&timestamps=true{previous}"
        );
        // A server that ignores the limit must not exhaust memory.
        let most = 2 * BYTES;
        match self.api.send(&Call::text(&path, most), &meter, true).await {
            Ok(answer) => match answer.whole(&meter, most) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) => Err(Why::Malformed { message: format!("log of {}: {error}", tail.key()) }),
            },
            // 400: the container has not run yet, or its previous run is no longer known.
            Err(RequestError::Refused(refusal)) if matches!(refusal.status.as_u16(), 400 | 404) => Ok(None),
            Err(trouble) => Err(why(&trouble)),
        }
    }
}
