//! `cni-installer-failing`: linkerd-cni's installer exits on a node instead of installing the plugin.

use std::collections::BTreeMap;

use super::chart::ChartValue;
use super::cni_inotify_limit;
use super::installers::installers;
use super::logs::{PodLine, pod_lines, unmatched_logs};
use super::remedy;
use crate::checks::prelude::*;
use crate::command::meshdoctor;
use crate::knowledge::{Signature, SignatureScope};
use crate::model::cni;
use crate::model::owners::Owners;
use crate::objects::ContainerStatus;

/// Signatures that are not failures, or that have their own check.
const NOT_FAILURES: [&str; 2] = ["waiting-for-base-network", cni_inotify_limit::SIGNATURE];
/// A file that two writers rewrite in turn: once or twice is normal.
const REWRITTEN: &str = "rewritten-again";
/// It may not write to a directory of the node.
const NOT_WRITABLE: &str = "directory-not-writable";
/// The clean-up of a deleted pod, whose log is about the past.
const CLEAN_UP: &str = "clean-up-died";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    unmatched_logs(ctx);
    let installing: Vec<&Pod> = pods.iter().filter(|pod| cni::is_installer_pod(pod)).collect();
    let installed = installers(ctx).is_ok_and(|sets| !sets.is_empty());
    if installing.is_empty() && !installed && ctx.complete_list::<Pod>().is_ok() {
        return Err(Unjudged::not_applicable("linkerd-cni is not installed"));
    }
    // An installer that runs without effect shows only in its log.
    _ = ctx.or_note(ctx.logs());
    let mut said: BTreeMap<(&str, &str), Vec<PodLine<'_>>> = BTreeMap::new();
    for line in pod_lines(ctx, SignatureScope::InstallerLog) {
        said.entry((line.namespace, line.pod)).or_default().push(line);
    }
    let findings = installing.into_iter().filter_map(|pod| {
        let key = (pod.metadata.namespace.as_str(), pod.metadata.name.as_str());
        failing(ctx, pod, said.get(&key).map_or(&[][..], Vec::as_slice))
    });
    Ok(findings.collect())
}

fn failing(ctx: &Context<'_>, pod: &Pod, said: &[PodLine<'_>]) -> Option<Finding> {
    let meta = &pod.metadata;
    let object = meta.described("Pod");
    let status = pod.container_status(cni::INSTALLER).and_then(ends);
    let line = worst(said, ctx.count_of("rewrites"));
    let base = |message: String| {
        let finding = ctx
            .finding(Owners::default().owner(pod).subject(vec![meta.name.clone()]), message)
            .tie(Tie::Node(pod.node_name.to_string()));
        let deaf = said.iter().any(|line| line.signature.id == cni_inotify_limit::SIGNATURE);
        if deaf { finding.tie(cni_inotify_limit::ends(&pod.node_name)) } else { finding }
    };
    let state = status
        .map(|said| Evidence::field(object.clone(), format!("status.containerStatuses[{}]", cni::INSTALLER), said));
    let remedy = Remedy::verified_by(remedy::rolled_out(ctx));
    match (line, state) {
        (None, None) => None,
        (None, Some(state)) => {
            Some(
                base(
                    "linkerd-cni's installer exits on the node: its entry, token and binary are not renewed, \
                  and a new node does not get them"
                        .to_owned(),
                )
                .evidence(state)
                .remedy(remedy.command(
                    "Check its log from before the exit with meshdoctor, which knows its errors",
                    read_log(meta),
                )),
            )
        }
        (Some(line), state) => {
            // The steps that restart the DaemonSet wait for it.
            let waits = line.signature.restart || line.signature.id == NOT_WRITABLE;
            let remedy = if waits { Remedy::new() } else { remedy };
            let finding = base(message(line.signature))
                .parameter(line.signature.id.clone())
                .evidence(Evidence::other(format!("{object}, log"), line.line.trim()))
                .remedy(add_error_steps(ctx, remedy, line.signature));
            // A log without a container that exits may be about the past.
            Some(match state {
                Some(state) => finding.evidence(state),
                None => finding.severity(Severity::Warning).likely(),
            })
        }
    }
}

/// The remedy of an error of the installer. SELinux is the usual reason why it may not write.
fn add_error_steps(ctx: &Context<'_>, remedy: Remedy, signature: &Signature) -> Remedy {
    if signature.id != NOT_WRITABLE {
        return remedy::of_signature(ctx, remedy, signature);
    }
    let words = "Let the installer run privileged, which SELinux on the node requires";
    let privileged = [ChartValue::new("privileged", "true")];
    remedy::changed(ctx, remedy, words, None, &privileged).note(
        "If the directory is on a read-only file system, set destCNIBinDir to a writable one that the \
         runtime reads",
    )
}

/// Commands that pass its log from before the exit to meshdoctor.
fn read_log(meta: &Meta) -> Command {
    let log = kubectl()
        .namespace(&meta.namespace)
        .words("logs")
        .operand(&meta.name)
        .words("-c install-cni --previous")
        .to_file("installer.txt");
    let check =
        meshdoctor().words("check --live --logs").arg(format!("{}/{}=installer.txt", meta.namespace, meta.name));
    log.and(check).into()
}

fn message(signature: &Signature) -> String {
    format!("linkerd-cni's installer fails on the node: {}", signature.cause)
}

/// The most important line: the last failure, or a file that is rewritten repeatedly.
fn worst<'l, 'a>(said: &'l [PodLine<'a>], often: usize) -> Option<&'l PodLine<'a>> {
    let rewritten = said.iter().filter(|line| line.signature.id == REWRITTEN).count();
    said.iter().rev().find(|line| match line.signature.id.as_str() {
        REWRITTEN => rewritten >= often,
        CLEAN_UP => false,
        id => !NOT_FAILURES.contains(&id),
    })
}

/// Describes the status of an installer that keeps exiting; `None` while it runs and did not just restart.
fn ends(status: &ContainerStatus) -> Option<String> {
    let before = status.last_state().terminated().or(status.state.terminated());
    let code = before.map(|ended| format!(", last exit {}", ended.exit_code)).unwrap_or_default();
    match status.state.waiting() {
        Some(waiting) if waiting.reason == "CrashLoopBackOff" => {
            Some(format!("CrashLoopBackOff, {} restarts{code}", status.restart_count))
        }
        _ => status.state.terminated().map(|ended| format!("ended with {}", ended.exit_code)),
    }
}
