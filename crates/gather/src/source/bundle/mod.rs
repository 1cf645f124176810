//! The bundle format, version 1: redacted evidence with the outcome of each request.
//!
//! A folder, or the same as `.tar.gz`, `.tar.zst` or `.tar`:
//!
//! ```text
//! manifest.json                                    requests, and the outcome of each item
//! cluster/core/v1/pods/0001.json                   pages: a PodList of at most 500 objects each
//! cluster/apps/v1/deployments/0001.json
//! cluster/core/v1/configmaps/linkerd/linkerd-config.json   objects that were requested by name
//! cluster/apiregistration.k8s.io/v1/apiservices/named/x.json
//! nodes/<node>/...                                 node snapshots
//! ```
//!
//! Every page is a Kubernetes List, which kubectl and jq read. In an archive, the manifest comes first, so that a
//! truncated archive still shows what is missing. This module handles files and pages only; redaction happens before
//! the writer and after the reader.

mod index;
pub mod manifest;
mod page;
mod reader;

pub use manifest::{ClusterRecord, ItemRecord, LeftOut, MANIFEST, Manifest, NodeRecord, RedactionRecord, SCHEMA, Tool};
pub use reader::Bundle;
