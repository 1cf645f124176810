//! Checks of annotations and labels with a wrong name, place or value. Linkerd silently ignores
//! them.

use super::{Check, row};

mod annotation_as_label;
mod annotation_misplaced;
mod annotation_not_in_release;
mod annotation_not_inherited;
mod annotation_on_workload;
mod annotation_unknown;
mod annotation_value_invalid;
mod calls;
mod fault;
pub(super) mod guess;
mod in_values;
mod label_as_annotation;
mod route_timeouts;
mod wording;

pub(super) use fault::Survey;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("annotations", "annotation-as-label", annotation_as_label),
    row!("annotations", "annotation-misplaced", annotation_misplaced),
    row!("annotations", "annotation-not-in-release", annotation_not_in_release),
    row!("annotations", "annotation-not-inherited", annotation_not_inherited),
    row!("annotations", "annotation-on-workload", annotation_on_workload),
    row!("annotations", "annotation-unknown", annotation_unknown),
    row!("annotations", "annotation-value-invalid", annotation_value_invalid),
    row!("annotations", "label-as-annotation", label_as_annotation),
];
