//! Reports for their readers: people at 80 and 200 columns, grep, programs. The texts are golden files; rules
//! for every text have tests of their own.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use meshdoctor::collect::{Collected, collect_now};
use meshdoctor::demo::{DEMOS, DemoState};
use meshdoctor::finding::{Finding, Severity, Subject};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::policy::{self, Policy};
use meshdoctor::render::document::Document;
use meshdoctor::render::json::Failure;
use meshdoctor::render::{self, Look};
use meshdoctor::report::{self, Question, Report, Run};
use meshdoctor::scene::Scene;
use meshdoctor::source::{Origin, Source};
use meshdoctor::{checks, exit};
use serde_json::Value;

use crate::{case, golden, samples};

const COLUMNS: [usize; 4] = [60, 80, 120, 200];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn report_of(scene: &Scene, checks: &[&'static checks::Check]) -> Report {
    let collected: Collected = collect_now(&scene.memory, &policy::items(checks), &scene.options, None);
    let question = Question {
        checks,
        policy: &Policy::default(),
        settings: &scene.settings,
        knowledge: Knowledge::embedded(),
        origin: scene.memory.origin(),
        change: None,
    };
    report::judge(&question, &collected)
}

/// The demos with all checks, and the cases of all cards with their own check.
fn judged() -> Vec<(String, Report)> {
    let all: Vec<_> = checks::all().collect();
    let installed = Policy::default().select().unwrap();
    let mut reports = Vec::new();
    for demo in DEMOS {
        for state in [DemoState::Before, DemoState::After] {
            let scene = demo.scene(state).unwrap();
            reports.push((format!("{} {state:?}", demo.name), report_of(&scene, &installed)));
        }
    }
    for check in &all {
        for case in check.cases() {
            let scene = case::live(check, case).0;
            reports.push((format!("{}, {}", check.id, case.title), report_of(&scene, &[check])));
        }
    }
    reports
}

/// The samples and what [`judged`] returns, judged once for all tests.
pub fn samples_and_judged() -> &'static [(String, Report)] {
    static ALL: OnceLock<Vec<(String, Report)>> = OnceLock::new();
    let all = || samples::all().into_iter().map(|(name, report)| (name.to_owned(), report)).chain(judged());
    ALL.get_or_init(|| all().collect())
}

#[test]
fn people_read_these() {
    for (name, report) in samples::all() {
        for width in [80, 200] {
            let text = render::table::report(&report, Look::plain(width));
            golden::check(&format!("tests/suite/golden/{name}.{width}.txt"), &text);
        }
        golden::check(&format!("tests/suite/golden/{name}.short.txt"), &render::short::report(&report));
        golden::check(&format!("tests/suite/golden/{name}.yaml"), &render::yaml::report(&report));
    }
    let look = Look { verbose: true, ..Look::plain(100) };
    golden::check("tests/suite/golden/bad-night.verbose.txt", &render::table::report(&samples::bad_night(), look));
    let look = Look { colour: true, ..Look::plain(80) };
    golden::check("tests/suite/golden/bad-night.colour.txt", &render::table::report(&samples::bad_night(), look));
}

/// The text next to a label, or the whole line.
fn beside_label(line: &str) -> &str {
    let line = line.trim_start();
    line.split_once("  ").map_or(line, |(_, rest)| rest.trim_start())
}

/// The text with each command on one line: long ones are broken after `&&`, where a shell reads on.
pub fn with_whole_commands(text: &str) -> String {
    let mut lines = text.lines();
    let mut whole: Vec<String> = Vec::new();
    while let Some(line) = lines.next() {
        let end = if line.ends_with(" &&") { lines.next().map(str::trim_start) } else { None };
        whole.push(end.map_or_else(|| line.to_owned(), |end| format!("{line} {end}")));
    }
    whole.join("\n")
}

/// Whether the line is a single word, possibly after labels or the number of a step.
fn is_one_word(line: &str) -> bool {
    let line = line.trim();
    let word = line.rsplit_once("  ").map_or(line, |(_, word)| word);
    let number = word.trim_start_matches(|c: char| c.is_ascii_digit());
    !number.strip_prefix(". ").unwrap_or(word).contains(' ')
}

/// Only texts to copy may be wider than the terminal: commands and single words.
#[test]
fn lines_fit_the_terminal_and_commands_stay_whole() {
    // The commands of the hostile sample are escaped, and so are changed.
    for (name, report) in samples_and_judged().iter().filter(|(name, _)| name != "hostile") {
        for width in COLUMNS {
            let text = render::table::report(report, Look { verbose: true, ..Look::plain(width) });
            // A symptom is repaired with its cause.
            let roots = report.findings.iter().filter(|finding| finding.caused_by.is_empty());
            // The plan combines changes of one list, and values of one chart.
            let own = roots.flat_map(|finding| &finding.remedy.steps).filter(|step| step.list.is_none());
            let planned = report.repair.steps.iter().map(|step| &step.step);
            let commands = own.chain(planned).filter_map(|step| step.command.as_ref());
            let commands: Vec<String> = commands.flat_map(|command| command.rendered()).collect();
            let text = with_whole_commands(&text);
            for line in text.lines().filter(|line| unicode_width::UnicodeWidthStr::width(*line) > width) {
                let command = |line: &str| {
                    let line = line.trim();
                    commands.iter().any(|command| command.trim() == line)
                        || line.starts_with("--complete ")
                        || line.starts_with("kubectl ")
                        || line.starts_with("meshdoctor ")
                        // The installation of the linkerd CLI.
                        || line.starts_with("curl ")
                };
                let whole = command(line) || command(beside_label(line)) || is_one_word(line);
                assert!(whole, "{name} at {width} columns: {line}");
            }
            let combined = report.findings.iter().flat_map(|finding| &finding.remedy.steps);
            let combined = combined.filter(|step| step.chart.is_some()).filter_map(|step| step.command.as_ref());
            let combined: Vec<String> = combined.flat_map(|command| command.rendered()).collect();
            for command in commands.iter().filter(|command| !combined.contains(command)) {
                let whole = |line: &str| line.trim_start().ends_with(command.trim());
                assert!(text.lines().any(whole), "{name} at {width} columns lacks {command}");
            }
        }
    }
}

#[test]
fn no_output_can_drive_a_terminal() {
    let report = samples::hostile();
    let failure = Failure {
        status: exit::COULD_NOT_RUN,
        errors: vec!["\u{1b}[2J\u{9b}\u{202e}\r\u{7}".to_owned()],
        run: Run::default(),
        origin: Some(Origin { kind: "live".to_owned(), name: "\u{1b}[2J".to_owned() }),
    };
    for (format, text) in [
        ("table", render::table::report(&report, Look::plain(80))),
        ("verbose table", render::table::report(&report, Look { verbose: true, ..Look::plain(80) })),
        ("short", render::short::report(&report)),
        ("result", render::table::result_line(&report)),
        ("json", render::json::report(&report)),
        ("yaml", render::yaml::report(&report)),
        ("failed json", render::json::failure(&failure)),
        ("failed yaml", render::yaml::failure(&failure)),
    ] {
        for (at, line) in text.lines().enumerate() {
            let hostile = line.chars().find(|c| c.is_control() || ('\u{200b}'..='\u{202e}').contains(c));
            assert_eq!(hostile, None, "{format}, line {}: {line:?}", at + 1);
        }
        // A line that the attacker wrote would begin with the word; ours is the only one.
        let results = text.lines().filter(|line| line.starts_with("result")).count();
        assert!(results <= 1, "{format} has {results} results");
    }
}

#[test]
fn colours_change_nothing_but_colours() {
    for (name, report) in samples::all() {
        let plain = render::table::report(&report, Look::plain(80));
        let coloured = render::table::report(&report, Look { colour: true, ..Look::plain(80) });
        assert_ne!(plain, coloured, "{name}");
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain, "{name}");
    }
}

#[test]
fn nothing_is_lost_between_the_folds() {
    for (name, report) in samples_and_judged() {
        let text = render::table::report(report, Look::plain(120));
        let verbose = render::table::report(report, Look { verbose: true, ..Look::plain(120) });
        for finding in &report.findings {
            // If something needs a repair, infos are only counted, and -v shows them.
            let is_counted = finding.severity == Severity::Info && !report.repair.findings.is_empty();
            let place = if is_counted { &verbose } else { &text };
            assert!(place.contains(finding.check), "{name}: {} is not mentioned", finding.check);
        }
        let mentioned = render::table::report(report, Look { verbose: true, coverage: true, ..Look::plain(120) });
        for check in report.checks.iter().filter(|check| !check.gaps.is_empty()) {
            assert!(mentioned.contains(check.id), "{name}: {} is not listed as not checked", check.id);
        }
        let short = render::short::report(report);
        let lines = short.lines().filter(|line| ["error ", "warning ", "info "].iter().any(|s| line.starts_with(s)));
        assert_eq!(lines.count(), report.findings.len(), "{name}: one line for each finding");
    }
}

/// The first word of a report is the most important one.
#[test]
fn only_a_mesh_that_was_checked_as_a_whole_is_called_healthy() {
    let word = |report: &Report| render::table::report(report, Look::plain(100)).contains("HEALTHY");
    let healthy = samples::good_night();
    assert!(word(&healthy));
    for (what, report) in [
        ("evidence that was asked for is missing", samples::denied()),
        ("a dump that holds little", samples::dump()),
        ("an error", samples::bad_night()),
        ("a part was selected", {
            let mut report = samples::good_night();
            report.asked.only = vec!["certificates".to_owned()];
            report
        }),
        ("problem with the run", Report { errors: vec!["it broke off".to_owned()], ..samples::good_night() }),
        ("no control plane was seen", {
            let mut report = samples::good_night();
            report.subject.control_plane.clear();
            report
        }),
        ("a check crashed", {
            let mut report = samples::good_night();
            report.checks[0].outcome = checks::Outcome::Crashed("oops".to_owned());
            report
        }),
    ] {
        assert!(!word(&report), "{what}");
    }
    // Accepting that evidence is missing does not provide it.
    let mut accepted = samples::denied();
    accepted.verdict.status = exit::FINE;
    assert!(!word(&accepted));
}

/// A remedy must work for the evidence in the report: collecting from a live cluster does not provide the
/// CLI's version if no linkerd CLI exists.
#[test]
fn a_live_cluster_is_not_sent_to_collect_for_the_version_of_the_command() {
    let checks: Vec<_> =
        checks::all().filter(|check| ["issuer-key-mismatch", "cli-outdated"].contains(&check.id)).collect();
    let key = checks.iter().find(|check| check.id == "issuer-key-mismatch").unwrap();
    let case = key.cases().iter().find(|case| case.title.contains("does not hold the key")).unwrap();
    let mut scene = case::live(key, case).0;
    scene.memory.cli_version = None;
    let mut report = report_of(&scene, &checks);
    let ways = |report: &Report| {
        let text = render::table::report(report, Look::plain(100));
        [" collect", "--linkerd-cli"].map(|way| text.contains(way))
    };
    report.origin.kind = "bundle".to_owned();
    assert_eq!(ways(&report), [true, false], "collecting on the cluster reads the CLI's version too");
    report.origin.kind = "live".to_owned();
    assert_eq!(ways(&report), [true, true]);
}

/// If a gap decides the exit status, the result names it and its remedy.
#[test]
fn the_result_names_the_gap_that_decides() {
    let result = render::table::result_line(&samples::dump());
    assert!(
        result.contains("exit 4: ") && result.contains(". To check this: ") && result.contains("the dump may lack"),
        "{result}"
    );
    let result = render::table::result_line(&samples::bad_night());
    assert!(result.starts_with("exit 1: "), "{result}");
}

/// Evidence that was not requested takes at most four lines.
#[test]
fn coverage_that_changes_nothing_is_short() {
    for (name, report) in samples_and_judged() {
        if report.coverage.gaps.iter().any(|gap| gap.missing.was_asked_for()) {
            continue;
        }
        let text = render::table::report(report, Look::plain(80));
        let block = text.lines().skip_while(|line| !line.starts_with("not checked"));
        let block: Vec<&str> = block.take_while(|line| !line.starts_with("result")).collect();
        let crashed = report.verdict.crashed > 0;
        assert!(crashed || block.len() <= 4, "{name}:\n{}", block.join("\n"));
    }
}

fn schema() -> jsonschema::Validator {
    let text = std::fs::read_to_string(root().join("docs/schema/report.v1.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

fn assert_valid(schema: &jsonschema::Validator, name: &str, document: &str) -> Value {
    let document: Value = serde_json::from_str(document).unwrap();
    let errors: Vec<String> =
        schema.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path)).collect();
    assert!(errors.is_empty(), "{name}:\n{}", errors.join("\n"));
    document
}

#[test]
fn every_document_is_valid_and_the_yaml_says_the_same() {
    let schema = schema();
    for (name, report) in samples_and_judged() {
        let json = render::json::report(report);
        let value = assert_valid(&schema, name, &json);
        let yaml: Value = serde_yaml::from_str(&render::yaml::report(report)).unwrap();
        assert_eq!(yaml, value, "{name}");
        // A written document can be read, and writing it again gives the same bytes.
        let read: Document = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), value, "{name}");
    }
    for status in [exit::USAGE, exit::COULD_NOT_RUN, 130] {
        let failure = Failure {
            status,
            errors: vec!["unknown check \"cni-tokn-revoked\"; did you mean cni-token-revoked?".to_owned()],
            run: Run { milliseconds: 3, command: vec!["check".to_owned()], ..Run::default() },
            origin: None,
        };
        let value = assert_valid(&schema, "failure", &render::json::failure(&failure));
        assert_eq!(value["verdict"]["status"], status);
        let yaml: Value = serde_yaml::from_str(&render::yaml::failure(&failure)).unwrap();
        assert_eq!(yaml, value);
    }
}

/// The schema is strict: a field that it does not know, or one too few, is an error. Otherwise the test above proves
/// nothing.
#[test]
fn the_schema_notices_what_is_wrong() {
    let schema = schema();
    let good: Value = serde_json::from_str(&render::json::report(&samples::bad_night())).unwrap();
    assert!(schema.is_valid(&good));
    let broken = |change: fn(&mut Value)| {
        let mut document = good.clone();
        change(&mut document);
        document
    };
    for (what, document) in [
        ("another field", broken(|d| d["findings"][0]["colour"] = "red".into())),
        ("a field too few", broken(|d| _ = d["verdict"].as_object_mut().unwrap().remove("status"))),
        ("another severity", broken(|d| d["findings"][0]["severity"] = "fatal".into())),
        ("a finding without evidence", broken(|d| d["findings"][0]["evidence"] = Value::Array(vec![]))),
        ("a subject of two kinds", broken(|d| d["findings"][0]["subjects"][0]["thing"] = "x".into())),
        ("a time that is none", broken(|d| d["run"]["started"] = "yesterday".into())),
        ("another schema", broken(|d| d["schema"] = "meshdoctor.report/2".into())),
    ] {
        assert!(!schema.is_valid(&document), "{what}");
    }
}

/// A report that a release wrote can be read by every later one. These files are never rewritten: each release adds
/// its own.
#[test]
fn reports_of_earlier_releases_are_still_read() {
    let schema = schema();
    let folder = root().join("tests/suite/reports");
    let mut read = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        assert_valid(&schema, &name, &text);
        let document: Document = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(document.tool.version, name.trim_end_matches(".json"), "{name}");
        // One word has changed since: `unknown` is now written as `not-checked`, with the same meaning.
        let today: Value =
            serde_json::from_str(&text.replace(r#""outcome": "unknown""#, r#""outcome": "not-checked""#)).unwrap();
        assert_eq!(serde_json::to_value(&document).unwrap(), today, "{name}: nothing is lost in reading");
        read += 1;
    }
    assert!(read > 0, "{} holds no report", folder.display());
}

#[test]
fn causes_name_what_they_explain_and_symptoms_their_causes() {
    let report = samples::bad_night();
    let document: Document = serde_json::from_str(&render::json::report(&report)).unwrap();
    let [cause] = document.causes.as_slice() else { panic!("one cause: {:?}", document.causes) };
    assert_eq!(cause.check, "cni-token-revoked");
    for symptom in &cause.explains {
        let finding = document.findings.iter().find(|finding| finding.fingerprint == *symptom).unwrap();
        assert_eq!(finding.caused_by, std::slice::from_ref(&cause.fingerprint));
    }
    let explained = document.findings.iter().filter(|finding| !finding.caused_by.is_empty()).count();
    assert_eq!(explained, cause.explains.len());
}

/// Common `jq` queries, here as pointers and filters, so that the test needs no program.
#[test]
fn what_programs_ask_is_in_the_document() {
    let value: Value = serde_json::from_str(&render::json::report(&samples::bad_night())).unwrap();
    let findings = value["findings"].as_array().unwrap();
    // .findings[] | select(.severity=="error" and .causedBy==[]) | .check
    let roots: Vec<&Value> = findings
        .iter()
        .filter(|finding| finding["severity"] == "error" && finding["causedBy"] == Value::Array(vec![]))
        .map(|finding| &finding["check"])
        .collect();
    assert_eq!(roots, ["cni-token-revoked"]);
    // .findings[0].remedy.steps[].command
    let steps = findings[0]["remedy"]["steps"].as_array().unwrap();
    assert!(steps.iter().any(|step| step["command"].is_string()));
    // .findings[] | {check, root: .rootCauses[].check}
    for finding in findings {
        let roots = finding["rootCauses"].as_array().unwrap();
        assert!(!roots.is_empty(), "{}", finding["check"]);
        for root in roots {
            let of_root = findings.iter().find(|other| other["fingerprint"] == root["fingerprint"]).unwrap();
            assert_eq!(of_root["check"], root["check"]);
            assert_eq!(of_root["causedBy"], Value::Array(vec![]), "a root has no cause");
        }
        if finding["causedBy"] == Value::Array(vec![]) {
            assert_eq!(roots[0]["fingerprint"], finding["fingerprint"], "it is its own root");
        }
        for field in ["category", "title", "docs"] {
            assert!(finding[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {finding}");
        }
        for subject in finding["subjects"].as_array().unwrap() {
            assert!(subject["fingerprint"].is_string(), "{subject}");
        }
    }
    // .findings[].evidence[].reference | select(.kind=="Pod") | .namespace + "/" + .name
    let references = findings.iter().flat_map(|finding| finding["evidence"].as_array().unwrap());
    let pods = references.filter(|evidence| evidence["reference"]["kind"] == "Pod");
    assert!(
        pods.into_iter().all(|pod| pod["reference"]["name"].is_string() && pod["reference"]["namespace"].is_string())
    );
    // .subject.cluster.uid
    assert!(value["subject"]["cluster"]["uid"].is_string());

    let value: Value = serde_json::from_str(&render::json::report(&samples::denied())).unwrap();
    // .coverage.gaps[] | select(.askedFor)
    let gaps = value["coverage"]["gaps"].as_array().unwrap();
    assert!(gaps.iter().any(|gap| gap["askedFor"] == true));
    // .checks[] | select(.outcome=="not-checked") | .reason
    let checks = value["checks"].as_array().unwrap();
    let mut not_checked = checks.iter().filter(|check| check["outcome"] == "not-checked").peekable();
    assert!(not_checked.peek().is_some());
    assert!(not_checked.all(|check| check["reason"].as_str().is_some_and(|reason| !reason.is_empty())));
    let tally = &value["verdict"]["checks"];
    assert_eq!(tally["notChecked"], tally["notJudged"], "the old name has the same number");
}

/// Repairing one of two workloads changes the finding, but not the fingerprint of the other workload.
#[test]
fn a_subject_keeps_its_fingerprint_when_another_is_repaired() {
    let about = |names: &[&str]| {
        let subjects = names.iter().map(|name| Subject::object("Deployment", "shop", name));
        Finding { subjects: subjects.collect(), ..samples::bad_night().findings[0].clone() }
    };
    let (both, one) = (about(&["api", "web"]), about(&["web"]));
    assert_ne!(both.fingerprint(), one.fingerprint());
    assert_eq!(both.subject_fingerprint(&both.subjects[1]), one.subject_fingerprint(&one.subjects[0]));
    assert_eq!(
        one.subject_fingerprint(&one.subjects[0]),
        one.fingerprint(),
        "that of an only subject is the finding's"
    );
}

#[test]
fn the_list_and_the_pages_fit_the_terminal() {
    let all: Vec<_> = checks::all().collect();
    for width in COLUMNS {
        let list = render::list::table(&all, width);
        for check in &all {
            assert!(list.contains(check.id), "{} at {width}", check.id);
            let page = render::explain::text(check, width);
            // Quoted text of the page stays unchanged; the rest is wrapped.
            let prose = page.split("\nExample:").next().unwrap();
            for line in prose.lines().filter(|line| line.chars().count() > width) {
                let is_code = line.starts_with("    ");
                assert!(is_one_word(line) || is_code || line.contains('|'), "{} at {width}: {line}", check.id);
            }
        }
    }
    let listed: Value = serde_json::from_str(&render::list::json(&all)).unwrap();
    assert_eq!(listed["checks"].as_array().unwrap().len(), all.len());
    for check in &all {
        let page: Value = serde_json::from_str(&render::explain::json(check)).unwrap();
        assert_eq!(page["id"], check.id);
    }
}

#[test]
fn checks_after_the_time_limit_are_not_checked() {
    let mut scene = DEMOS[0].scene(DemoState::Before).unwrap();
    let all = Policy::default().select().unwrap();
    assert_eq!(report_of(&scene, &all).verdict.status, exit::FINDINGS);
    scene.settings.time_limit = checks::TimeLimit::from_start(Instant::now(), Duration::ZERO);
    let report = report_of(&scene, &all);
    assert_eq!(report.verdict.status, exit::NOT_CHECKED);
    assert!(report.checks.iter().all(|check| check.outcome == checks::Outcome::Unknown));
    let text = render::table::report(&report, Look::plain(100));
    assert_eq!(text.matches("the run reached its time limit of 1 s").count(), 1, "{text}");
    assert!(text.contains("run again with a longer --timeout"), "{text}");
}
