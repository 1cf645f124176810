//! Checks several clusters in one run, a few at a time. An unreachable cluster does not fail the others. Then writes
//! one summary of all, with both ends of the links between them.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;

use super::args::{Check, OnNotChecked};
use super::format::{Format, Output};
use super::output_names::{CLUSTER, in_file_name, is_named};
use super::stop::Stop;
use super::values::PrometheusArg;
use super::{check, files, output, output_names, request, verify};
use crate::exit;
use crate::inspect::link_endpoints::{self, End};
use crate::model::Cluster;
use crate::model::cluster::TimeSource;
use crate::policy::Gate;
use crate::render::document::Document;
use crate::render::fleet::{self as render, ClusterOutcome, Member};

/// Whether several clusters are selected.
pub(super) fn is_meant(args: &Check) -> bool {
    args.fleet.all_contexts || args.fleet.bundles.is_some() || args.connection.context.len() > 1
}

/// One of the clusters, and its source.
struct FleetMember {
    name: String,
    how: How,
}

enum How {
    Context(String),
    Bundle(PathBuf),
    /// It was expected, but this folder has no bundle of it.
    Missing(PathBuf),
}

pub(super) fn run(args: &Check) -> anyhow::Result<u8> {
    refuse(args)?;
    let asked = members(args)?;
    let folder = tempfile::tempdir().context("cannot create a temporary folder for the reports")?;
    let queue: Mutex<VecDeque<(usize, &FleetMember)>> = Mutex::new(asked.iter().enumerate().collect());
    let done: Mutex<BTreeMap<usize, (Member, Option<End>)>> = Mutex::new(BTreeMap::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    std::thread::scope(|scope| {
        for _ in 0..usize::from(args.fleet.parallel).min(asked.len()) {
            scope.spawn(|| {
                while let Some((at, cluster)) = next() {
                    let of = judge(args, cluster, folder.path(), at);
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(at, of);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (members, ends): (Vec<Member>, Vec<Option<End>>) = done.into_values().unzip();
    let known: Vec<(String, End)> =
        members.iter().zip(ends).filter_map(|(member, end)| Some((member.name.clone(), end?))).collect();
    let failed: Vec<String> = members
        .iter()
        .filter(|member| matches!(member.outcome, ClusterOutcome::Failed { .. }))
        .map(|member| member.name.clone())
        .collect();
    let links = link_endpoints::look(&known, &failed);
    let gate = args.fail_on.map_or(Gate::Error, request::gate);
    let fleet = render::Fleet { same: same(&known), members, links };
    let status = status(&fleet, gate, args.on_not_checked == OnNotChecked::Pass);
    let mut unwritten = None;
    for one in summaries(args) {
        let text = match one.format {
            Format::Json => fleet.json(status),
            _ => {
                let text = fleet.table(output::look(), status);
                if one.file.is_none() { output::for_people(text) } else { text }
            }
        };
        match &one.file {
            None => _ = output::print(&text)?,
            Some(path) => {
                let written = super::files::make_folder(path).and_then(|()| super::files::write(path, &text));
                let written = written.with_context(|| format!("{} could not be written", path.display()));
                unwritten = unwritten.or(written.err());
            }
        }
    }
    unwritten.map_or(Ok(status), Err)
}

/// The exit status of all: findings take precedence over clusters and links that were not checked. If no cluster was
/// checked, the run could not run.
fn status(fleet: &render::Fleet, gate: Gate, not_checked_passes: bool) -> u8 {
    let of = |status: u8| fleet.members.iter().any(|member| member.outcome.status() == status);
    let broken = fleet.links.mismatches.iter().any(|one| gate.fails(one.severity));
    let judged = |member: &Member| matches!(member.outcome, ClusterOutcome::Judged(_));
    if of(exit::FINDINGS) || broken {
        exit::FINDINGS
    } else if !fleet.members.iter().any(judged) {
        exit::COULD_NOT_RUN
    } else if fleet.members.iter().any(|member| member.outcome.status() != exit::FINE)
        || (!not_checked_passes && fleet.links.unseen.iter().any(|link| link.was_asked_for))
    {
        exit::NOT_CHECKED
    } else {
        exit::FINE
    }
}

/// Rejects flags that need a single cluster.
pub(super) fn refuse(args: &Check) -> Result<(), Stop> {
    let one: [(&str, bool); 11] = [
        ("--verify", args.verify.is_some()),
        ("--baseline", args.baseline.is_some()),
        ("--before", args.before.is_some()),
        ("--nodes", !args.evidence.nodes.is_empty()),
        ("--diagnostics", !args.evidence.diagnostics.is_empty()),
        ("--prometheus URL", matches!(args.evidence.prometheus.prometheus, Some(PrometheusArg::Url(_)))),
        ("--with", !args.manifests.with.is_empty()),
        ("--manifests", !args.manifests.manifests.is_empty()),
        ("--values", !args.manifests.values.is_empty()),
        ("--cluster", args.connection.cluster.is_some()),
        ("--user", args.connection.user.is_some()),
    ];
    if let Some((flag, _)) = one.iter().find(|(_, given)| *given) {
        let cause = format!("{flag} works for one cluster only, but several are selected");
        return Err(Stop::usage(cause, "run check for that cluster alone"));
    }
    if let Some(save) = args.save.as_deref().filter(|save| !is_named(save)) {
        let next = format!("use {CLUSTER} in the name: --save bundles/{CLUSTER}.tar.gz");
        return Err(Stop::usage(format!("--save {} would contain only one of several clusters", save.display()), next));
    }
    for one in &args.report.output {
        let of_each = one.file.as_deref().is_some_and(is_named);
        if !of_each && !matches!(one.format, Format::Table | Format::Json) {
            let word = one.format.label();
            let next =
                format!("write one per cluster: -o {word}=reports/{CLUSTER}.{word}; the summary is a table or json");
            return Err(Stop::usage(format!("-o {word} is the report of one cluster"), next));
        }
    }
    files::one_standard_output(&args.report.output)
}

/// Formats of the summary.
fn summaries(args: &Check) -> Vec<Output> {
    let of_each = |one: &&Output| one.file.as_deref().is_some_and(is_named);
    let all: Vec<Output> = args.report.output.iter().filter(|one| !of_each(one)).cloned().collect();
    if all.is_empty() { vec![Output { format: Format::Table, file: None }] } else { all }
}

/// Whether a file is written for each cluster.
fn writes_each(args: &Check) -> bool {
    args.save.as_deref().is_some_and(is_named)
        || args.report.output.iter().any(|one| one.file.as_deref().is_some_and(is_named))
}

/// The clusters, by name.
fn members(args: &Check) -> Result<Vec<FleetMember>, Stop> {
    let asked = match &args.fleet.bundles {
        Some(folder) => {
            let mut found = bundles(folder, args.fleet.expect.is_empty())?;
            for name in &args.fleet.expect {
                if !found.iter().any(|one| one.name == *name) {
                    found.push(FleetMember { name: name.clone(), how: How::Missing(folder.clone()) });
                }
            }
            found.sort_by(|a, b| a.name.cmp(&b.name));
            found
        }
        None => {
            let names = match args.fleet.all_contexts {
                true => contexts(args.connection.kubeconfig.as_deref())?,
                false => args.connection.context.clone(),
            };
            names.into_iter().map(|name| FleetMember { name: name.clone(), how: How::Context(name) }).collect()
        }
    };
    let twice = asked.iter().enumerate().find(|(at, one)| asked[..*at].iter().any(|other| other.name == one.name));
    if let Some((_, one)) = twice {
        return Err(Stop::usage(format!("{} is named twice", one.name), "name each cluster once"));
    }
    // Their files would overwrite each other.
    let alike = |(at, one): &(usize, &FleetMember)| {
        let same = |other: &&FleetMember| in_file_name(&other.name) == in_file_name(&one.name);
        asked[..*at].iter().find(same).map(|other| (one.name.clone(), other.name.clone()))
    };
    if writes_each(args)
        && let Some((one, other)) = asked.iter().enumerate().find_map(|pair| alike(&pair))
    {
        let cause = format!("{other} and {one} have the same file name: {}", in_file_name(&one));
        return Err(Stop::usage(cause, "rename a context, or check them one by one"));
    }
    Ok(asked)
}

#[cfg(feature = "live")]
fn contexts(kubeconfig: Option<&Path>) -> Result<Vec<String>, Stop> {
    let known = crate::source::live::contexts(kubeconfig)
        .map_err(|error| Stop::could_not_run(error.to_string(), error.next_step()))?;
    match known.is_empty() {
        true => {
            let which = kubeconfig.map_or("the kubeconfig".to_owned(), |path| path.display().to_string());
            let next = "add a context (kubectl config set-context), or use another file: --kubeconfig FILE";
            Err(Stop::could_not_run(format!("{which} has no context"), next))
        }
        false => Ok(known),
    }
}

#[cfg(not(feature = "live"))]
fn contexts(_: Option<&Path>) -> Result<Vec<String>, Stop> {
    Err(Stop::usage("this build of meshdoctor cannot access clusters", "give bundles: --bundles DIR"))
}

/// The bundles and dumps in a folder. An empty folder is an error.
fn bundles(folder: &Path, must: bool) -> Result<Vec<FleetMember>, Stop> {
    let shown = folder.display();
    let next = "give a folder with bundles: FILE.tar.gz, FILE.tar.zst, dumps, or one subfolder per cluster";
    let unreadable = |error: std::io::Error| {
        let cause = format!("--bundles {shown}: {error}");
        match error.kind() {
            std::io::ErrorKind::NotFound => Stop::usage(cause, next),
            _ => Stop::could_not_run(cause, next),
        }
    };
    let mut found: Vec<FleetMember> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        let Some(name) = output_names::stem(&path) else { continue };
        found.push(FleetMember { name, how: How::Bundle(path) });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    match found.is_empty() && must {
        true => Err(Stop::could_not_run(format!("--bundles {shown}: the folder contains no bundle"), next)),
        false => Ok(found),
    }
}

/// Checks one cluster.
fn judge(args: &Check, asked: &FleetMember, folder: &Path, at: usize) -> (Member, Option<End>) {
    let mut own = args.clone();
    own.fleet = Default::default();
    own.connection.context = Vec::new();
    match &asked.how {
        How::Context(name) => own.connection.context = vec![name.clone()],
        How::Bundle(path) => own.evidence.bundle = vec![path.clone()],
        How::Missing(folder) => {
            let cause = format!("{} contains no bundle of it", folder.display());
            let next = Some("see the log of the collecting job, and verify that its kubeconfig exists".to_owned());
            return (Member { name: asked.name.clone(), outcome: ClusterOutcome::Failed { cause, next } }, None);
        }
    }
    let report = folder.join(format!("{at}.json"));
    let named = |path: &Path| output_names::with(path, &asked.name);
    let of_each = args.report.output.iter().filter_map(|one| {
        let path = one.file.as_deref().filter(|path| is_named(path))?;
        Some(Output { format: one.format, file: Some(named(path)) })
    });
    own.report.output = of_each.chain([Output { format: Format::Json, file: Some(report.clone()) }]).collect();
    own.save = args.save.as_deref().map(named);
    own.verbosity.quiet = true;
    own.verbosity.verbose = 0;
    let mut end = None;
    // The folder may also be named after the cluster.
    let files = own.report.output.iter().filter_map(|one| one.file.as_deref()).chain(own.save.as_deref());
    let made = files.map(super::files::make_folder).collect::<std::io::Result<Vec<()>>>();
    if let Err(error) = made {
        let outcome = ClusterOutcome::Failed { cause: error.to_string(), next: None };
        return (Member { name: asked.name.clone(), outcome }, None);
    }
    let outcome = match check::one(&own, Some(&mut |cluster: &Cluster| end = Some(End::from_cluster(cluster)))) {
        Ok(_) => match verify::read(&report, "check") {
            Ok(document) => match args.fleet.max_age.and_then(|most| too_old(&document, most)) {
                None => ClusterOutcome::Judged(Box::new(document)),
                Some(cause) => {
                    end = None;
                    let next = "see why no newer bundle was collected";
                    ClusterOutcome::Failed { cause, next: Some(next.to_owned()) }
                }
            },
            Err(stop) => ClusterOutcome::Failed { cause: stop.to_string(), next: stop.next.clone() },
        },
        Err(error) => {
            let stop = error.downcast_ref::<Stop>();
            let cause = crate::redact::text(&format!("{error:#}")).into_owned();
            ClusterOutcome::Failed { cause, next: stop.and_then(|stop| stop.next.clone()) }
        }
    };
    (Member { name: asked.name.clone(), outcome }, end)
}

/// Reason why evidence is too old; `None` if it is not.
fn too_old(document: &Document, most: Duration) -> Option<String> {
    let (Some(at), Some(source)) = (document.run.judged_at, document.run.judged_at_source) else {
        return Some("it has no timestamp".to_owned());
    };
    if source == TimeSource::Clock {
        return Some("it has no timestamp, so it may be older than --max-age".to_owned());
    }
    let age = jiff::Timestamp::now().duration_since(at);
    let old = jiff::SignedDuration::try_from(most).is_ok_and(|most| age > most);
    old.then(|| format!("its evidence is from {at}, which is older than --max-age"))
}

/// Clusters with several names.
fn same(known: &[(String, End)]) -> Vec<Vec<String>> {
    let mut by_uid: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, end) in known {
        by_uid.entry(end.uid().unwrap_or_default()).or_default().push(name.clone());
    }
    by_uid.into_iter().filter(|(uid, names)| !uid.is_empty() && names.len() > 1).map(|(_, names)| names).collect()
}
