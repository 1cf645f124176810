//! Checks of the debug container.

use super::{Check, row};

mod debug_image_ignored;
mod wanted;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[row!("debug", "debug-image-ignored", debug_image_ignored)];
