//! Which ports an annotation names as opaque. It reads what it is handed and judges nothing.

use std::collections::{BTreeMap, BTreeSet};

/// The annotation, on Services, pods and namespaces.
pub(super) const ANNOTATION: &str = "config.linkerd.io/opaque-ports";

/// Ports and ranges of them, first and last included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Opaque(Vec<(u16, u16)>);

impl Opaque {
    /// The ports in a list: numbers, ranges, and names that `named` knows. What is none of these is left out, as Linkerd
    /// leaves it out; that it is there is the matter of another check.
    pub(super) fn parse(list: &str, named: &BTreeMap<&str, u16>) -> Opaque {
        let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        Opaque(entries.filter_map(|entry| range(entry, named)).collect())
    }

    pub(super) fn holds(&self, port: u16) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&port))
    }

    /// The same list with more ports in it, as an annotation takes it.
    pub(super) fn with(&self, ports: &BTreeSet<u16>) -> String {
        let ranges = self.0.iter().map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        });
        let more = ports.iter().filter(|port| !self.holds(**port)).map(ToString::to_string);
        ranges.chain(more).collect::<Vec<_>>().join(",")
    }
}

fn range(entry: &str, named: &BTreeMap<&str, u16>) -> Option<(u16, u16)> {
    if let Some(port) = named.get(entry) {
        return Some((*port, *port));
    }
    match entry.split_once('-') {
        Some((first, last)) => Some((first.trim().parse().ok()?, last.trim().parse().ok()?)),
        None => entry.parse().ok().map(|port| (port, port)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_numbers_ranges_and_names() {
        let ports = Opaque::parse("25, 8080-8082,pg,what-is-this,70000,", &BTreeMap::from([("pg", 5432)]));
        for port in [25, 8080, 8081, 8082, 5432] {
            assert!(ports.holds(port), "{port}");
        }
        assert!(!ports.holds(8083) && !ports.holds(4464));
        assert_eq!(ports.with(&BTreeSet::from([25, 9000])), "25,8080-8082,5432,9000");
        assert_eq!(Opaque::default().with(&BTreeSet::from([5432])), "5432");
    }
}
