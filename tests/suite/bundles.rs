//! A saved bundle gives the same report again, and bad input is named while the rest is evaluated.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use meshdoctor::card::Mode;
use meshdoctor::checks::{self, Check, Settings};
use meshdoctor::collect::{Collected, Options, collect_now};
use meshdoctor::fetched::{Fetched, Why};
use meshdoctor::item::{Item, Kind, Scope};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::node_files::NodeFiles;
use meshdoctor::policy::{self, Policy};
use meshdoctor::report::{self, Question};
use meshdoctor::request::Request;
use meshdoctor::save::{ClosingEntries, Saved, Writer};
use meshdoctor::source::bundle::Bundle;
use meshdoctor::source::memory::Memory;
use meshdoctor::source::{Completeness, ObjectSink, Origin, Source};
use serde_json::json;

use crate::case;

/// A full report of all checks without its origin.
pub fn report(collected: &Collected, settings: &Settings) -> String {
    report_of(&checks::all().collect::<Vec<_>>(), collected, settings)
}

/// A full report of some checks without its origin.
fn report_of(checks: &[&'static Check], collected: &Collected, settings: &Settings) -> String {
    let origin = Origin { kind: "test".to_owned(), name: String::new() };
    let policy = Policy::default();
    let question =
        Question { checks, policy: &policy, settings, knowledge: Knowledge::embedded(), origin, change: None };
    format!("{:#?}", report::judge(&question, collected))
}

pub fn everything() -> BTreeSet<Item> {
    let mut items = policy::items(&checks::all().collect::<Vec<_>>());
    items.extend(Kind::ALL.iter().filter(|k| !matches!(k, Kind::Secret | Kind::ConfigMap)).map(|k| Item::List(*k)));
    items.insert("configmaps/control-plane/linkerd-config".parse().unwrap());
    items.extend([Item::ServerVersion, Item::CliVersion, Item::NodeFiles, Item::Logs, Item::Diagnostics]);
    items
}

/// Collects everything from `source`, and saves it.
fn save<S: Source>(source: &S, options: &Options, path: &Path) -> (Collected, Saved) {
    save_items(source, &everything(), options, path)
}

/// Collects `items` from `source`, and saves them.
fn save_items<S: Source>(source: &S, items: &BTreeSet<Item>, options: &Options, path: &Path) -> (Collected, Saved) {
    let writer = Writer::create(path).unwrap();
    let collected = collect_now(source, items, options, Some(&writer));
    let saved = writer.finish(ClosingEntries::new(&collected, Some("prod".to_owned()), None)).unwrap();
    (collected, saved)
}

fn replay(path: &Path, options: &Options) -> Collected {
    replay_items(path, &everything(), options)
}

/// Collects `items` from a bundle.
fn replay_items(path: &Path, items: &BTreeSet<Item>, options: &Options) -> Collected {
    collect_now(&Bundle::load(path).unwrap(), items, options, None)
}

/// Every case of this number is saved with all evidence.
const ALL_EVIDENCE: usize = 15;

const FORMS: [&str; 4] = ["folder/", "x.tar.gz", "x.tar.zst", "x.tar"];

fn node_files(node: &str) -> NodeFiles {
    let files = [
        ("meta.json", r#"{"schema":"node-snapshot/1","node":"worker-1","collectedAt":"2026-01-15T11:00:00Z"}"#),
        ("cni/net.d/05-x.conflist", r#"{"cniVersion":"0.3.1","name":"x","plugins":[]}"#),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    NodeFiles { node: node.to_owned(), files: files.into() }
}

/// A cluster with more than a page of pods, named objects, nodes, and every kind of trouble.
fn troubled() -> Memory {
    let mut memory = Memory { completeness: Completeness::All, ..Memory::default() };
    for n in 0..1203_u64 {
        // Data that does not compress, so that a truncated archive contains a part.
        let noise: String =
            (0..16).map(|i| format!("{:016x}", (n * 16 + i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
        memory
            .objects
            .entry(Kind::Pod)
            .or_default()
            .push(meshdoctor::source::memory::StoredObject {
                namespace: "shop".to_owned(),
                name: format!("web-{n:05}"),
                json: json!({"metadata": {"namespace": "shop", "name": format!("web-{n:05}"), "annotations": {"noise": noise}}})
                    .to_string()
                    .into_bytes(),
            });
    }
    for object in [
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "c1"}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "linkerd", "name": "linkerd-config"},
               "data": {"values": "cniEnabled: true\n"}}),
        json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"namespace": "mesh-cni", "name": "linkerd-cni",
               "labels": {"k8s-app": "linkerd-cni"}}}),
    ] {
        memory.add(&object).unwrap();
    }
    memory.objects.entry(Kind::Service).or_default().push(meshdoctor::source::memory::StoredObject {
        namespace: "shop".to_owned(),
        name: "odd".to_owned(),
        json: br#"{"metadata":{"namespace":"shop","name":"odd","labels":7}}"#.to_vec(),
    });
    memory.malformed.insert(Kind::Job, vec!["jobs.json:12: expected value".to_owned()]);
    memory.trouble.insert(Item::List(Kind::Event), Why::Denied { message: "events is forbidden".to_owned() });
    memory.trouble.insert(Item::List(Kind::CronJob), Why::NotServed);
    memory.trouble.insert(Item::List(Kind::Node), Why::TimedOut { seconds: 30 });
    memory.server_version = Some(json!({"gitVersion": "v1.31.5", "platform": "linux/amd64"}));
    memory.cli_version = Some("stable-2.14.10".to_owned());
    memory.nodes = vec![node_files("worker-1"), node_files("worker-2")];
    memory.captured_at = Some("2026-01-15T12:00:00Z".parse().unwrap());
    memory
}

/// The collected evidence, item by item.
fn evidence(collected: &Collected) -> String {
    let cluster = &collected.cluster;
    let mut text: String = cluster
        .answers()
        .map(|(item, answer)| {
            format!("{item} {:?} {} {:?}\n", answer.request.namespace, answer.count(), answer.fetched)
        })
        .collect();
    text += &format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        cluster.namespaces,
        cluster.server_version,
        cluster.cli_version,
        cluster.nodes,
        cluster.node_trouble,
        cluster.at,
        collected.redaction,
    );
    text
}

#[test]
fn every_case_gives_the_same_report_from_its_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<&'static Check> = checks::all().collect();
    let everything = everything();
    let mut at = 0;
    for check in checks::all() {
        let own = [check];
        let own_items = policy::items(&own);
        for case in check.cases() {
            let live = case::live(check, case);
            // A case is about the evidence of its check. Some are saved with all evidence, for all checks; their number
            // and that of the forms have no common divisor.
            let (checks, items) = match at % ALL_EVIDENCE {
                0 => (&all[..], &everything),
                _ => (&own[..], &own_items),
            };
            // Every case uses one form, and the forms alternate.
            let path = folder.path().join(format!("{at}-{}", FORMS[at % FORMS.len()]));
            at += 1;
            let (whole, _) = save_items(&live.0.memory, items, &live.0.options, &path);
            let again = replay_items(&path, items, &live.0.options);
            let place = format!("{} / {}", check.id, case.title);
            assert_eq!(evidence(&whole), evidence(&again), "{place}");
            let report = |collected| report_of(checks, collected, &live.0.settings);
            assert_eq!(report(&whole), report(&again), "{place}");
        }
    }
    assert!(at > 0);
}

#[test]
fn trouble_is_replayed_as_it_was_in_every_form_and_when_saved_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::default();
    let settings = Settings::default();
    for form in FORMS {
        let path = folder.path().join(form);
        let (whole, saved) = save(&troubled(), &options, &path);
        assert_eq!((saved.objects, saved.nodes), (1207, 2), "{form}");
        let pods = whole.cluster.answer(&Item::List(Kind::Pod)).unwrap();
        assert_eq!((pods.count(), &pods.fetched), (1203, &Fetched::Complete));
        let services = &whole.cluster.answer(&Item::List(Kind::Service)).unwrap().fetched;
        assert!(matches!(services, Fetched::Partial { reasons } if reasons.len() == 1), "{services:?}");

        let again = replay(&path, &options);
        assert_eq!(evidence(&whole), evidence(&again), "{form}");
        assert_eq!(report(&whole, &settings), report(&again, &settings), "{form}");

        let second = folder.path().join(format!("again-{form}"));
        let (resaved, _) = save(&Bundle::load(&path).unwrap(), &options, &second);
        assert_eq!(evidence(&whole), evidence(&resaved), "{form}");
        assert_eq!(evidence(&whole), evidence(&replay(&second, &options)), "{form}");
        if !form.ends_with('/') {
            assert!(
                fs::read(&path).unwrap() == fs::read(&second).unwrap(),
                "{form}: the same evidence, the same bytes"
            );
        }
    }
}

#[test]
fn what_was_not_captured_is_not_captured_and_a_list_answers_for_its_objects() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tgz");
    let writer = Writer::create(&path).unwrap();
    let asked = [Item::List(Kind::Pod), "configmaps/linkerd/linkerd-config".parse().unwrap()];
    let collected = collect_now(&troubled(), &asked.into(), &Options::default(), Some(&writer));
    writer.finish(ClosingEntries::new(&collected, None, Some("edge-25.4.4".to_owned()))).unwrap();

    let bundle = Bundle::load(&path).unwrap();
    let named = |kind, namespace: &str, name: &str| Item::Named {
        kind,
        scope: Scope::Fixed(namespace.to_owned()),
        name: name.to_owned(),
    };
    let wanted = [
        (Item::List(Kind::Service), 0, Fetched::Missing { reason: Why::NotCaptured }),
        (named(Kind::ConfigMap, "linkerd", "other"), 0, Fetched::Missing { reason: Why::NotCaptured }),
        (named(Kind::ConfigMap, "linkerd", "linkerd-config"), 1, Fetched::Complete),
        (named(Kind::Pod, "shop", "web-00700"), 1, Fetched::Complete),
        (named(Kind::Pod, "shop", "gone"), 0, Fetched::Complete),
        (named(Kind::Pod, "other", "web-00700"), 0, Fetched::Complete),
    ];
    for (item, count, fetched) in wanted {
        let got = collect_now(&bundle, &BTreeSet::from([item.clone()]), &Options::default(), None);
        let answer = got.cluster.answer(&item).unwrap();
        assert_eq!((answer.count(), &answer.fetched), (count, &fetched), "{item}");
    }
    let version = collect_now(&bundle, &BTreeSet::from([Item::CliVersion]), &Options::default(), None);
    assert_eq!(version.cluster.cli_version.unwrap().to_string(), "edge-25.4.4");
}

#[test]
fn a_list_is_read_once_however_many_of_its_objects_are_asked_for_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x/");
    let writer = Writer::create(&path).unwrap();
    let collected = collect_now(&troubled(), &[Item::List(Kind::Pod)].into(), &Options::default(), Some(&writer));
    writer.finish(ClosingEntries::new(&collected, None, None)).unwrap();
    let bundle = Bundle::load(&path).unwrap();
    let named =
        |name: &str| Item::Named { kind: Kind::Pod, scope: Scope::Fixed("shop".to_owned()), name: name.to_owned() };
    let found = |name: &str| {
        let item = named(name);
        let got = collect_now(&bundle, &BTreeSet::from([item.clone()]), &Options::default(), None);
        let answer = got.cluster.answer(&item).unwrap();
        (answer.count(), answer.fetched.clone())
    };
    assert_eq!(found("web-00001"), (1, Fetched::Complete));
    // A second reader of the list finds its head missing.
    for entry in walkdir::WalkDir::new(&path) {
        let entry = entry.unwrap();
        let text = fs::read(entry.path()).unwrap_or_default();
        if entry.file_name() != "manifest.json" && text.starts_with(b"{") {
            fs::write(entry.path(), [b"?", &text[1..]].concat()).unwrap();
        }
    }
    assert_eq!(found("web-00700"), (1, Fetched::Complete));
    assert_eq!(found("gone"), (0, Fetched::Complete));
}

/// Gives some pods, begins again, and gives others.
struct Restarting;

impl Source for Restarting {
    fn origin(&self) -> Origin {
        Origin { kind: "live".to_owned(), name: String::new() }
    }

    async fn fetch(&self, _: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        for round in ["old", "new"] {
            for n in 0..700 {
                let applied = json!({"kubectl.kubernetes.io/last-applied-configuration": "{}"});
                let metadata = json!({"namespace": "shop", "name": format!("{round}-{n}"), "annotations": applied});
                sink.object(json!({ "metadata": metadata }).to_string().as_bytes());
            }
            if round == "old" {
                sink.restart();
            }
        }
        Fetched::Complete
    }
}

#[test]
fn a_list_that_began_again_is_saved_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle/");
    let writer = Writer::create(&path).unwrap();
    let items = BTreeSet::from([Item::List(Kind::Pod)]);
    let collected = collect_now(&Restarting, &items, &Options::default(), Some(&writer));
    assert_eq!(collected.redaction.touched, 700);
    writer.finish(ClosingEntries::new(&collected, None, None)).unwrap();
    let bundle = Bundle::load(&path).unwrap();
    let again = collect_now(&bundle, &items, &Options::default(), None);
    let pods = again.cluster.answer(&Item::List(Kind::Pod)).unwrap();
    assert_eq!((pods.count(), &pods.fetched), (700, &Fetched::Complete));
    assert!(!fs::read_to_string(path.join("cluster/core/v1/pods/0001.json")).unwrap().contains("old-"));

    // No CLI was available, which is not a gap in the cluster's evidence.
    let cli = collect_now(&bundle, &BTreeSet::from([Item::CliVersion]), &Options::default(), None);
    assert_eq!(cli.cluster.cli_version, Err(Why::NotOffered));
}

#[test]
fn a_page_is_a_list_that_stands_alone_and_files_are_for_their_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle/");
    save(&troubled(), &Options::default(), &path);
    let page: serde_json::Value =
        serde_json::from_slice(&fs::read(path.join("cluster/core/v1/pods/0003.json")).unwrap()).unwrap();
    assert_eq!((page["kind"].as_str(), page["apiVersion"].as_str()), (Some("PodList"), Some("v1")));
    assert_eq!(page["items"].as_array().unwrap().len(), 203);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let archive = folder.path().join("x.tar.gz");
        save(&troubled(), &Options::default(), &archive);
        for file in [archive, path.join("manifest.json")] {
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
        }
    }
}

#[test]
fn an_archive_is_one_to_any_reader_though_its_large_pages_were_packed_apart() {
    let folder = tempfile::tempdir().unwrap();
    let files = FORMS.map(|form| {
        let path = folder.path().join(form);
        save(&troubled(), &Options::default(), &path);
        let bytes = |path: &Path| std::io::BufReader::new(fs::File::open(path).unwrap());
        let tar: Box<dyn std::io::Read> = match form {
            "folder/" => return None,
            "x.tar" => Box::new(bytes(&path)),
            "x.tar.gz" => Box::new(flate2::read::MultiGzDecoder::new(bytes(&path))),
            _ => Box::new(zstd::stream::read::Decoder::new(bytes(&path)).unwrap()),
        };
        let mut files = Vec::new();
        for entry in tar::Archive::new(tar).entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            std::io::Read::read_to_string(&mut entry, &mut text).unwrap();
            files.push((entry.path().unwrap().display().to_string(), text));
        }
        assert!(files.iter().any(|(_, text)| text.len() > 32 << 10), "a large page");
        Some(files)
    });
    let [_, packed @ .., plain] = &files;
    assert!(packed.iter().all(|files| files == plain));
}

#[test]
fn a_target_that_cannot_be_written_is_known_before_collecting_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let there = |name: &str| folder.path().join(name);
    fs::create_dir(there("full")).unwrap();
    fs::write(there("full/x"), "").unwrap();
    fs::create_dir(there("x.tar.gz")).unwrap();
    for (path, wanted) in [
        (there("bundle"), "end the name in"),
        (there("bundle.zip"), "end the name in"),
        (there("full/"), "not empty"),
        (there("x.tar.gz"), "is a folder"),
        (there("none/x.tgz"), "No such file"),
    ] {
        let error = Writer::create(&path).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
        assert!(error.contains(&path.display().to_string()), "{error}");
    }
    let before = names(folder.path());
    let writer = Writer::create(&there("y.tar.gz")).unwrap();
    collect_now(&troubled(), &everything(), &Options::default(), Some(&writer));
    drop(writer);
    assert_eq!(names(folder.path()), before, "a run that is given up leaves nothing behind");
    save(&troubled(), &Options::default(), &there("y.tar.gz"));
    save(&troubled(), &Options::default(), &there("y.tar.gz"));
    assert_eq!(names(folder.path()).len(), before.len() + 1, "written twice: one file and no leftovers");
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> =
        walkdir::WalkDir::new(folder).into_iter().map(|entry| entry.unwrap().into_path()).collect();
    names.sort();
    names
}

#[test]
fn a_truncated_bundle_answers_with_what_is_left_and_names_what_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    for form in ["x.tar", "x.tar.gz", "x.tar.zst"] {
        let whole = folder.path().join(form);
        save(&troubled(), &Options::default(), &whole);
        let bytes = fs::read(&whole).unwrap();
        let mut seen_partial = false;
        for twentieth in 1..20 {
            let path = folder.path().join(format!("{twentieth}-{form}"));
            fs::write(&path, &bytes[..bytes.len() * twentieth / 20]).unwrap();
            let bundle = match Bundle::load(&path) {
                Ok(bundle) => bundle,
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains(form), "{text}");
                    continue;
                }
            };
            assert!(!bundle.trouble().is_empty(), "{form} at {twentieth}/20");
            let items = BTreeSet::from([Item::List(Kind::Pod)]);
            let got = collect_now(&bundle, &items, &Options::default(), None);
            let pods = got.cluster.answer(&Item::List(Kind::Pod)).unwrap();
            match &pods.fetched {
                Fetched::Complete => assert_eq!(pods.count(), 1203, "{form} at {twentieth}/20"),
                Fetched::Partial { reasons } => {
                    seen_partial |= pods.count() > 0;
                    for why in reasons {
                        let Why::Malformed { message } = why else { panic!("{why:?}") };
                        assert!(message.contains("cluster/core/v1/pods/000"), "{message}");
                        assert!(message.contains(form), "{message}");
                    }
                }
                other @ Fetched::Missing { .. } => panic!("{other:?}"),
            }
        }
        assert!(seen_partial, "{form}: no cut left a part of the pods");
    }
}

#[test]
fn a_newer_bundle_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("manifest.json"), r#"{"schema":"meshdoctor.bundle/2","pages":[]}"#).unwrap();
    let error = Bundle::load(folder.path()).unwrap_err();
    assert!(error.to_string().contains("format 2"), "{error}");
    assert!(!error.is_usage());
}

#[test]
fn what_the_operator_may_do_is_kept_with_its_answer() {
    let mut memory = troubled();
    memory.denied = Some(BTreeSet::from(["get/secrets/control-plane".parse().unwrap()]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tar.gz");
    let (collected, _) = save(&memory, &Options::default(), &path);
    let before = Settings { mode: Mode::Pre, ..Settings::default() };
    let told = report(&collected, &before);
    assert!(told.contains("kubectl auth can-i get secrets -n linkerd: no"), "{told}");
    assert!(!told.contains("kubectl auth can-i create secrets -n linkerd: no"), "{told}");
    assert_eq!(report(&replay(&path, &Options::default()), &before), told);

    // Without access reviews in the bundle the answer is unknown, not allowed.
    let items = BTreeSet::from([Item::List(Kind::Pod)]);
    let path = folder.path().join("pods.tar");
    let writer = Writer::create(&path).unwrap();
    let collected = collect_now(&memory, &items, &Options::default(), Some(&writer));
    writer.finish(ClosingEntries::new(&collected, None, None)).unwrap();
    let item: Item = "access/get/secrets/control-plane".parse().unwrap();
    let later = collect_now(&Bundle::load(&path).unwrap(), &BTreeSet::from([item.clone()]), &Options::default(), None);
    let missing = Fetched::Missing { reason: Why::NotCaptured };
    assert_eq!(later.cluster.answer(&item).unwrap().fetched, missing);
}
