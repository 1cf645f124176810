//! `meshdoctor reach`: traces a connection between two workloads, and shows where it fails.

use super::args::{Reach, ReachFormat, is_workload_kind};
use super::evidence::{self, EvidenceSource, Save};
use super::stop::Stop;
use super::{output, policy, request};
use crate::checks::Settings;
use crate::collect::Collected;
use crate::command::{meshdoctor, own};
use crate::exit;
use crate::inspect::evidence::{OutboundEvidence, PolicyEvidence, reach_items};
use crate::inspect::reach::{Condition, End, Mesh, Outcome, Walk};
use crate::knowledge::Knowledge;
use crate::policy::{Policy, run_items};
use crate::render::look::Look;
use crate::render::reach as render;
use crate::report::{self, Question, unread};

/// The description of network policies among the kinds that no check reads.
const NETWORK_POLICIES: &str = "network policies";

pub(super) fn run(args: &Reach) -> anyhow::Result<u8> {
    let asked = request(args)?;
    let namespaces = asked.namespaces();
    let way = EvidenceSource { sampled: &namespaces, ..EvidenceSource::new(&args.evidence, &args.connection) };
    let checks = request::select(&Policy::default(), Knowledge::embedded())?;
    let mut items = reach_items();
    // Reading more costs requests, so a live run explains a failure only as far as its own evidence goes.
    if !args.evidence.bundle.is_empty() {
        items.extend(run_items(&checks));
    }
    let read = evidence::read(&way, &args.verbosity, &items, Save::No)?;
    let cluster = &read.collected.cluster;
    let policies = PolicyEvidence::read(cluster, Knowledge::embedded())
        .map_err(|(trouble, gaps)| policy::unreadable(&trouble, &gaps))?;
    let outbound = OutboundEvidence::read(cluster, Knowledge::embedded())
        .map_err(|(trouble, gaps)| policy::unreadable(&trouble, &gaps))?;
    let traffic = args.traffic.map(Into::into);
    let connection = super::rerun::connection(&args.connection);
    let mesh = Mesh::new(policies, outbound, cluster, Knowledge::embedded(), connection, traffic)
        .with_unread_policies(unread_policies(&read.collected));
    let gaps: Vec<String> = mesh.gaps().iter().map(ToString::to_string).collect();
    let mut rows = walks(&mesh, &asked)?;
    if let [(_, walks)] = rows.as_mut_slice()
        && let [walk] = walks.as_mut_slice()
        && walk.outcome() >= Outcome::Partly
    {
        let settings = Settings::default();
        let question = Question {
            checks: &checks,
            policy: &Policy::default(),
            settings: &settings,
            knowledge: Knowledge::embedded(),
            origin: read.origin.clone(),
            change: None,
        };
        walk.explain(&report::judge(&question, &read.collected).findings);
    }
    let walks: Vec<&Walk> = rows.iter().flat_map(|(_, walks)| walks).collect();
    let look = Look { verbose: args.verbosity.verbose > 0, ..output::look() };
    let text = match (args.output, &asked) {
        (ReachFormat::Json, _) => {
            format!("{}\n", serde_json::to_string_pretty(&render::json(&walks, &gaps))?)
        }
        (ReachFormat::Html, _) => crate::render::html::calls(&walks, &gaps),
        (ReachFormat::Table, ReachRequest::Matrix(_)) => render::matrix(&rows, look),
        (ReachFormat::Table, ReachRequest::One(..)) => walks.iter().map(|walk| render::table(walk, look)).collect(),
    };
    output::print(&text)?;
    let said = policy::gaps(mesh.gaps(), &super::rerun::connection(&args.connection));
    // Which kind of traffic the application sends is not known without --traffic.
    let needs_kind = |walk: &&Walk| walk.conditions().iter().any(|one| matches!(one, Condition::If(_)));
    let is_open = args.traffic.is_none() && walks.iter().any(needs_kind);
    Ok(match walks.iter().map(|walk| walk.outcome()).max() {
        Some(Outcome::Stops | Outcome::Partly) => exit::FINDINGS,
        Some(Outcome::NotJudged) | None => exit::NOT_CHECKED,
        Some(Outcome::Passes) if is_open => exit::NOT_CHECKED,
        Some(Outcome::Passes) => said,
    })
}

/// The traced connections, by client.
fn walks(mesh: &Mesh<'_>, asked: &ReachRequest) -> Result<Vec<(String, Vec<Walk>)>, Stop> {
    Ok(match asked {
        ReachRequest::One(from, to) => {
            if let Some((cause, next)) = mesh.client_missing(from) {
                return Err(Stop::usage(cause, next));
            }
            if let Some((cause, example)) = mesh.port_missing(to) {
                let next = meshdoctor().words("reach").arg(from.to_string()).arg(example);
                return Err(Stop::usage(cause, format!("add one: {next}")));
            }
            vec![(from.to_string(), vec![mesh.walk(from, to)])]
        }
        ReachRequest::Matrix(namespace) => {
            let (clients, called) = mesh.of_namespace(namespace);
            if clients.is_empty() || called.is_empty() {
                let cause = format!("namespace {namespace} has no running workload, or no Service");
                return Err(Stop::usage(cause, "use a namespace with both: --matrix -n NAMESPACE"));
            }
            let row = |client: &End| called.iter().map(|to| mesh.walk(client, to)).collect();
            clients.iter().map(|client| (client.to_string(), row(client))).collect()
        }
    })
}

/// The kinds of network policies that have or may have objects which are not evaluated.
fn unread_policies(collected: &Collected) -> Vec<String> {
    let kinds = unread(collected, Knowledge::embedded()).into_iter().filter(|kind| kind.about == NETWORK_POLICIES);
    kinds
        .map(|kind| match kind.objects {
            Some(1) => format!("1 {}", kind.kind),
            Some(count) => format!("{count} objects of kind {}", kind.kind),
            None => format!("{}, which the cluster serves and whose objects were not read", kind.kind),
        })
        .collect()
}

/// The request.
enum ReachRequest {
    One(End, End),
    Matrix(String),
}

impl ReachRequest {
    /// The namespaces of both ends; empty if one of them is not known.
    fn namespaces(&self) -> Vec<String> {
        let names = match self {
            ReachRequest::One(from, to) => [&from.namespace, &to.namespace].map(Option::clone),
            ReachRequest::Matrix(namespace) => [Some(namespace.clone()), Some(namespace.clone())],
        };
        let known: Option<Vec<String>> = names.into_iter().collect();
        known.unwrap_or_default()
    }
}

fn request(args: &Reach) -> Result<ReachRequest, Stop> {
    let within = |end: &End| {
        let mut end = end.clone();
        // KIND/NAME, as kubectl writes it.
        if args.namespace.is_some() && end.namespace.as_deref().is_some_and(is_workload_kind) {
            end.namespace = None;
        }
        end.within(args.namespace.as_deref())
    };
    let example = || meshdoctor().words("reach shop/web shop/api:8080");
    match (args.from.as_ref().map(within), args.to.as_ref().map(within), args.matrix, &args.namespace) {
        (Some(from), Some(_), false, None) if from.namespace.is_none() && from.name == "node" => {
            Err(Stop::usage("a node cannot be the client", format!("name a workload or pod: {}", example())))
        }
        (Some(from), Some(to), false, _) => {
            if let Some(end) = [&from, &to].into_iter().find(|end| end.lacks_namespace()) {
                return Err(Stop::usage(
                    format!("{end} has no namespace"),
                    format!(
                        "write NAMESPACE/NAME, or add -n NAMESPACE: {} -n shop",
                        meshdoctor().words("reach").operand(from.to_string()).operand(to.to_string())
                    ),
                ));
            }
            if from.namespace.is_none() {
                return Err(Stop::usage(
                    format!("{from} is not a workload: the client must be NAMESPACE/NAME"),
                    example().to_string(),
                ));
            }
            Ok(ReachRequest::One(from, to))
        }
        (None, None, true, None) => {
            let example = meshdoctor().words("reach --matrix -n shop");
            Err(Stop::usage("--matrix needs a namespace", format!("name it: {example}")))
        }
        (None, None, true, Some(namespace)) => Ok(ReachRequest::Matrix(namespace.clone())),
        (Some(_), None, false, _) => {
            Err(Stop::usage("the destination is missing", format!("give client and destination: {}", example())))
        }
        _ => Err(Stop::usage(
            "client and destination are missing",
            format!("{}, or {}", own("reach FROM TO[:PORT]"), own("reach --matrix -n NAMESPACE")),
        )),
    }
}
