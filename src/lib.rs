//! meshdoctor inspects a Linkerd service mesh and reports problems with evidence, effects and repair steps.
//!
//! The pipeline: [`policy`] selects checks from the table in [`checks`]; [`collect`] requests the evidence that their
//! cards need from a [`source`], redacts each object and files it in a [`model::Cluster`]; each check is a pure
//! function that uses a [`checks::Context`], in which missing evidence is a [`missing::Missing`]; [`cause`] links
//! symptoms to causes and [`policy`] determines the result; [`render`] writes the [`report::Report`], and [`exit`]
//! selects the exit status.

pub mod affected_pods;
pub mod cases;
pub mod cli;
pub mod demo;
pub mod destination_sample;
pub mod docgen;
pub mod log_targets;
pub mod proxy_sample;
pub mod scene;
pub mod ticket;

// The layers below, each a crate of its own under `crates/`, except the checks in `src/checks/`.
pub use linkerd_facts::{annotations, chart, knowledge};
pub use meshdoctor_archive as archive;
pub use meshdoctor_checks::{card, checks};
pub use meshdoctor_core::{
    command, encoding, exit, finding, gap_remediation, kubeconfig, markdown, names, nearest, report_api, terminal,
    token, version, yaml,
};
pub use meshdoctor_edits::{kubectl, value_edit, yaml_edit};
pub use meshdoctor_evidence::{fetched, item, missing, request};
pub use meshdoctor_expression as expression;
pub use meshdoctor_gather::{collect, save, source};
pub use meshdoctor_model as model;
#[cfg(target_os = "linux")]
pub use meshdoctor_node::node_snapshot;
pub use meshdoctor_node::{node_files, node_log};
pub use meshdoctor_objects::{self as objects, certificates, protobuf};
pub use meshdoctor_redact as redact;
pub use meshdoctor_render::render;
pub use meshdoctor_report::{cause, check_outcome, explanation, inspect, page, policy, repair, report, rows, verify};
pub use netpol as network_policy;
