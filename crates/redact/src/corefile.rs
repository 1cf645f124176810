//! The Corefile of CoreDNS, reduced to the cluster domains that it serves.

/// Cluster domains for Services in CoreDNS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Corefile {
    /// Zones of its plugin `kubernetes`, without reverse zones.
    pub zones: Vec<String>,
    /// Whether other files, rewrites or variables of the environment may add domains.
    pub open: bool,
}

impl Corefile {
    /// Parses a Corefile.
    pub fn parse(text: &str) -> Corefile {
        let mut read = Corefile::default();
        let mut block: Vec<String> = Vec::new();
        let mut depth = 0_usize;
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            // `{$DOMAIN}` or `{%DOMAIN%}`.
            read.open |= line.contains("{$") || line.contains("{%");
            let named = || words.iter().skip(1).filter(|word| **word != "{");
            match words.first().copied() {
                Some("kubernetes") if depth > 0 => {
                    let zones: Vec<String> = named().filter_map(|word| zone(word)).collect();
                    read.zones.extend(if named().next().is_some() { zones } else { block.clone() });
                }
                Some("import" | "rewrite" | "template" | "file") => read.open = true,
                Some(_) if depth == 0 && line.contains('{') => {
                    block = words.iter().filter(|word| **word != "{").filter_map(|word| zone(word)).collect();
                }
                _ => {}
            }
            depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
        }
        read
    }

    /// Whether a domain is served.
    pub fn serves(&self, domain: &str) -> bool {
        let domain = domain.trim_end_matches('.').to_ascii_lowercase();
        self.zones.iter().any(|zone| {
            zone.is_empty()
                || domain == *zone
                || domain.strip_suffix(zone.as_str()).is_some_and(|rest| rest.ends_with('.'))
        })
    }

    /// A Corefile with only these facts.
    pub fn to_text(&self) -> String {
        let zones = self.zones.iter().map(|zone| if zone.is_empty() { "." } else { zone });
        let mut words = vec!["kubernetes"];
        words.extend(zones);
        let rest = if self.open { "    import REDACTED\n" } else { "" };
        let zones = if self.zones.is_empty() { String::new() } else { format!("    {}\n", words.join(" ")) };
        format!(".:53 {{\n{zones}{rest}}}\n")
    }
}

/// A zone as a domain name, without scheme, port and final dot; `None` for reverse zones and variables.
fn zone(word: &str) -> Option<String> {
    let word = word.trim_end_matches(',').to_ascii_lowercase();
    let name = word.split_once("://").map_or(word.as_str(), |(_, rest)| rest);
    let name = name.split(':').next().unwrap_or_default().trim_end_matches('.');
    let of_addresses = name.ends_with(".arpa") || name.contains('/') || name == "arpa";
    (!of_addresses && !name.contains('{')).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = "# made by kubeadm\n.:53 {\n    errors\n    health {\n       lameduck 5s\n    }\n    kubernetes cluster.local in-addr.arpa ip6.arpa {\n       pods insecure\n       ttl 30\n    }\n    forward . /etc/resolv.conf {\n       max_concurrent 1000\n    }\n    cache 30\n}\n";

    #[test]
    fn zones_are_those_of_the_plugin() {
        for (text, zones, open) in [
            (USUAL, vec!["cluster.local"], false),
            (
                ".:53 {\n kubernetes a.example b.example. {\n }\n}\nimport /etc/coredns/custom/*.server\n",
                vec!["a.example", "b.example"],
                true,
            ),
            ("corp.example:53 {\n    kubernetes\n}\n. {\n  forward . 1.1.1.1\n}\n", vec!["corp.example"], false),
            (".:53 {\n    kubernetes {\n    }\n}\n", vec![""], false),
            (
                "dns://.:53 {\n    kubernetes cluster.local 10.0.0.0/8\n    rewrite name suffix .old.local .cluster.local\n}",
                vec!["cluster.local"],
                true,
            ),
            (".:53 {\n    kubernetes {$DOMAIN} in-addr.arpa {\n    }\n}\n", vec![], true),
            ("", vec![], false),
            ("}}}{", vec![], false),
        ] {
            let read = Corefile::parse(text);
            assert_eq!((read.zones.iter().map(String::as_str).collect::<Vec<_>>(), read.open), (zones, open), "{text}");
            assert_eq!(Corefile::parse(&read.to_text()), read, "{text}");
        }
    }

    #[test]
    fn domain_is_served_by_its_zone_or_parent() {
        let read = Corefile::parse(USUAL);
        assert!(read.serves("cluster.local") && read.serves("Cluster.Local.") && read.serves("a.cluster.local"));
        assert!(!read.serves("local") && !read.serves("mycluster.local") && !read.serves("k8s.example.org"));
        assert!(Corefile::parse(".:53 {\n    kubernetes\n}\n").serves("anything.example"));
    }
}
