//! Public reports, rebuilt as clusters: the broken state gives findings with the expected words, and the
//! state after the cure gives nothing of warning or above. The data is outside the repository
//! (`MESHDOCTOR_THREADS`, else next to it).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::binary::{meshdoctor, ran};
use crate::skip::{Need, skipped};

/// How to check one state.
#[derive(Deserialize)]
#[serde(default)]
struct Args {
    complete: Vec<String>,
    at: String,
    cli: Option<String>,
    logs: BTreeMap<String, String>,
    extra: Vec<String>,
}

impl Default for Args {
    fn default() -> Args {
        let (complete, logs, extra) = (Vec::new(), BTreeMap::new(), Vec::new());
        Args { complete, at: String::new(), cli: None, logs, extra }
    }
}

/// What a report must and must not state.
#[derive(Deserialize)]
struct Expected {
    must: Vec<Must>,
    must_not: Vec<String>,
    cured_allowed: Vec<String>,
}

/// The id of a check, or a sentence for people.
#[derive(Deserialize)]
struct Must {
    check: String,
}

/// A finding of warning or above.
struct Found {
    check: String,
    text: String,
}

fn read<T: DeserializeOwned>(path: &Path) -> T {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("MESHDOCTOR_THREADS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/threads"));
    if folder.join("words.json").is_file() {
        return Some(folder);
    }
    skipped(Need::Threads, &format!("no {} (set MESHDOCTOR_THREADS)", folder.display()));
    None
}

/// The findings of warning or above of a state.
fn findings(thread: &Path, state: &str) -> Vec<Found> {
    let args: Args = read(&thread.join(format!("{state}.args.json")));
    let file = thread.join(format!("{state}.json.gz"));
    let mut words = vec!["check".to_owned(), file.display().to_string(), "--at".to_owned(), args.at];
    words.extend(["-o", "json", "--fail-on", "never"].map(str::to_owned));
    words.extend(args.complete.into_iter().flat_map(|list| ["--complete".to_owned(), list]));
    words.extend(args.cli.into_iter().flat_map(|cli| ["--linkerd-cli".to_owned(), cli]));
    let logs = args.logs.into_iter();
    words.extend(logs.flat_map(|(of, name)| ["--logs".to_owned(), format!("{of}={}", thread.join(name).display())]));
    words.extend(args.extra);
    let said = ran(meshdoctor(&words.iter().map(String::as_str).collect::<Vec<_>>()));
    let report: Value = serde_json::from_str(&said.out)
        .unwrap_or_else(|error| panic!("{} {state}: {error}\n{}", thread.display(), said.err));
    let all = report["findings"].as_array().expect("findings").iter();
    all.filter(|finding| finding["severity"] != "info")
        .map(|finding| Found {
            check: finding["check"].as_str().expect("a check").to_owned(),
            text: finding.to_string().to_lowercase(),
        })
        .collect()
}

/// The differences between what is reported and what is expected.
fn differences(thread: &Path, words: &[String]) -> Vec<String> {
    let expected: Expected = read(&thread.join("expected.json"));
    let broken = findings(thread, "cluster");
    let text = broken.iter().map(|found| found.text.as_str()).collect::<Vec<_>>().join(" ");
    let checks: BTreeSet<&str> = broken.iter().map(|found| found.check.as_str()).collect();
    let unmatched = words.iter().filter(|word| !Regex::new(word).expect("an expression").is_match(&text));
    let mut all: Vec<String> = unmatched.map(|word| format!("no finding matches {word}")).collect();
    let ids = expected.must.iter().map(|must| must.check.as_str()).filter(|text| !text.contains(' '));
    all.extend(ids.filter(|id| !checks.contains(id)).map(|id| format!("{id} is missing")));
    let wrong = expected.must_not.iter().filter(|id| checks.contains(id.as_str()));
    all.extend(wrong.map(|id| format!("{id} must not be reported")));
    let cured = findings(thread, "cured");
    let left = cured.iter().filter(|found| !expected.cured_allowed.contains(&found.check));
    all.extend(left.map(|found| format!("cured: {}", found.text)));
    all
}

#[test]
fn public_reports_are_explained_and_their_cures_are_silent() {
    let Some(folder) = folder() else { return };
    let words: BTreeMap<String, Vec<String>> = read(&folder.join("words.json"));
    let entries = fs::read_dir(&folder).expect("the folder of threads");
    let threads: BTreeSet<PathBuf> =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect();
    assert!(!threads.is_empty(), "{} holds no thread", folder.display());
    let names = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let all: Vec<String> = threads
        .iter()
        .flat_map(|thread| {
            let name = names(thread);
            let words = words.get(&name).map_or(&[][..], Vec::as_slice);
            differences(thread, words).into_iter().map(move |text| format!("{name}: {text}"))
        })
        .collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}
