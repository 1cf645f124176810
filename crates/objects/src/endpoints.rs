//! Endpoints, the predecessor of EndpointSlices. No check reads them; bundles keep them.

use super::{Kind, KindInfo, Listed, Unread};

/// Lists of `Endpoints`.
#[derive(Debug, Clone, Copy)]
pub enum Endpoints {}

impl Listed for Endpoints {
    type Object = Unread;
    const KIND: Kind = Kind::Endpoints;
    const INFO: KindInfo = KindInfo {
        aliases: &["ep"],
        passes: "{addressType: word, ports: {name: object, protocol: word, appProtocol: word}, endpoints: {addresses: \
             word, hostname: object, nodeName: object, zone: object, targetRef: reference}}",
        ..KindInfo::namespaced("", "v1", "Endpoints", "endpoints")
    };
}
