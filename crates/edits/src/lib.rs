//! Edits of objects and manifests: the effect of printed kubectl commands on objects, so that a repair can be
//! judged before it runs, and edits of YAML and of chart values in it that keep comments and layout. It knows no
//! checks and runs nothing.

pub mod kubectl;
pub mod value_edit;
pub mod yaml_edit;

use meshdoctor_core::{finding, yaml};
use meshdoctor_objects as objects;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct EditsReadme;
