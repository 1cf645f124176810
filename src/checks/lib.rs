//! The checks of meshdoctor: one pure function each, and the cards that describe them. It reads the model of
//! a cluster and returns findings. It knows no sources, reports or commands.

pub mod card;
#[path = "mod.rs"]
pub mod checks;

use linkerd_facts::{annotations, chart, knowledge};
use meshdoctor_core::{command, finding, markdown, names, nearest, token, version};
use meshdoctor_evidence::{fetched, item, missing, request};
use meshdoctor_expression as expression;
use meshdoctor_model as model;
#[cfg(test)]
use meshdoctor_node::node_files;
use meshdoctor_objects::{self as objects, certificates};
use meshdoctor_redact as redact;
use netpol as network_policy;
