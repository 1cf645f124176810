//! Whether nodes have room for the new pods of the control plane.

use super::finding;
use crate::checks::prelude::*;
use crate::checks::quota;
use crate::command::Line;
use crate::model::quantity;
use crate::objects::PodSpec;

/// Maximum number of nodes in the evidence.
const NAMED: usize = 3;

/// The nodes, and what is free on those that take pods.
pub(super) struct Nodes<'a> {
    all: &'a [Node],
    /// `None` if not all pods are known.
    free: Option<Vec<Free<'a>>>,
}

/// What a node has left; `None` if it does not state an amount.
struct Free<'a> {
    node: &'a str,
    cpu: Option<f64>,
    memory: Option<f64>,
    pods: Option<f64>,
}

impl<'a> Nodes<'a> {
    /// All nodes, and all pods if they are known.
    pub(super) fn new(all: &'a [Node], pods: Option<&[Pod]>) -> Nodes<'a> {
        let free =
            pods.map(|pods| all.iter().filter(|one| is_usable(one)).map(|one| Free::from_node(one, pods)).collect());
        Nodes { all, free }
    }

    /// Number of nodes that take pods.
    pub(super) fn usable(&self) -> usize {
        self.all.iter().filter(|one| is_usable(one)).count()
    }

    /// The finding about a Deployment whose new pods no node takes. `pod` is one of its pods.
    pub(super) fn obstacle(&self, ctx: &Context<'_>, deployment: &Workload, pod: &PodSpec) -> Option<Finding> {
        let replicas = deployment.spec.replicas.unwrap_or(1);
        if self.all.is_empty() || replicas == 0 {
            return None;
        }
        if self.usable() == 0 {
            return Some(self.without_node(ctx, deployment));
        }
        let starts_first = deployment.spec.strategy.starts_before_it_stops(replicas);
        let free = self.free.as_ref().filter(|_| starts_first)?;
        let (cpu, memory) = quota::requests(pod);
        let is_full = !free.iter().any(|one| one.has_room(cpu, memory));
        is_full.then(|| without_room(ctx, deployment, (cpu, memory), free))
    }

    fn without_node(&self, ctx: &Context<'_>, deployment: &Workload) -> Finding {
        let message = "No node takes new pods. The upgrade applies without an error, and no pod of the new \
             release starts";
        let cordoned = self.all.iter().filter(|one| one.spec.unschedulable);
        let names: Vec<&str> = cordoned.map(|one| one.metadata.name.as_str()).collect();
        let remedy = match names.is_empty() {
            true => Remedy::new().command(
                "List the nodes and the reasons why they are not ready",
                Line::from(kubectl().words("describe nodes")),
            ),
            false => names.iter().fold(Remedy::new(), |remedy, name| {
                let uncordon = kubectl().words("uncordon").operand(*name);
                remedy.command(format!("Let node {name} take pods again"), uncordon)
            }),
        };
        let state = |one: &Node| {
            let state = if one.spec.unschedulable { "cordoned" } else { "not ready" };
            format!("{} ({state})", one.metadata.name)
        };
        let mut named: Vec<String> = self.all.iter().take(NAMED).map(state).collect();
        if self.all.len() > NAMED {
            named.push(format!("{} more", self.all.len() - NAMED));
        }
        finding(ctx, deployment, message, remedy)
            .parameter("no-node")
            .evidence(Evidence::other("Nodes", named.join(", ")))
    }
}

fn is_usable(node: &Node) -> bool {
    node.takes_pods() && node.status.node_info.operating_system != "windows"
}

impl<'a> Free<'a> {
    fn from_node(node: &'a Node, pods: &[Pod]) -> Free<'a> {
        let own = pods.iter().filter(|pod| *pod.node_name == *node.metadata.name && !pod.is_finished());
        let (mut cpu, mut memory, mut number) = (0.0, 0.0, 0.0);
        for pod in own {
            let requests = quota::requests(&pod.spec);
            (cpu, memory, number) = (cpu + requests.0, memory + requests.1, number + 1.0);
        }
        let left = |resource: &str, used: f64| Some(quantity::read(node.status.allocatable.get(resource)?)? - used);
        Free {
            node: &node.metadata.name,
            cpu: left("cpu", cpu),
            memory: left("memory", memory),
            pods: left("pods", number),
        }
    }

    /// Whether a pod with these requests fits, as far as the node states its amounts.
    fn has_room(&self, cpu: f64, memory: f64) -> bool {
        let fits = |left: Option<f64>, needed: f64| left.is_none_or(|left| needed <= 0.0 || needed <= left);
        fits(self.cpu, cpu) && fits(self.memory, memory) && fits(self.pods, 1.0)
    }

    fn text(&self) -> String {
        let shown = |cpu: Option<f64>, memory: Option<f64>| {
            let cpu = cpu.map(|cpu| format!("cpu {}", cores(cpu)));
            let memory = memory.map(|memory| format!("memory {}", bytes(memory)));
            let pods = self.pods.map(|pods| format!("pods {}", pods.max(0.0)));
            cpu.into_iter().chain(memory).chain(pods).collect::<Vec<_>>().join(", ")
        };
        format!("{}: {}", self.node, shown(self.cpu, self.memory))
    }
}

/// Cores as Kubernetes writes them: `250m`.
fn cores(amount: f64) -> String {
    format!("{:.0}m", (amount.max(0.0) + 0.0) * 1000.0)
}

/// Bytes as Kubernetes writes them: `250Mi`.
fn bytes(amount: f64) -> String {
    format!("{:.0}Mi", (amount.max(0.0) + 0.0) / (1024.0 * 1024.0))
}

fn without_room(ctx: &Context<'_>, deployment: &Workload, (cpu, memory): (f64, f64), free: &[Free<'_>]) -> Finding {
    let message = "The rollout hangs: it starts a new pod before it stops an old one, and no node has room for it";
    let remedy = Remedy::new().note("Add a node during the upgrade, or set maxUnavailable of its update strategy to 1");
    let mut left: Vec<String> = free.iter().take(NAMED).map(Free::text).collect();
    if free.len() > NAMED {
        left.push(format!("{} more", free.len() - NAMED));
    }
    finding(ctx, deployment, message, remedy)
        .parameter("no-room")
        .evidence(Evidence::field(
            deployment.metadata.described("Deployment"),
            "requests of a pod",
            format!("cpu {}, memory {}", cores(cpu), bytes(memory)),
        ))
        .evidence(Evidence::other("Free on nodes", left.join("; ")))
}
