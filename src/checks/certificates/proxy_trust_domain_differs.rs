//! `proxy-trust-domain-differs`: the names of proxies are in another trust domain than the mesh.

use std::collections::BTreeMap;

use super::identity::{config, need_control_plane, trust_domain};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::objects::container::{IDENTITY_NAME, LOCAL_NAME};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    if config(ctx)?.is_none() {
        need_control_plane(ctx)?;
        return Err(Unjudged::blocked("linkerd-config-missing", "linkerd-config is missing"));
    }
    let Some(domain) = trust_domain(ctx) else {
        return Err(Unjudged::blocked("linkerd-config-unreadable", "linkerd-config holds no chart values"));
    };
    let home = ctx.namespaces().control_plane.as_str();
    let owners = ctx.owners();
    let mut found: BTreeMap<(Owner, &str, &str), Vec<String>> = BTreeMap::new();
    for pod in pods {
        if !ctx.has_injected(pod) {
            continue;
        }
        let Some(proxy) = pod.spec.proxy() else { continue };
        let names = [LOCAL_NAME, IDENTITY_NAME].map(|variable| Some((variable, proxy.env_value(variable)?)));
        let differs = |name: &str| domain_of(name, home).is_some_and(|other| other != domain);
        if let Some((variable, name)) = names.into_iter().flatten().find(|(_, name)| differs(name)) {
            found.entry((owners.owner(pod), variable, name)).or_default().push(pod.metadata.name.clone());
        }
    }
    let findings = found.into_iter().map(|((owner, variable, name), pods)| {
        let remedy = Remedy::new().with(renew(
            ctx,
            &owner,
            &pods,
            Needs::NewProxy,
            "new pods get the current trust \
            domain",
        ));
        let pod = format!("Pod {}/{}", owner.namespace, pods[0]);
        let message = if variable == LOCAL_NAME {
            "the proxy's name is in another trust domain than the control plane: identity does not \
             certify it, and policies that name identities do not match it"
        } else {
            "the proxy expects identity under a name in another trust domain: it rejects the certificate of identity, \
             and gets none itself"
        };
        ctx.finding(owner.subject(pods), message)
            .evidence(Evidence::field(pod, format!("containers[linkerd-proxy].env[{variable}]"), name))
            .evidence(Evidence::field(
                format!("ConfigMap {home}/linkerd-config"),
                "data.values: identityTrustDomain",
                &*domain,
            ))
            .remedy(remedy)
    });
    Ok(findings.collect())
}

/// The trust domain in a proxy's name, for the control plane in a namespace.
fn domain_of<'n>(name: &'n str, home: &str) -> Option<&'n str> {
    let (_, rest) = name.split_once(".serviceaccount.identity.")?;
    rest.strip_prefix(home)?.strip_prefix('.').filter(|domain| !domain.is_empty())
}
