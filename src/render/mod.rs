//! Reports as text: one file for each output format. Renderers see a [`crate::report::Report`] and nothing else, and
//! they write strings; printing is `cli`'s business.

pub mod table;
