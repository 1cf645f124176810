//! `proxy-control-plane-differs`: a proxy has addresses or identities of another control plane than the installed one.

use std::collections::BTreeMap;

use crate::checks::control_plane::installation::values;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::words::of_proxies;
use crate::model::control_plane_env::{ControlServer, Difference, ForeignSetting, Installed, foreign_settings};
use crate::model::installed::control_plane_of;
use crate::objects::container::IDENTITY_NAME;
use crate::redact::Corefile;

/// The charts' default domain.
const DOMAIN: &str = "cluster.local";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let values = values(ctx)?;
    let cluster_domain = values.text("clusterDomain").unwrap_or(DOMAIN);
    let domains = Domains { installed: cluster_domain, served: served(ctx) };
    let services = ctx.complete_list::<Service>()?;
    let installed = Installed {
        namespace: &ctx.namespaces().control_plane,
        trust_domain: values.text("identityTrustDomain").unwrap_or(cluster_domain),
        services,
    };
    let mut groups: BTreeMap<(Owner, Vec<ForeignSetting<'_>>), Vec<&Pod>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| is_own(ctx, pod)) {
        let is_foreign = |domain: &str| domains.is_foreign(domain);
        let found = reported_here(foreign_settings(pod, installed, is_foreign));
        if !found.is_empty() {
            groups.entry((ctx.owners().owner(pod), found)).or_default().push(pod);
        }
    }
    // The zones of the DNS server decide about the domain, if they are known.
    let by_domain = |found: &[ForeignSetting<'_>]| found.iter().any(|one| one.difference == Difference::Domain);
    if let Err(missing) = domains.served
        && groups.keys().any(|(_, found)| by_domain(found))
    {
        ctx.gap(missing);
    }
    let findings = groups.iter().map(|((owner, found), pods)| finding(ctx, cluster_domain, owner, (found, pods)));
    Ok(findings.collect())
}

/// The domains of the cluster.
struct Domains<'a> {
    installed: &'a str,
    /// The Corefile of CoreDNS; `None` if another server resolves names.
    served: Result<Option<Corefile>, Missing>,
}

impl Domains<'_> {
    fn is_foreign(&self, domain: &str) -> bool {
        if domain.eq_ignore_ascii_case(self.installed) {
            return false;
        }
        match &self.served {
            Ok(Some(corefile)) => !(corefile.open || corefile.zones.is_empty() || corefile.serves(domain)),
            Ok(None) | Err(_) => true,
        }
    }
}

fn served(ctx: &Context<'_>) -> Result<Option<Corefile>, Missing> {
    let config = ctx.object::<ConfigMap>(Scope::Fixed("kube-system".to_owned()), "coredns")?;
    Ok(config.and_then(|config| config.data.get("Corefile")).map(|text| Corefile::parse(text)))
}

/// Whether a pod runs with a proxy of this control plane: `proxy-of-removed-control-plane` reports the others.
fn is_own(ctx: &Context<'_>, pod: &Pod) -> bool {
    control_plane_of(pod) == Some(ctx.namespaces().control_plane.as_str())
        && !pod.is_finished()
        && pod.metadata.deletion_timestamp.is_none()
        && ctx.judges(&pod.metadata.namespace)
}

/// Without identities that only differ in their trust domain, if that of identity does: `proxy-trust-domain-differs`
/// reports them.
fn reported_here(mut found: Vec<ForeignSetting<'_>>) -> Vec<ForeignSetting<'_>> {
    let only_domain = |one: &ForeignSetting<'_>| match &one.difference {
        Difference::Identity(expected) => start(expected) == start(one.value),
        Difference::Domain | Difference::NoService | Difference::OtherService => false,
    };
    if found.iter().any(|one| one.variable == IDENTITY_NAME && only_domain(one)) {
        found.retain(|one| !only_domain(one));
    }
    found
}

/// An identity without its trust domain: `linkerd-identity.linkerd.serviceaccount.identity.linkerd`.
fn start(identity: &str) -> Vec<&str> {
    identity.split('.').take(5).collect()
}

fn finding(
    ctx: &Context<'_>,
    cluster_domain: &str,
    owner: &Owner,
    (found, pods): (&[ForeignSetting<'_>], &[&Pod]),
) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let first = pods[0];
    let object = first.described();
    let message = message(found);
    let remedy = Remedy::new().with(renew(
        ctx,
        owner,
        &names,
        Needs::NewProxy,
        "new pods get the settings of the installed control plane",
    ));
    let seen = found
        .iter()
        .map(|one| Evidence::field(&*object, format!("containers[linkerd-proxy].env[{}]", one.variable), one.value));
    let home = ctx.namespaces().control_plane.as_str();
    let by_domain = found.iter().any(|one| one.difference == Difference::Domain);
    let installed = by_domain.then(|| {
        let config = format!("ConfigMap {home}/linkerd-config");
        Evidence::field(config, "data.values: clusterDomain", cluster_domain)
    });
    let expected = found.iter().find_map(|one| match &one.difference {
        Difference::Identity(expected) => Some(Evidence::other("identity of the installed control plane", &**expected)),
        Difference::Domain | Difference::NoService | Difference::OtherService => None,
    });
    ctx.finding(owner.subject(names), message.clone())
        .of_several(of_proxies(&message))
        .parameter(found.iter().map(|one| one.variable).collect::<Vec<_>>().join(","))
        .evidences(seen)
        .evidences(installed)
        .evidences(expected)
        .remedy(remedy)
}

/// The first server that the proxy cannot use, and the consequence. Addresses come first: no certificate is compared
/// without a connection.
fn message(found: &[ForeignSetting<'_>]) -> String {
    let is_address = |one: &&ForeignSetting<'_>| !matches!(one.difference, Difference::Identity(_));
    let first = found.iter().find(is_address).or(found.first());
    let server = first.map_or(ControlServer::Identity, |one| one.server);
    let name = match server {
        ControlServer::Identity => "identity",
        ControlServer::Destination => "destination",
        ControlServer::Policy => "the policy controller",
    };
    let cause = match first.map(|one| &one.difference) {
        Some(Difference::Identity(_)) => format!(
            "the proxy expects {name} under another mesh identity than that of the installed control plane, and \
             rejects its certificate"
        ),
        Some(Difference::OtherService) => {
            format!("the proxy looks up {name} under the name of another Service")
        }
        _ => format!("the proxy looks up {name} under a name that does not exist in this cluster"),
    };
    let effect = match server {
        ControlServer::Identity => "it gets no certificate, and its pod does not become ready",
        ControlServer::Destination => "it discovers no endpoints, so its calls hang",
        ControlServer::Policy => "it gets no policies, so its calls hang",
    };
    format!("{cause}: {effect}")
}
