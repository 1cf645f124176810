//! Flags that name several clusters.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::values::duration;

/// Several clusters in one run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Fleet")]
pub struct Fleet {
    /// Judge the cluster of every context of the kubeconfig, as with several --context.
    #[arg(long, conflicts_with_all = ["context", "bundle", "live", "bundles"])]
    pub all_contexts: bool,
    /// Judge every bundle and dump in a folder, each as a cluster of its own, called as its file without the ending.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["context", "bundle", "live"])]
    pub bundles: Option<PathBuf>,
    /// With --bundles: a bundle that is older, or a dump that does not tell its age, is of a cluster that could not be judged.
    #[arg(long, value_name = "DURATION", requires = "bundles", value_parser = duration)]
    pub max_age: Option<Duration>,
    /// With --bundles: the clusters that there must be. One without a bundle could not be judged.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "bundles")]
    pub expect: Vec<String>,
    /// How many clusters are read at a time.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub parallel: u8,
}
