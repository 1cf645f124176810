//! Containers, as far as the mesh shows in them, and what may stay of those that are not Linkerd's.

use std::borrow::Cow;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::meta::{Text, nullable};
use super::shared::Word;
use crate::certificates::BundlePrint;
use crate::protobuf::schema::schemas;
use crate::redact::{self, Owner};

/// The names that Linkerd gives its own containers.
pub const PROXY_CONTAINER: &str = "linkerd-proxy";
/// See [`PROXY_CONTAINER`].
pub const INIT_CONTAINER: &str = "linkerd-init";
/// See [`PROXY_CONTAINER`].
pub const VALIDATOR_CONTAINER: &str = "linkerd-network-validator";
/// See [`PROXY_CONTAINER`].
pub const DEBUG_CONTAINER: &str = "linkerd-debug";

/// The variable in which a proxy gets its trust anchors. Of its value only a [`BundlePrint`] is kept.
pub const TRUST_ANCHORS: &str = "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS";

/// A container of a pod.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    /// Container name.
    pub name: String,
    /// Image reference as written.
    #[serde(deserialize_with = "nullable")]
    pub image: String,
    /// Entry point; of Linkerd's own containers as it is, of others one empty text where they have any.
    #[serde(deserialize_with = "nullable")]
    pub command: Vec<String>,
    /// Arguments; kept for Linkerd's own containers only.
    #[serde(deserialize_with = "nullable")]
    pub args: Vec<String>,
    /// Environment; kept for Linkerd's own containers only, and of that what checks read.
    #[serde(deserialize_with = "kept_env")]
    pub env: Vec<EnvVar>,
    /// `Always` on an init container makes it a native sidecar.
    pub restart_policy: Option<String>,
    /// The ports that it names; it may listen on others.
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<ContainerPort>,
    /// How the kubelet asks whether it lives.
    pub liveness_probe: Option<Box<Probe>>,
    /// How the kubelet asks whether it is ready.
    pub readiness_probe: Option<Box<Probe>>,
    /// How the kubelet asks whether it has started.
    pub startup_probe: Option<Box<Probe>>,
}

/// A probe of the kubelet; only those over HTTP are read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Probe {
    /// What is asked for, where it is asked over HTTP.
    pub http_get: Option<HttpGet>,
}

/// What a probe asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HttpGet {
    /// The path; `/` where nothing is said.
    pub path: Option<String>,
    /// The port.
    pub port: Option<ProbePort>,
}

/// The port of a probe, by number or by the name that the container gives it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ProbePort {
    /// By number.
    Number(i64),
    /// By name.
    Name(String),
}

/// A port that a container names.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerPort {
    /// What Services may call it by; empty where it has no name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The port.
    pub container_port: u16,
    /// TCP where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub protocol: Word,
}

/// One environment variable that is set by value.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EnvVar {
    /// Variable name.
    pub name: String,
    /// Its value; `None` when it comes from a reference.
    pub value: Option<String>,
}

impl Container {
    /// What the kubelet asks of it over HTTP.
    pub fn http_probes(&self) -> impl Iterator<Item = &HttpGet> {
        let probes = [&self.liveness_probe, &self.readiness_probe, &self.startup_probe];
        probes.into_iter().filter_map(|probe| probe.as_ref()?.http_get.as_ref())
    }

    /// Drops what may hold secrets and what no check reads.
    pub(super) fn trim(&mut self, owner: Owner) {
        for probe in [&mut self.liveness_probe, &mut self.readiness_probe, &mut self.startup_probe] {
            if probe.as_ref().is_some_and(|probe| probe.http_get.is_none()) {
                *probe = None;
            }
        }
        if !owner.keeps(&self.name) {
            // That there is a command is known of any container, and no more.
            self.command.truncate(1);
            self.command.iter_mut().for_each(String::clear);
            self.args = Vec::new();
            self.env = Vec::new();
            return;
        }
        for list in [&mut self.command, &mut self.args] {
            let mut before = String::new();
            for word in list {
                let clean = redact::argument(&before, word, true).into_owned();
                before = std::mem::replace(word, clean);
            }
        }
    }
}

/// Environment variables that checks read. The rest of a proxy's environment is large and the same in every pod.
const KEPT_ENV: &[&str] = &[
    TRUST_ANCHORS,
    "LINKERD2_PROXY_INBOUND_DEFAULT_POLICY",
    "LINKERD2_PROXY_INBOUND_LISTEN_ADDR",
    "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDR",
    "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS",
    "LINKERD2_PROXY_SHUTDOWN_ENDPOINT_ENABLED",
    "DEST_CNI_NET_DIR",
    "DEST_CNI_BIN_DIR",
];

/// Reads of an environment only what is kept of it.
fn kept_env<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<EnvVar>, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Variable<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow)]
        value: Option<Text<'a>>,
    }
    struct Kept;
    impl<'de> Visitor<'de> for Kept {
        type Value = Vec<EnvVar>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of environment variables")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
            deserializer.deserialize_seq(self)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut kept = Vec::new();
            while let Some(variable) = items.next_element::<Variable<'de>>()? {
                if KEPT_ENV.contains(&&*variable.name) {
                    let value = variable.value.and_then(|Text(value)| match &*variable.name {
                        // What somebody blotted out says nothing of what stood there.
                        TRUST_ANCHORS if value.contains("REDACTED") || value.contains("***") => None,
                        TRUST_ANCHORS => {
                            Some(BundlePrint::kept(&value, |pem| redact::setting(TRUST_ANCHORS, pem)))
                        }
                        name => Some(redact::setting(name, &value).into_owned()),
                    });
                    kept.push(EnvVar { name: variable.name.into_owned(), value });
                }
            }
            Ok(kept)
        }
    }
    deserializer.deserialize_option(Kept)
}

schemas! {
    CONTAINER "Container" {
        1 name: Text,
        2 image: Text,
        3 command: Texts,
        4 args: Texts,
        6 ports: Many(&CONTAINER_PORT),
        7 env: Many(&ENV_VAR),
        10 livenessProbe: One(&PROBE),
        11 readinessProbe: One(&PROBE),
        22 startupProbe: One(&PROBE),
        24 restartPolicy: Text,
    }

    CONTAINER_PORT "ContainerPort" {
        1 name: Text,
        3 containerPort: Number,
        4 protocol: Text,
    }

    PROBE "Probe" {
        1 handler: Inline(&PROBE_HANDLER),
    }

    PROBE_HANDLER "ProbeHandler" {
        2 httpGet: One(&HTTP_GET),
    }

    HTTP_GET "HTTPGetAction" {
        1 path: Text,
        2 port: NumberOrText,
    }

    ENV_VAR "EnvVar" {
        1 name: Text,
        2 value: Text,
    }
}
