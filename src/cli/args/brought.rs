//! Flags for checks that users bring.

use std::path::PathBuf;

use clap::Args;

/// `meshdoctor test`.
#[derive(Debug, Args)]
pub struct Test {
    /// Folders of cards, or cards; by default those of --checks. With UPDATE=1 in the environment what the cases say is
    /// written into the cards.
    #[arg(value_name = "DIR")]
    pub folders: Vec<PathBuf>,
}

/// `meshdoctor new`.
#[derive(Debug, Args)]
pub struct New {
    /// The id of the check: what is wrong, in words with dashes between them, such as workload-without-owner.
    #[arg(value_name = "CHECK")]
    pub check: String,
    /// The kind of object that it is asked of, as kubectl takes it: pods, servers.policy.linkerd.io. A custom resource of others with its
    /// version, and its kind with --kind: certificates.v1.cert-manager.io.
    #[arg(long = "for", value_name = "RESOURCE", default_value = "deployments.apps")]
    pub of: String,
    /// With --for: the kind of that custom resource as manifests name it, such as Certificate.
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// With --kind: its objects live in no namespace.
    #[arg(long, requires = "kind")]
    pub cluster_scoped: bool,
    /// The folder that it is written into.
    #[arg(long = "dir", value_name = "DIR", default_value = "checks")]
    pub folder: PathBuf,
}
