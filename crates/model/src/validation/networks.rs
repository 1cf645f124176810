//! Networks with exceptions, as written.

use ipnet::IpNet;

use super::Denied;
use crate::knowledge::AdmissionRule;
use crate::objects::Network;
use crate::policy::parse_network;

/// Whether the controller can read networks, and each contains its exceptions without being one of them.
pub(super) fn validate(networks: &[Network], path: &str) -> Result<(), Denied> {
    for (at, network) in networks.iter().enumerate() {
        let place = format!("{path}[{at}]");
        let whole = read(&network.cidr, &format!("{place}.cidr"))?;
        for (at, text) in network.except.iter().enumerate() {
            let place = format!("{place}.except[{at}]");
            let except = read(text, &place)?;
            let why = if except.contains(&whole) {
                format!("exception {except} leaves nothing of {whole}")
            } else if !whole.contains(&except) {
                format!("exception {except} is not part of {whole}")
            } else {
                continue;
            };
            return Err(Denied::new(AdmissionRule::Network, place, why));
        }
    }
    Ok(())
}

/// A network.
fn read(text: &str, path: &str) -> Result<IpNet, Denied> {
    Denied::at(AdmissionRule::Network, path, parse_network(text))
}
