//! The real binary, run like an operator: with a kubeconfig and an otherwise empty environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use meshdoctor::card::Mode;
use meshdoctor::checks;
use meshdoctor::finding::Severity;
use meshdoctor::render::document::{Check, Document, Finding};
use serde_json::value::RawValue;
use tempfile::TempDir;

use crate::harness::Cluster;
use crate::harness::kubeconfig::{Context, write_kubeconfig};

/// A user at a terminal: a home folder with a kubeconfig, in which files are written too.
pub struct Doctor {
    home: TempDir,
}

impl Doctor {
    /// An operator with these contexts, by name; the first is the current one.
    pub fn with(contexts: &[(&str, Context)]) -> Doctor {
        let home = TempDir::with_prefix("meshdoctor-operator-").unwrap();
        write_kubeconfig(&home.path().join("kubeconfig"), contexts);
        Doctor { home }
    }

    /// An operator with this user of a cluster.
    pub fn new(cluster: &Cluster, user: &str) -> Doctor {
        Doctor::with(&[("cluster", cluster.context(user))])
    }

    /// A file in the home folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Runs `meshdoctor check` on the live cluster. Returns its output as one document.
    pub fn check(&self, words: &[&str]) -> Ran {
        let kubeconfig = self.file("kubeconfig");
        let first = ["check", "--kubeconfig", text(&kubeconfig), "-o", "json"];
        self.run(&[&first[..], words].concat())
    }

    /// Runs the same with `--save`, and again from the bundle without the cluster. Both outputs are equal, so
    /// one is returned. `reading` are the arguments for the evidence, `judging` those that both runs need.
    pub fn check_twice(&self, reading: &[&str], judging: &[&str]) -> Ran {
        let folder = TempDir::new_in(self.home.path()).unwrap();
        let bundle = folder.path().join("saved.tar.gz");
        let mut tries = 0;
        loop {
            tries += 1;
            let live = self.check(&[reading, judging, &["--force", "--save", text(&bundle)]].concat());
            let again = self.run(&[&["check", "--bundle", text(&bundle), "-o", "json"], judging].concat());
            live.assert_same(&again, &format!("{reading:?}: live, and from the bundle"));
            assert_eq!(live.document.run.judged_at, again.document.run.judged_at, "{reading:?}");
            assert_eq!(live.status, again.status, "{reading:?}");
            // With `--save` everything is read as JSON; without it, most of it as protobuf.
            let judged_at = live.document.run.judged_at.unwrap().to_string();
            let at: &[&str] = if [reading, judging].concat().contains(&"--at") { &[] } else { &["--at", &judged_at] };
            let plain = self.check(&[reading, judging, at].concat());
            // Evidence that is not saved is not redacted first. A cluster that changed between the two runs
            // is read again.
            let differences = plain.differences(&["redaction"], &live);
            if differences.is_empty() {
                return live;
            }
            let moved = plain.document.coverage.objects != live.document.coverage.objects;
            assert!(moved && tries < 3, "{reading:?}: nothing saved, and saved:{differences}");
        }
    }

    /// Any command, in the home folder.
    pub fn words(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_meshdoctor"))
            .args(words)
            .current_dir(self.home.path())
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", self.home.path())
            .output()
            .unwrap()
    }

    /// Any command that writes a document to standard output.
    pub fn run(&self, words: &[&str]) -> Ran {
        let output = self.words(words);
        let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        let document = serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("{words:?}: no document ({error}):\n{stdout}\n{stderr}"));
        // Commands name the files that the run was given, and each operator has a folder of its own.
        let mut parts = stdout.split("meshdoctor-operator-");
        let first = parts.next().unwrap_or_default().to_owned();
        let stdout =
            parts.fold(first, |whole, part| whole + "operator" + part.trim_start_matches(char::is_alphanumeric));
        let ran = Ran { status: output.status.code().unwrap(), document, stdout, stderr };
        assert_eq!(i32::from(ran.document.verdict.status), ran.status, "{words:?}");
        ran
    }
}

/// The result of one run.
pub struct Ran {
    pub status: i32,
    pub document: Document,
    pub stderr: String,
    stdout: String,
}

impl Ran {
    /// Panics, with the first difference of each part, unless both documents are equal, except for fields
    /// that may differ between two runs on the same evidence.
    pub fn assert_same(&self, other: &Ran, place: &str) {
        self.assert_same_but(&[], other, place);
    }

    /// The same, without these parts.
    pub fn assert_same_but(&self, aside: &[&str], other: &Ran, place: &str) {
        let differences = self.differences(aside, other);
        assert!(differences.is_empty(), "{place}:{differences}");
    }

    /// The first difference of each part but these.
    fn differences(&self, aside: &[&str], other: &Ran) -> String {
        let [one, other] = [self, other].map(|ran| {
            let mut parts = ran.evidence();
            parts.retain(|part, _| !aside.contains(&part.as_str()));
            parts
        });
        assert_eq!(Vec::from_iter(one.keys()), Vec::from_iter(other.keys()));
        let mut differences = String::new();
        for (part, text) in one.iter().filter(|(part, text)| other[*part] != **text) {
            let [one, other] = [text, &other[part]].map(|text| text.lines().collect::<Vec<_>>());
            let first = one.iter().zip(&other).take_while(|(one, other)| one == other).count().saturating_sub(2);
            let [one, other] =
                [one, other].map(|lines| lines.into_iter().skip(first).take(8).collect::<Vec<_>>().join("\n"));
            differences += &format!("\n{part}, from line {first}:\n{one}\nand:\n{other}\n");
        }
        differences
    }

    fn evidence(&self) -> BTreeMap<String, String> {
        let parts: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&self.stdout).unwrap();
        let own = |name: &str| name == "run" || name == "origin";
        parts.into_iter().filter(|(name, _)| !own(name)).map(|(name, part)| (name, part.to_string())).collect()
    }

    /// The findings: check, severity, fingerprint and the fingerprints of the causes, in the order of the
    /// report.
    pub fn found(&self) -> Vec<String> {
        let line = |finding: &Finding| {
            let Finding { check, severity, fingerprint, caused_by, .. } = finding;
            format!("{severity} {check} {fingerprint} because of {caused_by:?}")
        };
        self.document.findings.iter().map(line).collect()
    }

    /// The outcome of every check, by id.
    pub fn outcomes(&self) -> BTreeMap<&str, String> {
        let outcome = |check: &Check| format!("{:?}", check.outcome);
        self.document.checks.iter().map(|check| (check.id.as_str(), outcome(check))).collect()
    }

    /// Panics, with the findings, unless nothing is of warning or above and all requested evidence was
    /// available.
    pub fn assert_quiet(&self, place: &str) {
        self.assert_nothing_but(&[], place);
        assert_eq!(self.status, 0, "{place}: {}", self.stderr);
    }

    /// The same, without these checks.
    pub fn assert_nothing_but(&self, aside: &[&str], place: &str) {
        let loud = self.document.findings.iter().filter(|finding| finding.severity >= Severity::Warning);
        let loud = loud.filter(|finding| !aside.contains(&finding.check.as_str()));
        let loud: Vec<_> =
            loud.map(|f| format!("{} {}: {} {:?}", f.severity, f.check, f.message, f.subjects)).collect();
        let gaps: Vec<_> = self.document.coverage.gaps.iter().filter(|gap| gap.asked_for).collect();
        assert!(loud.is_empty() && gaps.is_empty(), "{place}:\n{}\n{gaps:#?}", loud.join("\n"));
        assert_eq!(
            self.document.checks.len(),
            checks::all().filter(|check| check.card().front.modes.contains(&Mode::Installed)).count(),
            "{place}"
        );
        assert!(self.document.verdict.checks.passed > 0, "{place}: nothing was judged");
    }
}

/// A path as a word of a command line.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
