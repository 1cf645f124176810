//! `cni-entry-simulate`: linkerd-cni only pretends to write traffic rules.

use super::effect::{Runs, entries};
use super::installers::not_redirected;
use super::mode;
use super::nodes::{Nodes, unused};
use super::places::{entry_subject, in_file};
use super::remedy::{VERIFY, restarted, target};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::model::cni::template_setting;

const MESSAGE: &str = "linkerd-cni runs in simulate mode: it does not write the traffic rules of new meshed pods, so they fail in the network validator or bypass their proxy";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    if let Some(verdict) = unused(ctx) {
        return Ok(verdict);
    }
    let nodes = Nodes::perhaps_with_files(ctx);
    let config = mode::config(ctx);
    let template = config.filter(|config| template_setting(config, "simulate") == Some(true.into()));
    let remedy = || {
        let namespace = target(ctx).namespace;
        let remedy = Remedy::verified_by(VERIFY);
        let remedy = match template {
            Some(_) => remedy.run(
                StepKind::Command,
                "Set simulate to false in the template, which installers copy to every node",
                format!("kubectl -n {namespace} get configmap linkerd-cni-config -o yaml | sed 's/\"simulate\": *true/\"simulate\": false/' | kubectl apply -f -"),
            ),
            None => remedy,
        };
        restarted(ctx, remedy).run(
            StepKind::Command,
            "Delete the meshed pods that started without rules",
            "kubectl get pods -A -l linkerd.io/control-plane-ns -o wide",
        )
    };
    let mut findings = Vec::new();
    if let Some(config) = template {
        let meta = &config.metadata;
        let object = format!("ConfigMap {}/{}", meta.namespace, meta.name);
        findings.push(
            ctx.finding(Subject::object("ConfigMap", &meta.namespace, &meta.name), MESSAGE)
                .evidence(Evidence::field(
                    object,
                    "data.cni_network_config: linkerd.simulate",
                    "true, expected false",
                ))
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
            let finding = ctx
                .finding(entry_subject(snapshot, found.file, found.entry), MESSAGE)
                .evidence(seen)
                .remedy(remedy());
            let finding = match found.runs {
                Runs::Yes => finding.tie(not_redirected(&snapshot.node)),
                Runs::No | Runs::Open(_) => finding,
            };
            findings.push(found.graded(snapshot, finding));
        }
    }
    Ok(findings.into())
}
