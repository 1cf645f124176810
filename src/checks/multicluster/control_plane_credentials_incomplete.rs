//! `control-plane-credentials-incomplete`: the control plane cannot read the endpoints of services in another
//! cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::links::{field, link_again, links, no_links, subject};
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::finding::Restarts;
use crate::item::usual_credentials;
use crate::objects::{Link, Secret};

/// The type of a Secret with the kubeconfig of another cluster.
const TYPE: &str = "mirror.linkerd.io/remote-kubeconfig";
/// The label with the name of the cluster.
const CLUSTER: &str = "multicluster.linkerd.io/cluster-name";
/// The other annotations that destination needs for that cluster.
const DOMAINS: [&str; 2] = ["multicluster.linkerd.io/trust-domain", "multicluster.linkerd.io/cluster-domain"];
/// Maximum number of quoted Services.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.partial_list::<Service>();
    let links = links(ctx)?;
    if links.is_empty() {
        return Err(no_links());
    }
    let mut wanted: BTreeMap<&str, Vec<&Service>> = BTreeMap::new();
    for service in services? {
        let clusters: BTreeSet<&str> = service.remote_clusters().collect();
        for cluster in clusters {
            wanted.entry(cluster).or_default().push(service);
        }
    }
    if wanted.is_empty() {
        ctx.complete_list::<Service>()?;
        return Err(Unjudged::not_applicable("no Service takes its endpoints from another cluster"));
    }
    let mut findings = Vec::new();
    for (cluster, services) in wanted {
        // A missing Link has a check of its own.
        let Some(link) = links.iter().find(|link| link.spec.target_cluster_name == cluster) else { continue };
        if link.spec.cluster_credentials_secret.is_empty() {
            continue;
        }
        // Destination finds the Secret by its type and label; here it is read under two names.
        let name = link.spec.cluster_credentials_secret.as_str();
        let usual = usual_credentials(link);
        let mut read = vec![(name, ctx.link_secret_copy(link))];
        if usual != name {
            read.push((&usual, ctx.usual_link_secret_copy(link)));
        }
        let is_whole = |read: &Result<Option<&Secret>, Missing>| {
            read.as_ref().is_ok_and(|secret| secret.is_some_and(|secret| lacks("", secret, cluster).is_empty()))
        };
        if read.iter().any(|(_, read)| is_whole(read)) {
            continue;
        }
        let mut evidence = Vec::new();
        let (mut any, mut unknown) = (false, false);
        for (name, read) in read {
            match read {
                Err(missing) => {
                    unknown = true;
                    ctx.gap(missing);
                }
                Ok(None) => evidence.push(Evidence::other(copy(ctx, name), "does not exist")),
                Ok(Some(secret)) => {
                    any = true;
                    evidence.extend(lacks(&copy(ctx, name), secret, cluster));
                }
            }
        }
        if !unknown {
            let finding = finding(ctx, link, &services, (!any, evidence));
            let remedy = link_again(ctx, listed(ctx, link), link);
            // Another Secret may have the type and the label.
            findings.push(match any {
                true => finding.remedy(restarted(ctx, remedy)),
                false => finding.remedy(remedy).likely(),
            });
        }
    }
    Ok(findings.into())
}

fn copy(ctx: &Context<'_>, name: &str) -> String {
    format!("{} {}/{name}", Kind::Secret, ctx.namespaces().control_plane)
}

/// Missing parts of a Secret, without which destination ignores it.
fn lacks(object: &str, secret: &Secret, cluster: &str) -> Vec<Evidence> {
    let mut found = Vec::new();
    if secret.kind != TYPE {
        found.push(Evidence::field(object, "type", format!("{}, and not {TYPE}", describe(Some(&secret.kind)))));
    }
    let label = secret.metadata.label(CLUSTER);
    if label != Some(cluster) {
        found.push(Evidence::field(object, format!("metadata.labels[{CLUSTER}]"), describe(label)));
    }
    for key in DOMAINS {
        let value = secret.metadata.annotation(key);
        if value.is_none() {
            found.push(Evidence::field(object, format!("metadata.annotations[{key}]"), describe(value)));
        }
    }
    found
}

fn describe(value: Option<&str>) -> &str {
    value.filter(|value| !value.is_empty()).unwrap_or("not set")
}

fn finding(
    ctx: &Context<'_>,
    link: &Link,
    services: &[&Service],
    (is_missing, lacks): (bool, impl IntoIterator<Item = Evidence>),
) -> Finding {
    let fault = if is_missing { "does not exist" } else { "lacks what destination needs" };
    let names = services.iter().map(|service| format!("{}/{}", service.metadata.namespace, service.metadata.name));
    ctx.finding(
        subject(link),
        format!(
            "the control plane's Secret for the other cluster {fault}. Services that take their endpoints from that \
             cluster have none, and calls to them fail"
        ),
    )
    .evidence(field(link, "spec.targetClusterName", &link.spec.target_cluster_name))
    .evidences(lacks)
    .evidence(Evidence::other("Services with endpoints from there", some(names, QUOTED)))
}

/// The step that lists the Secrets that destination reads for a cluster.
fn listed(ctx: &Context<'_>, link: &Link) -> Remedy {
    Remedy::new().command(
        "List the Secrets that destination reads for that cluster, under any name. One with the annotations \
         trust-domain and cluster-domain is enough",
        kubectl()
            .namespace(&ctx.namespaces().control_plane)
            .words("get secrets")
            .option("--field-selector", format!("type={TYPE}"))
            .option("-l", format!("{CLUSTER}={}", link.spec.target_cluster_name)),
    )
}

/// The restart of destination, which reads new Secrets but no changed ones.
fn restarted(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let restart =
        kubectl().namespace(&ctx.namespaces().control_plane).words("rollout restart deployment/linkerd-destination");
    remedy
        .command("Restart destination, which does not read a Secret again when it changes", restart)
        .restarting(Restarts::ControlPlane)
}
