//! `cni-entry-missing`: linkerd-cni should run on a node, but the configuration that the runtime loads has no
//! entry for it.

use super::absent::{Absent, absences, remedy};
use super::effect::plugin_types;
use super::installers::not_redirected;
use super::nodes::Nodes;
use super::places::in_file;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let all = absences(ctx, &nodes)?;
    Ok(all.iter().map(|absent| absent.graded(missing(ctx, absent, &all))).collect())
}

fn missing(ctx: &Context<'_>, absent: &Absent<'_>, others: &[Absent<'_>]) -> Finding {
    let (snapshot, file) = (absent.snapshot, absent.file);
    let elsewhere = snapshot.all_linkerd_entries().into_iter().filter(|(other, _)| other.is_loadable());
    let elsewhere = elsewhere.map(|(other, entry)| {
        let said = "has a linkerd-cni entry, but is not loaded";
        in_file(snapshot, &other.path(), Some(entry.json_path.clone()), Some(entry.place()), said)
    });
    let subject = Subject::Node { node: snapshot.node.clone(), file: Some(file.path()), path: None, line: None };
    ctx.finding(
        subject,
        "the CNI configuration that the runtime loads has no linkerd-cni entry. New meshed pods on the node \
         get no traffic rules: they fail in the network validator or bypass their proxy",
    )
    .parameter(file.path())
    .evidence(in_file(snapshot, &file.path(), Some("plugins".to_owned()), None, plugin_types(file).join(", ")))
    .evidence(absent.expected.clone())
    .evidences(elsewhere)
    .tie(not_redirected(&snapshot.node))
    .remedy(remedy(ctx, absent, others))
}
