//! Reports as text: one file for each output format. Renderers only read a [`crate::report::Report`] and
//! write strings; `cli` prints them.
//!
//! `table` is the human-readable report, composed of `header`, `headline`, `repair`, `finding` and
//! `unchecked` or `coverage`; `look` is its appearance. The formats for pipelines are in `ci`, a file for
//! each.

mod change;
pub mod ci;
pub mod coverage;
pub mod defects;
pub mod diff;
pub mod document;
pub mod explain;
pub mod explanation;
pub mod extension;
mod finding;
pub mod fix;
pub mod fleet;
mod header;
mod headline;
pub mod html;
pub mod injection;
pub mod json;
pub mod linkerd;
pub mod list;
pub mod look;
pub mod outbound;
mod patch;
pub mod plan;
pub mod policy;
pub mod policy_manifests;
pub mod reach;
mod rehearsal;
mod repair;
pub mod rotation;
pub mod short;
mod steps;
mod subject;
pub mod sync;
pub mod table;
pub mod text;
pub mod ticket;
mod unchecked;
pub mod verify;
pub mod yaml;

pub use look::Look;
