//! Redaction at the border: what leaves these functions holds no token, key or password.
//!
//! Pure functions over bytes and JSON; nothing here reads, prints or keeps anything. A secret is replaced
//! by a marker that keeps its length, so that line and column of what follows can be given as in the
//! original ([`original_column`]). Only JWTs are hashed (two copies of one token stay recognisable);
//! anything shorter could be guessed from its hash. Every function is idempotent: markers survive.

mod certificate;
mod json;
mod keys;
mod marker;
mod object;
mod parse;
mod pem;
mod remote;
mod text;

pub(crate) use certificate::blocks as pem_blocks;
pub use certificate::{KeyMatches, key_matches};
pub use json::json_bytes;
pub use marker::{Marker, original_column, original_len};
pub use object::{Counts, KEY_MATCHES, is_linkerd_container, note_absent_key, object};
pub use parse::parse;
pub(crate) use pem::block as pem_block;
pub use remote::{RemoteAccess, note_absent_kubeconfig};
pub use text::{bytes, text, yaml_bytes};

pub(crate) use marker::markers;

#[cfg(test)]
mod tests;
