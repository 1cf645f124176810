//! Checks of proxy injection: whether pods that request a proxy have one, and whether new pods will get
//! one.

use super::{Check, row};

pub(super) mod denied;
mod extension_injector_unavailable;
mod fargate_pod_injected;
mod faults;
mod hook_runs_in_proxy;
mod host_network_not_injected;
mod identity_token_missing;
mod injected_container_altered;
mod injected_name_too_long;
mod injector_ca_mismatch;
mod injector_fails_closed_single_replica;
mod injector_fails_open;
mod injector_not_called;
mod injector_unavailable;
mod injector_webhook_missing;
mod kube_system_not_exempt;
mod limit_bounds;
mod linkerd_cni_not_exempt;
mod other_mesh_sidecar;
mod other_webhooks;
mod passed_over;
mod pod_missing_proxy;
mod pod_security_refuses_proxy;
mod pods_refused;
mod presence;
mod proxy_refused_by_quota;
mod proxy_resources;
mod scc_refuses_proxy;
mod skipped;
mod token_not_mounted;
pub(super) mod unmeshed;
mod webhook_unreachable;
mod windows_pod_injected;
mod workload_half_meshed;

pub use faults::InjectionFaults;

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("injection", "extension-injector-unavailable", extension_injector_unavailable),
    row!("injection", "fargate-pod-injected", fargate_pod_injected),
    row!("injection", "hook-runs-in-proxy", hook_runs_in_proxy),
    row!("injection", "host-network-not-injected", host_network_not_injected),
    row!("injection", "identity-token-missing", identity_token_missing),
    row!("injection", "injected-container-altered", injected_container_altered),
    row!("injection", "injected-name-too-long", injected_name_too_long),
    row!("injection", "injector-ca-mismatch", injector_ca_mismatch),
    row!("injection", "injector-fails-closed-single-replica", injector_fails_closed_single_replica),
    row!("injection", "injector-fails-open", injector_fails_open),
    row!("injection", "injector-not-called", injector_not_called),
    row!("injection", "injector-unavailable", injector_unavailable),
    row!("injection", "injector-webhook-missing", injector_webhook_missing),
    row!("injection", "kube-system-not-exempt", kube_system_not_exempt),
    row!("injection", "linkerd-cni-not-exempt", linkerd_cni_not_exempt),
    row!("injection", "other-mesh-sidecar", other_mesh_sidecar),
    row!("injection", "pod-missing-proxy", pod_missing_proxy),
    row!("injection", "pod-security-refuses-proxy", pod_security_refuses_proxy),
    row!("injection", "pods-refused", pods_refused),
    row!("injection", "proxy-refused-by-quota", proxy_refused_by_quota),
    row!("injection", "scc-refuses-proxy", scc_refuses_proxy),
    row!("injection", "token-not-mounted", token_not_mounted),
    row!("injection", "webhook-unreachable", webhook_unreachable),
    row!("injection", "windows-pod-injected", windows_pod_injected),
    row!("injection", "workload-half-meshed", workload_half_meshed),
];
