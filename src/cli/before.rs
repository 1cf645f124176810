//! `--before`: the numbers of proxies in an earlier report or bundle, for comparison with those of now.

use std::path::Path;

use jiff::Timestamp;

use super::args::Check;
use super::stop::Stop;
use super::{diff, verify};
use crate::command::own;
use crate::model::Cluster;
use crate::model::cluster::TimeSource;
use crate::model::traffic::EarlierTraffic;
use crate::render::document::Document;

/// The earlier numbers, and their cluster.
pub(super) struct Before {
    pub(super) traffic: EarlierTraffic,
    uid: Option<String>,
    judged_at: Option<Timestamp>,
}

/// The numbers of `--before`.
///
/// # Errors
/// The file cannot be read or has no numbers, or no flag requests new ones.
pub(super) fn read(args: &Check) -> anyhow::Result<Option<Before>> {
    let Some(path) = &args.before else { return Ok(None) };
    verify::reject_overwriting(&args.report.output, args.save.as_deref(), path, "--before")?;
    asks_for_metrics(args)?;
    let document = diff::report(path, "--before")?;
    let shown = path.display().to_string();
    let Some(traffic) = earlier(&document, &shown) else {
        let cause = format!("{shown} has no numbers of proxies");
        let next = format!("make it with metrics: {}", own("check --proxies -o json=FILE"));
        return Err(Stop::usage(cause, next).into());
    };
    let judged_at = document.run.judged_at;
    let uid = document.subject.and_then(|subject| subject.cluster).map(|cluster| cluster.uid);
    Ok(Some(Before { traffic, uid, judged_at }))
}

/// Rejects a run that reads no metrics, before anything is read.
pub(super) fn asks_for_metrics(args: &Check) -> Result<(), Stop> {
    let evidence = &args.evidence;
    let has_metrics = evidence.proxies.is_some()
        || evidence.prometheus.prometheus.is_some()
        || !evidence.diagnostics.is_empty()
        || !evidence.bundle.is_empty();
    if args.before.is_none() || has_metrics {
        return Ok(());
    }
    let cause = "--before compares numbers of proxies, but no metrics are read";
    Err(Stop::usage(cause, "add --proxies or --prometheus URL"))
}

/// The numbers of a report that has any, under the name of its file.
pub(super) fn earlier(document: &Document, file: &str) -> Option<EarlierTraffic> {
    let traffic = document.traffic.as_ref().filter(|traffic| !traffic.workloads.is_empty())?;
    Some(EarlierTraffic { file: file.to_owned(), workloads: traffic.workloads.clone() })
}

impl Before {
    /// Rejects the numbers of another cluster, and those that are not older than the evidence.
    pub(super) fn is_before(&self, cluster: &Cluster, path: &Path) -> Result<(), Stop> {
        let shown = path.display();
        if self.uid.clone().zip(cluster.uid()).is_some_and(|(then, now)| then != now) {
            let cause = format!("--before: {shown} is of another cluster");
            return Err(Stop::usage(cause, "give a report or bundle of the same cluster"));
        }
        let is_dated = cluster.time_source != TimeSource::Clock;
        match self.judged_at {
            Some(then) if is_dated && cluster.at <= then => Err(Stop::usage(
                format!("--before: {shown} is from {then}, which is not before the evidence ({})", cluster.at),
                "swap the two files",
            )),
            _ => Ok(()),
        }
    }
}
