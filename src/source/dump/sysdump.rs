//! A sysdump, as `cilium sysdump` writes it, known by the names of its files: which of its lists are complete, the version of
//! Kubernetes, and the CNI configuration of nodes, which it copies file by file out of Cilium's pods.

use std::collections::{BTreeMap, BTreeSet};

use crate::archive::Tree;
use crate::archive::spool::Blob;
use crate::item::Kind;
use crate::names::is_subdomain;

/// The lists of a sysdump, by the beginnings of their files.
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
    // As the tool itself writes it.
    ("gatewayapi-tcroutes-", Kind::TCPRoute),
];
/// The largest file with a version that is read, in bytes.
const VERSION: u64 = 256;

/// What a file of a sysdump is that holds no objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beside {
    /// The version of Kubernetes.
    Version,
    /// `FILE-POD`: a file of the directory of CNI configuration, copied out of a pod on the node.
    Configuration(String),
}

/// What a file is, by its name; `None`: nothing of these.
pub fn beside(path: &str) -> Option<Beside> {
    let name = base(path);
    if timed(name, "k8s-version-", ".txt").is_some() {
        return Some(Beside::Version);
    }
    let rest = name.strip_prefix("cniconf-")?.strip_suffix(".txt")?;
    // 20261123-101010 ends it.
    let (rest, time) = rest.rsplit_once('-')?;
    let (rest, day) = rest.rsplit_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(time) && digits(day)).then(|| Beside::Configuration(rest.to_owned()))
}

/// Whether a folder or archive is a sysdump.
pub fn is_one(tree: &Tree) -> bool {
    !complete(tree).is_empty()
}

/// The version in a file that holds nothing else.
pub fn version(blob: &Blob) -> Option<String> {
    let text = String::from_utf8(blob.bytes(VERSION).ok()?).ok()?;
    let version = text.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    (version.starts_with('v') && version.chars().all(plain)).then(|| version.to_owned())
}

/// The file and the pod that `FILE-POD` means, among the pods that there are: the longest name that fits.
pub fn configuration<'a>(written: &'a str, pods: &BTreeMap<String, String>) -> Option<(&'a str, &'a str)> {
    written
        .match_indices('-')
        .map(|(at, _)| (&written[..at], &written[at + 1..]))
        .find(|(file, pod)| !file.is_empty() && is_subdomain(pod) && pods.contains_key(*pod))
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// What stands between the beginning of a name and its end, if that begins as a time does.
fn timed<'a>(file: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    let time = file.strip_prefix(begin)?.strip_suffix(end)?;
    time.starts_with(|c: char| c.is_ascii_digit()).then_some(time)
}

/// The kinds of which a folder or archive lists every object, if a sysdump is in it: one list each for all namespaces.
pub fn complete(tree: &Tree) -> BTreeSet<Kind> {
    let names: Vec<&str> = tree.files.keys().map(|path| base(path)).collect();
    let is = |file: &str, begin: &str| timed(file, begin, ".yaml").is_some();
    let listed =
        SYSDUMP.into_iter().filter(|(begin, _)| names.iter().filter(|file| is(file, begin)).count() == 1);
    let kinds: BTreeSet<Kind> = listed.map(|(_, kind)| kind).collect();
    // One such name alone may be anybody's.
    if kinds.contains(&Kind::Node) && kinds.contains(&Kind::Pod) { kinds } else { BTreeSet::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whose_configuration_a_file_is() {
        let pods: BTreeMap<String, String> = [("cilium-7xk2p", "n1"), ("x-cilium-7xk2p", "n2")]
            .map(|(pod, node)| (pod.into(), node.into()))
            .into();
        for (name, file, pod) in [
            (
                "cniconf-05-cilium.conflist-cilium-7xk2p-20261123-101010.txt",
                "05-cilium.conflist",
                "cilium-7xk2p",
            ),
            ("d/cniconf-a.conf-x-cilium-7xk2p-20261123-101010.txt", "a.conf", "x-cilium-7xk2p"),
        ] {
            let Some(Beside::Configuration(written)) = beside(name) else { panic!("{name}") };
            assert_eq!(configuration(&written, &pods), Some((file, pod)), "{name}");
        }
        assert_eq!(configuration("05-cilium.conflist-cilium-gone", &pods), None);
        assert_eq!(beside("k8s-version-20261123-101010.txt"), Some(Beside::Version));
        for other in [
            "cniconf-x.txt",
            "cni-configmap-20261123-101010.yaml",
            "k8s-version-x.txt",
            "k8s-pods-20261123-101010.txt",
        ] {
            assert_eq!(beside(other), None, "{other}");
        }
    }
}
