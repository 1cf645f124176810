//! Facts of Linkerd that change with releases, from the tables in `checks/knowledge/`; the annotations that
//! are read; and the values of its charts. It knows no cluster and no checks.

pub mod annotations;
pub mod chart;
pub mod knowledge;

use meshdoctor_archive as archive;
use meshdoctor_core::{finding, nearest, version, yaml};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct LinkerdFactsReadme;
