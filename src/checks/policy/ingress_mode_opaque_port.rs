//! `ingress-mode-opaque-port`: an ingress controller whose proxy runs in ingress mode serves an opaque port over HTTP.

use std::collections::BTreeMap;

use super::ingress::{Caller, Classes, in_ingress_mode};
use super::ingress_bypasses_routes::mode;
use super::ingress_entry::{Entry, entries};
use crate::annotations::{BACKEND_PROTOCOL, SSL_PASSTHROUGH, SSL_SERVICES};
use crate::checks::data_plane::opaque_port_speaks_http::OpaquePorts;
use crate::checks::prelude::*;
use crate::model::control_plane::tag_version;
use crate::model::skipped::{OUT, passes_by};
use crate::objects::ServicePort;
use crate::objects::service::TargetPort;
use crate::version::Contains;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.complete_list::<Pod>()?;
    let callers: Vec<Caller<'_>> = in_ingress_mode(pods).filter(|caller| requires_policies(ctx, caller.pod)).collect();
    if callers.is_empty() {
        return Err(Unjudged::not_applicable("no known ingress controller has a proxy in ingress mode"));
    }
    let (entries, services) = (entries(ctx)?, ctx.complete_list::<Service>()?);
    let ports = OpaquePorts::from_context(ctx)?;
    let classes = Classes::new(ctx);
    let mut found: BTreeMap<(Subject, &str, u16), Finding> = BTreeMap::new();
    for entry in entries {
        let Some(caller) = callers.iter().find(|one| entry.is_served(&classes, one)) else { continue };
        let Some((service, port)) = entry.service(services) else { continue };
        if speaks_tls(&entry, port) || is_skipped(caller.pod, port) {
            continue;
        }
        if let Some((why, remedy)) = ports.cause(ctx, service, port) {
            let key = (entry.subject(), service.metadata.name.as_str(), port.port);
            found.entry(key).or_insert_with(|| {
                finding(ctx, &entry, (service, port), caller, remedy).evidence(why).evidence(mode(caller))
            });
        }
    }
    Ok(found.into_values().collect())
}

/// Whether the proxy of a pod requires a policy for HTTP in ingress mode.
pub(super) fn requires_policies(ctx: &Context<'_>, pod: &Pod) -> bool {
    let version = pod.spec.proxy().and_then(tag_version);
    let known = ctx.knowledge.policy_controller();
    version.is_none_or(|version| known.ingress_mode_policies(&version, ctx.knowledge) != Contains::No)
}

/// Whether the controller's proxy does not see connections to a port.
fn is_skipped(pod: &Pod, port: &ServicePort) -> bool {
    let target = match &port.target_port {
        Some(TargetPort::Number(number)) => *number,
        Some(TargetPort::Name(_)) | None => port.port,
    };
    passes_by(pod, OUT, port.port) || passes_by(pod, OUT, target)
}

/// Whether the controller most likely connects over TLS, which a proxy forwards in ingress mode too.
fn speaks_tls(entry: &Entry<'_>, port: &ServicePort) -> bool {
    const SCHEMES: [&str; 5] = ["https", "grpcs", "tls", "wss", "ssl"];
    let is_tls = |text: &str| {
        let text = text.to_ascii_lowercase();
        let scheme = text.strip_prefix("kubernetes.io/").unwrap_or(&text);
        SCHEMES.iter().any(|tls| scheme.starts_with(tls))
    };
    let (_, service) = entry.to();
    let annotation = |key: &str| entry.meta().annotation(key);
    let is_listed = |list: &str| list.split(',').any(|name| name.trim() == service);
    [443, 8443].contains(&port.port)
        || is_tls(&port.name)
        || is_tls(&port.app_protocol)
        || annotation(BACKEND_PROTOCOL).is_some_and(is_tls)
        || annotation(SSL_PASSTHROUGH) == Some("true")
        || annotation(SSL_SERVICES).is_some_and(is_listed)
}

fn finding(
    ctx: &Context<'_>,
    entry: &Entry<'_>,
    (service, port): (&Service, &ServicePort),
    caller: &Caller<'_>,
    remedy: Remedy,
) -> Finding {
    let (name, number) = (service.metadata.name.as_str(), port.port);
    let message = format!(
        "port {number} of Service {name} is opaque. The proxy of the ingress controller runs in ingress mode, in which \
         it answers HTTP requests for an opaque port with an error"
    );
    let remedy = remedy.note(format!(
        "Or mesh {} in the ordinary mode (linkerd.io/inject: enabled), in which the proxy forwards such requests \
             unchanged",
        caller.of.name
    ));
    // Without the header l5d-dst-override, the controller may send requests to pods.
    ctx.finding(entry.subject(), message)
        .parameter(format!("{name}:{number}"))
        .likely()
        .evidence(entry.evidence())
        .remedy(remedy)
}
