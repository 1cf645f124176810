//! `profile-unused`: a ServiceProfile whose name does not belong to a Service, so no proxy requests it.

use std::collections::HashSet;

use super::backends::Key;
use super::profile_shadows_route::of_service;
use super::survey::{about, defined, field, on, survey};
use crate::checks::{Context, Judgement};
use crate::finding::{Remedy, StepKind};
use crate::objects::{Kind, Service, ServiceProfile};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let services: HashSet<Key<'_>> =
        ctx.every::<Service>()?.iter().map(|service| service.metadata.key()).collect();
    let domain = &survey.index.controller.cluster_domain;
    let mut findings = Vec::new();
    for profile in
        defined::<ServiceProfile>(ctx)?.iter().filter(|profile| ctx.judges(&profile.metadata.namespace))
    {
        let meta = &profile.metadata;
        let name = meta.name.as_str();
        let message = match of_service(name, domain) {
            Some(key) if services.contains(&key) => continue,
            Some((namespace, service)) => {
                format!("Service {namespace}/{service} does not exist, so no proxy requests this profile")
            }
            None if !name.contains(".svc") => match shortened(name, &meta.namespace, &services) {
                Some((namespace, service)) => format!(
                    "it is named after Service {namespace}/{service}, but proxies request profiles by the \
                     full name {service}.{namespace}.svc.{domain}. It has no effect"
                ),
                // Hosts outside of the cluster can have profiles too.
                None => continue,
            },
            None => format!(
                "its name is not the full name of a Service, NAME.NAMESPACE.svc.{domain}, by which proxies \
                 request profiles. It has no effect"
            ),
        };
        findings.push(
            about(ctx, Kind::ServiceProfile, meta, message)
                .evidence(field(Kind::ServiceProfile, meta, "metadata.name", name))
                .remedy(
                    Remedy::new()
                        .step(
                            StepKind::Note,
                            format!("Create it again with the name SERVICE.NAMESPACE.svc.{domain}"),
                        )
                        .run(
                            StepKind::Command,
                            "Then delete this one",
                            on("delete", Kind::ServiceProfile, meta),
                        ),
                ),
        );
    }
    Ok(findings.into())
}

/// The Service of a name without the domain: `web.shop`, or `web` in its own namespace.
fn shortened<'a>(name: &'a str, home: &'a str, services: &HashSet<Key<'a>>) -> Option<Key<'a>> {
    let (service, namespace) = name.split_once('.').unwrap_or((name, home));
    services.get(&(namespace, service)).copied()
}
