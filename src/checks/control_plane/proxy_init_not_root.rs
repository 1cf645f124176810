//! `proxy-init-not-root`: nodes run Docker, which requires linkerd-init to run as root, but it does not.

use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::prelude::*;
use crate::checks::restart;
use crate::checks::upgrade::{self, Options};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = ctx.partial_list::<Node>();
    let values = values(ctx)?;
    if values.bool("proxyInit.runAsRoot") == Some(true) {
        nodes?;
        return Ok(Verdict::fine());
    }
    // With linkerd-cni no pod has linkerd-init, and Linkerd does not run on Windows.
    let by_cni = values.bool("cniEnabled") == Some(true);
    let harmless = |node: &Node| by_cni || node.status.node_info.operating_system == "windows";
    let namespace = &ctx.namespaces().control_plane;
    let findings = nodes?.iter().filter(|node| node.runs_docker()).map(|node| {
        let remedy = Remedy::new();
        let act = match harmless(node) {
            true => "To make linkerd check pass, run linkerd-init as root",
            false => "Run linkerd-init as root",
        };
        let options = Options::none().set("proxyInit.runAsRoot", "true");
        let remedy = upgrade::with_values(ctx, remedy, act, options);
        let remedy = match harmless(node) {
            true => remedy,
            false => restart::meshed_on(
                ctx,
                remedy.note(
                    "Or move the node to containerd, and keep the setting of \
                linkerd-init",
                ),
                restart::Needs::NewProxy,
                "Restart the workloads with meshed pods on the node",
                &node.metadata.name,
            ),
        };
        let info = &node.status.node_info;
        let message = match harmless(node) {
            true => {
                "the node runs Docker, but its pods do not have linkerd-init: only linkerd check requires it \
                to run as root"
            }
            false => {
                "the node runs Docker, and linkerd-init does not run as root: it cannot write the rules that \
                redirect traffic to the proxy, so meshed pods do not start"
            }
        };
        let finding = ctx.finding(Subject::node(&node.metadata.name), message);
        let finding = match harmless(node) {
            true => finding.severity(Severity::Info).rows_as(Severity::Error).parameter("harmless"),
            false => finding,
        };
        finding
            .evidence(Evidence::field(
                format!("Node {}", node.metadata.name),
                "status.nodeInfo.containerRuntimeVersion",
                &info.container_runtime_version,
            ))
            .evidence(Evidence::field(
                format!("ConfigMap {namespace}/{CONFIG}"),
                "data.values: proxyInit.runAsRoot",
                "false",
            ))
            .remedy(remedy)
    });
    Ok(findings.collect())
}
