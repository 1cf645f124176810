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
    let (symptom, cause) = (found(check.id).expect("a finding"), found("control-plane-not-ready").expect("a finding"));
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

/// Asserts that in a case the finding of a check explains that of another.
fn assert_explained((id, title): (&str, &str), cause: &str, symptom: &str) {
    let report = case_of(id, title);
    let found = |id: &str| {
        report.findings.iter().find(|finding| finding.check == id).unwrap_or_else(|| panic!("no {id} in {title}"))
    };
    let (cause, symptom) = (found(cause).fingerprint(), found(symptom));
    assert!(symptom.caused_by.contains(&cause), "{title}: {:?}", symptom.caused_by);
}

#[test]
fn issuer_that_is_not_loaded_explains_logged_rejections() {
    let case = ("issuer-not-reloaded", "only its log shows that");
    assert_explained(case, "issuer-not-reloaded", "control-plane-reports-errors");
}

#[test]
fn expired_issuer_explains_a_hook_that_waits() {
    let case = ("cert-manager-meshed", "the issuer has expired");
    assert_explained(case, "issuer-expired", "await-hook-failing");
    assert_explained(case, "cert-manager-meshed", "await-hook-failing");
    assert_explained(case, "cert-manager-meshed", "issuer-renewal-unusable");
}

#[test]
fn ineffective_entry_explains_repeated_rollouts() {
    let case = ("gitops-ignore-ineffective", "each sync restarts destination");
    assert_explained(case, "gitops-ignore-ineffective", "control-plane-churning");
}

#[test]
fn unknown_argument_explains_a_component_without_ready_pods() {
    let case = ("control-plane-reports-errors", "the status of a container shows an argument");
    assert_explained(case, "control-plane-reports-errors", "control-plane-not-ready");
    let case = ("control-plane-reports-errors", "the policy controller lacks the root certificate");
    assert_explained(case, "control-plane-reports-errors", "control-plane-not-ready");
}

#[test]
fn pod_security_explains_a_node_without_installer() {
    let case = ("cni-pod-security", "a node has no pod");
    assert_explained(case, "cni-pod-security", "cni-ds-coverage");
}

#[test]
fn invalid_annotation_explains_rejected_pods() {
    let case = ("pods-refused", "an annotation makes the injected container");
    assert_explained(case, "annotation-value-invalid", "pods-refused");
}

#[test]
fn unreadable_values_explain_pods_that_the_injector_rejects() {
    let case = ("linkerd-config-unreadable", "the injector rejects pods");
    assert_explained(case, "linkerd-config-unreadable", "pods-refused");
}

#[test]
fn untrusted_webhook_certificate_explains_the_injectors_log() {
    let case = ("injector-ca-mismatch", "its log shows the rejections");
    assert_explained(case, "injector-ca-mismatch", "control-plane-reports-errors");
}

#[test]
fn broken_policy_of_a_route_explains_the_closed_server() {
    for (id, title) in [
        ("authentication-missing", "the policy authorizes clients of a route"),
        ("policy-target-missing", "a misspelled Server"),
    ] {
        let report = case_of(id, title);
        let found = |id: &str| report.findings.iter().find(|finding| finding.check == id).expect("a finding");
        let cause = found(id).fingerprint();
        let symptom = found("server-without-authorization");
        assert!(symptom.caused_by.contains(&cause), "{id}: {:?}", symptom.caused_by);
    }
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
    let found = |id: &str| findings.iter().find(|one| one["check"] == id).unwrap_or_else(|| panic!("no {id}"));
    let cause = &found("trust-anchor-expired")["fingerprint"];
    assert!(found("issuer-expired")["causedBy"].as_array().is_some_and(|by| by.contains(cause)), "{report}");
}

#[test]
fn rows_of_links_list_their_clusters() {
    let scene = crate::executed::follow::based_on("healthy,multicluster");
    let report = judge(&scene);
    let document: serde_json::Value =
        serde_json::from_str(&meshdoctor::render::linkerd::report(&report)).expect("JSON");
    let categories = document["categories"].as_array().expect("categories");
    let rows = categories.iter().flat_map(|category| category["checks"].as_array().expect("rows"));
    let descriptions: Vec<&str> = rows.filter_map(|row| row["description"].as_str()).collect();
    assert!(descriptions.contains(&"Link resources are valid\n\t* east"), "{descriptions:?}");
}

#[test]
fn gateway_mirror_without_endpoints_is_an_error_row() {
    let mut scene = crate::executed::follow::based_on("healthy,multicluster");
    let of_gateway = |json: &[u8]| {
        let object: serde_json::Value = serde_json::from_slice(json).expect("JSON");
        object["metadata"]["labels"]["kubernetes.io/service-name"] == "probe-gateway-east"
    };
    let slices = scene.memory.objects.get_mut(&meshdoctor::item::Kind::EndpointSlice).expect("slices");
    slices.retain(|held| !of_gateway(&held.json));
    let report = judge(&scene);
    let rows = report.rows.iter().flat_map(|category| &category.rows);
    let row = rows
        .into_iter()
        .find(|row| row.description == "probe services able to communicate with all gateway mirrors")
        .expect("a row");
    assert_eq!(row.result, meshdoctor::rows::RowResult::Error, "{row:?}");
}
