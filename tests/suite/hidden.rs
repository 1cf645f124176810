//! A password in every field of `hidden/cluster.yaml` that a tenant can set: none is in a bundle, a ticket,
//! or any form of a report.

use std::collections::BTreeMap;
use std::path::Path;

use crate::binary::meshdoctor;

pub const CLUSTER: &str = include_str!("hidden/cluster.yaml");
/// Forms of reports.
pub const FORMS: [&str; 14] = [
    "table",
    "short",
    "json",
    "yaml",
    "html",
    "sarif",
    "junit",
    "github",
    "gitlab",
    "markdown",
    "prometheus",
    "ndjson",
    "linkerd",
    "linkerd-table",
];
/// Texts in the bundle that checks read.
const KEPT: [&str; 14] = [
    "/api/v1/orders",
    "/hook/REDACTED(",
    "-controller-namespace=linkerd",
    "X-Secret",
    "linkerd.io/password",
    "config.linkered.io/x",
    "config.linkerd.io/db-password",
    "LINKERD2_PROXY_FOO",
    "\"otp\"",
    "ReplaceFullPath",
    "/ready/REDACTED(",
    "timeout.linkerd.io/request",
    "-pw=REDACTED(",
    "https://10.0.0.1/api/hook?REDACTED(",
];

/// Writes the cluster; returns each planted password, with the line before it.
fn plant(file: &Path) -> BTreeMap<String, String> {
    let tree: serde_json::Value = serde_yaml::from_str(CLUSTER).unwrap();
    // Aliases are expanded, so that each place has a password of its own.
    let text = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": tree}).to_string();
    let (text, planted) = plant_text(text);
    std::fs::write(file, text).unwrap();
    planted
}

/// Replaces each place for a password; returns the passwords, with the text before them.
pub fn plant_text(mut text: String) -> (String, BTreeMap<String, String>) {
    let mut planted = BTreeMap::new();
    for (word, shape) in [("RANDOM", "hunterbQz@K!x"), ("QUIET", "zanzi-brk@")] {
        while let Some(at) = text.find(word) {
            let password = shape.replace('@', &format!("{:03}", planted.len()));
            let before = text[..at].char_indices().rev().nth(60).map_or(0, |(at, _)| at);
            planted.insert(password.clone(), text[before..at].to_owned());
            text.replace_range(at..at + word.len(), &password);
        }
    }
    (text, planted)
}

#[test]
fn no_output_holds_a_password_of_any_field() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = folder.path().join("cluster.json");
    let planted = plant(&cluster);
    assert!(planted.len() > 120, "{}", planted.len());
    let cluster = cluster.display().to_string();
    let saved = folder.path().join("saved");
    std::fs::create_dir(&saved).unwrap();
    let target = |name: &str| format!("{}/", saved.join(name).display());
    let (bundle, ticket) = (target("bundle"), target("ticket"));
    let mut commands: Vec<Vec<&str>> =
        vec![vec!["collect", "-o", &bundle], vec!["ticket", "-o", &ticket], vec!["injection", "-o", "json"]];
    commands.extend(FORMS.map(|form| vec!["check", "-v=2", "-o", form]));
    let mut outputs: Vec<(String, String)> = Vec::new();
    for mut command in commands {
        let name = command.join(" ");
        command.extend(["--bundle", &cluster, "--no-config"]);
        if command[0] != "injection" {
            command.extend(["--complete", "all", "--linkerd-cli", "none"]);
        }
        let output = meshdoctor(&command).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(text.len() > 30, "{name}: {text}");
        outputs.push((name, text));
    }
    let mut files = String::new();
    for entry in walkdir::WalkDir::new(&saved) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let text = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned();
            files.push_str(&text);
            outputs.push((entry.path().display().to_string(), text));
        }
    }
    let lost: Vec<&str> = KEPT.into_iter().filter(|kept| !files.contains(kept)).collect();
    assert!(lost.is_empty(), "lost from the bundle: {lost:?}");
    let mut leaks = Vec::new();
    for (password, place) in &planted {
        for (name, _) in outputs.iter().filter(|(_, text)| text.contains(password.as_str())) {
            leaks.push(format!("{password} after {place:?} in {name}"));
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}
