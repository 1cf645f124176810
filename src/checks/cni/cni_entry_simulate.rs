//! `cni-entry-simulate`: linkerd-cni only simulates traffic rules.

use super::config_map;
use super::effect::{Runs, entries};
use super::installers::not_redirected;
use super::nodes::Nodes;
use super::places::{entry_subject, in_file};
use super::pods::meshed_replaced;
use super::remedy::restarted;
use super::target::target;
use crate::checks::prelude::*;
use crate::command::program;
use crate::model::cni::template_setting;

const MESSAGE: &str = "linkerd-cni runs in simulate mode: it does not write the traffic rules of new meshed \
                       pods, so they fail in the network validator or bypass their proxy";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::perhaps_with_files(ctx);
    let config = config_map::config(ctx);
    let template = config.filter(|config| template_setting(config, "simulate") == Some(true.into()));
    let remedy = || {
        let remedy = if template.is_some() { real(ctx) } else { Remedy::new() };
        let words = "Restart the meshed workloads whose pods started without rules";
        meshed_replaced(ctx, restarted(ctx, remedy), words, &[])
    };
    let mut findings = Vec::new();
    if let Some(config) = template {
        let meta = &config.metadata;
        let object = meta.described("ConfigMap");
        findings.push(
            ctx.finding(Subject::object("ConfigMap", &meta.namespace, &meta.name), MESSAGE)
                .evidence(Evidence::field(object, "data.cni_network_config: linkerd.simulate", "true, expected false"))
                .remedy(remedy()),
        );
    }
    for snapshot in nodes.snapshots() {
        for found in entries(ctx, &nodes, snapshot) {
            let field = &found.entry.simulate;
            if field.value() != Some(&true) {
                continue;
            }
            let path = Some(found.entry.path_of("linkerd.simulate"));
            let seen = in_file(snapshot, &found.file.path(), path, field.place(), "true, expected false");
            let finding =
                ctx.finding(entry_subject(snapshot, found.file, found.entry), MESSAGE).evidence(seen).remedy(remedy());
            let finding = match found.runs {
                Runs::Yes => finding.tie(not_redirected(&snapshot.node)),
                Runs::No | Runs::Open(_) => finding,
            };
            findings.push(found.graded(snapshot, finding));
        }
    }
    Ok(findings.into())
}

/// Makes installers write an entry without simulate mode.
fn real(ctx: &Context<'_>) -> Remedy {
    let target = target(ctx);
    let words = "Set simulate to false in the template, which installers copy to every node";
    if let Some(in_git) = target.managed_by.and_then(|by| by.in_git()) {
        return Remedy::new().step(StepKind::ChartValue, format!("{words}; {in_git}"));
    }
    let config = kubectl().namespace(target.namespace).words("get configmap linkerd-cni-config -o yaml");
    let edited = config.pipe(program("sed").arg("s/\"simulate\": *true/\"simulate\": false/"));
    Remedy::new().command(words, edited.pipe(kubectl().words("apply -f -")))
}
