//! No check passes without its evidence. For every case of every card, one required item is removed in each
//! way in which evidence goes missing. A firing check keeps its findings or is not checked; a quiet one is
//! not checked or does not apply, and never passes. Items that a card does not name have no effect.

use std::collections::BTreeSet;

use meshdoctor::card::CaseKind;
use meshdoctor::checks::{self, Check, CheckResult, Outcome};
use meshdoctor::fetched::Why;
use meshdoctor::finding::{Severity, Subject};
use meshdoctor::item::{Item, Kind, Scope, controller_config};
use meshdoctor::render;

use crate::case;

/// The ways in which an item can be missing, but for [`denied`], over and over.
fn other_ways() -> impl Iterator<Item = Why> {
    let all = [
        Why::NotServed,
        Why::NotCaptured,
        Why::TimedOut { seconds: 30 },
        Why::Malformed { message: "line 1: expected value".to_owned() },
        Why::Failed { message: "connection reset".to_owned() },
    ];
    all.into_iter().cycle()
}

fn denied() -> Why {
    Why::Denied { message: String::new() }
}

/// Whether a result without one item is correct: the check is not checked, has the same subjects as before,
/// has other subjects and a gap, or does not apply, as before.
fn honest(whole: &CheckResult, less: &CheckResult) -> bool {
    match (&whole.outcome, &less.outcome) {
        (_, Outcome::Unknown) => true,
        (_, Outcome::Findings) => !less.gaps.is_empty() || subjects(whole) == subjects(less),
        // The remaining evidence shows this.
        (Outcome::NotApplicable(_), Outcome::NotApplicable(_)) => true,
        (_, Outcome::Pass | Outcome::NotApplicable(_) | Outcome::Crashed(_)) => false,
    }
}

/// Whether the absence of objects of a kind is known without a list: no CustomResourceDefinition defines it.
fn is_undefined(live: &case::Live, item: &Item) -> bool {
    let Item::List(kind) = item else { return false };
    let groups = [
        "linkerd.io",
        "gateway.networking.k8s.io",
        "cilium.io",
        "projectcalico.org",
        "smi-spec.io",
        "policy.networking.k8s.io",
        "toolkit.fluxcd.io",
        "argoproj.io",
        "cert-manager.io",
        "traefik.io",
    ];
    let custom = groups.iter().any(|group| kind.info().group.ends_with(group));
    custom && !live.defines(*kind)
}

/// The subjects of all findings.
fn subjects(result: &CheckResult) -> BTreeSet<String> {
    result.findings.iter().flat_map(|finding| &finding.subjects).map(Subject::to_string).collect()
}

/// Both results next to each other, for a failure message.
fn beside(whole: &CheckResult, less: &CheckResult) -> String {
    let say = |result: &CheckResult| format!("{:?} {:?} {:?}", result.outcome, subjects(result), result.gaps);
    format!("\n    whole   {}\n    without {}", say(whole), say(less))
}

#[test]
fn a_check_never_passes_without_what_it_needs() {
    let mut wrong = Vec::new();
    for check in checks::all() {
        let mut others = other_ways();
        for case in check.cases() {
            let live = case::live(check, case);
            let whole = live.judge(check);
            for item in check.card().front.needs.iter().filter(|item| !is_undefined(&live, item)) {
                // The reason for missing evidence rarely matters to rules: each item is denied and missing in
                // one more way for each case, so that a check meets all of them over its cases.
                let ways: Vec<Why> = std::iter::once(denied()).chain(others.next()).collect();
                for (why, result) in ways.iter().zip(live.judge_without(check, item, &ways)) {
                    if !honest(&whole, &result) {
                        let (id, title, way) = (check.id, &case.title, why.keyword());
                        let both = beside(&whole, &result);
                        wrong.push(format!("{id} / {title} without {item} ({way}):{both}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_list_that_may_hold_more_is_never_a_pass() {
    let mut wrong = Vec::new();
    for check in checks::all() {
        for case in check.cases().iter().filter(|case| case.kind == CaseKind::Quiet) {
            let live = case::live(check, case);
            if matches!(live.judge(check).outcome, Outcome::NotApplicable(_)) {
                continue;
            }
            let lists = check.card().front.needs.iter().filter(|item| matches!(item, Item::List(_)));
            for item in lists.filter(|item| !is_undefined(&live, item)) {
                let result = live.without(item, Why::PerhapsMore).judge(check);
                if !matches!(result.outcome, Outcome::Unknown) {
                    let outcome = &result.outcome;
                    wrong
                        .push(format!("{} / {}: {item} cut off, but the outcome is {outcome:?}", check.id, case.title));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn where_the_files_of_no_node_are_left_nothing_passes_on_them() {
    let mut wrong = Vec::new();
    let needing = |check: &&'static checks::Check| check.card().front.needs.contains(&Item::NodeFiles);
    for check in checks::all().filter(needing) {
        for case in check.cases() {
            let live = case::live(check, case);
            let mut collected = live.collect(&[check]);
            collected.cluster.nodes = Ok(Vec::new());
            if matches!(live.judge_on(&collected, check).outcome, Outcome::Pass) {
                wrong.push(format!("{} / {}", check.id, case.title));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_card_does_not_name_changes_nothing() {
    for check in checks::all() {
        let front = &check.card().front;
        for case in check.cases() {
            let live = case::live(check, case);
            let mut bare = live.clone();
            let others = Kind::ALL.iter().map(|kind| Item::List(*kind)).chain([
                Item::ServerVersion,
                Item::CliVersion,
                Item::NodeFiles,
                Item::Logs,
                Item::Diagnostics,
            ]);
            for item in others.filter(|item| !front.needs.contains(item) && !front.uses.contains(item)) {
                // The control-plane namespace is found from these two, independently of the card.
                if !matches!(item, Item::List(Kind::Deployment | Kind::DaemonSet)) {
                    bare.0.memory.trouble.insert(item, denied());
                }
            }
            let (a, b) = (live.judge(check), bare.judge(check));
            let text = |r| render::table::result(r, 100);
            assert_eq!(text(&a), text(&b), "{} / {}", check.id, case.title);
        }
    }
}

/// The severity of the worst finding.
fn worst(result: &CheckResult) -> Option<Severity> {
    result.findings.iter().map(|finding| finding.severity).max()
}

/// Whether a result without an optional item is correct: the gap is named, the check is not checked, or no
/// finding is new, worse or less severe.
fn honest_without_hint(check: &Check, item: &Item, whole: &CheckResult, less: &CheckResult) -> bool {
    match (&whole.outcome, &less.outcome) {
        // An unknown version of the API server is what this check reports.
        _ if check.id == "api-server-unreadable" && *item == Item::ServerVersion => true,
        // The presence of linkerd-cni may stay unknown: findings on nodes are valid anyway.
        (Outcome::NotApplicable(_), Outcome::Findings) if asks_for_linkerd_cni(check) => true,
        (_, Outcome::Findings) => !less.gaps.is_empty() || worst(whole) == worst(less),
        (_, Outcome::Crashed(_)) => false,
        (_, Outcome::Pass | Outcome::NotApplicable(_) | Outcome::Unknown) => true,
    }
}

/// Whether a gap is about an item of a card. ConfigMaps of ingress controllers are named by their own namespace.
fn is_of(item: &Item, gap: &Item) -> bool {
    let is_config = matches!(gap, Item::Named { kind: Kind::ConfigMap, scope: Scope::Fixed(_), .. });
    gap == item || (*item == controller_config() && is_config)
}

fn asks_for_linkerd_cni(check: &Check) -> bool {
    use meshdoctor::card::Requirement::{LinkerdCni, LinkerdCniDaemonset, LinkerdCniInUse, LinkerdCniReliedOn};
    let open = [LinkerdCni, LinkerdCniDaemonset, LinkerdCniInUse, LinkerdCniReliedOn];
    check.card().front.requires.iter().any(|requirement| open.contains(requirement))
}

#[test]
fn no_verdict_turns_for_want_of_what_only_sharpens_unless_that_is_named() {
    let mut wrong = Vec::new();
    for check in checks::all() {
        for case in check.cases() {
            let live = case::live(check, case);
            let whole = live.judge(check);
            for item in &check.card().front.uses {
                let ways = [denied(), Why::NotCaptured];
                for (why, result) in ways.iter().zip(live.judge_without(check, item, &ways)) {
                    let turned =
                        case.kind == CaseKind::Fires && !matches!(result.outcome, Outcome::Findings | Outcome::Unknown);
                    // Refused evidence is named; for a dump, the required evidence suffices.
                    let silent = case.kind == CaseKind::Fires
                        && *why == denied()
                        && matches!(result.outcome, Outcome::Unknown)
                        && !result.gaps.iter().any(|gap| is_of(item, &gap.request.item));
                    if turned || silent || !honest_without_hint(check, item, &whole, &result) {
                        let (id, title, way) = (check.id, &case.title, why.keyword());
                        let both = beside(&whole, &result);
                        wrong.push(format!("{id} / {title} without {item} ({way}):{both}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
