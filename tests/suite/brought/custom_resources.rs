//! Checks of third-party custom resources: the fields that they read, those that a bundle keeps, and the
//! injection of such objects' pods.

use std::process::Command;

use serde_json::Value;

use super::{card, judged_of, ran};
use crate::binary::ran_to;
use crate::case::base;

/// Objects of a custom kind. Only the fields that the card reads are read and saved in a bundle.
const PUMPS: &str = r#"
apiVersion: v1
kind: List
items:
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: pumps.example.com}
- apiVersion: example.com/v1
  kind: Pump
  metadata: {name: north, namespace: shop}
  spec: {mode: manual, flow: 3, note: a-private-remark}
- apiVersion: example.com/v1
  kind: Pump
  metadata: {name: south, namespace: shop}
  spec: {mode: automatic, flow: 9, note: a-private-remark}
"#;

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";

/// The report of a card on the bundle of an earlier run.
fn judged_again(bundle: &str, checks: &str, exit: i32) -> Value {
    let words = ["check", "--bundle", bundle, "--checks", checks, "--only", "yours", "-o", "json"];
    ran(&words, exit).document()
}

/// The names of the objects that were found.
fn found_objects(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|one| one["subjects"][0]["name"].as_str().unwrap().to_owned()).collect()
}

/// The content of a bundle.
fn unpacked(bundle: &str) -> String {
    ran_to(0, Command::new("tar").args(["-xzOf", bundle])).out
}

#[test]
fn custom_resources_of_others_are_read_as_far_as_the_card_says() {
    let folder = tempfile::tempdir().unwrap();
    let of = "  for: pumps.v1.example.com\n  kind: Pump\n";
    let home = card(
        folder.path(),
        "pump-by-hand",
        &format!("{of}  reads: [spec.mode]\n  rule: \"object.spec.mode != 'manual' || object.spec.flow > 5\""),
    );
    let bundle = folder.path().join("saved.tar.gz").display().to_string();
    let report = judged_of(folder.path(), PUMPS, &home, &["--save", &bundle], 1);
    assert_eq!(found_objects(&report), ["north"], "{report:#}");

    // The bundle of that run gives the same report; without the card, the kind is ignored.
    assert_eq!(found_objects(&judged_again(&bundle, &home, 1)), ["north"]);
    ran(&["check", "--bundle", &bundle, "--only", "annotation-unknown"], 0);
    let kept = unpacked(&bundle);
    assert!(kept.contains("\"manual\"") && !kept.contains("a-private-remark"), "{kept}");

    // A field that the card does not read cannot be compared.
    let home = card(folder.path(), "pump-noted", &format!("{of}  rule: \"object.spec.note != ''\""));
    let report = judged_of(folder.path(), PUMPS, &home, &[], 4);
    assert!(report["checks"].to_string().contains("spec.note is redacted"), "{report:#}");

    // A complete dump without a CRD: the check does not apply.
    let report = judged_of(folder.path(), NAMESPACE, &home, &[], 0);
    assert_eq!(report["checks"][0]["outcome"], "not-applicable", "{report:#}");
    let role = ran(&["rbac", "--checks", &home, "--only", "pump-noted"], 0).out;
    assert!(role.contains("pumps") && role.contains("example.com"), "{role}");
}

/// Injection of a custom resource's pods is derived from its template, whose fields are saved for it. If no
/// card requested it, a bundle lacks the data and the result is unknown.
#[test]
fn the_pods_of_custom_resources_are_injected_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let of = "  for: rollouts.v1alpha1.argoproj.io\n  kind: Rollout\n";
    let asks = card(folder.path(), "unmeshed-rollout", &format!("{of}  rule: injected(object)"));
    let asks_not = card(folder.path(), "idle-rollout", &format!("{of}  rule: object.spec.replicas > 0"));
    let rollout = |name: &str, inject: &str| {
        format!(
            "- apiVersion: argoproj.io/v1alpha1\n  kind: Rollout\n  metadata: {{name: {name}, namespace: shop}}\n  spec:\n    replicas: 1\n    template:\n      metadata: {{annotations: {{linkerd.io/inject: {inject}}}}}\n      spec: {{containers: [{{name: app, image: 'a:1', env: [{{name: X, value: a-private-remark}}]}}]}}\n"
        )
    };
    let healthy = base("healthy").unwrap();
    let list =
        format!("apiVersion: v1\nkind: List\nitems:\n{}{}", rollout("in", "enabled"), rollout("out", "disabled"));
    let dump = format!("{healthy}\n---\n{list}");
    let saved = folder.path().join("asks.tar.gz").display().to_string();
    let report = judged_of(folder.path(), &dump, &asks, &["--save", &saved], 1);
    assert_eq!(found_objects(&report), ["out"], "{report:#}");
    assert_eq!(found_objects(&judged_again(&saved, &asks, 1)), ["out"]);
    assert!(!unpacked(&saved).contains("a-private-remark"));
    let saved = folder.path().join("asks-not.tar.gz").display().to_string();
    judged_of(folder.path(), &dump, &asks_not, &["--save", &saved], 0);
    let report = judged_again(&saved, &asks, 4);
    assert_eq!(found_objects(&report), Vec::<String>::new(), "{report:#}");
    assert!(report.to_string().contains("linkerd-config is unknown"), "{report:#}");
}
