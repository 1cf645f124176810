//! A cluster that was reached, but of which nothing could be read: one error instead of one for each kind.

use super::evidence::{EvidenceSource, asks_for_logs};
use super::stop::Stop;
use crate::command::own;
use crate::fetched::{Fetched, Why};
use crate::item::Item;
use crate::missing::{LOG_IN, LOG_IN_TO_PROXY, Missing, whoami};
use crate::model::Cluster;
use crate::model::cluster::Answer;
use crate::render::coverage::grant_in_a_line;

/// The cluster of a run.
pub(super) struct Reached<'a> {
    /// Name of the context.
    pub(super) context: &'a str,
    /// Address of the API server.
    pub(super) server: &'a str,
}

/// The error, unless something was read, or other evidence was given. A command that reports missing evidence stops
/// only if the connection itself must be repaired first.
pub(super) fn stop(cluster: &Cluster, reached: &Reached<'_>, way: &EvidenceSource<'_>) -> Option<Stop> {
    let evidence = way.evidence;
    let has_other = !(evidence.nodes.is_empty() && evidence.diagnostics.is_empty())
        || (!evidence.logs.is_empty() && !asks_for_logs(evidence))
        || way.node_pods.is_some()
        || cluster.nodes.is_ok();
    let is_read =
        |(item, answer): (&Item, &Answer)| matches!(item, Item::List(_) | Item::Named { .. }) && answer.count() > 0;
    if has_other || cluster.answers().any(is_read) {
        return None;
    }
    let missing = unread(cluster)?;
    let all = |is: fn(&Why) -> bool| missing.iter().all(|missing| is(&missing.why));
    let Reached { context, server } = reached;
    if all(Why::is_credentials_rejected) {
        let cause = format!("the API server rejects the credentials of context {context} (HTTP 401)");
        let whoami = crate::command::Command::from(whoami());
        let test = whoami.aimed(&super::rerun::connection(way.connection));
        return Some(Stop::could_not_run(cause, format!("{LOG_IN}: {test}")));
    }
    if all(Why::is_other_server) {
        let why = &missing[0].why;
        let cause = format!("{server} does not respond like a Kubernetes API server: {why}");
        return Some(Stop::could_not_run(cause, LOG_IN_TO_PROXY));
    }
    if way.reports_gaps {
        return None;
    }
    if all(|why| matches!(why, Why::Denied { .. })) {
        let cause = format!("the API server denied every list: these credentials may not read {context}");
        return Some(Stop::could_not_run(cause, grant_in_a_line(&missing)));
    }
    let cause = format!("nothing could be read from {context}: {}", missing[0]);
    let check = own("check --coverage");
    Some(Stop::could_not_run(cause, format!("{check} lists what was requested, and how to provide it")))
}

/// The lists that were requested, if none of them was read; without lists, the objects by name.
fn unread(cluster: &Cluster) -> Option<Vec<Missing>> {
    let requested = |is: fn(&Item) -> bool| -> Vec<_> {
        cluster.answers().filter(|(item, _)| is(item)).map(|(_, answer)| answer).collect()
    };
    let lists = requested(|item| matches!(item, Item::List(_)));
    let answers = match lists.is_empty() {
        true => requested(|item| matches!(item, Item::Named { .. })),
        false => lists,
    };
    let mut missing = Vec::new();
    for answer in answers {
        match &answer.fetched {
            // Other kinds may still be served.
            Fetched::Missing { reason: Why::NotServed } => {}
            Fetched::Missing { reason } => missing.push(Missing::whole(answer.request.clone(), reason.clone())),
            Fetched::Complete | Fetched::Partial { .. } => return None,
        }
    }
    (!missing.is_empty()).then_some(missing)
}
