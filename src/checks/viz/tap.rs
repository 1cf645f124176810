//! The Secret with the certificate of tap, which serves a part of the Kubernetes API, and the webhook of its injector.
//! Reads them without evaluating them.

use crate::checks::extensions::installed_in;
use crate::checks::prelude::*;
use crate::objects::{Secret, Webhook, WebhookConfiguration};

/// The API version that tap serves.
pub(super) const API: &str = "v1alpha1.tap.linkerd.io";
/// The Secret with its certificate and key.
pub(super) const SECRET: &str = "tap-k8s-tls";
/// The Deployment and the Service of the injector of tap.
pub(super) const INJECTOR: &str = "tap-injector";
/// The Secret with its certificate and key.
pub(super) const INJECTOR_SECRET: &str = "tap-injector-k8s-tls";

/// Tap and its Secret.
pub(super) struct Tap<'a> {
    /// The namespace of viz.
    pub(super) namespace: &'a str,
    /// The Secret; `None` if it does not exist.
    pub(super) secret: Option<&'a Secret>,
}

impl Tap<'_> {
    /// The Secret as a subject.
    pub(super) fn subject(&self) -> Subject {
        Subject::object("Secret", self.namespace, SECRET)
    }

    /// The Secret in words.
    pub(super) fn secret_name(&self) -> String {
        format!("Secret {}/{SECRET}", self.namespace)
    }

    /// A field of the Secret as evidence.
    pub(super) fn evidence(&self, path: &str, said: impl Into<String>) -> Evidence {
        Evidence::field(self.secret_name(), path, said)
    }
}

/// A Secret of viz as an item.
pub(super) fn item(secret: &str) -> Item {
    Item::named(Kind::Secret, Scope::Extension(Extension::Viz), secret)
}

/// Tap, if viz is installed. Reads `namespaces` and the Secret.
///
/// # Errors
/// It is unknown whether viz is installed, or whether the Secret exists.
pub(super) fn tap<'a>(ctx: &Context<'a>) -> Result<Tap<'a>, Unjudged> {
    let namespace = installed_in(ctx, Extension::Viz)?;
    let secret = ctx.object::<Secret>(Scope::Extension(Extension::Viz), SECRET)?;
    Ok(Tap { namespace: &namespace.metadata.name, secret })
}

/// The webhook that calls the injector of tap.
pub(super) fn injector_webhook<'a>(
    all: &'a [WebhookConfiguration],
    namespace: &str,
) -> Option<(&'a WebhookConfiguration, &'a Webhook)> {
    let mut webhooks = all.iter().flat_map(|one| one.webhooks.iter().map(move |webhook| (one, webhook)));
    webhooks.find(|(_, webhook)| {
        let service = webhook.client_config.service.as_ref();
        service.is_some_and(|service| service.name == INJECTOR && service.namespace == namespace)
    })
}
