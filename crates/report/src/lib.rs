//! The report of a run: outcomes of checks linked by cause, the policy that decides the result, the repair
//! plan and its proofs, the verification of an earlier report, and the answers of commands that inspect one
//! thing. It knows no formats and no commands.

pub mod cause;
pub mod check_outcome;
pub mod explanation;
pub mod inspect;
pub mod page;
pub mod policy;
pub mod repair;
pub mod report;
pub mod rows;
pub mod verify;

use linkerd_facts::{annotations, knowledge};
use meshdoctor_checks::{card, checks};
use meshdoctor_core::{command, exit, finding, markdown, names, nearest, version, yaml};
use meshdoctor_edits::kubectl;
use meshdoctor_evidence::{fetched, item, missing, request};
use meshdoctor_gather::{collect, source};
use meshdoctor_model as model;
use meshdoctor_objects::{self as objects, certificates};
use meshdoctor_redact as redact;
use netpol as network_policy;
