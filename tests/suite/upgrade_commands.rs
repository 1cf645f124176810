//! Every printed `linkerd upgrade` passes the verification that the command runs before it prints anything.

use meshdoctor::card::CaseKind;
use meshdoctor::checks;
use meshdoctor::report::Report;

use crate::case::live;
use crate::stories::judge;

/// The report on a case of `issuer-expired` in which running proxies do not trust the issuer, without the injector's webhook.
fn report() -> Report {
    let check = checks::find("issuer-expired").expect("a check");
    let mut case =
        check.cases().iter().find(|case| case.title == "the issuer is not valid yet").expect("a case").clone();
    let run = case.blocks.iter_mut().find(|block| block.text.starts_with("at:")).expect("a run block");
    run.text.push_str("\ndelete: [MutatingWebhookConfiguration linkerd-proxy-injector-webhook-config]\n");
    judge(&live(check, &case).0)
}

/// The lines of a report's steps that upgrade the control plane.
fn upgrades(report: &Report) -> Vec<String> {
    let steps =
        report.findings.iter().flat_map(|finding| finding.remedy.steps.iter().map(move |step| (finding.check, step)));
    let commands = steps.filter_map(|(check, step)| Some(format!("{check}: {}", step.command.as_ref()?)));
    commands.filter(|line| line.contains("linkerd upgrade") && !line.contains("--crds")).collect()
}

#[test]
fn every_upgrade_is_forced_if_proxies_do_not_trust_the_issuer() {
    let upgrades = upgrades(&report());
    assert!(upgrades.iter().any(|line| line.starts_with("injector-webhook-missing: ")), "{upgrades:#?}");
    assert!(
        upgrades.iter().all(|line| line.contains("linkerd upgrade") && line.contains("--force |")),
        "{upgrades:#?}"
    );
}

/// Whether a line runs `helm upgrade` without a test of the chart that the release holds.
pub fn is_unguarded(line: &str) -> bool {
    let line = line.trim_start();
    let is_own = line.contains("${MESH_CHART:?}");
    line.starts_with("helm") && line.contains(" upgrade ") && !line.contains("grep -E") && !is_own
}

#[test]
fn helm_upgrades_only_a_release_with_that_chart() {
    let cases = checks::all().flat_map(|check| check.cases().iter().map(move |case| (check.id, case)));
    let lines = cases.flat_map(|(id, case)| {
        case.blocks.iter().flat_map(move |block| block.text.lines().map(move |line| (id, line)))
    });
    let unguarded: Vec<_> = lines.filter(|(_, line)| is_unguarded(line)).collect();
    assert!(unguarded.is_empty(), "{unguarded:#?}");
}

/// The files that a line deletes.
fn deleted(line: &str) -> Vec<&str> {
    let words = line.split_once("rm -f ").map(|(_, files)| files.split([';', ' ', '&']));
    words.into_iter().flatten().take_while(|word| !word.is_empty()).collect()
}

/// The lines of the own findings of each firing case of the certificates' checks, with a name.
fn certificate_remedies() -> impl Iterator<Item = (String, Vec<String>)> {
    let own = checks::all().filter(|check| check.card().front.category == "certificates");
    let cases = own.flat_map(|check| check.cases().iter().map(move |case| (check, case)));
    let firing = cases.filter(|(_, case)| case.kind == CaseKind::Fires);
    firing.flat_map(|(check, case)| {
        let findings = judge(&live(check, case).0).findings.into_iter();
        findings.filter(|finding| finding.check == check.id).map(move |finding| {
            let commands = finding.remedy.steps.iter().filter_map(|step| step.command.as_ref());
            let lines = commands.flat_map(|command| command.rendered()).collect();
            (format!("{}, case {:?}", check.id, case.title), lines)
        })
    })
}

#[test]
fn no_step_deletes_a_file_that_a_later_step_needs() {
    let mut count = 0;
    for (name, lines) in certificate_remedies() {
        let deletions = lines.iter().enumerate();
        for (at, file) in deletions.flat_map(|(at, line)| deleted(line).into_iter().map(move |file| (at, file))) {
            let names = |line: &&String| line.split([' ', '=', ',', ';']).any(|word| word == file);
            let changes = |line: &String| line.contains(" apply ") || line.contains("helm upgrade");
            // A command that succeeds may be followed by the deletion.
            let own = lines[at].split_once(" && rm -f ").map(|(given, _)| given.to_owned());
            let is_given = lines[..at].iter().chain(&own).any(|line| names(&line) && changes(line));
            assert!(is_given, "given to nothing before: {name}: {file}\n{lines:#?}");
            let mut later = lines[at + 1..].iter().filter(names);
            assert_eq!(later.next(), None, "needed later: {name}: {file}\n{lines:#?}");
            count += 1;
        }
    }
    assert!(count > 20, "{count} files are deleted");
}
