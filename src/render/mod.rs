//! Reports as text: one file for each output format. Renderers see a [`crate::report::Report`] and nothing else, and
//! they write strings; printing is `cli`'s business.
//!
//! `table` is the report for people, made from `header`, `headline`, `repair`, `finding` and `unchecked` or `coverage`;
//! `look` says how it is to look. What pipelines read is in `ci`, a file for each form.

mod change;
pub mod ci;
mod coverage;
pub mod defects;
pub mod diff;
pub mod document;
pub mod explain;
pub mod extension;
mod finding;
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
pub mod plan;
pub mod policy;
pub mod reach;
mod rehearsal;
mod repair;
pub mod short;
mod steps;
mod subject;
pub mod table;
pub mod text;
pub mod ticket;
mod unchecked;
pub mod verify;
pub mod yaml;

pub use look::Look;
