//! Lines of proxies' logs about failed connections, with their times.

use std::collections::BTreeMap;
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

use crate::checks::prelude::*;
use crate::knowledge::{MeshSignature, written_at};
use crate::model::log::Log;
use crate::objects::container::PROXY_CONTAINER;

/// Maximum age of the last line.
const RECENT: SignedDuration = SignedDuration::from_mins(30);

/// A line and its time.
#[derive(Debug, Clone, Copy)]
pub(super) struct FailedConnection<'a> {
    pub(super) line: &'a str,
    pub(super) at: Timestamp,
    /// Whether the line has a timestamp. Else its time follows from the start of the proxy, and the log may be
    /// older than the other evidence.
    pub(super) is_dated: bool,
}

/// The recent lines of a row of `mesh-logs.yaml` in a proxy's log, and those without a timestamp. Lines from
/// before the pod became ready are left out: applications start after their proxies. So are lines whose time
/// is unknown.
pub(super) fn failed_connections<'a>(
    ctx: &Context<'a>,
    log: &'a Log,
    pod: &Pod,
    row: &'a MeshSignature,
) -> Vec<FailedConnection<'a>> {
    let ready = pod.condition("Ready").filter(|ready| ready.status == "True");
    let Some(since) = ready.and_then(|ready| ready.last_transition_time.get()) else { return Vec::new() };
    let lines = log.lines.iter().map(String::as_str).filter(|line| row.matches(line));
    lines
        .filter_map(|line| {
            let dated = written_at(line);
            let at = written_by(pod, line)?;
            let is_old = dated.is_some_and(|at| ctx.now().duration_since(at) > RECENT);
            (at > since && !is_old).then_some(FailedConnection { line, at, is_dated: dated.is_some() })
        })
        .collect()
}

/// The lines by the value after a mark, such as an address or a port, without those that are fewer than `times`.
pub(super) fn repeated<'a, T: FromStr + Ord>(
    lines: Vec<FailedConnection<'a>>,
    mark: &str,
    times: usize,
) -> impl Iterator<Item = (T, Vec<FailedConnection<'a>>)> + use<'a, T> {
    let mut by_value: BTreeMap<T, Vec<FailedConnection<'a>>> = BTreeMap::new();
    for failed in lines {
        let value = text_after(failed.line, mark, &['}', ' ']).and_then(|text| text.parse().ok());
        if let Some(value) = value {
            by_value.entry(value).or_default().push(failed);
        }
    }
    by_value.into_iter().filter(move |(_, lines)| lines.len() >= times)
}

/// One of the lines in a pod's log as evidence, with their number.
pub(super) fn quoted(pod: &Pod, lines: &[FailedConnection<'_>], line: &FailedConnection<'_>) -> Evidence {
    let (namespace, name) = pod.metadata.key();
    let object = format!("Pod {namespace}/{name}, log of {PROXY_CONTAINER}, {} lines", lines.len());
    Evidence::other(object, line.line.trim())
}

/// When the running proxy of a pod wrote a line, from its date, or else from the time since the start of the proxy.
pub(super) fn written_by(pod: &Pod, line: &str) -> Option<Timestamp> {
    let started = || pod.container_status(PROXY_CONTAINER)?.state.running()?.started_at.get();
    written_at(line).or_else(|| started()?.checked_add(uptime(line)?).ok())
}

/// The time since the start of the proxy, with which its lines begin: `[   830.612340s]`.
fn uptime(line: &str) -> Option<SignedDuration> {
    let (_, rest) = line.split_once('[')?;
    let (seconds, _) = rest.split_once("s]")?;
    let (whole, _) = seconds.trim().split_once('.')?;
    Some(SignedDuration::from_secs(whole.parse().ok()?))
}

/// The text after a mark, up to one of the ends.
pub(super) fn text_after<'l>(line: &'l str, mark: &str, ends: &[char]) -> Option<&'l str> {
    let (_, rest) = line.split_once(mark)?;
    rest.split(ends).next()
}
