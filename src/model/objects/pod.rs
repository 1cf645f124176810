//! Pods and their containers, as far as the mesh shows in them.

use std::borrow::Cow;
use std::net::IpAddr;

use jiff::Timestamp;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::meta::{Meta, Text, address, nullable, redacted};
use super::shared::Shared;
use crate::model::certificates::BundlePrint;

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

/// A pod.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Pod {
    /// Name, labels, owners.
    pub metadata: Meta,
    /// What was asked for.
    pub spec: PodSpec,
    /// What the kubelet says.
    #[serde(deserialize_with = "nullable")]
    pub status: PodStatus,
}

/// A pod's specification, also the one inside a workload's template.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node it is bound to; empty while unscheduled.
    #[serde(deserialize_with = "nullable")]
    pub node_name: String,
    /// Whether it shares the node's network.
    #[serde(deserialize_with = "nullable")]
    pub host_network: bool,
    /// Its service account.
    #[serde(deserialize_with = "nullable")]
    pub service_account_name: String,
    /// Whether the service account's token is mounted; `None` means the default.
    pub automount_service_account_token: Option<bool>,
    /// Application containers, and an ordinary linkerd-proxy.
    #[serde(deserialize_with = "nullable")]
    pub containers: Shared<Vec<Container>>,
    /// Init containers; native sidecars are here with `restartPolicy: Always`.
    #[serde(deserialize_with = "nullable")]
    pub init_containers: Shared<Vec<Container>>,
    /// Names of the volumes, in order.
    #[serde(deserialize_with = "nullable")]
    pub volumes: Vec<Volume>,
    /// Always, OnFailure or Never; empty means Always.
    #[serde(deserialize_with = "nullable")]
    pub restart_policy: String,
    /// Which nodes it may run on.
    #[serde(deserialize_with = "nullable")]
    pub node_selector: std::collections::BTreeMap<String, String>,
}

/// A volume; only its name matters here.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Volume {
    /// Volume name.
    pub name: String,
}

/// A container of a pod.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    /// Container name.
    pub name: String,
    /// Image reference as written.
    #[serde(deserialize_with = "nullable")]
    pub image: String,
    /// Entry point; kept for Linkerd's own containers only.
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

/// A pod's status.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// Pending, Running, Succeeded, Failed or Unknown.
    #[serde(deserialize_with = "nullable")]
    pub phase: String,
    /// Why the pod as a whole is in its phase (Evicted, NodeLost).
    #[serde(deserialize_with = "nullable")]
    pub reason: String,
    /// When the kubelet took it.
    pub start_time: Option<Timestamp>,
    /// Its address; `None` also where what is written is none.
    #[serde(rename = "podIP", deserialize_with = "address")]
    pub pod_ip: Option<IpAddr>,
    /// Ready, PodScheduled and the like.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
    /// One for each container.
    #[serde(deserialize_with = "nullable")]
    pub container_statuses: Vec<ContainerStatus>,
    /// One for each init container.
    #[serde(deserialize_with = "nullable")]
    pub init_container_statuses: Vec<ContainerStatus>,
}

/// One condition of an object's status.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// Its type: Ready, Available, Complete, ...
    #[serde(rename = "type")]
    pub kind: String,
    /// True, False or Unknown.
    pub status: String,
    /// One word of why.
    #[serde(deserialize_with = "nullable")]
    pub reason: String,
    /// A sentence of why.
    #[serde(deserialize_with = "redacted")]
    pub message: String,
    /// Since when.
    pub last_transition_time: Option<Timestamp>,
}

/// What one container is doing.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStatus {
    /// Container name.
    pub name: String,
    /// Whether its readiness probe passes.
    #[serde(deserialize_with = "nullable")]
    pub ready: bool,
    /// How often it was started again.
    #[serde(deserialize_with = "nullable")]
    pub restart_count: u32,
    /// The image that runs.
    #[serde(deserialize_with = "nullable")]
    pub image: String,
    /// Now.
    #[serde(deserialize_with = "nullable")]
    pub state: ContainerState,
    /// Before the last restart.
    #[serde(deserialize_with = "nullable")]
    pub last_state: ContainerState,
}

/// One of three states; all `None` when the kubelet has said nothing yet.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ContainerState {
    /// Not started, and why.
    pub waiting: Option<Box<Waiting>>,
    /// Running since.
    pub running: Option<Running>,
    /// Ended.
    pub terminated: Option<Box<Terminated>>,
}

/// Why a container is not started.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Waiting {
    /// PodInitializing, ImagePullBackOff, CrashLoopBackOff, ...
    #[serde(deserialize_with = "nullable")]
    pub reason: String,
    /// A sentence.
    #[serde(deserialize_with = "redacted")]
    pub message: String,
}

/// A running container.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Running {
    /// Since when.
    pub started_at: Option<Timestamp>,
}

/// A container that ended.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Terminated {
    /// Its exit code.
    #[serde(deserialize_with = "nullable")]
    pub exit_code: i32,
    /// Completed, Error, OOMKilled, ...
    #[serde(deserialize_with = "nullable")]
    pub reason: String,
    /// What it left as its last words.
    #[serde(deserialize_with = "redacted")]
    pub message: String,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl Container {
    /// Drops what may hold secrets and what no check reads.
    fn trim(&mut self) {
        // The border's own list, so that a live run and a bundle show the same.
        if !crate::redact::is_linkerd_container(&self.name) {
            self.command = Vec::new();
            self.args = Vec::new();
            self.env = Vec::new();
            return;
        }
        for text in self
            .args
            .iter_mut()
            .chain(&mut self.command)
            .chain(self.env.iter_mut().filter_map(|v| v.value.as_mut()))
        {
            if let std::borrow::Cow::Owned(redacted) = crate::redact::text(text) {
                *text = redacted;
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
                        TRUST_ANCHORS => Some(BundlePrint::kept(&value)),
                        _ => Some(value.into_owned()),
                    });
                    kept.push(EnvVar { name: variable.name.into_owned(), value });
                }
            }
            Ok(kept)
        }
    }
    deserializer.deserialize_option(Kept)
}

impl PodSpec {
    /// See [`Container::trim`].
    pub(super) fn trim(&mut self) {
        for list in [&mut self.containers, &mut self.init_containers] {
            let list = list.edit();
            list.iter_mut().for_each(Container::trim);
            list.shrink_to_fit();
        }
        self.volumes.shrink_to_fit();
    }

    /// See [`super::Object::share`].
    pub(super) fn share(&mut self, before: &PodSpec) {
        self.containers.share(&before.containers);
        self.init_containers.share(&before.init_containers);
    }

    /// Every container, init containers first.
    pub fn all_containers(&self) -> impl Iterator<Item = &Container> {
        self.init_containers.iter().chain(&*self.containers)
    }

    /// The container of that name, wherever it is.
    pub fn container(&self, name: &str) -> Option<&Container> {
        self.all_containers().find(|container| container.name == name)
    }

    /// Linkerd's proxy, ordinary or native.
    pub fn proxy(&self) -> Option<&Container> {
        self.container(PROXY_CONTAINER)
    }

    /// Whether the proxy is an init container with `restartPolicy: Always`.
    pub fn has_native_proxy(&self) -> bool {
        self.init_containers
            .iter()
            .any(|c| c.name == PROXY_CONTAINER && c.restart_policy.as_deref() == Some("Always"))
    }
}

impl Pod {
    /// See [`Container::trim`].
    pub(super) fn trim(&mut self) {
        self.spec.trim();
        self.status.conditions.shrink_to_fit();
        self.status.container_statuses.shrink_to_fit();
        self.status.init_container_statuses.shrink_to_fit();
    }

    /// See [`super::Object::share`].
    pub(super) fn share(&mut self, before: &Pod) {
        self.metadata.share(&before.metadata);
        self.spec.share(&before.spec);
    }

    /// The status of a container, init or not.
    pub fn container_status(&self, name: &str) -> Option<&ContainerStatus> {
        self.status
            .init_container_statuses
            .iter()
            .chain(&self.status.container_statuses)
            .find(|c| c.name == name)
    }

    /// A condition's status, `True`, `False` or `Unknown`.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.status.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// Succeeded or Failed: nothing runs in it any more.
    pub fn is_finished(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }
}
