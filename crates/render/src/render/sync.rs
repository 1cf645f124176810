//! The answer of `meshdoctor sync`, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::look::Look;
use super::text::{clean, count, escape_ci_commands, lasting, pad, some_of, width, wrap, write_hanging};
use crate::command::own;
use crate::finding::{Finding, Severity};
use crate::inspect::sync::{
    Agreement, AppliedPolicy, BalancedService, Certificate, MixedBuild, ProxyState, ProxySync, Since, Sync, SyncRow,
};
use crate::model::control_clients::{ClientState, ControlClient};

pub use self::json::json;

mod json;

/// The schema of the JSON form.
pub const SCHEMA: &str = "meshdoctor.sync/1";

/// A column of a row whose metrics were not read.
const NOT_READ: &str = "not read";
/// A column that the metrics do not show.
const NOT_KNOWN: &str = "not known";
/// Maximum number of names in a line.
const NAMED: usize = 4;

/// The columns.
const HEADS: [&str; 12] = [
    "POD",
    "STATE",
    "VERSION",
    "UP",
    "CERTIFICATE",
    "DESTINATION",
    "POLICY",
    "IDENTITY",
    "ENDPOINTS",
    "POLICIES",
    "SINCE",
    "PROBLEMS",
];
/// The columns that need no metrics.
const OF_OBJECTS: usize = 3;
/// The columns of the first line if the terminal is too narrow for all; the others follow below.
const FIRST: usize = 5;

/// As text. `repair` is the command that prints evidence and repair of the problems.
pub fn table(sync: &Sync<'_>, repair: Option<&str>, look: Look) -> String {
    let mut text = String::new();
    let rows: Vec<[String; HEADS.len()]> = sync.rows.iter().map(|row| cells(row, sync)).collect();
    if rows.is_empty() {
        text.push_str("no control plane, and no proxy whose metrics were read\n");
    } else {
        text.push_str(&layout(&rows, sync, look));
    }
    let mut notes = unread(sync);
    notes.extend(sync.rows.iter().flat_map(differing));
    if sync.left > 0 {
        notes.push(left_out(sync, look));
    }
    notes.extend(sync.mixed_builds().iter().map(mixed));
    let has_nothing = is_without_metrics(sync);
    if !sync.not_evaluated.is_empty() && !has_nothing {
        notes.push(format!(
            "not evaluated completely, because evidence was not provided: {}",
            some_of(&sync.not_evaluated, NAMED)
        ));
    }
    if !notes.is_empty() {
        text.push('\n');
        lines(&mut text, &notes, look);
    }
    let problems: Vec<&Finding> = sync.problems().collect();
    if !problems.is_empty() {
        text.push('\n');
        for problem in &problems {
            let subjects: Vec<String> = problem.subjects.iter().map(ToString::to_string).collect();
            let said = format!("{}  {}: {}", problem.check, some_of(&subjects, NAMED), problem.message);
            let word = pad(problem.severity.label(), 9);
            let head = look.severity_like(problem.severity, &word);
            write_hanging(&mut text, (&head, 9), &said, look.prose());
        }
    }
    if let Some(repair) = repair {
        _ = writeln!(text, "\nevidence and repair:\n  {}", look.command(&clean(repair)));
    }
    _ = writeln!(text, "\n{}", result(sync));
    escape_ci_commands(&text).into_owned()
}

/// The result in a sentence.
fn result(sync: &Sync<'_>) -> String {
    let of = |state: ProxySync| sync.rows.iter().filter(|row| row.state(sync) == state).count();
    let states = [ProxySync::OutOfSync, ProxySync::NotRead, ProxySync::Unknown, ProxySync::InSync];
    let counts = states.into_iter().filter(|state| of(*state) > 0);
    let mut parts: Vec<String> = counts.map(|state| format!("{} {}", of(state), state_label(state))).collect();
    let others = sync.other_problems().filter(|one| one.severity > Severity::Info).count();
    if others > 0 {
        parts.push(count(others, "other problem", "other problems"));
    }
    if parts.is_empty() { "result  nothing was read".to_owned() } else { format!("result  {}", parts.join(", ")) }
}

/// The table: one line for each pod, or two if the terminal is too narrow.
fn layout(rows: &[[String; HEADS.len()]], sync: &Sync<'_>, look: Look) -> String {
    let widest = |at: usize| rows.iter().map(|row| width(&row[at])).chain([width(HEADS[at])]).max().unwrap_or_default();
    let widths: Vec<usize> = (0..HEADS.len()).map(widest).collect();
    let is_wide = widths.iter().sum::<usize>() + 2 * (HEADS.len() - 1) <= look.columns();
    let fitting =
        (1..=FIRST).rev().find(|shown| widths[..*shown].iter().sum::<usize>() + 2 * (shown - 1) <= look.columns());
    // Without any metrics, the other columns are all alike.
    let shown = match is_unread(sync) {
        true => OF_OBJECTS,
        false if is_wide => HEADS.len(),
        false => fitting.unwrap_or(2),
    };
    let line = |cells: &[String]| {
        let padded: Vec<String> = cells.iter().zip(&widths).map(|(cell, width)| pad(cell, *width)).collect();
        padded.join("  ").trim_end().to_owned()
    };
    let mut text = format!("{}\n", look.faint(&line(&HEADS.map(str::to_owned)[..shown])));
    let mut sorted: Vec<_> = sync.rows.iter().zip(rows).collect();
    sorted.sort_by_key(|(row, _)| order(row.state(sync)));
    for (row, cells) in sorted {
        let plain = line(&cells[..shown]);
        let state = pad(&cells[1], widths[1]);
        let styled = match row.state(sync) {
            ProxySync::InSync => look.good(&state),
            ProxySync::OutOfSync => look.bad(&state),
            ProxySync::Unknown | ProxySync::NotRead => look.doubtful(&state),
        };
        _ = writeln!(text, "{}", plain.replacen(&state, &styled, 1));
        if is_wide || is_unread(sync) {
            continue;
        }
        let of_metrics = shown.max(OF_OBJECTS);
        if cells[of_metrics..].iter().all(|cell| cell == NOT_READ) {
            _ = writeln!(text, "    metrics {NOT_READ}");
        } else {
            let others = (shown..HEADS.len())
                .map(|at| format!("{} {}", HEADS[at].to_ascii_lowercase(), cells[at]))
                .collect::<Vec<_>>();
            for line in wrap(&others.join("; "), look.columns().saturating_sub(4)) {
                _ = writeln!(text, "    {line}");
            }
        }
    }
    text
}

fn cells(row: &SyncRow<'_>, sync: &Sync<'_>) -> [String; HEADS.len()] {
    let (namespace, name) = row.pod.metadata.key();
    let pod = clean(&format!("{namespace}/{name}")).into_owned();
    let version = row.version.clone().unwrap_or_else(|| NOT_KNOWN.to_owned());
    let build = row.proxy.as_ref().ok().and_then(|proxy| proxy.build.as_deref());
    let version = build.map_or_else(|| version.clone(), |build| format!("{version} (proxy {build})"));
    let state = state_label(row.state(sync)).to_owned();
    let problems = problems(row, sync);
    let (read, none) = match &row.proxy {
        Err(_) => ([(); 8].map(|()| NOT_READ.to_owned()), NOT_READ),
        Ok(proxy) => {
            let [destination, policy, identity] = [0, 1, 2].map(|at| client(proxy, at));
            let up = proxy.uptime.map_or_else(|| NOT_KNOWN.to_owned(), lasting);
            let (certificate, endpoints) = (certificate(proxy.certificate), endpoints(proxy));
            let (policies, since) = (policies(proxy), since(row));
            let none = if proxy.period.is_some() { "none" } else { "none known, read once" };
            ([up, certificate, destination, policy, identity, endpoints, policies, since], none)
        }
    };
    let problems = if problems.is_empty() { none.to_owned() } else { problems };
    let [up, certificate, destination, policy, identity, endpoints, policies, since] = read;
    [pod, state, version, up, certificate, destination, policy, identity, endpoints, policies, since, problems]
}

/// The checks with a problem of a row.
fn problems(row: &SyncRow<'_>, sync: &Sync<'_>) -> String {
    let of_row = row.problems.iter().filter_map(|at| sync.findings.get(*at));
    let mut ids: Vec<&str> =
        of_row.filter(|finding| finding.severity > Severity::Info).map(|finding| finding.check).collect();
    ids.dedup();
    ids.join(", ")
}

/// Whether no metrics were read at all.
fn is_unread(sync: &Sync<'_>) -> bool {
    !sync.rows.is_empty() && sync.rows.iter().all(|row| row.proxy.is_err())
}

/// The proxies that the limits left out, with their pods.
fn left_out(sync: &Sync<'_>, look: Look) -> String {
    let named = if look.verbose { sync.left_out.len() } else { NAMED };
    let mut names: Vec<String> = sync.left_out.iter().take(named).cloned().collect();
    let more = sync.left.saturating_sub(names.len());
    if more > 0 && !names.is_empty() {
        names.push(format!("and {more} more"));
    }
    let names = if names.is_empty() { String::new() } else { format!(": {}", clean(&names.join(", "))) };
    format!("{NOT_READ}: {}, beyond the limits of the sample{names}", proxies(sync.left))
}

/// Versions of proxies that contradict their image.
fn mixed(build: &MixedBuild) -> String {
    let versions = build.versions.iter().map(|(version, pods)| format!("{version} ({})", some_of(pods, NAMED)));
    let versions: Vec<String> = versions.collect();
    let image = clean(&build.image);
    if let [version] = versions.as_slice() {
        return format!("the image {image} is of another version than its proxy reports: {version}");
    }
    format!("proxies of the image {image} report different versions: {}", versions.join(", "))
}

/// Why metrics were not read: each reason once, with its pods.
fn unread(sync: &Sync<'_>) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in &sync.rows {
        if let Err(reason) = &row.proxy {
            let (namespace, name) = row.pod.metadata.key();
            reasons.entry(reason).or_default().push(format!("{namespace}/{name}"));
        }
    }
    if is_without_metrics(sync) {
        let collect = own("collect --proxies --output bundle.tar.gz");
        return vec![format!("Nothing to compare: no metrics of proxies were read. Collect them with {collect}")];
    }
    let said = |(reason, pods): (&str, Vec<String>)| format!("{NOT_READ}: {}: {reason}", some_of(&pods, NAMED));
    reasons.into_iter().map(said).collect()
}

/// Whether the metrics of all pods are missing for one reason.
fn is_without_metrics(sync: &Sync<'_>) -> bool {
    let reasons: std::collections::BTreeSet<&str> =
        sync.rows.iter().filter_map(|row| row.proxy.as_ref().err().map(String::as_str)).collect();
    is_unread(sync) && reasons.len() == 1
}

/// The endpoints and policies of a row that differ from the objects.
fn differing(row: &SyncRow<'_>) -> Vec<String> {
    let (namespace, name) = row.pod.metadata.key();
    let differs = |service: &&BalancedService| service.agreement == Agreement::Differs;
    let said = |service: &BalancedService| {
        format!(
            "{namespace}/{name} holds {} of Service {}/{}:{}, but EndpointSlices list {}: restart the pod if \
             it stays so",
            count(usize::try_from(service.held).unwrap_or(usize::MAX), "endpoint", "endpoints"),
            service.namespace,
            service.name,
            service.port,
            service.ready.unwrap_or_default()
        )
    };
    let policy = |one: &AppliedPolicy| {
        let AppliedPolicy { port, applied, expected, .. } = one;
        format!("{namespace}/{name} applies {applied} to port {port}, but the objects define {expected}")
    };
    let services = row.proxy.iter().flat_map(|proxy| &proxy.services).filter(differs).map(said);
    let policies = row.proxy.iter().flat_map(|proxy| proxy.policies.iter().flatten());
    services.chain(policies.filter(|one| one.agreement == Agreement::Differs).map(policy)).collect()
}

fn lines(text: &mut String, notes: &[String], look: Look) {
    for note in notes {
        write_hanging(text, ("", 2), note, look.prose());
    }
}

fn proxies(number: usize) -> String {
    count(number, "more proxy", "more proxies")
}

/// The place of a state in the table: the worst first.
fn order(state: ProxySync) -> u8 {
    match state {
        ProxySync::OutOfSync => 0,
        ProxySync::Unknown => 1,
        ProxySync::NotRead => 2,
        ProxySync::InSync => 3,
    }
}

fn state_label(state: ProxySync) -> &'static str {
    match state {
        ProxySync::InSync => "in sync",
        ProxySync::OutOfSync => "out of sync",
        ProxySync::Unknown => NOT_KNOWN,
        ProxySync::NotRead => NOT_READ,
    }
}

fn words(client: ClientState) -> &'static str {
    match client {
        ClientState::Connected => "connected",
        ClientState::Idle => "idle",
        ClientState::Failing => "requests fail",
        ClientState::Connecting => "connecting",
        ClientState::CutOff => "cut off",
        ClientState::Unknown => NOT_KNOWN,
    }
}

/// The state of a client, with the number of replicas to which it has a connection, or since when it has none.
fn client(proxy: &ProxyState, at: usize) -> String {
    let ControlClient { state, connected, since } = proxy.clients[at];
    let replicas = proxy.replicas[at].len();
    match (state, since) {
        (ClientState::Connected, _) if replicas > 0 => {
            format!("{} to {connected} of {replicas}", words(state))
        }
        (ClientState::CutOff, Some(seconds)) => format!("{} for {}", words(state), lasting(seconds)),
        _ => words(state).to_owned(),
    }
}

/// Since when a row is in its state.
fn since(row: &SyncRow<'_>) -> String {
    match row.since() {
        Some(Since::Exactly(seconds)) => lasting(seconds),
        Some(Since::AtLeast(seconds)) => format!("at least {}", lasting(seconds)),
        None => NOT_KNOWN.to_owned(),
    }
}

fn certificate(certificate: Certificate) -> String {
    match certificate {
        Certificate::Valid(seconds) => format!("{} left", lasting(seconds)),
        Certificate::Expired(seconds) => format!("expired {} ago", lasting(seconds)),
        Certificate::NotYet => "none yet".to_owned(),
        Certificate::Never => "never had one".to_owned(),
        Certificate::Unknown => NOT_KNOWN.to_owned(),
    }
}

/// The agreement of the endpoints of each Service: `3 agree, 1 not known`.
fn endpoints(proxy: &ProxyState) -> String {
    let parts = agreements(proxy.services.iter().map(|one| one.agreement));
    match (parts.is_empty(), proxy.knows_endpoints) {
        (true, true) => "none in use".to_owned(),
        (true, false) => NOT_KNOWN.to_owned(),
        (false, true) => parts,
        (false, false) => format!("{parts}, others {NOT_KNOWN}"),
    }
}

/// The agreement of the policies of each port; not known if nothing reached the proxy between the reads.
fn policies(proxy: &ProxyState) -> String {
    let parts = agreements(proxy.policies.iter().flatten().map(|one| one.agreement));
    if parts.is_empty() { NOT_KNOWN.to_owned() } else { parts }
}

/// The number of each agreement.
fn agreements(all: impl Iterator<Item = Agreement> + Clone) -> String {
    let of = |agreement: Agreement| all.clone().filter(|one| *one == agreement).count();
    let (differ, agree, unknown) = (of(Agreement::Differs), of(Agreement::Agrees), of(Agreement::Unknown));
    let mut parts = Vec::new();
    if differ > 0 {
        parts.push(format!("{differ} {}", if differ == 1 { "differs" } else { "differ" }));
    }
    if agree > 0 {
        parts.push(format!("{agree} {}", if agree == 1 { "agrees" } else { "agree" }));
    }
    if unknown > 0 {
        parts.push(format!("{unknown} {NOT_KNOWN}"));
    }
    parts.join(", ")
}
