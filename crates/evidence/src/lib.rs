//! The evidence that a run can request: kinds of objects, named objects, and queries such as access reviews,
//! answers of programs and versions. A request ends complete, partial or missing, with the reason. It knows
//! no source and no checks.

pub mod fetched;
pub mod item;
pub mod missing;
pub mod request;

use linkerd_facts::knowledge;
use meshdoctor_core::{command, gap_remediation, names, yaml};
use meshdoctor_objects::{self as objects, certificates};
use meshdoctor_redact as redact;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct EvidenceReadme;
