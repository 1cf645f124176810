//! Container statuses.

use std::ops::Deref;

use serde::Deserialize;

use super::meta::{nullable, redacted};
use super::shared::{Shared, Word, parts};
use super::time::Time;
use crate::protobuf::schema::schemas;

/// Status of one container.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "WrittenStatus")]
pub struct ContainerStatus {
    /// The part that replicas share.
    common: Shared<Common>,
    /// The current state.
    pub state: ContainerState,
    /// State before the last restart, if known.
    last_state: Option<Box<ContainerState>>,
}

/// The part that replicas share.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Common {
    /// Container name.
    pub name: Word,
    /// Whether its readiness probe passes.
    pub ready: bool,
    pub restart_count: u32,
    /// The running image.
    pub image: Word,
}

parts!(Common);

/// Status of one container, as written.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WrittenStatus {
    name: Word,
    #[serde(deserialize_with = "nullable")]
    ready: bool,
    #[serde(deserialize_with = "nullable")]
    restart_count: u32,
    #[serde(deserialize_with = "nullable")]
    image: Word,
    #[serde(deserialize_with = "nullable")]
    state: ContainerState,
    #[serde(deserialize_with = "nullable")]
    last_state: ContainerState,
}

impl From<WrittenStatus> for ContainerStatus {
    fn from(written: WrittenStatus) -> ContainerStatus {
        let WrittenStatus { name, ready, restart_count, image, state, last_state } = written;
        let last_state = Some(last_state).filter(|state| *state != ContainerState::Unknown);
        ContainerStatus {
            common: Shared::from(Common { name, ready, restart_count, image }),
            state,
            last_state: last_state.map(Box::new),
        }
    }
}

impl Deref for ContainerStatus {
    type Target = Common;

    #[inline]
    fn deref(&self) -> &Common {
        &self.common
    }
}

/// One of three states.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "WrittenState")]
pub enum ContainerState {
    /// No state yet.
    #[default]
    Unknown,
    /// Waiting, with the reason.
    Waiting(Box<Waiting>),
    Running(Running),
    Terminated(Box<Terminated>),
}

/// A state, as written: the kubelet sets one of these.
#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenState {
    waiting: Option<Box<Waiting>>,
    running: Option<Running>,
    terminated: Option<Box<Terminated>>,
}

impl From<WrittenState> for ContainerState {
    fn from(written: WrittenState) -> ContainerState {
        match (written.terminated, written.running, written.waiting) {
            (Some(ended), ..) => ContainerState::Terminated(ended),
            (None, Some(running), _) => ContainerState::Running(running),
            (None, None, Some(waiting)) => ContainerState::Waiting(waiting),
            (None, None, None) => ContainerState::Unknown,
        }
    }
}

impl ContainerState {
    /// The waiting state, if it waits.
    pub fn waiting(&self) -> Option<&Waiting> {
        if let ContainerState::Waiting(waiting) = self { Some(waiting) } else { None }
    }

    /// The running state, if it runs.
    pub fn running(&self) -> Option<&Running> {
        if let ContainerState::Running(running) = self { Some(running) } else { None }
    }

    /// The terminated state, if it ended.
    pub fn terminated(&self) -> Option<&Terminated> {
        if let ContainerState::Terminated(ended) = self { Some(ended) } else { None }
    }
}

/// Reason of a waiting container.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Waiting {
    /// PodInitializing, ImagePullBackOff, CrashLoopBackOff, ...
    #[serde(deserialize_with = "nullable")]
    pub reason: String,
    #[serde(deserialize_with = "redacted")]
    pub message: String,
}

/// A running container.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Running {
    /// Time of the last change.
    pub started_at: Time,
}

/// A container that ended.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Terminated {
    #[serde(deserialize_with = "nullable")]
    pub exit_code: i32,
    /// Completed, Error, OOMKilled, ...
    #[serde(deserialize_with = "nullable")]
    pub reason: Word,
    /// Termination message.
    #[serde(deserialize_with = "redacted")]
    pub message: Word,
    /// Start time.
    pub started_at: Time,
    /// End time.
    pub finished_at: Time,
}

impl ContainerStatus {
    /// See [`super::Object::share`].
    pub(super) fn share(all: &mut [ContainerStatus], before: &[ContainerStatus]) {
        for (status, known) in all.iter_mut().zip(before) {
            status.common.share(&known.common);
        }
    }

    /// State before the last restart; none if it never restarted.
    pub fn last_state(&self) -> &ContainerState {
        self.last_state.as_deref().unwrap_or(&ContainerState::Unknown)
    }
}

schemas! {
    CONTAINER_STATUS "ContainerStatus" {
        1 name: Text,
        2 state: One(&CONTAINER_STATE),
        3 lastState: One(&CONTAINER_STATE),
        4 ready: Bool,
        5 restartCount: Number,
        6 image: Text,
    }

    CONTAINER_STATE "ContainerState" {
        1 waiting: One(&WAITING),
        2 running: One(&RUNNING),
        3 terminated: One(&TERMINATED),
    }

    WAITING "ContainerStateWaiting" {
        1 reason: Text,
        2 message: Text,
    }

    RUNNING "ContainerStateRunning" {
        1 startedAt: Time,
    }

    TERMINATED "ContainerStateTerminated" {
        1 exitCode: Number,
        3 reason: Text,
        4 message: Text,
        5 startedAt: Time,
        6 finishedAt: Time,
    }
}
