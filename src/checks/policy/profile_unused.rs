//! `profile-unused`: a ServiceProfile whose name does not belong to a Service, so no proxy requests it.

use std::collections::{BTreeSet, HashMap};

use super::backends::ServiceKey;
use super::profile_shadows_route::of_service;
use super::survey::{about, defined, field, on, survey};
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::model::injection::INJECT;
use crate::model::policy::profile_pattern_fault;
use crate::objects::ServiceProfile;
use crate::objects::service::EXPORTED;

/// Maximum number of quoted routes.
const QUOTED: usize = 3;
/// The beginning of a marker of the sanitizer.
const REDACTED: &str = "REDACTED(len=";

/// Services by namespace and name.
type Services<'a> = HashMap<ServiceKey<'a>, &'a Service>;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (domain, services) = match survey(ctx) {
        // Neither the Services nor the cluster's domain are known, but some names fit no Service of any cluster.
        Err(Unjudged::Missing(missing)) if missing.why == Why::NotInManifests => (None, ctx.partial_list::<Service>()?),
        survey => (Some(survey?.index.controller.cluster_domain.as_str()), ctx.complete_list::<Service>()?),
    };
    let services: Services<'_> = services.iter().map(|service| (service.metadata.key(), service)).collect();
    let profiles = match domain {
        Some(_) => defined::<ServiceProfile>(ctx)?,
        None => ctx.partial_list::<ServiceProfile>()?,
    };
    // In ingress mode, a proxy requests the profile of a name, also that of a headless Service.
    let pods = if domain.is_some() { ctx.optional_list::<Pod>() } else { &[] };
    let by_name = pods.iter().any(|pod| pod.metadata.annotation(INJECT) == Some("ingress"));
    let judged = || profiles.iter().filter(|profile| ctx.judges(&profile.metadata.namespace));
    let findings = judged().filter_map(|profile| {
        let meta = &profile.metadata;
        let message = unused(meta, domain, &services);
        let headless = || domain.filter(|_| !by_name).and_then(|domain| of_headless(profile, domain, &services));
        match message {
            Some(message) => Some(finding(ctx, meta, domain, message)),
            None => headless().map(|service| without_address(ctx, meta, service)),
        }
    });
    let unread = judged().filter_map(|profile| unread_routes(ctx, profile));
    Ok(findings.chain(unread).collect())
}

/// A finding about the routes of a profile with a regular expression that proxies cannot read.
fn unread_routes(ctx: &Context<'_>, profile: &ServiceProfile) -> Option<Finding> {
    let meta = &profile.metadata;
    let mut faults = Vec::new();
    for (at, route) in profile.spec.routes.iter().enumerate() {
        let patterns = route.condition.patterns(&format!("spec.routes[{at}].condition"));
        let invalid = patterns.into_iter().filter(|(_, text)| profile_pattern_fault(text).is_err());
        faults.extend(invalid.map(|(path, text)| (route.name.as_str(), path, text)));
    }
    let (redacted, faults): (Vec<_>, Vec<_>) = faults.into_iter().partition(|(_, _, text)| text.contains(REDACTED));
    if let Some((_, path, _)) = redacted.first() {
        let why = Why::NotJudged { message: "a part of it is redacted".to_owned() };
        let part = format!("{path} of {}/{}", meta.namespace, meta.name);
        ctx.gap(ctx.missing(Item::List(Kind::ServiceProfile), why, part));
    }
    let names: BTreeSet<&str> = faults.iter().map(|(name, ..)| *name).collect();
    (!faults.is_empty()).then(|| {
        let message = format!(
            "Proxies ignore these routes of the profile, and with them their timeouts and retries: {}. A pathRegex is \
             not a regular expression",
            some(names, QUOTED)
        );
        let evidence = faults.iter().map(|(_, path, text)| field(Kind::ServiceProfile, meta, path, *text));
        about(ctx, Kind::ServiceProfile, meta, message)
            .parameter("routes")
            .evidences(evidence)
            .remedy(Remedy::new().command("Correct the regular expression", on("edit", Kind::ServiceProfile, meta)))
    })
}

/// Why no proxy requests a profile; `None` if one may. Without a domain, only what holds in every cluster.
fn unused(meta: &Meta, domain: Option<&str>, services: &Services<'_>) -> Option<String> {
    let name = meta.name.as_str();
    let full = domain.unwrap_or("DOMAIN");
    if let Some((namespace, service)) = domain.and_then(|domain| of_service(name, domain)) {
        let exists = services.contains_key(&(namespace, service));
        return (!exists)
            .then(|| format!("Service {namespace}/{service} does not exist, so no proxy requests this profile"));
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
                .note(format!("Create the profile again with the name SERVICE.NAMESPACE.svc.{domain}"))
                .command(format!("Then delete ServiceProfile {}", meta.name), on("delete", Kind::ServiceProfile, meta)),
        )
}

/// The headless Service for which a profile sets what the proxies of clients would do. The proxies of servers request
/// profiles by the host of a request, for metrics of routes.
fn of_headless<'a>(profile: &ServiceProfile, domain: &str, services: &Services<'a>) -> Option<&'a Service> {
    let is_of_clients = !profile.spec.dst_overrides.is_empty()
        || profile.spec.routes.iter().any(|route| route.is_retryable || !route.timeout.is_empty());
    let name = of_service(&profile.metadata.name, domain).filter(|_| is_of_clients)?;
    let service = services.get(&name).copied()?;
    // The multicluster gateway requests the profile by its name.
    let is_exported = service.metadata.label(EXPORTED).is_some();
    (service.spec.cluster_ip.headless && !is_exported).then_some(service)
}

/// A finding about the profile of a headless Service.
fn without_address(ctx: &Context<'_>, meta: &Meta, service: &Service) -> Finding {
    let (namespace, name) = service.metadata.key();
    let message = format!(
        "Service {namespace}/{name} is headless: clients connect to the addresses of its pods, which have no profile \
         of a Service. Its retries, timeouts and overrides have no effect"
    );
    about(ctx, Kind::ServiceProfile, meta, message)
        .evidence(field(Kind::Service, &service.metadata, "spec.clusterIP", "None"))
        .evidence(field(Kind::ServiceProfile, meta, "metadata.name", meta.name.as_str()))
        .remedy(
            Remedy::new()
                .step(
                    StepKind::Note,
                    "For clients that need no single pod, create a Service with a ClusterIP for the same pods",
                )
                .step(StepKind::Note, "Let these clients call that Service")
                .step(
                    StepKind::Note,
                    "Create the \
                        profile with the name of that Service",
                )
                .run(
                    StepKind::Command,
                    format!("Then delete ServiceProfile {}", meta.name),
                    on("delete", Kind::ServiceProfile, meta),
                ),
        )
}

/// The Service of a name without the domain: `web.shop`, or `web` in its own namespace.
fn shortened<'a>(name: &'a str, home: &'a str, services: &Services<'a>) -> Option<ServiceKey<'a>> {
    let (service, namespace) = name.split_once('.').unwrap_or((name, home));
    services.get_key_value(&(namespace, service)).map(|(key, _)| *key)
}
