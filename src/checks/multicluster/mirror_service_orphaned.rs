//! `mirror-service-orphaned`: a mirror service without a Link for its cluster, or a second mirror of the same
//! service.

use std::collections::{BTreeMap, BTreeSet};

use super::links::{CLUSTER, links, mirrors};
use crate::checks::prelude::*;
use crate::objects::Link;
use crate::objects::service::{LOCAL_DISCOVERY, REMOTE_DISCOVERY, REMOTE_SERVICE};

/// The annotation that names the service in the other cluster.
const REMOTE_NAME: &str = "mirror.linkerd.io/remote-svc-fq-name";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.partial_list::<Service>()?;
    let known: BTreeSet<&str> = links(ctx)?.iter().map(|link| link.spec.target_cluster_name.as_str()).collect();
    let mirrors: Vec<(&Service, &str)> =
        mirrors(services).filter_map(|service| Some((service, service.metadata.label(CLUSTER)?))).collect();
    let is_other = |service: &Service| service.is_federated() || service.lacks_remote_service();
    if mirrors.is_empty() && !services.iter().any(is_other) {
        return Err(Unjudged::not_applicable("the cluster has no mirror services"));
    }
    let orphans: Vec<&(&Service, &str)> = mirrors.iter().filter(|(_, cluster)| !known.contains(cluster)).collect();
    if !orphans.is_empty() {
        ctx.complete_list::<Link>()?;
    }
    let findings = orphans.into_iter().map(|(service, cluster)| {
        let meta = &service.metadata;
        let subject = Subject::object(Kind::Service, &meta.namespace, &meta.name);
        let object = subject.to_string();
        ctx.finding(
            subject,
            "the service mirrors a cluster that no Link names. No controller updates it, and its clients \
             get stale endpoints or none",
        )
        .severity(Severity::Warning)
        .evidence(Evidence::field(object, format!("metadata.labels[{CLUSTER}]"), *cluster))
        .remedy(Remedy::new().note("If the cluster should stay linked, create the link again").command(
            "Otherwise delete the mirror service once it has no clients",
            kubectl().namespace(&meta.namespace).words("delete service").operand(&meta.name),
        ))
    });
    let mut findings: Vec<Finding> = findings.chain(doubles(ctx, services, &known)).collect();
    findings.extend(memberless(ctx, services, &known)?);
    let nameless = services.iter().filter(|service| service.lacks_remote_service());
    findings.extend(nameless.map(|service| without_remote_service(ctx, service)));
    Ok(findings.into())
}

/// Federated services without a member that can exist: none of this cluster, and none of a linked cluster.
fn memberless(ctx: &Context<'_>, services: &[Service], clusters: &BTreeSet<&str>) -> Result<Vec<Finding>, Missing> {
    let known: BTreeSet<(&str, &str)> = services.iter().map(|service| service.metadata.key()).collect();
    let lost: Vec<(&Service, Vec<&str>)> = services
        .iter()
        .filter(|service| service.is_federated())
        .filter_map(|service| {
            let exists =
                service.local_member().is_some_and(|name| known.contains(&(service.metadata.namespace.as_str(), name)));
            let linked = |member: &str| {
                member.split_once('@').is_some_and(|(name, cluster)| !name.is_empty() && clusters.contains(cluster))
            };
            let members: Vec<&str> = service.local_member().into_iter().chain(service.remote_members()).collect();
            (!exists && !service.remote_members().any(linked)).then_some((service, members))
        })
        .collect();
    if !lost.is_empty() {
        ctx.complete_list::<Link>()?;
        ctx.complete_list::<Service>()?;
    }
    Ok(lost.into_iter().map(|(service, members)| without_member(ctx, service, &members)).collect())
}

fn without_member(ctx: &Context<'_>, service: &Service, members: &[&str]) -> Finding {
    let meta = &service.metadata;
    let subject = Subject::object(Kind::Service, &meta.namespace, &meta.name);
    let object = subject.to_string();
    let keys = [LOCAL_DISCOVERY, REMOTE_DISCOVERY];
    let seen = keys.into_iter().filter_map(|key| {
        Some(Evidence::field(object.as_str(), format!("metadata.annotations[{key}]"), meta.annotation(key)?))
    });
    ctx.finding(
        subject,
        format!(
            "no member of the federated service exists: {} is neither a Service of its namespace nor NAME@CLUSTER \
             of a \
             Link. Calls to it fail",
            members.join(", ")
        ),
    )
    .severity(Severity::Warning)
    .parameter("members")
    .fails_rows([])
    .evidences(seen)
    .remedy(Remedy::new().step(
        StepKind::Note,
        "Create the missing Service or Link, and label the Services of all clusters with \
         mirror.linkerd.io/federated=member: their controllers then write the members",
    ))
}

/// A mirror whose endpoints destination cannot look up in the other cluster.
fn without_remote_service(ctx: &Context<'_>, service: &Service) -> Finding {
    let meta = &service.metadata;
    let subject = Subject::object(Kind::Service, &meta.namespace, &meta.name);
    let object = subject.to_string();
    let cluster = meta.label(REMOTE_DISCOVERY).unwrap_or_default();
    let of_annotation = meta.annotation(REMOTE_NAME).and_then(|name| name.split('.').next());
    let name = of_annotation.or_else(|| meta.name.strip_suffix(cluster)?.strip_suffix('-'));
    let text = "Set the label to the name of the Service in the other cluster";
    let remedy = match name.filter(|name| !name.is_empty()) {
        Some(name) => Remedy::new().command(
            text,
            kubectl()
                .namespace(&meta.namespace)
                .words("label service")
                .operand(&meta.name)
                .operand(format!("{REMOTE_SERVICE}={name}")),
        ),
        None => Remedy::new().note(text),
    };
    ctx.finding(
        subject,
        format!(
            "the mirror has remote discovery and no label {REMOTE_SERVICE}, so destination rejects its lookups and \
             every call to it fails"
        ),
    )
    .parameter("remote-service")
    .fails_rows([])
    .evidence(Evidence::field(object.as_str(), format!("metadata.labels[{REMOTE_DISCOVERY}]"), cluster))
    .evidence(Evidence::field(object, format!("metadata.labels[{REMOTE_SERVICE}]"), "missing"))
    .remedy(remedy)
}

/// Mirrors in one namespace of the same service of the same cluster: the controller keeps one of them.
fn doubles(ctx: &Context<'_>, services: &[Service], clusters: &BTreeSet<&str>) -> Vec<Finding> {
    let mut of: BTreeMap<(&str, &str, &str), Vec<&Service>> = BTreeMap::new();
    for service in mirrors(services).filter(|service| !service.is_federated()) {
        let meta = &service.metadata;
        let cluster = meta.label(CLUSTER).filter(|cluster| clusters.contains(cluster));
        if let (Some(cluster), Some(name)) = (cluster, meta.annotation(REMOTE_NAME)) {
            of.entry((cluster, name, &meta.namespace)).or_default().push(service);
        }
    }
    let several = of.into_iter().filter(|(_, mirrors)| mirrors.len() > 1);
    let findings = several.flat_map(|((cluster, name, _), mirrors)| {
        let kept = format!("{}-{cluster}", name.split('.').next().unwrap_or(name));
        let is_kept = |service: &&&Service| service.metadata.name == kept;
        let left: Vec<&Service> = match mirrors.iter().any(|service| is_kept(&service)) {
            true => mirrors.iter().filter(|service| !is_kept(service)).copied().collect(),
            false => Vec::new(),
        };
        left.into_iter().map(move |service| double(ctx, service, cluster, name, &kept.clone()))
    });
    findings.collect()
}

fn double(ctx: &Context<'_>, service: &Service, cluster: &str, name: &str, kept: &str) -> Finding {
    let meta = &service.metadata;
    let seen = |of: &str| {
        let object = Subject::object(Kind::Service, &meta.namespace, of).to_string();
        Evidence::field(object, format!("metadata.annotations[{REMOTE_NAME}]"), name)
    };
    ctx.finding(
        Subject::object(Kind::Service, &meta.namespace, &meta.name),
        format!(
            "The Service mirrors a service of {cluster}, as {kept} does. The Link's controller updates only \
             {kept}, so the endpoints of the other become stale"
        ),
    )
    .severity(Severity::Warning)
    .likely()
    .parameter("twice")
    .evidence(seen(&meta.name))
    .evidence(seen(kept))
    .remedy(Remedy::new().note(format!("Change its clients to call {kept}")).command(
        "Delete this one once it has no clients",
        kubectl().namespace(&meta.namespace).words("delete service").operand(&meta.name),
    ))
}
