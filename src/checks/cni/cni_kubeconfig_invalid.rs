//! `cni-kubeconfig-invalid`: the plugin cannot use linkerd-cni's kubeconfig, or every user on the node can
//! read it.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::add_failures::{answers_on, hinted_add_failures, on_this_node};
use super::chart::{image_version, set};
use super::cni_add_unauthorized;
use super::host::on_files;
use super::nodes::{Nodes, lacks};
use super::places::{entry_evidence, entry_subject, in_file};
use super::plugin::PluginOn;
use super::purge::purge_entry;
use super::remedy::onto_version;
use super::token::kubeconfig;
use crate::checks::prelude::*;
use crate::command::program;
use crate::knowledge::ServerForm;
use crate::model::cni::Installed;
use crate::model::node::{ChainEntry, KubeconfigFacts, NodeSnapshot};
use crate::objects::Uid;

/// The context that the plugin uses.
const CONTEXT: &str = "linkerd-cni-context";
/// Signature of the plugin's error if it cannot use the file.
const SIGNATURE: &str = "kubeconfig-invalid";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let installed = super::installers::installed(ctx);
    let scan = KubeconfigScan { ctx, nodes, installed };
    let mut findings = Vec::new();
    for snapshot in scan.nodes.snapshots() {
        for running in scan.nodes.chain(ctx, snapshot).entries {
            let Some(facts) = kubeconfig(ctx, snapshot, running) else { continue };
            findings.extend(scan.unusable(snapshot, running, facts));
            findings.extend(scan.readable_by_all(snapshot, running, facts));
        }
    }
    Ok(findings.into())
}

struct KubeconfigScan<'c, 'a> {
    ctx: &'c Context<'a>,
    nodes: Nodes<'a>,
    installed: Installed<'a>,
}

impl KubeconfigScan<'_, '_> {
    /// The first defect that makes the file unusable for the plugin; later ones do not matter.
    fn unusable(&self, snapshot: &NodeSnapshot, running: ChainEntry<'_>, facts: &KubeconfigFacts) -> Option<Finding> {
        let refused = |parameter: &str, what: &str, said: String, signature: &str| {
            let finding =
                self.finding(snapshot, running, facts, format!("new pods on the node cannot start: {what}"), said);
            answers_on(finding.parameter(parameter), &snapshot.node, &[signature])
        };
        if let Some(why) = &facts.parse_error {
            let what = "linkerd-cni cannot read the kubeconfig that its entry names";
            return Some(refused("unreadable", what, why.clone(), SIGNATURE));
        }
        if facts.contexts.is_empty() && facts.users.is_empty() && facts.server.is_none() {
            let part = format!("node {}: the contexts and the server in {}", snapshot.node, facts.path);
            lacks(self.ctx, Why::NotOffered, part);
        } else if !facts.contexts.iter().any(|context| context == CONTEXT) {
            let what = "the kubeconfig that linkerd-cni's entry names lacks the context linkerd-cni-context, \
                        the only one that the plugin uses";
            let said = match facts.contexts.as_slice() {
                [] => "no contexts".to_owned(),
                some => format!("contexts: {}", some.join(", ")),
            };
            return Some(refused("context", what, said, SIGNATURE));
        }
        if facts.token_present() == Some(false) {
            let what = "the kubeconfig that linkerd-cni's entry names has no token";
            return Some(refused("no-token", what, "no token".to_owned(), cni_add_unauthorized::SIGNATURE));
        }
        self.server(snapshot, running, facts)
    }

    /// An address in a form that the plugin's version does not parse. Older versions write and parse the same
    /// form.
    fn server(&self, snapshot: &NodeSnapshot, running: ChainEntry<'_>, facts: &KubeconfigFacts) -> Option<Finding> {
        let server = facts.server.as_deref()?;
        let form = form_of(server)?;
        let plugin = PluginOn::on_node(self.ctx, &self.installed, &snapshot.node, Some(snapshot));
        let refuses = plugin.all(|row| row.refuses_servers.contains(&form));
        // Installer and plugin come in one image, so the plugin can read a file that the running installer
        // wrote.
        if refuses == Some(false) || refuses.is_none() && self.wrote_it(snapshot, facts) {
            return None;
        }
        if refuses.is_none() {
            self.ctx.or_note(self.ctx.complete_list::<Pod>());
        }
        let (parameter, message) = match form {
            ServerForm::BracketedIpv4 => (
                "bracketed-ipv4",
                "new pods on the node cannot start: linkerd-cni's kubeconfig has the API server's IPv4 \
                 address in brackets, a form of old installers that newer plugins do not parse",
            ),
            ServerForm::BareIpv6 => (
                "bare-ipv6",
                "new pods on the node cannot start: linkerd-cni's kubeconfig has the API server's IPv6 \
                 address without brackets, which the newest plugins do not parse",
            ),
        };
        let mut finding = self
            .finding(snapshot, running, facts, message.to_owned(), format!("server {server}"))
            .parameter(parameter)
            .evidences(self.installed.image_on(&snapshot.node));
        // This version writes the address without brackets each time it starts.
        if form == ServerForm::BareIpv6 && refuses == Some(true) {
            let newest = self.ctx.knowledge.cni_plugin().last_release();
            let newer = (format!("v{newest}"), "the installed version does not parse the address that it writes");
            finding.remedy = onto_version(self.ctx, Remedy::new(), Some((&newer.0, newer.1)));
        }
        Some(match (refuses, form) {
            (Some(true), ServerForm::BracketedIpv4) => finding,
            (Some(_), _) => finding.likely(),
            // A vendor's build may be older or newer than the change.
            (None, _) => finding.severity(Severity::Warning).likely(),
        })
    }

    /// Whether the running installer wrote the file: its token belongs to the installer's pod.
    fn wrote_it(&self, snapshot: &NodeSnapshot, facts: &KubeconfigFacts) -> bool {
        let Some(uid) = facts.token_claims.as_ref().and_then(|claims| claims.pod_uid.as_deref()) else {
            return false;
        };
        self.installed.pod_on(&snapshot.node).is_some_and(|pod| pod.metadata.uid == Uid::from(uid))
    }

    fn readable_by_all(
        &self,
        snapshot: &NodeSnapshot,
        running: ChainEntry<'_>,
        facts: &KubeconfigFacts,
    ) -> Option<Finding> {
        let listed = || {
            let (dir, name) = facts.path.rsplit_once('/')?;
            let rows = snapshot.index.as_deref()?;
            rows.iter().find(|row| row.dir == dir && row.name == name)?.mode.as_deref()
        };
        let mode = facts.mode.as_deref().or_else(listed)?;
        let bits = u32::from_str_radix(mode.trim_start_matches("0o"), 8).ok()?;
        if bits & 0o004 == 0 {
            return None;
        }
        let plugin = PluginOn::on_node(self.ctx, &self.installed, &snapshot.node, Some(snapshot));
        let writes_it = plugin.all(|row| row.world_readable_kubeconfig) == Some(true);
        let message = "every user on the node can read linkerd-cni's token, which grants permission to read \
                       every pod and namespace";
        let remedy = on_files(
            Remedy::new(),
            self.nodes.system(self.ctx, &snapshot.node),
            &snapshot.node,
            &format!("Make {} readable by root only, because the container runtime runs as root", facts.path),
            [program("chmod").words("600").operand(facts.path.as_str())],
        );
        let remedy = if writes_it {
            let newest = format!("v{}", self.ctx.knowledge.cni_plugin().last_release());
            let words = format!(
                "Install {newest} until a newer release changes this: the installed version writes the file \
                 with these permissions each time it renews its token"
            );
            set(self.ctx, remedy, words, None, &[image_version(newest)])
        } else {
            remedy
        };
        let finding = self.finding(snapshot, running, facts, message.to_owned(), format!("mode {mode}"));
        Some(finding.parameter("mode").severity(Severity::Warning).remedy(remedy))
    }

    fn finding(
        &self,
        snapshot: &NodeSnapshot,
        running: ChainEntry<'_>,
        facts: &KubeconfigFacts,
        message: String,
        said: String,
    ) -> Finding {
        let known = Some((running.file, running.entry));
        let adds = hinted_add_failures(self.ctx);
        self.ctx
            .finding(entry_subject(snapshot, running.file, running.entry), message)
            .evidence(entry_evidence(snapshot, running))
            .evidence(in_file(snapshot, &facts.path, None, None, said))
            .remedy(purge_entry(
                self.ctx,
                &snapshot.node,
                self.nodes.system(self.ctx, &snapshot.node),
                known,
                &on_this_node(adds, &snapshot.node),
            ))
    }
}

/// The form of an address that some version does not parse; `None` if all versions parse it.
fn form_of(server: &str) -> Option<ServerForm> {
    let host = server.split_once("://").map_or(server, |(_, rest)| rest).split('/').next()?;
    if let Some((inside, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return inside.parse::<Ipv4Addr>().is_ok().then_some(ServerForm::BracketedIpv4);
    }
    let without_port = host.rsplit_once(':').map_or(host, |(address, _)| address);
    let bare = [host, without_port].iter().any(|address| address.parse::<Ipv6Addr>().is_ok());
    bare.then_some(ServerForm::BareIpv6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ipv6_addresses_need_brackets() {
        for (server, form) in [
            ("https://[10.96.0.1]:443", Some(ServerForm::BracketedIpv4)),
            ("https://10.96.0.1:443", None),
            ("https://[fd00:10:96::1]:443", None),
            ("https://fd00:10:96::1:443", Some(ServerForm::BareIpv6)),
            ("https://fd00:10:96::1/", Some(ServerForm::BareIpv6)),
            ("https://api.example.net:6443", None),
            ("https://[half:443", None),
            ("", None),
        ] {
            assert_eq!(form_of(server), form, "{server}");
        }
    }
}
