//! Whether network policies allow a proxy's connections to a component of the control plane.

use super::{Direction, Passage, Peer, Policies, Port};
use crate::objects::Pod;

/// The best of several results: one that is open is enough.
pub fn best<'a>(passages: impl IntoIterator<Item = Passage<'a>>) -> Option<Passage<'a>> {
    let rank = |passage: &Passage<'_>| match passage {
        Passage::Open | Passage::Through(_) => 0,
        Passage::Unknown(_) => 1,
        Passage::Shut(_) => 2,
    };
    passages.into_iter().min_by_key(rank)
}

/// The result for connections of `client` to a port of the pods that serve it: egress of the client, and
/// ingress of the best of these pods. `None` if there are no such pods.
pub fn to_component<'a>(
    policies: &Policies<'a>,
    client: &Pod,
    serving: &[&Pod],
    number: u16,
) -> Vec<(Direction, Passage<'a>)> {
    let port = |server| Port { protocol: "TCP", number, of: Some(server) };
    let out = serving
        .iter()
        .map(|server| policies.passage(Direction::Egress, client, port(server), Peer::Pod(server)));
    let to = serving
        .iter()
        .map(|server| policies.passage(Direction::Ingress, server, port(server), Peer::Pod(client)));
    let each = [(Direction::Egress, best(out)), (Direction::Ingress, best(to))];
    each.into_iter().filter_map(|(direction, passage)| Some((direction, passage?))).collect()
}
