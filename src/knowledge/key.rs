//! One annotation or label key: where it is read, what it may say, and what a release makes of it.

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
    /// A workload's pod template, and the pods made from it.
    PodTemplate,
    /// A Namespace.
    Namespace,
    /// The metadata of a Deployment, StatefulSet, DaemonSet, Job, CronJob itself. No release reads anything there.
    Workload,
    /// A Service.
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
    /// A Secret.
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

/// Who is meant to write a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WrittenBy {
    /// The people who run the cluster (Linkerd's charts may, too).
    User,
    /// Linkerd's charts, CLI, injector or controllers.
    Linkerd,
}

/// What a value that does not parse leads to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnInvalid {
    /// The key counts as absent.
    #[default]
    Ignored,
    /// The pod is not injected.
    SkipsInjection,
    /// The pod is created with the value as it is.
    PassedOn,
    /// The pod is refused at creation.
    PodRefused,
    /// The pod is created and cannot start.
    PodFails,
    /// Ignored, but linkerd-cni fails the pod's sandbox.
    FailsWithCni,
    /// The bad element of the list is ignored.
    ElementIgnored,
    /// The whole list counts as empty for the policy controller.
    ListVoided,
    /// The whole group of settings is dropped.
    SettingDropped,
    /// A route is refused; on a Service the group of settings is dropped.
    RouteRefused,
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
            OnInvalid::RouteRefused => {
                "a route is rejected, and on a Service the whole group of settings is dropped"
            }
        })
    }
}

/// A value that came later than its key.
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

/// One key. A key that ends in `/*` stands for every key with that prefix.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Key {
    /// The key as written in manifests.
    pub key: String,
    /// Annotation or label.
    pub kind: KeyKind,
    /// Where it is read (for keys of Linkerd's own: where it is written).
    #[serde(rename = "on")]
    pub scopes: Vec<KeyScope>,
    /// Who is meant to write it.
    pub set_by: WrittenBy,
    /// What it may say.
    pub value: ValueType,
    /// What a value that does not parse leads to.
    #[serde(default)]
    pub(super) invalid: OnInvalid,
    /// Invalid values with another consequence; the first that fits counts.
    #[serde(default)]
    pub(super) invalid_values: Vec<InvalidValue>,
    /// The releases in which it works, oldest first.
    pub works: Vec<ReleaseRange>,
    /// After the last range the key is gone, rather than still declared and without effect.
    #[serde(default)]
    pub removed: bool,
    /// The releases in which the injector copies a namespace's value to the pods in it. Without it, a key with the scope
    /// [`KeyScope::Namespace`] is read there directly.
    pub inherited: Option<ReleaseRange>,
    /// Where Linkerd's own charts carry the key although nothing reads it there.
    #[serde(default)]
    pub charts_also_on: Vec<KeyScope>,
    #[serde(default)]
    pub(super) late_values: Vec<LateValue>,
    /// Another key without which this one has no effect.
    pub needs: Option<String>,
    /// The key that took its place.
    pub successor: Option<String>,
    /// What else one should know, in one or two sentences.
    pub note: Option<String>,
    /// Its name without the words that people add, leave out and reorder.
    #[serde(skip)]
    pub(super) core: String,
}

/// What a release makes of a key, its place and value left aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyStatus {
    /// The release acts on it.
    Effective,
    /// The release acts on it under a condition that versions cannot tell.
    Conditional {
        /// The condition, in words that follow "when".
        when: String,
        /// The chart values that it comes down to, by path; empty where no value tells.
        values: BTreeMap<String, bool>,
        /// The chart values, by path, with which the injector refuses the pod; empty where it never does.
        refused: BTreeMap<String, bool>,
    },
    /// The release is older than the key.
    NotYet {
        /// The first edge with the key.
        since: Option<EdgeTag>,
    },
    /// The key no longer exists.
    Gone {
        /// The first edge without it.
        since: Option<EdgeTag>,
        /// The key that took its place.
        successor: Option<String>,
    },
    /// The release knows the key and does not act on it.
    Ineffective {
        /// The first edge without effect.
        since: Option<EdgeTag>,
        /// The edge from which it works again.
        again: Option<EdgeTag>,
    },
    /// What the release contains is not public.
    Unknown {
        /// What the open-source edge that opened the same minor would make of it.
        presumed: Option<Box<KeyStatus>>,
    },
}

impl KeyStatus {
    /// The status itself, or the presumption where it is unknown.
    pub fn likely(&self) -> Option<&KeyStatus> {
        match self {
            KeyStatus::Unknown { presumed } => presumed.as_deref(),
            known => Some(known),
        }
    }

    /// Whether the key is sure or presumed to do something.
    pub fn is_likely_effective(&self) -> bool {
        matches!(self.likely(), Some(KeyStatus::Effective | KeyStatus::Conditional { .. }))
    }
}

impl Key {
    /// Whether some of its values came later than the key itself.
    pub fn has_late_values(&self) -> bool {
        !self.late_values.is_empty()
    }

    /// Whether the key stands for every key with its prefix.
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

    /// Whether the key is read on `scope` at all, in some release.
    pub fn is_read_on(&self, scope: KeyScope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&KeyScope::Any)
    }

    /// Whether a namespace's value counts in `version`: read there, or copied to the pods created in it.
    pub fn counts_on_namespace(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        if !self.is_read_on(KeyScope::Namespace) {
            return Contains::No;
        }
        self.inherited.as_ref().map_or(Contains::Yes, |range| range.covers(version, minors))
    }

    /// What `version` makes of the key.
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

    /// What a value that does not parse leads to.
    pub fn consequence(&self, value: &str) -> OnInvalid {
        let mut fitting = self.invalid_values.iter().filter(|other| other.value.check(value).is_ok());
        fitting.next().map_or(self.invalid, |other| other.leads_to)
    }

    /// Checks a value as `version` would read it; without a version, as the newest release would.
    ///
    /// # Errors
    /// A sentence part that says what is accepted.
    pub fn check_value(
        &self,
        value: &str,
        version: Option<&LinkerdVersion>,
        minors: &MinorTable,
    ) -> Result<(), String> {
        self.value.check(value)?;
        let Some(version) = version else { return Ok(()) };
        for late in self.late_values.iter().filter(|late| late.value == value) {
            let range = ReleaseRange {
                from: Some(late.from),
                from_stable: late.from_stable,
                ..ReleaseRange::default()
            };
            if range.begun(version, minors) == Contains::No {
                return Err(format!("{value:?} is accepted from {} on, and this is {version}", late.from));
            }
        }
        Ok(())
    }
}
