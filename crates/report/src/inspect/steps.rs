//! A walk from the client of a call to its destination: steps with their outcome and evidence.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::cause::FindingLinks;
use crate::fetched::Why;
use crate::finding::{Evidence, Finding, Place, Severity, Subject};
use crate::item::Kind;
use crate::names;

/// An end of a call: a pod, a workload, a Service, or a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// The namespace; `None` for an outside host.
    pub namespace: Option<String>,
    pub name: String,
    /// The port; only for the destination.
    pub port: Option<u16>,
}

/// A text that is not an end of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a NAMESPACE/NAME, NAMESPACE/NAME:PORT or HOST:PORT")]
pub struct ParseTargetError(pub String);

/// Splits `NAMESPACE/NAME:PORT` before its port; `None` if the port is invalid.
pub(super) fn place_and_port(text: &str) -> Option<(&str, Option<u16>)> {
    match text.rsplit_once(':') {
        Some((place, port)) => Some((place, Some(port.parse().ok().filter(|port| *port > 0)?))),
        None => Some((text, None)),
    }
}

impl FromStr for End {
    type Err = ParseTargetError;

    fn from_str(text: &str) -> Result<End, ParseTargetError> {
        let refused = || ParseTargetError(text.to_owned());
        let (place, port) = place_and_port(text).ok_or_else(refused)?;
        let subdomain = |name: &str| names::NameRule::Subdomain.accepts(name);
        match place.split_once('/') {
            Some((namespace, name)) if names::NameRule::Label.accepts(namespace) && subdomain(name) => {
                Ok(End { namespace: Some(namespace.to_owned()), name: name.to_owned(), port })
            }
            None if subdomain(place) => Ok(End { namespace: None, name: place.to_owned(), port }),
            _ => Err(refused()),
        }
    }
}

impl End {
    /// The same end in a namespace, if it states none and is not a host.
    pub fn within(mut self, namespace: Option<&str>) -> End {
        if self.namespace.is_none() && !self.name.contains('.') {
            self.namespace = namespace.map(str::to_owned);
        }
        self
    }

    /// Whether it is a name that needs a namespace.
    pub fn lacks_namespace(&self) -> bool {
        self.namespace.is_none() && !self.name.contains('.')
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The call continues.
    Passes,
    /// Unknown from the evidence.
    NotJudged,
    /// Some of the calls end here, others continue.
    Partly,
    /// The call ends here.
    Stops,
}

/// The subject of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The calling pod, and whether it is meshed.
    Client,
    Destination,
    /// The called Service.
    Service,
    /// The cluster that the Service belongs to.
    OtherCluster,
    /// Traffic that bypasses the client's proxy.
    Outbound,
    /// The client's proxy and the control plane.
    ControlPlane,
    /// Routes and ServiceProfiles.
    Routes,
    /// Policy for outside destinations.
    Egress,
    /// The protocol that the proxies detect.
    Protocol,
    /// The endpoints of the Service.
    Endpoints,
    /// NetworkPolicies.
    Network,
    /// The called pod, and traffic that bypasses its proxy.
    Server,
    /// Whether both proxies share a trust anchor.
    Identity,
    /// Authorization.
    Policy,
}

impl Part {
    /// The printed name.
    pub const fn name(self) -> &'static str {
        match self {
            Part::Client => "client",
            Part::Destination => "destination",
            Part::Service => "service",
            Part::OtherCluster => "other cluster",
            Part::Outbound => "outbound",
            Part::ControlPlane => "control plane",
            Part::Routes => "routes",
            Part::Egress => "egress",
            Part::Protocol => "protocol",
            Part::Endpoints => "endpoints",
            Part::Network => "network",
            Part::Server => "server",
            Part::Identity => "identity",
            Part::Policy => "policy",
        }
    }
}

/// A condition on the traffic for a call to succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Only these kinds get through.
    If(String),
    /// All kinds but these get through.
    Unless(String),
    /// A limit, with the response beyond it: `within 300 ms (then HTTP 504)`.
    Limit(String),
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::If(kinds) => write!(f, "if {kinds}"),
            Condition::Unless(kinds) => write!(f, "unless {kinds}"),
            Condition::Limit(limit) => f.write_str(limit),
        }
    }
}

/// A step of the walk.
#[derive(Debug, Clone)]
pub struct Step {
    /// The subject.
    pub part: Part,
    pub outcome: Outcome,
    /// The conclusion.
    pub says: String,
    pub evidence: Vec<Evidence>,
    /// The condition on the traffic for the step to pass.
    pub condition: Option<Condition>,
    /// The fix for a step that stops.
    pub fix: Option<String>,
    /// Commands or a manifest for the fix, as lines to paste.
    pub paste: Vec<String>,
    /// The same fix in order, if it has several steps or alternatives: each with its lines to paste.
    pub numbered: Vec<(String, Vec<String>)>,
    /// Whether counters of a proxy decide the outcome.
    pub counted: bool,
    /// The missing evidence without which it is not known.
    pub lacks: Option<Lack>,
}

/// The missing evidence of a step.
#[derive(Debug, Clone)]
pub struct Lack {
    /// The kind of object.
    pub kind: Kind,
    /// Why it was not read.
    pub why: Why,
    /// The outcome from the evidence that was read.
    pub without: Outcome,
}

/// The step of a fix that runs the checks.
pub(super) const READ_CHECKS: &str = "Read what the checks know about it";

/// The object of a piece of evidence: `Pod shop/web-5d9f`.
fn object_of(place: &Place) -> Option<&str> {
    match place {
        Place::Field { object, .. } | Place::Event { object, .. } => Some(object),
        _ => None,
    }
}

/// Whether a finding is about one of the objects, written as in evidence, or about a workload of such a pod.
fn is_about(finding: &Finding, objects: &BTreeSet<&str>) -> bool {
    finding.subjects.iter().any(|subject| match subject {
        Subject::Object { kind, namespace, name, pods } => {
            objects.contains(Subject::object(kind, namespace, name).to_string().as_str())
                || pods.iter().any(|pod| objects.contains(Subject::object("Pod", namespace, pod).to_string().as_str()))
        }
        Subject::Node { .. } | Subject::Thing { .. } => false,
    })
}

/// A walk from one end to the other.
#[derive(Debug, Clone)]
pub struct Walk {
    /// The client.
    pub from: String,
    /// The destination.
    pub to: String,
    /// The steps, up to the one that stops the call.
    pub steps: Vec<Step>,
    /// The findings of checks that explain why the call fails.
    pub causes: Vec<Finding>,
}

impl Walk {
    /// A walk without steps.
    pub fn new(from: String, to: String) -> Walk {
        Walk { from, to, steps: Vec::new(), causes: Vec::new() }
    }

    /// The worst outcome of its steps: stops, partly stops, or not checked.
    pub fn outcome(&self) -> Outcome {
        self.steps.iter().map(|step| step.outcome).max().unwrap_or(Outcome::NotJudged)
    }

    /// Adds the findings that explain the steps at which the call fails: the root causes of findings about the objects
    /// of their evidence, and errors about these. Steps about policies name the rule that denies the call themselves.
    pub fn explain(&mut self, findings: &[Finding]) {
        let failing = self
            .steps
            .iter()
            .filter(|step| step.outcome >= Outcome::Partly && !matches!(step.part, Part::Policy | Part::Network));
        let objects: BTreeSet<&str> =
            failing.flat_map(|step| &step.evidence).filter_map(|evidence| object_of(&evidence.place)).collect();
        // A warning without causes is about something else: an outdated proxy, an unknown annotation.
        let explains = |at: &usize| {
            let finding = &findings[*at];
            let is_caused = !finding.caused_by.is_empty() || finding.severity == Severity::Error;
            is_caused && is_about(finding, &objects)
        };
        let links = FindingLinks::from_findings(findings);
        let roots = (0..findings.len()).filter(explains).flat_map(|at| links.roots_or_itself(at));
        let roots: BTreeSet<usize> = roots.filter(|&root| findings[root].severity >= Severity::Warning).collect();
        self.causes = roots.into_iter().map(|root| findings[root].clone()).collect();
        if !self.causes.is_empty() {
            self.steps.iter_mut().for_each(|step| step.numbered.retain(|(text, _)| text != READ_CHECKS));
        }
    }

    pub(super) fn step(&mut self, part: Part, outcome: Outcome, says: impl Into<String>) -> &mut Step {
        let says = says.into();
        self.steps.push(Step {
            part,
            outcome,
            says,
            evidence: Vec::new(),
            condition: None,
            fix: None,
            paste: Vec::new(),
            numbered: Vec::new(),
            counted: false,
            lacks: None,
        });
        let last = self.steps.len() - 1;
        &mut self.steps[last]
    }

    /// An empty walk between the same ends, for one of several branches.
    pub(super) fn branch(&self) -> Walk {
        Walk::new(self.from.clone(), self.to.clone())
    }

    /// Joins branches, of which each carries a part of the calls. Adds the steps of the best branch, and the
    /// steps that do not pass of the others, with the name of their branch. If only some branches stop, the
    /// call stops partly.
    pub(super) fn join(&mut self, ways: Vec<(String, Walk)>) {
        let passes = |walk: &Walk| walk.outcome() < Outcome::Partly;
        let some_pass = ways.iter().any(|(_, way)| passes(way));
        let several = ways.len() > 1;
        let Some(best) = (0..ways.len()).min_by_key(|&at| ways[at].1.outcome()) else { return };
        let weak_steps = |way: &Walk| {
            let weak = way.steps.iter().filter(|step| step.outcome != Outcome::Passes);
            weak.map(|step| step.says.clone()).collect::<std::collections::BTreeSet<_>>()
        };
        let mut common = weak_steps(&ways[best].1);
        ways.iter().for_each(|(_, way)| common = &common & &weak_steps(way));
        let mut ways: Vec<(bool, String, Walk)> =
            ways.into_iter().enumerate().map(|(at, (name, way))| (at != best, name, way)).collect();
        // The best branch first.
        ways.sort_by_key(|(other, ..)| *other);
        for (other, name, way) in ways {
            for mut step in way.steps {
                let weak = step.outcome != Outcome::Passes;
                if other && !weak {
                    continue;
                }
                if several && weak && !common.contains(&step.says) {
                    step.says = format!("{name}: {}", step.says);
                }
                if some_pass && step.outcome == Outcome::Stops {
                    step.outcome = Outcome::Partly;
                }
                if !self.steps.iter().any(|known| known.part == step.part && known.says == step.says) {
                    self.steps.push(step);
                }
            }
        }
    }

    /// The conditions for the call to succeed if no step stops it.
    pub fn conditions(&self) -> Vec<&Condition> {
        let mut all: Vec<&Condition> = self.steps.iter().filter_map(|step| step.condition.as_ref()).collect();
        all.dedup();
        all
    }
}

impl Step {
    /// The conclusion, with the evidence without which it is not known.
    pub fn in_full(&self) -> Cow<'_, str> {
        match &self.lacks {
            Some(Lack { kind, why, .. }) => {
                Cow::Owned(format!("{}, as far as the evidence shows: {}: {why}", self.says, kind.resource()))
            }
            None => Cow::Borrowed(&self.says),
        }
    }

    pub(super) fn evidence(&mut self, evidence: Evidence) -> &mut Step {
        self.evidence.push(evidence);
        self
    }

    pub(super) fn only_if(&mut self, condition: Option<Condition>) -> &mut Step {
        self.condition = condition;
        self
    }

    pub(super) fn fix(&mut self, fix: impl Into<String>) -> &mut Step {
        self.fix = Some(fix.into());
        self
    }

    /// Marks a step that objects allow and the counters of a proxy contradict.
    pub(super) fn contradict(&mut self, but: &str) -> &mut Step {
        self.outcome = Outcome::Partly;
        self.says = format!("{}; {but}", self.says);
        self.counted = true;
        self
    }

    /// Adds a sentence to the fix.
    pub(super) fn note(&mut self, more: impl fmt::Display) -> &mut Step {
        self.fix = Some(match self.fix.take() {
            Some(fix) => format!("{fix}; {more}"),
            None => more.to_string(),
        });
        self
    }

    /// Adds a step of the fix to the numbered ones.
    pub(super) fn then(&mut self, text: impl Into<String>, paste: impl IntoIterator<Item = String>) -> &mut Step {
        self.numbered.push((text.into(), paste.into_iter().collect()));
        self
    }

    pub(super) fn paste(&mut self, lines: impl IntoIterator<Item = String>) -> &mut Step {
        self.paste.extend(lines);
        self
    }
}
