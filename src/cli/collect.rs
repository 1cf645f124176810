//! `meshdoctor collect`: everything that the checks need, redacted, in one bundle.

use super::args::Collect;
use super::evidence::{self, Save, Way};
use super::stop::Stop;
use super::{asked, files, live, output};
use crate::exit;
use crate::fetched::{Fetched, Why};
use crate::item::Item;
use crate::missing::Missing;
use crate::model::cluster::Cluster;
use crate::policy::{self, Policy};
use crate::request::Request;

pub(super) fn run(args: &Collect) -> anyhow::Result<u8> {
    let policy = Policy {
        only: args.selection.only.clone(),
        skip: args.selection.skip.clone(),
        mode: asked::mode(args.pre, args.crds),
        ..Policy::default()
    };
    let checks = asked::select(&policy)?;
    let mut items = policy::run_items(&checks);
    let node_pods = Some(&args.node_pods).filter(|flags| flags.node_pods);
    if node_pods.is_some() {
        items.insert(Item::NodeFiles);
    }
    let way = Way { node_pods, ..Way::new(&args.evidence, &args.connection) };
    let Some(path) = args.output.as_deref().filter(|_| !args.node_pods.dry_run) else {
        return live::dry_run(&way).map(|()| exit::FINE);
    };
    files::apart(&[], Some(("-o", path)), Some(&args.evidence))?;
    files::not_there("-o", path, args.force)?;
    let read = evidence::read(&way, &args.verbosity, &items, Save::To(path))?;
    if let Some(trouble) = read.save_trouble {
        return Err(trouble.context("the bundle was not saved"));
    }
    let cluster = &read.collected.cluster;
    let missing = missing(cluster);
    if !args.verbosity.quiet {
        let nodes = cluster.nodes.as_ref().map_or(0, Vec::len);
        output::say(&format!(
            "kept {} objects and {nodes} node snapshots; redacted or shortened {} of them",
            cluster.object_count(),
            read.collected.redaction.touched
        ));
        output::say(
            "dropped: private keys, tokens, environment values, arguments and ConfigMaps that are not Linkerd's or the CNI's",
        );
        if let Some(kinds) = not_served(cluster) {
            output::say(&kinds);
        }
        let connection = super::rerun::connection(&args.connection);
        for gap in &missing {
            output::say(&format!("not collected: {gap}"));
            let close = gap.close().aimed(&connection).to_string();
            close.lines().for_each(|line| output::say(&format!("  {line}")));
        }
    }
    output::print(&format!("{}\n", output::one_line(&path.display().to_string())))?;
    if read.pods_left {
        // What is left, and the command that deletes it, were said where it was found.
        return Err(Stop::could_not_run(
            "the bundle is whole, but pods are left in the cluster",
            "delete them: the command is above",
        )
        .into());
    }
    let asked_for = missing.iter().any(Missing::was_asked_for);
    Ok(if asked_for { exit::NOT_CHECKED } else { exit::FINE })
}

/// The kinds that the API server does not serve, in a line. The bundle says so of each, and lacks nothing: whether one
/// of them should be there is for the checks to say.
fn not_served(cluster: &Cluster) -> Option<String> {
    let kinds: Vec<String> = cluster
        .answers()
        .filter(|(_, answer)| answer.fetched == Fetched::Missing { reason: Why::NotServed })
        .map(|(item, _)| item.to_string())
        .collect();
    (!kinds.is_empty())
        .then(|| format!("not served by the API server, so there are none: {}", kinds.join(", ")))
}

/// Everything that was asked for and did not come. That a kind is not served is an answer, and no evidence that is missing.
pub(super) fn missing(cluster: &Cluster) -> Vec<Missing> {
    let mut missing = Vec::new();
    for (_, answer) in cluster.answers() {
        let reasons = match &answer.fetched {
            Fetched::Complete => continue,
            Fetched::Partial { reasons } => reasons.clone(),
            // Nobody gave any: not everybody has to.
            Fetched::Missing { reason: Why::NotOffered | Why::NotServed } => continue,
            Fetched::Missing { reason } => vec![reason.clone()],
        };
        missing.extend(reasons.into_iter().map(|why| Missing::whole(answer.request.clone(), why)));
    }
    let nodes = cluster.nodes.as_ref().err().filter(|why| why.was_asked_for());
    let nodes = nodes.into_iter().chain(&cluster.node_trouble);
    missing.extend(nodes.map(|why| Missing::whole(Request::of(Item::NodeFiles), why.clone())));
    missing
}
