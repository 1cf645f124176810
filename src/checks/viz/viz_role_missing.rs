//! `viz-role-missing`: ClusterRoles, ClusterRoleBindings or the RoleBinding of viz are missing.

use crate::checks::extensions::{installed_in, reinstall};
use crate::checks::prelude::*;
use crate::objects::Object;
use crate::objects::rbac::{AnyBinding, ClusterRole, ClusterRoleBinding, RoleBinding};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let roles = ctx.complete_list::<ClusterRole>()?;
    let bindings = ctx.complete_list::<ClusterRoleBinding>()?;
    let namespace = installed_in(ctx, Extension::Viz)?;
    let known = ctx.knowledge.extensions();
    let namespace = &namespace.metadata.name;
    let lost = absent_of(roles, known.viz_cluster_roles(namespace))
        .map(|name| finding(ctx, Kind::ClusterRole, &name, "linkerd-viz ClusterRoles exist"));
    let unbound = absent_of(bindings, known.viz_cluster_role_bindings(namespace))
        .map(|name| finding(ctx, Kind::ClusterRoleBinding, &name, "linkerd-viz ClusterRoleBindings exist"));
    let reader =
        ctx.or_note(ctx.complete_list::<RoleBinding>()).and_then(|bindings| reader_missing(ctx, bindings, namespace));
    Ok(lost.chain(unbound).chain(reader).collect())
}

/// The finding if no binding allows tap to read the API server's authentication settings.
fn reader_missing(ctx: &Context<'_>, bindings: &[AnyBinding], namespace: &str) -> Option<Finding> {
    let (name, role) = ctx.knowledge.extensions().viz_auth_reader(namespace);
    let lets = |binding: &AnyBinding| {
        binding.metadata.namespace == HOME
            && binding.role_ref.name == role
            && binding.subjects.iter().any(|subject| subject.covers(namespace, "tap"))
    };
    if bindings.iter().any(lets) {
        return None;
    }
    let message = "no RoleBinding lets tap read the certificates that the API server authenticates with: \
     tap cannot identify its clients, and does not start";
    Some(
        ctx.finding(Subject::object(Kind::RoleBinding, HOME, &name), message)
            .evidence(Evidence::other(
                format!("every RoleBinding in {HOME}"),
                format!("none gives {role} to ServiceAccount {namespace}/tap"),
            ))
            .remedy(reinstall(ctx, Remedy::new(), Extension::Viz, "")),
    )
}

/// The namespace of the API server's authentication settings.
const HOME: &str = "kube-system";

/// Names without an object.
pub(super) fn absent_of<T: Object>(objects: &[T], names: Vec<String>) -> impl Iterator<Item = String> {
    names.into_iter().filter(|name| !objects.iter().any(|object| object.key().1 == name))
}

fn finding(ctx: &Context<'_>, kind: Kind, name: &str, row: &'static str) -> Finding {
    let message = match kind {
        Kind::ClusterRole => {
            "a role of viz is missing: the API server denies requests of the component that needs it, and \
             metrics or tap do not work"
        }
        _ => {
            "the binding of a role of viz is missing: the API server denies requests of the component that \
             needs it, and metrics or tap do not work"
        }
    };
    ctx.finding(Subject::object(kind, "", name), message)
        .evidence(Evidence::other(format!("every {kind}"), format!("none is named {name}")))
        .fails_rows([row])
        .remedy(reinstall(ctx, Remedy::new(), Extension::Viz, ""))
}
