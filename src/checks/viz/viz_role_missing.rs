//! `viz-role-missing`: ClusterRoles or ClusterRoleBindings of viz are missing.

use crate::checks::extensions::{installed_in, reinstall};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, Subject};
use crate::item::{Extension, Kind};
use crate::objects::Object;
use crate::objects::rbac::{ClusterRole, ClusterRoleBinding};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let roles = ctx.every::<ClusterRole>()?;
    let bindings = ctx.every::<ClusterRoleBinding>()?;
    let namespace = installed_in(ctx, Extension::Viz)?;
    let known = ctx.knowledge.extensions();
    let namespace = &namespace.metadata.name;
    let lost = absent_of(roles, known.viz_cluster_roles(namespace))
        .map(|name| finding(ctx, Kind::ClusterRole, &name, "linkerd-viz ClusterRoles exist"));
    let unbound = absent_of(bindings, known.viz_cluster_role_bindings(namespace))
        .map(|name| finding(ctx, Kind::ClusterRoleBinding, &name, "linkerd-viz ClusterRoleBindings exist"));
    Ok(lost.chain(unbound).collect::<Vec<_>>().into())
}

/// The names that no object has.
pub(super) fn absent_of<T: Object>(objects: &[T], names: Vec<String>) -> impl Iterator<Item = String> {
    names.into_iter().filter(|name| !objects.iter().any(|object| object.key().1 == name))
}

fn finding(ctx: &Context<'_>, kind: Kind, name: &str, row: &'static str) -> Finding {
    let message = match kind {
        Kind::ClusterRole => {
            "a role of viz is missing: the API server refuses the component that needs it, and metrics or tap do not work"
        }
        _ => {
            "the binding of a role of viz is missing: the API server refuses the component that needs it, and metrics or tap do not work"
        }
    };
    ctx.finding(Subject::object(kind, "", name), message)
        .evidence(Evidence::other(format!("every {kind}"), format!("none is named {name}")))
        .fails_rows([row])
        .remedy(reinstall(ctx, Remedy::new(), Extension::Viz, ""))
}
