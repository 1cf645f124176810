//! `hook-refused`: policy denies the HTTP request of a lifecycle hook.

use std::collections::BTreeMap;

use super::authorize;
use super::survey::{rule_of, survey};
use crate::checks::prelude::*;
use crate::model::policy::{Client, Entry, Inbound, Probed, Protocol, TakenBy, http_probe};
use crate::model::skipped::{IN, skipped};
use crate::objects::Container;

/// The request of a hook.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    /// `postStart` or `preStop`.
    hook: &'static str,
    container: String,
    port: u16,
    path: String,
}

/// Pods of one workload whose hook is denied.
struct DeniedHook<'a> {
    inbound: Inbound<'a>,
    entry: Entry,
    pods: Vec<&'a Pod>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let owners = ctx.owners();
    let mut refused: BTreeMap<(Owner, Request), DeniedHook<'_>> = BTreeMap::new();
    for group in survey.replicas() {
        for (pod, workload) in group.iter().filter(|(pod, _)| ctx.judges(&pod.metadata.namespace)) {
            let skips = skipped(pod, IN, ctx.cni_skips());
            let requests = pod.spec.all_containers().flat_map(requests);
            for request in requests.filter(|one| !skips.as_ref().is_some_and(|skips| skips.holds(one.port))) {
                let inbound = survey.index.inbound(workload, request.port);
                let entry = inbound.get(&request.path, Client::default());
                if entry != Entry::Admitted {
                    let refused = refused.entry((owners.owner(pod), request));
                    refused.or_insert(DeniedHook { inbound, entry, pods: Vec::new() }).pods.push(pod);
                }
            }
        }
    }
    let findings = refused.into_iter().map(|((owner, request), refused)| finding(ctx, &owner, &request, &refused));
    Ok(findings.collect())
}

/// The HTTP requests of a container's hooks. Those of HTTPS are not policy for a path.
fn requests(container: &Container) -> Vec<Request> {
    let Some(lifecycle) = &container.lifecycle else { return Vec::new() };
    let hooks = [("postStart", &lifecycle.post_start), ("preStop", &lifecycle.pre_stop)];
    let request = |(hook, handler): (&'static str, &Option<crate::objects::container::Hook>)| {
        let (port, probed) = http_probe(container, handler.as_ref()?.http_get.as_ref()?)?;
        let Probed::Http(path, _) = probed else { return None };
        Some(Request { hook, container: container.name.to_string(), port, path })
    };
    hooks.into_iter().filter_map(request).collect()
}

fn finding(ctx: &Context<'_>, owner: &Owner, request: &Request, refused: &DeniedHook<'_>) -> Finding {
    let Request { hook, container, port, path } = request;
    let DeniedHook { inbound, entry, pods } = refused;
    let status = match entry {
        Entry::NoRoute => "gets status 404",
        Entry::Refused | Entry::Admitted => match inbound.protocol {
            Protocol::Opaque | Protocol::Tls => "is denied",
            _ => "gets status 403",
        },
    };
    let message = format!(
        "The kubelet's {hook} request GET {path} on port {port} {status}: policy allows only probes automatically. The \
         kubelet ignores the status, so the hook silently does nothing"
    );
    let is_routed = inbound.routes.iter().any(|route| route.route.is_some());
    let remedy = match inbound.taken_by {
        TakenBy::Server(server) if is_routed => Remedy::new().command(
            format!(
                "Add an HTTPRoute to Server {} for {path}, with an AuthorizationPolicy for it that requires a \
                 NetworkAuthentication of the nodes' addresses",
                server.metadata.name
            ),
            Command::lines(authorize::probe(&server.metadata, path)).whole(),
        ),
        TakenBy::Server(_) | TakenBy::Default(_) => Remedy::new().note(
            "Use an exec hook instead, which the proxy does not see, or authorize the nodes' addresses on the port \
             with a NetworkAuthentication",
        ),
    };
    let names = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let first = pods.first().map(|pod| pod.described());
    ctx.finding(owner.subject(names), message)
        .parameter(format!("{hook} {port}{path}"))
        .evidence(Evidence::field(
            first.unwrap_or_default(),
            format!("spec.containers[{container}].lifecycle.{hook}"),
            format!("httpGet {path}, port {port}"),
        ))
        .evidence(rule_of(inbound, *port))
        .remedy(remedy)
}
