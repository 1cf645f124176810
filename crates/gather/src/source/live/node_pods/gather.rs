//! Reads the nodes with a pod each, a few at a time, and deletes the pods on every exit.

use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt, Shared};
use tokio::sync::watch;

use super::super::quote::quote_end;
use super::calls::{self, CREATE_SECONDS, Pods};
use super::manifest::DEADLINE_SECONDS;
use super::state::{self, NodePodState};
use super::{AT_ONCE, Gathered, Plan, sweep};
use crate::node_log::{self, FoundSnapshot, LogError};
use crate::source::live::Live;

/// Time limit for a kubelet to start a pod.
const TAKEN_UP_WITHIN: Duration = Duration::from_secs(60);
/// Extra time after a pod's own deadline before it is given up.
const OVERTIME: Duration = Duration::from_secs(15);
/// Time limit for pending creations when the run ends.
const LAST_ANSWER: Duration = Duration::from_secs(3);
/// Pauses between two looks at a pod.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Number of attempts to read an incomplete log, and the pause between them.
const LOG_TRIES: usize = 3;
const LOG_PAUSE: Duration = Duration::from_secs(1);

/// Reason for stopping before all nodes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Interrupted,
    TimeUp,
}

impl End {
    fn words(self) -> &'static str {
        match self {
            End::Interrupted => "the run was interrupted",
            End::TimeUp => "the time limit of the run (--timeout) was reached",
        }
    }
}

/// Inputs for reading one node.
struct NodeReadInputs<'a> {
    pods: &'a Pods<'a>,
    plan: &'a Plan,
    end: Shared<BoxFuture<'a, End>>,
    /// Names of requested pods.
    asked: Mutex<Vec<String>>,
    /// Time when creations without a response have happened or never will.
    settled: Mutex<Option<Instant>>,
}

impl Live {
    /// Creates the pods of a plan, reads their logs, and deletes them: also on `stop`, at the deadline, and on a panic.
    /// `tell` receives the result of each node.
    pub async fn gather_nodes(
        &self,
        plan: &Plan,
        until: Option<Instant>,
        stop: watch::Receiver<bool>,
        tell: &(dyn Fn(&str, Result<usize, &str>) + Sync),
    ) -> Gathered {
        let pods = Pods::new(&self.api, &plan.pattern.namespace);
        let left_before = sweep::remove(&self.api, &plan.abandoned).await;
        let reading = NodeReadInputs {
            pods: &pods,
            plan,
            end: ending(until, stop).boxed().shared(),
            asked: Mutex::default(),
            settled: Mutex::default(),
        };
        let reading = &reading;
        let one = |(number, node): (usize, &String)| {
            let node = node.clone();
            async move {
                let read = reading.node(number, &node).await;
                tell(&node, read.as_ref().map(|held| held.tree.files.len()).map_err(String::as_str));
                (node, read)
            }
        };
        let all = futures::stream::iter(plan.nodes.iter().enumerate()).map(one).buffer_unordered(AT_ONCE);
        let read = AssertUnwindSafe(all.collect::<Vec<_>>()).catch_unwind().await;

        let asked = std::mem::take(&mut *lock(&reading.asked));
        let settled = lock(&reading.settled).take();
        let left = sweep::own(&pods, &plan.pattern, &asked, settled).await;
        let end = reading.end.clone().now_or_never();
        let running = match end {
            Some(End::Interrupted) => plan.running.clone(),
            _ if plan.running.is_empty() => Vec::new(),
            _ => sweep::remove_abandoned(&self.api, &pods, plan).await,
        };
        let mut gathered = Gathered {
            left: left.into_iter().chain(left_before).collect(),
            running,
            interrupted: end == Some(End::Interrupted),
            ..Gathered::default()
        };
        match read {
            // All pods are deleted; a panic may now continue.
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(read) => {
                for (node, read) in read {
                    match read {
                        Ok(held) => gathered.read.push((node, held.tree)),
                        Err(why) => gathered.failed.push((node, why)),
                    }
                }
            }
        }
        gathered.read.sort_by(|a, b| a.0.cmp(&b.0));
        gathered.failed.sort();
        gathered
    }
}

async fn ending(until: Option<Instant>, mut stop: watch::Receiver<bool>) -> End {
    let stopped = async {
        // A dropped sender is not a request to stop.
        if stop.wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let time_up = async {
        match until {
            Some(until) => tokio::time::sleep_until(until.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = stopped => End::Interrupted,
        () = time_up => End::TimeUp,
    }
}

impl NodeReadInputs<'_> {
    /// Reads one node; its pod is deleted right afterwards.
    async fn node(&self, number: usize, node: &str) -> Result<FoundSnapshot, String> {
        if let Some(end) = self.end.clone().now_or_never() {
            return Err(format!("not read: {}", end.words()));
        }
        let name = self.plan.pattern.name(number);
        lock(&self.asked).push(name.clone());
        self.create(number, node).await?;
        let read = tokio::select! {
            biased;
            end = self.end.clone() => Err(end.words().to_owned()),
            read = self.read(&name, node) => read,
        };
        // A failed deletion is retried at the end, by label.
        let end = async {
            self.end.clone().await;
            tokio::time::sleep(LAST_ANSWER).await;
        };
        tokio::select! { _ = self.pods.delete(&name, None, false) => {}, () = end => {} }
        read
    }

    /// Creates the pod. An abandoned creation is remembered, since it may still succeed.
    async fn create(&self, number: usize, node: &str) -> Result<(), String> {
        let pod = self.plan.pattern.pod(number, node);
        let end = async {
            let end = self.end.clone().await;
            tokio::time::sleep(LAST_ANSWER).await;
            end
        };
        let (uncertain, result) = tokio::select! {
            created = self.pods.create(&pod, false) => match created {
                Ok(_) => (false, Ok(())),
                Err(trouble) => {
                    let why = format!("its pod could not be created: {}", calls::words(&trouble));
                    (calls::may_have_happened(&trouble), Err(why))
                }
            },
            end = end => (true, Err(end.words().to_owned())),
        };
        if uncertain {
            let then = Instant::now() + Duration::from_secs(CREATE_SECONDS + 2);
            lock(&self.settled).replace(then);
        }
        result
    }

    /// Waits for the pod and reads its log.
    async fn read(&self, name: &str, node: &str) -> Result<FoundSnapshot, String> {
        let how = self.ended(name).await?;
        let mut tries = 0;
        loop {
            tries += 1;
            let log = self.pods.log(name).await;
            let log = log.map_err(|trouble| format!("its log could not be read: {}", calls::words(&trouble)))?;
            let error = match node_log::read(&log) {
                Ok(held) if held.node == node => return Ok(held),
                Ok(held) => return Err(format!("its log contains the snapshot of node {:?}", held.node)),
                Err(error) => error,
            };
            // The runtime may still be writing the end of the log.
            let late = matches!(error, LogError::None { .. } | LogError::Cut { .. }) && how.is_none();
            if !late || tries == LOG_TRIES {
                let error = quote_end(&error.to_string(), 400);
                return Err(how.map_or(error.clone(), |how| format!("{how}; {error}")));
            }
            tokio::time::sleep(LOG_PAUSE).await;
        }
    }

    /// Waits until the container has ended; returns the reason unless it succeeded.
    async fn ended(&self, name: &str) -> Result<Option<String>, String> {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            tokio::time::sleep(pause).await;
            pause = (pause * 3 / 2).min(LONGEST_PAUSE);
            let pod = self.pods.get(name).await;
            let pod = pod.map_err(|trouble| format!("its pod could not be read: {}", calls::words(&trouble)))?;
            let state = pod.as_ref().map_or_else(
                || NodePodState::Failed("its pod was deleted before it was read".to_owned()),
                state::from_pod,
            );
            let waited = began.elapsed();
            match state {
                NodePodState::Ended(how) => return Ok(how),
                NodePodState::Failed(why) => return Err(why),
                NodePodState::Unseen if waited > TAKEN_UP_WITHIN => {
                    let seconds = waited.as_secs();
                    return Err(format!(
                        "its kubelet did not start the pod within {seconds} s; check that the kubelet is \
                         running"
                    ));
                }
                NodePodState::Waiting(what) if waited > Duration::from_secs(DEADLINE_SECONDS) + OVERTIME => {
                    return Err(format!("not finished within {} s: {what}", waited.as_secs()));
                }
                NodePodState::Unseen | NodePodState::Waiting(_) => {}
            }
        }
    }
}

/// A poisoned lock means a panic while a name was added; the names are still usable.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
