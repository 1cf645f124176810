//! Reads nodes with short-lived pods that print the node's snapshot to their log (`collect --node-pods`); the only part
//! of `collect` that writes to a cluster. [`Live::plan_node_pods`] only reads: nodes, permissions, namespace, leftovers
//! of earlier runs. [`Live::gather_nodes`] creates the pods; call it only for a plan that the operator has confirmed.

mod admission;
mod calls;
mod error;
mod gather;
mod manifest;
mod select;
mod state;
mod sweep;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use self::calls::Pods;
use self::manifest::Pattern;
use super::Live;
use super::api_client::RequestError;
use crate::archive::Tree;
use crate::fetched::Fetched;
use crate::item::{Item, Kind};
use crate::node_files::NodeFiles;
use crate::request::Request;
use crate::source::{ObjectSink, Source};

pub use self::error::PlanError;
pub use self::manifest::DEADLINE_SECONDS;
pub use self::sweep::ForeignPod;

/// Number of nodes to read in parallel.
pub const AT_ONCE: usize = 10;

/// Options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePodSettings {
    /// The nodes; empty means all readable nodes.
    pub nodes: Vec<String>,
    /// The image with meshdoctor.
    pub image: String,
    /// Namespace of the pods.
    pub namespace: String,
}

/// The plan, and what is known about it.
#[derive(Debug, Clone)]
pub struct Plan {
    pattern: Pattern,
    /// The nodes to read, in order.
    pub nodes: Vec<String>,
    /// Nodes that a pod cannot read, with the reason.
    pub skipped: Vec<(String, String)>,
    /// Leftover pods of killed runs; they are deleted first.
    pub abandoned: Vec<ForeignPod>,
    /// Pods of other runs that may be active.
    pub running: Vec<ForeignPod>,
    /// Reason why the server would reject it, if any.
    pub refused: Option<PlanError>,
    /// Facts that could not be determined.
    pub notes: Vec<String>,
    /// Difference between the server's clock and the local one. Ages of pods use the server's.
    ahead: SignedDuration,
}

/// Pods that could not be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Their namespace.
    pub namespace: String,
    /// Id of their run.
    pub run: String,
    /// Their names.
    pub names: Vec<String>,
    /// Reason for the failure.
    pub why: String,
}

impl Left {
    /// The command to delete them.
    pub fn command(&self) -> String {
        delete_command(&self.namespace, &self.run)
    }
}

/// The result of a plan.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Files of each node that was read.
    pub read: Vec<(String, Tree)>,
    /// Other nodes, with the reason.
    pub failed: Vec<(String, String)>,
    /// Pods that could not be deleted.
    pub left: Vec<Left>,
    /// Pods of other runs that may be active.
    pub running: Vec<ForeignPod>,
    /// Whether it ended before all nodes were read.
    pub interrupted: bool,
}

impl Plan {
    /// The pods, as they will be created.
    pub fn manifests(&self) -> impl Iterator<Item = Value> {
        self.nodes.iter().enumerate().map(|(number, node)| self.pattern.pod(number, node))
    }

    /// The time by the server's clock.
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        now.checked_add(self.ahead).unwrap_or(now)
    }

    /// Namespace of the pods.
    pub fn namespace(&self) -> &str {
        &self.pattern.namespace
    }

    /// Image of the pods.
    pub fn image(&self) -> &str {
        &self.pattern.image
    }

    /// The command to delete the pods of this plan, if meshdoctor cannot.
    pub fn delete_command(&self) -> String {
        delete_command(&self.pattern.namespace, &self.pattern.run)
    }
}

fn delete_command(namespace: &str, run: &str) -> String {
    format!("kubectl -n {namespace} delete pods -l {}={run} --grace-period=0 --force", manifest::RUN_LABEL)
}

impl Live {
    /// Plans reading the nodes. Creates nothing; uses dry runs to find rejections.
    ///
    /// # Errors
    /// There is no node to read, or the nodes are unknown. Rejections are recorded in the plan.
    pub async fn plan_node_pods(&self, settings: &NodePodSettings) -> Result<Plan, PlanError> {
        let mut nodes = Nodes::default();
        match self.fetch(&Request::new(Item::List(Kind::Node)), &mut nodes).await {
            Fetched::Complete => {}
            Fetched::Partial { reasons } => {
                let why = reasons.first().map(ToString::to_string).unwrap_or_default();
                return Err(PlanError::Nodes { why });
            }
            Fetched::Missing { reason } => return Err(PlanError::Nodes { why: reason.to_string() }),
        }
        let selected = select::select(&nodes.0, &settings.nodes)?;
        let pattern = Pattern {
            run: manifest::run_id(),
            namespace: settings.namespace.clone(),
            image: settings.image.clone(),
            created: Timestamp::from_second(Timestamp::now().as_second()).unwrap_or_default(),
        };
        let mut plan = Plan {
            pattern,
            nodes: selected.nodes,
            skipped: selected.skipped,
            abandoned: Vec::new(),
            running: Vec::new(),
            refused: None,
            notes: Vec::new(),
            ahead: SignedDuration::ZERO,
        };
        plan.refused = self.rehearse(&mut plan).await.err();
        Ok(plan)
    }

    /// Whether all requests of the plan are allowed; deletion is tested before creation.
    async fn rehearse(&self, plan: &mut Plan) -> Result<(), PlanError> {
        let namespace = plan.pattern.namespace.clone();
        let pods = Pods::new(&self.api, &namespace);
        match calls::namespace(&self.api, &namespace).await {
            Ok(Some(found)) => admission::by_labels(&found)?,
            Ok(None) => return Err(PlanError::NoNamespace { namespace }),
            Err(trouble) => plan.notes.push(format!(
                "the labels of namespace {namespace} could not be read ({}); a dry run was used instead",
                calls::words(&trouble)
            )),
        }
        let others = sweep::others(&self.api, &pods, &plan.pattern.run).await;
        let others = others.map_err(|trouble| allowed("list", "pods", &namespace, &trouble))?;
        // Each request is for a pod that does not exist, so only the permission is tested.
        let name = plan.pattern.name(0);
        // The earlier list may have covered all namespaces.
        let listed = pods.list(&plan.pattern.selector()).await;
        listed.map_err(|trouble| allowed("list", "pods", &namespace, &trouble))?;
        pods.delete(&name, None, true).await.map_err(|trouble| allowed("delete", "pods", &namespace, &trouble))?;
        pods.get(&name).await.map_err(|trouble| allowed("get", "pods", &namespace, &trouble))?;
        match pods.log(&name).await {
            Err(trouble) if calls::status(&trouble) != Some(http::StatusCode::NOT_FOUND) => {
                return Err(allowed("get", "pods/log", &namespace, &trouble));
            }
            Ok(_) | Err(_) => {}
        }
        let Some(first) = plan.manifests().next() else { return Ok(()) };
        match pods.create(&first, true).await {
            Ok(created) => plan.ahead = clock_difference(&created),
            Err(trouble) => {
                let Some(refusal) = calls::refusal(&trouble) else {
                    return Err(PlanError::Failed { what: calls::words(&trouble) });
                };
                let note = admission::by_dry_run(&namespace, refusal)?;
                plan.notes.push(format!("a dry run could not determine whether the pods are admitted: {note}"));
            }
        }
        let now = plan.now();
        (plan.abandoned, plan.running) = others.into_iter().partition(|other| other.is_abandoned(now));
        Ok(())
    }
}

/// Clock difference, from the time of a newly created object.
fn clock_difference(created: &Value) -> SignedDuration {
    let made = created["metadata"]["creationTimestamp"].as_str().and_then(|time| time.parse::<Timestamp>().ok());
    made.map_or(SignedDuration::ZERO, |made| made.duration_since(Timestamp::now()))
}

/// The meaning of a failed request.
fn allowed(verb: &'static str, resource: &'static str, namespace: &str, trouble: &RequestError) -> PlanError {
    match calls::refusal(trouble) {
        Some(refusal) if refusal.status == http::StatusCode::FORBIDDEN => {
            PlanError::denied(verb, resource, namespace, &refusal.message)
        }
        _ => PlanError::Failed { what: calls::words(trouble) },
    }
}

/// Reads the nodes.
#[derive(Default)]
struct Nodes(Vec<Vec<u8>>);

impl ObjectSink for Nodes {
    fn object(&mut self, json: &[u8]) {
        self.0.push(json.to_vec());
    }

    fn node(&mut self, _: NodeFiles) {}

    fn restart(&mut self) {
        self.0.clear();
    }
}
