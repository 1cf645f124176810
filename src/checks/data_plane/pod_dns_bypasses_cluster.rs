//! `pod-dns-bypasses-cluster`: the DNS settings of a pod leave out the cluster's DNS, so its proxy cannot find the
//! control plane.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::checks::reported::meshed;
use crate::checks::rewrite;
use crate::objects::container::PROXY_CONTAINER;

/// The namespace and the label of the cluster's DNS Service, whether CoreDNS or kube-dns.
const DNS: (&str, &str, &str) = ("kube-system", "k8s-app", "kube-dns");
/// The policies that leave out the cluster's DNS.
const POLICIES: [&str; 2] = ["None", "Default"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.complete_list::<Service>();
    let pods = ctx.partial_list::<Pod>()?;
    let candidates: Vec<&Pod> = meshed(ctx)?
        .filter(|pod| POLICIES.contains(&pod.spec.dns_policy.as_str()))
        .filter(|pod| pod.container_status(PROXY_CONTAINER).is_some_and(|status| !status.ready))
        .collect();
    let services = services?;
    // A server inside of the cluster may forward to its DNS.
    let is_inside = |address: IpAddr| {
        let is_link_local = match address {
            IpAddr::V4(address) => address.is_link_local(),
            IpAddr::V6(address) => address.is_unicast_link_local(),
        };
        is_link_local
            || services.iter().any(|service| service.spec.has_address(address))
            || pods.iter().any(|pod| pod.has_address(address))
    };
    let mut groups: BTreeMap<Owner, Vec<&Pod>> = BTreeMap::new();
    for pod in candidates {
        let servers = &pod.spec.dns_config.nameservers;
        if !servers.iter().filter_map(|server| server.parse().ok()).any(is_inside) {
            groups.entry(ctx.owners().owner(pod)).or_default().push(pod);
        }
    }
    let is_dns =
        |service: &&Service| service.metadata.namespace == DNS.0 && service.metadata.label(DNS.1) == Some(DNS.2);
    let dns = services.iter().find(is_dns);
    Ok(groups.iter().map(|(owner, pods)| finding(ctx, owner, pods, dns)).collect())
}

fn finding(ctx: &Context<'_>, owner: &Owner, pods: &[&Pod], dns: Option<&Service>) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let spec = &pods[0].spec;
    let object = format!("Pod {}/{}", owner.namespace, names[0]);
    let servers: Vec<&str> = spec.dns_config.nameservers.iter().map(|server| server.as_str()).collect();
    let message = "the pod's DNS settings leave out the cluster's DNS: the proxy cannot resolve the names \
        of the control plane, gets no certificate, and does not become ready";
    let served = dns.and_then(|service| {
        let address = (*service.spec.cluster_ip)?;
        Some(Evidence::field(service.metadata.described("Service"), "spec.clusterIP", address.to_string()))
    });
    let act = "Set dnsPolicy: ClusterFirst in the pod template (also in its source manifest)";
    let remedy = match owner.restartable() {
        Some(_) => rewrite::template_with(ctx, Remedy::new(), StepKind::Command, act, owner, |workload| {
            let patch = serde_json::json!({"spec": {"template": {"spec": {"dnsPolicy": "ClusterFirst"}}}});
            let call = kubectl().namespace(&owner.namespace).words("patch").operand(workload);
            call.words("--type=merge").option("-p", patch.to_string())
        }),
        None => Remedy::new().note("Set dnsPolicy: ClusterFirst in the template of the pods"),
    };
    let remedy = remedy.note(
        "If the pod needs other DNS servers, let the cluster's DNS forward their domains, or add their addresses to \
         dnsConfig.nameservers",
    );
    let finding = ctx
        .finding(owner.subject(names), message)
        .likely()
        .evidence(Evidence::field(&object, "spec.dnsPolicy", spec.dns_policy.as_str()))
        .evidences(
            (!servers.is_empty()).then(|| Evidence::field(&object, "spec.dnsConfig.nameservers", servers.join(", "))),
        )
        .evidences(served)
        .evidence(Evidence::field(&object, "status.containerStatuses[linkerd-proxy].ready", "false"))
        .remedy(remedy);
    spared(finding, ctx.are_starting(pods))
}
