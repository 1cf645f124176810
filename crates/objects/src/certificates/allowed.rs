//! The constraints of a certificate on certificates below it: path length, purposes and names.

use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, NameConstraints};

use super::Certificate;

/// The purpose for which a peer presents a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Client: shown to the server.
    Server,
    /// Server: shown to the client.
    Client,
}

impl Purpose {
    fn oid(self) -> &'static str {
        match self {
            Purpose::Server => "1.3.6.1.5.5.7.3.1",
            Purpose::Client => "1.3.6.1.5.5.7.3.2",
        }
    }
}

/// The "any" purpose.
const ANY: &str = "2.5.29.37.0";

/// The last numbers, below 2.5.29, of the RFC 5280 extensions that Go knows. Go rejects other critical extensions.
const KNOWN: [u32; 12] = [14, 15, 17, 19, 30, 31, 32, 33, 35, 36, 37, 54];

impl Certificate {
    /// Whether it has a critical extension that Go does not know. Go and the proxies' verifier reject such a
    /// certificate.
    pub fn demands_the_unknown(&self) -> bool {
        let known = |oid: &str| {
            let last = oid.strip_prefix("2.5.29.").and_then(|last| last.parse().ok());
            last.is_some_and(|last| KNOWN.contains(&last))
        };
        let extensions = self.parsed.tbs_certificate().extensions().into_iter().flatten();
        extensions.into_iter().any(|extension| extension.critical && !known(&extension.extn_id.to_string()))
    }

    /// The maximum number of authorities below it, if it sets one.
    pub fn path_length(&self) -> Option<u8> {
        let constraints = self.parsed.tbs_certificate().get_extension::<BasicConstraints>();
        constraints.ok().flatten()?.1.path_len_constraint
    }

    /// Whether Go accepts it, or certificates that it signs, for a purpose: it lists no purpose, this one, or "any".
    pub fn lets(&self, purpose: Purpose) -> bool {
        self.names_purpose(|named| named == purpose.oid() || named == ANY)
    }

    /// Whether a proxy accepts it for a purpose. Like Go, but "any" is not accepted.
    pub fn lets_strictly(&self, purpose: Purpose) -> bool {
        self.names_purpose(|named| named == purpose.oid())
    }

    fn names_purpose(&self, is_it: impl Fn(&str) -> bool) -> bool {
        match self.parsed.tbs_certificate().get_extension::<ExtendedKeyUsage>() {
            Ok(Some((_, ExtendedKeyUsage(purposes)))) => purposes.iter().any(|purpose| is_it(&purpose.to_string())),
            Ok(None) => true,
            Err(_) => false,
        }
    }

    /// Whether its name constraints permit a DNS name in certificates below it.
    pub fn permits(&self, name: &str) -> bool {
        let constraints = match self.parsed.tbs_certificate().get_extension::<NameConstraints>() {
            Ok(Some((_, constraints))) => constraints,
            Ok(None) => return true,
            Err(_) => return false,
        };
        let names = |subtrees: Option<Vec<_>>| -> Vec<String> {
            let bases = subtrees.unwrap_or_default().into_iter();
            let names =
                bases.filter_map(|tree: x509_cert::ext::pkix::constraints::name::GeneralSubtree| match tree.base {
                    GeneralName::DnsName(dns) => Some(dns.as_str().to_owned()),
                    _ => None,
                });
            names.collect()
        };
        let permitted = names(constraints.permitted_subtrees);
        let excluded = names(constraints.excluded_subtrees);
        let within = |tree: &String| is_within(name, tree);
        !excluded.iter().any(within) && (permitted.is_empty() || permitted.iter().any(within))
    }
}

/// Whether a name is in a subtree: it equals it or ends with its labels. A leading dot excludes the
/// name itself.
fn is_within(name: &str, tree: &str) -> bool {
    let (below_only, tree) = tree.strip_prefix('.').map_or((false, tree), |rest| (true, rest));
    if tree.is_empty() {
        return true;
    }
    let (name, tree) = (name.to_ascii_lowercase(), tree.to_ascii_lowercase());
    match name.strip_suffix(tree.as_str()) {
        Some("") => !below_only,
        Some(rest) => rest.ends_with('.'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subtree_holds_its_name_and_what_ends_with_its_labels() {
        for (name, tree, within) in [
            ("identity.linkerd.cluster.local", "cluster.local", true),
            ("identity.linkerd.cluster.local", ".cluster.local", true),
            ("cluster.local", "cluster.local", true),
            ("cluster.local", ".cluster.local", false),
            ("mycluster.local", "cluster.local", false),
            ("Identity.Cluster.Local", "cluster.LOCAL", true),
            ("anything", "", true),
        ] {
            assert_eq!(is_within(name, tree), within, "{name} in {tree}");
        }
    }
}
