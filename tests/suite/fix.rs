//! `meshdoctor fix`: scripts, patches and edits of files through the real binary.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran, ran_to, write};

const BASE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");

/// A Server without a policy: its repair is one patch, and a decision.
const SERVER: &str = "
apiVersion: v1
kind: Pod
metadata: {name: api-0, namespace: shop, labels: {app: api, linkerd.io/control-plane-ns: linkerd}}
spec:
  containers:
    - {name: linkerd-proxy, image: 'cr.l5d.io/linkerd/proxy:edge-25.4.4'}
    - {name: api, image: 'api:1', ports: [{name: http, containerPort: 8080}]}
status: {phase: Running}
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: api, namespace: shop}
spec: {podSelector: {matchLabels: {app: api}}, port: http}
";

/// Two workloads with misspelled annotations, one without a place to edit.
const WORKLOADS: &str = "\
# Workloads of the shop.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations:
        linkerd.io/inject: enabled # meshed
        config.linkerd.io/skip-oubound-ports: \"5432\"
    spec:
      containers:
      - name: web
        image: web:1
";

const FLAGS: [&str; 6] =
    ["--only", "server-without-authorization", "--complete", "all", "--at", "2026-01-15T12:00:00Z"];

fn bundle(folder: &Path) -> [String; 4] {
    let server = write(folder, "server.yaml", SERVER);
    ["--bundle".to_owned(), BASE.to_owned(), "--bundle".to_owned(), server]
}

fn fix(folder: &Path, more: &[&str]) -> Ran {
    let bundle = bundle(folder);
    let bundle: Vec<&str> = bundle.iter().map(String::as_str).collect();
    ran(meshdoctor(&[&["fix", "--no-config"], &FLAGS[..], &bundle, more].concat()))
}

#[track_caller]
fn valid(text: &str) -> Value {
    let schema = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schema/fix.v1.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let schema = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let document: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let errors: Vec<String> =
        schema.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path)).collect();
    assert_eq!(errors, Vec::<String>::new(), "{document:#}");
    document
}

/// Runs a script with a kubectl that only records its arguments.
#[cfg(unix)]
fn run(folder: &Path, script: &str, arguments: &[&str], status: i32) -> (String, String) {
    use std::os::unix::fs::PermissionsExt;
    let log = folder.join("log");
    _ = std::fs::remove_file(&log);
    let tool = format!("#!/bin/sh\nprintf '%s\\n' \"$*\" >> {}\nexit ${{KUBECTL_EXIT:-0}}\n", log.display());
    let path = write(folder, "bin/kubectl", tool);
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    let script = write(folder, "fix.sh", script);
    let output = Command::new("/bin/sh")
        .arg(script)
        .args(arguments)
        .env_clear()
        .env("PATH", folder.join("bin"))
        .env("KUBECTL_EXIT", if status == 9 { "1" } else { "0" })
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(if status == 9 { 1 } else { status }), "{err}");
    (std::fs::read_to_string(log).unwrap_or_default(), err)
}

#[cfg(unix)]
#[test]
fn script_runs_steps_and_stops_if_one_fails() {
    let folder = tempfile::tempdir().unwrap();
    let workloads = write(folder.path(), "web.yaml", WORKLOADS.replacen("name: web", "name: books", 1));
    let files = ["fix", "--no-config", "--bundle", BASE, "--bundle", &workloads, "--complete", "all"];
    let ran = ran(meshdoctor(&[&files[..], &["--only", "annotation-unknown"]].concat()));
    assert_eq!(ran.status, 1, "{}", ran.text());
    assert!(ran.out.contains("# simulated result: repairs annotation-unknown (Deployment shop/books)"), "{}", ran.out);
    assert!(ran.err.contains("1 step for 1 finding: 1 automatic\n"), "{}", ran.err);
    let (called, err) = run(folder.path(), &ran.out, &[], 0);
    let patch = "-n shop patch deployment books --type merge -p {\"spec\":{\"template\":{\"metadata\":{\"annotations\":{\
                 \"config.linkerd.io/skip-oubound-ports\":null,\"config.linkerd.io/skip-outbound-ports\":\"5432\"}}}}}\n";
    assert_eq!((called.as_str(), err.as_str()), (patch, ""));
    for wrong in [&["2"][..], &["0"], &["abc"], &[""], &["1", "1"], &["-1"], &["99999999999999999999"]] {
        let (called, err) = run(folder.path(), &ran.out, wrong, 2);
        assert_eq!(called, "", "{wrong:?}");
        assert!(err.starts_with("usage: sh ") && err.ends_with(" with a number from 1 to 1\n"), "{err}");
    }
    let (_, err) = run(folder.path(), &ran.out, &[], 9);
    let script = folder.path().join("fix.sh").display().to_string();
    let expected = format!("step 1 failed: repair the cause, then continue with: sh {script} 1");
    assert!(err.contains(&expected), "{err}");
}

#[cfg(unix)]
#[test]
fn script_stops_at_steps_that_weaken_protection_and_at_manual_ones() {
    let folder = tempfile::tempdir().unwrap();
    let ran = fix(folder.path(), &[]);
    assert!(
        ran.out.contains("# simulated result: repairs server-without-authorization (Server shop/api)"),
        "{}",
        ran.out
    );
    assert!(ran.err.contains("3 steps for 1 finding: 3 manual\n"), "{}", ran.err);
    for (from, status, said) in [
        (&[][..], 1, "step 1 is manual: Set the Server to audit"),
        (&["2"], 1, "step 2 is manual: Write an AuthorizationPolicy"),
        (&["3"], 1, "It is the last step."),
        (&["4"], 2, "with a number from 1 to 3"),
    ] {
        let (called, err) = run(folder.path(), &ran.out, from, status);
        assert_eq!(called, "");
        assert!(err.contains(said), "{err}");
    }
}

#[test]
fn json_and_patches_hold_the_same_steps() {
    let folder = tempfile::tempdir().unwrap();
    let document = valid(&fix(folder.path(), &["-o", "json"]).out);
    let step = &document["steps"][0];
    assert_eq!(step["proof"]["kind"], "simulated", "{document:#}");
    assert_eq!(step["proof"]["gone"][0]["subject"], "Server shop/api");
    assert_eq!(document["steps"][1]["proof"]["kind"], "manual");
    let patches = fix(folder.path(), &["-o", "patch"]).out;
    let read: Value = serde_yaml::from_str(&patches).unwrap();
    assert_eq!(read["patches"][0]["target"]["kind"], "Server", "{patches}");
    let patch: Value = serde_json::from_str(read["patches"][0]["patch"].as_str().unwrap()).unwrap();
    assert_eq!(patch["spec"]["accessPolicy"], "audit");
    assert!(patches.contains("#   step 2, manual"), "{patches}");
}

#[test]
fn symptoms_that_end_later_are_in_json() {
    use meshdoctor::render::document::{Document, restore};
    use meshdoctor::repair::{JudgedPlan, Proof, State};

    let folder = tempfile::tempdir().unwrap();
    let bundle = bundle(folder.path());
    let bundle: Vec<&str> = bundle.iter().map(String::as_str).collect();
    let check = [&["check", "--no-config", "-o", "json"], &FLAGS[..], &bundle].concat();
    let document: Document = serde_json::from_str(&ran(meshdoctor(&check)).out).unwrap();
    let report = restore(&document).unwrap();
    let symptom = State::from_report(&report).problems.into_values().next().unwrap();
    let proof = Proof::Simulated {
        gone: Vec::new(),
        until_later: Vec::new(),
        added: Vec::new(),
        symptoms: vec![symptom],
        errors: 0,
        warnings: 1,
    };
    let plan = JudgedPlan { proofs: vec![proof; report.repair.steps.len()], after: None };
    let document = valid(&meshdoctor::render::fix::json(&report, &plan));
    let shown = &document["steps"][0]["proof"];
    assert_eq!(shown["symptoms"][0]["subject"], "Server shop/api", "{shown}");
    assert!(shown["text"].as_str().unwrap().contains("symptoms that end later: "), "{shown}");
}

#[test]
fn saved_report_gives_a_plan_without_proof() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = bundle(folder.path());
    let bundle: Vec<&str> = bundle.iter().map(String::as_str).collect();
    let file = folder.path().join("report.json").display().to_string();
    let output = format!("json={file}");
    ran_to(1, meshdoctor(&[&["check", "--no-config", "-o", &output], &FLAGS[..], &bundle].concat()));
    let ran = ran_to(1, meshdoctor(&["fix", "--no-config", &file, "-o", "json"]));
    let document = valid(&ran.out);
    assert_eq!(
        document["steps"][0]["proof"]["text"],
        "not simulated: a saved report contains no evidence to judge it on"
    );
    // A bundle is judged, and its steps with it.
    let given = [&["fix", "--no-config", "-o", "json"], &FLAGS[..], &bundle[..2], &bundle[3..]].concat();
    let judged = ran_to(1, meshdoctor(&given));
    assert_ne!(valid(&judged.out)["steps"][0]["proof"], document["steps"][0]["proof"]);
    let wrong = ran_to(2, meshdoctor(&["fix", "--no-config", &file, "--only", "cni", "-o", "json"]));
    assert!(wrong.err.contains("is a saved report") && wrong.err.contains("give the bundle"), "{}", wrong.err);
    valid(&wrong.out);
}

#[test]
fn healthy_cluster_needs_no_repair() {
    let words = ["fix", "--no-config", "--only", "server-without-authorization", "--bundle", BASE, "--complete", "all"];
    let ran = ran_to(0, meshdoctor(&words));
    assert!(ran.out.contains("No finding of warning or above needs a repair."), "{}", ran.out);
}

#[test]
fn manifests_are_edited_in_place_with_comments_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "web.yaml", WORKLOADS);
    let place = folder.path().display().to_string();
    let words = |more: &[&'static str]| -> Ran {
        let given = ["fix", "--no-config", "--manifests", &place, "--linkerd-version", "2.18"];
        ran(meshdoctor(&[&given, more].concat()))
    };
    let shown = words(&[]);
    assert_eq!(shown.status, 1, "{}", shown.text());
    for line in [
        "-        config.linkerd.io/skip-oubound-ports: \"5432\"\n",
        "+        config.linkerd.io/skip-outbound-ports: \"5432\"\n",
        "         linkerd.io/inject: enabled # meshed\n",
    ] {
        assert!(shown.out.contains(line), "{line}{}", shown.text());
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), WORKLOADS, "a diff writes nothing");
    let document = valid(&words(&["-o", "json"]).out);
    assert_eq!(document["written"], false);
    let written = words(&["--write"]);
    let expected = WORKLOADS.replace("skip-oubound-ports", "skip-outbound-ports");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected, "{}", written.text());
    assert!(written.err.contains("fixed, none left"), "{}", written.text());
    assert_eq!(written.status, 0, "{}", written.text());
    assert!(words(&[]).err.contains("no finding of warning or above needs a repair"));
}

#[test]
fn documents_behind_separators_with_comments_are_edited() {
    let folder = tempfile::tempdir().unwrap();
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: shop}\n";
    let text = format!("--- # web\n{WORKLOADS}--- # Source: other.yaml\n{other}");
    let file = write(folder.path(), "web.yaml", &text);
    let given = ["fix", "--no-config", "--manifests", &file, "--linkerd-version", "2.18", "--write"];
    let written = ran(meshdoctor(&given));
    let expected = text.replace("skip-oubound-ports", "skip-outbound-ports");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected, "{}", written.text());
}

/// An annotation on the workload itself, in YAML and in JSON.
const MOVED: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  annotations:
    # MySQL and its replica.
    config.linkerd.io/opaque-ports: \"3306\" # do not remove
    team: shop
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web} # selected
      annotations:
        linkerd.io/inject: enabled
    spec: {containers: [{name: web, image: web}]}
";

const IN_JSON: &str = r#"{
  "apiVersion": "apps/v1",
  "kind": "Deployment",
  "metadata": {
    "name": "api",
    "namespace": "shop",
    "annotations": {
      "config.linkerd.io/opaque-ports": "5432",
      "team": "shop"
    }
  },
  "spec": {
    "selector": {"matchLabels": {"app": "api"}},
    "template": {
      "metadata": {
        "labels": {"app": "api"},
        "annotations": {
          "linkerd.io/inject": "enabled"
        }
      },
      "spec": {"containers": [{"name": "api", "image": "api"}]}
    }
  }
}
"#;

#[test]
fn several_files_keep_comments_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    write(folder.path(), "namespace.yaml", namespace);
    let yaml = write(folder.path(), "web.yaml", MOVED);
    let json = write(folder.path(), "api.json", IN_JSON);
    let place = folder.path().display().to_string();
    let given = ["fix", "--no-config", "--manifests", &place, "--linkerd-version", "2.18", "--write"];
    let written = ran(meshdoctor(&given));
    let lines = "    # MySQL and its replica.\n    config.linkerd.io/opaque-ports: \"3306\" # do not remove\n";
    let moved = lines.replace("    #", "        #").replace("    config", "        config");
    let inject = "        linkerd.io/inject: enabled\n";
    let expected = MOVED.replace(lines, "").replace(inject, &format!("{inject}{moved}"));
    assert_eq!(std::fs::read_to_string(&yaml).unwrap(), expected, "{}", written.text());
    let text = std::fs::read_to_string(&json).unwrap();
    let expected = IN_JSON
        .replace("      \"config.linkerd.io/opaque-ports\": \"5432\",\n", "")
        .replace("\"enabled\"\n", "\"enabled\",\n          \"config.linkerd.io/opaque-ports\": \"5432\"\n");
    assert_eq!(text, expected, "{}", written.text());
    assert_eq!(std::fs::read_to_string(folder.path().join("namespace.yaml")).unwrap(), namespace);
}

#[test]
fn sarif_holds_the_edit_of_each_finding() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "web.yaml", WORKLOADS);
    let given = ["fix", "--no-config", "--manifests", &file, "--linkerd-version", "2.18", "-o", "sarif"];
    let document: Value = serde_json::from_str(&ran_to(1, meshdoctor(&given)).out).unwrap();
    let results = document["runs"][0]["results"].as_array().unwrap();
    let fixes: Vec<&Value> = results.iter().filter_map(|result| result["fixes"].as_array()).flatten().collect();
    let [fix] = fixes.as_slice() else { panic!("one result has a fix: {document:#}") };
    let change = &fix["artifactChanges"][0];
    assert!(change["artifactLocation"]["uri"].as_str().unwrap().ends_with("/web.yaml"), "{change}");
    let mut lines: Vec<&str> = WORKLOADS.lines().collect();
    let [replacement] = change["replacements"].as_array().unwrap().as_slice() else { panic!("{change}") };
    let line = |name: &str| usize::try_from(replacement["deletedRegion"][name].as_u64().unwrap()).unwrap();
    let text = replacement["insertedContent"]["text"].as_str().unwrap();
    lines.splice(line("startLine") - 1..line("endLine"), text.split('\n'));
    let edited = lines.join("\n") + "\n";
    assert_eq!(edited, WORKLOADS.replace("skip-oubound-ports", "skip-outbound-ports"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), WORKLOADS, "nothing is written");
}

#[test]
fn report_holds_the_patches_of_its_steps() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = bundle(folder.path());
    let bundle: Vec<&str> = bundle.iter().map(String::as_str).collect();
    let words = [&["check", "--no-config", "-o", "json"], &FLAGS[..], &bundle].concat();
    let document: Value = serde_json::from_str(&ran(meshdoctor(&words)).out).unwrap();
    let remedy = &document["findings"][0]["remedy"];
    let patch = &remedy["patch"][0];
    assert_eq!(patch["step"], 1, "{remedy:#}");
    assert_eq!((patch["kind"].as_str(), patch["name"].as_str()), (Some("Server"), Some("api")), "{remedy:#}");
    assert_eq!(patch["patch"]["spec"]["accessPolicy"], "audit", "{remedy:#}");
}

/// With a limit of the file size that the edited file exceeds.
#[cfg(unix)]
#[test]
fn failed_write_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{WORKLOADS}{}", "# A comment.\n".repeat(200));
    let file = write(folder.path(), "web.yaml", &long);
    let limited = "trap '' XFSZ; ulimit -f 1; exec \"$@\"";
    let given = ["fix", "--no-config", "--manifests", &file, "--linkerd-version", "2.18", "--write"];
    let mut command = Command::new("sh");
    command.args(["-c", limited, "sh"]).arg(meshdoctor(&[]).get_program()).args(given);
    let ran = ran_to(3, command);
    assert!(ran.err.contains("cannot write "), "{}", ran.text());
    assert!(ran.err.contains("ulimit -f"), "the advice fits the error: {}", ran.text());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), long);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn findings_without_an_edit_name_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let rendered = format!("# Source: shop/templates/web.yaml\n{WORKLOADS}");
    let file = write(folder.path(), "web.yaml", &rendered);
    let given = ["fix", "--no-config", "--manifests", &file, "--linkerd-version", "2.18", "--write"];
    let ran = ran_to(1, meshdoctor(&given));
    assert!(ran.out.contains("not edited: "), "{}", ran.text());
    assert!(ran.out.contains("the file is rendered from shop/templates/web.yaml; edit it there"), "{}", ran.text());
    assert!(ran.err.contains("0 findings fixed, 1 left: "), "{}", ran.text());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), rendered);
}

#[test]
fn outputs_that_do_not_fit_are_usage_errors() {
    for words in [
        &["fix", "--no-config", "-o", "diff", "--bundle", BASE][..],
        &["fix", "--no-config", "-o", "sarif", "--bundle", BASE],
        &["fix", "--no-config", "-o", "script", "--manifests", BASE],
        &["fix", "--no-config", "--write", "--bundle", BASE],
        &["fix", "--no-config", "--write", "--manifests", "-"],
    ] {
        ran_to(2, meshdoctor(words));
    }
}

#[test]
fn values_hold_what_commands_set() {
    let folder = tempfile::tempdir().unwrap();
    let budget = "
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: identity, namespace: linkerd}
spec: {minAvailable: 1, selector: {matchLabels: {linkerd.io/control-plane-component: identity}}}
status: {currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, disruptionsAllowed: 0}
";
    let budget = write(folder.path(), "budget.yaml", budget);
    let only = ["--only", "control-plane-not-evictable", "--complete", "all", "--at", "2026-01-15T12:00:00Z"];
    let values =
        [&["fix", "--no-config", "-o", "values", "--bundle", BASE, "--bundle", budget.as_str()][..], &only[..]];
    let ran = ran(meshdoctor(&values.concat()));
    assert_eq!(ran.status, 1, "{}", ran.text());
    let (comments, document) = ran.out.split_once("---\n").unwrap();
    assert!(comments.starts_with("# Chart values of meshdoctor"), "{comments}");
    assert!(document.starts_with("# Chart linkerd-control-plane\n# Step 1: "), "{document}");
    let read: Value = serde_yaml::from_str(document).unwrap();
    assert_eq!(read, serde_json::json!({"controllerReplicas": 2}));
}

const SKIPPING: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata: {name: report, namespace: shop}
spec:
  selector: {matchLabels: {app: report}}
  template:
    metadata:
      labels: {app: report}
      annotations: {linkerd.io/inject: enabled, config.linkerd.io/skip-outbound-ports: "5432"}
    spec: {containers: [{name: app, image: registry.example.com/report:1}]}
"#;

/// A found file may come from a pull request: its cards run nothing, and the plan names the file.
#[test]
fn steps_of_cards_from_a_found_file_are_manual() {
    let folder = tempfile::tempdir().unwrap();
    let card = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/checks/outbound-port-skipped.md");
    write(folder.path(), "mine/outbound-port-skipped.md", std::fs::read_to_string(card).unwrap());
    write(folder.path(), "meshdoctor.toml", "[check]\nchecks = [\"mine\"]\n");
    let dump = write(folder.path(), "dump.yaml", SKIPPING);
    let words = ["fix", "--bundle", BASE, "--bundle", &dump, "--complete", "all", "--linkerd-cli", "none"];
    let words = [&words[..], &["--only", "outbound-port-skipped", "--at", "2026-01-15T12:00:00Z"]].concat();
    let plan = |more: &[&str]| ran(meshdoctor(&[&words[..], more].concat()).current_dir(folder.path()));
    let own = plan(&["--no-config", "--checks", "mine"]);
    assert!(own.out.contains("if [ \"$first\" -le 1 ]; then"), "{}", own.text());
    assert!(own.err.contains("1 automatic") && !own.out.contains("Configuration: "), "{}", own.text());
    let found = plan(&[]);
    let reason = "manual: from a card that meshdoctor.toml brings, a file that was found";
    assert!(found.out.contains(&format!("# {reason}")), "{}", found.text());
    assert!(!found.out.contains("if [ \"$first\" -le 1 ]; then"), "{}", found.text());
    assert!(found.out.contains("[ \"$first\" -gt 1 ] || manual 1 "), "{}", found.text());
    assert!(found.err.contains("1 manual"), "{}", found.err);
    let document = valid(&plan(&["-o", "json"]).out);
    assert_eq!(document["steps"][0]["manual"], reason, "{document:#}");
    assert_eq!(document["config"]["file"], "meshdoctor.toml");
}

#[test]
fn a_found_file_that_hides_findings_is_named_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "meshdoctor.toml", "[fix]\nskip = [\"server-without-authorization\"]\n");
    let bundle = bundle(folder.path());
    let bundle: Vec<&str> = bundle.iter().map(String::as_str).collect();
    let words = ["fix", "--linkerd-cli", "none", "--complete", "all", "--at", "2026-01-15T12:00:00Z"];
    let plan = |output: &str| {
        let words = [&words[..], &bundle, &["-o", output]].concat();
        ran(meshdoctor(&words).current_dir(folder.path()))
    };
    let said = "# Configuration: meshdoctor.toml (a file that was found) sets --skip.";
    for output in ["script", "patch", "values"] {
        let ran = plan(output);
        assert!(ran.out.contains(said), "{output}: {}", ran.text());
    }
    let document = valid(&plan("json").out);
    assert_eq!(document["config"]["gate"], serde_json::json!(["skip"]), "{document:#}");
    assert_eq!(document["config"]["named"], false);
}

#[test]
fn steps_on_one_node_before_the_next_are_not_run_on_all_nodes_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json").display().to_string();
    ran_to(1, meshdoctor(&["demo", "cni-unauthorized", "-o", &format!("json={file}")]));
    let script = ran_to(1, meshdoctor(&["fix", "--no-config", &file, "-o", "script"])).out;
    assert!(script.contains("#   kubectl cordon \"$NODE\""), "{script}");
    assert!(!script.lines().any(|line| line.starts_with("kubectl cordon")), "{script}");
    let (_, errors) = run(folder.path(), &script, &[], 1);
    let asked = "step 1 is manual: do steps 1 to 4 on one node before the next: ip-10-0-1-12, ip-10-0-1-40";
    assert!(errors.contains(asked), "{errors}");
    let (_, errors) = run(folder.path(), &script, &["3"], 1);
    assert!(errors.contains(asked), "{errors}");
    assert!(errors.contains("sh ") && errors.contains(" 5\n"), "{errors}");
}
