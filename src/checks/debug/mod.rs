//! Checks of the debug container.

use super::{Check, row};

mod debug_image_ignored;
mod requested_image;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[row!("debug", "debug-image-ignored", debug_image_ignored)];
