//! Errors of node pods: the cause and the next step, one line each.

use thiserror::Error;

/// Alternative without pods.
const BY_HAND: &str = "or read the nodes by hand: run meshdoctor node-snapshot on each, or copy \
                       /etc/cni/net.d, and use --nodes";

/// Reason why nodes cannot be read by pods. Nothing was created.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The nodes are unknown.
    #[error("the nodes could not be listed: {why}")]
    Nodes {
        /// The error.
        why: String,
    },
    /// A named node does not exist.
    #[error(
        "the node {name:?} does not exist{}",
        nearest.as_ref().map(|name| format!("; did you mean {name}?")).unwrap_or_default()
    )]
    NoSuchNode {
        /// The requested name.
        name: String,
        /// The most similar existing name.
        nearest: Option<String>,
        /// Existing nodes.
        known: Vec<String>,
    },
    /// No node can be read by a pod.
    #[error("no node can be read by a pod{}", listed(skipped))]
    NoNodes {
        /// Skipped nodes with reasons.
        skipped: Vec<(String, String)>,
    },
    /// The namespace does not exist.
    #[error("the namespace {namespace:?} does not exist")]
    NoNamespace {
        /// Its name.
        namespace: String,
    },
    /// The namespace does not admit pods that mount host files.
    #[error(
        "namespace {namespace} enforces the PodSecurity level {level}, which rejects pods that mount files \
         of the node"
    )]
    PodSecurity {
        /// Its name.
        namespace: String,
        level: String,
    },
    /// A permission is missing.
    #[error(
        "{verb} on {resource} in namespace {namespace} is denied{}",
        if message.is_empty() { String::new() } else { format!(": {message}") }
    )]
    Denied {
        verb: &'static str,
        resource: &'static str,
        namespace: String,
        /// The server's message.
        message: String,
    },
    /// An admission plugin or webhook rejects the pod.
    #[error("the API server would reject the pods in namespace {namespace}: {message}")]
    Refused {
        namespace: String,
        /// The server's message.
        message: String,
    },
    /// A request failed.
    #[error("the request to the API server failed: {what}")]
    Failed {
        /// The error.
        what: String,
    },
}

impl PlanError {
    pub(super) fn denied(verb: &'static str, resource: &'static str, namespace: &str, message: &str) -> PlanError {
        PlanError::Denied { verb, resource, namespace: namespace.to_owned(), message: message.to_owned() }
    }

    /// Whether the command line is wrong (exit status 2) rather than the environment (3).
    pub fn is_usage(&self) -> bool {
        matches!(self, PlanError::NoSuchNode { .. } | PlanError::NoNamespace { .. })
    }

    pub fn next_step(&self) -> String {
        match self {
            PlanError::Nodes { .. } => {
                format!("grant list on nodes ({} prints the role), or omit --node-pods", crate::command::own("rbac"))
            }
            PlanError::NoSuchNode { known, .. } => {
                let shown = known.iter().take(12).map(String::as_str).collect::<Vec<_>>().join(", ");
                let more = known.len().saturating_sub(12);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("the cluster has {shown}{more}")
            }
            PlanError::NoNodes { .. } => "omit --node-pods".to_owned(),
            PlanError::NoNamespace { .. } => {
                "give an existing namespace with --node-namespace (default kube-system)".to_owned()
            }
            PlanError::PodSecurity { .. } => format!(
                "give a namespace for privileged pods with --node-namespace, or create one: kubectl create \
                 namespace meshdoctor; kubectl label namespace meshdoctor \
                 pod-security.kubernetes.io/enforce=privileged; {BY_HAND}"
            ),
            PlanError::Denied { verb, resource, namespace, .. } => {
                format!("grant {verb} on {resource} in namespace {namespace}; {BY_HAND}")
            }
            PlanError::Refused { .. } => {
                format!("give a namespace that is exempt from the policy with --node-namespace; {BY_HAND}")
            }
            PlanError::Failed { .. } => "run it again; -v shows the requests".to_owned(),
        }
    }
}

fn listed(skipped: &[(String, String)]) -> String {
    match skipped {
        [] => ": the cluster has none".to_owned(),
        skipped => {
            let each: Vec<String> = skipped.iter().take(5).map(|(node, why)| format!("{node}: {why}")).collect();
            format!(" ({})", each.join("; "))
        }
    }
}
