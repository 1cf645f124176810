//! Addresses in settings: the Service of the cluster that an address names, and whether it leads to a ready
//! endpoint.

use std::net::IpAddr;

use super::endpoints::NoEndpoint;
use crate::objects::{EndpointSlice, Kind, Pod, Service, ServicePort, Workload};

/// A Service of the cluster, by name, as in `http://collector.tracing.svc.cluster.local:4317`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServiceAddress<'a> {
    /// Namespace of the Service.
    pub namespace: &'a str,
    /// Name of the Service.
    pub name: &'a str,
    /// Port, if the address has one.
    pub port: Option<u16>,
    /// Whether it can only be a Service. `collector.tracing` can also be a host outside the cluster.
    pub is_certain: bool,
}

/// Objects with which addresses are compared.
#[derive(Debug, Clone, Copy)]
pub struct Services<'a> {
    pub services: &'a [Service],
    /// All EndpointSlices; `None` if unknown.
    pub slices: Option<&'a [EndpointSlice]>,
    pub pods: &'a [Pod],
}

/// The result of the lookup of an address.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup<'a> {
    /// The Service exists, has the port, and has a ready endpoint unless endpoints are unknown.
    Found(&'a Service, Option<&'a ServicePort>),
    /// The host is outside the cluster.
    Outside,
    /// No such Service exists.
    NoService,
    /// The Service does not declare the port.
    NoPort(&'a Service),
    /// The Service has no ready endpoint.
    NoEndpoint(&'a Service, NoEndpoint<'a>),
}

impl<'a> ServiceAddress<'a> {
    /// Parses a host with or without scheme, port and path; `None` if it does not name a Service.
    pub fn parse(text: &'a str) -> Option<ServiceAddress<'a>> {
        let text = text.trim();
        let authority = text.split_once("://").map_or(text, |(_, rest)| rest).split('/').next()?;
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (authority, None),
        };
        if host.parse::<IpAddr>().is_ok() || host.contains(['@', '[', '$']) {
            return None;
        }
        let mut parts = host.trim_end_matches('.').split('.');
        let (name, namespace) = (parts.next()?, parts.next()?);
        let is_certain = match parts.next() {
            None => false,
            Some("svc") => true,
            Some(_) => return None,
        };
        let is_name =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (is_name(name) && is_name(namespace)).then_some(ServiceAddress { namespace, name, port, is_certain })
    }

    /// Looks the address up. `workloads` are those whose pods the Service could select.
    pub fn lookup(self, among: Services<'a>, workloads: impl IntoIterator<Item = (Kind, &'a Workload)>) -> Lookup<'a> {
        let ServiceAddress { namespace, name, port, is_certain } = self;
        let Services { services, slices, pods } = among;
        let Some(service) = services.iter().find(|one| one.metadata.key() == (namespace, name)) else {
            let is_inside = is_certain || services.iter().any(|one| one.metadata.namespace == namespace);
            return if is_inside { Lookup::NoService } else { Lookup::Outside };
        };
        if service.spec.kind.as_str() == "ExternalName" {
            return Lookup::Outside;
        }
        let declared = port.and_then(|port| service.spec.ports.iter().find(|one| one.port == port));
        // The name of a headless Service leads to its pods, at any port.
        if port.is_some() && declared.is_none() && !service.spec.cluster_ip.headless {
            return Lookup::NoPort(service);
        }
        match slices.map(|slices| EndpointSlice::counted(slices, service)) {
            Some((0, _)) => Lookup::NoEndpoint(service, NoEndpoint::explain(service, pods, workloads)),
            _ => Lookup::Found(service, declared),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_services_are_parsed() {
        let parse = |text| ServiceAddress::parse(text).map(|one| (one.namespace, one.name, one.port, one.is_certain));
        for text in ["web.shop.svc.cluster.local.:80", "http://web.shop.svc:80/path", "web.shop.svc:80"] {
            assert_eq!(parse(text), Some(("shop", "web", Some(80), true)), "{text}");
        }
        assert_eq!(parse("grafana.grafana:3000"), Some(("grafana", "grafana", Some(3000), false)));
        assert_eq!(parse("web.shop.svc"), Some(("shop", "web", None, true)));
        let others = ["", ":9990", "10.0.0.1:80", "[::1]:80", "localhost:80", "otel.example.com:443", "a.b.svc:http"];
        for text in others {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
