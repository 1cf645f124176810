//! `control-plane-role-missing`: a Role in the control plane's namespace is missing, not bound, or grants
//! too little.

use crate::checks::control_plane::installation::{not_known, of_control_plane};
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, REAPPLY};
use crate::knowledge::NamespacedRole;
use crate::objects::CronJob;
use crate::objects::rbac::{
    AnyBinding, AnyRole, ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, rules_in,
};

const DESTINATION: &str = "linkerd-destination";
const HEARTBEAT: &str = "linkerd-heartbeat";

/// All objects that grant permissions in a namespace.
#[derive(Clone, Copy)]
struct GrantingObjects<'a> {
    roles: &'a [AnyRole],
    bindings: &'a [AnyBinding],
    cluster_roles: &'a [AnyRole],
    cluster_bindings: &'a [AnyBinding],
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (version, seen) = of_control_plane(ctx)?;
    // A missing permission can be concluded only from complete lists.
    let given = GrantingObjects {
        roles: ctx.complete_list::<Role>()?,
        bindings: ctx.complete_list::<RoleBinding>()?,
        cluster_roles: ctx.complete_list::<ClusterRole>()?,
        cluster_bindings: ctx.complete_list::<ClusterRoleBinding>()?,
    };
    let table = ctx.knowledge.control_plane();
    if !table.covers(&version, ctx.knowledge.minors()) {
        return Err(not_known(ctx, "Roles", &version));
    }
    let namespace = ctx.namespaces().control_plane.as_str();
    let is_heartbeat = |job: &CronJob| job.metadata.namespace == namespace && job.metadata.name == HEARTBEAT;
    let beats = ctx.or_note(ctx.complete_list::<CronJob>()).is_some_and(|jobs| jobs.iter().any(is_heartbeat));
    let findings = table
        .namespaced_roles(&version, ctx.knowledge.minors())
        // Without a heartbeat its Role is not needed.
        .filter(|role| role.account.as_deref() != Some(HEARTBEAT) || beats)
        .filter_map(|role| Some(finding(ctx, role, wrong(role, namespace, given)?).evidence(seen.clone())));
    Ok(findings.collect())
}

/// The problem: the kind and the name of the object, and its state.
struct Wrong<'a> {
    kind: &'static str,
    name: &'a str,
    state: String,
}

fn wrong<'a>(role: &'a NamespacedRole, namespace: &str, given: GrantingObjects<'_>) -> Option<Wrong<'a>> {
    let right = &role.rights;
    let allows = |rule: &PolicyRule, verb: &str| match &right.name {
        Some(name) => rule.allows_one(&right.group, &right.resource, verb, name),
        None => rule.allows(&right.group, &right.resource, verb),
    };
    let lacking = |rules: &[&PolicyRule]| -> Vec<&str> {
        let verbs = right.verbs.iter().map(String::as_str);
        verbs.filter(|verb| !rules.iter().any(|rule| allows(rule, verb))).collect()
    };
    let there =
        given.roles.iter().find(|known| known.metadata.namespace == namespace && known.metadata.name == role.role);
    let object = |kind, name: &'a str, state: String| Some(Wrong { kind, name, state });
    if let Some(account) = &role.account {
        let holder = (namespace, account.as_str());
        let mut rules = rules_in(namespace, (given.roles, given.bindings), given.cluster_roles, holder);
        let bound = given
            .cluster_bindings
            .iter()
            .filter(|binding| binding.subjects.iter().any(|subject| subject.covers(namespace, account)));
        let everywhere =
            bound.filter_map(|b| given.cluster_roles.iter().find(|known| known.metadata.name == b.role_ref.name));
        rules.extend(everywhere.flat_map(|role| &role.rules));
        let lacks = lacking(&rules);
        // It does not matter which object grants the permission.
        if lacks.is_empty() {
            return None;
        }
        let may = |what: &str| format!("{what}; {account} may not {} {}", lacks.join(", "), right.resource);
        let Some(there) = there else { return object("Role", &role.role, may("does not exist")) };
        let own: Vec<&PolicyRule> = there.rules.iter().collect();
        if !lacking(&own).is_empty() {
            return object("Role", &role.role, may("grants fewer permissions than the Role of its release"));
        }
        let binding = role.binding.as_deref().unwrap_or(&role.role);
        let found =
            given.bindings.iter().any(|known| known.metadata.namespace == namespace && known.metadata.name == binding);
        let state = if found { "does not bind the Role to its ServiceAccount" } else { "does not exist" };
        return object("RoleBinding", binding, may(state));
    }
    match there {
        None => object("Role", &role.role, "does not exist".to_owned()),
        Some(there) => {
            let lacks = lacking(&there.rules.iter().collect::<Vec<_>>());
            let state = format!("does not allow {} {}", lacks.join(", "), right.resource);
            if lacks.is_empty() { None } else { object("Role", &role.role, state) }
        }
    }
}

fn finding(ctx: &Context<'_>, role: &NamespacedRole, wrong: Wrong<'_>) -> Finding {
    let namespace = ctx.namespaces().control_plane.as_str();
    let (severity, message) = match role.account.as_deref() {
        Some(DESTINATION) => (
            Severity::Error,
            "destination may not read the Secrets of its namespace. After its next restart it exits again \
            after a minute each time; until then it finds no linked cluster",
        ),
        Some(_) => (
            Severity::Info,
            "the heartbeat may not read linkerd-config, so its report lacks the chart values; traffic does \
            not depend on it",
        ),
        None => (
            Severity::Warning,
            "extensions may not read linkerd-config: the namespace-metadata Job fails at the next \
            installation or upgrade of an extension with Helm",
        ),
    };
    let ask = match (&role.account, &role.rights.name) {
        (Some(account), name) => {
            let one = name.as_deref().map(|name| format!("/{name}")).unwrap_or_default();
            kubectl()
                .namespace(namespace)
                .words("auth can-i")
                .arg(role.rights.verbs.last().map_or("get", String::as_str))
                .arg(format!("{}{one}", role.rights.resource))
                .option("--as", format!("system:serviceaccount:{namespace}:{account}"))
        }
        (None, _) => kubectl().namespace(namespace).words("get role").operand(&role.role),
    };
    let remedy = upgrade::reapply(ctx, Remedy::verified_by(ask), REAPPLY);
    let finding = ctx
        .finding(Subject::object(wrong.kind, namespace, wrong.name), message)
        .severity(severity)
        .evidence(Evidence::other(format!("{} {namespace}/{}", wrong.kind, wrong.name), wrong.state))
        .remedy(remedy);
    // No other component depends on it, so it does not precede errors.
    if role.account.as_deref() != Some(DESTINATION) {
        return finding.explains_nothing();
    }
    finding.tie(Tie::Fact("component-refused:destination".to_owned())).tie(Tie::Workload(
        "Deployment".to_owned(),
        namespace.to_owned(),
        DESTINATION.to_owned(),
    ))
}
