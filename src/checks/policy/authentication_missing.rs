//! `authentication-missing`: an AuthorizationPolicy requires an authentication that does not exist, so it
//! has no effect.

use std::collections::BTreeSet;

use super::survey::{Survey, about, about_authentication, about_targets, field, on, put, set, survey, test, with_noun};
use crate::checks::prelude::*;
use crate::nearest::{closest, is_slip};
use crate::objects::{AuthorizationPolicy, TargetRef};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let namespaces: BTreeSet<&str> =
        survey.objects.authorization_policies.iter().map(|policy| policy.metadata.namespace.as_str()).collect();
    let all = namespaces.into_iter().flat_map(|namespace| survey.index.policies(namespace));
    let void = all.filter_map(|(policy, why)| Some((policy, why?)));
    Ok(void.map(|(policy, why)| finding(ctx, survey, policy, why)).collect())
}

fn finding(ctx: &Context<'_>, survey: &Survey<'_>, policy: &AuthorizationPolicy, why: &str) -> Finding {
    let meta = &policy.metadata;
    let target = &policy.spec.target_ref;
    let missing = policy.spec.required_authentication_refs.iter().find(|reference| {
        let namespace = reference.namespace.as_deref().unwrap_or(&meta.namespace);
        why.contains(&format!("{} {namespace}/{}", reference.kind, reference.name))
    });
    let invalid = missing.and_then(|reference| existing(survey, meta, reference));
    let is_invalid = invalid.is_some();
    let is_kept = invalid.is_none() && may_be_kept(survey, missing);
    let message = match missing {
        Some(reference) => format!(
            "{} {}/{} {}, so the policy authorizes no client{}",
            reference.kind,
            reference.namespace.as_deref().unwrap_or(&meta.namespace),
            reference.name,
            if is_invalid { "has no effect" } else { "does not exist" },
            if is_kept {
                ". If it was deleted while linkerd-destination ran, its clients stay authorized until the restart"
            } else {
                ""
            }
        ),
        None => format!("The policy authorizes no client: {}", with_noun(Kind::AuthorizationPolicy, why)),
    };
    let finding = about(ctx, Kind::AuthorizationPolicy, meta, message)
        .evidence(field(Kind::AuthorizationPolicy, meta, "spec.requiredAuthenticationRefs", why))
        .evidence(field(Kind::AuthorizationPolicy, meta, "spec.targetRef", format!("{} {}", target.kind, target.name)))
        .remedy(with_restart(ctx, remedy(survey, policy, missing, invalid), is_kept));
    let finding = match invalid {
        Some((kind, object)) => finding.tie(about_authentication(kind, object)),
        None => finding,
    };
    about_targets(&survey.objects, &meta.namespace, target).into_iter().fold(finding, Finding::tie)
}

/// Whether the running controller may still have a missing authentication.
fn may_be_kept(survey: &Survey<'_>, missing: Option<&TargetRef>) -> bool {
    survey.index.controller.quirks.keeps_deleted_authentications
        && missing.is_some_and(|reference| reference.is_a("policy.linkerd.io", "MeshTLSAuthentication"))
}

/// Adds the restart that revokes a deleted authentication.
fn with_restart(ctx: &Context<'_>, remedy: Remedy, is_kept: bool) -> Remedy {
    if !is_kept {
        return remedy;
    }
    let restart =
        kubectl().namespace(&ctx.namespaces().control_plane).words("rollout restart deployment/linkerd-destination");
    remedy
        .command("If you deleted it to revoke the access of its clients, restart linkerd-destination instead", restart)
}

/// The authentication that a policy requires, if it exists and has no effect.
fn existing<'a>(survey: &Survey<'a>, policy: &Meta, reference: &TargetRef) -> Option<(Kind, &'a Meta)> {
    let namespace = reference.namespace.as_deref().unwrap_or(&policy.namespace);
    let is_named = |meta: &Meta| meta.key() == (namespace, reference.name.as_str());
    if reference.is_a("policy.linkerd.io", "NetworkAuthentication") {
        let mut all = survey.objects.network_authentications.iter().map(|one| &one.metadata);
        return Some((Kind::NetworkAuthentication, all.find(|meta| is_named(meta))?));
    }
    let mut all = survey.objects.mesh_tls_authentications.iter().map(|one| &one.metadata);
    Some((Kind::MeshTLSAuthentication, all.find(|meta| is_named(meta))?))
}

/// The operations that correct a reference: to the only other namespace with an authentication of that name, or to the
/// most similar name in the namespace.
fn correction(
    survey: &Survey<'_>,
    policy: &AuthorizationPolicy,
    missing: &TargetRef,
) -> Option<(String, Vec<serde_json::Value>)> {
    let references = &policy.spec.required_authentication_refs;
    let at = references.iter().position(|reference| std::ptr::eq(reference, missing))?;
    let namespace = missing.namespace.as_deref().unwrap_or(&policy.metadata.namespace);
    let keys: Vec<(&str, &str)> = if missing.is_a("policy.linkerd.io", "NetworkAuthentication") {
        survey.objects.network_authentications.iter().map(|one| one.metadata.key()).collect()
    } else if missing.is_a("policy.linkerd.io", "MeshTLSAuthentication") {
        survey.objects.mesh_tls_authentications.iter().map(|one| one.metadata.key()).collect()
    } else {
        return None;
    };
    let named = test(format!("/spec/requiredAuthenticationRefs/{at}/name"), missing.name.as_str());
    let set = |field: &str, value: &str| put(format!("/spec/requiredAuthenticationRefs/{at}/{field}"), value);
    let mut others = keys.iter().filter(|(_, name)| *name == missing.name);
    if let (Some((other, name)), None) = (others.next(), others.next()) {
        return Some((format!("{} {other}/{name}", missing.kind), vec![named, set("namespace", other)]));
    }
    let here = keys.iter().filter(|(home, _)| *home == namespace).map(|(_, name)| *name);
    // Another name authorizes other clients: only a slip is corrected without a person.
    let near = closest(&missing.name, here).filter(|near| is_slip(&missing.name, near))?;
    Some((format!("{} {namespace}/{near}", missing.kind), vec![named, set("name", &near)]))
}

fn remedy(
    survey: &Survey<'_>,
    policy: &AuthorizationPolicy,
    missing: Option<&TargetRef>,
    invalid: Option<(Kind, &Meta)>,
) -> Remedy {
    if let Some((kind, object)) = invalid {
        let act = format!("Correct {kind} {}/{}, so that it lists a client", object.namespace, object.name);
        return Remedy::new().command(act, on("edit", kind, object));
    }
    let look = match missing {
        Some(reference) if reference.is_a("policy.linkerd.io", "NetworkAuthentication") => {
            kubectl().words("get networkauthentications.policy.linkerd.io -A")
        }
        _ => kubectl().words("get meshtlsauthentications.policy.linkerd.io -A"),
    };
    let remedy = Remedy::new().command("Look for the intended object: another name, or another namespace", look);
    if let Some((found, operations)) = missing.and_then(|reference| correction(survey, policy, reference)) {
        return remedy.command(
            format!("Correct the reference to {found}, or create the missing object"),
            set(Kind::AuthorizationPolicy, &policy.metadata, operations),
        );
    }
    remedy.run(
        StepKind::Command,
        "Create the missing object, or correct the reference (to another namespace, it needs the namespace)",
        on("edit", Kind::AuthorizationPolicy, &policy.metadata),
    )
}
