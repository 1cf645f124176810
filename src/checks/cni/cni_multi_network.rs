//! `cni-multi-network`: containerd loads more than one CNI configuration, each as a separate network.

use super::host::on_host;
use super::nodes::{Nodes, silent};
use super::places::in_file;
use crate::checks::prelude::*;
use crate::command::Line;
use crate::model::node::{Effective, NodeSnapshot, RuntimeKind};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        match (nodes.runtime(snapshot), snapshot.max_conf_num()) {
            // Only containerd has the setting.
            (RuntimeKind::Crio | RuntimeKind::Dockershim, _) | (_, Some(1)) => {}
            (_, Some(most)) => findings.push(several(ctx, &nodes, snapshot, most)),
            (RuntimeKind::Containerd | RuntimeKind::Unknown, None) => {
                silent(ctx, snapshot, "cni/dirs.json", "containerd's max_conf_num");
            }
        }
    }
    Ok(findings.into())
}

fn several(ctx: &Context<'_>, nodes: &Nodes<'_>, snapshot: &NodeSnapshot, most: u64) -> Finding {
    let loaded = match snapshot.effective(RuntimeKind::Containerd) {
        Effective::File(loaded) => [loaded.file].into_iter().chain(loaded.others).collect(),
        Effective::Broken { .. } | Effective::None { .. } | Effective::Disagree { .. } | Effective::Unknown { .. } => {
            Vec::new()
        }
    };
    let quoted = loaded.iter().map(|file| {
        let calls = file.linkerd_entries().is_ok_and(|entries| !entries.is_empty());
        let said = if calls { "is loaded, with a linkerd-cni entry" } else { "is loaded" };
        in_file(snapshot, &file.path(), None, None, said)
    });
    let said =
        if most == 0 { "0, which means every file; expected 1".to_owned() } else { format!("{most}, expected 1") };
    let remedy = on_host(
        Remedy::new(),
        nodes.system(ctx, &snapshot.node),
        &snapshot.node,
        "Unless several networks are intended, set max_conf_num to 1 in the cni section of containerd's \
         configuration (or of the node's image) and restart containerd. Running pods are not affected",
        [
            Line::set("F", Arg::known("/etc/containerd/config.toml")),
            Line::shell(
                "grep -n max_conf_num \"$F\" && sed -i \"s/max_conf_num = .*/max_conf_num = 1/\" \"$F\" && \
                 systemctl restart containerd",
            ),
        ],
    );
    ctx.finding(
        Subject::node(&snapshot.node),
        "containerd loads several CNI configurations on the node, each as a separate network. linkerd-cni \
         runs once for each file with its entry, and the mesh does not expect a pod's additional interfaces",
    )
    .parameter(most.to_string())
    .evidence(Evidence::other(format!("node {}", snapshot.node), format!("max_conf_num: {said}")))
    .evidences(quoted)
    .remedy(remedy)
}
