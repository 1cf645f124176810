//! Linkerd's webhooks and their certificates: where a certificate is stored, which bundle the API
//! server verifies it with, and the effect of a failure. Reads and parses only.

use super::identity::need_control_plane;
use crate::certificates::{Certificate, from_base64_pool};
use crate::checks::prelude::*;
use crate::checks::serving::served;
use crate::item;
use crate::objects::{
    KindOf, Listed, MutatingWebhookConfiguration, Secret, ValidatingWebhookConfiguration, Webhook, WebhookConfiguration,
};

/// One of Linkerd's webhooks.
pub(super) struct Server {
    /// Its name, without `linkerd-`.
    pub(super) name: &'static str,
    /// The component whose pods are queried for the served certificate.
    pub(super) asked: item::Server,
    /// Its part of the chart's values.
    pub(super) values: &'static str,
    /// The Deployment that serves it.
    pub(super) deployment: &'static str,
    /// The kind of its configuration.
    pub(super) list: KindOf<WebhookConfiguration>,
    /// The row of `linkerd check` about the validity of its certificate.
    pub(super) valid: &'static str,
    /// The row of `linkerd check` about the next 60 days.
    pub(super) sixty_days: &'static str,
}

/// All of them.
pub(super) const SERVERS: [Server; 3] = [
    Server {
        name: "proxy-injector",
        asked: item::Server::ProxyInjector,
        values: "proxyInjector",
        deployment: "linkerd-proxy-injector",
        list: MutatingWebhookConfiguration::LIST,
        valid: "proxy-injector webhook has valid cert",
        sixty_days: "proxy-injector cert is valid for at least 60 days",
    },
    Server {
        name: "sp-validator",
        asked: item::Server::SpValidator,
        values: "profileValidator",
        deployment: "linkerd-destination",
        list: ValidatingWebhookConfiguration::LIST,
        valid: "sp-validator webhook has valid cert",
        sixty_days: "sp-validator cert is valid for at least 60 days",
    },
    Server {
        name: "policy-validator",
        asked: item::Server::PolicyValidator,
        values: "policyValidator",
        deployment: "linkerd-destination",
        list: ValidatingWebhookConfiguration::LIST,
        valid: "policy-validator webhook has valid cert",
        sixty_days: "policy-validator cert is valid for at least 60 days",
    },
];

impl Server {
    /// The kind of its configuration.
    pub(super) fn kind(&self) -> Kind {
        self.list.kind()
    }

    /// The Secret that holds its certificate and key.
    pub(super) fn secret_name(&self) -> String {
        format!("linkerd-{}-k8s-tls", self.name)
    }

    /// The Secret as an item.
    pub(super) fn secret_item(&self) -> Item {
        Item::named(Kind::Secret, Scope::ControlPlane, self.secret_name())
    }

    /// The Secret as a subject.
    pub(super) fn secret_subject(&self, ctx: &Context<'_>) -> Subject {
        Subject::object("Secret", &ctx.namespaces().control_plane, &self.secret_name())
    }

    /// The Secret; `None` if it is known not to exist.
    ///
    /// # Errors
    /// It is unknown whether it exists.
    pub(super) fn secret<'a>(&self, ctx: &Context<'a>) -> Result<Option<&'a Secret>, Missing> {
        ctx.object::<Secret>(Scope::ControlPlane, &self.secret_name())
    }

    /// The configuration that Linkerd writes for it; `None` if it is known not to exist.
    ///
    /// # Errors
    /// Configurations are unavailable or incomplete, and its own is not among those listed.
    pub(super) fn configuration<'a>(&self, ctx: &Context<'a>) -> Result<Option<&'a WebhookConfiguration>, Missing> {
        let name = format!("linkerd-{}-webhook-config", self.name);
        let is_it = |configuration: &&WebhookConfiguration| configuration.metadata.name == name;
        match ctx.seen_of(self.list)?.iter().find(is_it) {
            Some(configuration) => Ok(Some(configuration)),
            None => ctx.every_of(self.list).map(|_| None),
        }
    }

    /// Its webhook with its configuration; `None` when it is known that nothing registers it.
    ///
    /// # Errors
    /// As [`Server::configuration`].
    pub(super) fn webhook<'a>(
        &self,
        ctx: &Context<'a>,
    ) -> Result<Option<(&'a WebhookConfiguration, &'a Webhook)>, Missing> {
        let configuration = self.configuration(ctx)?;
        Ok(configuration.and_then(|configuration| Some((configuration, configuration.webhooks.first()?))))
    }

    /// The effect if the API server cannot connect to the webhook.
    pub(super) fn effect(&self, webhook: Option<&Webhook>) -> &'static str {
        let fails_open = webhook.is_some_and(|webhook| webhook.failure_policy == "Ignore");
        match (self.name, fails_open) {
            ("proxy-injector", true) => "the webhook fails open, so new pods start outside the mesh",
            ("proxy-injector", false) => "the webhook fails closed, so no pod is created",
            ("sp-validator", true) => "the webhook fails open, so ServiceProfiles are accepted unchecked",
            ("sp-validator", false) => "the webhook fails closed, so no ServiceProfile can be created or changed",
            (_, true) => "the webhook fails open, so policy resources are accepted unchecked",
            (_, false) => "the webhook fails closed, so no policy resource can be created or changed",
        }
    }

    /// Adds the correlation key of a finding about it and its consequences.
    pub(super) fn tied(&self, ctx: &Context<'_>, finding: Finding) -> Finding {
        let namespace = ctx.namespaces().control_plane.clone();
        let finding = finding.tie(Tie::Workload("Deployment".to_owned(), namespace, self.deployment.to_owned()));
        if self.name == "proxy-injector" { finding.tie(crate::checks::serving::silent_injector()) } else { finding }
    }

    /// The certificates that the API server verifies it with.
    ///
    /// # Errors
    /// They are unreadable.
    pub(super) fn trusted(&self, ctx: &Context<'_>, webhook: &Webhook) -> Result<Vec<Certificate>, Missing> {
        from_base64_pool(&webhook.client_config.ca_bundle).map_err(|message| {
            let part = format!("the caBundle of linkerd-{}", self.name);
            ctx.missing(Item::List(self.kind()), Why::Malformed { message }, part)
        })
    }
}

/// A server whose Secret holds a certificate.
pub(super) struct Serving<'a> {
    /// Which.
    pub(super) server: &'static Server,
    pub(super) secret: &'a Secret,
    /// Its certificates, its own first.
    pub(super) served: Vec<Certificate>,
}

/// The servers whose Secrets hold certificates; records gaps for unavailable ones.
///
/// # Errors
/// None exists, or none is available.
pub(super) fn serving<'a>(ctx: &Context<'a>, servers: &'static [Server]) -> Result<Vec<Serving<'a>>, Unjudged> {
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for server in servers {
        match server.secret(ctx) {
            Err(gap) => missing.push(gap),
            Ok(None) => {}
            // `webhook-secret-invalid` reports an unreadable one.
            Ok(Some(secret)) => {
                found.extend(served(secret).ok().map(|served| Serving { server, secret, served }));
            }
        }
    }
    if missing.len() == servers.len()
        && let Some(last) = missing.pop()
    {
        missing.into_iter().for_each(|gap| ctx.gap(gap));
        return Err(last.into());
    }
    missing.into_iter().for_each(|gap| ctx.gap(gap));
    if found.is_empty() {
        need_control_plane(ctx)?;
        let reason = "no webhook has a readable certificate";
        return Err(Unjudged::blocked("webhook-secret-invalid", reason));
    }
    Ok(found)
}
