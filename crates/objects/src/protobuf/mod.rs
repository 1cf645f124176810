//! Objects as API servers write them in protobuf: less to write for the server, and less to read. A
//! [`Message`] is read by whatever reads the same object as JSON: it hands out the fields under their JSON
//! names, as their JSON would be.
//!
//! It knows the numbers of the fields that slim types read ([`schema`]), and passes over the others. What
//! only the numbers can get wrong is held by a test on a real API server, that a slim type reads nothing that
//! has no number by one here.

mod de;
mod envelope;
pub mod schema;
mod wire;

pub use de::{Broken, Message};
pub use envelope::{MAGIC, REFUSAL, in_envelope, text_in};
pub use schema::Schema;
pub use wire::{Header, InvalidMessage, header};

#[cfg(test)]
mod tests;
