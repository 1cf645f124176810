//! Flags of the commands for your own checks.

use std::path::PathBuf;

use clap::Args;

/// `meshdoctor test`.
#[derive(Debug, Args)]
pub struct Test {
    /// Folders with cards, or single cards (default: those of --checks).
    ///
    /// With UPDATE=1 in the environment, the results are written into the cards.
    #[arg(value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Built-in checks or categories instead (comma-separated).
    ///
    /// In a checkout of meshdoctor, their cards are read from checks/, so that a changed case needs no new build.
    #[arg(long, value_name = "CHECK,...", value_delimiter = ',', conflicts_with = "folders")]
    pub builtin: Vec<String>,
}

/// `meshdoctor new`.
#[derive(Debug, Args)]
pub struct New {
    /// Id of the check: lower-case words for the bad state, joined by dashes, such as workload-without-owner.
    #[arg(value_name = "CHECK")]
    pub check: String,
    /// Resource that the check evaluates, as kubectl names it: pods, servers.policy.linkerd.io.
    ///
    /// For a custom resource that meshdoctor does not know, add its version and use --kind:
    /// certificates.v1.cert-manager.io.
    #[arg(long = "for", value_name = "RESOURCE", default_value = "deployments.apps")]
    pub of: String,
    /// With --for: kind of the custom resource, such as Certificate.
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// With --kind: the resource is cluster-scoped.
    #[arg(long, requires = "kind")]
    pub cluster_scoped: bool,
    /// Folder to write the card to.
    #[arg(long = "dir", value_name = "DIR", default_value = "checks")]
    pub folder: PathBuf,
}
