//! Containers: the fields that concern the mesh, and the redaction of other containers.

mod env;

use serde::{Deserialize, Deserializer};

use super::meta::{nullable, quantities};
use super::route::Present;
use super::shared::Word;
use super::volume::VolumeMounts;
use crate::protobuf::schema::schemas;
use crate::redact::{self, Owner};
pub use env::{
    COLLECTOR_ADDRESS, COLLECTOR_NAME, DESTINATION_ADDRESS, DESTINATION_NAME, EnvVar, IDENTITY_ADDRESS, IDENTITY_NAME,
    LOCAL_NAME, POLICY_ADDRESS, POLICY_NAME, PROFILE_NETWORKS, SHUTDOWN_GRACE, TRUST_ANCHORS, is_of_service,
    may_be_of_service,
};

/// The names that Linkerd gives its own containers.
pub const PROXY_CONTAINER: &str = "linkerd-proxy";
/// See [`PROXY_CONTAINER`].
pub const INIT_CONTAINER: &str = "linkerd-init";
/// See [`PROXY_CONTAINER`].
pub const VALIDATOR_CONTAINER: &str = "linkerd-network-validator";
/// See [`PROXY_CONTAINER`].
pub const DEBUG_CONTAINER: &str = "linkerd-debug";

/// A container of a pod.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    /// Container name.
    pub name: Word,
    /// Image reference as written.
    #[serde(deserialize_with = "nullable")]
    pub image: Word,
    /// Entry point; for containers other than Linkerd's, one empty text if they have any.
    #[serde(deserialize_with = "nullable")]
    pub command: Vec<String>,
    /// Arguments of Linkerd's own containers; of others, only the settings of ingress controllers that checks read.
    #[serde(deserialize_with = "nullable")]
    pub args: Vec<String>,
    /// Environment; only variables that checks read: of Linkerd's own containers, and of ingress controllers.
    #[serde(deserialize_with = "env::deserialize_kept")]
    pub env: Vec<EnvVar>,
    /// Variables from ConfigMaps and Secrets; their presence is recorded.
    pub env_from: Option<Present>,
    /// `Always` on an init container makes it a native sidecar.
    pub restart_policy: Option<Word>,
    /// The declared ports; it may listen on others.
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<ContainerPort>,
    pub liveness_probe: Option<Box<Probe>>,
    pub readiness_probe: Option<Box<Probe>>,
    pub startup_probe: Option<Box<Probe>>,
    /// Resources; `None` if not set.
    pub resources: Option<Box<Resources>>,
    /// Security context; `None` if not set.
    pub security_context: Option<Box<SecurityContext>>,
    /// Volume mounts with identities; only for Linkerd's own containers.
    #[serde(deserialize_with = "nullable")]
    pub volume_mounts: VolumeMounts,
    /// Lifecycle hooks; `None` if not set.
    pub lifecycle: Option<Lifecycle>,
    /// Whether its command shuts the proxy down at the end, through the proxy's endpoint.
    #[serde(skip)]
    pub ends_proxy: bool,
    /// Whether its command or an argument starts a Docker daemon.
    #[serde(skip)]
    pub starts_docker: bool,
    /// Whether it has arguments that were dropped.
    #[serde(skip)]
    pub has_more_args: bool,
}

/// A probe of the kubelet; only those over HTTP and gRPC are read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Probe {
    /// The HTTP request, for an HTTP probe.
    pub http_get: Option<HttpGet>,
    /// The gRPC request, for a gRPC probe.
    pub grpc: Option<GrpcAction>,
}

/// A gRPC probe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct GrpcAction {
    /// The port, always by number.
    pub port: Option<i64>,
}

/// The request of an HTTP probe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HttpGet {
    /// The path; by default `/`.
    pub path: Option<String>,
    pub port: Option<ProbePort>,
    /// `HTTPS`, or none for HTTP, which the API server adds to probes that name no scheme.
    #[serde(deserialize_with = "other_than_http")]
    pub scheme: Option<Word>,
}

fn other_than_http<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Word>, D::Error> {
    Ok(Option::<Word>::deserialize(deserializer)?.filter(|scheme| &**scheme != "HTTP"))
}

impl HttpGet {
    /// Whether it is sent over TLS.
    pub fn is_https(&self) -> bool {
        self.scheme.as_deref() == Some("HTTPS")
    }
}

/// The port of a probe, by number or name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ProbePort {
    /// By number.
    Number(i64),
    /// By name.
    Name(String),
}

/// Resources of a container.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Resources {
    #[serde(deserialize_with = "nullable")]
    pub limits: Amounts,
    #[serde(deserialize_with = "nullable")]
    pub requests: Amounts,
}

/// Quantities of the resources that the mesh uses; empty if not set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Amounts {
    /// `100m`.
    pub cpu: Word,
    /// `250Mi`.
    pub memory: Word,
}

impl<'de> Deserialize<'de> for Amounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Amounts, D::Error> {
        let mut all = quantities(deserializer)?;
        let mut take = |name: &str| all.remove(name).map(Word::from).unwrap_or_default();
        Ok(Amounts { cpu: take("cpu"), memory: take("memory") })
    }
}

/// Security context of a container.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SecurityContext {
    /// The uid.
    pub run_as_user: Option<i64>,
    /// The gid.
    pub run_as_group: Option<i64>,
    /// Whether it is privileged.
    pub privileged: Option<bool>,
    /// Added and dropped capabilities.
    #[serde(deserialize_with = "nullable")]
    pub capabilities: Capabilities,
}

/// Capabilities of a container.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// `NET_ADMIN`.
    #[serde(deserialize_with = "nullable")]
    pub add: Vec<Word>,
    /// `ALL`.
    #[serde(deserialize_with = "nullable")]
    pub drop: Vec<Word>,
}

/// Lifecycle hooks of a container.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Lifecycle {
    /// `postStart`.
    pub post_start: Option<Hook>,
    /// `preStop`.
    pub pre_stop: Option<Hook>,
}

/// A lifecycle hook. Its command is redacted for every container.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Hook {
    /// The request of the kubelet, if it is one.
    pub http_get: Option<HttpGet>,
    /// Sleep time, if it is a plain sleep.
    pub sleep: Option<Sleep>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Sleep {
    pub seconds: u32,
}

/// A declared port of a container.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerPort {
    /// Its name; may be empty.
    #[serde(deserialize_with = "nullable")]
    pub name: Word,
    pub container_port: u16,
    /// By default TCP.
    #[serde(deserialize_with = "nullable")]
    pub protocol: Word,
    /// The host port; 0 if not set.
    #[serde(deserialize_with = "nullable")]
    pub host_port: u16,
}

impl Container {
    /// A kept environment variable. Of several with the same name, the container gets the last.
    pub fn variable(&self, name: &str) -> Option<&EnvVar> {
        self.env.iter().rfind(|variable| variable.name == name)
    }

    /// Value of a kept environment variable.
    pub fn env_value(&self, name: &str) -> Option<&str> {
        self.variable(name)?.value.as_deref()
    }

    /// Its memory limit, as a Kubernetes quantity, if it has one.
    pub fn memory_limit(&self) -> Option<&str> {
        let limit = self.resources.as_ref()?.limits.memory.as_str();
        (!limit.is_empty()).then_some(limit)
    }

    /// Value of an argument with its dashes, written as `--name=value` or as two arguments.
    pub fn argument(&self, name: &str) -> Option<&str> {
        let mut args = self.args.iter();
        let rest =
            args.find_map(|arg| arg.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('=')))?;
        rest.strip_prefix('=').or_else(|| args.next().map(String::as_str))
    }

    /// The value of a boolean option of Traefik, of which case does not matter: `--name` or `--name=true`. `Some(None)`
    /// if the value is not a boolean.
    pub fn switch(&self, name: &str) -> Option<Option<bool>> {
        let of = |arg: &String| {
            let (option, value) = arg.split_once('=').unwrap_or((arg.as_str(), "true"));
            option.eq_ignore_ascii_case(name).then(|| boolean(value))
        };
        self.args.iter().rev().find_map(of)
    }

    /// Ports of gRPC probes.
    pub fn grpc_probes(&self) -> impl Iterator<Item = u16> {
        let probes = [&self.liveness_probe, &self.readiness_probe, &self.startup_probe];
        let ports = probes.into_iter().filter_map(|probe| probe.as_ref()?.grpc.as_ref()?.port);
        ports.filter_map(|port| u16::try_from(port).ok()).filter(|port| *port > 0)
    }

    pub fn http_probes(&self) -> impl Iterator<Item = &HttpGet> {
        let probes = [&self.liveness_probe, &self.readiness_probe, &self.startup_probe];
        probes.into_iter().filter_map(|probe| probe.as_ref()?.http_get.as_ref())
    }

    /// The HTTP request of a probe. `kind` as in the kubelet's events: `Readiness`, `Liveness` or `Startup`.
    pub fn http_probe_of(&self, kind: &str) -> Option<&HttpGet> {
        let probe = match kind {
            "Readiness" => &self.readiness_probe,
            "Liveness" => &self.liveness_probe,
            "Startup" => &self.startup_probe,
            _ => return None,
        };
        probe.as_ref()?.http_get.as_ref()
    }

    /// Frees unused capacity of lists.
    fn shrink(&mut self) {
        self.command.shrink_to_fit();
        self.args.shrink_to_fit();
        self.env.shrink_to_fit();
        self.ports.shrink_to_fit();
    }

    /// Of the arguments, keeps the settings of ingress controllers.
    fn keep_controller_args(&mut self) {
        let args = std::mem::take(&mut self.args);
        let mut before = "";
        for word in &args {
            let clean = redact::argument(before, word, false);
            match redact::is_controller_argument(before, &clean) {
                true => self.args.push(clean.into_owned()),
                false => self.has_more_args = true,
            }
            before = word;
        }
    }

    /// Drops fields that may contain secrets or that no check reads.
    pub(super) fn trim(&mut self, owner: Owner) {
        for probe in [&mut self.liveness_probe, &mut self.readiness_probe, &mut self.startup_probe] {
            if probe.as_ref().is_some_and(|probe| probe.http_get.is_none() && probe.grpc.is_none()) {
                *probe = None;
            }
        }
        let words = || self.command.iter().chain(&self.args);
        let awaits = words().any(|word| word.rsplit('/').next() == Some("linkerd-await"));
        self.ends_proxy = words().any(|word| word.contains(":4191/shutdown"))
            || awaits && words().any(|word| matches!(word.as_str(), "-S" | "--shutdown"));
        self.starts_docker = words().any(|word| is_docker_daemon(word));
        if !owner.keeps(&self.name, &self.image) {
            // For other containers, only the presence of a command is kept.
            self.command.truncate(1);
            self.command.iter_mut().for_each(String::clear);
            self.keep_controller_args();
            self.env.retain(|variable| redact::is_controller_variable(&variable.name));
            self.volume_mounts = VolumeMounts::default();
            self.shrink();
            return;
        }
        self.shrink();
        for list in [&mut self.command, &mut self.args] {
            let mut before = String::new();
            for word in list {
                let clean = redact::argument(&before, word, true).into_owned();
                before = std::mem::replace(word, clean);
            }
        }
    }
}

/// Whether a word of a command is the Docker daemon, or the entry point of its image.
fn is_docker_daemon(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("dockerd" | "dockerd-entrypoint.sh"))
}

/// A boolean as Go's `strconv.ParseBool` reads it.
pub fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

schemas! {
    CONTAINER "Container" {
        1 name: Text,
        2 image: Text,
        3 command: Texts,
        4 args: Texts,
        6 ports: Many(&CONTAINER_PORT),
        7 env: Many(&ENV_VAR),
        19 envFrom: Many(&ENV_FROM),
        10 livenessProbe: One(&PROBE),
        11 readinessProbe: One(&PROBE),
        22 startupProbe: One(&PROBE),
        8 resources: One(&RESOURCES),
        9 volumeMounts: Many(&VOLUME_MOUNT),
        12 lifecycle: One(&LIFECYCLE),
        15 securityContext: One(&SECURITY_CONTEXT),
        24 restartPolicy: Text,
    }

    ENV_FROM "EnvFromSource" {
        1 prefix: Text,
    }

    CONTAINER_PORT "ContainerPort" {
        1 name: Text,
        2 hostPort: Number,
        3 containerPort: Number,
        4 protocol: Text,
    }

    PROBE "Probe" {
        1 handler: Inline(&PROBE_HANDLER),
    }

    PROBE_HANDLER "ProbeHandler" {
        2 httpGet: One(&HTTP_GET),
        4 grpc: One(&GRPC_ACTION),
    }

    GRPC_ACTION "GRPCAction" {
        1 port: Number,
    }

    HTTP_GET "HTTPGetAction" {
        1 path: Text,
        2 port: NumberOrText,
        4 scheme: Text,
    }

    RESOURCES "ResourceRequirements" {
        1 limits: Quantities,
        2 requests: Quantities,
    }

    SECURITY_CONTEXT "SecurityContext" {
        1 capabilities: One(&CAPABILITIES),
        2 privileged: Bool,
        4 runAsUser: Number,
        8 runAsGroup: Number,
    }

    CAPABILITIES "Capabilities" {
        1 add: Texts,
        2 drop: Texts,
    }

    VOLUME_MOUNT "VolumeMount" {
        1 name: Text,
    }

    LIFECYCLE "Lifecycle" {
        1 postStart: One(&HOOK),
        2 preStop: One(&HOOK),
    }

    HOOK "LifecycleHandler" {
        2 httpGet: One(&HTTP_GET),
        4 sleep: One(&SLEEP),
    }

    SLEEP "SleepAction" {
        1 seconds: Number,
    }

    ENV_VAR "EnvVar" {
        1 name: Text,
        2 value: Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_variables_counts() {
        const NAME: &str = "LINKERD2_PROXY_DESTINATION_SVC_ADDR";
        let env = serde_json::json!([{"name": NAME, "value": "a:8086"}, {"name": NAME, "value": "b:8086"}]);
        let container = serde_json::json!({"name": "linkerd-proxy", "env": env});
        let container: Container = serde_json::from_value(container).unwrap();
        assert_eq!(container.env_value(NAME), Some("b:8086"));
    }
}
