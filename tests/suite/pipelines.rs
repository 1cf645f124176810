//! Output formats for pipelines, checked with independent readers if available (SARIF, JUnit, Prometheus),
//! and otherwise by the rules of their platforms. In each format the verdict equals the exit status, gaps are
//! visible and never pass, and every outcome is one valid document.

use std::collections::BTreeSet;

use meshdoctor::checks::Outcome;
use meshdoctor::command::{Command, kubectl};
use meshdoctor::exit;
use meshdoctor::finding::{Evidence, Step, StepKind, Subject};
use meshdoctor::render::ci::{github, gitlab, junit, markdown, ndjson, prometheus, sarif};
use meshdoctor::render::json::Failure;
use meshdoctor::report::{Gap, RepairPlan, Report, Run};
use serde_json::{Value, json};

use crate::binary::{meshdoctor, ran};
use crate::render::samples_and_judged;
use crate::{golden, samples};

fn failures() -> Vec<Failure> {
    let of = |status| Failure {
        status,
        errors: vec!["unknown check \"cni-tokn\"; <did> you & mean ]]> cni-token-revoked? 100%".to_owned()],
        run: Run { started: None, milliseconds: 3, command: vec!["check".to_owned()], ..Run::default() },
        origin: None,
    };
    [exit::USAGE, exit::COULD_NOT_RUN, 130].map(of).into()
}

/// The gaps that decide the exit status.
fn deciding(report: &Report) -> BTreeSet<&str> {
    let gaps = report.coverage.gaps.iter().filter(|gap| gap.asked_for);
    gaps.flat_map(|gap| gap.checks.iter().copied()).collect()
}

#[test]
fn people_read_these() {
    for (name, report) in samples::all() {
        let report = &report;
        for (form, text) in [
            ("sarif.json", sarif::report(report)),
            ("junit.xml", junit::report(report)),
            ("github.txt", github::report(report)),
            ("gitlab.json", gitlab::report(report)),
            ("md", markdown::report(report)),
            ("prom", prometheus::report(report)),
        ] {
            // The others differ in nothing that these do not show.
            if ["bad-night", "hostile"].contains(&name) {
                golden::check(&format!("tests/suite/golden/{name}.{form}"), &text);
            }
        }
    }
}

#[test]
fn sarif_is_read_and_says_what_was_not_checked() {
    for (name, report) in samples_and_judged() {
        let text = sarif::report(report);
        let log: serde_sarif::sarif::Sarif = serde_json::from_str(&text).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let [run] = log.runs.as_slice() else { panic!("{name}") };
        let rules = run.tool.driver.rules.as_ref().unwrap();
        assert_eq!(rules.len(), report.checks.len(), "{name}");
        let results = run.results.as_ref().unwrap();
        let found: BTreeSet<&str> = report.findings.iter().map(|finding| finding.check).collect();
        let told: BTreeSet<&str> = results.iter().filter_map(|result| result.rule_id.as_deref()).collect();
        assert_eq!(found, told, "{name}");
        for result in results {
            if let Some(at) = result.rule_index {
                let rule = &rules[usize::try_from(at).unwrap()];
                assert_eq!(Some(&rule.id), result.rule_id.as_ref(), "{name}");
            }
            assert!(result.partial_fingerprints.as_ref().is_some_and(|prints| prints.len() == 1), "{name}");
            assert!(result.locations.as_ref().is_some_and(|all| !all.is_empty()), "{name}");
        }
        let invocation = &value["runs"][0]["invocations"][0];
        let status = report.verdict.status;
        assert_eq!(invocation["exitCode"], status, "{name}");
        assert_eq!(invocation["executionSuccessful"], status <= 1, "{name}");
        let notes = invocation["toolExecutionNotifications"].as_array().unwrap();
        let of = |note: &Value| note["associatedRule"]["id"].as_str().map(str::to_owned);
        let noted: BTreeSet<String> = notes.iter().filter_map(of).collect();
        let gaps: BTreeSet<String> =
            report.coverage.gaps.iter().flat_map(|gap| &gap.checks).map(|id| (*id).to_owned()).collect();
        assert_eq!(noted, gaps, "{name}");
        let errors = notes.iter().filter(|note| note["level"] == "error").filter_map(of);
        let deciding = deciding(report).into_iter().map(str::to_owned).collect();
        assert_eq!(errors.collect::<BTreeSet<String>>(), deciding, "{name}");
    }
    for failure in failures() {
        let log: serde_sarif::sarif::Sarif = serde_json::from_str(&sarif::failure(&failure)).unwrap();
        let invocation = &log.runs[0].invocations.as_ref().unwrap()[0];
        assert!(!invocation.execution_successful);
        assert_eq!(invocation.exit_code, Some(failure.status.into()));
    }
}

/// Readers look files up from the root of the repository, by their exact paths.
#[test]
fn files_are_named_as_a_repository_names_them() {
    // Without random letters, which could look like a key.
    let own = tempfile::Builder::new().prefix("named-").rand_bytes(0).tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::create_dir_all(own.path().join("repo/k8s")).unwrap();
    std::fs::create_dir_all(own.path().join("other")).unwrap();
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: report, namespace: shop}\nspec: {template: {metadata: {annotations: {config.linkerd.io/proxy-native-sidecar: \"true\"}}, spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}\n";
    for folder in ["repo/k8s", "other"] {
        std::fs::write(own.path().join(folder).join("job.yaml"), job).unwrap();
        std::fs::write(own.path().join(folder).join("torn.yaml"), "kind: [\n").unwrap();
    }
    let here = own.path().canonicalize().unwrap().join("repo");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&here, own.path().join("linked")).unwrap();
    let (whole, linked) = (here.join("k8s").display().to_string(), own.path().join("linked"));
    let beside = own.path().join("other").canonicalize().unwrap().display().to_string();
    let run = |manifests: &str, format: &str, shell: &std::path::Path| {
        let words = ["check", "--manifests", manifests, "--linkerd-version", "edge-25.4.4", "-o", format];
        let output = ran(meshdoctor(&words).current_dir(&here).env("PWD", shell));
        output.out
    };
    let same = ["k8s", "k8s/", "./k8s", ".//k8s//", &whole].map(|given| (given.to_owned(), "k8s", &*here));
    let through = (linked.join("k8s").display().to_string(), "k8s", &*linked);
    let elsewhere = (format!("{beside}/"), &*beside, &*here);
    for (given, folder, shell) in same.into_iter().chain([through, elsewhere]) {
        let github = run(&given, "github", shell);
        assert!(github.contains(&format!(" file={folder}/job.yaml,line=4,")), "{given}: {github}");
        assert!(github.contains(&format!(" file={folder}/torn.yaml,line=")), "{given}: {github}");
        let gitlab: Value = serde_json::from_str(&run(&given, "gitlab", shell)).unwrap();
        let paths: BTreeSet<&str> = gitlab
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|issue| issue["location"]["path"].as_str())
            .filter(|path| path.ends_with(".yaml"))
            .collect();
        let expected = [format!("{folder}/job.yaml"), format!("{folder}/torn.yaml")];
        assert_eq!(paths, expected.iter().map(String::as_str).collect(), "{given}");
        let sarif: Value = serde_json::from_str(&run(&given, "sarif", shell)).unwrap();
        let results = sarif["runs"][0]["results"].as_array().unwrap().iter();
        let uris: BTreeSet<String> = results
            .flat_map(|result| result["locations"].as_array().unwrap())
            .filter_map(|place| place["physicalLocation"]["artifactLocation"]["uri"].as_str())
            .map(str::to_owned)
            .collect();
        let scheme = if folder.starts_with('/') { "file://" } else { "" };
        assert_eq!(uris, [format!("{scheme}{folder}/job.yaml")].into(), "{given}");
    }
}

fn suites(text: &str) -> junit_parser::TestSuites {
    junit_parser::from_reader(text.as_bytes()).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

/// Attributes of a report's root in the schema of Jenkins' xUnit plugin (junit-10.xsd).
const OF_THE_WHOLE: [&str; 5] = ["name", "time", "tests", "failures", "errors"];

#[test]
fn junit_is_read_and_passes_nothing_that_was_not_checked() {
    for (name, report) in samples_and_judged() {
        let text = junit::report(report);
        let root = text.lines().find_map(|line| line.strip_prefix("<testsuites ")).unwrap();
        let said: Vec<&str> = root.split('"').step_by(2).filter_map(|part| part.trim().strip_suffix('=')).collect();
        assert!(said.iter().all(|word| OF_THE_WHOLE.contains(word)), "{name}: {root}");
        let read = suites(&text);
        let cases: Vec<_> = read.suites.iter().flat_map(|suite| &suite.cases).collect();
        assert_eq!(cases.len(), report.checks.len() + 1, "{name}");
        let clean = cases.iter().all(|case| !case.status.is_failure() && !case.status.is_error());
        assert_eq!(clean, report.verdict.status == exit::FINE, "{name}");
        let deciding = deciding(report);
        for check in &report.checks {
            let case = cases.iter().find(|case| case.original_name == check.id).unwrap();
            let status = &case.status;
            let whole = check.gaps.is_empty();
            match &check.outcome {
                Outcome::Pass => assert!(status.is_success(), "{name} {}", check.id),
                Outcome::Findings => assert!(whole || !status.is_success(), "{name} {}", check.id),
                Outcome::NotApplicable(_) => assert!(status.is_skipped(), "{name} {}", check.id),
                Outcome::Crashed(_) => assert!(status.is_error(), "{name} {}", check.id),
                Outcome::Unknown if deciding.contains(check.id) && report.verdict.status == exit::NOT_CHECKED => {
                    assert!(status.is_error(), "{name} {}", check.id);
                }
                Outcome::Unknown => assert!(status.is_skipped(), "{name} {}", check.id),
            }
        }
        for suite in &read.suites {
            assert_eq!(suite.tests, suite.cases.len() as u64, "{name}");
        }
    }
    for failure in failures() {
        let read = suites(&junit::failure(&failure));
        assert_eq!((read.tests, read.errors), (1, 1));
    }
}

#[test]
fn prometheus_reads_the_metrics() {
    let read = |text: &str| {
        let lines = text.lines().map(|line| Ok(line.to_owned()));
        prometheus_parse::Scrape::parse(lines).unwrap()
    };
    let value = |scrape: &prometheus_parse::Scrape, name: &str| {
        let of = |sample: &&prometheus_parse::Sample| sample.metric == format!("meshdoctor_{name}");
        let values = scrape.samples.iter().filter(of).map(|sample| match &sample.value {
            prometheus_parse::Value::Gauge(value) => *value,
            other => panic!("{other:?}"),
        });
        values.collect::<Vec<f64>>()
    };
    for (name, report) in samples_and_judged() {
        let scrape = read(&prometheus::report(report));
        assert_eq!(value(&scrape, "exit_status"), [f64::from(report.verdict.status)], "{name}");
        assert_eq!(value(&scrape, "check_outcome").len(), report.checks.len(), "{name}");
        let named: BTreeSet<&str> = scrape
            .samples
            .iter()
            .filter(|sample| sample.metric == "meshdoctor_not_checked")
            .map(|sample| sample.labels.get("check").unwrap())
            .collect();
        let gaps: BTreeSet<&str> = report.coverage.gaps.iter().flat_map(|gap| gap.checks.iter().copied()).collect();
        assert_eq!(named, gaps, "{name}");
        let mut series = BTreeSet::new();
        for line in prometheus::report(report).lines().filter(|line| !line.starts_with('#')) {
            let (one, _) = line.rsplit_once(' ').unwrap();
            assert!(series.insert(one.to_owned()), "{name}: {one} twice");
        }
    }
    for failure in failures() {
        let scrape = read(&prometheus::failure(&failure));
        assert_eq!(value(&scrape, "exit_status"), [f64::from(failure.status)]);
        assert!(value(&scrape, "root_findings").is_empty());
    }
}

/// Parses a line like the runner of GitHub Actions: `::word key=value,...::message`.
fn annotation(line: &str) -> (String, String, String) {
    let rest = line.strip_prefix("::").unwrap_or_else(|| panic!("{line}"));
    let (head, message) = rest.split_once("::").unwrap();
    let (word, properties) = head.split_once(' ').unwrap();
    for property in properties.split(',') {
        let (key, value) = property.split_once('=').unwrap();
        assert!(["file", "line", "col", "title"].contains(&key) && !value.contains(':'), "{line}");
    }
    (word.to_owned(), properties.to_owned(), message.to_owned())
}

#[test]
fn every_line_for_github_is_one_annotation() {
    for (name, report) in samples_and_judged() {
        let text = github::report(report);
        let lines: Vec<_> = text.lines().map(annotation).collect();
        let (word, _, message) = &lines[0];
        let status = report.verdict.status;
        assert_eq!(word, if status == exit::FINE { "notice" } else { "error" }, "{name}");
        assert!(message.contains(&format!("exit {status}")), "{name}: {message}");
        for finding in &report.findings {
            assert!(lines.iter().any(|(_, properties, _)| properties.contains(finding.check)), "{name}");
        }
        let mut is_lacking = false;
        for gap in report.coverage.gaps.iter().filter(|gap| gap.asked_for) {
            if gap.missing.why.keyword() == "malformed" {
                let title = "title=could not be read";
                assert!(lines.iter().any(|(word, all, _)| word == "error" && all.ends_with(title)), "{name}");
                continue;
            }
            is_lacking = true;
        }
        // One line for all of it: the result is the error.
        let lacking = lines.iter().filter(|(_, all, _)| all.starts_with("title=not checked%3A "));
        let levels: Vec<&str> = lacking.map(|(word, ..)| word.as_str()).collect();
        let decides = if status == exit::NOT_CHECKED { "warning" } else { "notice" };
        assert_eq!(levels, if is_lacking { vec![decides] } else { vec![] }, "{name}");
        // GitHub shows the first ten of a level.
        let order = ["error", "warning", "notice"];
        let places: Vec<_> = lines[1..].iter().map(|(word, ..)| order.iter().position(|one| one == word)).collect();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{name}: {places:?}");
        // Evidence that was not requested takes one line: GitHub shows only ten.
        let unoffered = report.coverage.gaps.iter().any(|gap| !gap.asked_for);
        let said = lines.iter().filter(|(word, all, _)| word == "notice" && all == "title=not checked");
        assert_eq!(said.count(), usize::from(unoffered), "{name}");
    }
    for failure in failures() {
        let text = github::failure(&failure);
        let (word, _, message) = annotation(text.trim_end());
        assert!(word == "error" && message.ends_with("100%25"), "{text}");
    }
}

#[test]
fn symptoms_name_their_cause_in_pipelines() {
    let report = samples::bad_night();
    let symptom = report.findings.iter().find(|finding| !finding.caused_by.is_empty()).unwrap();
    let lines: Vec<_> = github::report(&report).lines().map(annotation).collect();
    let title = format!("title={} (because of ", symptom.check);
    let (level, ..) = lines.iter().find(|(_, properties, _)| properties.starts_with(&title)).unwrap();
    assert_eq!(level, "notice", "{lines:?}");
    let junit = junit::report(&report);
    let (_, case) = junit.split_once(&format!("name=\"{}\"", symptom.check)).unwrap();
    let (case, _) = case.split_once("</testcase>").unwrap();
    assert!(case.contains("[because of ") && case.contains("repaired by the steps of "), "{case}");
    assert!(!case.contains("  1. "), "a symptom has no steps of its own: {case}");
}

/// A report whose first finding has `n` subjects, each with a command.
fn with_subjects(n: usize) -> Report {
    let mut report = samples::bad_night();
    let finding = &mut report.findings[0];
    let name = |n: usize| format!("workload-with-a-long-name-{n}");
    finding.subjects = (0..n).map(|n| Subject::object("Deployment", "shop", &name(n))).collect();
    finding.evidence = (0..n).map(|n| Evidence::other(name(n), "x".repeat(200))).collect();
    let restart = |n: usize| kubectl().words("-n shop rollout restart").arg(format!("deployment/{}", name(n)));
    for words in ["Restart", "Restart again", "Restart once more"] {
        let step = Step::new(StepKind::Command, words, Some(Command::lines((0..n).map(restart))));
        finding.remedy.steps.push(step);
    }
    report.repair = RepairPlan::from_findings(&report.findings);
    report
}

#[test]
fn markdown_begins_with_the_plan_and_fits_into_a_comment() {
    let text = markdown::report(&with_subjects(250));
    assert!(text.len() < 60_000, "{}", text.len());
    let plan = text.find("## Repair plan").unwrap();
    assert!(plan < text.find("## Findings").unwrap(), "{text}");
    assert!(text.contains("250 Deployments in shop: ") && text.contains(" and 240 more"), "{text}");
    assert!(text.contains("# and 240 more (-o html and -o json have all)"), "{text}");
    assert!(!text.contains("Left out"), "everything else fits: {text}");
    // Many different findings.
    let mut report = with_subjects(250);
    let first = report.findings[0].clone();
    for n in 0..250 {
        let mut other = first.clone();
        other.parameters = vec![n.to_string()];
        other.recorded = None;
        other.remedy.steps.truncate(1);
        other.remedy.steps[0].text = format!("Step {n} {}", "y".repeat(300));
        other.remedy.steps[0].command = None;
        report.findings.push(other);
    }
    report.repair = RepairPlan::from_findings(&report.findings);
    let text = markdown::report(&report);
    assert!(text.len() < 60_000, "{}", text.len());
    assert!(text.contains("**Left out, because comments are limited in length:** "), "{text}");
    assert!(text.contains("\n1. ") && text.contains("\n## Not checked\n"), "{text}");
    assert_eq!(text.matches("<details").count(), text.matches("</details>").count());
}

#[test]
fn missing_evidence_is_a_junit_error_only_if_it_decides_the_exit_status() {
    let mut report = samples::bad_night();
    for gap in &mut report.coverage.gaps {
        gap.asked_for = true;
    }
    assert_eq!(report.verdict.status, exit::FINDINGS);
    assert!(!junit::report(&report).contains("type=\"not-checked\""));
    report.verdict.status = exit::NOT_CHECKED;
    assert!(junit::report(&report).contains("type=\"not-checked\""));
}

/// An unreadable manifest is one annotation at its line, however many checks it affects.
#[test]
fn an_unreadable_manifest_is_one_annotation_for_github() {
    let own = tempfile::tempdir().unwrap();
    std::fs::write(own.path().join("bad.yaml"), "kind: Deployment\nmetadata: [").unwrap();
    std::fs::write(own.path().join("shop.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n").unwrap();
    let words = ["check", "--manifests", ".", "--linkerd-version", "2.20", "-o", "github"];
    let text = ran(meshdoctor(&words).current_dir(own.path())).out;
    let errors: Vec<_> = text.lines().map(annotation).filter(|(word, ..)| word == "error").collect();
    assert_eq!(errors.len(), 2, "{text}");
    let (_, properties, message) = &errors[1];
    assert!(properties.starts_with("file=bad.yaml,line=2,title="), "{properties}");
    assert!(message.len() < 600 && message.contains("repair the file"), "{message}");

    // One issue for GitLab, in addition to the one for all evidence that was not provided.
    let words = ["check", "--manifests", ".", "--linkerd-version", "2.20", "-o", "gitlab"];
    let output = ran(meshdoctor(&words).current_dir(own.path()));
    let issues: Vec<Value> = serde_json::from_str(&output.out).unwrap();
    let told: Vec<_> = issues.iter().map(|one| (&one["severity"], &one["location"]["path"])).collect();
    assert_eq!(told, [(&json!("major"), &json!("bad.yaml")), (&json!("info"), &json!("cluster/not-checked"))]);
    assert_eq!(issues[0]["location"]["lines"]["begin"], 2);
}

#[test]
fn gitlab_has_one_issue_for_each_trouble_and_gap() {
    let severities = ["info", "minor", "major", "critical", "blocker"];
    let read = |text: &str| -> Vec<Value> { serde_json::from_str(text).unwrap() };
    for (name, report) in samples_and_judged() {
        let issues = read(&gitlab::report(report));
        let mut prints = BTreeSet::new();
        for issue in &issues {
            for field in ["description", "check_name", "fingerprint"] {
                assert!(issue[field].as_str().is_some_and(|text| !text.is_empty()), "{name}: {issue}");
            }
            assert!(severities.contains(&issue["severity"].as_str().unwrap()), "{name}");
            let path = issue["location"]["path"].as_str().unwrap();
            assert!(!path.starts_with('/') && !path.starts_with("./"), "{name}: {path}");
            assert!(issue["location"]["lines"]["begin"].as_u64().unwrap() > 0, "{name}");
            assert!(prints.insert(issue["fingerprint"].to_string()), "{name}: twice {issue}");
        }
        // Gaps with one reason are one issue, and so is all evidence that was not provided.
        let missing: Vec<&Value> = issues.iter().filter(|issue| issue["check_name"] == "not-checked").collect();
        let gaps = &report.coverage.gaps;
        assert_eq!(missing.is_empty(), gaps.is_empty(), "{name}");
        let fails = report.verdict.status == 4 || gaps.iter().any(|gap| gap.asked_for);
        assert_eq!(missing.iter().any(|issue| issue["severity"] == "major"), fails, "{name}");
        assert!(missing.iter().filter(|issue| issue["severity"] == "info").count() <= 1, "{name}");
    }
    for failure in failures() {
        let issues = read(&gitlab::failure(&failure));
        assert_eq!(issues.len(), 1);
        assert_eq!(issues[0]["severity"], "blocker");
    }
}

#[test]
fn lines_of_json_end_with_the_result() {
    for (name, report) in samples_and_judged() {
        let text = ndjson::report(report);
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
        assert_eq!(lines[0]["schema"], "meshdoctor.lines/1", "{name}");
        assert_eq!(of("finding"), report.findings.len(), "{name}");
        assert_eq!(of("check"), report.checks.len(), "{name}");
        assert_eq!(of("gap"), report.coverage.gaps.len(), "{name}");
        let last = lines.last().unwrap();
        assert!(last["type"] == "result" && last["status"] == report.verdict.status, "{name}");
    }
    for failure in failures() {
        let text = ndjson::failure(&failure);
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(last["status"], failure.status);
    }
}

#[test]
fn markdown_names_every_cause_and_gap_and_closes_what_it_opens() {
    for (name, report) in samples_and_judged() {
        let text = markdown::report(report);
        assert_eq!(text.matches("<details").count(), text.matches("</details>").count(), "{name}");
        for finding in report.findings.iter().filter(|finding| finding.caused_by.is_empty()) {
            assert!(text.contains(&format!("<summary>{}: {}", finding.severity, finding.check)), "{name}: {text}");
        }
        // A long list of checks is cut; the evidence is named.
        let is_named = |gap: &&Gap| {
            let item = gap.missing.request.item.to_string();
            gap.checks.iter().all(|id| text.contains(id)) || gap.checks.len() > 8 && text.contains(&item)
        };
        let lost = report.coverage.gaps.iter().find(|gap| !is_named(gap));
        assert!(lost.is_none(), "{name}: {lost:?}\n{text}");
    }
    for failure in failures() {
        let text = markdown::failure(&failure);
        assert!(text.contains(&format!("exit {}", failure.status)) && !text.contains("<did>"), "{text}");
    }
}

/// The real binary: one valid document with the same status, for every outcome.
#[test]
fn each_form_is_one_document_with_one_status_in_every_outcome() {
    for form in ["sarif", "junit", "github", "gitlab", "markdown", "prometheus", "ndjson"] {
        for (args, expected) in [
            (&["demo", "injector-fails-open"][..], 1),
            (&["demo", "injector-fails-open", "--cured"], 0),
            (&["check"], 3),
            (&["check", "--only", "nonsense"], 2),
            (&["check", "--nonsense"], 2),
            (&["check", "--bundle", "/nonexistent"], 2),
        ] {
            let args: Vec<&str> = args.iter().copied().chain(["-o", form]).collect();
            let output = ran(meshdoctor(&args));
            assert_eq!(output.status, expected, "{args:?}");
            let text = output.out;
            match form {
                "sarif" => {
                    let log: serde_sarif::sarif::Sarif = serde_json::from_str(&text).unwrap();
                    let invocation = &log.runs[0].invocations.as_ref().unwrap()[0];
                    assert_eq!(invocation.exit_code, Some(expected.into()), "{args:?}");
                }
                "junit" => {
                    let read = suites(&text);
                    assert_eq!(read.failures + read.errors > 0, expected != 0, "{args:?}");
                }
                "github" => {
                    let first = annotation(text.lines().next().unwrap()).0;
                    assert_eq!(first == "error", expected != 0, "{args:?}");
                }
                "gitlab" => {
                    let issues: Vec<Value> = serde_json::from_str(&text).unwrap();
                    let bad = issues.iter().any(|issue| issue["severity"] == "blocker");
                    assert_eq!(bad, expected > 1, "{args:?}");
                }
                "prometheus" => {
                    assert!(text.contains(&format!("\nmeshdoctor_exit_status {expected}\n")), "{args:?}")
                }
                "ndjson" => {
                    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
                    assert_eq!(last["status"], expected, "{args:?}");
                }
                _ => assert!(text.contains(&format!("exit {expected}")), "{args:?}"),
            }
        }
    }
}

/// Formats that support positions name file, line and column of a finding in a manifest.
#[test]
fn what_is_in_a_manifest_has_its_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\nspec:\n  selector:\n    matchLabels: {app: web}\n  template:\n    metadata:\n      labels: {app: web}\n      annotations:\n        linkerd.io/injekt: enabled\n    spec:\n      containers:\n        - name: web\n          image: nginx\n";
    std::fs::create_dir(folder.path().join("k8s")).unwrap();
    std::fs::write(folder.path().join("k8s/web app.yaml"), manifest).unwrap();
    let run = |form: &str| {
        let args = ["check", "--manifests", "./k8s", "--linkerd-version", "edge-26.5.5", "-o", form];
        let output = ran(meshdoctor(&args).current_dir(folder.path()));
        output.out
    };
    let log: Value = serde_json::from_str(&run("sarif")).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let unknown = results.iter().find(|result| result["ruleId"] == "annotation-unknown").unwrap();
    let place = &unknown["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "k8s/web%20app.yaml");
    assert_eq!(place["region"]["startLine"], 13);
    let github = run("github");
    let line = github.lines().find(|line| line.contains("title=annotation-unknown")).unwrap();
    assert!(line.starts_with("::") && line.contains(" file=k8s/web app.yaml,line=13,col="), "{line}");
    let issues: Vec<Value> = serde_json::from_str(&run("gitlab")).unwrap();
    let issue = issues.iter().find(|issue| issue["check_name"] == "annotation-unknown").unwrap();
    assert_eq!(issue["location"]["path"], "k8s/web app.yaml");
    assert_eq!(issue["location"]["lines"]["begin"], 13);
}

#[test]
fn deleted_namespace_is_an_event_of_the_next_publication() {
    let report = crate::samples::bad_night();
    let api = meshdoctor::report_api::APIS[0];
    let first = meshdoctor::render::ci::published::published(&report, api, &[]);
    let before: Vec<Value> = first.reports.values().cloned().collect();
    let (namespace, _) = first.reports.iter().find(|(name, _)| !name.is_empty()).unwrap();
    // The namespace is deleted with its report and findings.
    let of_cluster: Vec<Value> =
        before.into_iter().filter(|report| report["metadata"]["namespace"].is_null()).collect();
    let mut later = crate::samples::bad_night();
    later.findings.clear();
    let then = meshdoctor::render::ci::published::published(&later, api, &of_cluster);
    let said = format!("the report of namespace {namespace} is gone with");
    let gone = then.events.iter().find(|event| event["message"].as_str().unwrap().contains(&said)).unwrap();
    assert_eq!(gone["reason"], "FindingGone");
    assert_eq!(gone["involvedObject"]["name"], namespace.as_str());
    assert_eq!(gone["metadata"]["namespace"], "default");
    // Once.
    let before: Vec<Value> = then.reports.values().cloned().collect();
    let after = meshdoctor::render::ci::published::published(&later, api, &before);
    assert!(after.events.is_empty(), "{:?}", after.events);
}
