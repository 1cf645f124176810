//! The flags of `meshdoctor check`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{Connection, EvidenceArgs, Fleet, Manifests, Rehearsal, Reports, Selection, Verbosity, help};
use crate::cli::values::{Parameter, cni_version, duration, namespace, parameter, release, severity};
use crate::finding::Severity;
use crate::version::{CniVersion, LinkerdVersion};

/// The installation stage to check, spelled as `linkerd check` spells it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Checks")]
pub struct InstallStage {
    /// Check whether the cluster can run Linkerd, before it is installed.
    #[arg(long, conflicts_with = "crds")]
    pub pre: bool,
    /// Check the custom resource definitions, before the control plane is installed.
    #[arg(long)]
    pub crds: bool,
    /// With --pre: the installation will use linkerd-cni, which must be installed and ready.
    #[arg(long, requires = "pre")]
    pub linkerd_cni_enabled: bool,
    /// With -o linkerd, also print the data-plane rows. meshdoctor's own reports always include them.
    #[arg(long, conflicts_with_all = ["pre", "crds"])]
    pub proxy: bool,
}

/// `meshdoctor check`.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = help::of_check())]
pub struct Check {
    /// Bundles, dumps or folders to read instead of the cluster, as with --bundle.
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
    #[arg(
        short,
        long,
        value_name = "NAMESPACE,...",
        value_delimiter = ',',
        value_parser = namespace,
        help_heading = "Checks",
    )]
    pub namespace: Vec<String>,
    /// Check workloads in all namespaces, as without --namespace.
    #[arg(short = 'A', long, conflicts_with = "namespace", hide = true, help_heading = "Checks")]
    pub all_namespaces: bool,
    /// The linkerd-cni version of the next upgrade, such as v1.6.8: reports what that upgrade would break.
    ///
    /// For a version that meshdoctor does not know, the report states so. By default, the newest known release is used.
    #[arg(long, value_name = "VERSION", value_parser = cni_version, help_heading = "Checks")]
    pub to_cni: Option<CniVersion>,
    #[command(flatten)]
    pub manifests: Manifests,
    #[command(flatten)]
    pub rehearsal: Rehearsal,
    #[command(flatten)]
    pub stage: InstallStage,
    /// The release that all components should run, such as edge-26.8.3 or stable-2.14.10.
    ///
    /// By default it is taken from the evidence and meshdoctor's release data.
    #[arg(long, value_name = "VERSION", value_parser = release, help_heading = "Checks")]
    pub expected_version: Option<LinkerdVersion>,
    /// Exit with 1 if a finding has at least this severity; with :observed, inferred ('likely') findings do not count.
    ///
    /// One of error, warning, info, never, error:observed and warning:observed. The default is error, and warning with
    /// --verify.
    #[arg(long, value_enum, value_name = "SEVERITY", hide_possible_values = true, help_heading = "Checks")]
    pub fail_on: Option<FailOn>,
    /// Override the severity of a check's findings: error, warning or info. Repeatable.
    ///
    /// A severity below the one on the check's card is an upper bound; otherwise all findings get it, including those
    /// that are only info by default. To disable a check, use --skip.
    #[arg(
        long,
        value_name = "CHECK=SEVERITY",
        value_parser = severity,
        conflicts_with = "verify",
        help_heading = "Checks",
    )]
    pub severity: Vec<(String, Severity)>,
    /// Override a check's parameter: trust-anchor-expiring.days=30. Repeatable.
    ///
    /// 'explain CHECK' lists the parameters.
    #[arg(
        long,
        value_name = "CHECK.NAME=VALUE",
        value_parser = parameter,
        conflicts_with = "verify",
        help_heading = "Checks",
    )]
    pub param: Vec<Parameter>,
    /// Exit status if requested evidence was unavailable.
    #[arg(
        long,
        alias = "on-unknown",
        value_enum,
        default_value_t = OnNotChecked::Fail,
        conflicts_with = "verify",
        help_heading = "Checks",
    )]
    pub on_not_checked: OnNotChecked,
    /// Accept the findings in a YAML file of waivers. Repeatable.
    ///
    /// A waiver has a check or fingerprint, scope, reason, owner and expiry. Accepted findings stay in the report, are
    /// marked, and do not affect the exit status. Waivers that have expired, match nothing, accept everything or name
    /// an unknown check are findings.
    #[arg(long, value_name = "FILE", conflicts_with = "verify", help_heading = "Checks")]
    pub waivers: Vec<PathBuf>,
    /// Ignore the findings of an earlier report (-o json=FILE) of the same cluster.
    ///
    /// A finding counts if it is new, affects other subjects or is more severe.
    #[arg(long, value_name = "REPORT.json", conflicts_with = "verify", help_heading = "Checks")]
    pub baseline: Option<PathBuf>,
    /// Recheck the findings of an earlier report (-o json=FILE) with fresh evidence: fixed, still there, or not
    /// checked.
    ///
    /// The options of the earlier run apply unless flags override them.
    #[arg(long, value_name = "REPORT.json", help_heading = "Checks")]
    pub verify: Option<PathBuf>,
    /// Compare the numbers of proxies (requests, failures, latency, memory) with those of an earlier report or bundle.
    ///
    /// Needs metrics in both: --proxies, --prometheus or --diagnostics. Workloads with worse numbers are
    /// findings of the check traffic-worse-than-before.
    #[arg(
        long,
        value_name = "REPORT.json|BUNDLE",
        conflicts_with_all = ["verify", "to", "manifests", "with", "values"],
        help_heading = "Checks"
    )]
    pub before: Option<PathBuf>,
    /// With 'observed', list only findings that the evidence proves.
    ///
    /// Inferred findings are then counted but not listed, and cannot fail the run.
    #[arg(long, value_enum, default_value_t = ConfidenceArg::Likely, conflicts_with = "verify")]
    #[arg(help_heading = "Checks")]
    pub confidence: ConfidenceArg,
    /// Retry for up to DURATION (5m) until the checks pass, like linkerd check.
    ///
    /// Stops early if a finding cannot resolve itself, for example an expired certificate.
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = duration,
        allow_hyphen_values = true,
        conflicts_with_all = ["bundle", "bundles", "manifests", "with", "values", "verify", "to"],
        help_heading = "Checks"
    )]
    pub wait: Option<Duration>,
    #[command(flatten)]
    pub report: Reports,
    /// Also write the report into the cluster, for policy reporters. This needs a role of its own.
    ///
    /// Writes Reports of openreports.io, or else PolicyReports of wgpolicyk8s.io, and an event for each finding that is
    /// new or fixed.
    #[arg(
        long,
        conflicts_with_all = [
            "bundle",
            "manifests",
            "with",
            "values",
            "verify",
            "to",
            "pre",
            "crds",
            "only",
            "skip",
            "namespace",
            "confidence",
        ],
        help_heading = "Output"
    )]
    pub publish: bool,
    /// Save the evidence as a bundle: FILE.tar.gz, FILE.tar.zst or a folder.
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub save: Option<PathBuf>,
    /// Let --save overwrite an existing file.
    #[arg(long, requires = "save", help_heading = "Output")]
    pub force: bool,
    #[command(flatten)]
    pub verbosity: Verbosity,
    /// Read release data from this folder instead of the embedded data.
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ConfidenceArg {
    /// Also inferred findings.
    #[default]
    Likely,
    /// Only findings that the evidence proves.
    Observed,
}

/// `--on-not-checked`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OnNotChecked {
    /// Exit with 4.
    #[default]
    Fail,
    /// Exit with 0.
    Pass,
}
