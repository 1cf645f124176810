//! An annotation or label key: scopes, accepted values, and its status in a release.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use super::Knowledge;
use super::range::ReleaseRange;
use super::value::ValueType;
use crate::version::{Contains, EdgeTag, LinkerdVersion, MinorTable, Release};

/// Annotation or label. The same key can exist as both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    /// `metadata.annotations`
    Annotation,
    /// `metadata.labels`
    Label,
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyKind::Annotation => "annotation",
            KeyKind::Label => "label",
        })
    }
}

/// The kind of object on which a key is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyScope {
    /// A workload's pod template, and its pods.
    PodTemplate,
    Namespace,
    /// Metadata of a Deployment, StatefulSet, DaemonSet, Job or CronJob itself. No release reads it.
    Workload,
    Service,
    /// An EgressNetwork.
    EgressNetwork,
    /// An ExternalWorkload.
    ExternalWorkload,
    /// An HTTPRoute of policy.linkerd.io.
    PolicyHttpRoute,
    /// An HTTPRoute of gateway.networking.k8s.io.
    GatewayHttpRoute,
    /// A GRPCRoute of gateway.networking.k8s.io.
    GatewayGrpcRoute,
    /// Endpoints and EndpointSlices.
    Endpoints,
    Secret,
    /// A TrafficSplit of the SMI extension.
    TrafficSplit,
    /// Any object that Linkerd's own charts and controllers write.
    Any,
}

impl fmt::Display for KeyScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyScope::PodTemplate => "the pod template",
            KeyScope::Namespace => "the namespace",
            KeyScope::Workload => "the workload's own metadata",
            KeyScope::Service => "the Service",
            KeyScope::EgressNetwork => "the EgressNetwork",
            KeyScope::ExternalWorkload => "the ExternalWorkload",
            KeyScope::PolicyHttpRoute => "the HTTPRoute (policy.linkerd.io)",
            KeyScope::GatewayHttpRoute => "the HTTPRoute (gateway.networking.k8s.io)",
            KeyScope::GatewayGrpcRoute => "the GRPCRoute",
            KeyScope::Endpoints => "the Endpoints",
            KeyScope::Secret => "the Secret",
            KeyScope::TrafficSplit => "the TrafficSplit",
            KeyScope::Any => "any object",
        })
    }
}

/// Intended author of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WrittenBy {
    /// The people who run the cluster (Linkerd's charts may, too).
    User,
    /// Linkerd's charts, CLI, injector or controllers.
    Linkerd,
}

/// Effect of an invalid value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnInvalid {
    /// The key counts as missing.
    #[default]
    Ignored,
    /// The pod is not injected.
    SkipsInjection,
    /// The pod is created with the value as it is.
    PassedOn,
    /// The pod is rejected at creation.
    PodRefused,
    /// The pod is created and cannot start.
    PodFails,
    /// Ignored, but linkerd-cni then fails to set up the pod's sandbox.
    FailsWithCni,
    /// The invalid element of the list is ignored.
    ElementIgnored,
    /// The policy controller treats the whole list as empty.
    ListVoided,
    /// The whole group of settings is dropped.
    SettingDropped,
    /// A route is rejected; on a Service the group of settings is dropped.
    RouteRefused,
    /// The setting applies, and every request fails.
    RequestsFail,
    /// The setting applies, and a request or response fails when it pauses.
    PausesFail,
    /// The setting applies, and circuit breaking has no effect.
    NeverEjects,
    /// The setting applies, and the proxy is killed when it needs more memory.
    ProxyKilled,
}

impl OnInvalid {
    /// Whether the setting applies with the value, and has a bad effect.
    pub fn is_applied(self) -> bool {
        matches!(self, OnInvalid::RequestsFail | OnInvalid::PausesFail | OnInvalid::NeverEjects)
    }

    /// Whether the injector, or the API server after it, acts on the value: not for pods that already have
    /// a proxy.
    pub fn is_of_injector(self) -> bool {
        matches!(self, OnInvalid::SkipsInjection | OnInvalid::PodRefused | OnInvalid::PodFails)
    }
}

impl fmt::Display for OnInvalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OnInvalid::Ignored => "it is ignored",
            OnInvalid::SkipsInjection => "pods are not injected",
            OnInvalid::PassedOn => "it is passed on unchanged",
            OnInvalid::PodRefused => "pods are rejected when they are created",
            OnInvalid::PodFails => "pods cannot start",
            OnInvalid::FailsWithCni => "it is ignored, and with linkerd-cni pods cannot start",
            OnInvalid::ElementIgnored => "the bad element is ignored",
            OnInvalid::ListVoided => "the policy controller treats the whole list as empty",
            OnInvalid::SettingDropped => "the whole group of settings is dropped",
            OnInvalid::RouteRefused => "a route is rejected, and on a Service the whole group of settings is dropped",
            OnInvalid::RequestsFail => "requests time out at once and get HTTP 504",
            OnInvalid::ProxyKilled => "the proxy is killed as soon as it needs more memory",
            OnInvalid::NeverEjects => "circuit breaking never ejects an endpoint",
            OnInvalid::PausesFail => "a request or response fails as soon as it pauses",
        })
    }
}

/// A value that was added after its key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LateValue {
    value: String,
    from: EdgeTag,
    from_stable: Option<Release>,
}

/// Invalid values of one grammar, and their consequence.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct InvalidValue {
    value: ValueType,
    leads_to: OnInvalid,
}

/// One key. A key that ends in `/*` matches every key with that prefix.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Key {
    /// The key as written in manifests.
    pub key: String,
    /// Annotation or label.
    pub kind: KeyKind,
    /// The places in which it is read (for Linkerd's own keys: written).
    #[serde(rename = "on")]
    pub scopes: Vec<KeyScope>,
    /// Its intended author.
    pub set_by: WrittenBy,
    /// Its effect, as a sentence without its period.
    pub effect: Option<String>,
    /// Accepted values.
    pub value: ValueType,
    /// Effect of an invalid value.
    #[serde(default)]
    pub(super) invalid: OnInvalid,
    /// Invalid values with another consequence; the first that fits counts.
    #[serde(default)]
    pub(super) invalid_values: Vec<InvalidValue>,
    /// Releases in which it works, oldest first.
    pub works: Vec<ReleaseRange>,
    /// Whether the key was removed after the last range, rather than kept without effect.
    #[serde(default)]
    pub removed: bool,
    /// Releases in which the injector copies a namespace's value to its pods. Without it, a key with the scope
    /// [`KeyScope::Namespace`] is read there directly.
    pub inherited: Option<ReleaseRange>,
    /// Where Linkerd's own charts set the key although nothing reads it there.
    #[serde(default)]
    pub charts_also_on: Vec<KeyScope>,
    #[serde(default)]
    pub(super) late_values: Vec<LateValue>,
    /// Another key that this one depends on.
    pub needs: Option<String>,
    /// Its replacement.
    pub successor: Option<String>,
    /// Notes, in one or two sentences.
    pub note: Option<String>,
    /// Its name without words that people add, omit and reorder.
    #[serde(skip)]
    pub(super) core: String,
}

/// Status of a key in a release, independent of scope and value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyStatus {
    /// It takes effect.
    Effective,
    /// It takes effect under a condition that versions do not determine.
    Conditional {
        /// The condition, in words that follow "when".
        when: String,
        /// The corresponding chart values, by path; empty if no value determines it.
        values: BTreeMap<String, bool>,
        /// Chart values, by path, with which the injector rejects the pod; empty if it never does.
        refused: BTreeMap<String, bool>,
        /// Chart values, by path, with which linkerd-init of the pod fails; empty if it never does.
        init_fails: BTreeMap<String, bool>,
    },
    /// The release is older than the key.
    NotYet {
        /// The first edge with the key.
        since: Option<EdgeTag>,
    },
    /// The key was removed.
    Gone {
        /// The first edge without it.
        since: Option<EdgeTag>,
        /// Its replacement.
        successor: Option<String>,
    },
    /// The release knows the key, but it has no effect.
    Ineffective {
        /// The first edge without effect.
        since: Option<EdgeTag>,
        /// The edge from which it works again.
        again: Option<EdgeTag>,
    },
    /// The content of the release is not public.
    Unknown {
        /// Status in the open-source edge that opened the same minor.
        presumed: Option<Box<KeyStatus>>,
    },
}

impl KeyStatus {
    /// The status, or the presumed one if unknown.
    pub fn likely(&self) -> Option<&KeyStatus> {
        match self {
            KeyStatus::Unknown { presumed } => presumed.as_deref(),
            known => Some(known),
        }
    }

    /// Whether the key certainly or presumably takes effect.
    pub fn is_likely_effective(&self) -> bool {
        matches!(self.likely(), Some(KeyStatus::Effective | KeyStatus::Conditional { .. }))
    }
}

impl Key {
    /// Whether some of its values were added after the key.
    pub fn has_late_values(&self) -> bool {
        !self.late_values.is_empty()
    }

    /// Whether the key represents all keys with its prefix.
    pub fn is_prefix(&self) -> bool {
        self.key.ends_with("/*")
    }

    /// Whether `key` is this one, or has its prefix.
    pub fn is(&self, key: &str) -> bool {
        match self.key.strip_suffix('*') {
            Some(prefix) => key.len() > prefix.len() && key.starts_with(prefix),
            None => self.key == key,
        }
    }

    /// Whether any release reads the key on `scope`.
    pub fn is_read_on(&self, scope: KeyScope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&KeyScope::Any)
    }

    /// Whether a namespace's value applies in `version`: read there, or copied to new pods.
    pub fn counts_on_namespace(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        if !self.is_read_on(KeyScope::Namespace) {
            return Contains::No;
        }
        self.inherited.as_ref().map_or(Contains::Yes, |range| range.covers(version, minors))
    }

    /// Status of the key in `version`.
    pub fn status_in(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> KeyStatus {
        let minors = knowledge.minors();
        let mut unsure = false;
        for range in &self.works {
            match range.covers(version, minors) {
                Contains::Yes => {
                    return match &range.when {
                        Some(when) => KeyStatus::Conditional {
                            when: when.clone(),
                            values: range.values.clone(),
                            refused: range.refused.clone(),
                            init_fails: range.init_fails.clone(),
                        },
                        None => KeyStatus::Effective,
                    };
                }
                Contains::Unknown => unsure = true,
                Contains::No => {}
            }
        }
        if unsure {
            let edge = version.presumed_edge(minors).filter(|edge| version.edge() != Some(*edge));
            let presumed = edge.and_then(|edge| edge.to_string().parse().ok());
            let presumed = presumed.map(|edge: LinkerdVersion| Box::new(self.status_in(&edge, knowledge)));
            return KeyStatus::Unknown { presumed };
        }
        let ended = self.works.iter().rev().find(|range| range.ended(version, minors) == Contains::Yes);
        let next = self.works.iter().find(|range| range.begun(version, minors) == Contains::No);
        match (ended, next) {
            (None, next) => KeyStatus::NotYet { since: next.and_then(|range| range.from) },
            (Some(range), None) if self.removed => {
                KeyStatus::Gone { since: range.until, successor: self.successor.clone() }
            }
            (Some(range), next) => {
                KeyStatus::Ineffective { since: range.until, again: next.and_then(|range| range.from) }
            }
        }
    }

    /// The consequence of a value that does not parse.
    pub fn consequence(&self, value: &str) -> OnInvalid {
        let mut fitting = self.invalid_values.iter().filter(|other| other.value.check(value).is_ok());
        fitting.next().map_or(self.invalid, |other| other.leads_to)
    }

    /// Validates a value as `version` would; without a version, as the newest release would.
    ///
    /// # Errors
    /// A clause that describes the accepted values.
    pub fn check_value(
        &self,
        value: &str,
        version: Option<&LinkerdVersion>,
        minors: &MinorTable,
    ) -> Result<(), String> {
        let is_too_late = |late: &&LateValue| {
            let range =
                ReleaseRange { from: Some(late.from), from_stable: late.from_stable, ..ReleaseRange::default() };
            version.is_some_and(|version| range.begun(version, minors) == Contains::No)
        };
        let late: Vec<&LateValue> = self.late_values.iter().filter(is_too_late).collect();
        if let Some((late, version)) = late.iter().find(|late| late.value == value).zip(version) {
            return Err(format!("{value:?} is accepted from {} on, but this is {version}", late.from));
        }
        self.value.without(|known| late.iter().any(|late| late.value == known)).check(value)
    }
}
