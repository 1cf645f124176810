//! The sanitizer: keeps texts by their field ([`allow`]), and removes secrets by their shape or the name before them
//! ([`text`]).
//!
//! Pure functions over bytes and JSON. A secret is replaced by a marker that keeps its length, so that line and column
//! of later text can be mapped to the original ([`original_column`]). Only JWTs and tokens in labels are hashed
//! (to recognize
//! equal ones); shorter secrets could be guessed from a hash. Every function is idempotent: markers are kept.

mod allow;
mod certificate;
mod component;
mod config_map;
mod controller_setting;
mod copy;
mod corefile;
mod error;
mod free_text;
mod json;
mod keys;
mod marker;
mod memo;
mod name;
mod object;
mod parse;
mod pem;
mod remote;
mod route;
mod scrape;
mod sensitive_names;
mod settings;
mod shapes;
mod stored_values;
mod stream;
mod text;
mod withheld;

pub use allow::{CLEAN, Rule, rule, unknown};
pub use certificate::blocks as pem_blocks;
pub use certificate::{KeyMatches, key_matches};
pub use component::{Owner, argument, setting};
pub use controller_setting::{is_controller_argument, is_controller_variable};
pub use corefile::Corefile;
pub use error::{error, sanitized};
pub use free_text::{free_bytes, free_text};
pub use json::{config as config_bytes, facts as fact_bytes};
pub use keys::names_a_secret;
pub use marker::{Marker, is_marked, original_column, original_len};
pub use object::{Counts, KEY_MATCHES, Passed, Sanitized, note_absent_key, object};
pub use parse::parse;
pub use pem::{PemDamage, block as pem_block, read_by_proxies, restored as restored_pem};
pub use remote::{KUBECONFIG, RemoteAccess, note_absent_kubeconfig};
pub use route::matched_value;
pub use scrape::{ScrapeConfig, ScrapeJob, ScrapeRule};
pub use stored_values::{STORED_VALUES, STORED_VALUES_STATE, StoredValues};
pub use stream::Clean;
pub use text::{bytes, own_words, text, yaml_bytes};
pub use withheld::{WITHHELD, is_placeholder, withheld_entries};

pub use marker::markers;
pub use name::object as object_name;

use linkerd_facts::{annotations, chart, knowledge};
use meshdoctor_core::{kubeconfig, names, token, yaml};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct RedactReadme;

#[cfg(test)]
mod tests;
