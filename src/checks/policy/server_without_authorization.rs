//! `server-without-authorization`: a Server takes a port, and nobody is let in.

use std::collections::BTreeMap;

use super::survey::{about, about_server, field, survey};
use crate::checks::words::and_more;
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Finding, Remedy, Severity, StepKind};
use crate::model::policy::{AuthorizedBy, Inbound, TakenBy};
use crate::model::skipped::{IN, skipped};
use crate::objects::{Kind, Server};

/// A Server that lets nobody in, and the workloads whose ports it takes.
type Shut<'a> = (&'a Server, Vec<(&'a str, u16)>);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let mut shut: BTreeMap<(&str, &str), Shut<'_>> = BTreeMap::new();
    let pods = survey.pods.iter().map(|(pod, workload)| (skipped(pod, IN), workload));
    let external = survey.external.iter().map(|workload| (None, workload));
    for (skips, workload) in pods.chain(external).filter(|(_, workload)| ctx.judges(&workload.meta.namespace))
    {
        for port in survey.index.taken_ports(workload) {
            // No policy applies to a port that does not pass the proxy.
            if skips.as_ref().is_some_and(|skips| skips.holds(port)) {
                continue;
            }
            let inbound = survey.index.inbound(workload, port);
            if let TakenBy::Server(server) = inbound.taken_by
                && !admits_somebody(&inbound)
            {
                let (_, held) = shut.entry(server.metadata.key()).or_insert((server, Vec::new()));
                held.push((&workload.meta.name, port));
            }
        }
    }
    Ok(shut.into_values().map(|(server, held)| finding(ctx, server, &held)).collect::<Vec<_>>().into())
}

/// Whether anybody is let in, the kubelet's probes aside.
fn admits_somebody(inbound: &Inbound<'_>) -> bool {
    let by_route = inbound.routes.iter().flat_map(|route| &route.authorizations);
    !inbound.authorizations.is_empty() || by_route.into_iter().any(|one| one.by != AuthorizedBy::Probe)
}

fn finding(ctx: &Context<'_>, server: &Server, held: &[(&str, u16)]) -> Finding {
    let meta = &server.metadata;
    let (first, port) = held.first().copied().unwrap_or_default();
    let more = and_more(held.len().saturating_sub(1));
    let said = server.spec.access_policy.clone().unwrap_or_else(|| "deny, as nothing is said".to_owned());
    // Who calls it so has most likely shut it on purpose.
    let meant = ["deny", "block"].iter().any(|word| meta.name.contains(word));
    let severity = if meant { Severity::Info } else { Severity::Error };
    about(ctx, Kind::Server, meta, format!("it takes port {port} of {first}{more}, and no authorization lets anybody in: every client is refused"))
        .severity(severity)
        .evidence(field(Kind::Server, meta, "spec.accessPolicy", said))
        .evidence(field(Kind::Server, meta, "authorizations", "none that counts, for it, its routes or its namespace"))
        .remedy(
            Remedy::new()
                .run(
                    StepKind::Command,
                    "Let everybody in for now, and have the proxies log who would be refused",
                    kubectl()
                        .namespace(&meta.namespace)
                        .words("patch servers.policy.linkerd.io")
                        .operand(&meta.name)
                        .words("--type=merge -p")
                        .arg(serde_json::json!({"spec": {"accessPolicy": "audit"}}).to_string()),
                )
                .step(
                    StepKind::Note,
                    "Write an AuthorizationPolicy for the clients that the log names, and take the access policy away again. \
                     Releases before 2.16 have no access policy: delete the Server until the policy is there",
                ),
        )
        .tie(about_server(&meta.namespace, &meta.name))
}
