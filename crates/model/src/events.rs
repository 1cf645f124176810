//! Events as evidence.

use std::fmt;

use crate::finding::{Evidence, Place};
use crate::objects::Event;

/// The place of an event as the report shows it.
pub fn place(object: impl fmt::Display, event: &Event) -> Place {
    Place::Event {
        object: object.to_string(),
        reason: event.reason.to_string(),
        count: event.count,
        last: event.last.get(),
    }
}

/// An event as evidence.
pub fn quoted(object: impl fmt::Display, event: &Event) -> Evidence {
    Evidence { place: place(object, event), said: event.message.to_string() }
}
