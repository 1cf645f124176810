//! `cni-conf-twin`: a node has the same CNI configuration twice, as `.conf` and as `.conflist`.

use super::effect::{Runs, both, graded, owner};
use super::host::on_files;
use super::nodes::{Nodes, lacks};
use super::places::in_file;
use crate::checks::prelude::*;
use crate::command::program;
use crate::model::node::{ConfFile, Effective, NodeSnapshot};

const HIDDEN: &str = "two CNI files differ only in their suffix. The runtime loads the .conf, but \
                      linkerd-cni's entry is in the .conflist, so new meshed pods on the node get no traffic \
                      rules";
const TWINS: &str = "two CNI files differ only in their suffix: runtimes load the .conf, so the .conflist is \
                     never used while both exist";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        super::effect::doubt_unlisted(ctx, snapshot);
        let files = snapshot.loadable_files();
        let pairs = files.iter().filter_map(|conf| {
            let list = format!("{}list", conf.name);
            let list = files.iter().find(|file| file.name == list)?;
            conf.name.ends_with(".conf").then_some((*conf, *list))
        });
        for (conf, list) in pairs {
            findings.push(twins(ctx, &nodes, snapshot, conf, list));
        }
    }
    Ok(findings.into())
}

fn twins(ctx: &Context<'_>, nodes: &Nodes<'_>, snapshot: &NodeSnapshot, conf: &ConfFile, list: &ConfFile) -> Finding {
    let calls = |file: &ConfFile| match file.linkerd_entries() {
        Ok(entries) => Some(!entries.is_empty()),
        Err(why) => {
            lacks(ctx, Why::NotCaptured, format!("node {}: {why}", snapshot.node));
            None
        }
    };
    let (in_conf, in_list) = (calls(conf), calls(list));
    let loads = |effective: &Effective<'_>| effective.file().is_some_and(|file| file.path() == conf.path());
    let hides = in_list == Some(true) && in_conf == Some(false);
    let runs = match snapshot.effective(nodes.runtime(snapshot)) {
        effective if hides && loads(&effective) => Runs::Yes,
        Effective::Disagree { containerd, crio } if hides && (loads(&containerd) || loads(&crio)) => {
            Runs::Open(both(&containerd, &crio))
        }
        _ => Runs::No,
    };
    let message = if runs == Runs::No { TWINS } else { HIDDEN };
    let subject = Subject::Node { node: snapshot.node.clone(), file: Some(conf.path()), path: None, line: None };
    let finding = ctx
        .finding(subject, message)
        .parameter(conf.path())
        .evidence(evidence(snapshot, conf, in_conf))
        .evidence(evidence(snapshot, list, in_list))
        .remedy(remedy(ctx, nodes, snapshot, conf));
    graded(snapshot, &runs, finding)
}

fn evidence(snapshot: &NodeSnapshot, file: &ConfFile, calls: Option<bool>) -> Evidence {
    let entry = file.linkerd_entries().ok().and_then(|entries| entries.first());
    let path = entry.map(|entry| entry.json_path.clone());
    let said = match calls {
        Some(true) => "has a linkerd-cni entry",
        Some(false) => "has no linkerd-cni entry",
        None => "its content was not captured",
    };
    in_file(snapshot, &file.path(), path, entry.map(|entry| entry.place()), said)
}

fn remedy(ctx: &Context<'_>, nodes: &Nodes<'_>, snapshot: &NodeSnapshot, conf: &ConfFile) -> Remedy {
    let mut remedy = Remedy::new();
    if let Some(network) = owner(ctx, conf) {
        let text = match &network.conf_name {
            Some(setting) => setting.clone(),
            None => format!(
                "Make {} write a .conflist instead of the .conf, which it would otherwise write again",
                network.title
            ),
        };
        remedy = remedy.note(text);
    }
    let path = conf.path();
    let system = nodes.system(ctx, &snapshot.node);
    let remedy = on_files(
        remedy,
        system,
        &snapshot.node,
        &format!("Compare {path} with {path}list"),
        [program("cat").operand(path.as_str()).operand(format!("{path}list"))],
    );
    on_files(
        remedy,
        system,
        &snapshot.node,
        &format!(
            "If the .conflist has the same network, rename {path}: new pods then get the list's plugins, and \
             running pods keep their network"
        ),
        [program("mv").operand(path.as_str()).operand(format!("{path}.bak"))],
    )
}
