//! The checks: one pure function each, registered in one table per category, and evaluated under a panic
//! guard.
//!
//! To add one: write `checks/<category>/<id>.md`, write `<category>/<id>.rs` here, and add its `mod` line and
//! its row to `<category>/mod.rs`, both in alphabetical order. Everything else is generated.

pub mod context;

mod admission;
mod annotations;
mod certificates;
pub mod change;
mod chart_values;
mod check;
mod cni;
mod control_plane;
mod data_plane;
mod dates;
mod debug;
mod diagnosed;
pub mod expressed;
mod extensions;
mod firewall;
mod grace;
mod gvisor;
mod host_system;
mod injected;
mod injection;
mod jaeger;
mod joins;
mod multicluster;
mod native_sidecar;
mod network_policies;
pub mod no_endpoint;
mod pod_owners;
mod policy;
mod port_list;
mod pre_install;
mod prelude;
mod probe_events;
mod quota;
mod refused;
mod rehearsal;
mod reported;
mod requires;
mod rerun;
mod restart;
mod rewrite;
mod serving;
mod settings;
mod sockets;
mod trust_roots;
mod unjudged;
mod upgrade;
mod upgrade_hops;
mod upgrades;
mod versions;
mod viz;
pub mod words;
mod written;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use certificates::rotation;
pub use chart_values::{NoChart, chart};
pub(crate) use check::row;
pub use check::{Check, Parsed};
pub use context::Context;
use context::RunInput;
pub use data_plane::UNREADY_WORKLOAD;
pub use injection::InjectionFaults;
use joins::Joins;
pub use policy::EndpointCaller;
pub use rehearsal::AFTER;
pub use rehearsal::{NoTarget, Plugin, Upgrade};
pub use restart::{CallFaults, Issuance};
pub use settings::{Settings, TimeLimit};
pub use unjudged::Unjudged;
pub use upgrades::is_downgrade;
pub use upgrades::phases::{Phase, Plan};

use crate::card::Card;
use crate::command::Command;
use crate::fetched::{Fetched, Why};
use crate::finding::{FailedRows, Finding, Remedy, When};
use crate::item::Item;
use crate::knowledge::Knowledge;
use crate::missing::Missing;
use crate::model::Cluster;
use crate::request::Request;

/// The check that compares numbers of proxies with earlier ones (`--before`).
pub const TRAFFIC: &str = data_plane::TRAFFIC;

/// The check that evaluates `defects.yaml`.
pub const KNOWN_DEFECT: &str = versions::known_defect::ID;

/// The result of a check; missing evidence leaves it by `?`.
pub type Judgement = Result<Verdict, Unjudged>;

/// The findings of a check that could run. Empty: it passes, if no evidence was missing either.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict(Vec<Finding>);

impl Verdict {
    /// It looked, and found nothing.
    pub fn fine() -> Verdict {
        Verdict(Vec::new())
    }
}

impl From<Vec<Finding>> for Verdict {
    fn from(findings: Vec<Finding>) -> Verdict {
        Verdict(findings)
    }
}

impl From<Finding> for Verdict {
    fn from(finding: Finding) -> Verdict {
        Verdict(vec![finding])
    }
}

impl FromIterator<Finding> for Verdict {
    fn from_iter<I: IntoIterator<Item = Finding>>(findings: I) -> Verdict {
        Verdict(findings.into_iter().collect())
    }
}

/// Installs the linkerd CLI of a release; `None` if the text is not a version of Linkerd.
pub fn cli_installation(release: &str) -> Option<Command> {
    Some(versions::cli_install::install(Knowledge::embedded(), &release.parse().ok()?))
}

/// Validates the expressions of `defects.yaml`, which the knowledge itself cannot parse.
///
/// # Errors
/// A row is invalid; names the row and the reason.
pub fn validate_defects(knowledge: &Knowledge) -> Result<(), String> {
    versions::known_defect::validate(knowledge)
}

/// Every check, ordered by category and id; custom checks after the built-in ones.
pub fn all() -> impl Iterator<Item = &'static Check> {
    let brought = expressed::custom_checks();
    TABLES.iter().copied().flatten().chain(brought)
}

/// The tables of the categories, in alphabetical order.
static TABLES: &[&[Check]] = &[
    annotations::TABLE,
    certificates::TABLE,
    chart_values::TABLE,
    cni::TABLE,
    control_plane::TABLE,
    data_plane::TABLE,
    debug::TABLE,
    injection::TABLE,
    jaeger::TABLE,
    multicluster::TABLE,
    native_sidecar::TABLE,
    policy::TABLE,
    pre_install::TABLE,
    upgrades::TABLE,
    versions::TABLE,
    viz::TABLE,
];

/// The check of that id or alias.
pub fn find(id: &str) -> Option<&'static Check> {
    all().find(|c| c.id == id).or_else(|| all().find(|c| c.card().front.aliases.iter().any(|alias| alias == id)))
}

/// The checks that answer a row of `linkerd check`, by its anchor (`l5d-...`), the address of that, or its text as the
/// command prints it, with a mark before it.
pub fn answering(anchor: &str) -> impl Iterator<Item = &'static Check> {
    let text = anchor.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end().to_owned();
    let anchor = anchor.rsplit_once('#').map_or(anchor, |(_, anchor)| anchor);
    let anchor = anchor.split_whitespace().next().unwrap_or_default().to_owned();
    all().filter(move |check| {
        let mut rows = check.card().front.linkerd_check.iter();
        rows.any(|row| row.anchor == anchor || row.description == text)
    })
}

/// The outcome of one check. Derived: a check cannot set it.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// No findings, and no missing evidence.
    Pass,
    /// Findings; perhaps with gaps.
    Findings,
    /// It does not apply.
    NotApplicable(String),
    /// It lacked evidence, in full or in part.
    Unknown,
    /// It panicked; the text is for a bug report.
    Crashed(String),
}

/// A check and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckResult {
    /// The check's id.
    pub id: &'static str,
    /// How it ended.
    pub outcome: Outcome,
    pub findings: Vec<Finding>,
    /// The gaps in its evidence.
    pub gaps: Vec<Missing>,
    /// The check whose findings block this one.
    pub blocked_by: Option<&'static str>,
}

/// Evaluates checks in their order; a panic becomes [`Outcome::Crashed`]. Before an upgrade, checks whose
/// cards declare `rehearsed` are also evaluated as if the upgrade were done.
pub fn evaluate(
    checks: &[&'static Check],
    cluster: &Cluster,
    knowledge: &Knowledge,
    settings: &Settings,
) -> Vec<CheckResult> {
    let (joins, then_joins) = (Joins::default(), Joins::default());
    let then = settings.upgrade.as_ref().map(|_| Settings { upgraded: true, ..settings.clone() });
    let run = RunInput { cluster, knowledge, settings, joins: &joins };
    let stops = upgrade_hops::stops(&run);
    let stop_joins: Vec<[Joins<'_>; 2]> = stops.iter().map(|_| Default::default()).collect();
    let judged = checks.iter().map(|check| {
        let (card, today) = (check.card(), evaluate_one(check, &run));
        let judged = match then.as_ref().filter(|_| card.front.rehearsed) {
            None => today,
            Some(settings) => {
                let then = evaluate_one(check, &RunInput { settings, joins: &then_joins, ..run });
                rehearsal::both(today, then, card.front.rehearsed_infos)
            }
        };
        upgrade_hops::mark(judged, &stops, knowledge, |at| {
            // Checks about an upgrade are evaluated only for today.
            let world = usize::from(card.front.rehearsed);
            evaluate_one(check, &RunInput { settings: &stops[at][world], joins: &stop_joins[at][world], ..run })
        })
    });
    judged.collect()
}

fn evaluate_one(check: &'static Check, run: &RunInput<'_>) -> CheckResult {
    let card = check.card();
    if let Some(seconds) = run.settings.time_limit.and_then(TimeLimit::passed) {
        return skipped(check, seconds);
    }
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let context = Context::new(check.id, card, *run);
        let judgement = requires::judge(&context, &card.front.requires).and_then(|()| check.judge(&context));
        let judgement = match judgement {
            Ok(Verdict(findings)) if findings.is_empty() && context.lacks_objects_in_manifests() => {
                Err(Unjudged::not_applicable("the manifests contain no object that it checks"))
            }
            judgement => judgement,
        };
        (judgement, context.into_gaps())
    }));
    let (judgement, mut gaps) = match judged {
        Ok(judged) => judged,
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                .unwrap_or_else(|| "no message".to_owned());
            let text = crate::redact::text(&text).into_owned();
            return CheckResult {
                id: check.id,
                outcome: Outcome::Crashed(text),
                findings: vec![],
                gaps: vec![],
                blocked_by: None,
            };
        }
    };
    let mut blocked_by = None;
    let (mut findings, not_applicable) = match judgement {
        Ok(Verdict(findings)) => (findings, None),
        Err(Unjudged::Blocked { by, reason }) => {
            blocked_by = Some(by);
            (Vec::new(), Some(format!("{reason} ({by})")))
        }
        Err(Unjudged::NotApplicable(reason)) => (Vec::new(), Some(reason)),
        Err(Unjudged::Missing(missing)) => {
            gaps.push(missing);
            (Vec::new(), None)
        }
    };
    if findings.is_empty() && !gaps.is_empty() {
        gaps.extend(refused(card, run.cluster));
    }
    for finding in &mut findings {
        if card.front.is_of_an_upgrade_alone() {
            finding.when = When::AfterUpgrade;
            finding.rows = FailedRows::none();
        }
        verify(finding, card, run.settings);
    }
    gaps.sort();
    gaps.dedup();
    let outcome = match not_applicable {
        _ if !findings.is_empty() => Outcome::Findings,
        _ if !gaps.is_empty() => Outcome::Unknown,
        Some(reason) => Outcome::NotApplicable(reason),
        None => Outcome::Pass,
    };
    CheckResult { id: check.id, outcome, findings, gaps, blocked_by }
}

/// A check that did not begin within the time limit of the run.
fn skipped(check: &'static Check, seconds: u64) -> CheckResult {
    let item = check.card().front.needs.first().cloned().unwrap_or(Item::ServerVersion);
    let gaps = vec![Missing::whole(Request::new(item), Why::OutOfTime { seconds })];
    CheckResult { id: check.id, outcome: Outcome::Unknown, findings: Vec::new(), gaps, blocked_by: None }
}

/// Optional evidence that was requested and denied: the check might have run with it.
fn refused(card: &Card, cluster: &Cluster) -> Vec<Missing> {
    let is_refusal = |why: &Why| {
        matches!(why, Why::Denied { .. } | Why::TimedOut { .. } | Why::Malformed { .. } | Why::Failed { .. })
    };
    let of = |item: &Item| {
        let (request, why) = match (item, cluster.answer(item)) {
            (Item::NodeFiles, _) => (Request::new(Item::NodeFiles), cluster.nodes.as_ref().err()?),
            (_, Some(answer)) => match &answer.fetched {
                Fetched::Missing { reason } => (answer.request.clone(), reason),
                Fetched::Complete | Fetched::Partial { .. } => return None,
            },
            (_, None) => return None,
        };
        is_refusal(why).then(|| Missing::whole(request, why.clone()))
    };
    card.front.uses.iter().filter_map(of).collect()
}

/// The plan of the rehearsed upgrade; `None` without one, or if the target is not a later release.
pub fn plan(cluster: &Cluster, knowledge: &Knowledge, settings: &Settings) -> Option<Plan> {
    let upgrade = settings.upgrade.as_ref()?;
    let check = find(upgrades::PLANNED)?;
    let joins = Joins::default();
    let context = Context::new(check.id, check.card(), RunInput { cluster, knowledge, settings, joins: &joins });
    // As with a check: a failed plan loses no finding.
    catch_unwind(AssertUnwindSafe(|| upgrades::plan::plan(&context, upgrade))).ok().flatten()
}

/// Verifies a cause that took its severity from its symptoms: by their absence. The cause alone may be an
/// intended setting, and would still be found.
pub fn verify_raised(findings: &mut [Finding], settings: &Settings) {
    let symptoms = |cause: &Finding| -> BTreeSet<&'static str> {
        let print = cause.fingerprint();
        findings.iter().filter(|other| other.caused_by.contains(&print)).map(|other| other.check).collect()
    };
    let raised: Vec<(usize, BTreeSet<&'static str>)> = findings
        .iter()
        .enumerate()
        .filter(|(_, finding)| finding.raised)
        .map(|(at, finding)| (at, symptoms(finding)))
        .collect();
    for (at, symptoms) in raised {
        let finding = &mut findings[at];
        if let Some(check) = find(finding.check) {
            let symptoms: Vec<&str> = symptoms.into_iter().collect();
            let again = rerun::command(check.card(), finding, &symptoms, settings);
            finding.remedy.verify = Some(again.aimed(&settings.rerun.connection));
        }
    }
}

/// Adds the command that evaluates the finding again, and adds the connection to the cluster to every
/// command.
fn verify(finding: &mut Finding, card: &Card, settings: &Settings) {
    let again = rerun::command(card, finding, &[], settings);
    let remedy = std::mem::take(&mut finding.remedy);
    let verify = match remedy.verify {
        Some(shown) => again.after(shown),
        None => again,
    };
    finding.remedy = Remedy { verify: Some(verify), steps: remedy.steps }.aimed(&settings.rerun.connection);
}
