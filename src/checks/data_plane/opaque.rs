//! The opaque ports of Services and pods. Shared by several checks; produces no findings itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::port_list;
use crate::objects::{Pod, Service};

/// The annotation, on Services, pods and namespaces.
pub(super) const ANNOTATION: &str = "config.linkerd.io/opaque-ports";

/// The ports in effect of a list, and the ports that it was intended to mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Opaque {
    /// In effect. Empty if the policy controller cannot read one entry, because it then treats the list as
    /// empty.
    marked: Vec<(u16, u16)>,
    /// The valid entries, including names of ports.
    meant: Vec<(u16, u16)>,
}

impl Opaque {
    /// Parses a list of numbers and ranges. A name of a port, resolved by `named`, voids the list but
    /// counts as intended, so that a corrected list contains its number.
    pub(super) fn parse(list: &str, named: &BTreeMap<&str, u16>) -> Opaque {
        let entries = || list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let meant = entries().filter_map(|entry| {
            let port = named.get(entry).map(|port| (*port, *port));
            port.or_else(|| range(entry))
        });
        let marked: Option<Vec<(u16, u16)>> = entries().map(range).collect();
        Opaque { marked: marked.unwrap_or_default(), meant: meant.collect() }
    }

    /// Whether the list is in effect for a port.
    pub(super) fn marks(&self, port: u16) -> bool {
        within(&self.marked, port)
    }

    /// The intended ports as the value of an annotation.
    pub(super) fn list(&self) -> String {
        self.with(&BTreeSet::new())
    }

    /// The default ports among some: they are in force as long as no list replaces the default list.
    pub(super) fn only(&self, ports: impl IntoIterator<Item = u16>) -> Opaque {
        let ports = ports.into_iter().filter(|port| self.marks(*port));
        let kept: Vec<(u16, u16)> = BTreeSet::from_iter(ports).into_iter().map(|port| (port, port)).collect();
        Opaque { marked: kept.clone(), meant: kept }
    }

    /// Formats the intended ports plus additional ones as the value of an annotation.
    pub(super) fn with(&self, ports: &BTreeSet<u16>) -> String {
        let ranges = self.meant.iter().map(|bounds| port_list::written(*bounds));
        let more = ports.iter().filter(|port| !within(&self.meant, **port)).map(ToString::to_string);
        ranges.chain(more).collect::<Vec<_>>().join(",")
    }
}

/// The ports that a Service marks; `None` without the annotation.
pub(super) fn of_service(service: &Service) -> Option<Opaque> {
    let named = service.spec.ports.iter().filter(|port| !port.name.is_empty());
    let named = named.map(|port| (port.name.as_str(), port.port)).collect();
    service.metadata.annotation(ANNOTATION).map(|list| Opaque::parse(list, &named))
}

/// The list in force for a Service: its own, or the default ports that it exposes.
pub(super) fn in_force(service: &Service, default: &Opaque) -> Opaque {
    let exposed = service.spec.tcp_ports().map(|port| port.port);
    of_service(service).unwrap_or_else(|| default.only(exposed))
}

/// The list in force for a pod: its own, or the default ports among those of its containers and `targets`.
pub(super) fn in_force_for(pod: &Pod, default: &Opaque, targets: &BTreeSet<u16>) -> Opaque {
    let declared = pod.spec.all_containers().flat_map(|container| &container.ports);
    let ports = declared.map(|port| port.container_port).chain(targets.iter().copied());
    of_pod(pod).unwrap_or_else(|| default.only(ports))
}

/// The ports that a pod marks; `None` without the annotation.
pub(super) fn of_pod(pod: &Pod) -> Option<Opaque> {
    let ports = pod.spec.all_containers().flat_map(|container| &container.ports);
    let named = ports.filter(|port| !port.name.is_empty());
    let named = named.map(|port| (port.name.as_str(), port.container_port)).collect();
    pod.metadata.annotation(ANNOTATION).map(|list| Opaque::parse(list, &named))
}

fn within(ranges: &[(u16, u16)], port: u16) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&port))
}

/// Parses a port or a range of ports as the policy controller does: from 1 up, in ascending order.
fn range(entry: &str) -> Option<(u16, u16)> {
    port_list::bounds(entry).filter(|(first, last)| *first > 0 && first <= last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_numbers_and_ranges() {
        let ports = Opaque::parse("25, 8080-8082,", &BTreeMap::new());
        for port in [25, 8080, 8081, 8082] {
            assert!(ports.marks(port), "{port}");
        }
        assert!(!ports.marks(8083) && !ports.marks(4464));
        assert_eq!(ports.with(&BTreeSet::from([25, 9000])), "25,8080-8082,9000");
        assert_eq!(Opaque::default().with(&BTreeSet::from([5432])), "5432");
    }

    #[test]
    fn unreadable_entry_voids_the_list_but_is_kept() {
        let named = BTreeMap::from([("pg", 5432)]);
        for list in ["25,pg", "25,0", "25,70000", "25,9-3", "25,what-is-this"] {
            assert!(!Opaque::parse(list, &named).marks(25), "{list}");
        }
        let ports = Opaque::parse("25,pg,what-is-this", &named);
        assert!(!ports.marks(5432));
        assert_eq!(ports.with(&BTreeSet::from([5432, 9000])), "25,5432,9000");
    }
}
