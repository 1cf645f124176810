//! The real binary, in an environment of its own: what it prints where, and the status it exits with.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The binary with nothing of the caller's environment.
pub fn meshdoctor(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshdoctor"));
    command
        .args(args)
        .env_clear()
        .env("HOME", "/nonexistent")
        .env("PATH", "/nonexistent")
        .stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> Output {
    meshdoctor(args).output().unwrap()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn document(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("not one JSON document: {e}\n{}", out(output)))
}

#[test]
fn wrong_words_are_usage_errors_with_the_nearest_real_one() {
    for (args, hint) in [
        (&["check", "--only", "cni-add-unauthorizd"][..], "did you mean cni-add-unauthorized?"),
        (&["check", "--skip", "injecton"], "did you mean injection?"),
        (&["check", "-o", "jsn"], "did you mean json?"),
        (&["check", "--fail-on", "wrning"], "'warning'"),
        (&["check", "--bundle", "x", "--complete", "podz"], "did you mean pods?"),
        (&["explain", "job-held-by-prxy"], "did you mean job-held-by-proxy?"),
        (&["demo", "cni-unauthorised"], "did you mean cni-unauthorized?"),
        (&["chekc"], "'check'"),
    ] {
        let output = run(args);
        assert_eq!(status(&output), 2, "{args:?}: {}", err(&output));
        assert!(err(&output).contains(hint), "{args:?} hints at {hint:?}, but says\n{}", err(&output));
        assert_eq!(out(&output), "", "{args:?}: standard output is for reports");
    }
}

/// A dump without an end, and Ctrl-C in the middle of it.
#[cfg(all(unix, feature = "live"))]
#[test]
fn an_interrupted_read_ends_with_a_document_as_well() {
    let mut child = meshdoctor(&["check", "--bundle", "-", "-o", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than a pipe holds: when all of it is written, it is being read.
    stdin.write_all(format!("[{}", " ".repeat(1 << 20)).as_bytes()).unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(status(&output), 3, "{}", err(&output));
    assert!(err(&output).starts_with("error: interrupted\n"), "{}", err(&output));
    assert_eq!(document(&output)["errors"][0]["message"], "interrupted");
}

#[test]
fn no_cluster_is_status_3_with_a_cause_and_a_next_step() {
    let output = run(&["check"]);
    assert_eq!(status(&output), 3, "{}", err(&output));
    let said: Vec<&str> = err(&output).lines().collect();
    assert!(said[0].starts_with("error: ") && said[1].starts_with("  "), "{said:?}");
    assert_eq!(said.len(), 2, "{said:?}");
}

#[test]
fn a_caller_that_asks_for_json_gets_one_document_in_every_outcome() {
    for (args, expected) in [
        (&["check", "-o", "json"][..], 3),
        (&["check", "--only", "nonsense", "-o", "json"], 2),
        (&["check", "--nonsense", "-o", "json"], 2),
        (&["check", "-ojson", "--bundle", "/nonexistent"], 3),
        (&["demo", "cni-unauthorized", "-o", "json"], 1),
        (&["demo", "cni-unauthorized", "--cured", "--output=json"], 0),
    ] {
        let output = run(args);
        assert_eq!(status(&output), expected, "{args:?}: {}", err(&output));
        let document = document(&output);
        assert_eq!(document["schema"], "meshdoctor.report/1", "{args:?}");
        assert_eq!(document["verdict"]["status"], expected, "{args:?}");
        assert_eq!(expected > 1, !document["errors"].as_array().unwrap().is_empty(), "{args:?}");
    }
}

#[test]
fn several_reports_come_from_one_run_with_one_status() {
    let folder = tempfile::tempdir().unwrap();
    let (json, yaml) = (folder.path().join("r.json"), folder.path().join("r.yaml"));
    let args = [
        "demo".to_owned(),
        "cni-unauthorized".to_owned(),
        "-o".to_owned(),
        "table".to_owned(),
        format!("-ojson={}", json.display()),
        format!("-oyaml={}", yaml.display()),
    ];
    let output = run(&args.each_ref().map(String::as_str));
    assert_eq!(status(&output), 1, "{}", err(&output));
    assert!(out(&output).contains("cni-add-unauthorized"));
    let document: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let twin: serde_json::Value = serde_yaml::from_slice(&std::fs::read(yaml).unwrap()).unwrap();
    assert_eq!(document, twin);
    let two = run(&["demo", "cni-unauthorized", "-o", "json", "-o", "table"]);
    assert_eq!(status(&two), 2, "two reports cannot share standard output");
}

#[test]
fn the_status_is_the_same_in_every_form() {
    for form in ["table", "short", "json", "yaml"] {
        for (demo, cured, expected) in [
            ("injector-fails-open", None, 1),
            ("injector-fails-open", Some("--cured"), 0),
            ("native-sidecar-typo", None, 1),
        ] {
            let args: Vec<&str> = ["demo", demo, "-o", form].into_iter().chain(cured).collect();
            assert_eq!(status(&run(&args)), expected, "{args:?}");
        }
    }
}

#[test]
fn a_pipe_gets_no_colour_and_force_gives_it() {
    assert!(!out(&run(&["demo", "cni-unauthorized"])).contains('\x1b'));
    let forced = meshdoctor(&["demo", "cni-unauthorized"]).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(out(&forced).contains('\x1b'));
    let refused = meshdoctor(&["demo", "cni-unauthorized"])
        .env("CLICOLOR_FORCE", "1")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(!out(&refused).contains('\x1b'), "NO_COLOR wins");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = meshdoctor(&["demo", "cni-unauthorized"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(err(&output), "");
    assert_eq!(status(&output), 1, "the verdict is the same");
}

#[test]
fn help_and_version_answer_on_standard_output() {
    for args in [&["--help"][..], &["check", "--help"], &["--version"], &["version"], &["list"], &["demo"]] {
        let output = run(args);
        assert_eq!(status(&output), 0, "{args:?}");
        assert_eq!(err(&output), "", "{args:?}");
        assert!(!out(&output).is_empty(), "{args:?}");
    }
}

#[test]
fn a_dump_is_read_from_standard_input() {
    let mut child = meshdoctor(&[
        "check",
        "--bundle",
        "-",
        "--complete",
        "deploy",
        "--only",
        "control-plane-missing",
        "-o",
        "short",
    ])
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    let list = "apiVersion: v1\nkind: List\nitems: []\n";
    child.stdin.take().unwrap().write_all(list.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(status(&output), 1, "{}", err(&output));
    assert!(out(&output).starts_with("error control-plane-missing"), "{}", out(&output));
}

#[test]
fn what_nobody_said_is_complete_is_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.json");
    std::fs::write(&list, r#"{"apiVersion":"v1","kind":"List","items":[]}"#).unwrap();
    let path = list.to_str().unwrap();
    let partial = run(&["check", "--bundle", path, "--only", "control-plane-missing", "-o", "json"]);
    assert_eq!(status(&partial), 3, "nothing could be judged: {}", err(&partial));
    let gap = &document(&partial)["coverage"]["gaps"][0];
    assert!(gap["close"].as_str().unwrap().contains("kubectl get deployments.apps"), "{gap}");
}

#[test]
fn the_working_copy_holds_what_the_readme_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in [
        "LICENSE",
        "CHANGELOG.md",
        "deny.toml",
        "clippy.toml",
        "docs/rbac.yaml",
        "docs/architecture.md",
        "docs/testing.md",
    ] {
        assert!(root.join(name).exists(), "{name}");
    }
}

#[test]
fn a_run_that_came_to_nothing_is_a_failed_row_of_linkerd_check() {
    for (args, exit, row) in [
        (&["check", "-o", "linkerd", "--bundle", "/nonexistent/x"][..], 3, "can initialize the client"),
        (&["check", "-o", "linkerd", "--no-such-flag"], 2, "can initialize the client"),
    ] {
        let output = run(args);
        assert_eq!(status(&output), exit, "{args:?}: {}", err(&output));
        let document = document(&output);
        assert_eq!(document["success"], false, "{args:?}");
        let failed = &document["categories"][0]["checks"][0];
        assert_eq!((&failed["description"], &failed["result"]), (&row.into(), &"error".into()), "{args:?}");
        assert!(failed["error"].as_str().is_some_and(|error| !error.is_empty()), "{args:?}");
    }
}

/// `check -h` answers the two questions that one has at night: how is it called, and what does the status mean.
#[test]
fn the_help_of_check_has_examples_and_the_exit_statuses() {
    let output = run(&["check", "-h"]);
    let help = out(&output);
    for wanted in
        ["Examples:", "meshdoctor check --verify before.json", "Exit status:", "  4  nothing failed"]
    {
        assert!(help.contains(wanted), "{wanted}: {help}");
    }
    for (status, _) in meshdoctor::exit::ALL {
        assert!(help.contains(&format!("\n  {status}  ")), "{status}: {help}");
    }
    assert!(help.contains("Unfold the report"), "-v says what it unfolds: {help}");
}

/// Every anchor of every row that a check answers leads to that check, alone or in a list, however it was copied.
#[test]
fn explain_takes_the_anchors_of_linkerd_check() {
    let known = meshdoctor::knowledge::Knowledge::embedded().linkerd_check();
    for category in known.categories() {
        for row in &category.rows {
            let answering: Vec<&str> =
                meshdoctor::checks::answering(&row.anchor).map(|check| check.id).collect();
            if answering.is_empty() {
                continue;
            }
            let of_row = |id: &&str| {
                let rows = &meshdoctor::checks::find(id).unwrap().card().front.linkerd_check;
                rows.iter().any(|other| other.anchor == row.anchor)
            };
            assert!(answering.iter().all(of_row), "{}", row.anchor);
        }
    }
    let answered = meshdoctor::checks::all()
        .flat_map(|check| check.card().front.linkerd_check.iter().map(|row| (row.anchor.as_str(), check.id)));
    // One of each kind is enough for the binary; the library was asked about all of them.
    let mut one: Option<&str> = None;
    let mut several: Option<&str> = None;
    for (anchor, id) in answered {
        assert!(meshdoctor::checks::answering(anchor).any(|check| check.id == id), "{anchor}");
        match meshdoctor::checks::answering(anchor).count() {
            1 => _ = one.get_or_insert(anchor),
            _ => _ = several.get_or_insert(anchor),
        }
    }
    let (one, several) = (one.unwrap(), several.unwrap());
    let page = run(&["explain", one]);
    assert_eq!(status(&page), 0, "{}", err(&page));
    assert!(out(&page).contains("What it cannot see"), "{}", out(&page));
    let by_address = run(&["explain", &format!("https://linkerd.io/2/checks/#{one}")]);
    assert_eq!(out(&by_address), out(&page));
    let list = run(&["explain", several]);
    assert_eq!(status(&list), 0, "{}", err(&list));
    for check in meshdoctor::checks::answering(several) {
        assert!(out(&list).contains(check.id), "{several}: {}", out(&list));
    }
    assert_eq!(status(&run(&["explain", "l5d-nothing-of-the-kind"])), 2);
    assert_eq!(status(&run(&["list", several])), 0, "--only and list take them as well");
}

#[test]
fn the_role_of_chosen_checks_is_printed_with_its_binding() {
    let said = |words: &[&str]| {
        let out = meshdoctor(words).output().unwrap();
        (out.status.code(), String::from_utf8(out.stdout).unwrap())
    };
    let (status, role) = said(&["rbac", "--only", "debug", "--service-account", "ops/doctor"]);
    assert_eq!(status, Some(0), "{role}");
    let documents: Vec<serde_json::Value> = serde_yaml::Deserializer::from_str(&role)
        .map(|document| serde::Deserialize::deserialize(document).unwrap())
        .collect();
    assert_eq!(documents[0]["kind"], "ClusterRole");
    assert_eq!(documents[1]["subjects"][0]["name"], "doctor");
    let verbs =
        documents[0]["rules"].as_array().unwrap().iter().flat_map(|rule| rule["verbs"].as_array().unwrap());
    assert!(verbs.into_iter().all(|verb| verb == "list" || verb == "get"), "{role}");
    assert_eq!(said(&["rbac", "--service-account", "doctor"]).0, Some(2));
    assert_eq!(said(&["rbac", "--only", "debgu"]).0, Some(2));
}
