//! What a certificate allows the certificates below it: number of authorities, purposes and names.

use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, NameConstraints};

use super::Certificate;

/// The purpose that a certificate is used for.
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

/// Any purpose at all.
const ANY: &str = "2.5.29.37.0";

/// The extensions that Go knows: those of RFC 5280 with these last numbers below 2.5.29. Go rejects
/// any other if it is critical.
const KNOWN: [u32; 12] = [14, 15, 17, 19, 30, 31, 32, 33, 35, 36, 37, 54];

impl Certificate {
    /// Whether an extension that Go does not know is critical, so that Go and the proxies' verifier
    /// reject it.
    pub fn demands_the_unknown(&self) -> bool {
        let known = |oid: &str| {
            let last = oid.strip_prefix("2.5.29.").and_then(|last| last.parse().ok());
            last.is_some_and(|last| KNOWN.contains(&last))
        };
        let extensions = self.parsed.tbs_certificate().extensions().into_iter().flatten();
        extensions.into_iter().any(|extension| extension.critical && !known(&extension.extn_id.to_string()))
    }

    /// The path length: how many authorities may be below it, if stated.
    pub fn path_length(&self) -> Option<u8> {
        let constraints = self.parsed.tbs_certificate().get_extension::<BasicConstraints>();
        constraints.ok().flatten()?.1.path_len_constraint
    }

    /// Whether Go accepts it, and certificates below it, for a purpose: it names none, or this one
    /// or "any".
    pub fn lets(&self, purpose: Purpose) -> bool {
        self.names_purpose(|named| named == purpose.oid() || named == ANY)
    }

    /// Whether a proxy accepts it for a purpose: as Go does, except that "any" does not count.
    pub fn lets_strictly(&self, purpose: Purpose) -> bool {
        self.names_purpose(|named| named == purpose.oid())
    }

    fn names_purpose(&self, is_it: impl Fn(&str) -> bool) -> bool {
        match self.parsed.tbs_certificate().get_extension::<ExtendedKeyUsage>() {
            Ok(Some((_, ExtendedKeyUsage(purposes)))) => {
                purposes.iter().any(|purpose| is_it(&purpose.to_string()))
            }
            Ok(None) => true,
            Err(_) => false,
        }
    }

    /// Whether its name constraints allow a DNS name below it.
    pub fn permits(&self, name: &str) -> bool {
        let constraints = match self.parsed.tbs_certificate().get_extension::<NameConstraints>() {
            Ok(Some((_, constraints))) => constraints,
            Ok(None) => return true,
            Err(_) => return false,
        };
        let names = |subtrees: Option<Vec<_>>| -> Vec<String> {
            let bases = subtrees.unwrap_or_default().into_iter();
            let names =
                bases.filter_map(|tree: x509_cert::ext::pkix::constraints::name::GeneralSubtree| match tree
                    .base
                {
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
