//! Reports as text. Renderers read reports and write strings. They know no commands, and print nothing.

pub mod render;

use linkerd_facts::knowledge;
use meshdoctor_checks::{card, checks};
#[cfg(test)]
use meshdoctor_core::yaml;
use meshdoctor_core::{command, exit, finding, report_api, terminal, version};
use meshdoctor_edits::kubectl;
use meshdoctor_evidence::{fetched, item, missing, request};
use meshdoctor_gather::{save, source};
use meshdoctor_model as model;
use meshdoctor_objects as objects;
use meshdoctor_report::{cause, check_outcome, explanation, inspect, page, policy, repair, report, rows, verify};
