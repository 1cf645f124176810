//! Realistic nodes: the file that the runtime loads, the linkerd-cni entries, the kubeconfig.

mod normal;
mod questions;
mod written;

use std::collections::BTreeMap;

use super::*;
use crate::node_files::NodeFiles;
use meshdoctor_test_support::{bound_token_payload, sample_token};

/// Cilium chained onto the AWS CNI, with Linkerd's entry copied in, as a chaining agent writes it.
pub(super) const CILIUM: &str = r#"{
  "cniVersion": "0.4.0",
  "name": "aws-cni",
  "plugins": [
    {
      "name": "aws-cni",
      "type": "aws-cni",
      "vethPrefix": "eni"
    },
    {
      "name": "linkerd-cni",
      "type": "linkerd-cni",
      "log_level": "info",
      "policy": { "type": "k8s", "k8s_auth_token": "@TOKEN@" },
      "kubernetes": {
        "kubeconfig": "/etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig"
      },
      "linkerd": {
        "incoming-proxy-port": 4143,
        "outgoing-proxy-port": 4140,
        "proxy-uid": 2102.0,
        "ports-to-redirect": [],
        "inbound-ports-to-ignore": ["4191", "4190"],
        "simulate": false,
        "use-wait-flag": false,
        "iptables-mode": "plain",
        "ipv6": "false"
      }
    },
    {
      "type": "cilium-cni",
      "chaining-mode": "generic-veth"
    }
  ]
}
"#;

pub(super) const AWS: &str =
    r#"{"cniVersion":"0.4.0","name":"aws-cni","plugins":[{"type":"aws-cni"},{"type":"portmap"}]}"#;

pub(super) fn mk_secret() -> String {
    sample_token(&bound_token_payload(), "the signature of it")
}

pub(super) fn mk_kubeconfig() -> String {
    format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: local\n  cluster:\n    server: https://10.96.0.1:443\nusers:\n\
         - name: linkerd-cni\n  user:\n    token: {}\ncontexts:\n- name: linkerd-cni-context\n  context:\n    \
         cluster: local\n    user: linkerd-cni\ncurrent-context: linkerd-cni-context\n",
        mk_secret()
    )
}

pub(super) fn mk_raw(files: &[(&str, &str)]) -> NodeFiles {
    let files: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, content)| ((*path).to_owned(), content.as_bytes().to_vec())).collect();
    NodeFiles { node: "ip-10-0-1-12".to_owned(), files }
}

pub(super) fn mk_node(files: &[(&str, &str)]) -> NodeSnapshot {
    NodeSnapshot::parse(&normalise(&mk_raw(files), &Defaults::default()))
}

/// Name of the loaded file, or the kind of another result.
pub(super) fn describe(effective: &Effective<'_>) -> String {
    match effective {
        Effective::File(loaded) => loaded.file.name.clone(),
        Effective::Broken { file, why } => format!("broken {}: {}", file.name, why.message),
        Effective::None { why } => format!("none: {why}"),
        Effective::Disagree { containerd, crio } => format!("{} | {}", describe(containerd), describe(crio)),
        Effective::Unknown { reason } => format!("unknown: {reason}"),
    }
}
