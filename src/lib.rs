//! meshdoctor inspects a Linkerd service mesh and reports problems with evidence, effects and repair steps.
//!
//! The pipeline: [`policy`] selects checks from the table in [`checks`]; [`collect`] requests the evidence that their
//! cards need from a [`source`], redacts each object and files it in a [`model::Cluster`]; each check is a pure
//! function that uses a [`checks::Context`], in which missing evidence is a [`missing::Missing`]; [`cause`] links
//! symptoms to causes and [`policy`] determines the result; [`render`] writes the [`report::Report`], and [`exit`]
//! selects the exit status.

pub mod annotations;
pub mod card;
pub mod cases;
pub mod cause;
pub mod certificates;
pub mod chart;
pub mod checks;
pub mod cli;
pub mod collect;
pub mod demo;
pub mod docgen;
pub mod explanation;
pub mod expression;
pub mod fetched;
pub mod inspect;
pub mod item;
pub mod judged;
pub mod knowledge;
pub mod kubectl;
pub mod missing;
pub mod model;
pub mod node_files;
pub mod node_log;
#[cfg(target_os = "linux")]
pub mod node_snapshot;
pub mod objects;
pub mod page;
pub mod policy;
pub mod protobuf;
pub mod proxy_sample;
pub mod redact;
pub mod render;
pub mod repair;
pub mod report;
pub mod request;
pub mod rows;
pub mod save;
pub mod scene;
pub mod source;
pub mod tails;
pub mod ticket;
pub mod verify;
pub mod yaml_edit;

// The layers below, each a crate of its own under `crates/`.
pub use meshdoctor_archive as archive;
pub use meshdoctor_core::{
    close, command, exit, finding, kubeconfig, markdown, names, nearest, published, terminal, token, version,
    yaml,
};
