//! `webhook-secret-invalid`: the Secret with the certificate of a webhook is missing, or holds no
//! readable one.

use super::identity::need_control_plane;
use super::webhooks::{SERVERS, Server};
use crate::certificates::from_base64_pem;
use crate::checks::prelude::*;
use crate::checks::serving::{chart_writes_pair, served};
use crate::checks::upgrade;
use crate::objects::Secret;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut findings = Vec::new();
    let mut absent = false;
    for server in &SERVERS {
        match server.secret(ctx) {
            Err(missing) => ctx.gap(missing),
            // Releases before 2.11 have no such webhook; a registered one must have its Secret.
            Ok(None) if server.name == "policy-validator" && !is_registered(ctx, server) => {}
            Ok(None) => {
                absent = true;
                let message = "the Secret with the certificate of a webhook is missing: its pods do not \
                    start without it, and running pods cannot be restarted";
                let seen = Evidence::other(object(ctx, server), "does not exist");
                findings.push(finding(ctx, server, message, seen));
            }
            Ok(Some(secret)) => {
                let Err(error) = served(secret) else { continue };
                let seen = Evidence::field(object(ctx, server), "data", &error);
                if is_read_by_rust(server, secret) {
                    let message = "the Secret with the certificate of a webhook holds text that \
                        Linkerd's commands cannot read: the webhook serves the certificate anyway, but \
                        `linkerd check` fails";
                    let finding = finding(ctx, server, message, seen);
                    findings.push(finding.severity(Severity::Info).rows_as(Severity::Error).explains_nothing());
                } else {
                    let message = "the Secret with the certificate of a webhook holds none that Linkerd \
                        can read: the webhook has no certificate to serve when it starts";
                    findings.push(finding(ctx, server, message, seen));
                }
            }
        }
    }
    if absent {
        need_control_plane(ctx)?;
    }
    Ok(findings.into())
}

/// Whether the server of the webhook reads a certificate that Go programs do not: the policy
/// controller ignores text after the certificates.
fn is_read_by_rust(server: &Server, secret: &Secret) -> bool {
    let certificates = || secret.data.get("tls.crt").and_then(|text| from_base64_pem(text).ok());
    server.name == "policy-validator" && certificates().is_some_and(|found| !found.is_empty())
}

/// Whether the webhook is registered; records a gap if that is unknown.
fn is_registered(ctx: &Context<'_>, server: &Server) -> bool {
    ctx.or_note(server.webhook(ctx)).flatten().is_some()
}

fn object(ctx: &Context<'_>, server: &Server) -> String {
    format!("Secret {}/{}", ctx.namespaces().control_plane, server.secret_name())
}

/// Adds the step that writes the Secret, with the tool that owns it.
fn written_again(ctx: &Context<'_>, server: &Server) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    let act = match chart_writes_pair(ctx, server.values) {
        Some(false) => {
            return Remedy::new().command(
                "Find out why cert-manager, or the tool used instead, does not write the Secret",
                kubectl().namespace(namespace).words("describe certificates.cert-manager.io"),
            );
        }
        Some(true) => "Reapply the control plane, which writes the Secret",
        None => "Reapply the control plane, which writes the Secret (in cert-manager, if externalSecret is set)",
    };
    upgrade::reapply(ctx, Remedy::new(), act)
}

fn finding(ctx: &Context<'_>, server: &Server, message: &str, seen: Evidence) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let remedy = written_again(ctx, server).command(
        "Restart the workload that serves it",
        kubectl().namespace(namespace).words("rollout restart").arg(format!("deployment/{}", server.deployment)),
    );
    let finding = ctx
        .finding(server.secret_subject(ctx), message)
        .evidence(seen)
        .fails_rows([server.valid, server.sixty_days])
        .remedy(remedy);
    server.tied(ctx, finding)
}
