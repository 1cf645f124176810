//! The envelope of objects in protobuf (`runtime.Unknown`): four bytes, the type of the content, and the
//! object.

use super::schema::{Field, Holds, Schema};
use super::wire::{Fields, WireValue};

/// The prefix of every protobuf answer of an API server.
pub const MAGIC: &[u8] = b"k8s\0";

/// The reason for a refusal, which has the requested format.
pub static REFUSAL: Schema = Schema {
    name: "Status",
    fields: &[
        Field { number: 3, name: "message", holds: Holds::Text },
        Field { number: 5, name: "details", holds: Holds::One(&DETAILS) },
    ],
};

static DETAILS: Schema =
    Schema { name: "StatusDetails", fields: &[Field { number: 1, name: "name", holds: Holds::Text }] };

/// The object in a complete answer, if it has that kind.
pub fn in_envelope<'a>(answer: &'a [u8], kind: &str) -> Option<&'a [u8]> {
    let mut object = None;
    let mut fields = Fields::new(answer.strip_prefix(MAGIC)?);
    let mut named = false;
    while let Some(field) = fields.next().ok()? {
        match (field.number, field.value) {
            (1, WireValue::Bytes(about)) => named = text_in(about, 2) == Some(kind),
            (2, WireValue::Bytes(bytes)) => object = Some(bytes),
            _ => {}
        }
    }
    object.filter(|_| named)
}

/// The text in a field of a message.
pub fn text_in(message: &[u8], number: u64) -> Option<&str> {
    let mut found = None;
    let mut fields = Fields::new(message);
    while let Some(field) = fields.next().ok()? {
        if let (true, WireValue::Bytes(bytes)) = (field.number == number, field.value) {
            found = std::str::from_utf8(bytes).ok();
        }
    }
    found
}
