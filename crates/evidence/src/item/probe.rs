//! Queries of extension programs, only with `--probe`: through the API server, directly to the pod. Ports and paths are
//! those of every release from 2.15 to 2.20. Also queries of linked clusters, with the credentials of the link.

use std::fmt;
use std::str::FromStr;

use super::{Extension, UnknownKind};

/// A program that responds to queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    /// metrics-api of viz: whether it is ready, that is, has read the cluster.
    MetricsApi,
    /// The Prometheus of viz: the pods that it has metrics of.
    Prometheus,
    /// The controller of a link: whether the remote gateway is alive.
    ServiceMirror,
    /// The API server of a linked cluster: its trust anchors. The "pod" is the Link.
    LinkedCluster,
}

impl Program {
    /// All programs.
    pub const ALL: [Program; 4] =
        [Program::MetricsApi, Program::Prometheus, Program::ServiceMirror, Program::LinkedCluster];

    /// Its name in cards.
    pub const fn name(self) -> &'static str {
        match self {
            Program::MetricsApi => "metrics-api",
            Program::Prometheus => "prometheus",
            Program::ServiceMirror => "service-mirror",
            Program::LinkedCluster => "linked-cluster",
        }
    }

    pub const fn extension(self) -> Extension {
        match self {
            Program::MetricsApi | Program::Prometheus => Extension::Viz,
            Program::ServiceMirror | Program::LinkedCluster => Extension::Multicluster,
        }
    }

    /// Values of the label `component` of its pods.
    pub const fn components(self) -> &'static [&'static str] {
        match self {
            Program::MetricsApi => &["metrics-api"],
            Program::Prometheus => &["prometheus"],
            Program::ServiceMirror => &["controller", "linkerd-service-mirror"],
            Program::LinkedCluster => &[],
        }
    }

    /// The port to query; 0 if it is not a pod.
    pub const fn port(self) -> u16 {
        match self {
            Program::MetricsApi => 9995,
            Program::Prometheus => 9090,
            Program::ServiceMirror => 9999,
            Program::LinkedCluster => 0,
        }
    }

    /// The path to query: the self-check of metrics-api for Prometheus, and the metrics that the linkerd command reads.
    /// Empty if it is not a pod.
    pub const fn path(self) -> &'static str {
        match self {
            Program::MetricsApi => "/ready",
            Program::Prometheus => {
                "/api/v1/query?query=max%28process_start_time_seconds%29%20by%20%28pod%2C%20namespace%29"
            }
            Program::ServiceMirror => "/metrics",
            Program::LinkedCluster => "",
        }
    }
}

/// A query of one pod of a program, or, in cards, of all running ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Probe {
    pub program: Program,
    /// The pod's name; empty in cards.
    pub pod: String,
}

impl Probe {
    /// A query of every running pod of a program.
    pub fn new(program: Program) -> Probe {
        Probe { program, pod: String::new() }
    }
}

impl fmt::Display for Probe {
    /// Name in cards after `probe/`: `prometheus`; with the pod, if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program.name())?;
        if self.pod.is_empty() { Ok(()) } else { write!(f, "/{}", self.pod) }
    }
}

impl FromStr for Probe {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Probe, UnknownKind> {
        let (name, pod) = text.split_once('/').unwrap_or((text, ""));
        let program = Program::ALL.into_iter().find(|program| program.name() == name);
        let program = program.ok_or_else(|| UnknownKind(format!("probe/{text}")))?;
        Ok(Probe { program, pod: pod.to_owned() })
    }
}
