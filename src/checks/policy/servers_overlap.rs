//! `servers-overlap`: several Servers select one port, and only one of them has an effect there.

use std::collections::{BTreeMap, BTreeSet};

use super::survey::{Survey, about, field, on, survey};
use crate::checks::prelude::*;
use crate::checks::words::{and_more, workload_of};
use crate::objects::Server;

/// The Server that takes ports, the ignored one, and the workloads and ports.
type Overlap<'a> = (&'a Server, &'a Server, BTreeSet<(String, u16)>);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let by_age = survey.index.controller.quirks.servers_by_age;
    let mut over: BTreeMap<(&str, &str, &str), Overlap<'_>> = BTreeMap::new();
    for group in survey.alike().filter(|group| ctx.judges(&group[0].1.meta.namespace)) {
        let names: BTreeSet<String> = group.iter().map(|(_, workload)| workload_of(workload.meta)).collect();
        for (port, selecting) in survey.index.selecting_by_port(group[0].1) {
            let mut selecting = selecting.into_iter();
            let Some(takes) = selecting.next() else { continue };
            for other in selecting {
                let (winner, loser) = (takes.server, other.server);
                let (namespace, name) = loser.metadata.key();
                let entry = over.entry((namespace, name, winner.metadata.name.as_str()));
                let (_, _, ports) = entry.or_insert((winner, loser, BTreeSet::new()));
                ports.extend(names.iter().map(|name| (name.clone(), port)));
            }
        }
    }
    Ok(over.into_values().map(|(winner, loser, ports)| finding(ctx, survey, (winner, loser), &ports, by_age)).collect())
}

fn finding(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    (winner, loser): (&Server, &Server),
    ports: &BTreeSet<(String, u16)>,
    by_age: bool,
) -> Finding {
    let meta = &loser.metadata;
    let (pod, port) = ports.first().cloned().unwrap_or_default();
    let more = and_more(ports.len().saturating_sub(1));
    let born = |server: &Server| {
        server.metadata.creation_timestamp.get().map_or_else(|| "unknown".to_owned(), |time| time.to_string())
    };
    let name = &winner.metadata.name;
    let times = (winner.metadata.creation_timestamp.get(), meta.creation_timestamp.get());
    let message = if !by_age {
        format!(
            "Servers {name} and {} select the same port {port} of {pod}{more}. This release chooses one at random, and \
             the other has no effect there until the policy controller restarts",
            meta.name
        )
    } else {
        let first = match times.0 == times.1 {
            true => format!("Server {name}, which comes first by name,"),
            false => format!("the older Server {name}"),
        };
        format!(
            "Server {} and its policies have no effect on port {port} of {pod}{more}: {first} selects the same port",
            meta.name
        )
    };
    about(ctx, Kind::Server, meta, message)
        .evidence(field(Kind::Server, meta, "metadata.creationTimestamp", born(loser)))
        .evidence(field(Kind::Server, &winner.metadata, "metadata.creationTimestamp", born(winner)))
        .parameter(name.as_str())
        .remedy(remedy(survey, winner, loser, by_age))
}

/// The deletion of the Server that is not intended. That of the Server in effect changes the authorized clients.
fn remedy(survey: &Survey<'_>, winner: &Server, loser: &Server, by_age: bool) -> Remedy {
    let (effective, ignored) = (&winner.metadata.name, &loser.metadata.name);
    let harmless = if by_age { ". No client is affected" } else { "" };
    let namespace = &loser.metadata.namespace;
    Remedy::new()
        .command(
            format!("If Server {effective} is the intended one, delete Server {ignored} and its policies{harmless}"),
            deleted(survey, loser),
        )
        .command(
            format!("If Server {ignored} is the intended one, first check that policies authorize its clients"),
            kubectl()
                .namespace(namespace)
                .words("get authorizationpolicies.policy.linkerd.io,serverauthorizations.policy.linkerd.io -o yaml"),
        )
        .command(
            format!(
                "Then, if Server {ignored} is the intended one, delete Server {effective} and its policies. Clients \
                 without an authorization for {ignored} are denied from then on"
            ),
            deleted(survey, winner),
        )
        .note("If both are intended, narrow their podSelectors so that they select different pods")
}

/// The commands that delete a Server and the policies that target it alone, which would have no target.
fn deleted(survey: &Survey<'_>, server: &Server) -> Command {
    let (namespace, name) = server.metadata.key();
    let policies = survey.objects.authorization_policies.iter().filter(|policy| {
        let target = &policy.spec.target_ref;
        policy.metadata.namespace == namespace && target.is_a("policy.linkerd.io", "Server") && target.name == name
    });
    let older = survey
        .objects
        .server_authorizations
        .iter()
        .filter(|one| one.metadata.namespace == namespace && one.spec.server.name.as_deref() == Some(name));
    let server = std::iter::once(on("delete", Kind::Server, &server.metadata));
    let policies = policies.map(|policy| on("delete", Kind::AuthorizationPolicy, &policy.metadata));
    let older = older.map(|one| on("delete", Kind::ServerAuthorization, &one.metadata));
    Command::lines(server.chain(policies).chain(older))
}
