//! Manifests instead of a cluster (`--manifests`), or applied on top of one (`--with`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::args::{Check, EvidenceArgs, Verbosity};
use super::chart;
use super::evidence::{self, EvidenceSource, Read, Save};
use super::stop::Stop;
use crate::chart::gitops::Installed;
use crate::chart::values_input::ValuesInput;
use crate::checks::Upgrade;
use crate::checks::expressed::whole_kinds;
use crate::collect::{Collected, Options, Unobserved, collect};
use crate::command::Rerun;
use crate::finding::{Evidence, Finding, ManifestLocation, Place, Subject};
use crate::item::{Item, Kind, Scope};
use crate::knowledge::Knowledge;
use crate::model::Cluster;
use crate::model::control_plane::installed;
use crate::objects::{ConfigMap, Deployment, Listed};
use crate::report;
use crate::save::ClosingEntries;
use crate::source::change::{Change, Prune, Set, Versions};
use crate::source::dump::Places;
use crate::source::evidence::Captured;
use crate::source::{Completeness, Origin, Source};
use crate::version::{K8sVersion, LinkerdVersion};

/// Result of applying a change on top of a cluster.
pub(super) struct Overlay {
    /// Description of the change.
    pub(super) change: report::ManifestChange,
    /// The cluster with the change applied.
    pub(super) collected: Collected,
    /// Positions of its objects in the manifests.
    pub(super) places: Option<Places>,
    /// Charts that its objects install.
    pub(super) charts: Vec<Installed>,
}

/// Manifests that are checked without a cluster.
pub(super) struct Alone {
    /// Their objects.
    pub(super) read: Read,
    /// The release to check for, if given.
    pub(super) release: Option<LinkerdVersion>,
    /// Positions of their objects in the manifests.
    pub(super) places: Option<Places>,
    /// Charts that they install.
    pub(super) charts: Vec<Installed>,
}

/// The flags that name manifests, for recheck commands.
pub(super) fn flags(args: &Check) -> Vec<(&'static str, String)> {
    let given = &args.manifests;
    let text = |path: &PathBuf| path.display().to_string();
    let mut flags: Vec<(&'static str, String)> = Vec::new();
    flags.extend(given.manifests.iter().map(|path| ("--manifests", text(path))));
    flags.extend(given.linkerd_version.iter().map(|version| ("--linkerd-version", version.to_string())));
    flags.extend(given.kubernetes_version.iter().map(|version| ("--kubernetes-version", version.to_string())));
    flags.extend(given.with.iter().map(|path| ("--with", text(path))));
    flags.extend(given.prune.iter().map(|selector| ("--prune", selector.to_string())));
    flags.extend(given.into.iter().map(|namespace| ("--into", namespace.clone())));
    flags
}

/// Maximum number of objects of a finding to look up in the manifests.
const MOST: usize = 20;

/// Adds to findings their positions in the manifests: that of the field that proves them, or of the object.
pub(super) fn place(findings: &mut [Finding], places: &Places) {
    for finding in findings.iter_mut().filter(|finding| !finding.when.ends()) {
        name_as_written(finding, places);
        let mut written = Vec::new();
        for subject in finding.subjects.iter().take(MOST) {
            let Subject::Object { kind, namespace, name, .. } = subject else { continue };
            let object = Subject::object(kind, namespace, name).to_string();
            let fields = finding.evidence.iter().filter_map(|evidence| match &evidence.place {
                Place::Field { object: of, path } if *of == object => Some(path.clone()),
                // A pod's fields are in the template of its workload.
                Place::Field { object: of, path } if of.starts_with("Pod ") => Some(format!("spec.template.{path}")),
                Place::Field { .. } | Place::File { .. } | Place::Event { .. } | Place::Other { .. } => None,
            });
            let found = fields.filter_map(|path| places.find(kind, namespace, name, Some(&path)));
            let found: Vec<ManifestLocation> = found.filter(|written| written.path.is_some()).collect();
            match found.is_empty() {
                false => written.extend(found),
                true => written.extend(places.find(kind, namespace, name, None)),
            }
        }
        written.sort();
        written.dedup();
        finding.written.extend(written);
    }
}

/// Names objects that are judged as another kind, such as Rollouts of Argo, by their kind in the files.
fn name_as_written(finding: &mut Finding, places: &Places) {
    let mut names: Vec<(String, String)> = Vec::new();
    for subject in &mut finding.subjects {
        let before = subject.to_string();
        let Subject::Object { kind, namespace, name, .. } = subject else { continue };
        let Some(written) = places.written_kind(kind, namespace, name) else { continue };
        *kind = written.to_owned();
        names.push((before, subject.to_string()));
    }
    for (before, now) in names {
        finding.message = finding.message.replace(&before, &now);
        for evidence in &mut finding.evidence {
            if let Place::Field { object, .. } = &mut evidence.place
                && *object == before
            {
                object.clone_from(&now);
            }
        }
        for step in &mut finding.remedy.steps {
            step.text = step.text.replace(&before, &now);
        }
    }
}

/// Manifests as objects, with the versions to check them for.
pub(super) struct Loaded {
    /// The files; `None` if only chart values are given.
    pub(super) given: Option<Captured>,
    /// Their objects.
    pub(super) set: Set,
    /// The Kubernetes version.
    pub(super) versions: Versions,
    /// The release of Linkerd to check for, if known.
    pub(super) release: Option<LinkerdVersion>,
}

/// Loads manifests without a cluster.
///
/// # Errors
/// The manifests, or the bundle with the versions, cannot be read.
pub(super) fn loaded(args: &Check) -> anyhow::Result<Loaded> {
    // Chart values can be checked without any object.
    let given = match args.manifests.manifests.is_empty() {
        true => None,
        false => Some(of_check(&args.manifests.manifests, args)?),
    };
    let beside = (!args.evidence.bundle.is_empty()).then(|| versions(args)).transpose()?;
    let (linkerd, kubernetes) = beside.unwrap_or_default();
    let release = args.manifests.linkerd_version.clone().or(linkerd);
    let kubernetes = args.manifests.kubernetes_version.clone().or(kubernetes);
    let set = given.as_ref().map_or_else(Set::default, |given| read_set(given, args));
    Ok(Loaded { given, set, versions: Versions(kubernetes), release })
}

/// The objects of manifests. One that cannot be read does not affect the others: the API server rejects it alone, and
/// manifests are never all objects of a kind.
fn read_set(given: &Captured, args: &Check) -> Set {
    let mut set = futures::executor::block_on(Set::read(given, args.manifests.into.as_deref()));
    set.take_unreadable(&given.unreadable());
    set.add_mistyped(given.mistyped());
    for (kind, namespace, name) in given.apart() {
        let is_default = kind.info().namespaced && namespace.is_empty();
        let home = args.manifests.into.as_deref().unwrap_or("default");
        set.put_apart(kind, if is_default { home } else { namespace }, name);
    }
    set.put_value_keys(given.value_keys().to_vec());
    set
}

/// Reads manifests without a cluster.
///
/// # Errors
/// As [`loaded`].
pub(super) fn evidence_of_change(args: &Check, items: &BTreeSet<Item>, knowledge: &Knowledge) -> anyhow::Result<Alone> {
    let Loaded { mut given, set, versions, release } = loaded(args)?;
    let at = args.evidence.at.unwrap_or_else(jiff::Timestamp::now);
    let source = Change::new(&versions, &set, knowledge, at).injecting(release.clone());
    let mut items = items.clone();
    // The linkerd CLI on PATH is not relevant for manifests.
    items.remove(&Item::CliVersion);
    let collected = read(&source, &set, (&items, args), None);
    if let (Some(told), Some((held, _))) = (&args.manifests.linkerd_version, control_plane(&collected.cluster))
        && Upgrade::target(told.as_str(), knowledge.releases()).unwrap_or_else(|_| told.clone()) != held
    {
        let said = format!("--linkerd-version {told} is ignored: the manifests contain a control plane of {held}");
        super::evidence::warn(&[said], &args.verbosity);
    }
    let origin = match &given {
        Some(_) => Origin { kind: "manifests".to_owned(), name: words(&args.manifests.manifests) },
        None => Origin { kind: "values".to_owned(), name: words(&args.manifests.values) },
    };
    let closing = ClosingEntries::new(&collected, None, None);
    let rerun = Rerun::default();
    let read = Read { collected, origin, rerun, save_trouble: None, closing, pods_left: false };
    let charts = given.as_mut().map(Captured::charts).unwrap_or_default();
    Ok(Alone { read, release, places: given.as_mut().and_then(Captured::places), charts })
}

/// The release of manifests before an upgrade: that of their control plane, or the given one. A minor means
/// its first release.
///
/// # Errors
/// The release is unknown.
pub(super) fn before_upgrade(
    args: &Check,
    told: Option<LinkerdVersion>,
    read: &Read,
    knowledge: &Knowledge,
) -> Result<LinkerdVersion, Stop> {
    let held = || control_plane(&read.collected.cluster).map(|(version, _)| version);
    let from = held().or(told).or_else(|| args.rehearsal.from.clone()).ok_or_else(|| {
        Stop::usage(
            "the current Linkerd release is unknown, so the upgrade cannot be checked",
            "give it with --linkerd-version 2.19, or give --bundle of a cluster",
        )
    })?;
    Ok(Upgrade::target(from.as_str(), knowledge.releases()).unwrap_or(from))
}

/// Additional evidence that is needed to apply a change.
pub(super) fn items(items: &mut BTreeSet<Item>) {
    for kind in [
        Kind::Pod,
        Kind::Namespace,
        Kind::Deployment,
        Kind::StatefulSet,
        Kind::DaemonSet,
        Kind::Job,
        Kind::ReplicaSet,
        Kind::Node,
        Kind::MutatingWebhookConfiguration,
    ] {
        items.insert(Item::List(kind));
    }
    for name in ["linkerd-config", "linkerd-identity-trust-roots"] {
        items.insert(of_control_plane(name));
    }
}

fn of_control_plane(name: &str) -> Item {
    Item::Named { kind: Kind::ConfigMap, scope: Scope::ControlPlane, name: name.to_owned() }
}

/// Reads a cluster, and applies the change on top of it. Evidence is kept for the run, so that both states are checked
/// with the same.
///
/// # Errors
/// Evidence or manifests cannot be read.
pub(super) fn overlay(
    args: &Check,
    way: &EvidenceSource<'_>,
    items: &BTreeSet<Item>,
    (knowledge, values): (&Knowledge, Option<&ValuesInput>),
) -> anyhow::Result<(Read, Overlay)> {
    let mut given = match values {
        Some(_) => None,
        None => Some(of_check(&args.manifests.with, args)?),
    };
    let ReplayedEvidence { read: today, again: before, folder: _folder } =
        gather_and_save(way, &args.verbosity, items, args.save.as_deref())?;
    let charts = given.as_mut().map(Captured::charts).unwrap_or_default();
    let mut set = match (&given, values) {
        (Some(given), _) => read_set(given, args),
        (None, Some(values)) => chart::as_change(values, &today.collected.cluster),
        (None, None) => Set::default(),
    };
    let running = control_plane(&today.collected.cluster).map(|(version, _)| version);
    let (settings, unknown) =
        chart::over_control_plane(&charts, (&today.collected.cluster, running.as_ref()), knowledge);
    let said: Vec<String> = unknown.iter().map(|what| format!("not checked: {what}")).collect();
    evidence::warn(&said, &args.verbosity);
    set.add(settings);
    set.set_aside(unknown);
    let at = today.collected.cluster.at;
    let source = Change::new(&before, &set, knowledge, at).pruning(Prune(args.manifests.prune.clone()));
    let mut collected = read(&source, &set, (items, args), Some(&today.collected));
    // Keep the time source of the cluster: the temporary copy records only the time.
    collected.cluster.time_source = today.collected.cluster.time_source;
    let named = if values.is_some() { &args.manifests.values } else { &args.manifests.with };
    let change = report::ManifestChange { given: words(named), objects: set.count() };
    Ok((today, Overlay { change, collected, places: given.as_mut().and_then(Captured::places), charts }))
}

/// Evidence of a cluster, and a reader to replay it object by object.
pub(super) struct ReplayedEvidence {
    /// The evidence.
    pub(super) read: Read,
    /// The replay.
    pub(super) again: Captured,
    /// Temporary folder with the copy.
    folder: tempfile::TempDir,
}

/// Reads a cluster and keeps a copy: in the bundle at `save`, or in a temporary folder.
///
/// # Errors
/// Evidence cannot be read, or the copy cannot be written.
pub(super) fn gather_and_save(
    way: &EvidenceSource<'_>,
    verbosity: &Verbosity,
    items: &BTreeSet<Item>,
    save: Option<&Path>,
) -> anyhow::Result<ReplayedEvidence> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder for the evidence")?;
    let own = folder.path().join("before.tar.gz");
    let path: &Path = save.unwrap_or(&own);
    let read = evidence::read(way, verbosity, items, Save::To(path))?;
    if let Some(trouble) = &read.save_trouble {
        let cause = format!("the evidence of the cluster could not be stored: {trouble}");
        return Err(Stop::could_not_run(cause, "free space in the folder for temporary files, or use --save").into());
    }
    let again = Captured::open(&[path.to_owned()], Completeness::Unstated, std::io::empty())
        .context("the stored evidence cannot be read")?;
    Ok(ReplayedEvidence { read, again, folder })
}

fn of_check(paths: &[PathBuf], args: &Check) -> anyhow::Result<Captured> {
    read_change(paths, &args.evidence, args.manifests.into.clone(), &args.verbosity)
}

/// Reads the manifests at the given paths.
///
/// # Errors
/// They cannot be read, or they and the bundle both use standard input.
pub(super) fn read_change(
    paths: &[PathBuf],
    evidence: &EvidenceArgs,
    into: Option<String>,
    verbosity: &Verbosity,
) -> anyhow::Result<Captured> {
    let stdin = |path: &PathBuf| path.as_os_str() == "-";
    if paths.iter().any(stdin) && evidence.bundle.iter().any(stdin) {
        let cause = "the manifests and --bundle - both read standard input";
        return Err(Stop::usage(cause, "pass one of them as a file").into());
    }
    let given = Captured::manifests(paths, into, std::io::stdin()).map_err(|error| {
        let next = "give the output of helm template, kustomize build or kubectl get -o yaml, or a folder \
                    of such files";
        if error.is_usage() {
            Stop::usage(error.to_string(), next)
        } else {
            Stop::could_not_run(error.to_string(), next)
        }
    })?;
    super::evidence::warn(given.warnings(), verbosity);
    if verbosity.verbose > 0 {
        super::evidence::warn(given.ignored(), verbosity);
    }
    Ok(given)
}

fn words(paths: &[PathBuf]) -> String {
    let each = paths.iter().map(|path| match path.as_os_str() == "-" {
        true => "stdin".to_owned(),
        false => path.display().to_string(),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Reads a changed cluster. `today`: the cluster without the change, if there is one.
pub(super) fn read<S: Source>(
    source: &S,
    set: &Set,
    (items, args): (&BTreeSet<Item>, &Check),
    today: Option<&Collected>,
) -> Collected {
    let namespaces = today.map(|today| &today.cluster.namespaces);
    let cli = today.and_then(|today| today.cluster.cli_version.as_ref().ok());
    let options = Options {
        control_plane_namespace: args
            .evidence
            .linkerd_namespace
            .clone()
            .or_else(|| namespaces.map(|known| known.control_plane.clone())),
        cni_namespace: args.evidence.cni_namespace.clone().or_else(|| namespaces.map(|known| known.cni.clone())),
        cli_version: cli.cloned(),
        at: args.evidence.at,
        whole: whole_kinds(),
        applied: set.keys().collect(),
        mistyped: set.mistyped().to_vec(),
        apart: set.apart().collect(),
        value_keys: set.value_keys().to_vec(),
    };
    futures::executor::block_on(collect(source, items, &options, None, &Unobserved))
}

/// Versions in a bundle or dump.
fn versions(args: &Check) -> anyhow::Result<(Option<LinkerdVersion>, Option<K8sVersion>)> {
    let items: BTreeSet<Item> = [
        Item::ServerVersion,
        Item::List(Deployment::KIND),
        Item::List(Kind::Namespace),
        of_control_plane("linkerd-config"),
    ]
    .into();
    let way = EvidenceSource::new(&args.evidence, &args.connection);
    let Read { collected, .. } = evidence::read(&way, &args.verbosity, &items, Save::No)?;
    let cluster = &collected.cluster;
    Ok((control_plane(cluster).map(|(version, _)| version), cluster.server_version.clone().ok()))
}

/// Release of the control plane, and its evidence.
fn control_plane(cluster: &Cluster) -> Option<(LinkerdVersion, Evidence)> {
    let deployments = cluster.answer(&Item::List(Deployment::KIND)).map_or(&[][..], |answer| answer.objects());
    let config: Option<&ConfigMap> =
        cluster.answer(&of_control_plane("linkerd-config")).and_then(|answer| answer.objects().first());
    installed(deployments, config, &cluster.namespaces.control_plane)
}
