//! The real binary in its own environment: standard output, standard error and exit status.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::binary::{Ran, meshdoctor, ran, ran_to, write};

#[test]
fn wrong_words_are_usage_errors_with_the_nearest_real_one() {
    for (args, hint) in [
        (&["check", "--only", "cni-add-unauthorizd"][..], "did you mean cni-add-unauthorized?"),
        (&["check", "--skip", "injecton"], "did you mean injection?"),
        (&["check", "-o", "jsn"], "did you mean json?"),
        (&["check", "--fail-on", "wrning"], "'warning'"),
        (&["check", "--bundle", "x", "--complete", "podz"], "did you mean pods?"),
        (&["explain", "job-held-by-prxy"], "did you mean job-held-by-proxy?"),
        (&["explain", "certificates"], "meshdoctor list certificates lists its checks"),
        (&["new", "injector-fails-open"], "choose another id"),
        (&["check", "--expected-version", "2.18"], "2.18 is a minor, not a release"),
        (&["check", "--pre", "--from", "2.18"], "--from needs --to"),
        (&["check", "--pre", "--kubernetes-version", "1.34"], "--kubernetes-version needs --manifests"),
        (&["check", "--with", "x.yaml", "--linkerd-version", "2.19"], "--linkerd-version needs --manifests"),
        (&["check", "--pre", "--linkerd-version", "2.99"], "--linkerd-version: the changes of 2.99"),
        (&["check", "--pre", "--linkerd-version", "2.19", "--expected-version", "edge-25.10.7"], "with one of them"),
        (&["check", "--linkerd-cli", "v2.18"], "2.18 is a minor, not a release"),
        (&["check", "--timeout", "0"], "the time limit must be greater than 0"),
        (&["check", "--at", "yesterday"], "\"yesterday\" is not a time such as 2026-01-15T12:00:00Z"),
        (&["demo", "cni-unauthorised"], "did you mean cni-unauthorized?"),
        (&["chekc"], "'check'"),
        (&["check", "--only", "server-invalid-selector"], "did you mean known-defect/server-invalid-selector?"),
        (&["reach", "--matrix"], "meshdoctor reach --matrix -n shop"),
        (&["fix", "--apply", "--bundle", "x.json"], "meshdoctor fix x.json > fix.sh"),
        (&["fix", "--apply", "x.json"], "meshdoctor fix x.json > fix.sh"),
        (&["collect"], "meshdoctor collect -o bundle.tar.gz"),
        (&["ticket"], "meshdoctor ticket -o ticket.tar.gz"),
        (&["policy", "shop", "--from", "web"], "meshdoctor policy --to shop/api --from web"),
        (&["policy", "--to", "api"], "add -n NAMESPACE: meshdoctor policy --to api -n shop"),
    ] {
        let output = ran(meshdoctor(args));
        assert_eq!(output.status, 2, "{args:?}: {}", output.err);
        assert!(output.err.contains(hint), "{args:?} should hint at {hint:?}, but prints\n{}", output.err);
        assert_eq!(output.out, "", "{args:?}: standard output is for reports");
    }
}

#[test]
fn the_list_of_demos_fits_the_terminal() {
    let list = ran(meshdoctor(&["demo"]).env("COLUMNS", "60")).out;
    assert!(list.lines().all(|line| line.chars().count() <= 60), "{list}");
    assert!(list.contains("  cni-exit-127  ") && list.contains("status 127"), "{list}");
}

/// An endless dump, interrupted with Ctrl-C.
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
    // More than the capacity of a pipe: once all of it is written, it is being read.
    stdin.write_all(format!("[{}", " ".repeat(1 << 20)).as_bytes()).unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = Ran::from(child.wait_with_output().unwrap());
    drop(stdin);
    assert_eq!(output.status, 130, "{}", output.err);
    assert!(output.err.starts_with("error: interrupted\n"), "{}", output.err);
    assert_eq!(output.document()["errors"][0]["message"], "interrupted");
}

#[test]
fn no_cluster_is_status_3_with_a_cause_and_a_next_step() {
    let output = ran(meshdoctor(&["check"]));
    assert_eq!(output.status, 3, "{}", output.err);
    let said: Vec<&str> = output.err.lines().collect();
    assert!(said[0].starts_with("error: ") && said[1].starts_with("  "), "{said:?}");
    assert_eq!(said.len(), 2, "{said:?}");
}

#[test]
fn a_caller_that_asks_for_json_gets_one_document_in_every_outcome() {
    for (args, expected) in [
        (&["check", "-o", "json"][..], 3),
        (&["check", "--only", "nonsense", "-o", "json"], 2),
        (&["check", "--nonsense", "-o", "json"], 2),
        (&["check", "-ojson", "--bundle", "/nonexistent"], 2),
        (&["demo", "cni-unauthorized", "-o", "json"], 1),
        (&["demo", "cni-unauthorized", "--cured", "--output=json"], 0),
    ] {
        let output = ran(meshdoctor(args));
        assert_eq!(output.status, expected, "{args:?}: {}", output.err);
        let document = output.document();
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
    let output = ran(meshdoctor(&args.each_ref().map(String::as_str)));
    assert_eq!(output.status, 1, "{}", output.err);
    assert!(output.out.contains("cni-add-unauthorized"));
    let document: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let twin: serde_json::Value = serde_yaml::from_slice(&std::fs::read(yaml).unwrap()).unwrap();
    assert_eq!(document, twin);
    let two = ran(meshdoctor(&["demo", "cni-unauthorized", "-o", "json", "-o", "table"]));
    assert_eq!(two.status, 2, "two reports cannot share standard output");
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
            assert_eq!(ran(meshdoctor(&args)).status, expected, "{args:?}");
        }
    }
}

#[test]
fn a_pipe_gets_no_colour_and_force_gives_it() {
    assert!(!ran(meshdoctor(&["demo", "cni-unauthorized"])).out.contains('\x1b'));
    let forced = ran(meshdoctor(&["demo", "cni-unauthorized"]).env("CLICOLOR_FORCE", "1"));
    assert!(forced.out.contains('\x1b'));
    let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    let refused = ran(meshdoctor(&["demo", "cni-unauthorized"]).envs(both));
    assert!(!refused.out.contains('\x1b'), "NO_COLOR wins");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child =
        meshdoctor(&["demo", "cni-unauthorized"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(output.err, "");
    assert_eq!(output.status, 1, "the verdict is the same");
}

#[test]
fn help_and_version_answer_on_standard_output() {
    for args in [&["--help"][..], &["check", "--help"], &["--version"], &["version"], &["list"], &["demo"]] {
        let output = ran(meshdoctor(args));
        assert_eq!(output.status, 0, "{args:?}");
        assert_eq!(output.err, "", "{args:?}");
        assert!(!output.out.is_empty(), "{args:?}");
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
    let output = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(output.status, 1, "{}", output.err);
    assert!(output.out.starts_with("error control-plane-missing"), "{}", output.out);
}

#[test]
fn what_nobody_said_is_complete_is_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let path = &write(folder.path(), "list.json", r#"{"apiVersion":"v1","kind":"List","items":[]}"#);
    let partial = ran(meshdoctor(&["check", "--bundle", path, "--only", "control-plane-missing", "-o", "json"]));
    assert_eq!(partial.status, 3, "nothing could be judged: {}", partial.err);
    let gap = &partial.document()["coverage"]["gaps"][0];
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
        (&["check", "-o", "linkerd", "--bundle", "/nonexistent/x"][..], 2, "can initialize the client"),
        (&["check", "-o", "linkerd", "--no-such-flag"], 2, "can initialize the client"),
    ] {
        let output = ran(meshdoctor(args));
        assert_eq!(output.status, exit, "{args:?}: {}", output.err);
        let document = output.document();
        assert_eq!(document["success"], false, "{args:?}");
        let failed = &document["categories"][0]["checks"][0];
        assert_eq!((&failed["description"], &failed["result"]), (&row.into(), &"error".into()), "{args:?}");
        assert!(failed["error"].as_str().is_some_and(|error| !error.is_empty()), "{args:?}");
    }
}

/// `check -h` shows how to run the command and the meaning of the exit status.
#[test]
fn the_help_of_check_has_examples_and_the_exit_statuses() {
    let output = ran(meshdoctor(&["check", "--help"]));
    let help = output.out;
    for wanted in ["Examples:", "meshdoctor check --verify before.json", "Exit status:", "  4  nothing failed"] {
        assert!(help.contains(wanted), "{wanted}: {help}");
    }
    for (status, _) in meshdoctor::exit::ALL {
        assert!(help.contains(&format!("\n  {status}  ")), "{status}: {help}");
    }
    assert!(help.contains("Show all details; for check, also symptoms"), "the help of -v states what it shows: {help}");
}

/// Every anchor of every row that a check answers leads to that check, alone or in a list, however it was copied.
#[test]
fn explain_takes_the_anchors_of_linkerd_check() {
    let known = meshdoctor::knowledge::Knowledge::embedded().linkerd_check();
    for category in known.categories() {
        for row in &category.rows {
            let answering: Vec<&str> = meshdoctor::checks::answering(&row.anchor).map(|check| check.id).collect();
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
    // One of each kind is enough for the binary; all of them are tested through the library.
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
    let page = ran(meshdoctor(&["explain", one]));
    assert_eq!(page.status, 0, "{}", page.err);
    assert!(page.out.contains("What it cannot see"), "{}", page.out);
    let by_address = ran(meshdoctor(&["explain", &format!("https://linkerd.io/2/checks/#{one}")]));
    assert_eq!(by_address.out, page.out);
    let list = ran(meshdoctor(&["explain", several]));
    assert_eq!(list.status, 0, "{}", list.err);
    for check in meshdoctor::checks::answering(several) {
        assert!(list.out.contains(check.id), "{several}: {}", list.out);
    }
    assert_eq!(ran(meshdoctor(&["explain", "l5d-nothing-of-the-kind"])).status, 2);
    assert_eq!(ran(meshdoctor(&["list", several])).status, 0, "--only and list take them too");
}

#[test]
fn list_names_the_checks_of_every_mode() {
    let all = ran_to(0, meshdoctor(&["list", "-o", "name"])).out;
    let listed: Vec<&str> = all.lines().collect();
    assert!(meshdoctor::checks::all().all(|check| listed.contains(&check.id)), "{all}");
    let upgrades = ran_to(0, meshdoctor(&["list", "upgrades"])).out;
    assert!(upgrades.starts_with("upgrades (with --to)\n"), "{upgrades}");
    assert!(!upgrades.contains("\n0 checks"), "{upgrades}");
    let before = ran_to(0, meshdoctor(&["list", "pre-install"])).out;
    assert!(before.starts_with("pre-install (with --pre)\n"), "{before}");
}

#[test]
fn the_role_of_chosen_checks_is_printed_with_its_binding() {
    let role = ran_to(0, meshdoctor(&["rbac", "--only", "debug", "--service-account", "ops/doctor"])).out;
    let documents: Vec<serde_json::Value> = serde_yaml::Deserializer::from_str(&role)
        .map(|document| serde::Deserialize::deserialize(document).unwrap())
        .collect();
    assert_eq!(documents[0]["kind"], "ClusterRole");
    assert_eq!(documents[1]["subjects"][0]["name"], "doctor");
    let verbs = documents[0]["rules"].as_array().unwrap().iter().flat_map(|rule| rule["verbs"].as_array().unwrap());
    assert!(verbs.into_iter().all(|verb| verb == "list" || verb == "get"), "{role}");
    assert!(!role.contains("pods/portforward"), "{role}");
    let role = ran_to(0, meshdoctor(&["rbac", "--only", "debug", "--proxies"])).out;
    let role: serde_json::Value = serde_yaml::from_str(&role).unwrap();
    let forwards =
        serde_json::json!({"apiGroups": [""], "resources": ["pods/portforward"], "verbs": ["create", "get"]});
    assert!(role["rules"].as_array().unwrap().contains(&forwards), "{role}");
    for words in [["rbac", "--service-account", "doctor"], ["rbac", "--only", "debgu"]] {
        ran_to(2, meshdoctor(&words));
    }
}

#[test]
fn file_on_the_command_line_is_a_bundle() {
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");
    let more = ["--complete", "all", "--no-config", "--at", "2026-01-15T12:00:00Z", "-o", "short"];
    let alone = ran(meshdoctor(&[&["check", base][..], &more].concat()));
    let flagged = ran(meshdoctor(&[&["check", "--bundle", base][..], &more].concat()));
    assert_eq!((alone.status, &alone.out), (flagged.status, &flagged.out), "{}", alone.err);
    let own = tempfile::tempdir().unwrap();
    let report = own.path().join("before.json").display().to_string();
    ran(meshdoctor(&["demo", "cni-unauthorized", "-o", &format!("json={report}")]));
    let refused = ran_to(2, meshdoctor(&["check", "--bundle", &report]));
    assert!(refused.err.contains("is a report") && refused.err.contains("--verify"), "{}", refused.err);
    let word = ran_to(2, meshdoctor(&["check", "cni"]));
    assert!(word.err.contains("meshdoctor check --only cni"), "{}", word.err);
    let none = ran_to(2, meshdoctor(&["check", "--complete", "all", "--no-config"]));
    assert!(none.err.contains("--bundle PATH"), "{}", none.err);
}

#[test]
fn short_help_of_check_fits_on_a_screen() {
    let short = ran_to(0, meshdoctor(&["check", "-h"])).out;
    assert!(short.lines().count() <= 60, "{} lines\n{short}", short.lines().count());
    let long = ran_to(0, meshdoctor(&["check", "--help"])).out;
    for flag in ["--disable-compression", "--manifests", "--to-kubernetes", "--config"] {
        assert!(long.contains(flag), "{flag}");
    }
}

/// The consequence and the repair precede the description, and the page fits a narrow terminal, except for commands.
#[test]
fn explain_follows_the_order_of_a_report() {
    let page = ran(meshdoctor(&["explain", "issuer-expired"]).env("COLUMNS", "80")).out;
    let at = |heading: &str| page.find(heading).unwrap_or_else(|| panic!("{heading}: {page}"));
    assert!(page.starts_with("ERROR  issuer-expired\n"), "{page}");
    let headings = ["\nWhy it matters\n", "\nHow to fix\n", "\nVerify\n", "\nWhat it finds\n", "\nDetails\n"];
    assert!(headings.map(at).is_sorted(), "{page}");
    assert!(at("\nDetails\n") < at("\n  needs  "), "{page}");
    let wide = |line: &&str| line.chars().count() > 80;
    let commands: Vec<&str> = page.lines().filter(wide).map(str::trim).collect();
    let programs = ["kubectl ", "step ", "linkerd version ", "meshdoctor ", "http"];
    let is_whole = |line: &&str| programs.iter().any(|program| line.starts_with(program));
    assert_eq!(commands.iter().find(|line| !is_whole(line)), None, "{page}");
    let has = |from: &str, to: &str| commands.iter().any(|line| line.starts_with(from) && line.ends_with(to));
    assert!(has("step certificate create ", " --insecure"), "{page}");
    assert!(has("linkerd version ", " | kubectl apply -f - && rm -f issuer.key"), "{page}");
}
