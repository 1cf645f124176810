//! Our own format, version 1: what `collect` saw, redacted, with how each question ended.
//!
//! A folder, or the same as `.tar.gz`, `.tar.zst` or `.tar`:
//!
//! ```text
//! manifest.json                                    what was asked, and how each item ended
//! cluster/core/v1/pods/0001.json                   pages: a PodList of at most 500 objects each
//! cluster/apps/v1/deployments/0001.json
//! cluster/core/v1/configmaps/linkerd/linkerd-config.json   objects that were asked for by name
//! cluster/apiregistration.k8s.io/v1/apiservices/named/x.json
//! nodes/<node>/...                                 node snapshots
//! ```
//!
//! Every page is a Kubernetes List, which kubectl and jq read. The manifest comes first in an archive, so that a
//! truncated one still says what is missing. This module knows files and pages; what the objects mean is not its
//! business, and nothing is redacted here: the border does that, before the writer and after the reader.

mod index;
pub(crate) mod manifest;
mod page;
mod reader;

pub use manifest::{
    ClusterRecord, ItemRecord, LeftOut, MANIFEST, Manifest, NodeRecord, RedactionRecord, SCHEMA, Tool,
};
pub use reader::Bundle;
