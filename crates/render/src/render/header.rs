//! The first lines of a report: the checked cluster, the evaluation time, and the versions.

use std::collections::{BTreeMap, BTreeSet};

use super::look::Look;
use super::text::{clean, count, pad, width, wrap};
use crate::model::cluster::TimeSource;
use crate::model::skew::Skew;
use crate::model::traffic::WorkloadTraffic;
use crate::report::Report;

/// Maximum number of versions of one component.
const VERSIONS: usize = 6;

/// The header: one line if the width allows.
pub fn lines(report: &Report, look: Look) -> Vec<String> {
    let mut first = first_line(report, look);
    if look.verbose {
        first.push(format!("release data as of {}", report.knowledge_date));
    }
    first.extend(compared(report));
    first.extend(judged_as_of(report));
    segments(&first, look)
}

/// The header, with all versions under it.
pub fn in_full(report: &Report, look: Look) -> Vec<String> {
    let versions = versions_lines(report, look);
    let gap = (!versions.is_empty()).then(String::new);
    lines(report, look).into_iter().chain(gap).chain(versions).collect()
}

/// The versions, if they differ or the output is verbose.
pub fn versions_lines(report: &Report, look: Look) -> Vec<String> {
    match look.verbose || differ(&report.subject) {
        true => versions(&report.subject, look),
        false => Vec::new(),
    }
}

/// Segments three blanks apart, broken between segments; a segment longer than a line is broken between words.
fn segments(segments: &[String], look: Look) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for segment in segments {
        match lines.last_mut() {
            Some(line) if width(line) + 3 + width(segment) <= look.columns() => {
                line.push_str("   ");
                line.push_str(segment);
            }
            Some(_) => lines.extend(wrap(segment, look.columns() - 2).iter().map(|line| format!("  {line}"))),
            None => lines.extend(wrap(segment, look.columns())),
        }
    }
    if let Some(first) = lines.first_mut() {
        *first = look.strong(first);
    }
    lines
}

fn first_line(report: &Report, look: Look) -> Vec<String> {
    let skew = &report.subject;
    let mut segments = Vec::new();
    if look.verbose {
        segments.push(format!("meshdoctor {}", env!("CARGO_PKG_VERSION")));
    }
    segments.push(subject(report, look));
    let control_plane: BTreeSet<&String> = skew.control_plane.values().collect();
    if !control_plane.is_empty() {
        segments.push(format!("linkerd {}", list(control_plane.into_iter().map(String::as_str))));
    }
    if let Some(cni) = &skew.cni {
        let to = report.to_cni.as_ref().map_or_else(String::new, |to| format!(", to {}", clean(to)));
        segments.push(format!("linkerd-cni {}{to}", clean(cni)));
    }
    let mut looked_at = Vec::new();
    let coverage = &report.coverage;
    if let Some(nodes) = coverage.nodes {
        looked_at.push(count(nodes, "node", "nodes"));
    }
    if coverage.snapshots > 0 {
        looked_at.push(count(coverage.snapshots, "snapshot", "snapshots"));
    }
    let time = match report.run.started {
        Some(_) if look.verbose => {
            format!(" in {:.1} s", std::time::Duration::from_millis(report.run.milliseconds).as_secs_f64())
        }
        _ => String::new(),
    };
    if look.verbose || coverage.nodes.is_none() {
        looked_at.push(count(coverage.objects, "object", "objects") + &time);
    }
    segments.push(looked_at.join(", "));
    segments
}

/// `cluster prod-eu (EKS v1.31.5)`.
fn subject(report: &Report, look: Look) -> String {
    let what = match report.origin.kind.as_str() {
        "live" => "cluster",
        other => other,
    };
    let name = clean(&report.origin.name);
    let is_path = report.origin.kind != "live";
    let name = if is_path && !look.verbose { brief(&name).into() } else { name };
    let kubernetes = match (&report.subject.distribution, &report.subject.kubernetes) {
        (Some(distribution), Some(version)) => format!(" ({} {})", clean(distribution), clean(version)),
        (None, Some(version)) => format!(" (Kubernetes {})", clean(version)),
        (Some(distribution), None) => format!(" ({})", clean(distribution)),
        (None, None) => String::new(),
    };
    format!("{what} {name}{kubernetes}")
}

/// File names that every dump or bundle may have.
const GENERIC: [&str; 7] = ["all", "bundle", "cluster", "dump", "export", "objects", "resources"];

/// The name of the cluster, for titles: of its context, or of the file or folder with the evidence. For a file with a
/// generic name, that of its folder, or else of the cluster. `kind` and `name` are those of the evidence's origin.
pub fn cluster_name(kind: &str, name: &str, uid: Option<&str>) -> String {
    // Contexts of cloud providers contain slashes.
    let is_path = kind != "live" || name.starts_with(['/', '.']);
    if !is_path {
        return name.to_owned();
    }
    // Of several files, the first names the cluster.
    let path = name.split(", ").next().unwrap_or(name);
    let mut parts = path.split('/').filter(|part| !["", ".", ".."].contains(part)).rev();
    let last = parts.next().unwrap_or(path);
    let is_generic = last.split_once('.').is_some_and(|(stem, _)| GENERIC.contains(&stem));
    let of_uid = || Some(format!("cluster {}", uid?.get(..8)?));
    match is_generic {
        true => parts.next().map(str::to_owned).or_else(of_uid).unwrap_or_else(|| last.to_owned()),
        false => last.to_owned(),
    }
}

/// The first of several files or folders, by the end of its path: `prod/cluster.json and 1 more`.
fn brief(paths: &str) -> String {
    let mut paths = paths.split(", ");
    let first = last_parts(paths.next().unwrap_or_default());
    match paths.count() {
        0 => first.to_owned(),
        more => format!("{first} and {more} more"),
    }
}

/// The last two parts of a path, which tell files apart.
fn last_parts(path: &str) -> &str {
    let slash = path.rmatch_indices('/').nth(1).map(|(at, _)| at + 1);
    slash.and_then(|at| path.get(at..)).unwrap_or(path)
}

/// The number of workloads whose numbers were compared with those from before.
fn compared(report: &Report) -> Option<String> {
    let before = report.before.as_ref()?;
    let is_read = |then: &&WorkloadTraffic| report.traffic.iter().any(|now| now.is_same_workload(then));
    let n = before.workloads.iter().filter(is_read).count();
    Some(format!("{} compared with {}", count(n, "workload", "workloads"), clean(&before.file)))
}

/// The evaluation time, if it is not simply now.
fn judged_as_of(report: &Report) -> Option<String> {
    let (at, source) = report.at;
    match source {
        TimeSource::Captured => Some(format!("as of {at}, when collected")),
        TimeSource::Flag => Some(format!("as of {at} (--at)")),
        TimeSource::Clock if ["live", "manifests"].contains(&report.origin.kind.as_str()) => None,
        TimeSource::Clock => Some(format!("as of now, {at}; --at sets another time")),
    }
}

/// Whether versions in the mesh differ that should be equal.
fn differ(skew: &Skew) -> bool {
    let mut linkerd: BTreeSet<&str> = skew.control_plane.values().map(String::as_str).collect();
    linkerd.extend(skew.proxies.keys().map(String::as_str));
    linkerd.extend(skew.cli.as_deref());
    linkerd.len() > 1 || skew.kubelets.len() > 1
}

/// The versions by component; without `-v`, only those that should be equal.
fn versions(skew: &Skew, look: Look) -> Vec<String> {
    let mut components: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (component, version) in &skew.control_plane {
        components.entry(version).or_default().push(component);
    }
    let components: Vec<String> = components
        .iter()
        .map(|(version, names)| format!("{} ({})", clean(version), list(names.iter().copied())))
        .collect();
    let extensions: Vec<String> =
        skew.extensions.iter().map(|(name, version)| format!("{} {}", clean(name), clean(version))).collect();
    let rows = [
        ("linkerd CLI", one(&skew.cli)),
        ("control plane", components),
        ("proxies", counted(&skew.proxies, "pod", "pods")),
        ("linkerd-cni", one(&skew.cni)),
        ("extensions", extensions),
        ("Gateway API", one(&skew.gateway_api)),
        ("Kubernetes", one(&skew.kubernetes)),
        ("kubelets", counted(&skew.kubelets, "node", "nodes")),
    ];
    let is_shown = |what: &str| match what {
        "linkerd CLI" | "control plane" | "proxies" => true,
        "kubelets" => look.verbose || skew.kubelets.len() > 1,
        _ => look.verbose,
    };
    let mut lines = Vec::new();
    for (what, versions) in rows.into_iter().filter(|(what, versions)| is_shown(what) && !versions.is_empty()) {
        let label = if lines.is_empty() { "versions" } else { "" };
        let most = look.most(VERSIONS);
        let text = super::text::some_of(&versions, most);
        for (at, line) in wrap(&text, look.prose() - 25).into_iter().enumerate() {
            let (label, what) = if at == 0 { (label, what) } else { ("", "") };
            lines.push(format!("{}{}{line}", look.faint(&pad(label, 10)), pad(what, 15)));
        }
    }
    lines
}

fn one(version: &Option<String>) -> Vec<String> {
    version.iter().map(|version| clean(version).into_owned()).collect()
}

/// The most frequent version comes first.
fn counted(versions: &BTreeMap<String, usize>, unit: &str, units: &str) -> Vec<String> {
    let mut sorted: Vec<(&String, &usize)> = versions.iter().collect();
    sorted.sort_by_key(|(version, n)| (std::cmp::Reverse(**n), *version));
    sorted.into_iter().map(|(version, n)| format!("{} ({})", clean(version), count(*n, unit, units))).collect()
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(clean).collect::<Vec<_>>().join(", ")
}
