//! Mutating webhooks other than the injector that change new pods of a namespace.

use super::unmeshed::injector_webhook;
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::objects::MutatingWebhookConfiguration;

/// Maximum number of webhooks that are named.
const NAMED: usize = 6;

/// Other webhooks that are called for new pods, with the namespaces that they select.
pub(super) struct OtherWebhooks(Vec<(String, Vec<String>)>);

impl OtherWebhooks {
    /// # Errors
    /// The webhook configurations or the namespaces are missing.
    pub(super) fn new(ctx: &Context<'_>) -> Result<OtherWebhooks, Missing> {
        let own = injector_webhook(ctx)?.map(|(_, webhook)| webhook.name.clone());
        let configurations = ctx.partial_list::<MutatingWebhookConfiguration>()?;
        let namespaces = ctx.partial_list::<Namespace>()?;
        let all = configurations.iter().flat_map(|configuration| &configuration.webhooks);
        let others = all.filter(|webhook| Some(&webhook.name) != own.as_ref() && webhook.is_called_for_pods());
        let with_namespaces = others.map(|webhook| {
            let selects = |namespace: &&Namespace| {
                let selector = webhook.namespace_selector.as_ref();
                selector.is_none_or(|selector| selector.matches(&namespace.metadata.labels))
            };
            let names = namespaces.iter().filter(selects).map(|namespace| namespace.metadata.name.clone());
            (webhook.name.clone(), names.collect())
        });
        Ok(OtherWebhooks(with_namespaces.collect()))
    }

    /// The names of those that are called in a namespace, as evidence; `None` if there are none.
    pub(super) fn evidence(&self, namespace: &str) -> Option<Evidence> {
        let here: Vec<&str> = self
            .0
            .iter()
            .filter(|(_, namespaces)| namespaces.iter().any(|name| name == namespace))
            .map(|(name, _)| name.as_str())
            .collect();
        (!here.is_empty()).then(|| Evidence::other("Other mutating webhooks of the namespace", some(here, NAMED)))
    }
}
