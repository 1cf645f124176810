//! `ingress-mode-external-name`: an ingress controller whose proxy runs in ingress mode serves an ExternalName Service.

use std::collections::BTreeMap;

use super::ingress::{Caller, Classes, in_ingress_mode};
use super::ingress_bypasses_routes::mode;
use super::ingress_entry::{Entry, entries};
use super::ingress_mode_opaque_port::requires_policies;
use crate::checks::control_plane::installation::of_control_plane;
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::skipped::{OUT, passes_by};
use crate::version::Contains;

/// The annotation with the ports that the proxy of a client does not see.
const SKIP: &str = OUT.annotation();

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.complete_list::<Pod>()?;
    let (version, seen) = of_control_plane(ctx)?;
    let known = ctx.knowledge.policy_controller();
    let reason = match known.external_policies.is_in(&version, ctx.knowledge) {
        Contains::Yes => Some(format!("the policy controller of {version} returns policies for external addresses")),
        Contains::Unknown => Some(format!("whether {version} returns policies for external addresses is not known")),
        Contains::No => None,
    };
    if let Some(reason) = reason {
        return Err(Unjudged::not_applicable(reason));
    }
    let callers: Vec<Caller<'_>> = in_ingress_mode(pods).filter(|caller| requires_policies(ctx, caller.pod)).collect();
    if callers.is_empty() {
        return Err(Unjudged::not_applicable("no known ingress controller has a proxy in ingress mode"));
    }
    let (entries, services) = (entries(ctx)?, ctx.complete_list::<Service>()?);
    let classes = Classes::new(ctx);
    let mut found: BTreeMap<(Subject, &str, Option<u16>), Finding> = BTreeMap::new();
    for entry in entries {
        let Some(caller) = callers.iter().find(|one| entry.is_served(&classes, one)) else { continue };
        let service = services.iter().find(|service| service.metadata.key() == entry.to());
        let Some(service) = service.filter(|service| is_external(service)) else { continue };
        let port = entry.number();
        if port.is_some_and(|port| passes_by(caller.pod, OUT, port)) {
            continue;
        }
        let key = (entry.subject(), service.metadata.name.as_str(), port);
        found.entry(key).or_insert_with(|| finding(ctx, &entry, (service, port), caller).evidence(seen.clone()));
    }
    Ok(found.into_values().collect())
}

/// Whether a Service is the name of a host that is not one of the cluster's Services.
fn is_external(service: &Service) -> bool {
    let name = service.spec.external_name.trim_end_matches('.');
    let is_service = name.ends_with(".svc") || name.contains(".svc.") || !name.contains('.');
    service.spec.kind == "ExternalName" && !is_service
}

fn finding(
    ctx: &Context<'_>,
    entry: &Entry<'_>,
    (service, port): (&Service, Option<u16>),
    caller: &Caller<'_>,
) -> Finding {
    let (namespace, name) = service.metadata.key();
    let message = format!(
        "ExternalName Service {name} leads out of the cluster. The proxy of the ingress controller runs in ingress \
         mode, and in this release it refuses connections to external addresses"
    );
    let first = ctx.knowledge.policy_controller().external_policies.0;
    let minor = ctx.knowledge.minors().first_with(first).map(|minor| format!(" ({minor})")).unwrap_or_default();
    let remedy = Remedy::new().step(
        StepKind::Upgrade,
        format!("Upgrade the control plane to {first}{minor} or newer, which returns policies for external addresses"),
    );
    let remedy = match port {
        Some(port) => skipped(ctx, remedy, caller, port),
        None => remedy,
    };
    let external = Evidence::field(
        Subject::object(Kind::Service, namespace, name),
        "spec.externalName",
        service.spec.external_name.as_str(),
    );
    // The addresses of the host may belong to the cluster's networks.
    ctx.finding(entry.subject(), message)
        .parameter(name)
        .likely()
        .evidence(entry.evidence())
        .evidence(external)
        .evidence(mode(caller))
        .remedy(remedy)
}

/// The step that excludes a port from the proxy of the controller.
fn skipped(ctx: &Context<'_>, remedy: Remedy, caller: &Caller<'_>, port: u16) -> Remedy {
    let owner = ctx.owners().owner(caller.pod);
    rewrite::extend_list(ctx, remedy, &owner, (SKIP, Some(caller.pod)), &port.to_string(), |list| {
        format!(
            "Or exclude the port from the proxy of {}, also for Services of the cluster: set {SKIP}: {list:?}",
            caller.of.name
        )
    })
}
