//! What running programs of extensions are asked, with `--probe` only: through the API server, to the pod itself. The
//! ports and paths are those of every release from 2.15 to 2.20. And what linked clusters are asked, with the credentials of
//! the link.

use std::fmt;
use std::str::FromStr;

use super::{Extension, UnknownKind};

/// A program that answers questions about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    /// metrics-api of viz: whether it is ready, which it is once it has read the cluster.
    MetricsApi,
    /// The Prometheus of viz: of which pods it has metrics.
    Prometheus,
    /// The controller of a link: whether the gateway over there is alive.
    ServiceMirror,
    /// The API server that a link leads to: the trust anchors over there. Its "pod" is the Link.
    LinkedCluster,
}

impl Program {
    /// Every one of them.
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

    /// The extension that it is part of.
    pub const fn extension(self) -> Extension {
        match self {
            Program::MetricsApi | Program::Prometheus => Extension::Viz,
            Program::ServiceMirror | Program::LinkedCluster => Extension::Multicluster,
        }
    }

    /// The values that the label `component` of its pods has.
    pub const fn components(self) -> &'static [&'static str] {
        match self {
            Program::MetricsApi => &["metrics-api"],
            Program::Prometheus => &["prometheus"],
            Program::ServiceMirror => &["controller", "linkerd-service-mirror"],
            Program::LinkedCluster => &[],
        }
    }

    /// The port of the pod that is asked; 0 where it is no pod.
    pub const fn port(self) -> u16 {
        match self {
            Program::MetricsApi => 9995,
            Program::Prometheus => 9090,
            Program::ServiceMirror => 9999,
            Program::LinkedCluster => 0,
        }
    }

    /// The path that is asked for: what metrics-api itself asks Prometheus when it checks itself, and the metrics that the
    /// command reads. Empty where it is no pod.
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

/// A question to a program: to one of its pods, or, as cards write it, to all that run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Probe {
    /// Who is asked.
    pub program: Program,
    /// The pod's name; empty in cards.
    pub pod: String,
}

impl Probe {
    /// A question to every pod of a program that runs.
    pub fn of(program: Program) -> Probe {
        Probe { program, pod: String::new() }
    }
}

impl fmt::Display for Probe {
    /// As cards write it behind `probe/`: `prometheus`; with the pod, where one is meant.
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
