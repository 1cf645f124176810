//! Conditions in the status of objects.

use serde::Deserialize;

use super::meta::{nullable, redacted};
use super::shared::Word;
use super::time::Time;
use crate::protobuf::schema::schemas;

/// One condition of an object's status.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// Its type: Ready, Available, Complete, ...
    #[serde(rename = "type")]
    pub kind: Word,
    /// True, False or Unknown.
    pub status: Word,
    /// One word of why.
    #[serde(deserialize_with = "nullable")]
    pub reason: Word,
    /// A sentence of why.
    #[serde(deserialize_with = "redacted")]
    pub message: Word,
    /// Since when.
    pub last_transition_time: Time,
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
