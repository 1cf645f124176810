//! `webhook-certificate-expired`: the certificate of a webhook, or a certificate in its caBundle,
//! is not valid now.

use super::webhooks::{SERVERS, Serving, serving};
use crate::certificates::{Certificate, Validity};
use crate::checks::dates::{clocks_first, dates, starts_shortly, wait_for};
use crate::checks::injection::unmeshed::once_it_answers;
use crate::checks::prelude::*;
use crate::checks::serving::{align_ca_step, out_of_date};
use crate::model::moments;
use crate::objects::{Webhook, WebhookConfiguration};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let serving = serving(ctx, &SERVERS)?;
    let mut findings = Vec::new();
    for pair in &serving {
        // The certificate is checked even if the bundle is unavailable.
        let webhook = ctx.or_note(pair.server.webhook(ctx)).flatten();
        let trusted = webhook.map(|(_, webhook)| pair.server.trusted(ctx, webhook)).transpose();
        let trusted = ctx.or_note(trusted).flatten();
        findings.extend(finding(ctx, pair, webhook, trusted.as_deref()));
    }
    Ok(findings.into())
}

fn finding(
    ctx: &Context<'_>,
    pair: &Serving<'_>,
    webhook: Option<(&WebhookConfiguration, &Webhook)>,
    trusted: Option<&[Certificate]>,
) -> Option<Finding> {
    let out = |certificate: &&Certificate| certificate.validity(ctx.now()) != Validity::Current;
    let own = out_of_date(&pair.served, trusted.unwrap_or_default(), ctx.now());
    let theirs: Vec<&Certificate> = trusted.unwrap_or_default().iter().filter(out).collect();
    let name = pair.server.name;
    let effect = pair.server.effect(webhook.map(|(_, webhook)| webhook));
    let message = match (own.first(), theirs.first()) {
        (None, None) => return None,
        (Some(certificate), _) => {
            let state = match certificate.validity(ctx.now()) {
                Validity::NotYet => "is not valid yet",
                Validity::Over | Validity::Current => "has expired",
            };
            format!(
                "the certificate of the {name} webhook {state}, and the API server does not connect to it: {effect}"
            )
        }
        (None, Some(_)) => format!(
            "the caBundle of the {name} webhook holds a certificate that is not valid now. If the webhook's own \
             certificate chains to no other, the API server does not connect to it: {effect}"
        ),
    };
    let list = |certificates: &[&Certificate]| {
        let each = certificates.iter().map(|c| format!("{}: {}", c.summary(), dates(c, ctx.now())));
        each.collect::<Vec<_>>().join("; ")
    };
    let namespace = &ctx.namespaces().control_plane;
    let invalid = || own.iter().chain(&theirs).copied();
    let remedy = match starts_shortly(invalid(), ctx.now()) {
        Some(start) => wait_for(Remedy::new(), start),
        None => {
            let remedy = clocks_first(Remedy::new(), invalid(), ctx.now());
            align_ca_step(ctx, remedy, pair.server.values, pair.server.name)
        }
    };
    let remedy = if pair.server.name == "proxy-injector" {
        once_it_answers(ctx, remedy, webhook.map(|(_, webhook)| webhook))
    } else {
        remedy
    };
    let mut finding =
        ctx.finding(pair.server.secret_subject(ctx), message).fails_rows([pair.server.valid]).remedy(remedy);
    if !own.is_empty() {
        let object = format!("Secret {namespace}/{}", pair.server.secret_name());
        let moments = own.iter().flat_map(|own| moments::of_certificate(&object, "data: certificate", own, ctx.now()));
        finding = finding.timeline(moments);
        finding = finding.evidence(Evidence::field(object, "data: certificate", list(&own)));
    }
    if let (false, Some((configuration, _))) = (theirs.is_empty(), webhook) {
        let object = format!("{} {}", pair.server.kind(), configuration.metadata.name);
        finding = finding.evidence(Evidence::field(object, "webhooks[].clientConfig.caBundle", list(&theirs)));
    }
    Some(pair.server.tied(ctx, finding))
}
