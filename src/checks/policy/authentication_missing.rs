//! `authentication-missing`: an AuthorizationPolicy requires an authentication that does not exist, so it
//! has no effect.

use std::collections::BTreeSet;

use super::survey::{about, about_server, field, on, survey};
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Finding, Remedy, StepKind};
use crate::objects::{AuthorizationPolicy, Kind};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let namespaces: BTreeSet<&str> = survey
        .objects
        .authorization_policies
        .iter()
        .map(|policy| policy.metadata.namespace.as_str())
        .collect();
    let all = namespaces.into_iter().flat_map(|namespace| survey.index.policies(namespace));
    let void = all.filter_map(|(policy, why)| Some((policy, why?)));
    Ok(void.map(|(policy, why)| finding(ctx, policy, why)).collect::<Vec<_>>().into())
}

fn finding(ctx: &Context<'_>, policy: &AuthorizationPolicy, why: &str) -> Finding {
    let meta = &policy.metadata;
    let target = &policy.spec.target_ref;
    let missing = policy.spec.required_authentication_refs.iter().find(|reference| {
        let namespace = reference.namespace.as_deref().unwrap_or(&meta.namespace);
        why.contains(&format!("{} {namespace}/{}", reference.kind, reference.name))
    });
    let look = match missing {
        Some(reference) if reference.is_a("policy.linkerd.io", "NetworkAuthentication") => {
            kubectl().words("get networkauthentications.policy.linkerd.io -A")
        }
        _ => kubectl().words("get meshtlsauthentications.policy.linkerd.io -A"),
    };
    let message = match missing {
        Some(reference) => format!(
            "it requires {} {}/{}, which does not exist, so it authorizes no client",
            reference.kind,
            reference.namespace.as_deref().unwrap_or(&meta.namespace),
            reference.name
        ),
        None => "it requires an authentication that does not exist, so it authorizes no client".to_owned(),
    };
    let finding = about(ctx, Kind::AuthorizationPolicy, meta, message)
        .evidence(field(Kind::AuthorizationPolicy, meta, "spec.requiredAuthenticationRefs", why))
        .evidence(field(
            Kind::AuthorizationPolicy,
            meta,
            "spec.targetRef",
            format!("{} {}", target.kind, target.name),
        ))
        .remedy(
            Remedy::new()
                .run(
                    StepKind::Command,
                    "Look for the intended object: another name, or another namespace",
                    look,
                )
                .run(
                    StepKind::Command,
                    "Create the missing object, or correct the reference. A reference to another namespace \
                 needs the namespace",
                    on("edit", Kind::AuthorizationPolicy, meta),
                ),
        );
    if target.is_a("policy.linkerd.io", "Server") {
        finding.tie(about_server(&meta.namespace, &target.name))
    } else {
        finding
    }
}
