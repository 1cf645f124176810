//! `profile-unused`: a ServiceProfile whose name does not belong to a Service, so no proxy requests it.

use std::collections::HashSet;

use super::backends::Key;
use super::profile_shadows_route::of_service;
use super::survey::{about, defined, field, on, survey};
use crate::checks::{Context, Judgement, Unjudged};
use crate::fetched::Why;
use crate::finding::{Finding, Remedy, StepKind};
use crate::objects::{Kind, Meta, Service, ServiceProfile};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (domain, services) = match survey(ctx) {
        // Neither the Services nor the cluster's domain are known, but some names fit no Service of any cluster.
        Err(Unjudged::Missing(missing)) if missing.why == Why::NotInManifests => {
            (None, ctx.seen::<Service>()?)
        }
        survey => (Some(survey?.index.controller.cluster_domain.as_str()), ctx.every::<Service>()?),
    };
    let services: HashSet<Key<'_>> = services.iter().map(|service| service.metadata.key()).collect();
    let profiles = match domain {
        Some(_) => defined::<ServiceProfile>(ctx)?,
        None => ctx.seen::<ServiceProfile>()?,
    };
    let judged = profiles.iter().filter(|profile| ctx.judges(&profile.metadata.namespace));
    let findings = judged.filter_map(|profile| {
        let meta = &profile.metadata;
        let message = unused(meta, domain, &services)?;
        Some(finding(ctx, meta, domain, message))
    });
    Ok(findings.collect::<Vec<_>>().into())
}

/// Why no proxy requests a profile; `None` if one may. Without a domain, only what holds in every cluster.
fn unused(meta: &Meta, domain: Option<&str>, services: &HashSet<Key<'_>>) -> Option<String> {
    let name = meta.name.as_str();
    let full = domain.unwrap_or("DOMAIN");
    if let Some((namespace, service)) = domain.and_then(|domain| of_service(name, domain)) {
        let exists = services.contains(&(namespace, service));
        return (!exists).then(|| {
            format!("Service {namespace}/{service} does not exist, so no proxy requests this profile")
        });
    }
    if !name.contains(".svc")
        && let Some((namespace, service)) = shortened(name, &meta.namespace, services)
    {
        return Some(format!(
            "The profile has no effect: proxies request the profile of Service {namespace}/{service} by the full name \
             {service}.{namespace}.svc.{full}"
        ));
    }
    let is_foreign = name.contains(".svc") && (domain.is_some() || name.ends_with(".svc"));
    let is_one_word = !name.contains('.');
    if !is_foreign && !is_one_word {
        // Hosts outside of the cluster can have profiles too.
        return None;
    }
    Some(format!(
        "The profile has no effect: proxies request profiles by the full name of a Service, NAME.NAMESPACE.svc.{full}"
    ))
}

fn finding(ctx: &Context<'_>, meta: &Meta, domain: Option<&str>, message: String) -> Finding {
    let domain = domain.unwrap_or("DOMAIN");
    about(ctx, Kind::ServiceProfile, meta, message)
        .evidence(field(Kind::ServiceProfile, meta, "metadata.name", meta.name.as_str()))
        .remedy(
            Remedy::new()
                .step(
                    StepKind::Note,
                    format!("Create the profile again with the name SERVICE.NAMESPACE.svc.{domain}"),
                )
                .run(
                    StepKind::Command,
                    format!("Then delete ServiceProfile {}", meta.name),
                    on("delete", Kind::ServiceProfile, meta),
                ),
        )
}

/// The Service of a name without the domain: `web.shop`, or `web` in its own namespace.
fn shortened<'a>(name: &'a str, home: &'a str, services: &HashSet<Key<'a>>) -> Option<Key<'a>> {
    let (service, namespace) = name.split_once('.').unwrap_or((name, home));
    services.get(&(namespace, service)).copied()
}
