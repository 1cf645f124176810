//! `ingress-refused`: the policy of what an Ingress leads to refuses the ingress controller that serves it.

use std::collections::BTreeMap;

use super::behind::behind;
use super::ingress::{Caller, Classes, callers, service_of};
use super::survey::{field, survey};
use crate::checks::{Context, Judgement, Unjudged};
use crate::command::meshdoctor;
use crate::finding::{Evidence, Finding, Remedy, StepKind};
use crate::model::owners::Owner;
use crate::model::policy::{Client, Entry, Inbound, TakenBy};
use crate::objects::{Ingress, Kind, Pod, Service};

/// What an Ingress leads to and is refused by.
struct Refused<'a> {
    ingress: &'a Ingress,
    path: &'a str,
    inbound: Inbound<'a>,
    callers: Vec<&'a Caller<'a>>,
    pods: Vec<&'a Pod>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let callers = callers(ctx, survey, ctx.every::<Pod>()?);
    if callers.is_empty() {
        return Err(Unjudged::not_applicable("there is no ingress controller that is known"));
    }
    let (ingresses, services) = (ctx.every::<Ingress>()?, ctx.every::<Service>()?);
    let classes = Classes::of(ctx);
    let owners = ctx.owners();
    let mut refused: BTreeMap<(Owner, u16), Refused<'_>> = BTreeMap::new();
    for ingress in ingresses.iter().filter(|ingress| ctx.judges(&ingress.metadata.namespace)) {
        let serving: Vec<&Caller<'_>> =
            callers.iter().filter(|one| classes.serves(one.of, ingress)).collect();
        if serving.is_empty() {
            continue;
        }
        for (path, to) in ingress.paths() {
            let namespace = &ingress.metadata.namespace;
            let Some((service, port)) = service_of(services, namespace, to) else { continue };
            for (pod, workload, number) in behind(survey, service, port) {
                let inbound = survey.index.inbound(workload, number);
                if serving.iter().any(|caller| admitted(&inbound, caller)) {
                    continue;
                }
                let callers = serving.clone();
                let one = refused.entry((owners.of(pod), number)).or_insert_with(|| Refused {
                    ingress,
                    path,
                    inbound,
                    callers,
                    pods: Vec::new(),
                });
                if !one.pods.iter().any(|known| known.metadata.name == pod.metadata.name) {
                    one.pods.push(pod);
                }
            }
        }
    }
    Ok(refused.iter().map(|((owner, port), one)| finding(ctx, owner, *port, one)).collect::<Vec<_>>().into())
}

/// Whether anything lets a pod of a controller in, whatever it asks for.
fn admitted(inbound: &Inbound<'_>, caller: &Caller<'_>) -> bool {
    let client = Client { identity: caller.identity.as_deref(), address: caller.pod.status.pod_ip };
    inbound.connect(client) == Entry::Admitted
}

fn finding(ctx: &Context<'_>, owner: &Owner, port: u16, one: &Refused<'_>) -> Finding {
    let names = one.pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let meta = &one.ingress.metadata;
    let by = match one.inbound.taken_by {
        TakenBy::Server(server) => field(Kind::Server, &server.metadata, "takes the port", port.to_string()),
        TakenBy::Default(policy) => Evidence::other("default inbound policy", policy.as_str()),
    };
    let asking = one.callers.iter().take(2).map(|caller| {
        let said = caller.identity.clone().unwrap_or_else(|| "no proxy, so no identity".to_owned());
        let meta = &caller.pod.metadata;
        Evidence::field(format!("Pod {}/{}", meta.namespace, meta.name), "identity in the mesh", said)
    });
    let meshed = one.callers.iter().any(|caller| caller.identity.is_some());
    let act = if meshed {
        "Add an AuthorizationPolicy for the port that requires the service account of the ingress controller"
    } else {
        "Mesh the ingress controller and let its service account in; or let its addresses in, with an AuthorizationPolicy that requires a \
         NetworkAuthentication"
    };
    let target = one.pods.first().map_or_else(String::new, |pod| pod.metadata.name.clone());
    ctx.finding(
        owner.subject(names),
        "the policy of a port that an Ingress leads to refuses the ingress controller: whoever comes from outside gets a 403",
    )
    .parameter(port.to_string())
    .likely()
    .evidence(Evidence::field(format!("Ingress {}/{}", meta.namespace, meta.name), "spec.rules[].http.paths[].path", one.path))
    .evidence(by)
    .evidences(asking)
    .remedy(
        Remedy::new()
            .run(
                StepKind::Command,
                "See who is let in by what",
                meshdoctor().words("policy").operand(format!("{}/{target}:{port}", owner.namespace)),
            )
            .step(StepKind::Note, act),
    )
}
