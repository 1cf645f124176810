//! Cilium sysdumps, recognized by their file names: complete lists, the Kubernetes version, and CNI configuration that
//! the tool copied from Cilium's pods.

use std::collections::{BTreeMap, BTreeSet};

use crate::archive::Tree;
use crate::archive::spool::Blob;
use crate::item::Kind;
use crate::names::is_subdomain;

/// The lists of a sysdump, by the prefix of their file names.
const SYSDUMP: [(&str, Kind); 14] = [
    ("k8s-nodes-", Kind::Node),
    ("k8s-namespaces-", Kind::Namespace),
    ("k8s-pods-", Kind::Pod),
    ("k8s-services-", Kind::Service),
    ("k8s-endpoints-", Kind::Endpoints),
    ("k8s-endpointslices-", Kind::EndpointSlice),
    ("k8s-events-", Kind::Event),
    ("k8s-networkpolicies-", Kind::NetworkPolicy),
    ("ciliumnetworkpolicies-", Kind::CiliumNetworkPolicy),
    ("ciliumclusterwidenetworkpolicies-", Kind::CiliumClusterwideNetworkPolicy),
    ("gatewayapi-httproutes-", Kind::HTTPRoute),
    ("gatewayapi-grpcroutes-", Kind::GRPCRoute),
    ("gatewayapi-tlsroutes-", Kind::TLSRoute),
    // Spelling of the tool.
    ("gatewayapi-tcroutes-", Kind::TCPRoute),
];
/// Maximum size of a version file, in bytes.
const VERSION: u64 = 256;

/// A file of a sysdump without objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beside {
    /// The Kubernetes version.
    Version,
    /// `FILE-POD`: a CNI configuration file, copied from a pod on the node.
    Configuration(String),
}

/// The role of a file, by its name; `None` for others.
pub fn beside(path: &str) -> Option<Beside> {
    let name = base(path);
    if timed(name, "k8s-version-", ".txt").is_some() {
        return Some(Beside::Version);
    }
    let rest = name.strip_prefix("cniconf-")?.strip_suffix(".txt")?;
    // The name ends with a timestamp such as 20261123-101010.
    let (rest, time) = rest.rsplit_once('-')?;
    let (rest, day) = rest.rsplit_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(time) && digits(day)).then(|| Beside::Configuration(rest.to_owned()))
}

/// Whether a folder or archive is a sysdump.
pub fn is_one(tree: &Tree) -> bool {
    !complete(tree).is_empty()
}

/// The version in a file that contains nothing else.
pub fn version(blob: &Blob) -> Option<String> {
    let text = String::from_utf8(blob.bytes(VERSION).ok()?).ok()?;
    let version = text.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    (version.starts_with('v') && version.chars().all(plain)).then(|| version.to_owned())
}

/// The file and pod of `FILE-POD`, among existing pods: the longest matching name.
pub fn configuration<'a>(written: &'a str, pods: &BTreeMap<String, String>) -> Option<(&'a str, &'a str)> {
    written
        .match_indices('-')
        .map(|(at, _)| (&written[..at], &written[at + 1..]))
        .find(|(file, pod)| !file.is_empty() && is_subdomain(pod) && pods.contains_key(*pod))
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The part of a name between its prefix and its suffix, if the suffix starts like a timestamp.
fn timed<'a>(file: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    let time = file.strip_prefix(begin)?.strip_suffix(end)?;
    time.starts_with(|c: char| c.is_ascii_digit()).then_some(time)
}

/// The kinds that a folder or archive lists completely if it contains a sysdump: one list each for all namespaces.
pub fn complete(tree: &Tree) -> BTreeSet<Kind> {
    let names: Vec<&str> = tree.files.keys().map(|path| base(path)).collect();
    let is = |file: &str, begin: &str| timed(file, begin, ".yaml").is_some();
    let listed = SYSDUMP.into_iter().filter(|(begin, _)| names.iter().filter(|file| is(file, begin)).count() == 1);
    let kinds: BTreeSet<Kind> = listed.map(|(_, kind)| kind).collect();
    // A single such name may be a coincidence.
    if kinds.contains(&Kind::Node) && kinds.contains(&Kind::Pod) { kinds } else { BTreeSet::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_identifies_the_pod() {
        let pods: BTreeMap<String, String> =
            [("cilium-7xk2p", "n1"), ("x-cilium-7xk2p", "n2")].map(|(pod, node)| (pod.into(), node.into())).into();
        for (name, file, pod) in [
            ("cniconf-05-cilium.conflist-cilium-7xk2p-20261123-101010.txt", "05-cilium.conflist", "cilium-7xk2p"),
            ("d/cniconf-a.conf-x-cilium-7xk2p-20261123-101010.txt", "a.conf", "x-cilium-7xk2p"),
        ] {
            let Some(Beside::Configuration(written)) = beside(name) else { panic!("{name}") };
            assert_eq!(configuration(&written, &pods), Some((file, pod)), "{name}");
        }
        assert_eq!(configuration("05-cilium.conflist-cilium-gone", &pods), None);
        assert_eq!(beside("k8s-version-20261123-101010.txt"), Some(Beside::Version));
        for other in
            ["cniconf-x.txt", "cni-configmap-20261123-101010.yaml", "k8s-version-x.txt", "k8s-pods-20261123-101010.txt"]
        {
            assert_eq!(beside(other), None, "{other}");
        }
    }
}
