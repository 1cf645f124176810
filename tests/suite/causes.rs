//! Symptoms that are explained by a finding of another check.

use meshdoctor::checks;

use crate::case::live;
use crate::stories::judge;

#[test]
fn pods_without_policy_are_explained_by_the_control_plane() {
    let check = checks::find("pod-started-without-policy").expect("a check");
    let case = check
        .cases()
        .iter()
        .find(|case| case.title.starts_with("a selected pod started while the controller is down"))
        .expect("a case");
    let report = judge(&live(check, case).0);
    let found = |id: &str| report.findings.iter().find(|finding| finding.check == id);
    let (symptom, cause) =
        (found(check.id).expect("a finding"), found("control-plane-not-ready").expect("a finding"));
    assert!(symptom.caused_by.contains(&cause.fingerprint()), "{:?}", symptom.caused_by);
}

/// The report of the first case of a check whose title begins so.
fn case_of(id: &str, title: &str) -> meshdoctor::report::Report {
    let check = checks::find(id).expect("a check");
    let case = check.cases().iter().find(|case| case.title.starts_with(title)).expect("a case");
    judge(&live(check, case).0)
}

#[test]
fn image_that_is_not_pulled_explains_a_stuck_rollout() {
    let report = case_of("rollout-stuck", "the image of the new pod");
    let found = |id: &str| report.findings.iter().find(|finding| finding.check == id).expect("a finding");
    let cause = found("linkerd-image-not-pulled").fingerprint();
    assert!(found("rollout-stuck").caused_by.contains(&cause), "{:?}", found("rollout-stuck").caused_by);
}

#[test]
fn expired_anchor_explains_the_issuer_that_expired_with_it() {
    let Some(recordings) = crate::recordings::folder() else { return };
    let dump = recordings.join("healthy-2.18").join("cluster.json");
    let path = dump.to_str().expect("a path");
    let at = ["--at", "2027-12-25T00:00:00Z", "--no-config", "-o", "json"];
    let command = [&["check", "--bundle", path, "--complete", "all"][..], &at].concat();
    let report = crate::binary::ran(crate::binary::meshdoctor(&command)).document();
    let findings = report["findings"].as_array().expect("findings");
    let found =
        |id: &str| findings.iter().find(|one| one["check"] == id).unwrap_or_else(|| panic!("no {id}"));
    let cause = &found("trust-anchor-expired")["fingerprint"];
    assert!(found("issuer-expired")["causedBy"].as_array().is_some_and(|by| by.contains(cause)), "{report}");
}
