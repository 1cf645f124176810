//! Restores a report from its document, so that a saved report can be rendered in every form. No check runs:
//! missing fields are computed from others, or left at their default.

use std::collections::BTreeMap;

use super::{
    About, Before, Check, Document, Evidence, Finding, Gap, Moment, Node, Outcome, PlanStep, Remedy, Step, ValueEdit,
    Waived,
};
use crate::card::{Mode, Part};
use crate::check_outcome::CheckOutcome;
use crate::checks::{self, Phase, Plan, Upgrade};
use crate::command::{Command, Recorded, RunsOn};
use crate::fetched::Why;
use crate::finding::{self, Fingerprint, Place, RecordedFingerprints, Standing, Subject};
use crate::inspect::nodes::{Loads, NodeCni, NodeFile};
use crate::item::Item;
use crate::knowledge::Knowledge;
use crate::missing::{GapRemediation, Missing};
use crate::model::cluster::TimeSource;
use crate::model::skew::Skew;
use crate::model::traffic::EarlierTraffic;
use crate::policy::{self, Gate, Policy};
use crate::render::text::clean;
use crate::report::{self, PlannedFinding, RepairPlan, Report};
use crate::request::Request;
use crate::rows;
use crate::source;

fn earlier_traffic(before: &Before) -> EarlierTraffic {
    EarlierTraffic { file: before.file.clone(), workloads: before.workloads.clone() }
}

/// The report of a document; `None` if its run has no result.
pub fn restore(document: &Document) -> Option<Report> {
    let (at, subject) = (document.run.judged_at?, document.subject.as_ref()?);
    let origin = document
        .origin
        .as_ref()
        .map(|origin| source::Origin { kind: origin.kind.clone(), name: origin.name.clone() })?;
    let gaps: Vec<report::Gap> = document.coverage.gaps.iter().map(gap).collect();
    let checks: Vec<CheckOutcome> = document.checks.iter().map(|check| judged(check, &gaps)).collect();
    let findings = findings(document);
    let versions = &subject.versions;
    let skew = Skew {
        distribution: subject.distribution.clone(),
        kubernetes: versions.kubernetes.clone(),
        kubelets: versions.kubelets.clone(),
        cli: versions.cli.clone(),
        control_plane: versions.control_plane.clone(),
        proxies: versions.proxies.clone(),
        cni: versions.cni.clone(),
        extensions: versions.extensions.clone(),
        gateway_api: versions.gateway_api.clone(),
    };
    let asked = run_options(document);
    let is_of_manifests = origin.kind == "manifests";
    Some(Report {
        run: run(document),
        origin,
        at: (at, document.run.judged_at_source.unwrap_or(TimeSource::Clock)),
        knowledge_date: document.tool.knowledge.clone().unwrap_or_default(),
        control_plane_namespace: subject.control_plane_namespace.clone(),
        cluster_uid: subject.cluster.as_ref().map(|cluster| cluster.uid.clone()),
        to_cni: document.run.to_cni.clone(),
        rehearsal: document.rehearsal.as_ref().and_then(|saved| rehearsal(saved, &skew)),
        change: document
            .change
            .as_ref()
            .map(|change| report::ManifestChange { given: change.given.clone(), objects: change.objects }),
        asked,
        verdict: verdict(document, &gaps),
        repair: repair(document, &findings),
        nodes: document.nodes.iter().map(node).collect(),
        traffic: document.traffic.as_ref().map(|traffic| traffic.workloads.clone()).unwrap_or_default(),
        before: document.traffic.as_ref().and_then(|traffic| traffic.before.as_ref()).map(earlier_traffic),
        rows: linkerd_check(&checks, &findings, &skew, &document.run, is_of_manifests),
        row_mode: document.run.linkerd_check_mode.unwrap_or_default(),
        links: document.run.links.clone(),
        coverage: coverage(document, gaps),
        checks,
        findings,
        subject: skew,
        connection: document.run.connection.clone().unwrap_or_default(),
        redacted: document.redaction.touched,
        errors: document.errors.iter().map(|error| error.message.clone()).collect(),
    })
}

/// A string that lives as long as the process, without control characters. Ids that this build knows are not copied.
fn interned(text: &str) -> &'static str {
    let of_waivers = || policy::PROBLEMS.iter().map(|(id, _)| *id).find(|id| *id == text);
    checks::find(text)
        .map(|check| check.id)
        .or_else(of_waivers)
        .unwrap_or_else(|| Box::leak(clean(text).into_owned().into_boxed_str()))
}

fn run(document: &Document) -> report::Run {
    let run = &document.run.invocation;
    report::Run {
        started: run.started,
        milliseconds: run.milliseconds,
        command: run.command.clone(),
        folders: Vec::new(),
        config: run.config.as_ref().map(super::Config::used),
    }
}

fn run_options(document: &Document) -> report::RunOptions {
    let asked = document.run.asked.clone().unwrap_or_default();
    let upgrade = asked.to.as_ref().and_then(|given| {
        let to = document.rehearsal.as_ref()?.to.parse().ok()?;
        Some(Upgrade {
            given: given.clone(),
            to,
            from: asked.from.as_ref().and_then(|from| from.parse().ok()),
            kubernetes: asked.to_kubernetes.as_ref().and_then(|version| version.parse().ok()),
            plugin: None,
        })
    });
    report::RunOptions {
        mode: Mode::ALL.into_iter().find(|mode| mode.label() == asked.mode).unwrap_or_default(),
        only: asked.only,
        skip: asked.skip,
        namespaces: asked.namespaces,
        upgrade,
        cni_expected: asked.linkerd_cni_enabled,
        expected_version: asked.expected_version,
        linkerd_namespace: asked.linkerd_namespace,
        cni_namespace: asked.cni_namespace,
        params: asked.params,
    }
}

fn gate(word: Option<&str>) -> Gate {
    Gate::ALL.into_iter().find(|gate| Some(gate.label()) == word).unwrap_or_default()
}

fn verdict(document: &Document, gaps: &[report::Gap]) -> report::RunResult {
    let verdict = &document.verdict;
    let counts =
        |counts: &super::Counts| report::Counts { error: counts.error, warning: counts.warning, info: counts.info };
    report::RunResult {
        status: verdict.status,
        gate: gate(verdict.gate.as_deref()).label(),
        // Reports of 0.1.0 do not contain it; only a run that accepts gaps succeeds in spite of one.
        not_checked_passes: verdict.not_checked_passes
            || (verdict.status == crate::exit::FINE && gaps.iter().any(|gap| gap.asked_for)),
        roots: counts(&verdict.roots),
        findings: counts(&verdict.findings),
        waived: verdict.waived,
        waived_in_part: verdict.waived_in_part,
        in_baseline: verdict.in_baseline,
        inferred: verdict.inferred,
        passed: verdict.checks.passed,
        not_applicable: verdict.checks.not_applicable,
        not_judged: verdict.checks.not_checked.unwrap_or(verdict.checks.not_judged),
        crashed: verdict.checks.crashed,
    }
}

fn coverage(document: &Document, gaps: Vec<report::Gap>) -> report::Coverage {
    let coverage = &document.coverage;
    let kinds = Knowledge::embedded().unread().kinds();
    let unread = |one: &super::Unread| {
        let known = kinds.iter().find(|kind| kind.resource == one.resource);
        report::Unread {
            resource: one.resource.clone(),
            kind: known.map_or_else(|| one.resource.clone(), |kind| kind.kind.clone()),
            about: known.map_or_else(|| one.resource.clone(), |kind| kind.about.clone()),
            objects: one.objects,
        }
    };
    report::Coverage {
        objects: coverage.objects,
        nodes: coverage.nodes,
        snapshots: coverage.snapshots,
        gaps,
        unread: coverage.unread.iter().map(unread).collect(),
        set_aside: coverage.set_aside.clone(),
    }
}

fn gap(gap: &Gap) -> report::Gap {
    let command = gap.close_command.as_ref().map(|text| command(text, None));
    let text = match &gap.close_command {
        Some(command) => gap.close.strip_suffix(&format!(": {command}")).unwrap_or(&gap.close),
        None => &gap.close,
    };
    report::Gap {
        missing: Missing {
            request: request(gap),
            why: Why::from_report(&gap.why, &gap.message, &gap.close),
            part: gap.part.clone(),
        },
        checks: gap.checks.iter().map(|id| interned(id)).collect(),
        close: GapRemediation { text: text.to_owned(), command },
        asked_for: gap.asked_for,
    }
}

/// The request, with the namespace that the document's text contains.
fn request(gap: &Gap) -> Request {
    // An unknown kind comes from a custom card, or from another release.
    let item: Item = gap.item.parse().unwrap_or(Item::Diagnostics);
    let words = gap.what.split([' ', '/', ',']).filter(|word| !word.is_empty());
    words
        .map(|word| Request { item: item.clone(), namespace: Some(word.to_owned()) })
        .find(|request| request.to_string() == gap.what)
        .unwrap_or(Request { item, namespace: None })
}

fn judged(check: &Check, gaps: &[report::Gap]) -> CheckOutcome {
    let reason = || check.reason.clone().unwrap_or_default();
    let id = interned(&check.id);
    let mut own: Vec<&report::Gap> = gaps.iter().filter(|gap| gap.checks.contains(&id)).collect();
    // The reason names the first gaps in the order in which the check recorded them.
    let place = |gap: &report::Gap| check.reason.as_ref()?.find(&gap.missing.to_string());
    own.sort_by_key(|gap| place(gap).unwrap_or(usize::MAX));
    CheckOutcome {
        id,
        category: check.category.clone(),
        title: check.title.clone(),
        severity: check.severity,
        outcome: match check.outcome {
            Outcome::Pass => checks::Outcome::Pass,
            Outcome::Findings => checks::Outcome::Findings,
            Outcome::NotApplicable => checks::Outcome::NotApplicable(reason()),
            Outcome::NotChecked => checks::Outcome::Unknown,
            Outcome::Crashed => checks::Outcome::Crashed(reason()),
        },
        gaps: own.iter().map(|gap| gap.missing.clone()).collect(),
        closes: own.iter().map(|gap| gap.close.clone()).collect(),
        blocked_by: check.blocked_by.as_deref().map(interned),
        params: check.params.clone(),
    }
}

fn findings(document: &Document) -> Vec<finding::Finding> {
    let policy = Policy {
        gate: gate(document.verdict.gate.as_deref()),
        on_change: document.change.is_some(),
        ..Policy::default()
    };
    let waived: BTreeMap<&str, &Waived> =
        document.waivers.iter().map(|waived| (waived.fingerprint.as_str(), waived)).collect();
    document
        .findings
        .iter()
        .map(|one| {
            let mut finding = finding(one);
            let waived = waived.get(one.fingerprint.as_str());
            finding.standing = match waived {
                Some(waived) if one.waived => Standing::Waived(waived.by.clone()),
                _ if one.in_baseline => Standing::InBaseline,
                _ => policy.standing(&finding, &[]),
            };
            if let Some(waived) = waived.filter(|_| !one.waived) {
                let accepted = finding.subjects.iter().filter(|it| waived.subjects.contains(&it.to_string()));
                // The document lists the waivers of all accepted subjects, each once.
                let by = (0..).map(|at: usize| waived.by.get(at).or(waived.by.last()).cloned());
                finding.waived_in_part =
                    accepted.cloned().zip(by).filter_map(|(subject, by)| Some((subject, by?))).collect();
            }
            finding
        })
        .collect()
}

fn finding(finding: &Finding) -> finding::Finding {
    let (subjects, fingerprints): (Vec<Subject>, Vec<Option<Fingerprint>>) =
        finding.subjects.iter().map(About::subject).unzip();
    let rows = finding.linkerd_check.as_ref().map(|rows| {
        let named = rows.rows.as_ref().map(|rows| rows.iter().map(|row| interned(row)).collect());
        finding::FailedRows::restored(named, rows.severity)
    });
    let print = |text: &String| Fingerprint(text.clone());
    finding::Finding {
        confidence: finding.confidence,
        subjects,
        evidence: finding.evidence.iter().map(evidence).collect(),
        timeline: finding.timeline.iter().map(moment).collect(),
        remedy: remedy(&finding.remedy),
        parameters: finding.parameters.clone(),
        rows: rows.unwrap_or_default(),
        caused_by: finding.caused_by.iter().map(print).collect(),
        after: finding.after.iter().map(print).collect(),
        when: finding.when,
        written: finding.written.clone(),
        fact: finding.fact.clone(),
        recorded: Some(RecordedFingerprints {
            finding: Fingerprint(finding.fingerprint.clone()),
            subjects: fingerprints,
        }),
        ..finding::Finding::new(interned(&finding.check), finding.severity, Subject::thing(""), finding.message.clone())
    }
}

fn evidence(evidence: &Evidence) -> finding::Evidence {
    let (place, said) = match evidence.clone() {
        Evidence::Field { object, path, said, .. } => (Place::Field { object, path }, said),
        Evidence::File { node, file, path, line, column, said } => {
            (Place::File { node, file, path, line, column }, said)
        }
        Evidence::Event { object, reason, count, last, said, .. } => {
            (Place::Event { object, reason, count, last }, said)
        }
        Evidence::Other { name, said } => (Place::Other { name }, said),
    };
    finding::Evidence { place, said }
}

fn moment(moment: &Moment) -> finding::Moment {
    finding::Moment {
        at: moment.at,
        what: moment.what.clone(),
        object: moment.object.clone(),
        field: moment.field.clone(),
    }
}

fn remedy(remedy: &Remedy) -> finding::Remedy {
    let verify = Some(remedy.verify.as_str()).filter(|text| !text.is_empty());
    finding::Remedy { steps: remedy.steps.iter().map(step).collect(), verify: verify.map(|text| command(text, None)) }
}

fn step(step: &Step) -> finding::Step {
    let command = step.command.as_ref().map(|text| command(text, Some(step)));
    let read = finding::Step::new(step.kind, step.text.clone(), command);
    let edits = step.value_edits.iter().filter_map(ValueEdit::restored).collect();
    let value = finding::ValueChange::new(edits).map(Box::new);
    finding::Step { applies: step.applies.unwrap_or(read.applies), value, ..read }
}

fn command(text: &str, step: Option<&Step>) -> Command {
    let recorded = Recorded {
        runs_on: step.and_then(|step| step.runs_on).unwrap_or(RunsOn::Workstation),
        node: step.and_then(|step| step.node.clone()),
        other_nodes: step.map(|step| step.other_nodes.clone()).unwrap_or_default(),
        placeholders: step.iter().flat_map(|step| &step.placeholders).map(|name| interned(name)).collect(),
    };
    Command::recorded(text, recorded)
}

/// The repair plan with the steps of the document; reports of 0.1.0 have none, so it is created again.
fn repair(document: &Document, findings: &[finding::Finding]) -> RepairPlan {
    let made = RepairPlan::from_findings(findings);
    let Some(saved) = &document.repair_plan else { return made };
    let numbers: BTreeMap<String, usize> = made
        .findings
        .iter()
        .map(|(&at, PlannedFinding { number, .. })| (findings[at].fingerprint().0, *number))
        .collect();
    let step = |one: &PlanStep| report::PlanStep {
        step: step(&one.step),
        is_custom: one.checks.iter().any(|id| crate::checks::find(id).is_none_or(|check| check.is_brought())),
        repairs: one.repairs.iter().filter_map(|print| numbers.get(print).copied()).collect(),
    };
    RepairPlan {
        steps: saved.steps.iter().map(step).collect(),
        verify: saved.verify.iter().map(|text| command(text, None)).collect(),
        findings: made.findings,
    }
}

fn rehearsal(saved: &super::Rehearsal, skew: &Skew) -> Option<report::Rehearsal> {
    let to = saved.to.parse().ok()?;
    let placed = (1..)
        .zip(&saved.plan)
        .flat_map(|(number, phase)| phase.deals_with.iter().map(move |print| (Fingerprint(print.clone()), number)));
    let phase = |(number, phase): (usize, &super::Phase)| Phase {
        title: phase.title.clone(),
        part: match phase.resolves_findings {
            true => Part::Links,
            false if saved.rollback_until_phase == Some(number) => Part::DataPlane,
            false => Part::Before,
        },
        release: None,
        remedy: remedy(&phase.remedy),
    };
    let plan = Plan { phases: (1..).zip(&saved.plan).map(phase).collect(), recorded: Some(placed.collect()) };
    Some(report::Rehearsal {
        target: saved.target.clone(),
        same_minor: report::Rehearsal::same_minor(&to, skew, Knowledge::embedded().minors()),
        to,
        plan: Some(plan).filter(|plan| !plan.phases.is_empty()),
    })
}

fn node(node: &Node) -> NodeCni {
    let reason = node.reason.clone().unwrap_or_default();
    NodeCni {
        node: node.name.clone(),
        collected_at: node.collected_at,
        runtime: node.runtime.clone(),
        directory: (node.directory.clone(), node.directory_assumed),
        loads: match node.loads.as_str() {
            "file" => Loads::File,
            "nothing" => Loads::Nothing(reason),
            _ => Loads::Unknown(reason),
        },
        calls_linkerd_cni: node.calls_linkerd_cni,
        open: node.open.clone(),
        files: node
            .files
            .iter()
            .map(|file| NodeFile {
                name: file.name.clone(),
                loaded: file.loaded,
                plugins: file.plugins.iter().map(|plugin| (plugin.kind.clone(), plugin.depth)).collect(),
                defect: file.defect.clone(),
            })
            .collect(),
    }
}

fn linkerd_check(
    checks: &[CheckOutcome],
    findings: &[finding::Finding],
    skew: &Skew,
    run: &super::Run,
    manifests: bool,
) -> Vec<rows::Category> {
    let release = skew.command_release();
    let counted: Vec<finding::Finding> = findings.iter().filter(report::counts).cloned().collect();
    let input = rows::RowInput {
        checks,
        findings: &counted,
        release: release.as_ref(),
        mode: run.linkerd_check_mode.unwrap_or_default(),
        links: &run.links,
        manifests,
    };
    rows::rows(&input, Knowledge::embedded())
}
