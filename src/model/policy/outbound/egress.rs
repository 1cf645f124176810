//! Which EgressNetwork holds an address for clients of a namespace.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use super::{NetworkMatch, Outbound, OutboundIndex};
use crate::objects::EgressNetwork;

impl<'a> OutboundIndex<'a> {
    /// A call of a host outside whose address is not known: what the only EgressNetwork says, where there is one that may hold for
    /// clients of the namespace, and it holds everything outside.
    pub fn of_host(&self, port: u16, from: &str) -> Option<Outbound<'a>> {
        let networks = self.read_for(from);
        let [(_, named)] = networks.as_slice() else { return None };
        // Any address outside is held; one of those that stand for no host shows what is answered.
        let stands_for_all = SocketAddr::new(IpAddr::from([192, 0, 2, 1]), port);
        named.is_none().then(|| self.of_address(stands_for_all, from))?
    }

    /// The EgressNetworks that may hold for clients of a namespace: its own where it has any, else the shared ones.
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

    /// The EgressNetwork that holds an address for clients of a namespace: of its own ones where it has any, else of the shared
    /// ones; the one with the smallest network, then the oldest.
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

    /// Everything but the networks of the cluster.
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
