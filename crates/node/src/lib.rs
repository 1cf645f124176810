//! Snapshots of nodes: taken on a node (Linux), normalised and redacted, and read into types; and logs that
//! carry a snapshot. It knows no cluster and does not judge what it reads.

pub mod node;
pub mod node_files;
pub mod node_log;
#[cfg(target_os = "linux")]
pub mod node_snapshot;

use linkerd_facts::knowledge;
use meshdoctor_archive as archive;
use meshdoctor_core::{kubeconfig, names, token};
use meshdoctor_redact as redact;
