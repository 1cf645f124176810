//! `apply-refused`: the API server rejects an object of Linkerd when it is applied, by the schema of its CRD
//! or because a webhook of Linkerd denies it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::survey::{about, applied, field, mend_or_delete, put, set};
use crate::checks::Upgrade;
use crate::checks::annotations::guess::guess;
use crate::checks::prelude::*;
use crate::checks::written::{AnnotationReader, of_release};
use crate::model::validation::{RejectedBy, Rejection, ServerIndex, Validation};
use crate::objects::mistyped::Mistyped;
use crate::objects::{CustomResourceDefinition, ValidatingWebhookConfiguration, Webhook, is_undefined};
use crate::request::Request;
use crate::version::EdgeTag;

/// The kinds that have a schema or a webhook of Linkerd.
const KINDS: [Kind; 15] = [
    Kind::Server,
    Kind::ServerAuthorization,
    Kind::AuthorizationPolicy,
    Kind::MeshTLSAuthentication,
    Kind::NetworkAuthentication,
    Kind::HTTPLocalRateLimitPolicy,
    Kind::EgressNetwork,
    Kind::LinkerdHTTPRoute,
    Kind::HTTPRoute,
    Kind::GRPCRoute,
    Kind::TLSRoute,
    Kind::TCPRoute,
    Kind::ServiceProfile,
    Kind::ExternalWorkload,
    Kind::Link,
];

/// Maximum number of reasons of one object.
const MOST: usize = 5;

/// The release that validates. A minor given with --linkerd-version stands for the release that opened it.
fn release(ctx: &Context<'_>) -> Option<LinkerdVersion> {
    let reader = AnnotationReader::new(ctx);
    let target = |version: &LinkerdVersion| Upgrade::target(version.as_str(), ctx.knowledge.releases()).ok();
    reader.version().map(|version| target(version).unwrap_or_else(|| version.clone()))
}

/// Whether a webhook of Linkerd rejects an object that is not applied yet, so that the API server never stores it.
pub(super) fn is_refused(ctx: &Context<'_>, kind: Kind, applied: &Meta) -> bool {
    if !ctx.applies(kind, applied) {
        return false;
    }
    let known = release(ctx);
    let object = existing(ctx, kind).iter().find(|object| meta(object).key() == applied.key());
    let rejection = |object| Validation::new(known.as_ref(), ctx.knowledge).webhook(kind, object);
    Webhooks::new(ctx).are_called(kind, &applied.namespace) && object.and_then(rejection).is_some()
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let known = release(ctx);
    let mut webhooks = Webhooks::new(ctx);
    let validation = Validation::new(known.as_ref(), ctx.knowledge);
    let mut findings = undecodable(ctx);
    for kind in KINDS {
        let objects = existing(ctx, kind);
        let servers = if kind == Kind::Server { ServerIndex::new(objects) } else { ServerIndex::default() };
        for object in objects {
            let meta = meta(object);
            if !ctx.judges(&meta.namespace) {
                continue;
            }
            if ctx.mistyped().iter().any(|wrong| wrong.is_of(kind, &meta.namespace, &meta.name)) {
                continue;
            }
            let is_applied = ctx.applies(kind, &meta);
            let mut found = by_api_server(&validation, (kind, object, is_applied), ctx);
            if webhooks.are_called(kind, &meta.namespace) {
                let answer = validation.webhook(kind, object).or_else(|| {
                    // Of two that are applied together, the first is accepted. A stored one has no conflict with
                    // one that is only applied, which is rejected.
                    let is_earlier = |other: &Value| {
                        let other = other["metadata"]["name"].as_str().unwrap_or_default();
                        let other_meta = Meta { name: other.to_owned(), ..meta.clone() };
                        !ctx.applies(kind, &other_meta) || (is_applied && other < meta.name.as_str())
                    };
                    validation.overlap(object, &servers, is_earlier)
                });
                webhooks.is_asked |= answer.is_some();
                found.extend(answer);
            }
            if !found.is_empty() {
                findings.push(finding(ctx, (kind, &meta, is_applied), (object, &found), known.as_ref()));
            }
        }
    }
    if webhooks.is_asked {
        note_unknown_webhooks(ctx);
    }
    Ok(findings.into())
}

/// The applied objects of any kind that have a value of the wrong type.
fn undecodable(ctx: &Context<'_>) -> Vec<Finding> {
    let mut of_object: BTreeMap<_, Vec<&Mistyped>> = BTreeMap::new();
    for wrong in ctx.mistyped().iter().filter(|wrong| ctx.judges(&wrong.namespace)) {
        of_object.entry((wrong.kind, &wrong.namespace, &wrong.name)).or_default().push(wrong);
    }
    let finding = |((kind, namespace, name), wrong): ((Kind, &String, &String), Vec<&Mistyped>)| {
        let Mistyped { path, why, .. } = wrong[0];
        let message = format!("The API server rejects the object, so applying it fails: {path} {why}");
        let meta = Meta { namespace: namespace.as_str().into(), name: name.clone(), ..Meta::default() };
        let quoted = wrong.iter().take(MOST).map(|one| field(kind, &meta, &one.path, &*one.why));
        let finding = about(ctx, kind, &meta, message).severity(Severity::Error).tie(applied(kind, &meta));
        let finding = quoted.fold(finding, Finding::evidence);
        finding.remedy(retyped(ctx, (kind, &meta), &wrong))
    };
    of_object.into_iter().map(finding).collect()
}

/// The steps that give values their type. A string that another value means is certain; one that Linkerd does not read
/// is replaced by the word for it: `true` by `enabled`.
fn retyped(ctx: &Context<'_>, (kind, meta): (Kind, &Meta), wrong: &[&Mistyped]) -> Remedy {
    let minors = ctx.knowledge.minors();
    let word = |one: &Mistyped, meant: &str| {
        let (_, key) = one.path.strip_suffix(']')?.rsplit_once("annotations[")?;
        let row = ctx.knowledge.annotations().get(key)?;
        row.check_value(meant, None, minors).is_err().then(|| guess(row, meant, None, minors)).flatten()
    };
    let mut values = Vec::new();
    for one in wrong {
        let Some(meant) = &one.meant else {
            return Remedy::new().note(format!("Correct {} in the manifest", one.path));
        };
        values.push((one, word(one, meant).unwrap_or_else(|| meant.clone())));
    }
    let set = |values: &[(&&Mistyped, String)]| {
        set(kind, meta, values.iter().map(|(one, meant)| put(one.pointer(), meant.clone())))
    };
    if values.len() > MOST {
        let act = format!("Set these {} values to strings in the manifest", values.len());
        return Remedy::new().command(act, set(&values));
    }
    values.chunks(1).fold(Remedy::new(), |remedy, one| {
        let (wrong, meant) = &one[0];
        let act = format!("Set {} to the string {meant:?} in the manifest", wrong.path);
        remedy.command(act, set(one))
    })
}

/// Notes evidence without which a webhook might not be called.
fn note_unknown_webhooks(ctx: &Context<'_>) {
    let unknown = [ctx.complete_list::<Namespace>().err(), ctx.complete_list::<ValidatingWebhookConfiguration>().err()]
        .into_iter();
    unknown.flatten().filter(|missing| missing.why != Why::NotInManifests).for_each(|missing| ctx.gap(missing));
}

/// The answers of the API server before any webhook: version, schema, unknown fields. Those of the Gateway API
/// depend on its own release, so they do not apply to stored objects. A stored object has a served version, and
/// lost its unknown fields.
fn by_api_server(
    validation: &Validation<'_>,
    (kind, object, is_applied): (Kind, &Value, bool),
    ctx: &Context<'_>,
) -> Vec<Rejection> {
    let is_foreign = kind.info().group == Kind::HTTPRoute.info().group;
    let schema = || match validation.schemas_unknown_before().filter(|_| !is_foreign) {
        Some(first) => {
            let message = format!("the schemas of releases before {first} are not known");
            ctx.gap(Missing::whole(Request::new(Item::List(kind)), Why::NotJudged { message }));
            Vec::new()
        }
        None => validation.schema(kind, object),
    };
    if !is_applied {
        return if is_foreign { Vec::new() } else { schema() };
    }
    let served = served_versions(ctx, kind);
    if let Some(unserved) = validation.unserved(kind, object, served.as_deref()) {
        return vec![unserved];
    }
    let mut found = schema();
    found.extend(validation.unknown_fields(kind, object));
    found.extend(validation.dropped(kind, object));
    found
}

/// The versions of a kind that its definition in the evidence serves.
fn served_versions<'a>(ctx: &Context<'a>, kind: Kind) -> Option<Vec<&'a str>> {
    let resource = kind.resource();
    let definition =
        ctx.optional_list::<CustomResourceDefinition>().iter().find(|one| one.metadata.name == resource)?;
    let served = definition.spec.versions.iter().filter(|version| version.served);
    Some(served.map(|version| version.name.as_str()).collect())
}

fn finding(
    ctx: &Context<'_>,
    (kind, meta, is_applied): (Kind, &Meta, bool),
    (object, found): (&Value, &[Rejection]),
    version: Option<&LinkerdVersion>,
) -> Finding {
    let reason = &found[0].reason;
    let effect = if is_applied { "applying it fails" } else { "its next change fails" };
    let message = match found[0].by {
        RejectedBy::Storage => {
            format!("The API server stores the object in another version and drops a field: {reason}")
        }
        RejectedBy::Schema => format!("The schema of the CRD rejects the object, so {effect}: {reason}"),
        RejectedBy::StrictClient => {
            format!("kubectl rejects the object, and other clients apply it without the field: {reason}")
        }
        RejectedBy::PolicyValidator => {
            format!("Linkerd's policy validator rejects the object, so {effect}: {reason}")
        }
        RejectedBy::ProfileValidator => {
            format!("Linkerd's ServiceProfile validator rejects the object, so {effect}: {reason}")
        }
    };
    let severity = if is_applied { Severity::Error } else { Severity::Warning };
    // The message has the first reason.
    let quoted = found.iter().take(MOST).enumerate().map(|(at, one)| {
        let value = one.value_in(object).filter(|_| at == 0);
        let missing = || (at == 0 && one.reason == "it is required").then(|| "missing".to_owned());
        field(kind, meta, &one.path, value.or_else(missing).unwrap_or_else(|| one.reason.clone()))
    });
    let finding = quoted.fold(about(ctx, kind, meta, message).severity(severity), Finding::evidence);
    let finding = match version {
        Some(version) => finding.evidence(of_release(ctx, version)),
        None => finding,
    };
    let accepted = found.iter().map(|one| one.accepted_from).collect::<Option<Vec<EdgeTag>>>();
    let accepted = accepted.and_then(|edges| edges.into_iter().max());
    finding.remedy(remedy(ctx, (kind, meta, is_applied), found, accepted))
}

fn remedy(
    ctx: &Context<'_>,
    (kind, meta, is_applied): (Kind, &Meta, bool),
    found: &[Rejection],
    accepted: Option<EdgeTag>,
) -> Remedy {
    let corrections: Option<Vec<String>> = found.iter().take(MOST).map(Rejection::correction).collect();
    let remedy = match (is_applied, corrections.as_deref()) {
        (true, Some(corrections)) => corrections.iter().fold(Remedy::new(), |remedy, one| remedy.note(one.clone())),
        (true, None) => Remedy::new().note(format!("Correct {} in the manifest", found[0].path)),
        (false, Some([one])) => mend_or_delete(kind, meta, format!("{one}, and apply the object again")),
        (false, _) if found.len() > 1 => {
            mend_or_delete(kind, meta, "Correct the quoted fields, and apply the object again")
        }
        (false, _) => mend_or_delete(kind, meta, format!("Correct {}, and apply the object again", found[0].path)),
    };
    match accepted {
        Some(edge) => {
            let minor = ctx.knowledge.minors().first_with(edge);
            let minor = minor.map_or_else(String::new, |minor| format!(" ({minor})"));
            remedy.note(format!("Or upgrade Linkerd to {edge} or later{minor}, which accepts it"))
        }
        None => remedy,
    }
}

/// The complete objects of a kind; none if the API server does not serve it.
fn existing<'a>(ctx: &Context<'a>, kind: Kind) -> &'a [Value] {
    ctx.whole(kind).unwrap_or_else(|missing| {
        let is_undefined = match ctx.complete_list::<CustomResourceDefinition>() {
            Ok(all) => is_undefined(all, kind),
            Err(_) => missing.why == Why::NotServed,
        };
        if !is_undefined {
            ctx.gap(missing);
        }
        &[]
    })
}

fn meta(object: &Value) -> Meta {
    serde_json::from_value(object["metadata"].clone()).unwrap_or_default()
}

/// The validating webhooks of Linkerd, as far as they are known.
struct Webhooks<'a> {
    policy: WebhookCall<'a>,
    profile: WebhookCall<'a>,
    namespaces: BTreeMap<&'a str, &'a Meta>,
    /// Whether a finding depends on one of them.
    is_asked: bool,
}

/// Whether a webhook is called.
enum WebhookCall<'a> {
    /// It is registered.
    Registered(&'a Webhook),
    /// It is known not to be registered.
    Never,
    /// Its registration is unknown: the chart's.
    ByChart,
}

impl<'a> Webhooks<'a> {
    fn new(ctx: &Context<'a>) -> Webhooks<'a> {
        let find = |name: &str| {
            let here = ctx.optional_list::<ValidatingWebhookConfiguration>().iter();
            let found = here.flat_map(|one| &one.webhooks).find(|webhook| webhook.name.starts_with(name));
            match found {
                Some(webhook) => WebhookCall::Registered(webhook),
                None if ctx.complete_list::<ValidatingWebhookConfiguration>().is_ok() => WebhookCall::Never,
                None => WebhookCall::ByChart,
            }
        };
        let namespaces = ctx.optional_list::<Namespace>().iter();
        Webhooks {
            policy: find("linkerd-policy-validator."),
            profile: find("linkerd-sp-validator."),
            namespaces: namespaces.map(|one| (one.metadata.name.as_str(), &one.metadata)).collect(),
            is_asked: false,
        }
    }

    /// Whether the webhook of a kind is called in a namespace.
    fn are_called(&self, kind: Kind, namespace: &str) -> bool {
        const SWITCH: &str = "config.linkerd.io/admission-webhooks";
        let of_kind = if kind == Kind::ServiceProfile { &self.profile } else { &self.policy };
        let labels = self.namespaces.get(namespace).map(|meta| &meta.labels);
        match of_kind {
            WebhookCall::Never => false,
            WebhookCall::Registered(webhook) => match (&webhook.namespace_selector, labels) {
                (Some(selector), Some(labels)) => selector.matches(labels),
                _ => true,
            },
            WebhookCall::ByChart => {
                labels.is_none_or(|labels| labels.get(SWITCH).is_none_or(|word| word != "disabled"))
            }
        }
    }
}
