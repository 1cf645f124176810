//! `service-mirror-role-missing`: a Link's controller lacks its account or a right.

use super::links::{Links, link_again, links, no_links, subject};
use crate::checks::extensions::remedy;
use crate::checks::{Context, Judgement};
use crate::finding::Evidence;
use crate::item::{Extension, Kind};
use crate::knowledge::ServiceMirror;
use crate::model::objects::rbac::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use crate::model::objects::{Object, ServiceAccount};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = match links(ctx)? {
        Links::Some(links) => links,
        Links::None => return Ok(no_links()),
        Links::Not(verdict) => return Ok(verdict),
    };
    let accounts = ctx.every::<ServiceAccount>(Kind::ServiceAccount)?;
    let cluster_roles = ctx.every::<ClusterRole>(Kind::ClusterRole)?;
    let cluster_role_bindings = ctx.every::<ClusterRoleBinding>(Kind::ClusterRoleBinding)?;
    let roles = ctx.every::<Role>(Kind::Role)?;
    let role_bindings = ctx.every::<RoleBinding>(Kind::RoleBinding)?;
    let known = ctx.knowledge.extensions().service_mirrors();
    let mut findings = Vec::new();
    for link in links {
        let home = link.metadata.namespace.as_str();
        let cluster = &link.spec.target_cluster_name;
        let names = |of: fn(&ServiceMirror) -> &String| -> Vec<String> {
            known.iter().map(|mirror| of(mirror).replace("{cluster}", cluster)).collect()
        };
        let mut lost = Vec::new();
        let mut must = |kind: Kind, namespace: &str, names: Vec<String>, there: &dyn Fn(&str) -> bool| {
            if !names.iter().any(|name| there(name)) {
                let place = if namespace.is_empty() { String::new() } else { format!(" in {namespace}") };
                lost.push(Evidence::other(
                    format!("every {kind}{place}"),
                    format!("none is named {}", names.join(" or ")),
                ));
            }
        };
        must(Kind::ServiceAccount, home, names(|m| &m.service_account), &|name| has(accounts, home, name));
        must(Kind::ClusterRole, "", names(|m| &m.cluster_role), &|name| has(cluster_roles, "", name));
        must(Kind::ClusterRoleBinding, "", names(|m| &m.cluster_role_binding), &|name| {
            has(cluster_role_bindings, "", name)
        });
        must(Kind::Role, home, names(|m| &m.role), &|name| has(roles, home, name));
        must(Kind::RoleBinding, home, names(|m| &m.role_binding), &|name| has(role_bindings, home, name));
        if lost.is_empty() {
            continue;
        }
        findings.push(
            ctx.finding(
                subject(link),
                "the controller of the link lacks its account or a right: it cannot read its credentials, or cannot write \
                 mirror services",
            )
            .evidences(lost)
            .remedy(link_again(remedy(Extension::Multicluster), link)),
        );
    }
    Ok(findings.into())
}

fn has<T: Object>(objects: &[T], namespace: &str, name: &str) -> bool {
    objects.iter().any(|object| object.key() == (namespace, name))
}
