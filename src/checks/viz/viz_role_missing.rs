//! `viz-role-missing`: ClusterRoles or ClusterRoleBindings of viz are gone.

use crate::checks::extensions::{absent, extension_namespace, reinstall, remedy};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, StepKind, Subject};
use crate::item::{Extension, Kind};
use crate::model::objects::Object;
use crate::model::objects::rbac::{ClusterRole, ClusterRoleBinding};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let roles = ctx.every::<ClusterRole>(Kind::ClusterRole)?;
    let bindings = ctx.every::<ClusterRoleBinding>(Kind::ClusterRoleBinding)?;
    let Some(home) = extension_namespace(ctx, Extension::Viz)? else { return Ok(absent(Extension::Viz)) };
    let known = ctx.knowledge.extensions();
    let home = &home.metadata.name;
    let lost = absent_of(roles, known.viz_cluster_roles(home))
        .map(|name| finding(ctx, Kind::ClusterRole, &name, "linkerd-viz ClusterRoles exist"));
    let unbound = absent_of(bindings, known.viz_cluster_role_bindings(home))
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
            "a role of viz is not there: what runs under it is refused by the API server, and metrics or tap do not work"
        }
        _ => {
            "nothing grants a component of viz its role: the API server refuses it, and metrics or tap do not work"
        }
    };
    ctx.finding(Subject::object(kind, "", name), message)
        .evidence(Evidence::other(format!("every {kind}"), format!("none is named {name}")))
        .fails_rows([row])
        .remedy(remedy(Extension::Viz).run(
            StepKind::Command,
            "Lay viz down again, with the command or the chart of its release",
            reinstall(Extension::Viz),
        ))
}
