//! `cni-token-revoked`: a node's loaded entry authenticates with the token of a deleted pod.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::add_failures::{by_node, hinted_add_failures, on_node, quoted};
use super::nodes::{Nodes, lacks};
use super::places::{entry_evidence, entry_subject, in_file, not_looked_at};
use super::purge::purge_entry;
use super::{cni_add_unauthorized, token};
use crate::checks::prelude::*;
use crate::model::cni::{self, Installed};
use crate::model::node::{ChainEntry, NodeSnapshot};
use crate::model::sandbox::AddFailure;
use crate::objects::{ControllerRevision, DaemonSet, ServiceAccount, Uid};
use crate::token::Claims;

/// Maximum time between the collection of files and pods, unless a failed pod proves that the token is dead.
/// A pod that was replaced in between would look deleted.
const SAME_MOMENT: SignedDuration = SignedDuration::from_mins(10);

const MESSAGE: &str = "new pods on the node cannot start: the linkerd-cni entry that its runtime loads uses \
                       the token of a deleted pod, which the API server rejects";

const OF_ACCOUNT: &str = "new pods on the node cannot start: the linkerd-cni entry that its runtime loads \
                          uses the token of a deleted service account, which the API server rejects";
const INFERRED: &str = "new pods on the node cannot start: the API server rejects linkerd-cni's token there, \
                        most likely that of a deleted pod";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let nodes = Nodes::perhaps_with_files(ctx);
    let adds = hinted_add_failures(ctx);
    let refused = by_node(adds.iter().filter(|add| add.is(cni_add_unauthorized::SIGNATURE)));
    let scan = TokenScan {
        ctx,
        pods,
        every_pod: ctx.complete_list::<Pod>().is_ok(),
        installed: Installed::new(pods, ctx.optional_list::<DaemonSet>()),
        history: broken_clean_ups(ctx),
        refused,
        nodes,
    };
    let mut findings = Vec::new();
    for snapshot in scan.nodes.snapshots() {
        for running in scan.nodes.chain(ctx, snapshot).entries {
            findings.extend(scan.on_node(snapshot, running));
        }
    }
    findings.extend(scan.inferred(pods));
    Ok(findings.into())
}

struct TokenScan<'c, 'a, 'r> {
    ctx: &'c Context<'a>,
    nodes: Nodes<'a>,
    /// The existing pods.
    pods: &'a [Pod],
    /// Whether the list of pods is complete.
    every_pod: bool,
    installed: Installed<'a>,
    history: Vec<Evidence>,
    refused: BTreeMap<&'a str, Vec<&'r AddFailure<'a>>>,
}

impl TokenScan<'_, '_, '_> {
    /// Whether a pod with that uid exists.
    fn is_alive(&self, uid: &Uid) -> bool {
        self.pods.iter().any(|pod| pod.metadata.uid == *uid)
    }

    fn on_node(&self, snapshot: &NodeSnapshot, running: ChainEntry<'_>) -> Option<Finding> {
        let (facts, claims) = token::token(self.ctx, snapshot, running)?;
        let (message, said, parameter) = self.revoked(snapshot, claims)?;
        let node = &snapshot.node;
        let refused = self.refused.get(node.as_str()).map_or(&[][..], Vec::as_slice);
        if refused.is_empty() && !self.same_moment(node, snapshot.meta.collected_at) {
            let part = format!("node {node}: files from about the time at which pods were listed");
            lacks(self.ctx, Why::NotCaptured, part);
            return None;
        }
        let known = Some((running.file, running.entry));
        let mut finding = self
            .ctx
            .finding(entry_subject(snapshot, running.file, running.entry), message)
            .parameter(running.file.path())
            .evidence(in_file(snapshot, &facts.path, None, None, said))
            .evidence(entry_evidence(snapshot, running))
            .evidences(quoted(refused))
            .timeline(token::moments(self.ctx, (snapshot, &facts.path), claims, refused))
            .evidences(self.history.iter().cloned())
            .remedy(purge_entry(self.ctx, node, self.nodes.system(self.ctx, node), known, refused))
            .tie(on_node(cni_add_unauthorized::SIGNATURE, node));
        finding.parameters.extend(parameter);
        let certain = !refused.is_empty() || snapshot.meta.collected_at.is_some();
        Some(finding.observed_if(certain))
    }

    /// Why the API server rejects a token: the message, the evidence, and a parameter that distinguishes it
    /// from the usual cause.
    fn revoked(&self, snapshot: &NodeSnapshot, claims: &Claims) -> Option<(&'static str, String, Option<String>)> {
        let gone = claims.pod_uid.as_deref().filter(|uid| self.every_pod && !self.is_alive(&Uid::from(*uid)));
        if let Some(uid) = gone {
            let pod = claims.pod_name.as_deref().unwrap_or("of linkerd-cni");
            return Some((MESSAGE, format!("token of pod {pod} (uid {}), which is deleted", short(uid)), None));
        }
        let uid = claims.sa_uid.as_deref()?;
        let named = ("linkerd-cni", self.ctx.namespaces().cni.as_str());
        let ours = claims.service_account().is_none_or(|(namespace, name)| (name, namespace) == named);
        let account = account(self.ctx);
        let (name, namespace) = named;
        let said = match account {
            _ if !ours => None,
            Ok(Some(account)) if account.metadata.uid == Uid::from(uid) => return None,
            Ok(Some(account)) => Some(format!(
                "token of ServiceAccount {namespace}/{name} (uid {}), which was recreated (uid {})",
                short(uid),
                short(&account.metadata.uid.to_string())
            )),
            // A missing account may have been omitted from the list: only one with another uid is proof.
            Ok(None) | Err(_) => None,
        };
        if said.is_none() && !claims.is_bound_to_pod() {
            // Only a change of its account invalidates such a token.
            let part = format!("node {}: whether the account of its token still exists", snapshot.node);
            lacks(self.ctx, Why::NotCaptured, part);
        }
        Some((OF_ACCOUNT, said?, Some("service-account".to_owned())))
    }

    /// Whether the files were collected at about the time at which pods were listed: an installer that
    /// started later has written another token since.
    fn same_moment(&self, node: &str, taken: Option<Timestamp>) -> bool {
        let installer = self.installed.pod_on(node);
        match taken {
            None => installer.is_none(),
            Some(taken) => {
                let started = installer.and_then(|pod| pod.status.start_time.get());
                self.ctx.now().duration_since(taken).abs() <= SAME_MOMENT
                    && started.is_none_or(|started| started <= taken)
            }
        }
    }

    /// Nodes without files, by pods that fail there: the installer itself is one of them, or an earlier
    /// installer is known to leave its entry and a dead token behind.
    fn inferred(&self, pods: &[Pod]) -> Vec<Finding> {
        let installers: BTreeSet<(&str, &str)> = pods
            .iter()
            .filter(|pod| cni::is_installer_pod(pod))
            .map(|pod| (pod.metadata.namespace.as_str(), pod.metadata.name.as_str()))
            .collect();
        let reported = |adds: &[&AddFailure<'_>]| {
            !self.history.is_empty()
                || adds.iter().any(|add| installers.contains(&(add.namespace.as_ref(), add.pod.as_ref())))
        };
        self.refused
            .iter()
            .filter(|(node, adds)| !self.nodes.has_files(node) && reported(adds))
            .map(|(node, adds)| {
                let system = self.nodes.system(self.ctx, node);
                self.ctx
                    .finding(Subject::node(node), INFERRED)
                    .likely()
                    .evidences(quoted(adds))
                    .timeline(token::refusals(adds))
                    .evidences(self.history.iter().cloned())
                    .evidence(not_looked_at(node))
                    .remedy(purge_entry(self.ctx, node, system, None, adds))
                    .tie(on_node(cni_add_unauthorized::SIGNATURE, node))
            })
            .collect()
    }
}

/// The account of linkerd-cni, by its name in charts.
fn account<'a>(ctx: &Context<'a>) -> Result<Option<&'a ServiceAccount>, Missing> {
    ctx.object::<ServiceAccount>(Scope::Cni, "linkerd-cni")
}

/// The first part of a uid.
fn short(uid: &str) -> String {
    let short: String = uid.chars().take(8).collect();
    let cut = if short.len() < uid.len() { "…" } else { "" };
    format!("{short}{cut}")
}

/// Installers of linkerd-cni that ran here and whose clean-up fails before it removes entry and token.
fn broken_clean_ups(ctx: &Context<'_>) -> Vec<Evidence> {
    let revisions = ctx.optional_list::<ControllerRevision>().iter();
    revisions
        .filter_map(|revision| {
            let version = cni::version_of(&revision.data.spec.template)?;
            let row = ctx.knowledge.cni_plugin().for_version(&version)?;
            let meta = &revision.metadata;
            row.clean_up_broken.then(|| {
                Evidence::field(
                    meta.described("ControllerRevision"),
                    "data.spec.template",
                    format!(
                        "revision {} was {version}, which leaves its entry and a dead token behind when it \
                         stops",
                        revision.revision
                    ),
                )
            })
        })
        .collect()
}
