//! `issuer-secret-invalid`: the Secret of the issuer is missing, or does not hold what identity is set to read.

use super::identity::{ISSUER, Scheme, chain, config, identity_deployment, no_control_plane, scheme, values};
use super::remedy;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, Severity, Subject};
use crate::item::{Kind, Scope};
use crate::model::certificates::from_bundle;
use crate::model::objects::Secret;

const CONFIG_VALID: &str = "certificate config is valid";
const ISSUED: &str = "issuer cert is issued by the trust anchor";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    if let Err(missing) = config(ctx) {
        ctx.gap(missing);
    }
    let values = values(ctx);
    let secret = ctx.named::<Secret>(Kind::Secret, Scope::ControlPlane, ISSUER)?;
    let scheme = scheme(values.as_ref(), secret);
    let Some(secret) = secret else {
        if let Some(verdict) = no_control_plane(ctx)? {
            return Ok(verdict);
        }
        let message = "the Secret that holds the issuer's certificate and key is missing: identity does not start without it, \
                       and no new proxy gets a certificate";
        let seen = secret_says(ctx, "metadata.name", "there is no such Secret".to_owned());
        return Ok(vec![finding(ctx, message, seen, scheme, "missing")].into());
    };
    let mut findings = Vec::new();
    if let Err(error) = chain(secret, scheme) {
        let held: Vec<&str> = secret.data.keys().map(String::as_str).collect();
        let held = if held.is_empty() { "nothing".to_owned() } else { held.join(", ") };
        let said = format!(
            "{error}; certificates stand under: {held} (identity.issuer.scheme is {})",
            scheme.name()
        );
        let message = "the issuer's Secret does not hold the certificate that identity reads: identity does not start with it";
        findings.push(finding(ctx, message, secret_says(ctx, "data", said), scheme, "certificate"));
    }
    if scheme == Scheme::External && !secret.data.contains_key("ca.crt") {
        let message = "the issuer's Secret has no ca.crt: `linkerd check` and other commands that take the trust anchors from \
                       there fail";
        let seen = secret_says(ctx, "data", "no certificate under ca.crt".to_owned());
        findings.push(finding(ctx, message, seen, scheme, "ca.crt").fails_rows([CONFIG_VALID, ISSUED]));
    }
    let pem = values.as_ref().and_then(|values| values.text("identityTrustAnchorsPEM"));
    if scheme == Scheme::Linkerd
        && let Some(pem) = pem
        && let Err(error) = from_bundle(pem)
    {
        let namespace = &ctx.namespaces().control_plane;
        let object = format!("ConfigMap {namespace}/linkerd-config");
        let seen = Evidence::field(object, "data.values: identityTrustAnchorsPEM", error);
        // The chart trims the text, so that blanks at its end reach nobody but `linkerd check`.
        if from_bundle(pem.trim()).is_ok() {
            let message = "the trust anchors in linkerd-config end with blanks: `linkerd check` cannot read them and ends there; \
                           nobody else minds";
            let finding = finding(ctx, message, seen, scheme, "blanks");
            findings.push(finding.severity(Severity::Info).rows_as(Severity::Error).explains_nothing());
        } else {
            let message = "the trust anchors that the mesh was installed with cannot be read: the next upgrade gives them to every \
                           proxy";
            findings.push(finding(ctx, message, seen, scheme, "anchors"));
        }
    }
    Ok(findings.into())
}

fn secret_says(ctx: &Context<'_>, path: &str, said: String) -> Evidence {
    Evidence::field(format!("Secret {}/{ISSUER}", ctx.namespaces().control_plane), path, said)
}

fn finding(ctx: &Context<'_>, message: &str, seen: Evidence, scheme: Scheme, which: &str) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let steps = Remedy::verified_by("meshdoctor check --only certificates");
    let steps = match scheme {
        Scheme::Linkerd if which == "anchors" => remedy::take_out(ctx, steps),
        Scheme::Linkerd if which == "blanks" => {
            let steps =
                remedy::read_bundle(ctx, steps, "Write the bundle in force to a file, which has no such end");
            remedy::put_bundle(ctx, steps, "Make it the bundle of the installation")
        }
        Scheme::Linkerd => remedy::put_issuer(ctx, remedy::new_issuer(ctx, steps), None),
        Scheme::External => remedy::by_owner(ctx, steps),
    };
    ctx.finding(Subject::object("Secret", namespace, ISSUER), message)
        .evidence(seen)
        .parameter(which)
        .fails_rows([CONFIG_VALID])
        .remedy(steps)
        .tie(identity_deployment(ctx))
}
