//! Fills the document from a report, or from a run without one.

use std::collections::BTreeMap;

use super::roots;
use super::{
    About, Before, Cause, Check, Cluster, Config, Counts, Coverage, Document, Evidence, Finding, Gap, Invocation,
    LinkerdCheck, ManifestChange, Moment, Origin, Outcome, Patch, PlanStep, Redaction, Reference, Rehearsal, Remedy,
    RepairPlan, RerunOptions, Run, RunError, Step, Subject, Tally, Tool, Traffic, Unread, ValueEdit, Verdict, Versions,
    Waived,
};
use crate::check_outcome::CheckOutcome;
use crate::command::{Command, Connection};
use crate::finding::{self, Place};
use crate::missing::Missing;
use crate::render::patch::of_command;
use crate::report::{self, Report, SCHEMA};
use crate::{checks, exit, source};

/// A run without a report: wrong usage, no connection, an unreadable bundle, an interruption.
#[derive(Debug, Clone, Default)]
pub struct Failure {
    /// The exit status.
    pub status: u8,
    /// The errors, each with its next step.
    pub errors: Vec<String>,
    /// The settings that were already known.
    pub run: report::Run,
    /// The source of the evidence, if already known.
    pub origin: Option<source::Origin>,
}

impl From<&Failure> for Document {
    fn from(failure: &Failure) -> Document {
        Document {
            schema: SCHEMA.to_owned(),
            tool: tool(None),
            run: run(&failure.run),
            origin: failure.origin.as_ref().map(origin),
            subject: None,
            verdict: Verdict { status: failure.status, meaning: meaning(failure.status), ..Verdict::default() },
            coverage: Coverage::default(),
            checks: Vec::new(),
            findings: Vec::new(),
            repair_plan: None,
            rehearsal: None,
            change: None,
            nodes: Vec::new(),
            traffic: None,
            causes: Vec::new(),
            waivers: Vec::new(),
            redaction: Redaction::default(),
            errors: errors(&failure.errors),
        }
    }
}

impl From<&Report> for Document {
    fn from(report: &Report) -> Document {
        let mut findings: Vec<Finding> = report.findings.iter().map(Finding::from).collect();
        roots::fill(&mut findings);
        Document {
            schema: SCHEMA.to_owned(),
            tool: tool(Some(report.knowledge_date.clone())),
            run: Run {
                judged_at: Some(report.at.0),
                judged_at_source: Some(report.at.1),
                to_cni: report.to_cni.clone(),
                asked: Some(run_options(&report.asked)),
                linkerd_check_mode: Some(report.row_mode),
                links: report.links.clone(),
                connection: Some(report.connection.clone()).filter(|it| *it != Connection::default()),
                ..run(&report.run)
            },
            origin: Some(origin(&report.origin)),
            subject: Some(subject(report)),
            verdict: verdict(report),
            coverage: coverage(&report.coverage),
            checks: report.checks.iter().map(Check::from).collect(),
            repair_plan: repair_plan(report),
            rehearsal: Rehearsal::from_report(report),
            change: report.change.as_ref().map(|change| ManifestChange::new(change, &report.findings)),
            nodes: report.nodes.iter().map(super::Node::from).collect(),
            traffic: traffic(report),
            causes: causes(&findings),
            findings,
            waivers: report.findings.iter().filter_map(waived).collect(),
            redaction: Redaction { touched: report.redacted },
            errors: errors(&report.errors),
        }
    }
}

/// The numbers of proxies, if there are any.
fn traffic(report: &Report) -> Option<Traffic> {
    let before =
        report.before.as_ref().map(|before| Before { file: before.file.clone(), workloads: before.workloads.clone() });
    let workloads = report.traffic.clone();
    (before.is_some() || !workloads.is_empty()).then_some(Traffic { workloads, before })
}

fn waived(finding: &finding::Finding) -> Option<Waived> {
    let in_part = &finding.waived_in_part;
    let distinct = |mut by: Vec<finding::WaivedBy>| {
        by.sort();
        by.dedup();
        by
    };
    (finding.is_waived() || !in_part.is_empty()).then(|| Waived {
        check: finding.check.to_owned(),
        fingerprint: finding.fingerprint().0,
        subjects: in_part.iter().map(|(subject, _)| subject.to_string()).collect(),
        by: match in_part.is_empty() {
            true => finding.waived_by().to_vec(),
            false => distinct(in_part.iter().map(|(_, by)| by.clone()).collect()),
        },
    })
}

fn tool(knowledge: Option<String>) -> Tool {
    Tool { name: "meshdoctor".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), knowledge }
}

impl From<&report::Run> for Invocation {
    fn from(run: &report::Run) -> Invocation {
        Invocation {
            started: run.started,
            milliseconds: run.milliseconds,
            command: run.command.clone(),
            config: run.config.as_ref().map(Config::new),
        }
    }
}

fn run(run: &report::Run) -> Run {
    Run {
        invocation: Invocation::from(run),
        judged_at: None,
        judged_at_source: None,
        to_cni: None,
        asked: None,
        linkerd_check_mode: None,
        links: Vec::new(),
        connection: None,
    }
}

/// The settings of a run.
pub fn run_options(asked: &report::RunOptions) -> RerunOptions {
    let upgrade = asked.upgrade.as_ref();
    RerunOptions {
        mode: asked.mode.label().to_owned(),
        to: upgrade.map(|upgrade| upgrade.given.clone()),
        from: upgrade.and_then(|upgrade| Some(upgrade.from.as_ref()?.to_string())),
        to_kubernetes: upgrade.and_then(|upgrade| Some(upgrade.kubernetes.as_ref()?.to_string())),
        only: asked.only.clone(),
        skip: asked.skip.clone(),
        namespaces: asked.namespaces.clone(),
        linkerd_cni_enabled: asked.cni_expected,
        expected_version: asked.expected_version.clone(),
        linkerd_namespace: asked.linkerd_namespace.clone(),
        cni_namespace: asked.cni_namespace.clone(),
        params: asked.params.clone(),
        to_cni: None,
    }
}

fn origin(origin: &source::Origin) -> Origin {
    Origin { kind: origin.kind.clone(), name: origin.name.clone() }
}

fn errors(errors: &[String]) -> Vec<RunError> {
    errors.iter().map(|message| RunError { message: message.clone() }).collect()
}

/// The meaning of an exit status, as in the documentation.
fn meaning(status: u8) -> String {
    exit::ALL
        .iter()
        .find(|(known, _)| *known == status)
        .map_or_else(|| "ended by a signal".to_owned(), |(_, meaning)| (*meaning).to_owned())
}

fn subject(report: &Report) -> Subject {
    let skew = &report.subject;
    Subject {
        distribution: skew.distribution.clone(),
        control_plane_namespace: report.control_plane_namespace.clone(),
        cluster: report.cluster_uid.clone().map(|uid| Cluster { uid }),
        versions: Versions {
            kubernetes: skew.kubernetes.clone(),
            kubelets: skew.kubelets.clone(),
            cli: skew.cli.clone(),
            control_plane: skew.control_plane.clone(),
            proxies: skew.proxies.clone(),
            cni: skew.cni.clone(),
            extensions: skew.extensions.clone(),
            gateway_api: skew.gateway_api.clone(),
        },
    }
}

fn verdict(report: &Report) -> Verdict {
    let verdict = &report.verdict;
    Verdict {
        status: verdict.status,
        meaning: meaning(verdict.status),
        gate: Some(verdict.gate.to_owned()),
        not_checked_passes: verdict.not_checked_passes,
        roots: counts(verdict.roots),
        findings: counts(verdict.findings),
        waived: verdict.waived,
        waived_in_part: verdict.waived_in_part,
        in_baseline: verdict.in_baseline,
        inferred: verdict.inferred,
        checks: Tally {
            selected: report.checks.len(),
            passed: verdict.passed,
            not_applicable: verdict.not_applicable,
            not_checked: Some(verdict.not_judged),
            not_judged: verdict.not_judged,
            crashed: verdict.crashed,
        },
    }
}

fn counts(counts: report::Counts) -> Counts {
    Counts { error: counts.error, warning: counts.warning, info: counts.info }
}

fn coverage(coverage: &report::Coverage) -> Coverage {
    Coverage {
        objects: coverage.objects,
        nodes: coverage.nodes,
        snapshots: coverage.snapshots,
        gaps: coverage.gaps.iter().map(Gap::from).collect(),
        unread: coverage
            .unread
            .iter()
            .map(|kind| Unread { resource: kind.resource.clone(), objects: kind.objects })
            .collect(),
        set_aside: coverage.set_aside.clone(),
    }
}

impl From<&report::Gap> for Gap {
    fn from(gap: &report::Gap) -> Gap {
        let missing = &gap.missing;
        Gap {
            what: missing.request.to_string(),
            item: missing.request.item.to_string(),
            part: missing.part.clone(),
            why: missing.why.keyword().to_owned(),
            message: missing.why.to_string(),
            asked_for: gap.asked_for,
            checks: gap.checks.iter().map(|id| (*id).to_owned()).collect(),
            close: gap.close.to_string(),
            close_command: gap.close.command.as_ref().map(ToString::to_string),
        }
    }
}

impl From<&CheckOutcome> for Check {
    fn from(judged: &CheckOutcome) -> Check {
        let (outcome, reason) = match &judged.outcome {
            checks::Outcome::Pass => (Outcome::Pass, None),
            checks::Outcome::Findings => (Outcome::Findings, not_checked(&judged.gaps)),
            checks::Outcome::NotApplicable(reason) => (Outcome::NotApplicable, Some(reason.clone())),
            checks::Outcome::Unknown => (Outcome::NotChecked, not_checked(&judged.gaps)),
            checks::Outcome::Crashed(message) => (Outcome::Crashed, Some(message.clone())),
        };
        Check {
            id: judged.id.to_owned(),
            category: judged.category.clone(),
            title: judged.title.clone(),
            severity: judged.severity,
            outcome,
            reason,
            blocked_by: judged.blocked_by.map(str::to_owned),
            params: judged.params.clone(),
        }
    }
}

/// Maximum number of gaps that a reason names; `coverage` has all of them.
const NAMED: usize = 3;

/// Why a check did not run fully.
fn not_checked(gaps: &[Missing]) -> Option<String> {
    let named: Vec<String> = gaps.iter().take(NAMED).map(ToString::to_string).collect();
    let more = gaps.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    (!named.is_empty()).then(|| format!("{}{more}", named.join("; ")))
}

impl From<&finding::Finding> for Finding {
    fn from(finding: &finding::Finding) -> Finding {
        let front = checks::find(finding.check).map(|check| &check.card().front);
        Finding {
            check: finding.check.to_owned(),
            category: front.map(|front| front.category.clone()),
            title: front.map(|front| front.title.clone()),
            docs: crate::page::page_url(finding.check),
            severity: finding.severity,
            confidence: finding.confidence,
            when: finding.when,
            written: finding.written.clone(),
            subjects: finding
                .subjects
                .iter()
                .map(|subject| About::new(subject, Some(finding.subject_fingerprint(subject))))
                .collect(),
            message: finding.message.clone(),
            evidence: finding.evidence.iter().map(Evidence::from).collect(),
            timeline: finding.timeline.iter().map(Moment::from).collect(),
            remedy: Remedy::from(&finding.remedy),
            caused_by: finding.caused_by.iter().map(ToString::to_string).collect(),
            after: finding.after.iter().map(ToString::to_string).collect(),
            fact: finding.fact.clone(),
            waived: finding.is_waived(),
            in_baseline: finding.standing == finding::Standing::InBaseline,
            root_causes: Vec::new(),
            parameters: finding.parameters.clone(),
            linkerd_check: linkerd_check(&finding.rows),
            fingerprint: finding.fingerprint().0,
        }
    }
}

fn linkerd_check(rows: &finding::FailedRows) -> Option<LinkerdCheck> {
    let (only, severity) = rows.parts();
    let rows = only.map(|rows| rows.iter().map(|row| (*row).to_owned()).collect());
    Some(LinkerdCheck { rows, severity }).filter(|it| it.rows.is_some() || it.severity.is_some())
}

impl From<&finding::Remedy> for Remedy {
    fn from(remedy: &finding::Remedy) -> Remedy {
        Remedy {
            steps: remedy.steps.iter().map(Step::from).collect(),
            verify: remedy.verify.as_ref().map(ToString::to_string).unwrap_or_default(),
            patch: patches(&remedy.steps),
        }
    }
}

/// The patches of the steps that apply in any case.
fn patches(steps: &[finding::Step]) -> Vec<Patch> {
    let of_step = |(number, step): (usize, &finding::Step)| {
        let command = step.command.as_ref().filter(|_| !step.is_conditional());
        let patches = command.and_then(|command| of_command(&command.to_string()).ok()).unwrap_or_default();
        patches.into_iter().map(move |patch| Patch {
            step: number,
            kind: patch.object.kind.info().kind.to_owned(),
            api_version: patch.object.kind.api_version(),
            namespace: patch.object.namespace.clone(),
            name: patch.name().to_owned(),
            format: patch.format.to_owned(),
            patch: patch.patch,
        })
    };
    (1..).zip(steps).flat_map(of_step).collect()
}

impl From<&finding::Step> for Step {
    fn from(step: &finding::Step) -> Step {
        let command = step.command.as_ref();
        Step {
            kind: step.kind,
            text: step.text.clone(),
            applies: Some(step.applies).filter(|applies| *applies != finding::Applies::Always),
            command: command.map(ToString::to_string),
            runs_on: command.map(Command::runs_on),
            node: command.and_then(Command::node).map(str::to_owned),
            other_nodes: command.map(|command| command.other_nodes().to_vec()).unwrap_or_default(),
            placeholders: command.map(placeholders).unwrap_or_default(),
            value_edits: step.value.iter().flat_map(|value| &value.edits).map(ValueEdit::from).collect(),
        }
    }
}

/// The repair plan, unless nothing needs a repair or the report is about a change.
fn repair_plan(report: &Report) -> Option<RepairPlan> {
    let plan = &report.repair;
    if plan.steps.is_empty() || report.change.is_some() {
        return None;
    }
    let step = |one: &report::PlanStep| {
        let repaired = || {
            let planned = plan.findings.iter().filter(|(_, planned)| one.repairs.contains(&planned.number));
            planned.map(|(&at, _)| &report.findings[at])
        };
        let mut checks: Vec<String> = repaired().map(|finding| finding.check.to_owned()).collect();
        checks.dedup();
        PlanStep {
            step: Step::from(&one.step),
            repairs: repaired().map(|finding| finding.fingerprint().0).collect(),
            checks,
        }
    };
    Some(RepairPlan {
        steps: plan.steps.iter().map(step).collect(),
        verify: plan.verify.iter().map(ToString::to_string).collect(),
    })
}

fn placeholders(command: &Command) -> Vec<String> {
    command.placeholders().into_iter().map(str::to_owned).collect()
}

fn reference(object: &str) -> Option<Reference> {
    let finding::Reference { kind, namespace, name } = finding::Reference::read(object)?;
    Some(Reference { kind, namespace, name })
}

impl From<&finding::Evidence> for Evidence {
    fn from(evidence: &finding::Evidence) -> Evidence {
        let said = evidence.said.clone();
        match evidence.place.clone() {
            Place::Field { object, path } => Evidence::Field { reference: reference(&object), object, path, said },
            Place::File { node, file, path, line, column } => Evidence::File { node, file, path, line, column, said },
            Place::Event { object, reason, count, last } => {
                Evidence::Event { reference: reference(&object), object, reason, count, last, said }
            }
            Place::Other { name } => Evidence::Other { name, said },
        }
    }
}

impl From<&finding::Moment> for Moment {
    fn from(moment: &finding::Moment) -> Moment {
        Moment {
            at: moment.at,
            what: moment.what.clone(),
            object: moment.object.clone(),
            reference: reference(&moment.object),
            field: moment.field.clone(),
        }
    }
}

/// The causal relations, in the order of the findings.
fn causes(findings: &[Finding]) -> Vec<Cause> {
    let mut explained: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for finding in findings {
        for cause in &finding.caused_by {
            let explains = explained.entry(cause).or_default();
            if !explains.contains(&finding.fingerprint) {
                explains.push(finding.fingerprint.clone());
            }
        }
    }
    let cause = |finding: &Finding| {
        let explains = explained.remove(finding.fingerprint.as_str())?;
        Some(Cause { fingerprint: finding.fingerprint.clone(), check: finding.check.clone(), explains })
    };
    findings.iter().filter_map(cause).collect()
}
