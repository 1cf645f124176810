//! `webhook-secret-invalid`: the Secret with the certificate of a webhook is missing, or holds no
//! readable one.

use super::identity::need_control_plane;
use super::webhooks::{SERVERS, Server};
use crate::certificates::from_base64_pem;
use crate::checks::serving::served;
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind};
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
                findings.push(finding(ctx, server, message, "metadata.name", "the Secret does not exist"));
            }
            Ok(Some(secret)) => {
                let Err(error) = served(secret) else { continue };
                if is_read_by_rust(server, secret) {
                    let message = "the Secret with the certificate of a webhook holds text that \
                        Linkerd's commands cannot read: the webhook serves the certificate anyway, but \
                        `linkerd check` fails";
                    let finding = finding(ctx, server, message, "data", &error);
                    findings
                        .push(finding.severity(Severity::Info).rows_as(Severity::Error).explains_nothing());
                } else {
                    let message = "the Secret with the certificate of a webhook holds none that Linkerd \
                        can read: the webhook has no certificate to serve when it starts";
                    findings.push(finding(ctx, server, message, "data", &error));
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
    server.webhook(ctx).map_or_else(
        |missing| {
            ctx.gap(missing);
            false
        },
        |webhook| webhook.is_some(),
    )
}

fn finding(ctx: &Context<'_>, server: &Server, message: &str, path: &str, said: &str) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let remedy = upgrade::step(
        ctx,
        Remedy::new(),
        StepKind::Command,
        "Have it written again (if the chart's externalSecret is set, cert-manager or a similar tool \
            writes it: find out why it does not)",
        Options::none(),
    );
    let remedy = remedy.run(
        StepKind::Command,
        "Restart the workload that serves it",
        kubectl()
            .namespace(namespace)
            .words("rollout restart")
            .arg(format!("deployment/{}", server.deployment)),
    );
    let object = format!("Secret {namespace}/{}", server.secret_name());
    let finding = ctx
        .finding(server.secret_subject(ctx), message)
        .evidence(Evidence::field(object, path, said))
        .fails_rows([server.valid, server.sixty_days])
        .remedy(remedy);
    server.tied(ctx, finding)
}
