//! `cni-interface-mode-leftover`: a configuration of early linkerd-cni in interface mode still exists.

use super::effect::{file_runs, graded};
use super::host::on_files;
use super::nodes::Nodes;
use super::places::in_file;
use super::plugin::PluginOn;
use super::remedy::advised_version;
use crate::checks::prelude::*;
use crate::command::program;
use crate::model::node::{ConfFile, NodeSnapshot};

/// The file that plugins before v1.2.0 wrote if they found no other configuration. Installers may convert it
/// into a list.
pub(super) const FILE: &str = "01-linkerd-cni.conf";

const LOADED: &str = "the runtime loads a configuration of early linkerd-cni: no plugin in it gives new pods \
                      a network, so none can start on the node";
const WAITING: &str = "a configuration of early linkerd-cni still exists: it sorts before most others, so \
                       the runtime may load it next, and it gives pods no network";
const INERT: &str = "a configuration of early linkerd-cni still exists under a name that no runtime loads";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        super::effect::doubt_unlisted(ctx, snapshot);
        let chain = nodes.loaded(ctx, snapshot);
        for file in snapshot.conf_files.iter().filter(|file| file.name.starts_with(FILE)) {
            if !file.is_loadable() {
                let finding = left(ctx, &nodes, snapshot, file, INERT);
                findings.push(finding.severity(Severity::Info).explains_nothing());
                continue;
            }
            let runs = file_runs(&chain, file);
            let message = if runs == super::effect::Runs::Yes { LOADED } else { WAITING };
            findings.push(graded(snapshot, &runs, left(ctx, &nodes, snapshot, file, message)));
        }
    }
    Ok(findings.into())
}

fn left(ctx: &Context<'_>, nodes: &Nodes<'_>, snapshot: &NodeSnapshot, file: &ConfFile, message: &str) -> Finding {
    let subject = Subject::Node { node: snapshot.node.clone(), file: Some(file.path()), path: None, line: None };
    let others = snapshot.loadable_files();
    let others: Vec<&str> =
        others.iter().map(|file| file.name.as_str()).filter(|name| !name.starts_with(FILE)).collect();
    let said = match others.as_slice() {
        [] => "the only configuration in the directory".to_owned(),
        others => format!("exists, with {}", others.join(", ")),
    };
    ctx.finding(subject, message)
        .parameter(file.path())
        .evidence(in_file(snapshot, &file.path(), None, None, said))
        .remedy(remedy(ctx, nodes, snapshot, file, others.is_empty()))
}

fn remedy(ctx: &Context<'_>, nodes: &Nodes<'_>, snapshot: &NodeSnapshot, file: &ConfFile, alone: bool) -> Remedy {
    let mut remedy = Remedy::new();
    if alone {
        remedy = remedy.command(
            "Find out why the base network has not written its configuration, to which linkerd-cni only adds \
             its entry",
            Command::about_node(
                &snapshot.node,
                [kubectl()
                    .words("get pods -A -o wide --field-selector")
                    .arg(Arg::known("spec.nodeName=").then(Arg::node()))],
            ),
        );
    }
    // An old version would write the file again.
    let installed = super::installers::installed(ctx);
    let plugin = PluginOn::on_node(ctx, &installed, &snapshot.node, Some(snapshot));
    let remedy = match plugin.all(|row| row.writes_own_config) {
        Some(true) => remedy.step(
            StepKind::Upgrade,
            format!(
                "Run a newer linkerd-cni first, {} or later: this version writes the file again",
                advised_version(ctx)
            ),
        ),
        Some(false) | None => remedy,
    };
    on_files(
        remedy,
        nodes.system(ctx, &snapshot.node),
        &snapshot.node,
        &format!("Delete {}", file.path()),
        [program("rm").operand(file.path())],
    )
}
