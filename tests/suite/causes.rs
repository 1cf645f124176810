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
