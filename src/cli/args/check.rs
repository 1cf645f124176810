//! The flags of `meshdoctor check`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{Connection, EvidenceArgs, Fleet, Manifests, Rehearsal, Reports, Selection, Verbosity, help};
use crate::cli::values::{Parameter, cni_version, duration, namespace, parameter, release, severity};
use crate::finding::Severity;
use crate::version::{CniVersion, LinkerdVersion};

/// The stage of the installation that is checked, spelled as `linkerd check` spells it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Checks")]
pub struct InstallStage {
    /// Check whether the cluster can take Linkerd, before it is installed.
    #[arg(long, conflicts_with = "crds")]
    pub pre: bool,
    /// Check the custom resource definitions, before the control plane is installed.
    #[arg(long)]
    pub crds: bool,
    /// With --pre: the installation will use linkerd-cni, which must be installed and ready.
    #[arg(long, requires = "pre")]
    pub linkerd_cni_enabled: bool,
    /// With -o linkerd, also print the rows of the data plane. meshdoctor's own reports always include it.
    #[arg(long, conflicts_with_all = ["pre", "crds"])]
    pub proxy: bool,
}

/// `meshdoctor check`.
#[derive(Debug, Clone, Args)]
#[command(after_help = help::of_check())]
pub struct Check {
    /// Bundles or dumps to read instead of a cluster, as with --bundle.
    #[arg(value_name = "FILE", conflicts_with_all = ["live", "all_contexts", "bundles", "wait", "publish"])]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub fleet: Fleet,
    #[command(flatten)]
    pub selection: Selection,
    /// Check only workloads in these namespaces (comma-separated). The control plane is always checked.
    #[arg(short, long, value_name = "NAMESPACE,...", value_delimiter = ',', value_parser = namespace, help_heading = "Checks")]
    pub namespace: Vec<String>,
    /// Check workloads in all namespaces, as without --namespace.
    #[arg(short = 'A', long, conflicts_with = "namespace", hide = true, help_heading = "Checks")]
    pub all_namespaces: bool,
    /// The version of linkerd-cni that you are about to upgrade to, such as v1.6.8: says what that upgrade would break, and
    /// where it is newer than what meshdoctor knows, that it does not know. By default the newest release that meshdoctor knows.
    #[arg(long, value_name = "VERSION", value_parser = cni_version, help_heading = "Checks")]
    pub to_cni: Option<CniVersion>,
    #[command(flatten)]
    pub manifests: Manifests,
    #[command(flatten)]
    pub rehearsal: Rehearsal,
    #[command(flatten)]
    pub stage: InstallStage,
    /// The release that everything should run, such as edge-26.8.3 or stable-2.14.10. By default what the evidence and
    /// meshdoctor's release data say.
    #[arg(long, value_name = "VERSION", value_parser = release, help_heading = "Checks")]
    pub expected_version: Option<LinkerdVersion>,
    /// Exit with 1 when there is a finding of at least this severity; with :observed what is inferred ('likely') does not
    /// count. By default error, and with --verify warning.
    #[arg(long, value_enum, help_heading = "Checks")]
    pub fail_on: Option<FailOn>,
    /// How bad the findings of a check are here: error, warning or info. Below the severity of its card, the most that they
    /// may have; else that of every one, also of what is only an info by itself. Repeatable; leave a check out with --skip.
    #[arg(long, value_name = "CHECK=SEVERITY", value_parser = severity, conflicts_with = "verify", help_heading = "Checks")]
    pub severity: Vec<(String, Severity)>,
    /// A parameter of a check, in the place of what its card says: trust-anchor-expiring.days=30. 'explain CHECK' shows which
    /// there are. Repeatable.
    #[arg(long, value_name = "CHECK.NAME=VALUE", value_parser = parameter, conflicts_with = "verify", help_heading = "Checks")]
    pub param: Vec<Parameter>,
    /// What it means for the exit status when evidence that was asked for could not be had.
    #[arg(long, alias = "on-unknown", value_enum, default_value_t = OnNotChecked::Fail, conflicts_with = "verify", help_heading = "Checks")]
    pub on_not_checked: OnNotChecked,
    /// Findings that are accepted: a YAML file of waivers, each with check or fingerprint, scope, reason, owner and expiry.
    /// They stay in the report, marked, and do not count. Waivers that have expired, are unused, accept everything or name no
    /// check are findings. Repeatable.
    #[arg(long, value_name = "FILE", conflicts_with = "verify", help_heading = "Checks")]
    pub waivers: Vec<PathBuf>,
    /// An earlier report (-o json=FILE) of the same cluster: what was found then, at the same subjects and as bad, does not
    /// count.
    #[arg(long, value_name = "REPORT.json", conflicts_with = "verify", help_heading = "Checks")]
    pub baseline: Option<PathBuf>,
    /// Check the findings of an earlier report (-o json=FILE) again on fresh evidence, and say of each: fixed, still there,
    /// or not checked. What the report's run was asked is asked again where no flag says otherwise.
    #[arg(long, value_name = "REPORT.json", help_heading = "Checks")]
    pub verify: Option<PathBuf>,
    /// What is told: everything, or with 'observed' what the evidence shows alone. What is inferred is then counted, and neither
    /// listed nor able to fail the run.
    #[arg(long, value_enum, default_value_t = Told::Likely, conflicts_with = "verify", help_heading = "Checks")]
    pub confidence: Told,
    /// Look again, for so long at most, until nothing fails the run: 5m, as linkerd check does. What does not go by itself, an
    /// expired certificate say, ends the waiting at once.
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = duration,
        conflicts_with_all = ["bundle", "bundles", "manifests", "with", "values", "verify", "to"],
        help_heading = "Checks"
    )]
    pub wait: Option<Duration>,
    #[command(flatten)]
    pub report: Reports,
    /// Also write the report into the cluster, as the objects that policy reporters read (Reports of openreports.io, or else
    /// PolicyReports of wgpolicyk8s.io), with an event for each finding that appears or goes. It writes to the cluster; see
    /// docs/deploy.md for the role.
    #[arg(
        long,
        conflicts_with_all = ["bundle", "manifests", "with", "values", "verify", "to", "pre", "crds", "only", "skip", "namespace", "confidence"],
        help_heading = "Output"
    )]
    pub publish: bool,
    /// Also save what was read as a bundle: FILE.tar.gz, FILE.tar.zst or a folder.
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub save: Option<PathBuf>,
    /// Let --save overwrite a file that is there.
    #[arg(long, requires = "save", help_heading = "Output")]
    pub force: bool,
    #[command(flatten)]
    pub verbosity: Verbosity,
    /// Read the release data and other facts that age from this folder instead of the embedded ones.
    #[arg(long, value_name = "DIR", help_heading = "Checks")]
    pub knowledge: Option<PathBuf>,
}

/// `--fail-on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Error,
    Warning,
    Info,
    Never,
    #[value(name = "error:observed")]
    ErrorObserved,
    #[value(name = "warning:observed")]
    WarningObserved,
}

/// `--confidence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Told {
    /// What is inferred as well.
    Likely,
    /// What the evidence shows alone.
    Observed,
}

/// `--on-not-checked`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnNotChecked {
    /// Exit with 4.
    Fail,
    /// Exit with 0.
    Pass,
}
