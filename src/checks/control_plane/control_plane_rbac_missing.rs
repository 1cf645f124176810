//! `control-plane-rbac-missing`: ServiceAccounts of the control plane lack permissions that their release
//! needs.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::control_plane::installation::{config, not_known, of_control_plane, unmarked};
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, REAPPLY};
use crate::checks::words::some;
use crate::knowledge::GrantedRole;
use crate::objects::meta::Meta;
use crate::objects::rbac::{AnyBinding, AnyRole, ClusterRole, ClusterRoleBinding, may};

const ROLES: &str = "control plane ClusterRoles exist";
const BINDINGS: &str = "control plane ClusterRoleBindings exist";

/// The verbs that only read.
const READS: [&str; 3] = ["get", "list", "watch"];

type Rights<'a> = (&'a [AnyRole], &'a [AnyBinding]);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (version, seen) = of_control_plane(ctx)?;
    // A missing permission can be concluded only from complete lists of both kinds.
    let rights = (ctx.complete_list::<ClusterRole>()?, ctx.complete_list::<ClusterRoleBinding>()?);
    let (table, minors) = (ctx.knowledge.control_plane(), ctx.knowledge.minors());
    if !table.covers(&version, minors) {
        return Err(not_known(ctx, "permissions", &version));
    }
    let namespace = &ctx.namespaces().control_plane;
    let config = config(ctx);
    let values = config.as_ref().ok().copied().flatten().and_then(ConfigMap::chart_values);
    let is_set = |value: &str| values.as_ref().and_then(|values| values.bool(value)) == Some(true);
    let roles = table.roles(namespace, &version, minors, is_set);
    if let Err(missing) = config {
        // Values decide whether the release needs some permissions.
        let perhaps = table.roles(namespace, &version, minors, |_| true);
        let lacks = |role: &GrantedRole<'_>| missing_rights(role, rights, namespace).next().is_some();
        if perhaps.iter().filter(|role| lacks(role)).count() > roles.iter().filter(|role| lacks(role)).count() {
            ctx.gap(missing);
        }
    }
    let findings = roles.iter().filter_map(|role| {
        let lacking: Vec<_> = missing_rights(role, rights, namespace).collect();
        let finding = finding(ctx, role, rights, &lacking)?;
        Some(finding.evidence(seen.clone()))
    });
    Ok(findings.chain(roles.iter().flat_map(|role| unlabelled(ctx, role, rights))).collect())
}

/// The permissions that the account of a role lacks: API group, resource and verb.
fn missing_rights<'a>(
    role: &GrantedRole<'a>,
    rights: Rights<'_>,
    namespace: &str,
) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
    let holder = (namespace, role.account);
    role.rights.iter().copied().filter(move |right| !may(rights, holder, *right))
}

/// Roles and bindings that lack the label by which `linkerd check` finds them; it looks only for those of
/// these two accounts.
fn unlabelled(ctx: &Context<'_>, role: &GrantedRole<'_>, rights: Rights<'_>) -> Vec<Finding> {
    if !["linkerd-identity", "linkerd-proxy-injector"].contains(&role.account) {
        return Vec::new();
    }
    let there = rights.0.iter().find(|known| known.metadata.name == role.role).map(|role| &role.metadata);
    let binding = rights.1.iter().find(|known| known.metadata.name == role.binding).map(|role| &role.metadata);
    let of = |meta: Option<&Meta>, kind: &str, row| {
        let meta = meta?;
        unmarked(ctx, Subject::object(kind, "", &meta.name), meta, row)
    };
    of(there, "ClusterRole", ROLES).into_iter().chain(of(binding, "ClusterRoleBinding", BINDINGS)).collect()
}

/// The problem with a role; `None` if it exists or its account has all its permissions by other means.
fn finding(
    ctx: &Context<'_>,
    role: &GrantedRole<'_>,
    rights: Rights<'_>,
    lacking: &[(&str, &str, &str)],
) -> Option<Finding> {
    let namespace = &ctx.namespaces().control_plane;
    let there = rights.0.iter().find(|known| known.metadata.name == role.role);
    let binding = rights.1.iter().find(|known| known.metadata.name == role.binding);
    if lacking.is_empty() && there.is_some() && binding.is_some() {
        return None;
    }
    let (kind, name, row) = match (there, binding) {
        (None, _) => ("ClusterRole", &role.role, ROLES),
        (Some(_), None) => ("ClusterRoleBinding", &role.binding, BINDINGS),
        (Some(_), Some(binding)) if binds(binding, role, namespace) => ("ClusterRole", &role.role, ROLES),
        (Some(_), Some(_)) => ("ClusterRoleBinding", &role.binding, BINDINGS),
    };
    let state = match (there, binding) {
        (None, _) | (_, None) => "does not exist".to_owned(),
        (Some(_), Some(binding)) if binds(binding, role, namespace) => {
            "grants fewer permissions than the role of its release".to_owned()
        }
        (Some(_), Some(_)) => format!("does not bind {} to {namespace}/{}", role.role, role.account),
    };
    let message = message((kind, name), there.is_none() || binding.is_none(), role, lacking);
    // The permission that the message names.
    let named = lacking.iter().min_by_key(|(group, resource, verb)| (*resource, *verb != "watch", *group));
    let ask = named.map_or_else(
        || kubectl().words("get").arg(kind.to_ascii_lowercase()).operand(name),
        |(group, resource, verb)| {
            let (resource, part) = resource.split_once('/').map_or((*resource, None), |(of, part)| (of, Some(part)));
            let resource = if group.is_empty() { resource.to_owned() } else { qualified(group, resource) };
            let account = format!("system:serviceaccount:{namespace}:{}", role.account);
            let ask = kubectl().words("auth can-i").arg(*verb).arg(resource);
            let ask = part.into_iter().fold(ask, |ask, part| ask.option("--subresource", part));
            ask.words("-A").option("--as", account)
        },
    );
    let verified = if lacking.is_empty() { Remedy::verified_by(ask.clone()) } else { Remedy::new() };
    let remedy = upgrade::reapply(ctx, verified, REAPPLY);
    let remedy = match lacking.is_empty() {
        true => remedy,
        false => remedy.command("Check the permission: the command prints yes", ask),
    };
    let component = role.account.trim_start_matches("linkerd-");
    let remedy = match lacking.is_empty() {
        true => remedy,
        false => remedy.command(
            format!("If {component} does not recover, restart it"),
            kubectl().namespace(namespace).words("rollout restart").arg(format!("deployment/{}", role.account)),
        ),
    };
    let account = format!("ServiceAccount {namespace}/{}", role.account);
    let evidence = Evidence::other(format!("{kind} {name}"), state);
    let lacks = (!lacking.is_empty()).then(|| Evidence::other(account, format!("may not {}", describe(lacking))));
    let finding = ctx
        .finding(Subject::object(kind, "", name), message)
        .severity(match lacking {
            [] => Severity::Info,
            some if only_writes_status(some) => Severity::Warning,
            some if only_writes_endpoints(some) && role.role.ends_with("-destination") => Severity::Warning,
            _ => Severity::Error,
        })
        .evidence(evidence)
        .evidences(lacks)
        .fails_rows([row])
        .remedy(remedy);
    Some(finding.tie(Tie::Fact(format!("component-refused:{component}"))).tie(Tie::Workload(
        "Deployment".to_owned(),
        namespace.clone(),
        role.account.to_owned(),
    )))
}

/// `is_gone`: the object does not exist.
fn message(
    (kind, name): (&str, &str),
    is_gone: bool,
    role: &GrantedRole<'_>,
    lacking: &[(&str, &str, &str)],
) -> String {
    let resources: BTreeSet<&str> = lacking.iter().map(|(_, resource, _)| *resource).collect();
    let resources = some(&resources, 2);
    match (lacking.is_empty(), role.account) {
        (true, _) => {
            format!(
                "{kind} {name} of the chart is missing. Its ServiceAccount has the same permissions from \
                     other objects"
            )
        }
        (false, "linkerd-identity") => {
            "identity lacks permission to create TokenReviews. New proxies get no certificate, and those of \
             running proxies expire within a day"
                .to_owned()
        }
        (false, "linkerd-destination") if only_writes_status(lacking) => format!(
            "The policy controller lacks permission to write {resources}. It applies the objects, but nothing states \
             whether it accepts them"
        ),
        (false, "linkerd-destination") if only_writes_endpoints(lacking) && role.role.ends_with("-destination") => {
            format!(
                "destination lacks permission to write {resources}. It does not update the endpoints of \
                 ExternalWorkloads"
            )
        }
        (false, "linkerd-destination") if is_gone => format!(
            "{kind} {name} is missing, so destination may not watch {resources}. Clients get outdated endpoints or \
             policies, and after a restart destination does not become ready"
        ),
        (false, "linkerd-destination") => format!(
            "destination lacks permission to watch {resources}. Clients get outdated endpoints or policies, \
             and after a restart destination does not become ready"
        ),
        (false, "linkerd-proxy-injector") if lacking.iter().all(|(_, resource, _)| *resource == "namespaces") => {
            "The injector lacks permission to read namespaces, so it does not know their annotations. After a restart \
             the injector does not become ready"
                .to_owned()
        }
        (false, "linkerd-proxy-injector") => format!(
            "The injector lacks permission to read {resources}, so it does not know the owners of pods. \
             After a restart the injector does not become ready"
        ),
        (false, _) => {
            format!("A ServiceAccount of the control plane may not use {resources}, which its release needs")
        }
    }
}

/// Whether only statuses are not written: the policy controller reports this in its log and goes on.
fn only_writes_status(lacking: &[(&str, &str, &str)]) -> bool {
    lacking.iter().all(|(_, resource, verb)| resource.ends_with("/status") && !READS.contains(verb))
}

/// Whether only the endpoints of ExternalWorkloads are not written, for which destination elects a leader in the
/// background.
fn only_writes_endpoints(lacking: &[(&str, &str, &str)]) -> bool {
    lacking.iter().all(|(_, resource, verb)| ["leases", "endpointslices"].contains(resource) && !READS.contains(verb))
}

fn binds(binding: &AnyBinding, role: &GrantedRole<'_>, namespace: &str) -> bool {
    binding.role_ref.name == role.role && binding.subjects.iter().any(|s| s.covers(namespace, role.account))
}

/// `leases.coordination.k8s.io`, `httproutes.policy.linkerd.io/status`.
fn qualified(group: &str, resource: &str) -> String {
    match resource.split_once('/') {
        Some((resource, part)) => format!("{resource}.{group}/{part}"),
        None => format!("{resource}.{group}"),
    }
}

/// `get, list, watch pods; create leases.coordination.k8s.io`.
fn describe(lacking: &[(&str, &str, &str)]) -> String {
    let mut verbs: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (group, resource, verb) in lacking {
        let name = if group.is_empty() { (*resource).to_owned() } else { qualified(group, resource) };
        verbs.entry(name).or_default().push(verb);
    }
    let mut resources: BTreeMap<Vec<&str>, Vec<String>> = BTreeMap::new();
    for (resource, verbs) in verbs {
        resources.entry(verbs).or_default().push(resource);
    }
    let each = resources.into_iter().map(|(verbs, names)| format!("{} {}", verbs.join(", "), names.join(", ")));
    each.collect::<Vec<_>>().join("; ")
}
