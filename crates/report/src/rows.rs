//! The rows of `linkerd check` with meshdoctor's results: cards name the rows that they cover; order and texts are
//! those of the real command. Maps results only.
//!
//! A row fails by the findings of its cards, as severe as they are; an info leaves it a success. If requested
//! evidence was unavailable, if another check's findings keep a row from being judged, or if only a part of a
//! row could be judged, the row is a warning that begins with `not checked:`, never a success. A row without
//! any evidence is left out, as is one that does not apply if the real command prints none. Manifests show no
//! running cluster: a row succeeds on them only if each of its checks ran and needs nothing else.

use std::collections::BTreeMap;

use crate::check_outcome::CheckOutcome;
use crate::checks::Outcome;
use crate::finding::{Confidence, Finding, Severity};
use crate::item::{Item, Kind};
use crate::knowledge::{COMMAND, CheckRow, Knowledge, RowCategory, RowList, RowMode, RowSeverity};
use crate::missing::Missing;
use crate::objects::Link;
use crate::version::LinkerdVersion;

/// Result of a row, with the values of `linkerd check -o json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowResult {
    Success,
    /// A problem without effect on the exit status of the real command, or not checked.
    Warning,
    /// A failure.
    Error,
}

/// A row with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowVerdict {
    /// Text of the row.
    pub description: String,
    /// Hint URL; for rows that do not succeed.
    pub hint: Option<String>,
    /// The problem; empty for rows that succeed.
    pub error: String,
    pub result: RowResult,
    /// Checks whose findings fail it.
    pub checks: Vec<&'static str>,
    /// What the command lists below the description of a row that succeeds: the clusters of the Links.
    pub listed: Vec<String>,
}

/// A category with its printed rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    pub name: String,
    pub rows: Vec<RowVerdict>,
}

pub struct RowInput<'a> {
    /// The checks and their outcomes.
    pub checks: &'a [CheckOutcome],
    /// Their findings.
    pub findings: &'a [Finding],
    /// The release of the command; `None`: the newest.
    pub release: Option<&'a LinkerdVersion>,
    /// The options of the command.
    pub mode: RowMode,
    /// The linked clusters, in the order of the API server.
    pub links: &'a [LinkedCluster],
    /// Whether the evidence is manifests alone.
    pub manifests: bool,
}

/// A linked cluster, for the rows that list it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LinkedCluster {
    pub name: String,
    /// Whether its gateway is used.
    pub gateway: bool,
}

impl From<&Link> for LinkedCluster {
    fn from(link: &Link) -> LinkedCluster {
        LinkedCluster { name: link.spec.target_cluster_name.clone(), gateway: link.has_gateway() }
    }
}

/// All rows that `linkerd check` would print, including those that it skips after a failure.
pub fn rows(evidence: &RowInput<'_>, knowledge: &Knowledge) -> Vec<Category> {
    let answers = answers(evidence.checks);
    let known = knowledge.linkerd_check();
    known
        .categories()
        .iter()
        .filter(|category| category.modes.contains(&evidence.mode))
        .filter(|category| category.extension.is_none() || is_installed(category, &answers))
        .flat_map(|category| {
            let printed = category.rows.iter().filter(|row| row.is_printed_by(evidence.release, knowledge.minors()));
            let answered = printed.filter_map(|row| {
                let answers = answers.get(&(category.name.as_str(), row.description.as_str()))?;
                Some((row, answers, known.hint(&row.anchor)))
            });
            if category.name.contains(COMMAND) {
                return answered
                    .flat_map(|(row, answers, hint)| of_commands(category, row, answers, evidence.findings, &hint))
                    .collect();
            }
            let rows: Vec<RowVerdict> = answered
                .filter_map(|(row, answers, hint)| {
                    let listed = clusters(row, evidence.links);
                    verdict(category, row, answers, evidence, &hint).map(|verdict| match verdict.result {
                        RowResult::Success => RowVerdict { listed, ..verdict },
                        RowResult::Warning | RowResult::Error => verdict,
                    })
                })
                .collect();
            if rows.is_empty() { Vec::new() } else { vec![Category { name: category.name.clone(), rows }] }
        })
        .collect()
}

/// The clusters that a row lists.
fn clusters(row: &CheckRow, links: &[LinkedCluster]) -> Vec<String> {
    let listed = links.iter().filter(|link| match row.lists {
        Some(RowList::Links) => true,
        Some(RowList::GatewayLinks) => link.gateway,
        None => false,
    });
    listed.map(|link| link.name.clone()).collect()
}

/// Categories that are printed once per command: those with a finding about the command.
fn of_commands(
    category: &RowCategory,
    row: &CheckRow,
    answers: &[&CheckOutcome],
    findings: &[Finding],
    hint: &str,
) -> Vec<Category> {
    let failing = findings.iter().filter(|finding| fails(finding, answers, &row.description));
    let named = failing.flat_map(|finding| finding.parameters.iter().map(move |command| (finding, command)));
    let categories = named.map(|(finding, command)| {
        let row = RowVerdict {
            description: row.description.replace(COMMAND, command),
            hint: Some(hint.to_owned()),
            error: describe(finding),
            result: RowResult::Warning,
            checks: vec![finding.check],
            listed: Vec::new(),
        };
        Category { name: category.name.replace(COMMAND, command), rows: vec![row] }
    });
    categories.collect()
}

/// Whether every row is a success or warning, which the real command treats as success.
pub fn success(categories: &[Category]) -> bool {
    categories.iter().flat_map(|category| &category.rows).all(|row| row.result != RowResult::Error)
}

type Answers<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a CheckOutcome>>;

/// The checks that cover each row, by category and description.
fn answers(checks: &[CheckOutcome]) -> Answers<'_> {
    let mut answers: Answers<'_> = BTreeMap::new();
    for judged in checks {
        for row in crate::checks::find(judged.id).map_or(&[][..], |check| &check.card().front.linkerd_check) {
            answers.entry((&row.category, &row.description)).or_default().push(judged);
        }
    }
    answers
}

/// An extension exists if one of its rows could be checked; otherwise its checks do not apply.
fn is_installed(category: &RowCategory, answers: &Answers<'_>) -> bool {
    category.rows.iter().any(|row| {
        let of_row = answers.get(&(category.name.as_str(), row.description.as_str()));
        of_row.into_iter().flatten().any(|judged| matches!(judged.outcome, Outcome::Pass | Outcome::Findings))
    })
}

fn verdict(
    category: &RowCategory,
    row: &CheckRow,
    answers: &[&CheckOutcome],
    evidence: &RowInput<'_>,
    hint: &str,
) -> Option<RowVerdict> {
    let failing: Vec<&Finding> =
        evidence.findings.iter().filter(|finding| fails(finding, answers, &row.description)).collect();
    let worst = failing.iter().map(|finding| weight(finding)).max().unwrap_or(Severity::Info);
    // A warning-only row stays a warning even for findings about more than the row.
    let worst = if row.severity == RowSeverity::Warning { worst.min(Severity::Warning) } else { worst };
    let judged = match evidence.manifests {
        true => answers.iter().all(|judged| is_shown_by_manifests(judged)),
        false => answers.iter().any(|judged| has_verdict(judged, row, category)),
    };
    let unjudged = not_judged(answers, judged, &row.description);
    let result = match worst {
        Severity::Error => RowResult::Error,
        Severity::Warning => RowResult::Warning,
        Severity::Info if !unjudged.is_empty() => RowResult::Warning,
        Severity::Info if !judged => return None,
        Severity::Info => RowResult::Success,
    };
    let said = failing.iter().filter(|finding| weight(finding) >= Severity::Warning).map(|f| describe(f));
    let error = match result {
        RowResult::Success => String::new(),
        _ => said.chain(unjudged).collect::<Vec<_>>().join("\n"),
    };
    let hint = (result != RowResult::Success).then(|| hint.to_owned());
    let checks = failing.iter().map(|finding| finding.check).collect();
    Some(RowVerdict { description: row.description.clone(), hint, error, result, checks, listed: Vec::new() })
}

fn fails(finding: &Finding, answers: &[&CheckOutcome], description: &str) -> bool {
    answers.iter().any(|judged| judged.id == finding.check) && finding.rows.contain(description)
}

/// How a finding fails its rows.
fn weight(finding: &Finding) -> Severity {
    finding.rows.weight(finding.severity)
}

/// Whether the check has a result for the row, including that it does not apply and therefore passes.
fn has_verdict(judged: &CheckOutcome, row: &CheckRow, category: &RowCategory) -> bool {
    match judged.outcome {
        Outcome::Pass | Outcome::Findings => true,
        Outcome::NotApplicable(_) => !row.skips && category.extension.is_none(),
        Outcome::Unknown | Outcome::Crashed(_) => false,
    }
}

/// Whether manifests alone show the result of the check: it ran, and needs neither pods nor other evidence of a
/// running cluster.
fn is_shown_by_manifests(judged: &CheckOutcome) -> bool {
    let is_running = |item: &Item| item.kind() == Some(Kind::Pod) || !item.is_in_manifests();
    let needs_running = |check: &crate::checks::Check| check.card().front.needs.iter().any(is_running);
    matches!(judged.outcome, Outcome::Pass | Outcome::Findings)
        && crate::checks::find(judged.id).is_some_and(|check| !needs_running(check))
}

/// Reasons why the checks have no result, each once. Evidence that was not provided counts only if a part of the row
/// was checked (`partly`): without any evidence the row is omitted.
fn not_judged(answers: &[&CheckOutcome], partly: bool, description: &str) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for reason in answers.iter().flat_map(|judged| reasons_of(judged, partly, description)) {
        let reason = format!("not checked: {reason}");
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

/// Whether a missing object belongs to another webhook than that of a row: one check covers the rows of all of them.
fn is_of_other_webhook(missing: &Missing, description: &str) -> bool {
    const WEBHOOKS: [&str; 3] = ["proxy-injector", "sp-validator", "policy-validator"];
    let Item::Named { name, .. } = &missing.request.item else { return false };
    let of_row = WEBHOOKS.iter().find(|webhook| description.starts_with(**webhook));
    of_row.is_some_and(|own| WEBHOOKS.iter().any(|other| other != own && name.contains(other)))
}

fn reasons_of(judged: &CheckOutcome, all: bool, description: &str) -> Vec<String> {
    let missing = judged
        .gaps
        .iter()
        .zip(&judged.closes)
        .filter(|(missing, _)| (all || missing.was_asked_for()) && !is_of_other_webhook(missing, description));
    let mut reasons: Vec<String> = missing.map(|(missing, close)| format!("{missing}; {close}")).collect();
    match &judged.outcome {
        Outcome::Crashed(message) => reasons.push(format!("{} crashed: {message}", judged.id)),
        Outcome::NotApplicable(reason) if judged.blocked_by.is_some() => reasons.push(reason.clone()),
        _ => {}
    }
    reasons
}

/// Number of subjects to list.
const NAMED: usize = 10;

/// A finding as the text of a row: the problem, subjects, cause and first step.
pub fn describe(finding: &Finding) -> String {
    let guess = if finding.confidence == Confidence::Likely { " (likely)" } else { "" };
    let mut text = format!("{}{guess} ({})", finding.message, finding.check);
    for subject in finding.subjects.iter().take(NAMED) {
        text.push_str(&format!("\n  * {subject}"));
    }
    if finding.subjects.len() > NAMED {
        text.push_str(&format!("\n  * and {} more", finding.subjects.len() - NAMED));
    }
    if let Some(step) = finding.remedy.steps.first() {
        text.push_str(&format!("\n  first: {}", step.text));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetched::Why;
    use crate::finding::{Remedy, Subject};
    use crate::item::{Item, Kind};
    use crate::request::Request;

    const READY: &str = "control plane pods are ready";
    const SCHEDULED: &str = "no unschedulable pods";

    /// The check that covers both.
    fn check() -> &'static str {
        let answers = |check: &&'static crate::checks::Check| {
            let rows = &check.card().front.linkerd_check;
            [READY, SCHEDULED].iter().all(|wanted| rows.iter().any(|row| row.description == *wanted))
        };
        crate::checks::all().find(answers).expect("a card covers both rows").id
    }

    fn judged(outcome: Outcome, gaps: Vec<Missing>) -> CheckOutcome {
        CheckOutcome {
            id: check(),
            category: "control-plane".to_owned(),
            title: String::new(),
            severity: Severity::Error,
            outcome,
            closes: gaps.iter().map(Missing::close).collect(),
            gaps,
            blocked_by: None,
            params: Default::default(),
        }
    }

    fn finding(severity: Severity) -> Finding {
        Finding::new(check(), severity, Subject::thing("linkerd-destination"), "it is not ready")
            .remedy(Remedy::default().note("Look at it"))
    }

    fn input() -> RowInput<'static> {
        let mode = RowMode::Default;
        RowInput { checks: &[], findings: &[], release: None, mode, links: &[], manifests: false }
    }

    /// The two rows of the check, as `RESULT ERROR`; `-` for an omitted one.
    fn row_results(judged: CheckOutcome, findings: &[Finding]) -> [String; 2] {
        let evidence = RowInput { checks: &[judged], findings, ..input() };
        let rows = rows(&evidence, Knowledge::embedded());
        let rows: Vec<&RowVerdict> = rows.iter().flat_map(|category| &category.rows).collect();
        [READY, SCHEDULED].map(|description| {
            let row = rows.iter().find(|row| row.description == description);
            row.map_or("-".to_owned(), |row| format!("{:?} {}", row.result, row.error))
        })
    }

    #[test]
    fn row_fails_by_findings_but_not_by_infos() {
        assert_eq!(row_results(judged(Outcome::Pass, vec![]), &[]), ["Success ", "Success "]);
        let [ready, scheduled] = row_results(
            judged(Outcome::Findings, vec![]),
            &[finding(Severity::Error).fails_rows([READY]), finding(Severity::Info).fails_rows([SCHEDULED])],
        );
        assert_eq!(ready, format!("Error It is not ready ({})\n  * linkerd-destination\n  first: Look at it", check()));
        assert_eq!(scheduled, "Success ");
        let both = row_results(judged(Outcome::Findings, vec![]), &[finding(Severity::Warning)]);
        assert!(both.iter().all(|row| row.starts_with("Warning It is not ready")), "{both:?}");
        let beside = row_results(judged(Outcome::Findings, vec![]), &[finding(Severity::Error).fails_rows([])]);
        assert_eq!(beside, ["Success ", "Success "]);
    }

    #[test]
    fn row_of_a_webhook_lacks_only_its_own_secret() {
        let secret = |name: &str| {
            let scope = crate::item::Scope::ControlPlane;
            let item = Item::named(Kind::Secret, scope, name);
            Missing::whole(Request::new(item), Why::NotOffered)
        };
        let row = "sp-validator webhook has valid cert";
        assert!(is_of_other_webhook(&secret("linkerd-proxy-injector-k8s-tls"), row));
        assert!(!is_of_other_webhook(&secret("linkerd-sp-validator-k8s-tls"), row));
        assert!(!is_of_other_webhook(&secret("linkerd-proxy-injector-k8s-tls"), READY));
    }

    #[test]
    fn unchecked_row_is_never_a_success() {
        let gap = |why| vec![Missing::whole(Request::new(Item::List(Kind::Pod)), why)];
        let denied = || gap(Why::Denied { message: String::new() });
        let twice = [denied(), denied()].concat();
        for row in row_results(judged(Outcome::Unknown, twice), &[]) {
            assert!(row.starts_with("Warning not checked: ") && row.lines().count() == 1, "{row}");
        }
        assert_eq!(row_results(judged(Outcome::Unknown, gap(Why::NotOffered)), &[]), ["-", "-"]);
        // A finding of one row proves nothing about the other.
        let ready = finding(Severity::Error).fails_rows([READY]);
        let [_, scheduled] = row_results(judged(Outcome::Findings, gap(Why::NotOffered)), &[ready]);
        assert!(scheduled.starts_with("Warning not checked: "), "{scheduled}");
        for row in row_results(judged(Outcome::Crashed("oops".to_owned()), vec![]), &[]) {
            assert!(row.starts_with("Warning not checked: ") && row.contains("oops"), "{row}");
        }
        let blocked = CheckOutcome {
            blocked_by: Some("another"),
            ..judged(Outcome::NotApplicable("no control plane (another)".to_owned()), vec![])
        };
        let row = "Warning not checked: no control plane (another)";
        assert_eq!(row_results(blocked, &[]), [row, row]);
    }

    #[test]
    fn inapplicable_row_passes_or_is_omitted() {
        let idle = judged(Outcome::NotApplicable("nothing to ask of".to_owned()), vec![]);
        assert_eq!(row_results(idle, &[]), ["Success ", "Success "]);
    }

    #[test]
    fn manifests_prove_nothing_about_running_pods() {
        let rows_of = |judged: CheckOutcome, findings: &[Finding]| {
            let checks = [judged];
            let evidence = RowInput { checks: &checks, findings, manifests: true, ..input() };
            let rows = rows(&evidence, Knowledge::embedded());
            rows.iter().flat_map(|category| &category.rows).map(|row| row.result).collect::<Vec<_>>()
        };
        assert_eq!(rows_of(judged(Outcome::NotApplicable("no pods".to_owned()), vec![]), &[]), []);
        assert_eq!(rows_of(judged(Outcome::Pass, vec![]), &[]), []);
        let failing = [finding(Severity::Error).fails_rows([READY])];
        assert_eq!(rows_of(judged(Outcome::Findings, vec![]), &failing), [RowResult::Error]);
        // Checks of objects that manifests hold completely, such as the trust anchors.
        let mut shown = crate::checks::all()
            .map(|check| CheckOutcome { id: check.id, ..judged(Outcome::Pass, vec![]) })
            .filter(is_shown_by_manifests);
        assert!(shown.any(|shown| rows_of(shown, &[]) == [RowResult::Success]));
    }
}
