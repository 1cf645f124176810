//! `meshdoctor collect`: everything that the checks need, redacted, in one bundle.

use super::args::Collect;
use super::{check, evidence, output};
use crate::exit;
use crate::missing::Missing;
use crate::policy::{self, Policy};
use crate::source::{Fetched, Why};

pub(super) fn run(args: &Collect) -> anyhow::Result<u8> {
    let policy =
        Policy { only: args.selection.only.clone(), skip: args.selection.skip.clone(), ..Policy::default() };
    let checks = check::select(&policy)?;
    let items = policy::run_items(&checks);
    let read = evidence::read(&args.evidence, &args.connection, &args.talk, &items, Some(&args.output))?;
    if let Some(trouble) = read.save_trouble {
        return Err(trouble.context("the bundle was not saved"));
    }
    let cluster = &read.collected.cluster;
    let mut missing = Vec::new();
    for (_, answer) in cluster.answers() {
        let reasons = match &answer.fetched {
            Fetched::Complete => continue,
            Fetched::Partial { reasons } => reasons.clone(),
            // Nobody gave any: not everybody has to.
            Fetched::Missing { reason: Why::NotOffered } => continue,
            Fetched::Missing { reason } => vec![reason.clone()],
        };
        missing.extend(reasons.into_iter().map(|why| Missing::whole(answer.request.clone(), why)));
    }
    if !args.talk.quiet {
        let nodes = cluster.nodes.as_ref().map_or(0, Vec::len);
        output::say(&format!(
            "kept {} objects and {nodes} node snapshots; redacted or shortened {} of them",
            cluster.object_count(),
            read.collected.redaction.touched
        ));
        output::say(
            "dropped: private keys, tokens, environment values, arguments and ConfigMaps that are not Linkerd's or the CNI's",
        );
        for gap in &missing {
            output::say(&format!("not collected: {gap}\n  {}", gap.close()));
        }
    }
    output::print(&format!("{}\n", args.output.display()))?;
    let asked_for = missing.iter().any(Missing::was_asked_for);
    Ok(if asked_for { exit::NOT_JUDGED } else { exit::FINE })
}
