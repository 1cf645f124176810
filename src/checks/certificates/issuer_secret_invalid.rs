//! `issuer-secret-invalid`: the Secret of the issuer is missing, or does not hold the configured
//! certificate.

use super::identity::{ISSUER, Scheme, chain, config, identity_deployment, need_control_plane, scheme, values};
use super::remedy;
use crate::certificates::{PemDamage, base64_damage, damage, from_base64_bundle, from_bundle};
use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::checks::upgrade;
use crate::checks::upgrade::CURRENT_BUNDLE;
use crate::objects::Secret;

/// The rows of `linkerd check` for this check, including the one that fails on missing trust
/// anchors.
const VALID: &str = "certificate config is valid";
const ISSUED: &str = "issuer cert is issued by the trust anchor";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    _ = ctx.or_note(config(ctx));
    let values = values(ctx);
    let secret = ctx.object::<Secret>(Scope::ControlPlane, ISSUER)?;
    let scheme = scheme(values.as_ref(), secret);
    let Some(secret) = secret else {
        need_control_plane(ctx)?;
        let message = "The issuer Secret is missing. Running identity pods keep their copy, but after a \
                       restart identity does not start, and no proxy gets a certificate";
        let seen = Evidence::other(format!("Secret {}/{ISSUER}", ctx.namespaces().control_plane), "does not exist");
        return Ok(finding(ctx, message, seen, scheme, "missing").into());
    };
    let mut findings = Vec::new();
    let damage = secret.data.get(scheme.certificate()).and_then(|text| base64_damage(text));
    if let Some(damage) = damage {
        findings.push(damaged(ctx, scheme, damage));
    } else if let Err(error) = chain(secret, scheme) {
        let held: Vec<&str> = secret.data.keys().map(String::as_str).collect();
        let held = if held.is_empty() { "nothing".to_owned() } else { held.join(", ") };
        let said = format!("{error}; keys with certificates: {held} (identity.issuer.scheme is {})", scheme.name());
        let message = "the issuer's Secret does not hold the certificate that identity reads: identity \
            does not start";
        let finding = finding(ctx, message, secret_says(ctx, "data", said), scheme, "certificate");
        let is_other_layout = scheme == Scheme::Linkerd && chain(secret, Scheme::External).is_ok();
        findings.push(if is_other_layout { finding.remedy(of_external_layout(ctx)) } else { finding });
    }
    if scheme == Scheme::External {
        let said = match secret.data.get("ca.crt").map(|text| from_base64_bundle(text)) {
            None => Some("no certificate under ca.crt".to_owned()),
            Some(Err(error)) => {
                let damage = secret.data.get("ca.crt").and_then(|text| base64_damage(text));
                Some(format!("ca.crt: {}", damage.map_or(error, |damage| damage.describe().to_owned())))
            }
            Some(Ok(_)) => None,
        };
        let message = "the issuer's Secret has no readable ca.crt: `linkerd check` and other commands \
            that take the trust anchors from it fail";
        // An empty `ca.crt` passes the first row; it is stored like a missing one.
        findings.extend(said.map(|said| {
            let seen = secret_says(ctx, "data", said);
            finding(ctx, message, seen, scheme, "ca.crt").fails_rows([VALID, ISSUED])
        }));
    }
    if scheme == Scheme::Linkerd
        && let Some(values) = &values
    {
        findings.extend(anchors(ctx, values));
    }
    Ok(findings.into())
}

/// The remedy if the Secret has a certificate in the layout of the other scheme, as cert-manager writes it.
fn of_external_layout(ctx: &Context<'_>) -> Remedy {
    let name = Scheme::External.name();
    let act = format!("Set identity.issuer.scheme to {name}: the Secret has its layout, as cert-manager writes it");
    let options = upgrade::Options::none().set("identity.issuer.scheme", name).in_rotation();
    let options = options
        .stored_first(format!("set identity.issuer.scheme to {name}, and remove the certificate and key below tls"));
    upgrade::with_values(ctx, Remedy::new(), &act, options)
}

/// Faults of the trust anchors in the values, which count if the chart writes the Secret.
fn anchors(ctx: &Context<'_>, values: &Values) -> Option<Finding> {
    let namespace = &ctx.namespaces().control_plane;
    let says = |said: String| {
        let object = format!("ConfigMap {namespace}/linkerd-config");
        Evidence::field(object, "data.values: identityTrustAnchorsPEM", said)
    };
    let scheme = Scheme::Linkerd;
    let Some(pem) = values.text("identityTrustAnchorsPEM") else {
        // With an external authority they are missing by design, and the real row always fails.
        if values.bool("identity.externalCA") == Some(true) {
            return None;
        }
        let message = "linkerd-config holds no trust anchors: `linkerd check` and `linkerd multicluster \
            check` report the issuer as unsigned. The mesh itself uses those in \
            linkerd-identity-trust-roots";
        let finding = finding(ctx, message, says("missing".to_owned()), scheme, "none");
        let finding = finding.severity(Severity::Info).rows_as(Severity::Error).explains_nothing();
        return Some(finding.fails_rows([ISSUED]));
    };
    if let Some(damage) = damage(pem) {
        let message = "the trust anchors of the installation are damaged: the next upgrade gives them to every proxy";
        let finding = finding(ctx, message, says(damage.describe().to_owned()), scheme, "anchors");
        return Some(finding.remedy(remedy::restored_bundle(ctx, Remedy::new(), damage)));
    }
    let error = from_bundle(pem).err()?;
    let seen = says(error);
    // The chart trims the text, so only `linkerd check` reads the blanks at its end.
    let found = if from_bundle(pem.trim()).is_ok() {
        let message = "the trust anchors in linkerd-config end with blanks: `linkerd check` cannot read \
            them and stops there; nothing else is affected";
        let finding = finding(ctx, message, seen, scheme, "blanks");
        finding.severity(Severity::Info).rows_as(Severity::Error).explains_nothing()
    } else {
        let message = "the trust anchors of the installation are unreadable: the next upgrade gives them \
            to every proxy";
        finding(ctx, message, seen, scheme, "anchors")
    };
    Some(found)
}

/// The finding for a certificate that identity does not find because of damage.
fn damaged(ctx: &Context<'_>, scheme: Scheme, damage: PemDamage) -> Finding {
    let message = "the issuer's certificate is damaged: identity does not start with it";
    let said = format!("{}: {}", scheme.certificate(), damage.describe());
    let finding = finding(ctx, message, secret_says(ctx, "data", said), scheme, "certificate");
    match scheme {
        Scheme::Linkerd => finding.remedy(remedy::restored_pair(ctx, Remedy::new(), damage)),
        Scheme::External => finding,
    }
}

fn secret_says(ctx: &Context<'_>, path: &str, said: String) -> Evidence {
    Evidence::field(format!("Secret {}/{ISSUER}", ctx.namespaces().control_plane), path, said)
}

fn finding(ctx: &Context<'_>, message: &str, seen: Evidence, scheme: Scheme, which: &str) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let steps = Remedy::new();
    let steps = match scheme {
        Scheme::Linkerd if which == "anchors" => remedy::take_out(ctx, steps),
        Scheme::Linkerd if which == "blanks" || which == "none" => {
            let steps = remedy::read_bundle(
                ctx,
                steps,
                "Write the current bundle, which is complete, to a file",
                CURRENT_BUNDLE,
            );
            remedy::put_bundle(ctx, steps, "Make it the bundle of the installation", CURRENT_BUNDLE)
        }
        Scheme::Linkerd if which == "missing" && upgrade::uses_stored_values(ctx) => {
            remedy::restored_secret(ctx, steps)
        }
        Scheme::Linkerd => remedy::put_issuer(ctx, remedy::new_issuer(ctx, steps), None),
        Scheme::External => remedy::by_owner(ctx, steps),
    };
    ctx.finding(Subject::object("Secret", namespace, ISSUER), message)
        .evidence(seen)
        .parameter(which)
        .remedy(steps)
        .fails_rows([VALID])
        .tie(identity_deployment(ctx))
}
