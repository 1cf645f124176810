//! Every printed `linkerd upgrade` passes the verification that the command runs before it prints anything.

use meshdoctor::checks;
use meshdoctor::report::Report;

use crate::case::live;
use crate::stories::judge;

/// The report on a case of `issuer-expired` in which running proxies do not trust the issuer, without the injector's webhook.
fn report() -> Report {
    let check = checks::find("issuer-expired").expect("a check");
    let mut case = check
        .cases()
        .iter()
        .find(|case| case.title == "the issuer is not valid yet")
        .expect("a case")
        .clone();
    let run = case.blocks.iter_mut().find(|block| block.text.starts_with("at:")).expect("a run block");
    run.text.push_str("\ndelete: [MutatingWebhookConfiguration linkerd-proxy-injector-webhook-config]\n");
    judge(&live(check, &case).0)
}

/// The lines of a report's steps that upgrade the control plane.
fn upgrades(report: &Report) -> Vec<String> {
    let steps = report
        .findings
        .iter()
        .flat_map(|finding| finding.remedy.steps.iter().map(move |step| (finding.check, step)));
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
