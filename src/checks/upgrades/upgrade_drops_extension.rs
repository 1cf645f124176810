//! `upgrade-drops-extension`: an extension is installed that has no release for the target.

use super::Upgrade;
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;
use crate::objects::MutatingWebhookConfiguration;

/// Whether a namespace has the label of an extension.
fn is_labelled(namespaces: &[Namespace], extension: &str) -> bool {
    namespaces.iter().any(|namespace| namespace.metadata.label(EXTENSION_LABEL) == Some(extension))
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let webhooks = ctx.partial_list::<MutatingWebhookConfiguration>();
    let namespaces = ctx.complete_list::<Namespace>()?;
    let webhooks = webhooks?;
    let gone: Vec<_> = ctx.knowledge.upgrades().extensions(way.between(ctx)).collect();
    let mut findings: Vec<Finding> = Vec::new();
    for namespace in namespaces {
        let Some(name) = namespace.metadata.label(EXTENSION_LABEL) else { continue };
        let Some(row) = gone.iter().find(|row| row.name == name) else { continue };
        let of = &namespace.metadata.name;
        let message = format!(
            "the extension {name} is not released for the target. Its webhook remains and keeps modifying \
             new pods for an unmaintained extension"
        );
        findings.push(
            ctx.finding(Subject::object(Kind::Namespace, "", of), message)
                .parameter(name)
                .evidence(Evidence::field(
                    format!("Namespace {of}"),
                    format!("metadata.labels[{EXTENSION_LABEL}]"),
                    name,
                ))
                .evidence(way.target.clone())
                .remedy(
                    Remedy::new()
                        .note(format!("Move to its replacement: {}", row.guide))
                        .note("Before the upgrade, remove the extension with the tool that installed it"),
                ),
        );
    }
    // Only the webhook exists, without a namespace with the extension's label.
    for row in gone.iter().filter(|row| !is_labelled(namespaces, &row.name)) {
        let Some(webhook) = webhooks.iter().find(|webhook| webhook.metadata.name == row.webhook) else {
            continue;
        };
        let name = &webhook.metadata.name;
        let message = format!(
            "the webhook of the extension {} remains without its namespace, and the extension is not \
             released for the target. It still modifies new pods, or calls to it fail",
            row.name
        );
        let evidence = Evidence::other(format!("MutatingWebhookConfiguration {name}"), "exists");
        let subject = Subject::object(Kind::MutatingWebhookConfiguration, "", name);
        let remove = kubectl().words("delete mutatingwebhookconfiguration").operand(name);
        findings.push(
            ctx.finding(subject, message)
                .parameter(row.name.clone())
                .evidence(evidence)
                .evidence(way.target.clone())
                .remedy(
                    Remedy::new()
                        .note(format!("Move to its replacement: {}", row.guide))
                        .command("Delete the webhook", remove),
                ),
        );
    }
    Ok(findings.into())
}
