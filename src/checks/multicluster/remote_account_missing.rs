//! `remote-account-missing`: the account with which other clusters read this one is incomplete or missing.

use std::collections::BTreeSet;

use super::exports::{evidence, of_any_kind};
use crate::checks::extensions::{installed_in, reinstall};
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;
use crate::knowledge::ServiceMirror;
use crate::objects::ServiceAccount;
use crate::objects::meta::Meta;
use crate::objects::rbac::{AnyBinding, AnyRole, ClusterRole, ClusterRoleBinding};

/// The ConfigMap that only clusters with a link need to read.
const CONFIG: &str = "linkerd-config";

/// The evidence of one run.
struct Granted<'a> {
    home: &'a str,
    accounts: Vec<&'a str>,
    roles: &'a [AnyRole],
    bindings: &'a [AnyBinding],
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let accounts = ctx.complete_list::<ServiceAccount>();
    let roles = ctx.complete_list::<ClusterRole>();
    let bindings = ctx.complete_list::<ClusterRoleBinding>();
    let services = ctx.complete_list::<Service>();
    let home = installed_in(ctx, Extension::Multicluster)?.metadata.name.as_str();
    let (accounts, roles, bindings) = (accounts?, roles?, bindings?);
    let exported = of_any_kind(services?);
    let here = accounts.iter().filter(|one| one.metadata.namespace == home);
    let accounts = here.map(|one| one.metadata.name.as_str()).collect();
    let granted = Granted { home, accounts, roles, bindings };
    let known = ctx.knowledge.extensions();
    let mut findings = Vec::new();
    let names = granted.names(known.remote_access_account(), known.service_mirrors());
    for name in &names {
        let lost = granted.lost(name);
        if lost.is_empty() {
            continue;
        }
        let severity = if exported.is_empty() { Severity::Info } else { Severity::Error };
        findings.push(incomplete(ctx, home, name, lost).severity(severity).evidence(evidence(&exported)));
    }
    if names.is_empty() && !exported.is_empty() && !granted.any_reader() {
        findings.push(none(ctx, home).evidence(evidence(&exported)));
    }
    Ok(if findings.is_empty() { Verdict::fine() } else { findings.into() })
}

/// Whether a role reads Services and does not write them, as the role of other clusters does.
fn reads_services(role: &AnyRole) -> bool {
    let allows = |verb: &str| role.rules.iter().any(|rule| rule.allows("", "services", verb));
    allows("list") && allows("watch") && !allows("create")
}

fn is_of_extension(meta: &Meta) -> bool {
    meta.label(EXTENSION_LABEL) == Some(Extension::Multicluster.name())
}

impl Granted<'_> {
    /// Names of accounts for other clusters: of the role, its binding or the account itself, whichever exists.
    /// The chart and `linkerd multicluster allow` give all three the same name.
    fn names(&self, default: &str, mirrors: &[ServiceMirror]) -> BTreeSet<String> {
        let config = |role: &&AnyRole| role.rules.iter().any(|rule| rule.allows_one("", "configmaps", "get", CONFIG));
        let roles = self
            .roles
            .iter()
            .filter(|role| is_of_extension(&role.metadata) && reads_services(role))
            .filter(config)
            .map(|role| &role.metadata.name);
        let of_link = |name: &str| {
            mirrors.iter().any(|mirror| {
                mirror.cluster_role_binding.split_once("{cluster}").is_some_and(|(start, _)| name.starts_with(start))
            })
        };
        let bindings = self
            .bindings
            .iter()
            .filter(|one| is_of_extension(&one.metadata) && !of_link(&one.metadata.name))
            .filter(|one| one.role_ref.name == one.metadata.name)
            .filter(|one| one.subjects.iter().any(|subject| subject.covers(self.home, &one.metadata.name)))
            .map(|one| &one.metadata.name);
        let account = self.accounts.iter().find(|name| **name == default).map(|name| (*name).to_owned());
        roles.chain(bindings).cloned().chain(account).collect()
    }

    /// The missing objects of an account.
    fn lost(&self, name: &str) -> Vec<Evidence> {
        let absent = |object: String| Evidence::other(object, "does not exist");
        let mut lost = Vec::new();
        if !self.accounts.contains(&name) {
            lost.push(absent(format!("ServiceAccount {}/{name}", self.home)));
        }
        if self.may_read(name) {
            return lost;
        }
        if !self.roles.iter().any(|role| role.metadata.name == name) {
            lost.push(absent(format!("ClusterRole {name}")));
        } else if self.bindings.iter().any(|binding| binding.metadata.name == name) {
            lost.push(Evidence::other(
                format!("ClusterRole and ClusterRoleBinding {name}"),
                "do not let the ServiceAccount list Services",
            ));
        } else {
            lost.push(absent(format!("ClusterRoleBinding {name}")));
        }
        lost
    }

    /// Whether any binding lets the account read Services.
    fn may_read(&self, account: &str) -> bool {
        let bound =
            self.bindings.iter().filter(|one| one.subjects.iter().any(|subject| subject.covers(self.home, account)));
        bound
            .filter_map(|one| self.roles.iter().find(|role| role.metadata.name == one.role_ref.name))
            .flat_map(|role| &role.rules)
            .any(|rule| rule.allows("", "services", "list"))
    }

    /// Whether any account may read Services without writing them: then an account of another origin may serve.
    fn any_reader(&self) -> bool {
        let readers = self.roles.iter().filter(|role| reads_services(role));
        let names: BTreeSet<&str> = readers.map(|role| role.metadata.name.as_str()).collect();
        self.bindings.iter().any(|one| {
            let for_account = |kind: &str| matches!(kind, "ServiceAccount");
            names.contains(one.role_ref.name.as_str())
                && one.subjects.iter().any(|s| for_account(&s.kind) && s.namespace == self.home)
        })
    }
}

fn incomplete(ctx: &Context<'_>, home: &str, name: &str, lost: Vec<Evidence>) -> Finding {
    let message = "the account for other clusters is incomplete: clusters that were linked with it cannot read \
        Services and endpoints here, so their mirrors become outdated";
    let again = ", which creates the account and its role";
    ctx.finding(Subject::object(Kind::ServiceAccount, home, name), message)
        .parameter("incomplete")
        .evidences(lost)
        .remedy(
            reinstall(
                ctx,
                Remedy::verified_by(
                    kubectl()
                        .words("auth can-i list services --all-namespaces")
                        .option("--as", format!("system:serviceaccount:{home}:{name}")),
                ),
                Extension::Multicluster,
                again,
            )
            .note(
                "If the ServiceAccount or its token Secret was deleted, create the links of the other clusters \
                 again: their token is no longer valid",
            ),
        )
}

fn none(ctx: &Context<'_>, home: &str) -> Finding {
    let message = "no account lets other clusters read this one: clusters that were linked with a deleted account \
        cannot update their mirrors";
    ctx.finding(Subject::object(Kind::Namespace, "", home), message)
        .severity(Severity::Warning)
        .parameter("none")
        .evidence(Evidence::other(
            format!("ServiceAccounts in {home} that may list Services and not create them"),
            "none",
        ))
        .remedy(
            reinstall(ctx, Remedy::new(), Extension::Multicluster, ", which creates the account and its role")
                .note("Create the links of the other clusters again: the token of a deleted account stays invalid"),
        )
}
