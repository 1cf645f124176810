//! Messages of Linkerd's containers that have a known meaning and are current: in their logs, and in the last
//! output of a container that ended, which its status quotes. Left out: messages that a later line of the
//! same log ends, those before the process's last start, and old ones of a ready process.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use jiff::{SignedDuration, Timestamp};

use super::{Context, Judgement, Unjudged};
use crate::checks::prelude::*;
use crate::checks::words::{each_step, some};
use crate::finding::{Moment, Restarts};
use crate::knowledge::{MeshSignature, written_at};
use crate::model::log::{Log, LogOf};
use crate::model::owners::Owners;
use crate::objects::ContainerStatus;
use crate::objects::container::PROXY_CONTAINER;

/// The maximum age of a current message.
const LATELY: SignedDuration = SignedDuration::from_hours(1);
/// Maximum number of logs that a gap names.
const NAMED: usize = 3;

/// A message in the log of a container.
pub(super) struct Reported<'a> {
    container: &'a str,
    row: &'a MeshSignature,
    /// Its lines, the oldest first.
    lines: Vec<Cow<'a, str>>,
    /// The end of the container, if its status quotes the lines.
    ended: Option<Ended>,
}

/// The end of a container.
#[derive(Debug, Clone, Copy)]
struct Ended {
    /// `state` or `lastState`.
    field: &'static str,
    at: Option<Timestamp>,
}

/// The containers of a pod for which log patterns are known.
pub(super) fn containers<'a>(ctx: &Context<'a>, pod: &'a Pod) -> impl Iterator<Item = &'a str> {
    let logs = ctx.knowledge.mesh_logs();
    let all = pod.spec.init_containers.iter().chain(pod.spec.containers.iter());
    all.map(|container| &*container.name).filter(|name| logs.reads(name))
}

/// The findings about known messages of the containers of pods. Logs that were not read are noted.
///
/// # Errors
/// No log was read, and no container ended with a known message.
pub(super) fn of_containers<'a>(
    ctx: &Context<'a>,
    all: impl Iterator<Item = (&'a Pod, &'a str)>,
    which: &str,
) -> Judgement {
    let given = ctx.logs();
    let logs = ctx.log_hints();
    let (mut findings, mut missing, mut read) = (Vec::new(), Vec::new(), 0);
    for (pod, container) in all {
        let log = log_of(logs, pod, container);
        let said = reported(ctx, log, pod, container);
        findings.extend(said.iter().map(|said| said.finding(ctx, ctx.owners(), pod)));
        match log {
            Some(_) => read += 1,
            None => missing.push(format!("{}/{}/{container}", pod.metadata.namespace, pod.metadata.name)),
        }
    }
    let unread = match given {
        Err(unread) => Some(unread),
        Ok(_) if read == 0 && !missing.is_empty() => Some(ctx.missing(Item::Logs, Why::NotOffered, which)),
        Ok(_) => None,
    };
    match unread {
        Some(unread) if findings.is_empty() => return Err(Unjudged::Missing(unread)),
        // The last output of a container that ended replaces only its own log.
        Some(unread) => ctx.gap(unread),
        None => not_read(ctx, &missing),
    }
    Ok(findings.into())
}

/// The log of a container, if it was read.
pub(super) fn log_of<'a>(logs: &'a [Log], pod: &Pod, name: &str) -> Option<&'a Log> {
    let meta = &pod.metadata;
    logs.iter().find(|log| match &log.of {
        Some(LogOf::Pod { namespace, pod, container: Some(container) }) => {
            *namespace == meta.namespace && *pod == meta.name && container == name
        }
        Some(_) | None => false,
    })
}

/// The last line of a row in the provided log of one of these pods, as evidence of what an object shows: a check never
/// depends on it.
pub(super) fn confirming<'a>(
    ctx: &Context<'a>,
    row: &str,
    pods: impl IntoIterator<Item = &'a Pod>,
) -> Option<Evidence> {
    let row = ctx.knowledge.mesh_logs().get(row)?;
    let logs = ctx.log_hints();
    if logs.is_empty() {
        return None;
    }
    let in_log = |pod: &'a Pod, container: &'a str| {
        let lines = unresolved(row, &log_of(logs, pod, container)?.lines)?;
        let count = if lines.len() > 1 { format!(", {} lines", lines.len()) } else { String::new() };
        Some(Reported { container, row, lines: borrowed(lines), ended: None }.evidence_of(pod, &count))
    };
    let read = |pod: &'a Pod| {
        containers(ctx, pod).filter(|name| row.containers.iter().any(|of| of == name)).collect::<Vec<_>>()
    };
    pods.into_iter().find_map(|pod| read(pod).into_iter().find_map(|container| in_log(pod, container)))
}

/// The messages of a container that describe the current state: those of its log, if it was read, and others that its
/// status quotes from its last output.
pub(super) fn reported<'a>(
    ctx: &Context<'a>,
    log: Option<&'a Log>,
    pod: &Pod,
    container: &'a str,
) -> Vec<Reported<'a>> {
    let status = pod.container_status(container);
    let rows = ctx.knowledge.mesh_logs().rows().iter().filter(|row| row.containers.iter().any(|of| of == container));
    let (ended, last) = last_lines(ctx, status, container).unzip();
    let last = last.unwrap_or_default();
    let said = rows.filter(|row| !row.names_service && !row.judged_apart).filter_map(|row| {
        let in_log = log.and_then(|log| unresolved(row, &log.lines));
        let found = in_log.map(|lines| Reported { container, row, lines: borrowed(lines), ended: None });
        let found = found.filter(|reported| is_of_now(ctx, reported, status));
        found.or_else(|| {
            let lines = unresolved(row, &last)?.into_iter().map(|line| Cow::Owned(line.to_owned())).collect();
            Some(Reported { container, row, lines, ended })
        })
    });
    let mut found: Vec<Reported<'_>> = said.collect();
    let has_reason = found.iter().any(|one| !one.row.general && (one.row.ends || one.row.is_crash()));
    // The reason has no position in the source; the general line before it may have one.
    let place = found.iter().find(|one| one.row.general).and_then(|one| one.lines.last().cloned());
    if let Some(place) = place.filter(|place| has_reason && place.contains(".rs:")) {
        for one in found.iter_mut().filter(|one| one.row.is_crash() && !one.row.general) {
            let said = one.quoted();
            let whole = if said.contains(&*place) { said.to_owned() } else { format!("{place}: {said}") };
            one.lines = vec![Cow::Owned(whole)];
        }
    }
    found.retain(|one| !(one.row.general && has_reason));
    found
}

fn borrowed(lines: Vec<&str>) -> Vec<Cow<'_, str>> {
    lines.into_iter().map(Cow::Borrowed).collect()
}

/// The lines that match a row, unless there are too few or a later line ends the problem.
fn unresolved<'l>(row: &MeshSignature, lines: &'l [String]) -> Option<Vec<&'l str>> {
    let at = |wanted: &dyn Fn(&str) -> bool| lines.iter().rposition(|line| wanted(line));
    let last = at(&|line| row.matches(line))?;
    if at(&|line| row.is_over(line)).is_some_and(|over| over > last) {
        return None;
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|line| row.matches(line)).collect();
    (lines.len() >= row.times).then_some(lines)
}

/// The known lines of the output with which a container ended, if it is not ready again or ended lately.
fn last_lines(ctx: &Context<'_>, status: Option<&ContainerStatus>, container: &str) -> Option<(Ended, Vec<String>)> {
    let status = status?;
    let now = status.state.terminated().map(|ended| ("state", ended));
    let (field, ended) = now.or_else(|| status.last_state().terminated().map(|ended| ("lastState", ended)))?;
    let at = ended.finished_at.get();
    if status.ready && at.is_none_or(|at| ctx.now().duration_since(at) > LATELY) {
        return None;
    }
    let known = |line: &str| ctx.knowledge.mesh_logs().kept(container, line);
    let lines: Vec<String> = ended.message.lines().filter_map(known).collect();
    (!lines.is_empty()).then_some((Ended { field, at }, lines))
}

/// A failed call that a proxy's log reports, by the Service that it names.
pub(super) struct FailedCall<'a> {
    /// `NAMESPACE.NAME:PORT`, or the cluster address and port.
    to: &'a str,
    /// The last such line.
    pub(super) line: &'a str,
    /// The time of that line.
    pub(super) at: Option<Timestamp>,
    /// The number of lines.
    pub(super) count: usize,
}

impl FailedCall<'_> {
    /// The address of the endpoint or Service, if the line contains it.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.to.parse().ok()
    }

    /// Whether the call is to a Service.
    pub(super) fn is_to(&self, service: &Service) -> bool {
        match self.to.parse::<SocketAddr>() {
            Ok(address) => service.spec.has_address(address.ip()),
            Err(_) => {
                let name = self.to.split(':').next().unwrap_or_default();
                name.split_once('.') == Some(service.metadata.key())
            }
        }
    }
}

/// The calls that a proxy's log reports as failed now, one for each target.
pub(super) fn failed_calls<'a>(ctx: &Context<'a>, log: &'a Log, pod: &Pod, container: &'a str) -> Vec<FailedCall<'a>> {
    let status = pod.container_status(container);
    let mut found: BTreeMap<&str, FailedCall<'a>> = BTreeMap::new();
    for row in ctx.knowledge.mesh_logs().rows().iter().filter(|row| row.names_service) {
        for line in log.lines.iter().map(String::as_str) {
            let Some(to) = row.service(line) else { continue };
            let reported = Reported { container, row, lines: vec![line.into()], ended: None };
            if is_of_now(ctx, &reported, status) {
                let count = found.get(to).map_or(0, |known| known.count) + 1;
                found.insert(to, FailedCall { to, line, at: reported.last(), count });
            }
        }
    }
    found.into_values().collect()
}

/// The running pods of applications that have a proxy.
///
/// # Errors
/// Pods are missing.
pub(super) fn meshed<'a>(ctx: &Context<'a>) -> Result<impl Iterator<Item = &'a Pod>, Missing> {
    let home = ctx.namespaces().control_plane.as_str();
    let pods = ctx.partial_list::<Pod>()?.iter();
    Ok(pods.filter(move |pod| {
        let namespace = &pod.metadata.namespace;
        *namespace != home && ctx.judges(namespace) && pod.spec.proxy().is_some() && !pod.is_finished()
    }))
}

/// The logs of the proxies of applications. Those that were not given are noted.
///
/// # Errors
/// Pods are missing, or the logs of all of them.
pub(super) fn proxy_logs<'a>(ctx: &Context<'a>) -> Result<Vec<(&'a Pod, &'a Log)>, Unjudged> {
    let meshed = meshed(ctx)?;
    let logs = ctx.logs()?;
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for pod in meshed {
        match log_of(logs, pod, PROXY_CONTAINER) {
            Some(log) => found.push((pod, log)),
            None => missing.push(format!("{}/{}", pod.metadata.namespace, pod.metadata.name)),
        }
    }
    if found.is_empty() && !missing.is_empty() {
        return Err(Unjudged::Missing(ctx.missing(Item::Logs, Why::NotOffered, "the logs of proxies")));
    }
    not_read(ctx, &missing);
    Ok(found)
}

fn is_of_now(ctx: &Context<'_>, reported: &Reported<'_>, status: Option<&ContainerStatus>) -> bool {
    let ready = status.is_some_and(|status| status.ready);
    let started = status.and_then(|status| status.state.running()?.started_at.get());
    let said = reported.last();
    if reported.row.ends && ready {
        return false;
    }
    if ready && said.zip(started).is_some_and(|(said, started)| said < started) {
        return false;
    }
    reported.row.lasting || !ready || said.is_none_or(|said| ctx.now().duration_since(said) <= LATELY)
}

impl Reported<'_> {
    /// The time of the last line, if it states one.
    pub(super) fn last(&self) -> Option<Timestamp> {
        match self.ended {
            Some(ended) => ended.at,
            None => written_at(self.lines.last()?),
        }
    }

    /// The text of the last line.
    fn quoted(&self) -> &str {
        self.lines.last().map_or("", |line| line.trim())
    }

    /// The source of the lines: `log of linkerd-proxy`.
    pub(super) fn source(&self) -> String {
        let Reported { container, ended, .. } = self;
        match ended {
            Some(_) => format!("last output of {container}"),
            None => format!("log of {container}"),
        }
    }

    /// The row of `mesh-logs.yaml`.
    pub(super) fn id(&self) -> &str {
        &self.row.id
    }

    /// Its lines, the oldest first.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|line| &**line)
    }

    /// The last line as evidence.
    pub(super) fn evidence(&self, pod: &Pod) -> Evidence {
        self.evidence_of(pod, "")
    }

    fn evidence_of(&self, pod: &Pod, count: &str) -> Evidence {
        let (namespace, name) = pod.metadata.key();
        let object = format!("Pod {namespace}/{name}");
        match self.ended {
            Some(Ended { field, .. }) => {
                let path = format!("{field}.terminated.message of container {}", self.container);
                Evidence::field(object, path, self.quoted())
            }
            None => Evidence::other(format!("{object}, log of {}{count}", self.container), self.quoted()),
        }
    }

    /// Whether it is a crash in the log of a container that has run since without a restart.
    fn survived(&self, pod: &Pod) -> bool {
        let status = pod.container_status(self.container);
        let keeps = |status: &ContainerStatus| status.restart_count == 0 && status.state.running().is_some();
        self.row.is_crash() && self.ended.is_none() && status.is_some_and(keeps)
    }

    /// The finding. Its confidence depends on whether the time of the last line is known.
    pub(super) fn finding(&self, ctx: &Context<'_>, owners: &Owners<'_>, pod: &Pod) -> Finding {
        let Reported { container, row, lines, .. } = self;
        let meta = &pod.metadata;
        let object = meta.described("Pod");
        let count = if lines.len() > 1 { format!(", {} lines", lines.len()) } else { String::new() };
        let times = match self.ended {
            Some(ended) => [ended.at, ended.at],
            None => [lines.first(), lines.last()].map(|line| line.and_then(|line| written_at(line))),
        };
        let moments = times.into_iter().zip(["first line", "last line"]).map(|(at, which)| {
            let what = if lines.len() > 1 { format!("{}, {which}", row.says) } else { row.says.clone() };
            Moment::new(at, &object, self.source(), what)
        });
        let log = kubectl().namespace(&meta.namespace).words("logs").operand(&meta.name).option("-c", *container);
        let log = if self.ended.is_some() { log.words("--previous") } else { log };
        let log = log.words("--timestamps --tail=200");
        let remedy = Remedy::new().command("Read the log around this line", log);
        let remedy = match row.remedy.as_str() {
            "" => remedy,
            steps => each_step(steps).fold(remedy, |remedy, step| remedy.step(StepKind::Note, step)),
        };
        let remedy = if row.restart { restarted(remedy, &owners.owner(pod)) } else { remedy };
        let said = match row.says.split_once(". ") {
            Some((fact, effect)) => format!("{fact}, according to the {}. {effect}", self.source()),
            None if self.survived(pod) => {
                format!("{}, according to the {}. The container did not restart", row.says, self.source())
            }
            None => format!("{}, according to the {}", row.says, self.source()),
        };
        let finding = ctx
            .finding(owners.owner(pod).subject(vec![meta.name.clone()]), said)
            .severity(row.severity)
            .parameter(row.id.clone())
            .tie(logged(&row.id))
            .tie(logged_by(container, &row.id))
            .evidence(self.evidence_of(pod, &count))
            .evidences(runtime(ctx, row, pod))
            .timeline(moments.flatten())
            .remedy(remedy);
        // A warning in the log prevents nothing from running.
        let finding = if row.severity == Severity::Error { finding } else { finding.explains_nothing() };
        match self.last() {
            Some(_) => finding,
            // It may be about an earlier state.
            None => finding.severity(row.severity.min(Severity::Warning)).likely(),
        }
    }
}

/// The container runtime of a pod's node, if a row is about it.
fn runtime(ctx: &Context<'_>, row: &MeshSignature, pod: &Pod) -> Option<Evidence> {
    let nodes = if row.of_runtime { ctx.optional_list::<Node>() } else { &[] };
    let node = nodes.iter().find(|node| node.metadata.name == *pod.node_name)?;
    let version = node.status.node_info.container_runtime_version.as_str();
    let object = format!("Node {}", node.metadata.name);
    (!version.is_empty()).then(|| Evidence::field(object, "status.nodeInfo.containerRuntimeVersion", version))
}

/// What findings about lines of a row share.
pub(super) fn logged(row: &str) -> Tie {
    Tie::Fact(format!("log {row}"))
}

/// As [`logged`], of one container: other components log the same line for reasons of their own.
pub(super) fn logged_by(container: &str, row: &str) -> Tie {
    Tie::Fact(format!("log {row} of {container}"))
}

/// Adds the restart of a workload.
fn restarted(remedy: Remedy, owner: &Owner) -> Remedy {
    match owner.restartable() {
        Some(target) => remedy
            .command(
                "Restart the workload",
                kubectl().namespace(&owner.namespace).words("rollout restart").operand(target),
            )
            .restarting(Restarts::Workloads),
        None => remedy.note("Create the pods of the workload again"),
    }
}

/// Notes the missing logs as a gap.
fn not_read(ctx: &Context<'_>, names: &[String]) {
    if !names.is_empty() {
        ctx.gap(ctx.missing(Item::Logs, Why::NotOffered, format!("the logs of {}", some(names, NAMED))));
    }
}
