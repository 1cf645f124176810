//! What does not count though it is found: waivers and the findings of an earlier report, read from their files.

use std::path::Path;

use super::args::Check;
use super::stop::Stop;
use super::{config, verify};
use crate::command::own;
use crate::policy::{Baseline, Waiver, read_waivers};
use crate::render::document::About;

/// The largest file of waivers, in bytes.
const MOST: u64 = 4 << 20;

/// The waivers of all files.
pub(super) fn waivers(args: &Check) -> Result<Vec<Waiver>, Stop> {
    let mut all = Vec::new();
    for path in &args.waivers {
        let flag = config::flag("waivers", &path.display().to_string());
        verify::apart(&args.report.output, args.save.as_deref(), path, "--waivers")?;
        let text = text(path, &flag)?;
        let read = read_waivers(&path.display().to_string(), &text).map_err(|error| {
            Stop::usage(
                format!("{flag}: {error}"),
                format!("see {} for the form of waivers", crate::page::document_url("waivers.md")),
            )
        })?;
        all.extend(read);
    }
    Ok(all)
}

fn text(path: &Path, flag: &str) -> Result<String, Stop> {
    let unreadable = |why: String| {
        Stop::usage(format!("{flag}: cannot read {}: {why}", path.display()), "name a file of waivers")
    };
    let size = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if size > MOST {
        return Err(unreadable(format!("it is larger than {} MiB", MOST >> 20)));
    }
    std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))
}

/// An earlier report, as far as it says what is known.
pub(super) struct Earlier {
    file: String,
    /// How it was named, for messages.
    flag: String,
    uid: Option<String>,
    pub(super) baseline: Baseline,
}

/// The report of `--baseline`.
pub(super) fn baseline(args: &Check) -> Result<Option<Earlier>, Stop> {
    let Some(path) = &args.baseline else { return Ok(None) };
    verify::apart(&args.report.output, args.save.as_deref(), path, "--baseline")?;
    let flag = config::flag("baseline", &path.display().to_string());
    let document = verify::read(path, "--baseline").map_err(|stop| {
        let placed = config::placed(stop, "baseline", path);
        match path.exists() {
            true => placed,
            false => Stop { next: Some(first(path)), ..placed },
        }
    })?;
    if document.run.judged_at.is_none() {
        let cause = format!("{flag}: {} is of a run that came to no result", path.display());
        return Err(Stop::usage(cause, "give the report of a run that looked at a cluster"));
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

/// How the first baseline is made.
fn first(path: &Path) -> String {
    let path = path.display();
    let without = match config::place("baseline", &path.to_string()) {
        Some(_) => format!("{}, with what else the file says as flags,", own("check --no-config")),
        None => format!("{} without it,", own("check")),
    };
    format!("make the first one: {without} and --fail-on never -o json={path}")
}

impl Earlier {
    /// Refuses the report of another cluster.
    pub(super) fn is_of(&self, uid: Option<String>) -> Result<(), Stop> {
        match (&self.uid, uid) {
            (Some(then), Some(now)) if *then != now => Err(Stop::usage(
                format!("{}: {} is the report of another cluster", self.flag, self.file),
                "give a report of the cluster that is checked",
            )),
            _ => Ok(()),
        }
    }
}
