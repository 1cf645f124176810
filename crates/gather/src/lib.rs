//! Gathers evidence: sources (the live cluster, bundles, dumps, folders, memory, planned changes), the
//! collector, which redacts each object and files it in the model, and the writer of bundles. It knows no
//! checks.

pub mod collect;
pub mod save;
pub mod source;

use linkerd_facts::{chart, knowledge};
use meshdoctor_archive as archive;
#[cfg(feature = "live")]
use meshdoctor_core::report_api;
use meshdoctor_core::{command, encoding, finding, names, nearest, version, yaml};
use meshdoctor_edits::kubectl;
use meshdoctor_evidence::{fetched, item, request};
use meshdoctor_model as model;
use meshdoctor_node::{node_files, node_log};
use meshdoctor_objects::{self as objects, protobuf};
use meshdoctor_redact as redact;
