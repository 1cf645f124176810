//! Collects the evidence that the flags name: selects the source, reads it, and saves it on request.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::args::{Connection, EvidenceArgs, NodePods, Verbosity};
use super::progress::Progress;
use super::stop::Stop;
use super::values::{CliVersionArg, CompleteArg, LogsArg, NodesArg, PrometheusArg};
use super::{output, rerun, verify};
use crate::checks::expressed::whole_kinds;
use crate::collect::{Collected, Options, Saver, collect};
use crate::command::{Arg, Rerun, meshdoctor, own};
use crate::item::Item;
use crate::save::{ClosingEntries, Writer};
use crate::source::diagnostics::Diagnostics;
use crate::source::error::LoadError;
use crate::source::evidence::Captured;
use crate::source::layered::Layered;
use crate::source::logs::{Logs, STDIN};
use crate::source::nodes::{NodeEvidence, NodesInput};
use crate::source::{Completeness, Origin, Source};
use crate::version::LinkerdVersion;

/// The source of the evidence, as the flags name it.
pub(super) struct EvidenceSource<'a> {
    /// Cluster, bundle and nodes.
    pub(super) evidence: &'a EvidenceArgs,
    /// Connection to the cluster.
    pub(super) connection: &'a Connection,
    /// Pods that read nodes, if requested.
    pub(super) node_pods: Option<&'a NodePods>,
    /// Whether large lists may come from the API server's watch cache.
    #[cfg_attr(not(feature = "live"), allow(dead_code, reason = "only live reads use it"))]
    pub(super) from_cache: bool,
    /// Whether standard error stays silent during the read.
    #[cfg_attr(not(feature = "live"), allow(dead_code, reason = "only live reads use it"))]
    pub(super) quiet: bool,
    /// Namespaces whose proxies `--proxies` and `--prometheus` read, in addition to the control plane; all if empty.
    #[cfg_attr(not(feature = "live"), allow(dead_code, reason = "only live reads use it"))]
    pub(super) sampled: &'a [String],
    /// Whether the command reports each missing piece of evidence, even if nothing could be read.
    #[cfg_attr(not(feature = "live"), allow(dead_code, reason = "only live reads use it"))]
    pub(super) reports_gaps: bool,
    /// Bundle that was already opened to read the options of a ticket.
    pub(super) opened: RefCell<Option<Captured>>,
}

impl<'a> EvidenceSource<'a> {
    /// The source that the flags name, without pods on nodes.
    pub(super) fn new(evidence: &'a EvidenceArgs, connection: &'a Connection) -> EvidenceSource<'a> {
        EvidenceSource {
            evidence,
            connection,
            node_pods: None,
            from_cache: false,
            quiet: false,
            sampled: &[],
            reports_gaps: false,
            opened: RefCell::new(None),
        }
    }
}

/// The result of a read.
pub(super) struct Read {
    /// The evidence.
    pub(super) collected: Collected,
    /// Its source.
    pub(super) origin: Origin,
    /// The options to request the same evidence again.
    pub(super) rerun: Rerun,
    /// Error of the requested save, if any.
    pub(super) save_trouble: Option<anyhow::Error>,
    /// Additional information for the bundle.
    pub(super) closing: ClosingEntries,
    /// Whether pods that read nodes could not be deleted; this was already reported.
    pub(super) pods_left: bool,
}

impl Read {
    /// Reports a failed save after the report, and turns exit status 0 into "could not run".
    pub(super) fn saved(&self, status: u8) -> anyhow::Result<u8> {
        match &self.save_trouble {
            None => Ok(status),
            Some(trouble) => {
                output::say_error(&format!("the bundle was not saved: {trouble}"), None);
                Ok(if status == crate::exit::FINE { crate::exit::COULD_NOT_RUN } else { status })
            }
        }
    }
}

/// Parameters of a read.
pub(super) struct Reading<'a> {
    pub(super) items: &'a BTreeSet<Item>,
    pub(super) options: Options,
    pub(super) verbosity: &'a Verbosity,
    save: Save<'a>,
    rerun: Rerun,
}

/// The copy of the evidence to keep.
#[derive(Clone, Copy)]
pub(super) enum Save<'a> {
    /// None.
    No,
    /// A bundle, written after everything is read.
    To(&'a Path),
    /// A bundle that the caller writes.
    In(&'a Writer),
}

impl<'a> From<Option<&'a Path>> for Save<'a> {
    fn from(path: Option<&'a Path>) -> Save<'a> {
        path.map_or(Save::No, Save::To)
    }
}

/// Reads `items` from the source that the flags name.
pub(super) fn read(
    way: &EvidenceSource<'_>,
    verbosity: &Verbosity,
    items: &BTreeSet<Item>,
    save: Save<'_>,
) -> anyhow::Result<Read> {
    let evidence = way.evidence;
    if evidence.prometheus.prometheus == Some(PrometheusArg::WithCredentials) {
        let cause = "the URL of --prometheus contains credentials, which are not accepted";
        return Err(Stop::usage(cause, "give a bearer token with --prometheus-token-file FILE").into());
    }
    if evidence.max_proxies.is_some() && evidence.proxies.is_none() {
        let cause = "--max-proxies limits the proxies that --proxies reads, but --proxies is missing";
        return Err(Stop::usage(cause, "add --proxies").into());
    }
    let has_metrics = evidence.proxies.is_some() || evidence.prometheus.prometheus.is_some();
    let live = evidence.live || asks_for_logs(evidence) || has_metrics || way.node_pods.is_some();
    let mut items = items.clone();
    let offline = !evidence.bundle.is_empty();
    if !(offline || evidence.complete.is_empty()) {
        let next = "add the dump: --bundle PATH";
        return Err(Stop::usage("--complete needs a dump", next).into());
    }
    let cli_version = cli_version(evidence, &mut items)?;
    let mut options = Options {
        control_plane_namespace: evidence.linkerd_namespace.clone(),
        cni_namespace: evidence.cni_namespace.clone(),
        cli_version,
        at: evidence.at,
        whole: whole_kinds(),
        applied: BTreeSet::new(),
        mistyped: Vec::new(),
        apart: BTreeSet::new(),
        value_keys: Vec::new(),
    };
    let opened = way.opened.take();
    if opened.is_none() && offline || !(evidence.nodes.is_empty() && evidence.diagnostics.is_empty() || live) {
        super::interrupt::ends_with_a_document();
    }
    let nodes = nodes(evidence, verbosity)?;
    let logs = logs(evidence)?;
    let diagnostics = diagnostics(evidence, verbosity)?;
    if offline {
        let captured = opened.map_or_else(|| captured(evidence, verbosity), Ok)?;
        // Namespaces found at collection time apply, unless flags override them.
        if let Some(then) = captured.namespaces() {
            options.control_plane_namespace.get_or_insert(then.control_plane);
            options.cni_namespace.get_or_insert(then.cni);
        }
        let rerun = rerun::of_bundle(captured.rerun().cloned(), evidence, way.connection);
        let reading = Reading { items: &items, options, verbosity, save, rerun };
        let name = captured.cluster_name().map(str::to_owned);
        let source = Layered::new(captured, nodes).with_logs(logs).with_diagnostics(diagnostics);
        return finish(&reading, name, |saver, progress| run(&reading, &source, saver, progress));
    }
    let rerun = rerun::rerun(evidence, way.connection);
    let reading = Reading { items: &items, options, verbosity, save, rerun };
    if !live && (nodes.is_some() || logs.is_some()) {
        let source = Layered::new(nodes.unwrap_or_default(), None).with_logs(logs).with_diagnostics(diagnostics);
        return finish(&reading, None, |saver, progress| run(&reading, &source, saver, progress));
    }
    super::live::read(&reading, way, Beside { nodes, logs, diagnostics })
}

/// The version of the linkerd CLI that a flag names. The items get the one to find.
fn cli_version(evidence: &EvidenceArgs, items: &mut BTreeSet<Item>) -> Result<Option<LinkerdVersion>, Stop> {
    let offline = !evidence.bundle.is_empty();
    Ok(match &evidence.linkerd_cli {
        Some(CliVersionArg::Version(version)) => Some(version.clone()),
        Some(CliVersionArg::Path(path)) if offline => {
            let cause = format!("--linkerd-cli {} would run a command, but --bundle runs none", path.display());
            return Err(Stop::usage(cause, "give the version instead: --linkerd-cli VERSION"));
        }
        Some(CliVersionArg::None) => {
            items.remove(&Item::CliVersion);
            None
        }
        Some(CliVersionArg::Path(_)) | None => {
            // A given version is used even if no selected check needs it. So is the version in a bundle.
            if offline {
                items.insert(Item::CliVersion);
            }
            None
        }
    })
}

/// The node evidence of `--nodes`, if any.
fn nodes(evidence: &EvidenceArgs, verbosity: &Verbosity) -> anyhow::Result<Option<NodeEvidence>> {
    if evidence.nodes.is_empty() {
        return Ok(None);
    }
    let given = evidence.nodes.iter().map(|given| match given {
        NodesArg::One { name, path } => NodesInput::Node { name: name.clone(), path: path.clone() },
        NodesArg::Folder(path) => NodesInput::Several(path.clone()),
    });
    let nodes = NodeEvidence::open(&given.collect::<Vec<_>>()).map_err(load)?;
    warn(nodes.warnings(), verbosity);
    Ok(Some(nodes))
}

/// Evidence given in addition to a cluster.
#[cfg_attr(not(feature = "live"), allow(dead_code, reason = "a cluster alone takes it"))]
pub(super) struct Beside {
    pub(super) nodes: Option<NodeEvidence>,
    pub(super) logs: Option<Logs>,
    pub(super) diagnostics: Option<Diagnostics>,
}

/// The output of `linkerd diagnostics`, if any.
fn diagnostics(evidence: &EvidenceArgs, verbosity: &Verbosity) -> anyhow::Result<Option<Diagnostics>> {
    let given: Vec<_> = evidence.diagnostics.iter().map(|one| (one.of.clone(), one.path.clone())).collect();
    if given.is_empty() {
        return Ok(None);
    }
    let diagnostics = Diagnostics::open(&given).map_err(load)?;
    warn(diagnostics.unused(), verbosity);
    Ok(Some(diagnostics))
}

/// Whether to read logs from the cluster.
pub(super) fn asks_for_logs(evidence: &EvidenceArgs) -> bool {
    evidence.logs.contains(&LogsArg::Live)
}

/// The files of `--logs`, with the source of each.
fn log_files(evidence: &EvidenceArgs) -> Vec<(String, PathBuf)> {
    let given = evidence.logs.iter().filter_map(|logs| match logs {
        LogsArg::File(name, path) => Some((name.clone(), path.clone())),
        LogsArg::Live => None,
    });
    given.collect()
}

/// The logs of `--logs`, if any.
fn logs(evidence: &EvidenceArgs) -> anyhow::Result<Option<Logs>> {
    let files = log_files(evidence);
    if asks_for_logs(evidence) && !evidence.bundle.is_empty() {
        let cause = "--logs without a file reads logs from a cluster, but --bundle reads none";
        return Err(Stop::usage(cause, "give files: --logs NAMESPACE/POD/CONTAINER=FILE").into());
    }
    if files.is_empty() {
        return Ok(None);
    }
    reads_input_once(evidence)?;
    Ok(Some(Logs::open(&files, std::io::stdin()).map_err(load)?))
}

/// Rejects flags if two of them read standard input.
pub(super) fn reads_input_once(evidence: &EvidenceArgs) -> anyhow::Result<()> {
    let stdin = |path: &PathBuf| path.as_os_str() == STDIN;
    if evidence.bundle.iter().any(stdin) && log_files(evidence).iter().any(|(_, path)| stdin(path)) {
        let cause = "--bundle - and --logs NAME=- both read standard input";
        return Err(Stop::usage(cause, "pass one of them as a file").into());
    }
    Ok(())
}

/// The flags, with file arguments added as bundles. `next`: the next step for a word that names no file, if the command
/// recognises it.
///
/// # Errors
/// A file does not exist, or a bundle is a report rather than evidence.
pub(super) fn with_files(
    evidence: &EvidenceArgs,
    files: &[PathBuf],
    next: impl Fn(&str) -> Option<String>,
) -> Result<EvidenceArgs, Stop> {
    if let Some(file) = files.iter().find(|file| file.as_os_str() != "-" && !file.exists()) {
        let shown = file.display().to_string();
        let give = || "give a bundle, a dump or a folder; without a file, the cluster is read".to_owned();
        let next = next(&shown).unwrap_or_else(give);
        return Err(Stop::usage(format!("{shown}: no such file or folder"), next));
    }
    let mut evidence = evidence.clone();
    evidence.bundle.extend_from_slice(files);
    if let Some(file) = evidence.bundle.iter().find(|file| verify::is_report(file)) {
        let again = meshdoctor().words("check --verify").arg(Arg::path(file.display().to_string()));
        return Err(Stop::usage(
            format!("{} is a report, not evidence", file.display()),
            format!("recheck its findings with {again}; compare reports with --baseline or {}", own("diff")),
        ));
    }
    Ok(evidence)
}

/// Opens the bundle of `--bundle` before it is read; `None` if not given.
pub(super) fn open(evidence: &EvidenceArgs, verbosity: &Verbosity) -> anyhow::Result<Option<Captured>> {
    if evidence.bundle.is_empty() {
        return Ok(None);
    }
    super::interrupt::ends_with_a_document();
    captured(evidence, verbosity).map(Some)
}

/// The bundles and dumps of `--bundle`.
fn captured(evidence: &EvidenceArgs, verbosity: &Verbosity) -> anyhow::Result<Captured> {
    let mut completeness = Completeness::Unstated;
    for part in &evidence.complete {
        completeness = match (completeness, part) {
            (Completeness::All, _) | (_, CompleteArg::All) => Completeness::All,
            (Completeness::Kinds(mut all), CompleteArg::Kinds(more)) => {
                all.extend(more);
                Completeness::Kinds(all)
            }
            (Completeness::Unstated, CompleteArg::Kinds(kinds)) => Completeness::Kinds(kinds.clone()),
        };
    }
    let captured = Captured::open(&evidence.bundle, completeness, std::io::stdin()).map_err(load)?;
    warn(captured.warnings(), verbosity);
    if verbosity.verbose > 0 {
        warn(captured.ignored(), verbosity);
    }
    Ok(captured)
}

pub(super) fn warn(warnings: &[String], verbosity: &Verbosity) {
    if !verbosity.quiet {
        for warning in warnings {
            super::output::print_line(&format!("warning: {}", crate::redact::own_words(warning)));
        }
    }
}

fn load(error: LoadError) -> anyhow::Error {
    let next = format!("see {} for the formats of --bundle, --nodes, --logs and --diagnostics", own("check --help"));
    if error.is_usage() { Stop::usage(error.to_string(), next) } else { Stop::could_not_run(error.to_string(), next) }
        .into()
}

/// Opens the bundle to save to, reads, and closes it.
pub(super) fn finish(
    reading: &Reading<'_>,
    cluster: Option<String>,
    read: impl FnOnce(Option<&dyn Saver>, &Progress) -> anyhow::Result<(Collected, Origin)>,
) -> anyhow::Result<Read> {
    let own = match reading.save {
        Save::To(path) => Some(writer(path)?),
        Save::No | Save::In(_) => None,
    };
    let saver = match reading.save {
        Save::In(writer) => Some(writer),
        Save::No | Save::To(_) => own.as_ref(),
    };
    let progress = Progress::new(reading.verbosity);
    let (collected, origin) = read(saver.map(|writer| writer as &dyn Saver), &progress)?;
    progress.done();
    let cluster = cluster.or_else(|| (origin.kind == "live").then(|| origin.name.clone()));
    let cli = collected.cluster.cli_version.as_ref().ok().map(ToString::to_string);
    let closing = ClosingEntries { rerun: reading.rerun.clone(), ..ClosingEntries::new(&collected, cluster, cli) };
    let save_trouble = own.and_then(|writer| writer.finish(closing.clone()).err().map(anyhow::Error::new));
    let rerun = reading.rerun.clone();
    Ok(Read { collected, origin, rerun, save_trouble, closing, pods_left: false })
}

/// A writer for a path on the command line.
pub(super) fn writer(path: &Path) -> Result<Writer, Stop> {
    Writer::create(path).map_err(|error| Stop::usage(error.to_string(), "give a writable path: FILE.tar.gz"))
}

/// Reads from a source without a network.
fn run<S: Source>(
    reading: &Reading<'_>,
    source: &S,
    saver: Option<&dyn Saver>,
    progress: &Progress,
) -> anyhow::Result<(Collected, Origin)> {
    let collected = futures::executor::block_on(collect(source, reading.items, &reading.options, saver, progress));
    Ok((collected, source.origin()))
}
