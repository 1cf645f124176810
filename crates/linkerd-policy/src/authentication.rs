//! Identities and networks of clients, and the authentications that name them.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;

use super::controller::Controller;
use super::parse::Broken;
use crate::names::with_article;
use crate::objects::{EgressNetwork, MeshTLSAuthentication, Network, NetworkAuthentication};

/// A pattern for identities: one identity, or a common suffix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdentityMatch {
    /// Exactly this identity.
    Exact(String),
    /// All identities that end in these parts; all identities if empty.
    Suffix(Vec<String>),
}

impl IdentityMatch {
    /// Parses an identity of a policy. `*` is a wildcard only alone and as the first part.
    pub fn parse(text: &str) -> IdentityMatch {
        match text.strip_prefix("*.") {
            _ if text == "*" => IdentityMatch::Suffix(Vec::new()),
            Some(rest) => IdentityMatch::Suffix(rest.split('.').map(str::to_owned).collect()),
            None => IdentityMatch::Exact(text.to_owned()),
        }
    }

    /// Whether it matches an identity.
    pub fn matches(&self, identity: &str) -> bool {
        match self {
            IdentityMatch::Exact(exact) => exact == identity,
            IdentityMatch::Suffix(parts) if parts.is_empty() => true,
            IdentityMatch::Suffix(parts) => {
                let suffix = parts.join(".");
                identity.strip_suffix(suffix.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }
        }
    }
}

impl fmt::Display for IdentityMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdentityMatch::Exact(identity) => f.write_str(identity),
            IdentityMatch::Suffix(parts) if parts.is_empty() => f.write_str("*"),
            IdentityMatch::Suffix(parts) => write!(f, "*.{}", parts.join(".")),
        }
    }
}

/// A network with exceptions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NetworkMatch {
    /// The network.
    pub net: IpNet,
    /// The excluded networks.
    pub except: Vec<IpNet>,
}

impl NetworkMatch {
    /// A network without exceptions.
    pub fn all(net: IpNet) -> NetworkMatch {
        NetworkMatch { net, except: Vec::new() }
    }

    /// All addresses.
    pub fn everywhere() -> Vec<NetworkMatch> {
        vec![
            NetworkMatch::all(IpNet::V4(ipnet::Ipv4Net::default())),
            NetworkMatch::all(IpNet::V6(ipnet::Ipv6Net::default())),
        ]
    }

    /// Parses a network of a policy.
    pub(super) fn from_network(network: &Network) -> Result<NetworkMatch, Broken> {
        let except = network.except.iter().map(|text| cidr(text)).collect::<Result<_, _>>()?;
        Ok(NetworkMatch { net: cidr(&network.cidr)?, except })
    }

    /// The networks of an EgressNetwork; `None` if it means everything outside of the cluster's networks.
    pub(super) fn of_egress(network: &EgressNetwork) -> Result<Option<Vec<NetworkMatch>>, Broken> {
        network.spec.networks.as_ref().map(|named| named.iter().map(NetworkMatch::from_network).collect()).transpose()
    }

    /// The number of addresses, as the controller counts them to compare two networks: without exceptions,
    /// without the first and last address of an IPv4 network, and wrapping at 64 bits.
    pub(super) fn size(&self) -> u64 {
        let of = |net: &IpNet| match net {
            IpNet::V4(net) => match 1u64 << (32 - net.prefix_len()) {
                few @ (1 | 2) => few,
                more => more - 2,
            },
            IpNet::V6(net) => match net.prefix_len() {
                0 => 0,
                1..=64 => 1,
                length => 1u64 << (128 - length),
            },
        };
        let except = self.except.iter().map(of).fold(0u64, u64::wrapping_add);
        of(&self.net).wrapping_sub(except)
    }

    /// Whether its exceptions leave no address.
    pub fn is_empty(&self) -> bool {
        IpNet::aggregate(&self.except).iter().any(|except| except.contains(&self.net))
    }

    /// Whether it contains an address.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.net.contains(&address) && !self.except.iter().any(|except| except.contains(&address))
    }
}

impl fmt::Display for NetworkMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.net)?;
        if self.except.is_empty() {
            return Ok(());
        }
        let except: Vec<String> = self.except.iter().map(IpNet::to_string).collect();
        write!(f, " except {}", except.join(", "))
    }
}

pub(super) fn cidr(text: &str) -> Result<IpNet, Broken> {
    let address = text.parse::<IpAddr>().map(IpNet::from);
    address
        .or_else(|_| text.parse::<IpNet>())
        .map_err(|_| Broken::new(format!("{text:?} is neither a CIDR nor an address")))
}

/// The identities of a MeshTLSAuthentication.
///
/// # Errors
/// The outer error: it cannot be read. The inner error: why the controller ignores it.
pub(super) fn identities(
    object: &MeshTLSAuthentication,
    controller: &Controller,
) -> Result<Result<Vec<IdentityMatch>, String>, Broken> {
    if object.spec.identity_refs.iter().any(|reference| reference.name.is_empty()) {
        return Err(Broken::new("a client in identityRefs has no name"));
    }
    let mut matches: Vec<IdentityMatch> =
        object.spec.identities.iter().map(|text| IdentityMatch::parse(text)).collect();
    for reference in &object.spec.identity_refs {
        if reference.is_a("", "ServiceAccount") {
            let namespace = reference.namespace.as_deref().unwrap_or(&object.metadata.namespace);
            matches.push(IdentityMatch::Exact(controller.identity(namespace, &reference.name)));
        } else if reference.is_a("", "Namespace") {
            matches.push(IdentityMatch::parse(&controller.namespace_identities(&reference.name)));
        } else {
            return Ok(Err(format!(
                "it refers to {}, but only ServiceAccounts and Namespaces are supported",
                with_article(&reference.kind)
            )));
        }
    }
    Ok(if matches.is_empty() { Err("it names no identity".to_owned()) } else { Ok(matches) })
}

/// The networks of a NetworkAuthentication.
///
/// # Errors
/// The outer error: it cannot be read. The inner error: why the controller ignores it.
pub(super) fn networks(object: &NetworkAuthentication) -> Result<Result<Vec<NetworkMatch>, String>, Broken> {
    let matches = object.spec.networks.iter().map(NetworkMatch::from_network).collect::<Result<Vec<_>, _>>()?;
    Ok(if matches.is_empty() { Err("it names no network".to_owned()) } else { Ok(matches) })
}
