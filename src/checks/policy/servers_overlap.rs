//! `servers-overlap`: several Servers select one port, and only one of them has an effect there.

use std::collections::{BTreeMap, BTreeSet};

use super::survey::{about, field, on, survey};
use crate::checks::words::and_more;
use crate::checks::{Context, Judgement};
use crate::finding::{Finding, Remedy, StepKind};
use crate::objects::{Kind, Server};

/// The Server that takes ports, the ignored one, and the workloads and ports.
type Overlap<'a> = (&'a Server, &'a Server, BTreeSet<(&'a str, u16)>);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let by_age = survey.index.controller.quirks.servers_by_age;
    let mut over: BTreeMap<(&str, &str, &str), Overlap<'_>> = BTreeMap::new();
    for workload in survey.workloads().filter(|workload| ctx.judges(&workload.meta.namespace)) {
        for port in survey.index.taken_ports(workload) {
            let mut selecting = survey.index.selecting(workload, port);
            let Some(takes) = selecting.next() else { continue };
            for other in selecting {
                let (winner, loser) = (takes.server, other.server);
                let (namespace, name) = loser.metadata.key();
                let entry = over.entry((namespace, name, winner.metadata.name.as_str()));
                let (_, _, ports) = entry.or_insert((winner, loser, BTreeSet::new()));
                ports.insert((&workload.meta.name, port));
            }
        }
    }
    Ok(over
        .into_values()
        .map(|(winner, loser, ports)| finding(ctx, (winner, loser), &ports, by_age))
        .collect::<Vec<_>>()
        .into())
}

fn finding(
    ctx: &Context<'_>,
    (winner, loser): (&Server, &Server),
    ports: &BTreeSet<(&str, u16)>,
    by_age: bool,
) -> Finding {
    let meta = &loser.metadata;
    let (pod, port) = ports.first().copied().unwrap_or_default();
    let more = and_more(ports.len().saturating_sub(1));
    let born = |server: &Server| {
        server.metadata.creation_timestamp.get().map_or_else(|| "unknown".to_owned(), |time| time.to_string())
    };
    let name = &winner.metadata.name;
    let times = (winner.metadata.creation_timestamp.get(), meta.creation_timestamp.get());
    let message = if !by_age {
        format!(
            "Server {name} also selects port {port} of {pod}{more}, and this release chooses between them \
             at random. The other Server and its policies have no effect there, which may change when the \
             policy controller restarts"
        )
    } else {
        let first = if times.0 == times.1 { "has the same age but comes first by name" } else { "is older" };
        format!(
            "Server {name} {first}, so it takes port {port} of {pod}{more}. This one and its policies have \
             no effect there"
        )
    };
    about(ctx, Kind::Server, meta, message)
        .evidence(field(Kind::Server, meta, "metadata.creationTimestamp", born(loser)))
        .evidence(field(Kind::Server, &winner.metadata, "metadata.creationTimestamp", born(winner)))
        .parameter(name.as_str())
        .remedy(
            Remedy::new()
                .run(
                    StepKind::Command,
                    format!("If Server {} is the intended one, delete {name}", meta.name),
                    on("delete", Kind::Server, &winner.metadata),
                )
                .run(
                    StepKind::Command,
                    format!("If Server {name} is the intended one, delete {}", meta.name),
                    on("delete", Kind::Server, meta),
                )
                .step(
                    StepKind::Note,
                    "If both are intended, narrow their podSelectors so that they select \
                    different pods",
                ),
        )
}
