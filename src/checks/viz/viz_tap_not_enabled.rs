//! `viz-tap-not-enabled`: pods that the injector of tap did not change, so tap refuses them.

use std::collections::BTreeMap;

use super::tap::{INJECTOR, injector_webhook};
use crate::checks::extensions::installed_in;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, of_workloads};
use crate::checks::written::go_bool;
use crate::item::EXTENSION_LABEL;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::{MutatingWebhookConfiguration, Webhook, WebhookConfiguration};

/// The annotation that the injector of tap adds.
const ENABLED: &str = "viz.linkerd.io/tap-enabled";
/// The annotation that excludes a pod, or the pods of a namespace.
const DISABLED: &str = "viz.linkerd.io/disable-tap";
/// Maximum number of quoted pods.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let viz = &installed_in(ctx, Extension::Viz)?.metadata.name;
    let configurations = ctx.complete_list::<MutatingWebhookConfiguration>()?;
    let Some((configuration, webhook)) = injector_webhook(configurations, viz) else {
        return Err(Unjudged::not_applicable("no webhook calls the injector of tap"));
    };
    let namespaces: BTreeMap<&str, &Meta> =
        ctx.complete_list::<Namespace>()?.iter().map(|one| (one.metadata.name.as_str(), &one.metadata)).collect();
    let home = ctx.namespaces().control_plane.as_str();
    let pods = ctx.complete_list::<Pod>()?.iter().filter(|pod| {
        let meta = &pod.metadata;
        let is_meshed = meta.label(CONTROL_PLANE_NS) == Some(home) && pod.spec.proxy().is_some();
        let is_own = meta.namespace == home || meta.namespace == *viz || meta.label(EXTENSION_LABEL).is_some();
        let is_alive = !pod.is_finished() && meta.deletion_timestamp.is_none();
        is_meshed && is_alive && !is_own && ctx.judges(&meta.namespace) && !is(meta, ENABLED) && !is(meta, DISABLED)
    });
    let pods = pods.filter(|pod| {
        let namespace = namespaces.get(pod.metadata.namespace.as_str());
        namespace.is_some_and(|namespace| !is(namespace, DISABLED) && is_called(webhook, namespace, &pod.metadata))
    });
    let registered = configuration.metadata.creation_timestamp.get();
    // The injector could not know the older ones.
    let (newer, older): (Vec<&Pod>, Vec<&Pod>) = pods.partition(|pod| {
        let created = pod.metadata.creation_timestamp.get();
        matches!((created, registered), (Some(created), Some(registered)) if created > registered)
    });
    let findings = [(older, true), (newer, false)].into_iter().filter(|(pods, _)| !pods.is_empty());
    Ok(findings.map(|(pods, is_older)| finding(ctx, configuration, &pods, is_older)).collect())
}

/// Whether an annotation is true, as Go reads it.
fn is(meta: &Meta, key: &str) -> bool {
    meta.annotation(key).and_then(go_bool) == Some(true)
}

/// Whether the API server calls the webhook for a pod.
fn is_called(webhook: &Webhook, namespace: &Meta, pod: &Meta) -> bool {
    webhook.namespace_selector.as_ref().is_none_or(|selector| selector.matches(&namespace.labels))
        && webhook.object_selector.as_ref().is_none_or(|selector| selector.matches(&pod.labels))
}

fn finding(ctx: &Context<'_>, configuration: &WebhookConfiguration, pods: &[&Pod], is_older: bool) -> Finding {
    let mut owners: BTreeMap<Owner, Vec<String>> = BTreeMap::new();
    for pod in pods {
        owners.entry(ctx.owners().owner(pod)).or_default().push(pod.metadata.name.clone());
    }
    let message = match is_older {
        true => {
            "these pods are older than the injector of tap: until they are created again, linkerd viz tap and top \
             refuse them, and the dashboard shows no live calls"
        }
        false => {
            "the injector of tap did not change these pods when they were created: linkerd viz tap and top refuse \
             them, and the dashboard shows no live calls"
        }
    };
    let time = |meta: &Meta| meta.creation_timestamp.get().map(|at| at.to_string()).unwrap_or_default();
    let object = |meta: &Meta| Subject::object(Kind::Pod, &meta.namespace, &meta.name);
    let quoted = pods.iter().take(QUOTED).map(|pod| {
        let said = format!("not set; created {}", time(&pod.metadata));
        Evidence::field(object(&pod.metadata), format!("metadata.annotations[{ENABLED}]"), said)
    });
    let webhook = Evidence::field(
        format!("MutatingWebhookConfiguration {}", configuration.metadata.name),
        "metadata.creationTimestamp",
        time(&configuration.metadata),
    );
    let act = match is_older {
        true => "To tap them, create the pods again".to_owned(),
        false => format!("Check that Deployment {INJECTOR} of viz is ready, then create the pods again"),
    };
    let mut subjects = owners.iter().map(|(owner, pods)| owner.subject(pods.clone()));
    let first = subjects.next().unwrap_or_else(|| object(&pods[0].metadata));
    let finding = ctx
        .finding(first, message)
        .severity(if is_older { Severity::Info } else { Severity::Warning })
        .evidences(quoted)
        .evidence(webhook)
        .remedy(of_workloads(ctx, Remedy::new(), Needs::NewPods, &act, &owners));
    subjects.fold(finding, Finding::subject)
}
