//! Conditions in the status of objects.

use std::ops::Deref;

use serde::Deserialize;

use super::meta::{nullable, redacted};
use super::shared::{Shared, Word, parts};
use super::time::Time;
use crate::protobuf::schema::schemas;

/// One condition of an object's status.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "RawCondition")]
pub struct Condition {
    /// Its content, shared by many.
    said: Shared<ConditionContent>,
    /// Time of the last change.
    pub last_transition_time: Time,
}

/// Content of a condition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConditionContent {
    /// Its type: Ready, Available, Complete, ...
    pub kind: Word,
    /// True, False or Unknown.
    pub status: Word,
    /// Reason, one word.
    pub reason: Word,
    pub message: Word,
}

parts!(ConditionContent);

/// A condition, as written.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawCondition {
    #[serde(rename = "type")]
    kind: Word,
    status: Word,
    #[serde(deserialize_with = "nullable")]
    reason: Word,
    #[serde(deserialize_with = "redacted")]
    message: Word,
    last_transition_time: Time,
}

impl From<RawCondition> for Condition {
    fn from(written: RawCondition) -> Condition {
        let RawCondition { kind, status, reason, message, last_transition_time } = written;
        Condition { said: Shared::from(ConditionContent { kind, status, reason, message }), last_transition_time }
    }
}

impl Condition {
    /// Whether a condition of this type is true.
    pub fn is_true(all: &[Condition], kind: &str) -> bool {
        all.iter().any(|one| one.kind == kind && one.status == "True")
    }
}

impl Deref for Condition {
    type Target = ConditionContent;

    #[inline]
    fn deref(&self) -> &ConditionContent {
        &self.said
    }
}

impl Condition {
    /// A condition with this content, without a time.
    pub fn new(kind: &str, status: &str, reason: &str, message: &str) -> Condition {
        let [kind, status, reason, message] = [kind, status, reason, message].map(Word::from);
        let said = Shared::from(ConditionContent { kind, status, reason, message });
        Condition { said, last_transition_time: Time::default() }
    }

    /// See [`super::Object::share`].
    pub(super) fn share(all: &mut [Condition], before: &[Condition]) {
        for condition in all {
            if let Some(known) = before.iter().find(|known| known.kind == condition.kind) {
                condition.said.share(&known.said);
            }
        }
    }
}

schemas! {
    CONDITION "PodCondition" {
        1 type: Text,
        2 status: Text,
        4 lastTransitionTime: Time,
        5 reason: Text,
        6 message: Text,
    }
}
