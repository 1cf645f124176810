//! A node's container runtime, as far as it affects the choice of the CNI file.

/// The runtime families that choose a CNI configuration differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuntimeKind {
    /// containerd (go-cni): the first file, good or bad.
    Containerd,
    /// CRI-O (ocicni): the first file that loads and whose plugins all exist.
    Crio,
    /// Docker through dockershim (Kubernetes up to 1.23); chooses as CRI-O does.
    Dockershim,
    /// Another runtime, or unknown: both rules are evaluated.
    Unknown,
}

/// The parts of `status.nodeInfo.containerRuntimeVersion`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    pub kind: RuntimeKind,
    /// The text after `://`; `None` if missing.
    pub version: Option<String>,
}

impl RuntimeKind {
    /// From `containerd://1.7.25`, `cri-o://1.31.0`, `docker://20.10.7`, or the bare name.
    pub fn parse(version: &str) -> RuntimeKind {
        Runtime::parse(version).kind
    }
}

impl Runtime {
    /// Parses `containerd://1.7.25` and the like; unknown runtimes are [`RuntimeKind::Unknown`], never an
    /// error.
    pub fn parse(text: &str) -> Runtime {
        let (name, version) = text.trim().split_once("://").unwrap_or((text.trim(), ""));
        let kind = match name.to_ascii_lowercase().as_str() {
            "containerd" => RuntimeKind::Containerd,
            "cri-o" | "crio" => RuntimeKind::Crio,
            "docker" => RuntimeKind::Dockershim,
            _ => RuntimeKind::Unknown,
        };
        Runtime { kind, version: (!version.is_empty()).then(|| version.to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_status_names_the_runtime() {
        assert_eq!(
            Runtime::parse("containerd://1.7.25"),
            Runtime { kind: RuntimeKind::Containerd, version: Some("1.7.25".into()) }
        );
        assert_eq!(RuntimeKind::parse("cri-o://1.31.0"), RuntimeKind::Crio);
        assert_eq!(RuntimeKind::parse("docker://20.10.7"), RuntimeKind::Dockershim);
        assert_eq!(RuntimeKind::parse("CRI-O"), RuntimeKind::Crio);
        for odd in ["", "://", "podman://5", "containerdx://1"] {
            assert_eq!(RuntimeKind::parse(odd), RuntimeKind::Unknown, "{odd}");
        }
    }
}
