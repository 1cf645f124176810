//! Where ingress controllers send requests, to pods or to the address of the Service: settings of the Ingress, the
//! IngressRoute or the Service, and those of the controller for all of them.

use super::ingress::{ByDefault, Caller, Classes, Controller};
use super::ingress_entry::Entry;
use crate::checks::prelude::*;
use crate::model::ingress_controller::{CRD_PROVIDER, INGRESS_PROVIDER, config_map, native_by_default, own_containers};
use crate::objects::container::boolean;
use crate::redact::{is_marked, is_placeholder};

/// The key in the ConfigMaps of ingress-nginx and haproxy-ingress.
const KEY: &str = "service-upstream";

/// Where a controller sends the requests for an entry.
pub(super) enum Upstream {
    /// To pods, with the settings that show it.
    Pods(Vec<Evidence>),
    /// To the address of the Service, because of its own annotation or field.
    Service,
    /// The same, because of the controller's setting for all.
    ServiceByDefault(Evidence),
    /// It depends on evidence that is missing.
    Unknown(Missing),
}

impl Upstream {
    /// Determines it for an entry that a controller serves.
    pub(super) fn new(
        ctx: &Context<'_>,
        classes: &Classes<'_>,
        (entry, caller): (&Entry<'_>, &Caller<'_>),
        service: &Meta,
    ) -> Upstream {
        let own = entry.own_upstream(caller, service);
        match own {
            Some(true) => return Upstream::Service,
            Some(false) => return Upstream::Pods(vec![entry.lacking_upstream(caller, service)]),
            None => {}
        }
        match by_default(ctx, classes, (entry, caller)) {
            Ok((true, Some(evidence))) => Upstream::ServiceByDefault(evidence),
            Ok((_, evidence)) => {
                let own = [entry.lacking_upstream(caller, service)];
                Upstream::Pods(own.into_iter().chain(evidence).collect())
            }
            Err(missing) => Upstream::Unknown(missing),
        }
    }
}

/// Whether the controller's own setting makes it use the addresses of Services, and the setting.
fn by_default(
    ctx: &Context<'_>,
    classes: &Classes<'_>,
    (entry, caller): (&Entry<'_>, &Caller<'_>),
) -> Result<(bool, Option<Evidence>), Missing> {
    match caller.of.default {
        ByDefault::Pods => Ok((false, None)),
        ByDefault::ConfigMap => in_config_map(ctx, caller.pod),
        ByDefault::ConfigMapOrClass => {
            without_parameters(ctx, classes, caller.of)?;
            in_config_map(ctx, caller.pod)
        }
        ByDefault::Class => without_parameters(ctx, classes, caller.of).map(|()| (false, None)),
        ByDefault::Arguments => {
            let provider = match entry {
                Entry::Path(..) => INGRESS_PROVIDER,
                Entry::Rule(..) => CRD_PROVIDER,
            };
            match native_by_default(caller.pod, provider) {
                Some(is_native) => {
                    let path = format!("{}.nativeLBByDefault", provider.option.trim_start_matches('-'));
                    Ok((is_native, Some(Evidence::field(subject(caller.pod), path, is_native.to_string()))))
                }
                None => Err(arguments(ctx, caller.pod)),
            }
        }
    }
}

fn subject(pod: &Pod) -> Subject {
    Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name)
}

/// Whether arguments of a controller are unknown, for example redacted.
fn lacks_arguments(pod: &Pod) -> bool {
    own_containers(pod).any(|container| container.has_more_args && container.args.is_empty())
}

/// The ConfigMap that the arguments of a controller name; `None` if they name none, or if it does not exist.
pub(super) fn settings<'a>(ctx: &Context<'a>, pod: &Pod) -> Result<Option<(Subject, Option<&'a ConfigMap>)>, Missing> {
    match config_map(pod) {
        Some((namespace, name)) => {
            let found = ctx.controller_config(namespace, name)?;
            Ok(Some((Subject::object(Kind::ConfigMap, namespace, name), found)))
        }
        None if lacks_arguments(pod) => Err(arguments(ctx, pod)),
        None => Ok(None),
    }
}

fn in_config_map(ctx: &Context<'_>, pod: &Pod) -> Result<(bool, Option<Evidence>), Missing> {
    let Some((of, found)) = settings(ctx, pod)? else { return Ok((false, None)) };
    let value = found.and_then(|config| config.data.get(KEY));
    match value {
        Some(value) if is_marked(value) || is_placeholder(value) => {
            let message = format!("{of}: data[{KEY}] is redacted");
            Err(ctx.missing(Item::List(Kind::Pod), Why::NotJudged { message }, "a setting of an ingress controller"))
        }
        Some(value) => {
            let is_set = boolean(value).unwrap_or_default();
            Ok((is_set, Some(Evidence::field(of, format!("data[{KEY}]"), value.as_str()))))
        }
        None => Ok((false, Some(Evidence::field(of, format!("data[{KEY}]"), "not set")))),
    }
}

/// The gap of a controller whose arguments do not show where it sends requests.
pub(super) fn arguments(ctx: &Context<'_>, pod: &Pod) -> Missing {
    let message = format!("{}: the configuration of the controller is not in its arguments", subject(pod));
    ctx.missing(Item::List(Kind::Pod), Why::NotJudged { message }, "a setting of an ingress controller")
}

fn without_parameters(ctx: &Context<'_>, classes: &Classes<'_>, of: &Controller) -> Result<(), Missing> {
    match classes.with_parameters(of) {
        None => Ok(()),
        Some(class) => {
            let message = format!("IngressClass {}: spec.parameters", class.metadata.name);
            let part = "a setting of an ingress controller";
            Err(ctx.missing(Item::List(Kind::IngressClass), Why::NotJudged { message }, part))
        }
    }
}
