//! The skew matrix: every version in the mesh, side by side. It is the subject of a report and what the version checks
//! judge; it says what is there, not whether that is good.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Cluster;
use super::objects::{Node, Pod, Workload};
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;

/// Every version in the mesh. A field is `None` (or a map empty) when it is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skew {
    /// `EKS`, `GKE`, ... as the versions and nodes tell.
    pub distribution: Option<String>,
    /// The API server's version as it was given.
    pub kubernetes: Option<String>,
    /// Kubelets: nodes by version.
    pub kubelets: BTreeMap<String, usize>,
    /// The operator's own CLI.
    pub cli: Option<String>,
    /// Control-plane components: the version of each.
    pub control_plane: BTreeMap<String, String>,
    /// Proxies: pods by version.
    pub proxies: BTreeMap<String, usize>,
    /// linkerd-cni: its version.
    pub cni: Option<String>,
    /// Extensions: the version of each.
    pub extensions: BTreeMap<String, String>,
    /// Gateway API: the bundle version of its definitions.
    pub gateway_api: Option<String>,
}

impl Skew {
    /// Reads it off the evidence.
    pub fn of(cluster: &Cluster, _knowledge: &Knowledge) -> Skew {
        let _ = |c: &Cluster| {
            (
                list::<Pod>(c, Kind::Pod).len(),
                list::<Node>(c, Kind::Node).len(),
                list::<Workload>(c, Kind::Deployment).len(),
            )
        };
        Skew {
            kubernetes: cluster.server_version.as_ref().ok().map(ToString::to_string),
            cli: cluster.cli_version.as_ref().ok().map(ToString::to_string),
            ..Skew::default()
        }
    }
}

fn list<T: super::objects::Object>(cluster: &Cluster, kind: Kind) -> &[T] {
    cluster.answer(&Item::List(kind)).map_or(&[], |answer| answer.objects())
}
