//! Problems that prevent identity from issuing certificates, and the restart of a workload, for commands that
//! answer a single question. Uses the findings and steps of the checks, so that both give the same advice.

use super::{Needs, renew};
use crate::checks::context::RunInput;
use crate::checks::joins::Joins;
use crate::checks::prelude::*;
use crate::checks::{Check, Settings, certificates, evaluate};
use crate::command::Connection;
use crate::finding::Step;
use crate::knowledge::Knowledge;
use crate::model::Cluster;

/// The check of proxies that need other trust anchors. Its card lists the evidence of a restart, and the
/// cards of all problems that must be repaired before such a restart name it.
const RESTARTED: &str = "data-plane-anchors-disjoint";

/// Whether identity can issue certificates.
pub struct Issuance<'a> {
    cluster: &'a Cluster,
    knowledge: &'a Knowledge,
    /// The connection that printed commands use.
    pub connection: Connection,
    /// The problems that must be repaired first, without those that another one explains.
    pub obstacles: Vec<Finding>,
}

impl<'a> Issuance<'a> {
    /// The check of proxies that need other trust anchors: it prints the restarts of a whole mesh.
    pub const RESTARTED: &'static str = RESTARTED;

    /// Evaluates the checks of the issuer and the trust anchors. `connection` is added to printed commands.
    pub fn read(cluster: &'a Cluster, knowledge: &'a Knowledge, connection: Connection) -> Issuance<'a> {
        let names = |ids: &[String], id: &str| ids.iter().any(|other| other == id);
        let comes_first = |check: &&'static Check| names(&check.card().front.before, RESTARTED);
        let checks: Vec<&'static Check> = certificates::TABLE.iter().filter(comes_first).collect();
        let results = evaluate(&checks, cluster, knowledge, &Settings::default());
        let mut obstacles: Vec<Finding> = results.into_iter().flat_map(|result| result.findings).collect();
        obstacles.retain(|finding| finding.severity == Severity::Error);
        let explained: Vec<&String> = checks
            .iter()
            .filter(|check| obstacles.iter().any(|finding| finding.check == check.id))
            .flat_map(|check| &check.card().front.explains)
            .collect();
        obstacles.retain(|finding| !explained.iter().any(|id| *id == finding.check));
        obstacles.sort_by_key(|finding| finding.check);
        Issuance { cluster, knowledge, connection, obstacles }
    }

    /// The step that gives the workload of a pod new pods with a current proxy; `because` is a clause with
    /// the effect.
    pub fn restart(&self, pod: &Pod, because: &str) -> Option<Step> {
        let check = certificates::TABLE.iter().find(|check| check.id == RESTARTED)?;
        let (settings, joins) = (Settings::default(), Joins::default());
        let run = RunInput { cluster: self.cluster, knowledge: self.knowledge, settings: &settings, joins: &joins };
        let ctx = Context::new(check.id, check.card(), run);
        let owners = ctx.owners();
        let owner = owners.owner(pod);
        let same = |other: &&Pod| {
            other.metadata.namespace == pod.metadata.namespace && !other.is_finished() && owners.owner(other) == owner
        };
        let pods: Vec<String> =
            ctx.optional_list::<Pod>().iter().filter(same).map(|pod| pod.metadata.name.clone()).collect();
        let mut step = renew(&ctx, &owner, &pods, Needs::NewProxy, because);
        step.command = step.command.map(|command| command.aimed(&self.connection));
        Some(step)
    }
}
