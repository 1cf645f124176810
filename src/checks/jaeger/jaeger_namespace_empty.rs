//! `jaeger-namespace-empty`: a namespace has the label of jaeger, and jaeger is not installed.

use crate::checks::extensions;
use crate::checks::prelude::*;

/// The rows of `linkerd check` that fail without any pod.
const ROWS: &[&str] = &["jaeger injector pods are running", "jaeger extension proxies are healthy"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    extensions::empty(ctx, Extension::Jaeger, ROWS)
}
