//! The way of the API server to the webhooks of the control plane.

use crate::checks::prelude::*;

/// The step that lets the API server reach Linkerd's webhooks, by the provider of the nodes. Reads `nodes`, if
/// available.
pub(super) fn let_api_server_in(ctx: &Context<'_>) -> &'static str {
    let provider =
        ctx.optional_list::<Node>().iter().map(|node| node.spec.provider_id.as_str()).find(|id| !id.is_empty());
    match provider.unwrap_or_default() {
        id if id.starts_with("gce://") => {
            "On GKE with private nodes, allow the control plane's address range to the nodes for TCP 8443 \
             (injector and validator), 9443 (policy validator) and 8089 (tap). Without a firewall rule, only \
             ports 443 and 10250 are open"
        }
        id if id.starts_with("aws://") => {
            "On EKS allow the cluster's security group to reach the nodes' at TCP 8443 (injector and \
             validator), 9443 (policy validator) and 8089 (tap). If the API server cannot reach pods \
             without the VPC CNI, run the injector on the node's network"
        }
        id if id.starts_with("azure://") => {
            "On AKS check the nodes' network security group and network policies. The API server connects \
             through konnectivity-agent in kube-system, which must reach TCP 8443 (injector and validator), \
             9443 (policy validator) and 8089 (tap)"
        }
        _ => {
            "Allow the API server to reach the control plane's pods at TCP 8443 (injector and validator), \
             9443 (policy validator) and 8089 (tap). Check firewalls and the network policies of the \
             control plane's namespace"
        }
    }
}
