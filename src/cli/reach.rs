//! `meshdoctor reach`: would a call get from one workload to another, and if not, where does it stop?

use super::args::{Reach, ReachFormat};
use super::evidence::{self, Save, Way};
use super::stop::Stop;
use super::{output, policy};
use crate::exit;
use crate::inspect::evidence::{OutboundEvidence, PolicyEvidence, reach_items};
use crate::inspect::reach::{End, Mesh, Outcome, Walk};
use crate::knowledge::Knowledge;
use crate::render::look::Look;
use crate::render::reach as render;

pub(super) fn run(args: &Reach) -> anyhow::Result<u8> {
    let asked = asked(args)?;
    let way = Way::new(&args.evidence, &args.connection);
    let read = evidence::read(&way, &args.verbosity, &reach_items(), Save::No)?;
    let cluster = &read.collected.cluster;
    let policies = PolicyEvidence::read(cluster, Knowledge::embedded())
        .map_err(|(trouble, gaps)| policy::unreadable(&trouble.to_string(), &gaps))?;
    let outbound = OutboundEvidence::read(cluster, Knowledge::embedded())
        .map_err(|(trouble, gaps)| policy::unreadable(&trouble.to_string(), &gaps))?;
    let traffic = args.traffic.map(Into::into);
    let mesh = Mesh::new(policies, outbound, cluster, Knowledge::embedded().calls(), traffic);
    let gaps: Vec<String> = mesh.gaps().iter().map(ToString::to_string).collect();
    let rows: Vec<(String, Vec<Walk>)> = match &asked {
        Asked::One(from, to) => vec![(from.to_string(), vec![mesh.walk(from, to)])],
        Asked::Matrix(namespace) => {
            let (clients, called) = mesh.of_namespace(namespace);
            if clients.is_empty() || called.is_empty() {
                let cause = format!("namespace {namespace} has no running workload, or no Service");
                return Err(
                    Stop::usage(cause, "name a namespace that has both: --matrix -n NAMESPACE").into()
                );
            }
            let row = |client: &End| called.iter().map(|to| mesh.walk(client, to)).collect();
            clients.iter().map(|client| (client.to_string(), row(client))).collect()
        }
    };
    let walks: Vec<&Walk> = rows.iter().flat_map(|(_, walks)| walks).collect();
    let look = Look { verbose: args.verbosity.verbose > 0, ..output::look() };
    let text = match (args.output, &asked) {
        (ReachFormat::Json, _) => {
            format!("{}\n", serde_json::to_string_pretty(&render::json(&walks, &gaps))?)
        }
        (ReachFormat::Html, _) => crate::render::html::calls(&walks, &gaps),
        (ReachFormat::Table, Asked::Matrix(_)) => render::matrix(&rows, look),
        (ReachFormat::Table, Asked::One(..)) => walks.iter().map(|walk| render::table(walk, look)).collect(),
    };
    output::print(&text)?;
    let said = policy::gaps(mesh.gaps());
    Ok(match walks.iter().map(|walk| walk.outcome()).max() {
        // Who may call whom is an answer, whatever it is.
        _ if matches!(asked, Asked::Matrix(_)) => said,
        Some(Outcome::Stops | Outcome::Partly) => exit::FINDINGS,
        Some(Outcome::NotJudged) | None => exit::NOT_CHECKED,
        Some(Outcome::Passes) => said,
    })
}

/// What is asked.
enum Asked<'a> {
    One(&'a End, &'a End),
    Matrix(&'a str),
}

fn asked(args: &Reach) -> Result<Asked<'_>, Stop> {
    match (&args.from, &args.to, args.matrix, &args.namespace) {
        (Some(from), Some(to), false, None) if from.namespace.is_some() => Ok(Asked::One(from, to)),
        (None, None, true, Some(namespace)) => Ok(Asked::Matrix(namespace)),
        (Some(from), Some(_), false, None) => Err(Stop::usage(
            format!("{from} is no workload: a call comes from NAMESPACE/NAME"),
            "meshdoctor reach shop/web shop/api:8080",
        )),
        _ => Err(Stop::usage(
            "what is asked is not clear",
            "meshdoctor reach FROM TO[:PORT], or meshdoctor reach --matrix -n NAMESPACE",
        )),
    }
}
