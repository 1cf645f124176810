//! Whether an ingress controller sets the header `l5d-dst-override`, by which a proxy in ingress mode determines the
//! Service of a request. Without it, the proxy forwards the request to the address that the controller selected.

use super::ingress::{ByDefault, Caller, Classes, ingress_nginx};
use super::ingress_entry::Entry;
use super::ingress_upstream::{arguments, settings};
use crate::annotations::SNIPPETS;
use crate::checks::prelude::*;
use crate::objects::Ingress;

/// Keys of the ConfigMap of ingress-nginx with configuration that may set a header.
const KEYS: [&str; 5] = ["http-snippet", "location-snippet", "main-snippet", "proxy-set-headers", "server-snippet"];
/// The arguments of Traefik with middlewares of entry points, as they are kept.
const ENTRY_POINTS: &str = "--entrypoints.http.middlewares";

/// Whether the header is set.
pub(super) enum Header {
    /// The configuration of the controller contains nothing that could set it.
    Never,
    /// Something may set it, or the configuration of such a controller is not read.
    Possible,
    /// It depends on evidence that is missing.
    Unknown(Missing),
}

/// Whether the controller sets the header for requests to an entry.
pub(super) fn header(ctx: &Context<'_>, entry: &Entry<'_>, caller: &Caller<'_>) -> Header {
    match (entry, caller.of.default) {
        (Entry::Path(ingress, ..), ByDefault::ConfigMap) => {
            if SNIPPETS.iter().any(|key| ingress.metadata.annotation(key).is_some()) {
                return Header::Possible;
            }
            match is_configured(ctx, caller.pod) {
                Ok(true) => Header::Possible,
                Ok(false) => Header::Never,
                Err(missing) => Header::Unknown(missing),
            }
        }
        (Entry::Rule(route, (at, _), service), ByDefault::Arguments) => {
            let rule = route.spec.routes.get(*at);
            let has_middlewares = rule.is_none_or(|rule| !rule.middlewares.is_empty());
            if has_middlewares || !service.middlewares.is_empty() || !route.spec.parent_refs.is_empty() {
                return Header::Possible;
            }
            match () {
                () if has_argument(caller.pod, |arg| arg == ENTRY_POINTS) => Header::Possible,
                () if is_configured_by_arguments(caller.pod) => Header::Never,
                () => Header::Unknown(arguments(ctx, caller.pod)),
            }
        }
        _ => Header::Possible,
    }
}

/// Whether a container of a pod has an argument.
pub(super) fn has_argument(pod: &Pod, is_it: fn(&str) -> bool) -> bool {
    pod.spec.containers.iter().flat_map(|container| &container.args).any(|arg| is_it(arg))
}

/// Whether the arguments of a Traefik configure it, and no file or variables that are not kept.
pub(super) fn is_configured_by_arguments(pod: &Pod) -> bool {
    has_argument(pod, |arg| arg.to_ascii_lowercase().starts_with("--providers.kubernetes"))
}

/// Whether the ConfigMap of a controller has configuration that may set a header.
fn is_configured(ctx: &Context<'_>, pod: &Pod) -> Result<bool, Missing> {
    let config = settings(ctx, pod)?.and_then(|(_, config)| config);
    let is_set = |key: &str| {
        let value = config.and_then(|config| config.data.get(key));
        value.is_some_and(|value| !value.is_empty())
    };
    Ok(KEYS.iter().any(|key| is_set(key)))
}

/// Whether the configuration of a running ingress-nginx that serves an Ingress may set headers for all Ingresses.
///
/// # Errors
/// The configuration is unknown.
pub(in crate::checks) fn sets_headers(
    ctx: &Context<'_>,
    classes: &Classes<'_>,
    ingress: &Ingress,
) -> Result<bool, Missing> {
    for caller in ingress_nginx(ctx.optional_list::<Pod>()).filter(|caller| classes.serves(caller, ingress)) {
        if is_configured(ctx, caller.pod)? {
            return Ok(true);
        }
    }
    Ok(false)
}
