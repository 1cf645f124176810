//! `viz-namespace-empty`: a namespace has the label of viz, and viz is not installed.

use crate::checks::extensions;
use crate::checks::prelude::*;

/// The rows of `linkerd check` that fail without any pod.
const ROWS: &[&str] = &[
    "can initialize the client",
    "tap API service is running",
    "viz extension pods are running",
    "viz extension proxies are healthy",
    "viz extension self-check",
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    extensions::empty(ctx, Extension::Viz, ROWS)
}
