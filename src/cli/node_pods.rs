//! `collect --node-pods`: shows the pods that would be created, requests confirmation, and ensures that they are
//! deleted. The live source runs the pods.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::args::{NodePods, Verbosity};
use super::output::print_line;
use super::progress::Progress;
use super::signals::Signals;
use super::stop::Stop;
use crate::command::NODE_IMAGE;
use crate::fetched::Why;
use crate::source::live::Live;
use crate::source::live::node_pods::{
    AT_ONCE, DEADLINE_SECONDS, ForeignPod, Gathered, Left, NodePodSettings, Plan, PlanError,
};
use crate::source::nodes::NodeEvidence;

/// The request of the flags, before the cluster is contacted.
///
/// # Errors
/// The image is missing, or there is no terminal to confirm on.
pub(super) fn settings(flags: &NodePods) -> Result<NodePodSettings, Stop> {
    let image = flags.node_image.as_deref().or(NODE_IMAGE).unwrap_or_default();
    if image.is_empty() {
        return Err(Stop::usage(
            "--node-pods needs an image with meshdoctor, and this build has no default",
            "set --node-image REGISTRY/meshdoctor:VERSION (an image that the nodes can pull), or read the nodes by \
             hand: run meshdoctor node-snapshot on each, or copy /etc/cni/net.d, and use --nodes NAME=PATH",
        ));
    }
    let somebody = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !(flags.yes || flags.dry_run || somebody) {
        return Err(Stop::usage(
            "--node-pods creates pods after confirmation, but there is no terminal to confirm on",
            "review the pods with --dry-run, then confirm with --yes",
        ));
    }
    Ok(NodePodSettings { nodes: flags.node.clone(), image: image.to_owned(), namespace: flags.node_namespace.clone() })
}

/// Finds out which pods would be created. Nothing is created, so it can be interrupted.
pub(super) async fn plan(live: &Live, settings: &NodePodSettings, signals: &mut Signals) -> anyhow::Result<Plan> {
    tokio::select! {
        plan = live.plan_node_pods(settings) => plan.map_err(|error| stop(&error).into()),
        () = signals.next() => Err(interrupted().into()),
    }
}

/// Prints the pods that would be created.
pub(super) fn dry_run(plan: &Plan) -> anyhow::Result<()> {
    let mut text = String::new();
    for pod in plan.manifests() {
        _ = write!(text, "---\n{}", serde_yaml::to_string(&pod)?);
    }
    super::output::print(&text)?;
    plan.notes.iter().for_each(|note| print_line(&format!("note: {note}")));
    match &plan.refused {
        Some(error) => Err(stop(error).into()),
        None => Ok(()),
    }
}

/// The plan that the operator confirms.
pub(super) struct Asking<'a> {
    pub(super) live: &'a Live,
    pub(super) plan: &'a Plan,
    pub(super) flags: &'a NodePods,
    pub(super) verbosity: &'a Verbosity,
}

impl Asking<'_> {
    /// Shows the plan, requests confirmation, reads the nodes and adds them to the given evidence. Also returns pods
    /// that could not be deleted; these were reported. `limit` is the start and time limit of the run.
    pub(super) async fn read(
        &self,
        limit: Option<(Instant, Duration)>,
        given: Option<NodeEvidence>,
        signals: &mut Signals,
    ) -> anyhow::Result<(NodeEvidence, Vec<Left>)> {
        if let Some(error) = &self.plan.refused {
            return Err(stop(error).into());
        }
        if !self.flags.yes || !self.verbosity.quiet {
            shown(self.plan, self.live).iter().for_each(|line| print_line(line));
        }
        if !self.flags.yes && !agreed(signals).await? {
            let next = "omit --node-pods to collect without node files";
            return Err(Stop::could_not_run("not confirmed; nothing was created", next).into());
        }
        // Reserve time for the rest of the run.
        let gathered = self.gather(limit.map(|(began, limit)| began + limit / 2), signals).await?;
        report(&gathered, self.verbosity);
        if gathered.interrupted {
            let next = match gathered.left.first() {
                None => "no pods are left in the cluster; run it again".to_owned(),
                Some(left) => format!("delete the remaining pods: {}", left.command()),
            };
            return Err(Stop::interrupted("interrupted", next).into());
        }
        let mut evidence = given.unwrap_or_else(|| NodeEvidence::from("pods on the nodes"));
        for (node, tree) in &gathered.read {
            evidence.add_node(node, &format!("the pod on {node}"), tree);
        }
        for (node, why) in &gathered.failed {
            evidence.add_trouble(Why::Failed { message: format!("node {node}: {why}") });
        }
        Ok((evidence, gathered.left))
    }

    /// Runs the plan. The first signal ends it with a clean-up, the second immediately.
    async fn gather(&self, until: Option<Instant>, signals: &mut Signals) -> anyhow::Result<Gathered> {
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let progress = Progress::new(self.verbosity);
        let all = self.plan.nodes.len();
        progress.message(format!("reading {all} nodes"));
        let told = AtomicUsize::new(0);
        let tell = |node: &str, read: Result<usize, &str>| {
            let told = told.fetch_add(1, Ordering::Relaxed) + 1;
            progress.message(format!("{told} of {all} nodes done"));
            if self.verbosity.verbose > 0 {
                match read {
                    Ok(files) => print_line(&format!("node {node}: {files} files")),
                    Err(why) => print_line(&format!("node {node}: {}", crate::redact::text(why))),
                }
            }
        };
        let mut work = std::pin::pin!(self.live.gather_nodes(self.plan, until, stopped, &tell));
        tokio::select! {
            gathered = &mut work => {
                progress.done();
                return Ok(gathered);
            }
            () = signals.next() => progress.done(),
        }
        print_line("interrupted: deleting the pods; interrupt again to exit immediately");
        // The receiver lives as long as the work.
        let _ = stop.send(true);
        tokio::select! {
            gathered = work => Ok(gathered),
            () = signals.next() => {
                let command = self.plan.delete_command();
                let next = format!("they end automatically within {DEADLINE_SECONDS} s; delete them with: \
                                    {command}");
                let cause = "interrupted while deleting: pods may be left in the cluster";
                Err(Stop::interrupted(cause, next).into())
            }
        }
    }
}

/// Description of the plan, for confirmation.
fn shown(plan: &Plan, live: &Live) -> Vec<String> {
    let mut lines = vec![format!("--node-pods writes to the cluster (context {}):", live.context())];
    let count = plan.nodes.len();
    let mut row = |name: &str, what: String| lines.push(format!("  {name:<12}{what}"));
    row("creates", format!("{} in namespace {}, at most {AT_ONCE} at a time", pods(count), plan.namespace()));
    row("deletes", "each pod after it is read, and all of them on every exit".to_owned());
    row("image", plan.image().to_owned());
    row(
        "each",
        format!(
            "reads the node's files (/ mounted read-only) as UID 0 without capabilities, on the host \
             network, without an API token, for at most {DEADLINE_SECONDS} s"
        ),
    );
    row("nodes", some(plan.nodes.iter().map(String::as_str)));
    for (node, why) in &plan.skipped {
        row("leaves out", format!("{node}: {why}"));
    }
    if !plan.abandoned.is_empty() {
        row("removes", format!("{} of an earlier run: {}", pods(plan.abandoned.len()), names(&plan.abandoned)));
    }
    if !plan.running.is_empty() {
        row(
            "finds",
            format!(
                "{} of another run that may be active: {}; deleted at the end if abandoned",
                pods(plan.running.len()),
                names(&plan.running)
            ),
        );
    }
    for note in &plan.notes {
        row("note", note.clone());
    }
    lines.push("  --dry-run prints the manifests".to_owned());
    lines
}

fn pods(count: usize) -> String {
    if count == 1 { "1 pod".to_owned() } else { format!("{count} pods") }
}

fn names(others: &[ForeignPod]) -> String {
    let names: Vec<String> = others.iter().map(|other| format!("{}/{}", other.namespace, other.name)).collect();
    some(names.iter().map(String::as_str))
}

fn some<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    const SHOWN: usize = 8;
    let more = names.clone().count().saturating_sub(SHOWN);
    let shown = names.take(SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// Requests confirmation on the terminal; every answer except yes means no.
async fn agreed(signals: &mut Signals) -> anyhow::Result<bool> {
    let mut error = std::io::stderr();
    let _ = write!(error, "Continue? [y/N] ").and_then(|()| error.flush());
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    tokio::select! {
        answer = answer => Ok(matches!(answer??.trim().to_ascii_lowercase().as_str(), "y" | "yes")),
        () = signals.next() => Err(interrupted().into()),
    }
}

/// Reports the result.
fn report(gathered: &Gathered, verbosity: &Verbosity) {
    let (read, failed) = (gathered.read.len(), gathered.failed.len());
    if !verbosity.quiet {
        let not = if failed == 0 { String::new() } else { format!(", {failed} could not be read") };
        if !gathered.interrupted {
            print_line(&format!("nodes: {read} of {} read{not}", read + failed));
        }
        if !gathered.running.is_empty() {
            let others = names(&gathered.running);
            print_line(&format!("kept, from another run: {others}; a later run deletes them if that run has ended"));
        }
    }
    for left in &gathered.left {
        super::output::say_error(
            &format!(
                "{} could not be deleted from namespace {}: {} ({})",
                pods(left.names.len()),
                left.namespace,
                some(left.names.iter().map(String::as_str)),
                crate::redact::text(&left.why)
            ),
            Some(&left.command()),
        );
    }
}

fn interrupted() -> Stop {
    Stop::interrupted("interrupted", "nothing was changed in the cluster; run it again")
}

fn stop(error: &PlanError) -> Stop {
    let (cause, next) = (error.to_string(), error.next_step());
    if error.is_usage() { Stop::usage(cause, next) } else { Stop::could_not_run(cause, next) }
}
