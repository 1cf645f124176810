//! The rules by which pods get a proxy in this cluster, and its settings: the injector's webhook, the
//! namespaces, the values of the control plane.

use super::injection::unmeshed::injector_webhook;
use super::pod_owners::Maker;
use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::model::injection::{Admission, Decision, INJECT, Level, effective};
use crate::objects::{Webhook, WebhookConfiguration};

/// The labels of namespaces that AKS's admissions enforcer excludes from every webhook.
pub(super) const AKS_LABELS: [&str; 2] = ["control-plane", "kubernetes.azure.com/managedby"];

/// The rules of admission in this cluster.
pub(super) struct Rules<'a> {
    /// The rules.
    pub admission: Admission<'a>,
    /// The injector's webhook, if it is registered.
    pub webhook: Option<(&'a WebhookConfiguration, &'a Webhook)>,
    /// The values of the control plane, if they are known.
    pub values: Option<Values>,
    home: &'a str,
}

/// A proxy setting and its source.
pub(super) struct Setting {
    pub value: String,
    /// Its source.
    pub evidence: Evidence,
}

impl<'a> Rules<'a> {
    /// Reads namespaces and webhook configurations, which cards need, and `linkerd-config`.
    ///
    /// # Errors
    /// Namespaces or webhook configurations were unavailable.
    pub(super) fn from_context(ctx: &Context<'a>) -> Result<Rules<'a>, Missing> {
        let namespaces = ctx.partial_list::<Namespace>();
        let webhook = match injector_webhook(ctx) {
            // Manifests of applications do not contain the webhook: that of a default install applies.
            Err(missing) if missing.why == Why::NotInManifests => None,
            read => read?,
        };
        let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config").ok().flatten();
        let values = config.and_then(ConfigMap::chart_values);
        let admission = Admission::new(namespaces?, webhook.map(|(_, webhook)| webhook), values.as_ref());
        Ok(Rules { admission, webhook, values, home: ctx.namespaces().control_plane.as_str() })
    }

    /// Whether pods have a proxy, or will when they are created next; except those of the control plane.
    pub(super) fn is_meshed(&self, maker: &Maker<'_>) -> bool {
        maker.namespace() != self.home
            && (maker.spec.proxy().is_some()
                || match self.admission.decide(maker.namespace(), maker.meta, maker.spec) {
                    Decision::Inject { .. } => true,
                    Decision::Skip(_) => false,
                    Decision::Unknown => Self::asked_by_template(maker).is_some(),
                })
    }

    /// The request of the pod template itself, which applies in every namespace that does not prevent it.
    pub(super) fn asked_by_template<'m>(maker: &'m Maker<'_>) -> Option<&'m str> {
        maker.meta.annotation(INJECT).filter(|value| matches!(*value, "enabled" | "ingress"))
    }

    /// The setting of a pod's proxy: from its annotation, from that of its namespace, or from the values of
    /// the chart.
    pub(super) fn setting(&self, maker: &Maker<'_>, key: &str, path: &str) -> Option<Setting> {
        let namespace = self.admission.namespace(maker.namespace());
        let field = format!("metadata.annotations[{key}]");
        if let Some((level, value)) = effective(key, maker.meta, namespace, true).filter(|(_, value)| !value.is_empty())
        {
            let evidence = match level {
                Level::Pod => maker.field(&field, value),
                Level::Namespace => Evidence::field(format!("Namespace {}", maker.namespace()), field, value),
            };
            return Some(Setting { value: value.to_owned(), evidence });
        }
        let value = self.values.as_ref()?.scalar(path).filter(|value| !value.is_empty())?;
        let object = format!("ConfigMap {}/linkerd-config", self.home);
        let evidence = Evidence::field(object, format!("data.values: {path}"), &value);
        Some(Setting { value, evidence })
    }
}
