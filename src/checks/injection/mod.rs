//! Checks of proxy injection: do the pods that ask for a proxy have one, and will the next ones.

use super::{Check, row};

mod injector_ca_mismatch;
mod injector_fails_closed_single_replica;
mod injector_fails_open;
mod injector_unavailable;
mod injector_webhook_missing;
mod kube_system_not_exempt;
mod pod_missing_proxy;
mod proxy_refused_by_quota;
pub(super) mod unmeshed;
mod workload_half_meshed;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("injection", "injector-ca-mismatch", injector_ca_mismatch),
    row!("injection", "injector-fails-closed-single-replica", injector_fails_closed_single_replica),
    row!("injection", "injector-fails-open", injector_fails_open),
    row!("injection", "injector-unavailable", injector_unavailable),
    row!("injection", "injector-webhook-missing", injector_webhook_missing),
    row!("injection", "kube-system-not-exempt", kube_system_not_exempt),
    row!("injection", "pod-missing-proxy", pod_missing_proxy),
    row!("injection", "proxy-refused-by-quota", proxy_refused_by_quota),
    row!("injection", "workload-half-meshed", workload_half_meshed),
];
