//! `webhook-certificate-stale`: a pod of a webhook serves a certificate other than the one in its
//! Secret.

use super::webhooks::{SERVERS, Serving, serving};
use crate::certificates::{Certificate, Validity, from_pem};
use crate::checks::dates::dates;
use crate::checks::prelude::*;
use crate::checks::serving::refusal;
use crate::item::ServedBy;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let serving = serving(ctx, &SERVERS)?;
    let mut findings = Vec::new();
    for pair in &serving {
        let Some(pods) = ctx.or_note(ctx.served(pair.server.asked)) else { continue };
        if pods.is_empty() {
            let why = Why::Failed { message: "it has no running pod".to_owned() };
            ctx.gap(ctx.missing(Item::Served(pair.server.asked), why, "what it serves"));
        }
        for pod in pods {
            match shown(ctx, pair, pod) {
                Ok(chain) if chain[0] == pair.served[0] => {}
                Ok(chain) => findings.push(finding(ctx, pair, pod, &chain)),
                Err(missing) => ctx.gap(missing),
            }
        }
    }
    Ok(findings.into())
}

/// The certificates that a pod served; at least one.
fn shown(ctx: &Context<'_>, pair: &Serving<'_>, pod: &ServedBy) -> Result<Vec<Certificate>, Missing> {
    let lacking = |why| ctx.missing(Item::Served(pair.server.asked), why, format!("pod {}", pod.name));
    if !pod.error.is_empty() {
        return Err(lacking(Why::Failed { message: pod.error.clone() }));
    }
    match from_pem(pod.chain.as_bytes()) {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        Ok(_) => Err(lacking(Why::Malformed { message: "no certificate".to_owned() })),
        Err(message) => Err(lacking(Why::Malformed { message })),
    }
}

fn finding(ctx: &Context<'_>, pair: &Serving<'_>, pod: &ServedBy, chain: &[Certificate]) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let webhook = ctx.or_note(pair.server.webhook(ctx)).flatten().map(|(_, webhook)| webhook);
    let refused = webhook.is_some_and(|webhook| {
        let name = format!("linkerd-{}.{namespace}.svc", pair.server.name);
        pair.server.trusted(ctx, webhook).is_ok_and(|trusted| {
            let bundle = webhook.client_config.ca_bundle.as_str();
            refusal(chain, (bundle, &trusted), &name).is_ok_and(|refusal| refusal.is_some())
        })
    });
    let outdated = chain[0].validity(ctx.now()) != Validity::Current;
    let (severity, message) = if refused || outdated {
        let effect = pair.server.effect(webhook);
        (
            Severity::Error,
            format!(
                "a pod of the webhook serves a certificate other than the one in its Secret, and the API \
                 server rejects it. The pod has not read the Secret since it changed: {effect}"
            ),
        )
    } else {
        (
            Severity::Warning,
            "a pod of the webhook serves a certificate other than the one in its Secret: it has not read \
                the changed Secret, and fails when its certificate expires or is no longer trusted"
                .to_owned(),
        )
    };
    let finding = ctx
        .finding(pair.server.secret_subject(ctx), message)
        .severity(severity)
        .evidence(Evidence::other(
            format!("Pod {namespace}/{} port {}", pod.name, pair.server.asked.port()),
            format!("serves {}: {}", chain[0].summary(), dates(&chain[0], ctx.now())),
        ))
        .evidence(Evidence::field(
            format!("Secret {namespace}/{}", pair.server.secret_name()),
            "data: certificate",
            format!("{}: {}", pair.served[0].summary(), dates(&pair.served[0], ctx.now())),
        ))
        .remedy(
            Remedy::new().command(
                "Restart the workload that serves the webhook, so that it reads the Secret",
                kubectl()
                    .namespace(namespace)
                    .words("rollout restart")
                    .arg(format!("deployment/{}", pair.server.deployment)),
            ),
        );
    if severity == Severity::Error { pair.server.tied(ctx, finding) } else { finding }
}
