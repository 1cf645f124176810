//! Finds the EgressNetwork for an address, for clients of a namespace.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use super::{NetworkMatch, Outbound, OutboundIndex};
use crate::objects::EgressNetwork;

impl<'a> OutboundIndex<'a> {
    /// The policy of a call to an outside host with an unknown address: that of the only EgressNetwork, if
    /// one may apply to clients of the namespace and it covers everything outside.
    pub fn of_host(&self, port: u16, from: &str) -> Option<Outbound<'a>> {
        let networks = self.read_for(from);
        let [(_, named)] = networks.as_slice() else { return None };
        // The network covers any outside address, so a documentation address represents all.
        let stands_for_all = SocketAddr::new(IpAddr::from([192, 0, 2, 1]), port);
        named.is_none().then(|| self.of_address(stands_for_all, from))?
    }

    /// The EgressNetworks that may apply to clients of a namespace: its own if it has any, else the shared
    /// ones.
    pub fn networks_for(&self, from: &str) -> Vec<&'a EgressNetwork> {
        self.read_for(from).into_iter().map(|(network, _)| *network).collect()
    }

    fn read_for(&self, from: &str) -> Vec<&(&'a EgressNetwork, Option<Vec<NetworkMatch>>)> {
        let of = |namespace: &str| {
            let all = self.egress_networks.iter();
            all.filter(|(network, _)| network.metadata.namespace == namespace).collect::<Vec<_>>()
        };
        let own = of(from);
        if own.is_empty() { of(&self.controller.egress_namespace) } else { own }
    }

    /// The EgressNetwork for an address, for clients of a namespace: from its own networks if it has any,
    /// else from the shared ones; the one with the smallest network, then the oldest.
    pub(super) fn network_of(&self, address: IpAddr, from: &str) -> Option<&'a EgressNetwork> {
        let outside = self.outside();
        let size = |networks: &Option<Vec<NetworkMatch>>| {
            let networks = networks.as_ref().unwrap_or(&outside);
            networks.iter().filter(|network| network.contains(address)).map(NetworkMatch::size).min()
        };
        let candidates = self.read_for(from).into_iter();
        let found = candidates.filter_map(|(network, networks)| Some((size(networks)?, *network)));
        found
            .min_by_key(|(size, network)| {
                let meta = &network.metadata;
                (*size, meta.creation_timestamp, meta.namespace.clone(), meta.name.clone())
            })
            .map(|(_, network)| network)
    }

    /// Everything outside of the cluster's networks.
    fn outside(&self) -> Vec<NetworkMatch> {
        let mut everywhere = NetworkMatch::everywhere();
        for network in &mut everywhere {
            let is_v6 = |net: &IpNet| matches!(net, IpNet::V6(_));
            let cluster = self.controller.cluster_networks.iter().copied();
            network.except = cluster.filter(|net| is_v6(net) == is_v6(&network.net)).collect();
        }
        everywhere
    }
}
