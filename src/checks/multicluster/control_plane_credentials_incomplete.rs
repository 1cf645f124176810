//! `control-plane-credentials-incomplete`: the control plane cannot read the endpoints of services in another
//! cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::links::{field, link_again, links, no_links, subject};
use crate::checks::words::some;
use crate::checks::{Context, Judgement, Unjudged};
use crate::finding::{Evidence, Finding, Remedy};
use crate::item::Kind;
use crate::objects::{Link, Secret, Service};

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
        match ctx.link_secret_copy(link) {
            Err(missing) => ctx.gap(missing),
            // Another Secret may have the label: it is only found by this name.
            Ok(None) => {
                let lacks = [Evidence::other(copy(ctx, link), "does not exist")];
                findings.push(finding(ctx, link, &services, lacks).likely());
            }
            Ok(Some(secret)) => {
                let lacks = lacks(&copy(ctx, link), secret, cluster);
                if !lacks.is_empty() {
                    findings.push(finding(ctx, link, &services, lacks));
                }
            }
        }
    }
    Ok(findings.into())
}

fn copy(ctx: &Context<'_>, link: &Link) -> String {
    format!("{} {}/{}", Kind::Secret, ctx.namespaces().control_plane, link.spec.cluster_credentials_secret)
}

/// Missing parts of a Secret, without which destination ignores it.
fn lacks(object: &str, secret: &Secret, cluster: &str) -> Vec<Evidence> {
    let mut found = Vec::new();
    if secret.kind != TYPE {
        found.push(Evidence::field(
            object,
            "type",
            format!("{}, and not {TYPE}", describe(Some(&secret.kind))),
        ));
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
    lacks: impl IntoIterator<Item = Evidence>,
) -> Finding {
    let names =
        services.iter().map(|service| format!("{}/{}", service.metadata.namespace, service.metadata.name));
    ctx.finding(
        subject(link),
        "the control plane's Secret for the other cluster is missing or incomplete for destination. \
         Services that take their endpoints from that cluster have none, and calls to them fail",
    )
    .evidence(field(link, "spec.targetClusterName", &link.spec.target_cluster_name))
    .evidences(lacks)
    .evidence(Evidence::other("Services with endpoints from there", some(names, QUOTED)))
    .remedy(link_again(ctx, Remedy::new(), link))
}
