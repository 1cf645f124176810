//! JSON outputs other than reports match their schemas in `docs/schema`, and every schema tag has one. Reports are
//! validated where they are rendered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jsonschema::Validator;
use meshdoctor::demo::DemoState;
use meshdoctor::{checks, render};
use regex::Regex;
use serde_json::{Value, json};

use crate::binary::{Ran, meshdoctor, ran};
use crate::verify::Folder;

const AT: &str = "2026-01-15T12:00:00Z";
/// Tags of what is not one JSON document: lines of a pipeline, bundles, and hashes of ids and fingerprints.
const OTHERS: [&str; 5] = ["lines", "bundle", "gap", "run", "finding"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The schemas by tag.
fn schemas() -> BTreeMap<String, Validator> {
    let files = std::fs::read_dir(root().join("docs/schema")).unwrap();
    let each = files.map(|file| {
        let path = file.unwrap().path();
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (tag, version) = name.strip_suffix(".json").unwrap().split_once(".v").unwrap();
        assert!(schema["$id"].as_str().unwrap().ends_with(&format!("/blob/main/docs/schema/{name}")), "{name}");
        (format!("meshdoctor.{tag}/{version}"), jsonschema::validator_for(&schema).unwrap())
    });
    each.collect()
}

/// Validates the document of a run with the schema that it names, and returns its tag.
#[track_caller]
fn valid(schemas: &BTreeMap<String, Validator>, what: &str, document: &Value) -> String {
    let tag = document["schema"].as_str().unwrap_or_else(|| panic!("{what} has no schema: {document:#}"));
    let schema = schemas.get(tag).unwrap_or_else(|| panic!("{what}: {tag} is not in docs/schema"));
    let errors: Vec<String> =
        schema.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path)).collect();
    assert!(errors.is_empty(), "{what}:\n{}", errors.join("\n"));
    // A field that the schema does not know is noticed.
    let mut other = document.clone();
    other["notAField"] = json!(1);
    assert!(!schema.is_valid(&other), "{what}");
    tag.to_owned()
}

/// Validates a document with the schema that it names.
#[track_caller]
pub fn assert_valid(document: &Value) {
    valid(&schemas(), "a document", document);
}

#[test]
fn every_tag_in_the_source_has_a_schema() {
    let tag = Regex::new(r#""meshdoctor\.(?:io/)?([a-z]+)/v?(\d+)"#).unwrap();
    let schemas = schemas();
    let mut seen = BTreeSet::new();
    for entry in ["src", "crates"].into_iter().flat_map(|folder| walkdir::WalkDir::new(root().join(folder))) {
        let entry = entry.unwrap();
        if entry.path().extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        for found in tag.captures_iter(&text) {
            // `meshdoctor.io/v1` is an API version.
            if &found[1] != "io" && !OTHERS.contains(&&found[1]) {
                seen.insert(format!("meshdoctor.{}/{}", &found[1], &found[2]));
            }
        }
    }
    assert_eq!(seen, schemas.into_keys().collect());
}

#[test]
fn outputs_of_commands_match_their_schemas() {
    let schemas = schemas();
    let folder = Folder::new();
    let bundle = folder.bundle("injector-fails-open", DemoState::Before, AT);
    let after = folder.bundle("injector-fails-open", DemoState::After, "2026-01-15T13:00:00Z");
    let report = folder.report(&bundle, &[]);
    let [bundle, after, report] = [&bundle, &after, &report].map(|path| path.to_str().unwrap());
    let both = folder.path("both");
    std::fs::create_dir(&both).unwrap();
    let base = std::fs::read_to_string(root().join("checks/bases/multicluster.yaml")).unwrap();
    for name in ["west.yaml", "east.yaml"] {
        crate::binary::write(&both, name, &base);
    }
    crate::binary::write(&both, "broken.yaml", "a: [");
    let both = both.to_str().unwrap();
    let mut tags = BTreeSet::new();
    for words in [
        &["list"][..],
        &["list", "--defects"],
        &["list", "nothing-such"],
        &["explain", "waiver-unused"],
        &["explain", "l5d-proxy-healthy"],
        &["explain", "exit code 95"],
        &["explain", "nothing-such"],
        &["version"],
        &["check", "--bundle", bundle],
        &["check", "--verify", report, "--bundle", after],
        &["check", "--bundles", both],
        &["diff", report, after],
        &["diff", report, "/nonexistent"],
        &["policy", "--bundle", bundle],
        &["policy", "--to", "shop/web", "--bundle", bundle],
        &["policy", "nowhere", "--bundle", bundle],
        &["injection", "--bundle", bundle],
        &["reach", "--matrix", "-n", "shop", "--bundle", bundle],
        &["reach", "--bundle", bundle],
        &["rotate", "--bundle", bundle],
        &["rotate", "--bundle", "/nonexistent"],
        &["fix", report],
        &["fix", "--bundle", bundle],
        &["fix", "/nonexistent"],
    ] {
        let said: Ran = ran(meshdoctor(&[words, &["-o", "json"]].concat()));
        tags.insert(valid(&schemas, &words.join(" "), &said.document()));
    }
    for check in checks::all() {
        let page: Value = serde_json::from_str(&render::explain::json(check)).unwrap();
        tags.insert(valid(&schemas, check.id, &page));
    }
    let wanted =
        "check defects diff explanation fix fleet injection list outbound policy reach report rotation verify version";
    for tag in wanted.split(' ') {
        assert!(tags.contains(&format!("meshdoctor.{tag}/1")), "{tag}");
    }
}

/// Clusters with every kind of policy, route and Link.
#[test]
fn answers_about_other_clusters_match_their_schemas() {
    let schemas = schemas();
    let mut bundles: Vec<String> = ["multicluster", "viz", "jaeger"]
        .map(|base| root().join(format!("checks/bases/{base}.yaml")).display().to_string())
        .into();
    let lab = root().join("../shared/lab");
    for scenario in ["route-split", "rate-limit", "egress-allow", "server-mtls", "failure-accrual", "consumer-route"] {
        let packed = lab.join(scenario).join("cluster.json.gz");
        bundles.extend(packed.exists().then(|| packed.display().to_string()));
    }
    for bundle in bundles {
        for words in [
            &["policy"][..],
            &["policy", "--to", "shop/api:80", "--to", "192.0.2.1:443"],
            &["injection"],
            &["reach", "--matrix", "-n", "shop"],
        ] {
            let args = [words, &["-o", "json", "--complete", "all", "--at", AT, "--bundle", &bundle]].concat();
            let said = ran(meshdoctor(&args));
            valid(&schemas, &format!("{} of {bundle}", words.join(" ")), &said.document());
        }
    }
}
