//! `webhook-configuration-altered`: the configuration of one of Linkerd's webhooks holds no
//! webhook, several, a caBundle with other text, or parts with which the API server never calls it or cannot.

mod calls;

use self::calls::{Registered, Release};
use super::webhooks::{SERVERS, Server};
use crate::certificates::{at_least_one, from_base64_bundle, from_base64_pool};
use crate::checks::prelude::*;
use crate::checks::upgrade;
use crate::objects::WebhookConfiguration;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut findings = Vec::new();
    let mut missing: Vec<Missing> = Vec::new();
    let (release, services) = (Release::read(ctx), ctx.or_note(ctx.partial_list::<Service>()));
    let home = ctx.namespaces().control_plane.as_str();
    for server in &SERVERS {
        let configuration = match server.configuration(ctx) {
            Ok(Some(configuration)) => configuration,
            Ok(None) => continue,
            Err(gap) => {
                missing.push(gap);
                continue;
            }
        };
        if configuration.webhooks.len() == 1 {
            findings.extend(unread(ctx, server, configuration));
        } else {
            findings.push(finding(ctx, server, configuration));
        }
        if let Some(release) = &release
            && let Some(registered) = Registered::find(server, configuration, home)
        {
            findings.extend(registered.findings(ctx, release, services));
        }
    }
    if missing.len() == SERVERS.len()
        && let Some(last) = missing.pop()
    {
        missing.into_iter().for_each(|gap| ctx.gap(gap));
        return Err(last.into());
    }
    missing.into_iter().for_each(|gap| ctx.gap(gap));
    Ok(findings.into())
}

/// A finding about a caBundle whose certificates the API server accepts and which `linkerd check`
/// rejects as a whole.
fn unread(ctx: &Context<'_>, server: &Server, configuration: &WebhookConfiguration) -> Option<Finding> {
    let bundle = &configuration.webhooks.first()?.client_config.ca_bundle;
    let taken = from_base64_pool(bundle).is_ok_and(|certificates| !certificates.is_empty());
    let error = from_base64_bundle(bundle).and_then(at_least_one).err().filter(|_| taken)?;
    let name = &configuration.metadata.name;
    let message = "the caBundle of a webhook holds more than certificates: the API server ignores the \
        rest, but `linkerd check` cannot read it";
    let finding = ctx.finding(Subject::object(server.kind(), "", name), message).severity(Severity::Info);
    let finding = finding.rows_as(Severity::Error).fails_rows([server.valid]).parameter("bundle");
    let seen = Evidence::field(format!("{} {name}", server.kind()), "webhooks[].clientConfig.caBundle", error);
    let remedy = upgrade::reapply(ctx, Remedy::new(), "Have it written again");
    Some(finding.explains_nothing().evidence(seen).remedy(remedy))
}

fn finding(ctx: &Context<'_>, server: &Server, configuration: &WebhookConfiguration) -> Finding {
    let name = &configuration.metadata.name;
    let names: Vec<&str> = configuration.webhooks.iter().map(|webhook| webhook.name.as_str()).collect();
    let (severity, message, said) = if names.is_empty() {
        let message = match server.name {
            "proxy-injector" => "the configuration of the injector's webhook holds no webhook: new pods get no proxy",
            _ => {
                "the configuration of a validating webhook holds no webhook: the resources it should \
                    validate are accepted unchecked"
            }
        };
        (Severity::Error, message, "empty".to_owned())
    } else {
        let message = "one of Linkerd's webhook configurations holds several webhooks instead of one: \
            the API server calls each of them, and `linkerd check` fails on it";
        (Severity::Warning, message, names.join(", "))
    };
    let remedy = upgrade::reapply(
        ctx,
        without_others(server, configuration),
        "Have it written again, and find out what changes it (a policy engine, a tool of the platform)",
    );
    let finding = ctx
        .finding(Subject::object(server.kind(), "", name), message)
        .severity(severity)
        .rows_as(Severity::Error)
        .fails_rows([server.valid])
        .evidence(Evidence::field(format!("{} {name}", server.kind()), "webhooks", said))
        .remedy(remedy);
    if severity == Severity::Error { server.tied(ctx, finding) } else { finding }
}

/// Removes the webhooks that are not Linkerd's: an apply keeps them, since it merges the list by name.
fn without_others(server: &Server, configuration: &WebhookConfiguration) -> Remedy {
    let own = format!("linkerd-{}.linkerd.io", server.name);
    let others = configuration.webhooks.iter().enumerate().filter(|(_, webhook)| webhook.name != own);
    // From the end, so that the positions of the others stay.
    let operations: Vec<serde_json::Value> = others
        .rev()
        .flat_map(|(at, webhook)| {
            let path = format!("/webhooks/{at}");
            let test = serde_json::json!({"op": "test", "path": format!("{path}/name"), "value": webhook.name});
            [test, serde_json::json!({"op": "remove", "path": path})]
        })
        .collect();
    if operations.is_empty() {
        return Remedy::new();
    }
    let patch = kubectl().words(match server.kind() {
        Kind::MutatingWebhookConfiguration => "patch mutatingwebhookconfiguration",
        _ => "patch validatingwebhookconfiguration",
    });
    let patch = patch.operand(&configuration.metadata.name);
    let patch = patch.words("--type=json -p").arg(serde_json::Value::from(operations).to_string());
    Remedy::new().command("Remove the other webhooks: an apply keeps them", patch)
}
