//! Addresses and identities of the control plane in a proxy's environment, compared with the installed control
//! plane. They differ after a manual injection with the values of another cluster.

use super::service_address::ServiceAddress;
use crate::objects::container::{
    DESTINATION_ADDRESS, DESTINATION_NAME, IDENTITY_ADDRESS, IDENTITY_NAME, POLICY_ADDRESS, POLICY_NAME,
};
use crate::objects::{Pod, Service};

/// A server of the control plane that each proxy connects to, in the order in which a proxy needs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ControlServer {
    Identity,
    Destination,
    Policy,
}

/// The servers with the variables of their address and identity, and the Service and account of the charts. They are
/// the same in all releases since 2.11.
const SERVERS: [(ControlServer, &str, &str, &str, &str); 3] = [
    (ControlServer::Identity, IDENTITY_ADDRESS, IDENTITY_NAME, "linkerd-identity-headless", "linkerd-identity"),
    (ControlServer::Destination, DESTINATION_ADDRESS, DESTINATION_NAME, "linkerd-dst-headless", "linkerd-destination"),
    (ControlServer::Policy, POLICY_ADDRESS, POLICY_NAME, "linkerd-policy", "linkerd-destination"),
];

/// The part of an identity between the account's namespace and that of the control plane.
const IDENTITIES: &str = ".serviceaccount.identity.";

/// The installed control plane.
#[derive(Debug, Clone, Copy)]
pub struct Installed<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its trust domain.
    pub trust_domain: &'a str,
    /// All Services.
    pub services: &'a [Service],
}

/// The difference of a variable from the installed control plane.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// The address is in a domain that the cluster does not have.
    Domain,
    /// The address names a Service that does not exist.
    NoService,
    /// The address names the Service of another server of the control plane.
    OtherService,
    /// The identity is not that of the server: the expected one.
    Identity(String),
}

/// A variable that differs from the installed control plane.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForeignSetting<'p> {
    pub server: ControlServer,
    pub variable: &'static str,
    pub value: &'p str,
    pub difference: Difference,
}

/// The variables of a proxy that differ. `is_foreign` tests the domain of an address.
///
/// A wrong port is harmless: proxies prefer SRV records, and those of a headless Service contain the port.
pub fn foreign_settings<'p>(
    pod: &'p Pod,
    installed: Installed<'_>,
    is_foreign: impl Fn(&str) -> bool,
) -> Vec<ForeignSetting<'p>> {
    let mut found = Vec::new();
    let Some(proxy) = pod.spec.proxy() else { return found };
    let value = |variable: &str| proxy.env_value(variable).filter(|value| !value.contains(['$', '*', '<']));
    let value = |variable: &str| value(variable).filter(|value| !value.contains("REDACTED"));
    for (server, address, name, service, account) in SERVERS {
        if let Some(value) = value(address) {
            let difference = difference_of(value, service, installed, &is_foreign);
            found.extend(difference.map(|difference| ForeignSetting { server, variable: address, value, difference }));
        }
        let Some(value) = value(name).filter(|value| value.contains(IDENTITIES)) else { continue };
        let Installed { namespace, trust_domain, .. } = installed;
        let expected = format!("{account}.{namespace}{IDENTITIES}{namespace}.{trust_domain}");
        if value != expected {
            let difference = Difference::Identity(expected);
            found.push(ForeignSetting { server, variable: name, value, difference });
        }
    }
    found
}

/// The difference of an address from the charts' Service of the server.
fn difference_of(
    address: &str,
    service: &str,
    installed: Installed<'_>,
    is_foreign: impl Fn(&str) -> bool,
) -> Option<Difference> {
    let (named, domain) = domain_of(address)?;
    // Names of DNS have no case.
    let is_named = |namespace: &str, name: &str| {
        named.namespace.eq_ignore_ascii_case(namespace) && named.name.eq_ignore_ascii_case(name)
    };
    let is_own = |name: &str| is_named(installed.namespace, name);
    if is_foreign(domain) {
        return Some(Difference::Domain);
    }
    if is_own(service) {
        return None;
    }
    if SERVERS.iter().any(|(.., other, _)| is_own(other)) {
        return Some(Difference::OtherService);
    }
    let exists = installed.services.iter().any(|one| is_named(&one.metadata.namespace, &one.metadata.name));
    (!exists).then_some(Difference::NoService)
}

/// The Service and the domain of an address: `linkerd-policy.linkerd.svc.cluster.local.:8090`.
fn domain_of(address: &str) -> Option<(ServiceAddress<'_>, &str)> {
    let named = ServiceAddress::parse(address).filter(|named| named.is_certain)?;
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let (_, domain) = host.trim_end_matches('.').split_once(".svc.")?;
    Some((named, domain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(env: &[(&str, &str)]) -> Vec<Difference> {
        let env: Vec<_> = env.iter().map(|(name, value)| serde_json::json!({"name": name, "value": value})).collect();
        let containers = serde_json::json!([{"name": "linkerd-proxy", "image": "i", "env": env}]);
        let pod: Pod = serde_json::from_value(serde_json::json!({
            "metadata": {"name": "a", "namespace": "shop"}, "spec": {"containers": containers},
        }))
        .expect("a Pod");
        let installed = Installed { namespace: "linkerd", trust_domain: "cluster.local", services: &[] };
        let found = foreign_settings(&pod, installed, |domain| !domain.eq_ignore_ascii_case("cluster.local"));
        found.into_iter().map(|one| one.difference).collect()
    }

    const OWN: [(&str, &str); 6] = [
        (IDENTITY_ADDRESS, "linkerd-identity-headless.linkerd.svc.cluster.local.:8080"),
        (DESTINATION_ADDRESS, "linkerd-dst-headless.linkerd.svc.cluster.local.:8086"),
        (POLICY_ADDRESS, "linkerd-policy.linkerd.svc.cluster.local.:8090"),
        (IDENTITY_NAME, "linkerd-identity.linkerd.serviceaccount.identity.linkerd.cluster.local"),
        (DESTINATION_NAME, "linkerd-destination.linkerd.serviceaccount.identity.linkerd.cluster.local"),
        (POLICY_NAME, "linkerd-destination.linkerd.serviceaccount.identity.linkerd.cluster.local"),
    ];

    #[test]
    fn settings_of_the_charts_do_not_differ() {
        assert_eq!(differences(&OWN), vec![]);
        let local = [(DESTINATION_ADDRESS, "localhost.:8086"), (POLICY_ADDRESS, "localhost.:8090")];
        assert_eq!(differences(&local), vec![]);
        let capitals = [(DESTINATION_ADDRESS, "Linkerd-Dst-Headless.LINKERD.svc.Cluster.Local.:8086")];
        assert_eq!(differences(&capitals), vec![]);
        let port = [(DESTINATION_ADDRESS, "linkerd-dst-headless.linkerd.svc.cluster.local.:9999")];
        assert_eq!(differences(&port), vec![]);
        let hidden = [(DESTINATION_ADDRESS, "REDACTED(len=12)"), (POLICY_NAME, "<hidden>")];
        assert_eq!(differences(&hidden), vec![]);
    }

    #[test]
    fn each_variable_of_another_cluster_differs() {
        for (variable, value) in OWN {
            let (of_domain, of_namespace) =
                (value.replace("cluster.local", "corp.local"), value.replace(".linkerd.", ".mesh."));
            assert_eq!(differences(&[(variable, &of_domain)]).len(), 1, "{of_domain}");
            assert_eq!(differences(&[(variable, &of_namespace)]).len(), 1, "{of_namespace}");
        }
        let of_policy = [(DESTINATION_ADDRESS, "linkerd-policy.linkerd.svc.cluster.local.:8090")];
        assert_eq!(differences(&of_policy), [Difference::OtherService]);
        let elsewhere = [(POLICY_ADDRESS, "linkerd-policy.mesh.svc.cluster.local.:8090")];
        assert_eq!(differences(&elsewhere), [Difference::NoService]);
    }
}
