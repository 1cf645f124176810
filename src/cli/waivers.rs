//! Accepted findings: reads waivers and the findings of an earlier report from their files.

use std::path::Path;

use super::args::Check;
use super::stop::Stop;
use super::{config, verify};
use crate::command::own;
use crate::policy::{Baseline, Waiver, read_waivers};
use crate::render::document::About;

/// Maximum size of a waiver file, in bytes.
const MOST: u64 = 4 << 20;

/// The waivers of all files.
pub(super) fn waivers(args: &Check) -> Result<Vec<Waiver>, Stop> {
    let mut all = Vec::new();
    for path in &args.waivers {
        let flag = config::flag("waivers", &path.display().to_string());
        verify::reject_overwriting(&args.report.output, args.save.as_deref(), path, "--waivers")?;
        let text = text(path, &flag)?;
        let read = read_waivers(&path.display().to_string(), &text).map_err(|error| {
            Stop::usage(
                format!("{flag}: {error}"),
                format!("see {} for the format of waivers", crate::page::document_url("waivers.md")),
            )
        })?;
        all.extend(read);
    }
    Ok(all)
}

fn text(path: &Path, flag: &str) -> Result<String, Stop> {
    let unreadable = |why: String| {
        Stop::usage(format!("{flag}: cannot read {}: {why}", path.display()), "give the path of a waiver file")
    };
    let size = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if size > MOST {
        return Err(unreadable(format!("it is larger than {} MiB", MOST >> 20)));
    }
    std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))
}

/// An earlier report, reduced to its findings and its cluster.
pub(super) struct Earlier {
    file: String,
    /// The flag and its value, for messages.
    flag: String,
    uid: Option<String>,
    pub(super) baseline: Baseline,
}

/// The report of `--baseline`.
pub(super) fn baseline(args: &Check) -> Result<Option<Earlier>, Stop> {
    let Some(path) = &args.baseline else { return Ok(None) };
    verify::reject_overwriting(&args.report.output, args.save.as_deref(), path, "--baseline")?;
    let flag = config::flag("baseline", &path.display().to_string());
    let document = verify::read(path, "--baseline").map_err(|stop| {
        let placed = config::placed(stop, "baseline", path);
        match path.exists() {
            true => placed,
            false => Stop { next: Some(first(path)), ..placed },
        }
    })?;
    if document.run.judged_at.is_none() {
        let cause = format!("{flag}: {} is the report of a run without a result", path.display());
        return Err(Stop::usage(cause, "give the report of a run that checked a cluster"));
    }
    let mut baseline = Baseline::default();
    for finding in document.findings.iter().filter(|finding| !finding.waived && !finding.when.begins()) {
        let waived = document.waivers.iter().filter(|waived| waived.fingerprint == finding.fingerprint);
        let waived: Vec<&String> = waived.flat_map(|waived| &waived.subjects).collect();
        if waived.is_empty() {
            baseline.add(&finding.fingerprint, finding.severity);
        }
        for (subject, print) in finding.subjects.iter().map(About::subject) {
            if let Some(print) = print.filter(|_| !waived.contains(&&subject.to_string())) {
                baseline.add(&print.0, finding.severity);
            }
        }
    }
    let uid = document.subject.and_then(|subject| subject.cluster).map(|cluster| cluster.uid);
    Ok(Some(Earlier { file: path.display().to_string(), flag, uid, baseline }))
}

/// The command that creates the first baseline.
fn first(path: &Path) -> String {
    let path = path.display();
    let without = match config::place("baseline", &path.to_string()) {
        Some(_) => format!("{}, with the other settings of the file as flags,", own("check --no-config")),
        None => format!("{} without it,", own("check")),
    };
    format!("create the first baseline: {without} and --fail-on never -o json={path}")
}

impl Earlier {
    /// Rejects the report of another cluster.
    pub(super) fn is_of(&self, uid: Option<String>) -> Result<(), Stop> {
        match (&self.uid, uid) {
            (Some(then), Some(now)) if *then != now => Err(Stop::usage(
                format!("{}: {} is the report of another cluster", self.flag, self.file),
                "give a report of the same cluster",
            )),
            _ => Ok(()),
        }
    }
}
