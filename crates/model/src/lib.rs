//! The model of a cluster: slim typed objects, versions, node evidence. Pure and deterministic: no code
//! here fetches, prints or reads a clock.

pub mod annotated;
pub mod applied_policies;
pub mod availability;
pub mod balanced_services;
pub mod cluster;
pub mod cni;
pub mod control_clients;
pub mod control_plane;
pub mod control_plane_env;
pub mod downtime;
pub mod endpoints;
pub mod events;
pub mod fail_fast;
pub mod ingress_controller;
pub mod injected;
pub mod injection;
pub mod installed;
pub mod journal;
pub mod log;
pub mod managed_by;
pub mod moments;
pub mod node_split;
pub mod owners;
pub mod pod_status;
pub mod published_endpoints;
pub mod quantity;
pub mod read_metrics;
pub mod redirection;
pub mod refusal;
pub mod sandbox;
pub mod service_address;
pub mod skew;
pub mod skipped;
pub mod traffic;
pub mod transport;
pub mod validation;
pub mod vertical_autoscaler;

pub use cluster::{Answer, Cluster, is_kept_in_full};
pub use linkerd_policy as policy;
pub use meshdoctor_core::networks;
pub use meshdoctor_node::node;

use linkerd_facts::{annotations, chart, knowledge};
use meshdoctor_core::{finding, names, token, version};
use meshdoctor_evidence::{fetched, item, request};
use meshdoctor_expression as expression;
use meshdoctor_objects::{self as objects, certificates};
use meshdoctor_redact as redact;
