//! The one thing in meshdoctor that writes to a cluster: a short-lived pod on each node that prints the node's snapshot to
//! its log (`collect --node-pods`). [`Live::plan_node_pods`] only looks: which nodes, whether the namespace and the rights
//! suffice, what an earlier run left. [`Live::gather_nodes`] does it, and is to be called only for a plan that the operator
//! has seen. Whom to ask, and how, is not decided here.

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
pub use self::sweep::Other;

/// How many nodes are read at once.
pub const AT_ONCE: usize = 10;

/// What to read and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePodSettings {
    /// The nodes; every one that can be read if there are none.
    pub nodes: Vec<String>,
    /// The image that holds meshdoctor.
    pub image: String,
    /// Where the pods are created.
    pub namespace: String,
}

/// What would be created, and what was found out about it.
#[derive(Debug, Clone)]
pub struct Plan {
    pattern: Pattern,
    /// The nodes that would be read, in order.
    pub nodes: Vec<String>,
    /// The nodes that cannot be read by a pod, with the reason.
    pub skipped: Vec<(String, String)>,
    /// Pods of earlier runs that were killed; they are deleted first.
    pub abandoned: Vec<Other>,
    /// Pods of other runs that may still be at work.
    pub running: Vec<Other>,
    /// Why the server would refuse it, if it would.
    pub refused: Option<PlanError>,
    /// What could not be found out beforehand.
    pub notes: Vec<String>,
    /// How far the server's clock is ahead of ours. Ages of pods are by the server's.
    ahead: SignedDuration,
}

/// Pods that are still there, and should not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Where.
    pub namespace: String,
    /// The run that made them.
    pub run: String,
    /// Their names.
    pub names: Vec<String>,
    /// Why they could not be deleted.
    pub why: String,
}

impl Left {
    /// The command that deletes them.
    pub fn command(&self) -> String {
        delete_command(&self.namespace, &self.run)
    }
}

/// What came of a plan.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The files of each node that was read.
    pub read: Vec<(String, Tree)>,
    /// The other nodes, with the reason.
    pub failed: Vec<(String, String)>,
    /// What could not be deleted.
    pub left: Vec<Left>,
    /// Pods of other runs that may still be at work.
    pub running: Vec<Other>,
    /// Whether it was ended before all nodes were asked.
    pub interrupted: bool,
}

impl Plan {
    /// The pods, as they would be created.
    pub fn manifests(&self) -> impl Iterator<Item = Value> {
        self.nodes.iter().enumerate().map(|(number, node)| self.pattern.pod(number, node))
    }

    /// The time by the server's clock.
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        now.checked_add(self.ahead).unwrap_or(now)
    }

    /// The namespace of the pods.
    pub fn namespace(&self) -> &str {
        &self.pattern.namespace
    }

    /// The image of the pods.
    pub fn image(&self) -> &str {
        &self.pattern.image
    }

    /// The command that deletes what this plan creates, for when meshdoctor cannot.
    pub fn delete_command(&self) -> String {
        delete_command(&self.pattern.namespace, &self.pattern.run)
    }
}

fn delete_command(namespace: &str, run: &str) -> String {
    format!("kubectl -n {namespace} delete pods -l {}={run} --grace-period=0 --force", manifest::RUN_LABEL)
}

impl Live {
    /// Finds out what reading the nodes would take. Creates nothing; what the server would refuse is found by dry runs.
    ///
    /// # Errors
    /// There is no node to read, or the nodes cannot be known. What the server would refuse is in the plan.
    pub async fn plan_node_pods(&self, settings: &NodePodSettings) -> Result<Plan, PlanError> {
        let mut nodes = Nodes::default();
        match self.fetch(&Request::of(Item::List(Kind::Node)), &mut nodes).await {
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

    /// Whether everything that the plan takes would be allowed, deleting before creating.
    async fn rehearse(&self, plan: &mut Plan) -> Result<(), PlanError> {
        let namespace = plan.pattern.namespace.clone();
        let pods = Pods::new(&self.api, &namespace);
        match calls::namespace(&self.api, &namespace).await {
            Ok(Some(found)) => admission::by_labels(&found)?,
            Ok(None) => return Err(PlanError::NoNamespace { namespace }),
            Err(trouble) => plan.notes.push(format!(
                "the labels of namespace {namespace} could not be read ({}); the API server was asked by a dry run",
                calls::words(&trouble)
            )),
        }
        let others = sweep::others(&self.api, &pods, &plan.pattern.run).await;
        let others = others.map_err(|trouble| allowed("list", "pods", &namespace, &trouble))?;
        // Each of these is about a pod that is not there, so that only the right to ask is answered.
        let name = plan.pattern.name(0);
        // The list above may have been of all namespaces.
        let listed = pods.list(&plan.pattern.selector()).await;
        listed.map_err(|trouble| allowed("list", "pods", &namespace, &trouble))?;
        pods.delete(&name, None, true)
            .await
            .map_err(|trouble| allowed("delete", "pods", &namespace, &trouble))?;
        pods.get(&name).await.map_err(|trouble| allowed("get", "pods", &namespace, &trouble))?;
        match pods.log(&name).await {
            Err(trouble) if calls::status(&trouble) != Some(http::StatusCode::NOT_FOUND) => {
                return Err(allowed("get", "pods/log", &namespace, &trouble));
            }
            Ok(_) | Err(_) => {}
        }
        let Some(first) = plan.manifests().next() else { return Ok(()) };
        match pods.create(&first, true).await {
            Ok(created) => plan.ahead = ahead(&created),
            Err(trouble) => {
                let Some(refusal) = calls::refusal(&trouble) else {
                    return Err(PlanError::Failed { what: calls::words(&trouble) });
                };
                let note = admission::by_dry_run(&namespace, refusal)?;
                plan.notes.push(format!("a dry run could not tell whether the pods are admitted: {note}"));
            }
        }
        let now = plan.now();
        (plan.abandoned, plan.running) = others.into_iter().partition(|other| other.is_abandoned(now));
        Ok(())
    }
}

/// How far the server's clock is ahead of ours, by what it has just made.
fn ahead(created: &Value) -> SignedDuration {
    let made =
        created["metadata"]["creationTimestamp"].as_str().and_then(|time| time.parse::<Timestamp>().ok());
    made.map_or(SignedDuration::ZERO, |made| made.duration_since(Timestamp::now()))
}

/// What it means that something cannot be asked.
fn allowed(verb: &'static str, resource: &'static str, namespace: &str, trouble: &RequestError) -> PlanError {
    match calls::refusal(trouble) {
        Some(refusal) if refusal.status == http::StatusCode::FORBIDDEN => {
            PlanError::denied(verb, resource, namespace, &refusal.message)
        }
        _ => PlanError::Failed { what: calls::words(trouble) },
    }
}

/// Takes the nodes in.
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
