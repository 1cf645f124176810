//! Why nodes cannot be read by pods: one line of cause, one line of what to do.

use thiserror::Error;

/// What can be done on the nodes themselves instead.
const BY_HAND: &str = "or read the nodes by hand: meshdoctor node-snapshot on each, or a copy of /etc/cni/net.d, given with --nodes";

/// Why nodes cannot be read by pods. Nothing was created.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The cluster's nodes are not known.
    #[error("the nodes could not be listed: {why}")]
    Nodes {
        /// What happened.
        why: String,
    },
    /// A node that was named does not exist.
    #[error("there is no node {name:?}{}", nearest.as_ref().map(|name| format!("; did you mean {name}?")).unwrap_or_default())]
    NoSuchNode {
        /// What was asked for.
        name: String,
        /// The nearest real name.
        nearest: Option<String>,
        /// The nodes there are.
        known: Vec<String>,
    },
    /// There are nodes, and none that a pod could read.
    #[error("no node can be read by a pod{}", listed(skipped))]
    NoNodes {
        /// Nodes and why not.
        skipped: Vec<(String, String)>,
    },
    /// The namespace does not exist.
    #[error("there is no namespace {namespace:?}")]
    NoNamespace {
        /// Its name.
        namespace: String,
    },
    /// The namespace does not take pods that mount the host's files.
    #[error(
        "namespace {namespace} enforces the PodSecurity level {level}, which refuses pods that mount files of the node"
    )]
    PodSecurity {
        /// Its name.
        namespace: String,
        /// The level.
        level: String,
    },
    /// A right is missing.
    #[error("{verb} on {resource} in namespace {namespace} is denied{}", if message.is_empty() { String::new() } else { format!(": {message}") })]
    Denied {
        /// What would be done.
        verb: &'static str,
        /// To what.
        resource: &'static str,
        /// Where.
        namespace: String,
        /// The server's own words.
        message: String,
    },
    /// An admission of the cluster refuses the pod.
    #[error("the API server would refuse the pods in namespace {namespace}: {message}")]
    Refused {
        /// Where.
        namespace: String,
        /// The server's own words.
        message: String,
    },
    /// Asking failed.
    #[error("the API server could not be asked: {what}")]
    Failed {
        /// What happened.
        what: String,
    },
}

impl PlanError {
    pub(super) fn denied(
        verb: &'static str,
        resource: &'static str,
        namespace: &str,
        message: &str,
    ) -> PlanError {
        PlanError::Denied { verb, resource, namespace: namespace.to_owned(), message: message.to_owned() }
    }

    /// Whether what was typed is wrong (exit status 2), rather than the world (3).
    pub fn is_usage(&self) -> bool {
        matches!(self, PlanError::NoSuchNode { .. } | PlanError::NoNamespace { .. })
    }

    /// What to do about it.
    pub fn next_step(&self) -> String {
        match self {
            PlanError::Nodes { .. } => {
                format!(
                    "grant list on nodes ({} prints the role), or name no --node-pods",
                    crate::command::own("rbac")
                )
            }
            PlanError::NoSuchNode { known, .. } => {
                let shown = known.iter().take(12).map(String::as_str).collect::<Vec<_>>().join(", ");
                let more = known.len().saturating_sub(12);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("the cluster has {shown}{more}")
            }
            PlanError::NoNodes { .. } => "leave out --node-pods".to_owned(),
            PlanError::NoNamespace { .. } => {
                "name one that is there (--node-namespace); by default it is kube-system".to_owned()
            }
            PlanError::PodSecurity { .. } => format!(
                "name a namespace for privileged tools with --node-namespace, or make one: kubectl create namespace meshdoctor; kubectl label namespace meshdoctor pod-security.kubernetes.io/enforce=privileged; {BY_HAND}"
            ),
            PlanError::Denied { verb, resource, namespace, .. } => {
                format!("grant {verb} on {resource} in namespace {namespace}; {BY_HAND}")
            }
            PlanError::Refused { .. } => {
                format!("name a namespace that the policy leaves out (--node-namespace); {BY_HAND}")
            }
            PlanError::Failed { .. } => "run it again; with -v for what was asked".to_owned(),
        }
    }
}

fn listed(skipped: &[(String, String)]) -> String {
    match skipped {
        [] => ": the cluster has none".to_owned(),
        skipped => {
            let each: Vec<String> =
                skipped.iter().take(5).map(|(node, why)| format!("{node}: {why}")).collect();
            format!(" ({})", each.join("; "))
        }
    }
}
