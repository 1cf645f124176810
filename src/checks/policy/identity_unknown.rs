//! `identity-unknown`: policies name identities that no workload can have.

use super::survey::{Survey, about, defined, field, on, survey};
use crate::checks::{Context, Judgement};
use crate::finding::{Remedy, Severity, StepKind};
use crate::objects::{Kind, Link, MeshTLSAuthentication, ServiceAccount};

/// How an identity that policies name is none of this mesh.
enum Fault {
    /// It is not written as an identity.
    Form(String),
    /// It ends in another trust domain.
    Foreign(String),
    /// There is no such service account.
    NoAccount(String),
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let accounts = ctx.every::<ServiceAccount>()?;
    let has =
        |namespace: &str, name: &str| accounts.iter().any(|one| one.metadata.key() == (namespace, name));
    // Linked clusters have identities of their own.
    let linked = || ctx.noted(defined::<Link>(ctx)).is_some_and(|links| !links.is_empty());
    let mut findings = Vec::new();
    for object in
        survey.objects.mesh_tls_authentications.iter().filter(|one| ctx.judges(&one.metadata.namespace))
    {
        let meta = &object.metadata;
        for (path, text, fault) in faults(survey, object, &has) {
            let (message, severity) = match fault {
                Fault::Form(wanted) => {
                    (format!("no workload can have this identity: {wanted}"), Severity::Warning)
                }
                Fault::NoAccount(account) => (
                    format!("there is no ServiceAccount {account}: nobody can show this identity"),
                    Severity::Warning,
                ),
                Fault::Foreign(suffix) => (
                    format!(
                        "identities of this mesh end in {suffix}: no workload of this cluster has this one"
                    ),
                    if linked() { Severity::Info } else { Severity::Warning },
                ),
            };
            findings.push(
                about(ctx, Kind::MeshTLSAuthentication, meta, message)
                    .severity(severity)
                    .parameter(text.as_str())
                    .evidence(field(Kind::MeshTLSAuthentication, meta, path, text.as_str()))
                    .remedy(Remedy::new().run(
                        StepKind::Command,
                        "Name the ServiceAccount under identityRefs, which cannot be misspelled into another mesh",
                        on("edit", Kind::MeshTLSAuthentication, meta),
                    )),
            );
        }
    }
    Ok(findings.into())
}

fn faults(
    survey: &Survey<'_>,
    object: &MeshTLSAuthentication,
    has: &impl Fn(&str, &str) -> bool,
) -> Vec<(&'static str, String, Fault)> {
    let suffix = survey.index.controller.identity_suffix();
    let form = || Fault::Form(format!("they are ACCOUNT.NAMESPACE{suffix}"));
    let written = object.spec.identities.iter().filter_map(|text| {
        // ExternalWorkloads have identities of another form.
        if text == "*" || text.starts_with("spiffe://") {
            return None;
        }
        let fault = match text.strip_prefix("*.") {
            Some(rest) if rest.contains('*') => form(),
            Some(rest) if suffix.ends_with(rest) || rest.ends_with(suffix.trim_start_matches('.')) => {
                return None;
            }
            Some(rest)
                if rest.contains(".serviceaccount.identity.")
                    || rest.starts_with("serviceaccount.identity.") =>
            {
                Fault::Foreign(suffix.clone())
            }
            Some(_) => form(),
            None if text.contains('*') => form(),
            None => match text.strip_suffix(suffix.as_str()) {
                Some(rest) => match rest.split_once('.') {
                    Some((account, namespace)) if !namespace.contains('.') => {
                        if has(namespace, account) {
                            return None;
                        }
                        Fault::NoAccount(format!("{namespace}/{account}"))
                    }
                    _ => form(),
                },
                None if text.contains(".serviceaccount.identity.") => Fault::Foreign(suffix.clone()),
                None => form(),
            },
        };
        Some(("spec.identities", text.clone(), fault))
    });
    let referred = object.spec.identity_refs.iter().filter_map(|reference| {
        let namespace = reference.namespace.as_deref().unwrap_or(&object.metadata.namespace);
        if !reference.is_a("", "ServiceAccount") || has(namespace, &reference.name) {
            return None;
        }
        let account = format!("{namespace}/{}", reference.name);
        Some(("spec.identityRefs", format!("ServiceAccount {account}"), Fault::NoAccount(account)))
    });
    written.chain(referred).collect()
}
