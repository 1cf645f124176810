//! `gateway-identity-mismatch`: a Link expects its gateway under a name that the other cluster does not give.

use super::links::{field, link_again, links, subject};
use crate::checks::prelude::*;

/// The annotation with the trust domain of the other cluster.
const TRUST_DOMAIN: &str = "multicluster.linkerd.io/trust-domain";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut findings = Vec::new();
    for link in links(ctx)? {
        let spec = &link.spec;
        let (identity, home) = (spec.gateway_identity.as_str(), spec.target_cluster_linkerd_namespace.as_str());
        if !link.has_gateway() || identity.is_empty() {
            continue;
        }
        let secret = ctx.or_note(ctx.link_secret(link)).flatten();
        let told = secret.and_then(|secret| secret.metadata.annotation(TRUST_DOMAIN));
        let rest = identity.split_once(".serviceaccount.identity.").map(|(_, rest)| rest);
        let domain = rest.and_then(|rest| rest.strip_prefix(home)?.strip_prefix('.'));
        let wrong_domain = told.is_some_and(|told| domain.is_some_and(|domain| domain != told));
        if rest.is_some() && domain.is_some() && !wrong_domain {
            continue;
        }
        if rest.is_none() {
            // A name of another form may be that of another kind of identity.
            continue;
        }
        let finding = ctx
            .finding(
                subject(link),
                "the Link expects another gateway identity than the one that the other cluster issues: \
                 proxies reject the gateway's certificate, so requests to mirrored services fail",
            )
            .evidence(field(link, "spec.gatewayIdentity", identity))
            .evidence(field(link, "spec.targetClusterLinkerdNamespace", home))
            .evidences(told.map(|told| {
                let object =
                    format!("{} {}/{}", Kind::Secret, link.metadata.namespace, spec.cluster_credentials_secret);
                Evidence::field(object, format!("metadata.annotations[{TRUST_DOMAIN}]"), told)
            }))
            .parameter(if wrong_domain { "trust-domain" } else { "namespace" })
            .remedy(link_again(ctx, Remedy::new(), link));
        findings.push(finding);
    }
    Ok(findings.into())
}
