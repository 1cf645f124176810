//! `service-mirror-not-running`: a Link has no running controller, or several.

use super::links::{CLUSTER, Controllers, ask_controller, link_in, links, mirrors_of, subject, with_controller};
use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::injection::{Admission, INJECT};
use crate::objects::Link;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>()?;
    let links = links(ctx)?;
    let controllers = Controllers::new(ctx, deployments);
    let mut findings = Vec::new();
    for link in links {
        let all = controllers.of_link(link);
        let (near, far): (Vec<&Workload>, Vec<&Workload>) =
            all.iter().copied().partition(|one| one.metadata.namespace == link.metadata.namespace);
        match near.as_slice() {
            [] if !far.is_empty() => findings.push(elsewhere(ctx, link, &far, links)),
            [] => {
                ctx.complete_list::<Deployment>()?;
                findings.push(spared(none(ctx, link), ctx.within_grace(link.metadata.creation_timestamp)));
            }
            [one] if one.status.ready_replicas > 0 => {
                findings.extend(without_proxy(ctx, link, one));
            }
            [one] => {
                let is_new = ctx.within_grace(one.metadata.creation_timestamp);
                findings.push(spared(not_ready(ctx, link, one), is_new));
            }
            several => findings.push(too_many(ctx, link, several)),
        }
    }
    Ok(findings.into())
}

fn name(deployment: &Workload) -> String {
    format!("{}/{}", deployment.metadata.namespace, deployment.metadata.name)
}

/// The finding for a Link outside the namespace of its controllers, which watch Links only there.
fn elsewhere(ctx: &Context<'_>, link: &Link, controllers: &[&Workload], links: &[Link]) -> Finding {
    let cluster = &link.spec.target_cluster_name;
    let home = &controllers[0].metadata.namespace;
    let names: Vec<String> = controllers.iter().map(|controller| name(controller)).collect();
    let delete = |remedy: Remedy| {
        remedy.command(
            "Delete the Link that no controller reads",
            kubectl()
                .namespace(&link.metadata.namespace)
                .words("delete links.multicluster.linkerd.io")
                .operand(&link.metadata.name),
        )
    };
    let is_twin = |other: &Link| other.metadata.namespace == *home && other.spec.target_cluster_name == *cluster;
    let finding = |message: String| {
        ctx.finding(subject(link), message)
            .parameter("namespace")
            .evidence(Evidence::other(format!("Deployments with {CLUSTER}={cluster}"), names.join(", ")))
    };
    if links.iter().any(is_twin) {
        return finding(format!(
            "the link has no effect: its controller reads only Links in {home}, where another one leads to the same \
             cluster"
        ))
        .severity(Severity::Warning)
        .explains_nothing()
        .remedy(delete(Remedy::new()));
    }
    finding(format!(
        "the link is in another namespace than its controller, which reads only Links in {home}: no Service is \
         mirrored through it"
    ))
    .tie(mirrors_of(cluster))
    .remedy(delete(link_in(ctx, Remedy::new(), link, home)))
}

fn none(ctx: &Context<'_>, link: &Link) -> Finding {
    let cluster = &link.spec.target_cluster_name;
    ctx.finding(
        subject(link),
        "the link has no controller: no service of the other cluster is mirrored, and earlier mirror \
         services are not updated",
    )
    .parameter("none")
    .tie(mirrors_of(cluster))
    .evidence(Evidence::other("Deployments", format!("none has the label {CLUSTER}={cluster}")))
    .remedy(with_controller(ctx, Remedy::new(), link))
}

fn not_ready(ctx: &Context<'_>, link: &Link, controller: &Workload) -> Finding {
    let meta = &controller.metadata;
    let namespace = &meta.namespace;
    let cluster = &link.spec.target_cluster_name;
    ctx.finding(subject(link), "the controller of the link is not available: mirror services are not updated")
        .parameter("not-available")
        .tie(mirrors_of(cluster))
        .tie(Tie::Workload(Kind::Deployment.to_string(), namespace.to_string(), meta.name.clone()))
        .evidence(match controller.spec.replicas {
            Some(0) => Evidence::field(
                Subject::object(Kind::Deployment, namespace, &meta.name),
                "spec.replicas",
                "scaled to 0 replicas",
            ),
            _ => Evidence::field(
                Subject::object(Kind::Deployment, namespace, &meta.name),
                "status.readyReplicas",
                controller.status.ready_replicas.to_string(),
            ),
        })
        .remedy(
            Remedy::new()
                .command(
                    "Find out why it is not Running",
                    kubectl().namespace(namespace).words("describe pod").option("-l", format!("{CLUSTER}={cluster}")),
                )
                .command(
                    "Read its log",
                    kubectl()
                        .namespace(namespace)
                        .words("logs")
                        .operand(format!("deployment/{}", meta.name))
                        .words("--tail 30"),
                ),
        )
}

/// A finding about a controller that runs and has no proxy, because it requests none: its probes of the gateway have no
/// identity. Pods that request a proxy are a matter of injection.
fn without_proxy(ctx: &Context<'_>, link: &Link, controller: &Workload) -> Option<Finding> {
    let (namespace, cluster) = (&controller.metadata.namespace, &link.spec.target_cluster_name);
    let pods = ctx.or_note(ctx.partial_list::<Pod>()).filter(|_| link.has_gateway())?;
    let namespaces = ctx.or_note(ctx.partial_list::<Namespace>())?;
    let admission = Admission::new(namespaces, None, None);
    let is_own = |pod: &&Pod| {
        let meta = &pod.metadata;
        meta.namespace == *namespace
            && meta.label(CLUSTER) == Some(cluster.as_str())
            && ctx.owners().owner(pod).name == controller.metadata.name
            && !pod.is_finished()
            && meta.deletion_timestamp.is_none()
    };
    let pod = pods.iter().filter(is_own).find(|pod| pod.spec.proxy().is_none())?;
    if admission.request(namespace, &pod.metadata).is_some() {
        return None;
    }
    let owner = ctx.owners().owner(pod);
    let object = format!("Pod {namespace}/{}", pod.metadata.name);
    let act = format!("Mesh the controller: set {INJECT}: \"enabled\"");
    let annotation = pod.metadata.annotation(INJECT).unwrap_or("not set");
    Some(
        ctx.finding(
            subject(link),
            "the controller of the link has no linkerd-proxy, so its gateway probes have no identity. The gateway \
             counts as not alive, and mirror services get no endpoints",
        )
        .parameter("without-proxy")
        .tie(mirrors_of(cluster))
        .evidence(Evidence::field(&object, "spec.containers", "no linkerd-proxy"))
        .evidence(Evidence::field(object, format!("metadata.annotations[{INJECT}]"), annotation))
        // linkerd check requires only that it runs.
        .fails_rows([])
        .remedy(rewrite::meshed(ctx, Remedy::new(), &act, &owner, &[pod])),
    )
}

fn too_many(ctx: &Context<'_>, link: &Link, controllers: &[&Workload]) -> Finding {
    let names: Vec<String> = controllers.iter().map(|controller| name(controller)).collect();
    let cluster = &link.spec.target_cluster_name;
    ctx.finding(
        subject(link),
        "the link has several controllers: only the one that holds the lease mirrors, and a restart can \
         change which one",
    )
    .parameter("several")
    .evidence(Evidence::other(format!("Deployments with {CLUSTER}={cluster}"), names.join(", ")))
    .remedy(
        ask_controller(Remedy::new(), &link.metadata.namespace, cluster, ", to see which holds the lease")
            .note("Keep the one that the chart created, if any, and delete the others"),
    )
}
