//! Messages in the logs of Linkerd's containers that have a known meaning and are current. Left out:
//! messages that a later line of the same log ends, those before the process's last start, and old ones of
//! a ready process.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use jiff::{SignedDuration, Timestamp};

use super::{Context, Unjudged};
use crate::checks::words::{sentence, some};
use crate::command::kubectl;
use crate::fetched::Why;
use crate::finding::{Evidence, Finding, Moment, Remedy, Restarts, Severity, StepKind};
use crate::item::Item;
use crate::knowledge::{MeshSignature, written_at};
use crate::model::log::{Log, LogOf};
use crate::model::owners::{Owner, Owners};
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{ContainerStatus, Pod, Service};

/// The maximum age of a current message.
const LATELY: SignedDuration = SignedDuration::from_hours(1);
/// Maximum number of logs that a gap names.
const NAMED: usize = 3;

/// A message in the log of a container.
pub(super) struct Reported<'a> {
    container: &'a str,
    row: &'a MeshSignature,
    /// Its lines, the oldest first.
    lines: Vec<&'a str>,
}

/// The containers of a pod for which log patterns are known.
pub(super) fn containers<'a>(ctx: &Context<'a>, pod: &'a Pod) -> impl Iterator<Item = &'a str> {
    let logs = ctx.knowledge.mesh_logs();
    let all = pod.spec.init_containers.iter().chain(pod.spec.containers.iter());
    all.map(|container| &*container.name).filter(|name| logs.reads(name))
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

/// The log messages of a container that describe the current state.
pub(super) fn reported<'a>(
    ctx: &Context<'a>,
    log: &'a Log,
    pod: &Pod,
    container: &'a str,
) -> Vec<Reported<'a>> {
    let status = pod.container_status(container);
    let rows =
        ctx.knowledge.mesh_logs().rows().iter().filter(|row| row.containers.iter().any(|of| of == container));
    let said = rows.filter(|row| !row.names_service).filter_map(|row| {
        let at = |wanted: &dyn Fn(&str) -> bool| log.lines.iter().rposition(|line| wanted(line));
        let last = at(&|line| row.matches(line))?;
        if at(&|line| row.is_over(line)).is_some_and(|over| over > last) {
            return None;
        }
        let lines: Vec<&str> =
            log.lines.iter().map(String::as_str).filter(|line| row.matches(line)).collect();
        let reported = Reported { container, row, lines };
        (reported.lines.len() >= row.times && is_of_now(ctx, &reported, status)).then_some(reported)
    });
    said.collect()
}

/// A failed call that a proxy's log reports, by the Service that it names.
pub(super) struct FailedCall<'a> {
    /// `NAMESPACE.NAME:PORT`, or the cluster address and port.
    to: &'a str,
    /// The last such line.
    pub(super) line: &'a str,
    /// The time of that line.
    pub(super) at: Option<Timestamp>,
}

impl FailedCall<'_> {
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
pub(super) fn failed_calls<'a>(
    ctx: &Context<'a>,
    log: &'a Log,
    pod: &Pod,
    container: &'a str,
) -> Vec<FailedCall<'a>> {
    let status = pod.container_status(container);
    let mut found: BTreeMap<&str, FailedCall<'a>> = BTreeMap::new();
    for row in ctx.knowledge.mesh_logs().rows().iter().filter(|row| row.names_service) {
        for line in log.lines.iter().map(String::as_str) {
            let Some(to) = row.service(line) else { continue };
            let reported = Reported { container, row, lines: vec![line] };
            if is_of_now(ctx, &reported, status) {
                found.insert(to, FailedCall { to, line, at: reported.last() });
            }
        }
    }
    found.into_values().collect()
}

/// The logs of the proxies of applications. Those that were not given are noted.
///
/// # Errors
/// Pods are missing, or the logs of all of them.
pub(super) fn proxy_logs<'a>(ctx: &Context<'a>) -> Result<Vec<(&'a Pod, &'a Log)>, Unjudged> {
    let pods = ctx.seen::<Pod>()?;
    let logs = ctx.logs()?;
    let home = ctx.namespaces().control_plane.as_str();
    let meshed = pods.iter().filter(|pod| {
        let namespace = &pod.metadata.namespace;
        *namespace != home && ctx.judges(namespace) && pod.spec.proxy().is_some() && !pod.is_finished()
    });
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for pod in meshed {
        match log_of(logs, pod, PROXY_CONTAINER) {
            Some(log) => found.push((pod, log)),
            None => missing.push(format!("{}/{}", pod.metadata.namespace, pod.metadata.name)),
        }
    }
    if found.is_empty() && !missing.is_empty() {
        return Err(Unjudged::Missing(ctx.lacking(Item::Logs, Why::NotOffered, "the logs of proxies")));
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
    fn last(&self) -> Option<Timestamp> {
        written_at(self.lines.last()?)
    }

    /// The row of `mesh-logs.yaml`.
    pub(super) fn id(&self) -> &str {
        &self.row.id
    }

    /// The last line as evidence.
    pub(super) fn evidence(&self, pod: &Pod) -> Evidence {
        let (namespace, name) = pod.metadata.key();
        let quoted = self.lines.last().map_or("", |line| line.trim());
        Evidence::other(format!("Pod {namespace}/{name}, log of {}", self.container), quoted)
    }

    /// The finding. Its confidence depends on whether the time of the last line is known.
    pub(super) fn finding(&self, ctx: &Context<'_>, owners: &Owners<'_>, pod: &Pod) -> Finding {
        let Reported { container, row, lines } = self;
        let meta = &pod.metadata;
        let object = format!("Pod {}/{}", meta.namespace, meta.name);
        let count = if lines.len() > 1 { format!(", {} lines", lines.len()) } else { String::new() };
        let quoted = lines.last().map_or("", |line| line.trim());
        let moments = [(lines.first(), "first line"), (lines.last(), "last line")].map(|(line, which)| {
            let what = if lines.len() > 1 { format!("{}, {which}", row.says) } else { row.says.clone() };
            Moment::of(line.and_then(|line| written_at(line)), &object, format!("log of {container}"), what)
        });
        let log =
            kubectl().namespace(&meta.namespace).words("logs").operand(&meta.name).option("-c", *container);
        let log = log.words("--timestamps --tail=200");
        let remedy = Remedy::new().run(StepKind::Command, "Read the log around this line", log);
        let remedy = match row.remedy.as_str() {
            "" => remedy,
            step => remedy.step(StepKind::Note, sentence(step)),
        };
        let remedy = if row.restart { restarted(remedy, &owners.of(pod)) } else { remedy };
        let finding = ctx
            .finding(
                owners.of(pod).subject(vec![meta.name.clone()]),
                format!("{}, according to the log of {container}", row.says),
            )
            .severity(row.severity)
            .parameter(row.id.clone())
            .evidence(Evidence::other(format!("{object}, log of {container}{count}"), quoted))
            .timeline(moments.into_iter().flatten())
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

/// Adds the restart of a workload.
fn restarted(remedy: Remedy, owner: &Owner) -> Remedy {
    match owner.restartable() {
        Some(target) => remedy
            .run(
                StepKind::Command,
                "Restart the workload",
                kubectl().namespace(&owner.namespace).words("rollout restart").operand(target),
            )
            .restarting(Restarts::Workloads),
        None => remedy.step(StepKind::Note, "Create the pods of the workload again"),
    }
}

/// Notes the missing logs as a gap.
pub(super) fn not_read(ctx: &Context<'_>, names: &[String]) {
    if !names.is_empty() {
        ctx.gap(ctx.lacking(Item::Logs, Why::NotOffered, format!("the logs of {}", some(names, NAMED))));
    }
}
