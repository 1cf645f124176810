//! meshdoctor looks at a Linkerd service mesh and says what is wrong, what proves it, what it explains, and what to do.
//!
//! The pipeline, in one paragraph: [`policy`] selects checks from the table in [`checks`]; [`collect`] asks a
//! [`source`] for the union of what their cards need, redacts each object at the border and files it in a
//! [`model::Cluster`]; each check, a pure function, judges through a [`checks::Context`] in which unknown evidence
//! travels as [`missing::Missing`]; [`cause`] links symptoms to causes and [`policy`] decides the verdict; the
//! [`report::Report`] is written by [`render`], and [`exit`] gives the status.

pub mod annotations;
pub mod archive;
pub mod card;
pub mod cases;
pub mod cause;
pub mod certificates;
pub mod chart;
pub mod checks;
pub mod cli;
pub mod close;
pub mod collect;
pub mod command;
pub mod demo;
pub mod docgen;
pub mod exit;
pub mod expression;
pub mod fetched;
pub mod finding;
pub mod inspect;
pub mod item;
pub mod judged;
pub mod knowledge;
pub mod kubeconfig;
pub mod markdown;
pub mod missing;
pub mod model;
pub mod names;
pub mod nearest;
pub mod node_files;
pub mod node_log;
#[cfg(target_os = "linux")]
pub mod node_snapshot;
pub mod objects;
pub mod page;
pub mod policy;
pub mod protobuf;
pub mod published;
pub mod redact;
pub mod render;
pub mod report;
pub mod request;
pub mod rows;
pub mod save;
pub mod scene;
pub mod source;
pub mod tails;
pub mod terminal;
pub mod ticket;
pub mod token;
pub mod verify;
pub mod version;
mod yaml;
