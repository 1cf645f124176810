//! Findings that do not fail the run: waivers, baselines, inferred findings. The real binary; the exit status
//! is the verdict.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::binary::{Ran, meshdoctor, ran};

const TODAY: &str = "2026-11-20T12:00:00Z";

fn deployment(name: &str, annotation: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}, "annotations": {annotation: "enabled"}},
            "spec": {"containers": [{"name": "app", "image": "nginx"}]}}}})
}

fn write(folder: &Path, objects: &[Value]) {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    fs::write(folder.join("k8s.json"), list.to_string()).unwrap();
}

fn check(folder: &Path, more: &[&str]) -> Ran {
    let base = ["check", "--manifests", "k8s.json", "--linkerd-version", "edge-26.5.5", "--at", TODAY];
    let args = [&base[..], &["--only", "annotations", "--fail-on", "warning"], more].concat();
    ran(meshdoctor(&args).current_dir(folder))
}

fn report(folder: &Path, more: &[&str]) -> (i32, Value) {
    let ran = check(folder, &[more, &["-o", "json"]].concat());
    (ran.status, ran.document())
}

fn waiver(what: &str, scope: &str, expires: &str) -> String {
    format!(
        "  - {what}\n    scope: {scope}\n    reason: until the move\n    owner: team-shop\n    expires: {expires}\n"
    )
}

fn waivers(folder: &Path, all: &[String]) {
    fs::write(folder.join("w.yaml"), format!("waivers:\n{}", all.concat())).unwrap();
}

fn found(report: &Value) -> BTreeSet<String> {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["check"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_an_object_says_of_itself_is_accepted_until_its_day() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let says = |mut object: Value, text: &str| {
        object["metadata"]["annotations"] = json!({"meshdoctor.io/ignore": text});
        object
    };
    let web = || deployment("web", "linkerd.io/injekt");
    let entry = "- check: annotation-unknown\n  reason: until the move\n  owner: team-shop\n  expires: 2026-11-20\n";
    write(dir, &[says(web(), entry)]);
    let (status, document) = report(dir, &[]);
    assert_eq!(status, 0, "{document:#}");
    assert_eq!(document["findings"][0]["waived"], true);
    assert_eq!(
        document["waivers"][0]["by"][0]["file"],
        "Deployment shop/web metadata.annotations[meshdoctor.io/ignore]"
    );
    let table = check(dir, &["-o", "short"]).out;
    assert!(
        table.contains("until the move (Deployment shop/web metadata.annotations[meshdoctor.io/ignore])"),
        "{table}"
    );
    // It applies to the object that has the annotation; on a Namespace, to everything in it.
    write(dir, &[says(web(), entry), deployment("api", "linkerd.io/injekt")]);
    assert_eq!(check(dir, &[]).status, 1);
    let shop = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    write(dir, &[says(shop, entry), web(), deployment("api", "linkerd.io/injekt")]);
    assert_eq!(check(dir, &[]).status, 0);
    // An entry that is expired, incomplete, unreadable or has a scope accepts nothing, and is reported.
    for (text, problem) in [
        (entry.replace("2026-11-20", "2026-11-19"), "waiver-expired"),
        (entry.replace("  owner: team-shop\n", ""), "waiver-unreadable"),
        (format!("{entry}  scope: {{namespace: '*'}}\n"), "waiver-unreadable"),
        ("all of it".to_owned(), "waiver-unreadable"),
        (entry.replace("annotation-unknown", "annotation-unknwon"), "waiver-unknown-check"),
    ] {
        write(dir, &[says(web(), &text)]);
        let (status, document) = report(dir, &[]);
        assert_eq!(status, 1, "{text}: {document:#}");
        assert!(found(&document).contains(problem), "{text}: {:?}", found(&document));
        let meant = document.to_string().contains("did you mean annotation-unknown?");
        assert_eq!(meant, problem == "waiver-unknown-check", "{text}: the nearest id is named");
    }
}

#[test]
fn a_waived_finding_stays_is_marked_and_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    write(dir, &[deployment("web", "linkerd.io/injekt")]);
    assert_eq!(check(dir, &[]).status, 1);
    waivers(dir, &[waiver("check: annotation-unknown", "{namespace: sh*, object: web*}", "2026-11-20")]);
    let (status, document) = report(dir, &["--waivers", "w.yaml"]);
    assert_eq!(status, 0, "{document:#}");
    assert_eq!(found(&document), BTreeSet::from(["annotation-unknown".to_owned()]));
    assert_eq!(document["findings"][0]["waived"], true);
    assert_eq!(document["waivers"][0]["by"][0]["owner"], "team-shop");
    assert_eq!(document["waivers"][0]["by"][0]["line"], 2);
    assert_eq!(document["verdict"]["waived"], document["findings"].as_array().unwrap().len());
    assert_eq!(document["verdict"]["findings"]["warning"], 0);
    for (form, marked) in [
        ("table", "waived"),
        ("short", "[waived until 2026-11-20 by team-shop: until the move (w.yaml:2)]"),
        ("sarif", "\"suppressions\""),
        ("junit", "failures=\"0\" errors=\"0\""),
        ("github", "::notice file=k8s.json"),
        ("gitlab", "\"severity\": \"info\""),
        ("markdown", "(waived until 2026-11-20"),
        ("prometheus", "standing=\"waived\""),
        ("html", "<dt>Waived</dt><dd>until 2026-11-20 by team-shop: until the move (w.yaml:2)</dd>"),
        ("ndjson", "\"waived\":true"),
    ] {
        let Ran { status, out, .. } = check(dir, &["--waivers", "w.yaml", "-o", form]);
        assert_eq!(status, 0, "{form}");
        assert!(out.contains(marked) && !out.contains("HEALTHY"), "{form}: {out}");
    }
}

#[test]
fn a_waiver_accepts_no_more_than_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    write(dir, &[deployment("web", "linkerd.io/injekt"), deployment("api", "linkerd.io/injekt")]);
    let waive = |all: &[String]| {
        waivers(dir, all);
        report(dir, &["--waivers", "w.yaml"])
    };
    let of = |scope: &str| waiver("check: annotation-unknown", scope, "2027-01-01");
    // One of two, whether they are one finding or two.
    assert_eq!(waive(&[of("{object: web*}")]).0, 1);
    assert_eq!(waive(&[of("{namespace: other}")]).0, 1);
    assert_eq!(waive(&[of("{node: web}")]).0, 1);
    assert_eq!(waive(&[of("{object: web*}"), of("{object: '* shop/a*'}")]).0, 0);
    let document = report(dir, &[]).1;
    let print = document["findings"][0]["fingerprint"].as_str().unwrap();
    let all = document["findings"].as_array().unwrap().len();
    let by_print = waiver(&format!("fingerprint: {print}"), "{namespace: shop}", "2027-01-01");
    assert_eq!(waive(&[by_print]).0, i32::from(all > 1));
}

#[test]
fn waivers_that_rot_are_findings_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    write(dir, &[deployment("web", "linkerd.io/injekt")]);
    for (one, problem, counts) in [
        (waiver("check: annotation-unknown", "{namespace: shop}", "2026-11-19"), "waiver-expired", 1),
        (waiver("check: annotation-unknown", "{namespace: '*'}", "2027-01-01"), "waiver-too-broad", 1),
        (waiver("check: annotation-unknown", "{}", "2027-01-01"), "waiver-too-broad", 1),
        (waiver("check: annotation-unknown", "{object: '* */*'}", "2027-01-01"), "waiver-too-broad", 1),
        (waiver("check: annotation-unknown", "{object: '*e*'}", "2027-01-01"), "waiver-too-broad", 1),
        (waiver("check: annotation-unknwon", "{namespace: shop}", "2027-01-01"), "waiver-unknown-check", 1),
        (waiver("check: annotation-value-invalid", "{namespace: shop}", "2027-01-01"), "waiver-unused", 1),
    ] {
        waivers(dir, &[one]);
        let (status, document) = report(dir, &["--waivers", "w.yaml"]);
        assert_eq!(status, counts, "{problem}");
        assert!(found(&document).contains("annotation-unknown") && found(&document).contains(problem));
        let findings = document["findings"].as_array().unwrap();
        let rotten = findings.iter().find(|finding| finding["check"] == problem).unwrap();
        assert_eq!(rotten["written"][0]["file"], "w.yaml", "{problem}");
        assert_eq!(rotten["written"][0]["line"], 2, "{problem}");
        assert_eq!(document["verdict"].get("waived"), None, "{problem}");
    }
    for (text, said) in [
        (
            "waivers:\n  - check: a\n    scope: {node: b}\n    owner: c\n    expires: 2027-01-01\n",
            "w.yaml:2: the waiver has no reason",
        ),
        ("waivers: 3\n", "w.yaml:1"),
        ("waivers:\n  - chekc: a\n", "w.yaml:2"),
    ] {
        fs::write(dir.join("w.yaml"), text).unwrap();
        let Ran { status, err, .. } = check(dir, &["--waivers", "w.yaml"]);
        assert!(status == 2 && err.contains(said), "{err}");
    }
}

#[test]
fn a_baseline_leaves_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    write(dir, &[deployment("web", "linkerd.io/injekt")]);
    assert_eq!(check(dir, &["-o", "json=base.json"]).status, 1);
    let (status, document) = report(dir, &["--baseline", "base.json"]);
    assert_eq!(status, 0);
    assert_eq!(document["findings"][0]["inBaseline"], true);
    assert_eq!(document["verdict"]["inBaseline"], document["findings"].as_array().unwrap().len());
    // Findings below the gate are marked like those above it.
    let base = ["check", "--manifests", "k8s.json", "--linkerd-version", "edge-26.5.5", "--at", TODAY];
    let more = ["--only", "annotations", "--fail-on", "never", "--baseline", "base.json", "-o", "json"];
    let words = [&base[..], &more].concat();
    let document = ran(meshdoctor(&words).current_dir(dir)).document();
    let findings = document["findings"].as_array().unwrap();
    assert!(!findings.is_empty() && findings.iter().all(|f| f["inBaseline"] == true), "{document:#}");
    write(dir, &[deployment("web", "linkerd.io/injekt"), deployment("api", "linkerd.io/injekt")]);
    let (status, _) = report(dir, &["--baseline", "base.json"]);
    assert_eq!(status, 1, "another subject is new");
    // Waived findings are not in the baseline: an expiring waiver is noticed.
    write(dir, &[deployment("web", "linkerd.io/injekt")]);
    waivers(dir, &[waiver("check: annotation-unknown", "{namespace: shop}", "2027-01-01")]);
    assert_eq!(check(dir, &["--waivers", "w.yaml", "-o", "json=base2.json"]).status, 0);
    assert_eq!(check(dir, &["--baseline", "base2.json"]).status, 1);
    // The same for a finding that is waived in part: its other subject must be known or waived too.
    write(dir, &[deployment("web", "linkerd.io/injekt"), deployment("api", "linkerd.io/injekt")]);
    waivers(dir, &[waiver("check: annotation-unknown", "{object: web}", "2027-01-01")]);
    assert_eq!(check(dir, &["--waivers", "w.yaml", "-o", "json=base3.json"]).status, 1);
    assert_eq!(check(dir, &["--waivers", "w.yaml", "--baseline", "base3.json"]).status, 0);
    assert_eq!(check(dir, &["--baseline", "base3.json"]).status, 1);
    write(dir, &[deployment("web", "linkerd.io/injekt")]);
    let err = check(dir, &["--baseline", "gone.json"]).err;
    assert!(err.contains("create the first baseline: meshdoctor check without it"), "{err}");
    // No report, and one that would be written over.
    assert_eq!(check(dir, &["--baseline", "k8s.json"]).status, 2);
    let before = fs::read(dir.join("base.json")).unwrap();
    assert_eq!(check(dir, &["--baseline", "base.json", "-o", "json=base.json"]).status, 2);
    assert_eq!(fs::read(dir.join("base.json")).unwrap(), before);
}

/// A waiver for one of two subjects of a finding: it still fails for the other, and every human-readable form
/// names the accepted one.
#[test]
fn a_finding_that_is_waived_in_part_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    write(dir, &[deployment("web", "linkerd.io/injekt"), deployment("api", "linkerd.io/injekt")]);
    let (_, whole) = report(dir, &[]);
    assert_eq!(whole["findings"][0]["subjects"].as_array().unwrap().len(), 2, "one finding of two");
    assert_eq!(whole["verdict"].get("waivedInPart"), None);
    waivers(dir, &[waiver("check: annotation-unknown", "{object: web}", "2027-01-01")]);
    let (status, document) = report(dir, &["--waivers", "w.yaml"]);
    assert_eq!(status, 1, "{document:#}");
    assert_eq!(document["verdict"]["waivedInPart"], 1);
    assert_eq!(document["verdict"].get("waived"), None);
    assert_eq!(document["verdict"]["findings"], whole["verdict"]["findings"]);
    assert_eq!(document["waivers"][0]["subjects"], json!(["Deployment shop/web"]));
    assert_eq!(document["waivers"][0]["by"][0]["line"], 2);
    assert_eq!(document["findings"][0].get("waived"), None);
    let schema = std::fs::read_to_string("docs/schema/report.v1.json").unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert!(jsonschema::is_valid(&schema, &document), "{document:#}");
    // In formats with one entry per subject, only the other subject counts.
    let gitlab = check(dir, &["--waivers", "w.yaml", "-o", "gitlab"]).out;
    let issues: Vec<Value> = serde_json::from_str(&gitlab).unwrap();
    let severity = |name: &str| {
        let of = |issue: &&Value| issue["description"].as_str().unwrap().starts_with(name);
        issues.iter().find(of).unwrap()["severity"].clone()
    };
    assert_eq!(severity("Deployment shop/web:"), "info", "{gitlab}");
    assert_eq!(severity("Deployment shop/api:"), "minor", "{gitlab}");
    let sarif = check(dir, &["--waivers", "w.yaml", "-o", "sarif"]).out;
    assert_eq!(sarif.matches("\"suppressions\"").count(), 1, "{sarif}");
    let github = check(dir, &["--waivers", "w.yaml", "-o", "github"]).out;
    assert_eq!(github.matches("::warning ").count(), 1, "{github}");
    for (form, said) in [
        ("table", "Deployment shop/web alone, until 2027-01-01 by team-shop: until the move (w.yaml:2)"),
        ("table", ", 1 waived in part;"),
        ("short", "waived for Deployment shop/web alone, until 2027-01-01"),
        ("markdown", "(waived for Deployment shop/web alone, until 2027-01-01"),
        ("html", "<dt>Waived</dt><dd>Deployment shop/web alone</dd>"),
    ] {
        let out = check(dir, &["--waivers", "w.yaml", "-o", form]).out;
        assert!(out.contains(said), "{form}: {out}");
    }
}

/// Suggestions for a scope that matches no finding.
#[test]
fn a_waiver_that_is_unused_names_what_is_spelled_alike() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    write(dir, &[deployment("storefront", "linkerd.io/injekt")]);
    for (scope, said) in [
        ("{object: storefrnt}", Some("did you mean the object storefront, which has such a finding?")),
        ("{object: Deployment shop/storefont}", Some("did you mean the object Deployment shop/storefront")),
        ("{namespace: shopp}", Some("did you mean the namespace shop, which has such a finding?")),
        ("{object: elsewhere}", None),
    ] {
        waivers(dir, &[waiver("check: annotation-unknown", scope, "2027-01-01")]);
        let (_, document) = report(dir, &["--waivers", "w.yaml"]);
        let unused = document["findings"].as_array().unwrap().iter().find(|f| f["check"] == "waiver-unused");
        let unused = unused.unwrap_or_else(|| panic!("{scope}: {document:#}")).to_string();
        match said {
            Some(said) => assert!(unused.contains(said), "{scope}: {unused}"),
            None => assert!(!unused.contains("did you mean"), "{scope}: {unused}"),
        }
    }
}

/// An annotation on a pod of a Deployment is lost with the next rollout: it accepts nothing, and is reported
/// once, for the Deployment.
#[test]
fn a_waiver_on_a_pod_that_something_made_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut dump = cluster("5d9f7c6b8", "x0kq2", 0);
    let text = "- check: pod-missing-proxy\n  reason: r\n  owner: o\n  expires: 2027-01-01\n";
    let items = dump["items"].as_array_mut().unwrap();
    let pod = items.iter_mut().find(|object| object["kind"] == "Pod").unwrap();
    pod["metadata"]["annotations"] = json!({"meshdoctor.io/ignore": text});
    let mut second = pod.clone();
    second["metadata"]["name"] = "web-5d9f7c6b8-other".into();
    let mut bare = pod.clone();
    bare["metadata"]["name"] = "alone".into();
    bare["metadata"]["labels"] = json!({});
    bare["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    items.extend([second, bare]);
    fs::write(folder.path().join("dump.json"), dump.to_string()).unwrap();
    let base = ["check", "--bundle", "dump.json", "--complete", "all", "--at", TODAY, "-o", "json"];
    let words = [&base[..], &["--only", "pod-missing-proxy"]].concat();
    let document = ran(meshdoctor(&words).current_dir(folder.path())).document();
    let findings = document["findings"].as_array().unwrap();
    let misplaced: Vec<&Value> = findings.iter().filter(|f| f["check"] == "waiver-misplaced").collect();
    assert_eq!(misplaced.len(), 1, "{document:#}");
    assert!(misplaced[0].to_string().contains("Deployment shop/web created"), "{document:#}");
    let accepted = document["waivers"].to_string();
    assert!(accepted.contains("Pod shop/alone metadata.annotations"), "{document:#}");
    assert!(!accepted.contains("Pod shop/web-"), "{document:#}");
}

/// A cluster in which a pod of an injected namespace has no proxy, under any names that a rollout may give.
fn cluster(hash: &str, pod: &str, restarts: u32) -> Value {
    let owner = |kind: &str, name: &str| json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": true}]);
    let labels = json!({"app": "web", "pod-template-hash": hash});
    let spec = json!({"containers": [{"name": "app", "image": "nginx"}], "nodeName": "n1"});
    let set = format!("web-{hash}");
    json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "annotations": {"linkerd.io/inject": "enabled"}}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "linkerd", "labels": {"linkerd.io/is-control-plane": "true"}}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec}}},
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": set, "namespace": "shop", "labels": labels,
            "uid": set, "ownerReferences": owner("Deployment", "web")},
            "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("web-{hash}-{pod}"), "namespace": "shop", "labels": labels,
            "ownerReferences": owner("ReplicaSet", &set)}, "spec": spec,
            "status": {"phase": "Running", "containerStatuses": [{"name": "app", "ready": true, "restartCount": restarts,
                "image": "nginx", "imageID": "", "state": {"running": {"startedAt": "2026-11-20T10:00:00Z"}}}]}},
    ]})
}

#[test]
fn fingerprints_hold_over_rollouts_and_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let run = |cluster: Value, more: &[&str]| {
        fs::write(dir.join("dump.json"), cluster.to_string()).unwrap();
        let base = ["check", "--bundle", "dump.json", "--complete", "all", "--at", TODAY, "-o", "json"];
        let output = ran(meshdoctor(&[&base[..], more].concat()).current_dir(dir));
        let document: Value = output.document();
        let prints = |finding: &Value| {
            (finding["check"].as_str().unwrap().to_owned(), finding["fingerprint"].as_str().unwrap().to_owned())
        };
        let prints: BTreeSet<(String, String)> = document["findings"].as_array().unwrap().iter().map(prints).collect();
        (output.status, prints, document)
    };
    let (status, before, document) = run(cluster("5d9f7c6b8", "x0kq2", 0), &[]);
    assert_eq!(status, 1);
    assert!(before.iter().any(|(check, _)| check == "pod-missing-proxy"), "{before:?}");
    fs::write(dir.join("base.json"), document.to_string()).unwrap();
    let (_, after, _) = run(cluster("77c4b9d5f", "zz9qp", 7), &[]);
    assert_eq!(before, after);
    let (status, _, document) = run(cluster("77c4b9d5f", "zz9qp", 7), &["--baseline", "base.json"]);
    let failing: Vec<&Value> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|f| f["severity"] == "error" && f["inBaseline"] != true)
        .collect();
    assert!(failing.is_empty() && status != 1, "{failing:#?}");
}

#[test]
fn what_is_inferred_counts_where_that_is_asked() {
    // Without node evidence the cause is inferred, and its consequences are observed.
    let status = |gate: &str| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[deployment("web", "linkerd.io/injekt")]);
        let args = [
            "check",
            "--manifests",
            "k8s.json",
            "--linkerd-version",
            "edge-26.5.5",
            "--only",
            "annotations",
            "--fail-on",
            gate,
        ];
        ran(meshdoctor(&args).current_dir(folder.path())).status
    };
    assert_eq!(status("warning:observed"), 1);
    assert_eq!(status("error:observed"), 0);
    assert_eq!(status("info:observed"), 2);
}

/// An accepted cause with consequences that are not accepted: the report agrees with the exit status.
#[test]
fn what_comes_of_an_accepted_cause_stands_for_itself() {
    let Some(recordings) = crate::recordings::folder() else { return };
    let recording = recordings.join("anchor-expired").display().to_string();
    let folder = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let base = ["check", "--bundle", &recording, "--complete", "all"];
        let output = ran(meshdoctor(&[&base[..], more].concat()).current_dir(folder.path()));
        (output.status, output.out)
    };
    let document: Value = serde_json::from_str(&run(&["-o", "json"]).1).unwrap();
    let findings = document["findings"].as_array().unwrap();
    let causes: BTreeSet<&str> = findings
        .iter()
        .flat_map(|finding| finding["causedBy"].as_array().unwrap())
        .map(|print| print.as_str().unwrap())
        .collect();
    let symptoms = |of: &Value| -> usize {
        let all = of["findings"].as_array().unwrap().iter();
        all.filter(|f| f["severity"] == "error" && !f["causedBy"].as_array().unwrap().is_empty()).count()
    };
    assert!(!causes.is_empty() && symptoms(&document) > 0, "the recording has a cause with symptoms");
    let roots = findings.iter().filter(|finding| finding["causedBy"].as_array().unwrap().is_empty());
    let accepted = roots.filter(|finding| finding["severity"] == "error").map(|finding| {
        let print = finding["fingerprint"].as_str().unwrap();
        waiver(&format!("fingerprint: {print}"), "{}", "2030-01-01")
    });
    waivers(folder.path(), &accepted.collect::<Vec<_>>());
    let (status, table) = run(&["--waivers", "w.yaml"]);
    assert_eq!(status, 1, "{table}");
    assert!(!table.contains("NO ERRORS OR WARNINGS"), "{table}");
    let (_, text) = run(&["--waivers", "w.yaml", "-o", "json"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert!(document["verdict"]["roots"]["error"].as_u64().unwrap() > 0, "{}", document["verdict"]);
    let waived: BTreeSet<&str> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["waived"] == true)
        .map(|finding| finding["fingerprint"].as_str().unwrap())
        .collect();
    let explained = document["findings"].as_array().unwrap().iter().filter(|f| f["waived"] != true);
    assert!(!waived.is_empty(), "{text}");
    for print in explained.flat_map(|finding| finding["causedBy"].as_array().unwrap()) {
        assert!(!waived.contains(print.as_str().unwrap()), "an accepted cause explains nothing that counts");
    }
}

#[test]
fn what_is_wrong_with_waivers_is_explained() {
    for problem in ["waiver-expired", "waiver-unused", "waiver-unreadable"] {
        let output = ran(meshdoctor(&["explain", problem]));
        let text = output.out;
        assert!(output.status == 0 && text.contains(problem) && text.contains("expires:"), "{text}");
    }
}
