//! Flags that name several clusters.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::values::duration;

/// Several clusters in one run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Fleet")]
pub struct Fleet {
    /// Check the cluster of every kubeconfig context, as with several --context.
    #[arg(long, conflicts_with_all = ["context", "bundle", "live", "bundles"])]
    pub all_contexts: bool,
    /// Check every bundle and dump in a folder, each as its own cluster, named after its file.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["context", "bundle", "live"])]
    pub bundles: Option<PathBuf>,
    /// With --bundles: treat bundles that are older, and dumps of unknown age, as clusters that could not be checked.
    #[arg(long, value_name = "DURATION", requires = "bundles", allow_hyphen_values = true, value_parser = duration)]
    pub max_age: Option<Duration>,
    /// With --bundles: names of the clusters to expect. A cluster without a bundle counts as not checked.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "bundles")]
    pub expect: Vec<String>,
    /// Number of clusters to read at the same time.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub parallel: u8,
}
