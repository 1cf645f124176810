//! Networks in CIDR form.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// A network: `10.244.0.0/16`, `fd00::/8`. Host bits are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network(IpNet);

/// A text that is not a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a network: expected ADDRESS/BITS, such as 10.244.0.0/16")]
pub struct NotANetwork(pub String);

impl Network {
    /// The network of one address.
    pub fn of_address(address: IpAddr) -> Network {
        Network(IpNet::from(address))
    }

    /// Whether it contains every address of its family.
    pub fn is_everything(&self) -> bool {
        self.0.prefix_len() == 0
    }

    /// Whether it contains the address.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }

    /// Whether it contains the whole other network.
    pub fn covers(&self, other: &Network) -> bool {
        self.0.contains(&other.0)
    }
}

/// Difference in bits between a range and its slices up to which networks count as slices of one range.
const SLICE_BITS: u8 = 8;

/// Whether several networks of equal size are close together, as those that nodes get from one larger range.
pub fn are_slices(networks: &[Network]) -> bool {
    let [Network(first), rest @ ..] = networks else { return false };
    let is_equal = rest.iter().all(|Network(other)| other.prefix_len() == first.prefix_len());
    let mut wide = *first;
    while !rest.iter().all(|Network(other)| wide.contains(other)) {
        let Some(wider) = wide.supernet() else { return false };
        wide = wider;
    }
    !rest.is_empty() && is_equal && first.prefix_len() - wide.prefix_len() <= SLICE_BITS
}

impl FromStr for Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Network, NotANetwork> {
        text.parse().map(Network).map_err(|_| NotANetwork(text.to_owned()))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(text: &str) -> Network {
        text.parse().expect(text)
    }

    #[test]
    fn network_contains_only_its_addresses() {
        for (network, address, holds) in [
            ("10.0.0.0/8", "10.244.1.7", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.244.1.9/24", "10.244.1.200", true),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "fd00::1", false),
            ("::/0", "10.0.0.1", false),
            ("fd00::/8", "fdab::1", true),
            ("fd00::/8", "2600:1f18::1", false),
            ("10.0.0.1/32", "10.0.0.1", true),
            ("10.0.0.1/32", "10.0.0.2", false),
        ] {
            assert_eq!(net(network).contains(address.parse().expect("an address")), holds, "{network} {address}");
        }
        assert!(net("10.0.0.0/8").covers(&net("10.244.0.0/24")));
        assert!(!net("10.244.0.0/24").covers(&net("10.0.0.0/8")));
    }

    #[test]
    fn close_networks_of_equal_size_are_slices() {
        for (networks, is_slices) in [
            (&["203.0.0.0/24", "203.0.1.0/24", "203.0.2.0/24"][..], true),
            (&["203.0.0.0/24", "203.0.200.0/24"], true),
            (&["203.0.0.0/24", "198.51.100.0/24"], false),
            (&["203.0.0.0/24", "203.0.2.0/23"], false),
            (&["203.0.0.0/24"], false),
            (&["203.0.0.0/24", "fd00::/24"], false),
            (&["fd00:1:2::/64", "fd00:1:2:1::/64"], true),
            (&[], false),
        ] {
            let networks: Vec<Network> = networks.iter().map(|one| net(one)).collect();
            assert_eq!(are_slices(&networks), is_slices, "{networks:?}");
        }
    }

    #[test]
    fn invalid_network_is_an_error() {
        for text in [
            "",
            "10.0.0.0",
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "10.0.0.0/+8",
            " 10.0.0.0/8",
            "fd00::/129",
            "x/8",
            "10.0.0.0/8/8",
            "10.0.0.0/8 ",
            "10.0.0/8",
        ] {
            assert!(text.parse::<Network>().is_err(), "{text:?}");
        }
    }
}
