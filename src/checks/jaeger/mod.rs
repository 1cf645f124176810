//! Checks of the jaeger extension, in the releases that include it. Parts that all extensions share are in
//! `checks::extensions`.

use super::{Check, row};

mod jaeger_cli_skew;
pub(super) mod jaeger_injector_conflict;
mod jaeger_namespace_empty;
mod jaeger_namespace_unlabelled;
mod jaeger_pods_not_injected;
mod jaeger_pods_not_running;
mod jaeger_proxy_outdated;
mod jaeger_proxy_unhealthy;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("jaeger", "jaeger-cli-skew", jaeger_cli_skew),
    row!("jaeger", "jaeger-injector-conflict", jaeger_injector_conflict),
    row!("jaeger", "jaeger-namespace-empty", jaeger_namespace_empty),
    row!("jaeger", "jaeger-namespace-unlabelled", jaeger_namespace_unlabelled),
    row!("jaeger", "jaeger-pods-not-injected", jaeger_pods_not_injected),
    row!("jaeger", "jaeger-pods-not-running", jaeger_pods_not_running),
    row!("jaeger", "jaeger-proxy-outdated", jaeger_proxy_outdated),
    row!("jaeger", "jaeger-proxy-unhealthy", jaeger_proxy_unhealthy),
];
