//! Dumps in every supported form contain the same objects. Missing lists are not captured, and a broken part
//! is named while the rest is read.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use meshdoctor::collect::{Collected, Options, collect_now};
use meshdoctor::fetched::{Fetched, Why};
use meshdoctor::item::{Item, Kind, Scope};
use meshdoctor::save::{ClosingEntries, Writer};
use meshdoctor::source::Completeness;
use meshdoctor::source::error::LoadError;
use meshdoctor::source::evidence::Captured;
use meshdoctor::source::memory::Memory;
use serde_json::{Value, json};

use crate::binary::{meshdoctor, ran};
use crate::recordings;

pub const NOTHING: &[u8] = b"";

pub fn open(paths: &[&Path], completeness: Completeness) -> Result<Captured, LoadError> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    Captured::open(&paths, completeness, NOTHING)
}

fn pipe(input: &[u8]) -> Result<Captured, LoadError> {
    Captured::open(&[PathBuf::from("-")], Completeness::Unstated, input)
}

fn ask(evidence: &Captured, item: &Item) -> (usize, Fetched) {
    let collected = collect_now(evidence, &BTreeSet::from([item.clone()]), &Options::default(), None);
    let answer = collected.cluster.answer(item).unwrap();
    (answer.count(), answer.fetched.clone())
}

pub fn list(evidence: &Captured, kind: Kind) -> (usize, Fetched) {
    ask(evidence, &Item::List(kind))
}

pub fn malformed(fetched: &Fetched) -> Vec<&str> {
    let reasons = match fetched {
        Fetched::Complete => &[][..],
        Fetched::Partial { reasons } => reasons,
        Fetched::Missing { reason } => std::slice::from_ref(reason),
    };
    let messages = reasons.iter().map(|why| match why {
        Why::Malformed { message } => message.as_str(),
        _ => "",
    });
    messages.filter(|message| !message.is_empty()).collect()
}

fn perhaps_more() -> Fetched {
    Fetched::Partial { reasons: vec![Why::PerhapsMore] }
}

fn not_captured() -> Fetched {
    Fetched::Missing { reason: Why::NotCaptured }
}

pub fn pod(name: &str, version: u64) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": name,
        "resourceVersion": version.to_string(), "labels": {"hash": "572e207381", "on": "yes"}}, "spec": {"nodeName": "n"}})
}

pub fn kubectl_list(items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}})
}

pub fn tar_of(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, bytes.as_slice()).unwrap();
    }
    tar.into_inner().unwrap()
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}

#[test]
fn one_cluster_comes_out_of_every_form_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let pods = [pod("a", 5), pod("b", 6)];
    let list_json = kubectl_list(&pods).to_string();
    let list_yaml = serde_yaml::to_string(&kubectl_list(&pods)).unwrap();
    let stream_yaml = pods.iter().map(|p| serde_yaml::to_string(p).unwrap()).collect::<Vec<_>>().join("---\n");
    let stream_json = pods.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let bare: Vec<Value> = pods.iter().map(|p| json!({"metadata": p["metadata"], "spec": p["spec"]})).collect();
    let typed = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": bare}).to_string();
    let utf16: Vec<u8> = [0xFEFF].into_iter().chain(list_json.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let halves = tar_of(&[
        ("dump/a.json", pods[0].to_string().into_bytes()),
        ("dump/deep/b.yaml", serde_yaml::to_string(&pods[1]).unwrap().into_bytes()),
        ("dump/README.md", b"# how it was made".to_vec()),
    ]);
    let forms: Vec<(&str, Vec<u8>)> = vec![
        ("list.json", list_json.clone().into_bytes()),
        ("pretty.json", serde_json::to_vec_pretty(&kubectl_list(&pods)).unwrap()),
        ("list.yaml", list_yaml.clone().into_bytes()),
        ("crlf.yaml", list_yaml.replace('\n', "\r\n").into_bytes()),
        ("bom.json", format!("\u{FEFF}{list_json}").into_bytes()),
        ("utf16.json", utf16),
        ("stream.yaml", stream_yaml.into_bytes()),
        ("stream.json", stream_json.into_bytes()),
        ("array.json", Value::from(pods.to_vec()).to_string().into_bytes()),
        ("typed.json", typed.into_bytes()),
        ("wrong-name.yaml", list_json.clone().into_bytes()),
        ("list.json.gz", gz(list_json.as_bytes())),
        ("list.zst", zstd::encode_all(list_json.as_bytes(), 1).unwrap()),
        ("dump.tar", halves.clone()),
        ("dump.tgz", gz(&halves)),
        ("nested.tgz", gz(&tar_of(&[("x/dump.tgz", gz(&halves))]))),
    ];
    let all = |evidence: &Captured| {
        let options = Options::default();
        let pods = collect_now(evidence, &BTreeSet::from([Item::List(Kind::Pod)]), &options, None);
        let answer = pods.cluster.answer(&Item::List(Kind::Pod)).unwrap();
        format!("{:?} {:?}", answer.fetched, answer.objects::<meshdoctor::objects::Pod>())
    };
    let mut wanted: Option<String> = None;
    for (name, bytes) in &forms {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let evidence = open(&[&path], Completeness::Unstated).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(list(&evidence, Kind::Pod), (2, perhaps_more()), "{name}: {:?}", evidence.warnings());
        assert_eq!(list(&evidence, Kind::Service), (0, not_captured()), "{name}");
        let got = all(&evidence);
        assert_eq!(wanted.get_or_insert_with(|| got.clone()), &got, "{name}");
        assert_eq!(all(&pipe(bytes).unwrap()), got, "{name} through a pipe");
    }
    // Everything at once, as a folder: each object once.
    let whole = open(&[folder.path()], Completeness::All).unwrap();
    assert_eq!(list(&whole, Kind::Pod), (2, Fetched::Complete), "{:?}", whole.warnings());
    assert_eq!(list(&whole, Kind::Service), (0, Fetched::Complete));
    assert_eq!(whole.ignored().len(), 3, "{:?}", whole.ignored());
}

/// `kubectl get` of several kinds prints nothing if one of them is not served, and no cluster serves the
/// kinds of every network plugin.
#[test]
fn kinds_that_a_cluster_may_lack_are_asked_for_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pods.json");
    fs::write(&path, kubectl_list(&[pod("a", 5)]).to_string()).unwrap();
    let said = ran(meshdoctor(&["check", "--coverage", "--bundle", path.to_str().unwrap()])).out;
    let line = |begin: &str| said.lines().map(str::trim).find(|line| line.starts_with(begin)).unwrap();
    let at_once = line("kubectl get namespaces,");
    assert!(at_once.contains("services") && at_once.ends_with(" -A -o json > objects.json"), "{at_once}");
    assert!(!at_once.contains("cilium") && !at_once.contains("linkerd.io"), "{at_once}");
    let each = line("for KIND in ");
    assert!(each.contains(" ciliumnetworkpolicies.cilium.io "), "{each}");
    assert!(each.ends_with("; do kubectl get \"$KIND\" -A -o json > \"$KIND.json\"; done"), "{each}");
}

#[test]
fn completeness_is_what_the_operator_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "linkerd", "name": "linkerd-config"}});
    fs::write(&path, kubectl_list(&[pod("a", 1), config]).to_string()).unwrap();
    let evidence = open(&[&path], Completeness::Kinds([Kind::Pod, Kind::Service].into())).unwrap();
    assert_eq!(list(&evidence, Kind::Pod), (1, Fetched::Complete));
    assert_eq!(list(&evidence, Kind::Service), (0, Fetched::Complete));
    assert_eq!(list(&evidence, Kind::Node), (0, not_captured()));
    assert_eq!(list(&evidence, Kind::ConfigMap), (1, perhaps_more()));
    let named = |kind, scope: Scope, name: &str| Item::Named { kind, scope, name: name.to_owned() };
    assert_eq!(ask(&evidence, &named(Kind::ConfigMap, Scope::ControlPlane, "linkerd-config")), (1, Fetched::Complete));
    assert_eq!(ask(&evidence, &named(Kind::ConfigMap, Scope::ControlPlane, "other")), (0, not_captured()));
    assert_eq!(ask(&evidence, &named(Kind::Pod, Scope::Fixed("shop".to_owned()), "gone")), (0, Fetched::Complete));
    // An empty list is evidence too if the dump is declared complete.
    fs::write(&path, kubectl_list(&[]).to_string()).unwrap();
    assert_eq!(list(&open(&[&path], Completeness::All).unwrap(), Kind::Pod), (0, Fetched::Complete));
    assert_eq!(list(&open(&[&path], Completeness::Unstated).unwrap(), Kind::Pod), (0, not_captured()));
}

#[test]
fn an_object_in_several_files_counts_once_in_its_latest_state() {
    let folder = tempfile::tempdir().unwrap();
    let event = |api: &str, text: &str| {
        json!({"apiVersion": api, "kind": "Event", "metadata": {"namespace": "shop", "name": "web.17", "resourceVersion": "9"},
            "reason": "FailedCreatePodSandBox", "message": text, "note": text, "type": "Warning"})
    };
    let state = |name: &str, version: u64, node: &str| {
        let mut pod = pod(name, version);
        pod["spec"]["nodeName"] = node.into();
        pod
    };
    fs::write(folder.path().join("1.json"), kubectl_list(&[state("web-0", 100, "new"), event("v1", "x")]).to_string())
        .unwrap();
    fs::write(
        folder.path().join("2.json"),
        kubectl_list(&[state("web-0", 99, "old"), event("events.k8s.io/v1", "x")]).to_string(),
    )
    .unwrap();
    let evidence = open(&[folder.path()], Completeness::All).unwrap();
    assert_eq!(list(&evidence, Kind::Event), (1, Fetched::Complete));
    let pods = collect_now(&evidence, &BTreeSet::from([Item::List(Kind::Pod)]), &Options::default(), None);
    let pods = pods.cluster.answer(&Item::List(Kind::Pod)).unwrap().objects::<meshdoctor::objects::Pod>();
    assert_eq!(pods.len(), 1);
    assert!(format!("{pods:?}").contains("new"), "{pods:?}");
}

#[test]
fn versions_are_found_and_a_client_alone_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let server = json!({"major": "1", "gitVersion": "v1.31.5", "platform": "linux/amd64"});
    fs::write(
        path("both.json"),
        json!({"clientVersion": {"gitVersion": "v1.33.0"}, "serverVersion": server}).to_string(),
    )
    .unwrap();
    fs::write(path("raw.json"), server.to_string()).unwrap();
    fs::write(path("version.yaml"), "clientVersion:\n  gitVersion: v1.33.0\nserverVersion:\n  gitVersion: v1.31.5\n")
        .unwrap();
    fs::write(path("client.json"), json!({"clientVersion": {"gitVersion": "v1.33.0"}}).to_string()).unwrap();
    fs::write(path("pods.json"), kubectl_list(&[pod("a", 1)]).to_string()).unwrap();
    let version = |evidence: &Captured| -> Collected {
        collect_now(evidence, &BTreeSet::from([Item::ServerVersion, Item::CliVersion]), &Options::default(), None)
    };
    for name in ["both.json", "raw.json", "version.yaml"] {
        let evidence = open(&[&path("pods.json"), &path(name)], Completeness::Unstated).unwrap();
        let got = version(&evidence).cluster;
        assert_eq!(got.server_version.unwrap().to_string(), "v1.31.5", "{name}");
        assert_eq!(got.cli_version.unwrap_err(), Why::NotOffered, "kubectl's version is not the linkerd CLI's");
    }
    let evidence = open(&[&path("pods.json"), &path("client.json")], Completeness::Unstated).unwrap();
    assert_eq!(version(&evidence).cluster.server_version.unwrap_err(), Why::NotCaptured);
    assert!(evidence.warnings().iter().any(|w| w.contains("only kubectl's version")), "{:?}", evidence.warnings());
}

#[test]
fn cluster_info_dump_is_read_as_a_folder_and_as_one_text() {
    let folder = tempfile::tempdir().unwrap();
    let meta = json!({"namespace": "shop", "name": "web-1"});
    let pods = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": [{"metadata": meta}]});
    let nodes =
        json!({"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": [{"metadata": {"name": "n1"}}]});
    let none = json!({"kind": "ReplicationControllerList", "apiVersion": "v1", "metadata": {}, "items": null});
    let deployments =
        json!({"kind": "DeploymentList", "apiVersion": "apps/v1", "metadata": {}, "items": [{"metadata": meta}]});
    let log =
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"from-a-log\"}}\n==== START\nno end of line";
    for (name, text) in [
        ("nodes.json", nodes.to_string()),
        ("shop/pods.json", pods.to_string()),
        ("shop/replication-controllers.json", none.to_string()),
        ("shop/deployments.json", deployments.to_string()),
        ("shop/web-1/logs.txt", log.to_owned()),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let text = format!(
        "{nodes:#}\n{none:#}\n{pods:#}\n{deployments:#}\n==== START logs for container web of pod shop/web-1 ====\n{log}\
         ==== END logs for container web of pod shop/web-1 ====\n{none:#}\n"
    );
    for evidence in [open(&[folder.path()], Completeness::Unstated).unwrap(), pipe(text.as_bytes()).unwrap()] {
        assert!(evidence.warnings().is_empty(), "{:?}", evidence.warnings());
        for kind in [Kind::Node, Kind::Pod, Kind::Deployment] {
            assert_eq!(list(&evidence, kind), (1, perhaps_more()), "{kind}");
        }
    }
}

/// Secrets as `oc adm inspect` writes them: all values except `tls.crt`, `ca.crt` and `service-ca.crt` are
/// replaced by their length.
#[test]
fn secrets_that_must_gather_hides_are_not_read_and_not_missed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("must-gather.local.1/quay/namespaces/linkerd/core/secrets.yaml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let issuer =
        Item::Named { kind: Kind::Secret, scope: Scope::ControlPlane, name: "linkerd-identity-issuer".to_owned() };
    // "7 bytes long", "75 bytes long", "675 bytes long", "1675 bytes long"; and a key that is empty in the cluster.
    for (value, hidden) in [
        ("NyBieXRlcyBsb25n", true),
        ("NzUgYnl0ZXMgbG9uZw==", true),
        ("Njc1IGJ5dGVzIGxvbmc=", true),
        ("MTY3NSBieXRlcyBsb25n", true),
        ("", false),
    ] {
        for (certificate, is_shown) in [("tls.crt", true), ("crt.pem", false)] {
            // A certificate under another key is also reduced to its length.
            let shown = if is_shown || !hidden { "Y2VydA==" } else { value };
            let secret = json!({"metadata": {"namespace": "linkerd", "name": "linkerd-identity-issuer"},
                "data": {"key": value, certificate: shown}, "type": "kubernetes.io/tls"});
            let secrets = json!({"apiVersion": "v1", "kind": "SecretList", "items": [secret]});
            fs::write(&path, format!("---\n{}", serde_yaml::to_string(&secrets).unwrap())).unwrap();
            let is_read = is_shown || !hidden;
            for completeness in [Completeness::Unstated, Completeness::All] {
                let evidence = open(&[folder.path()], completeness).unwrap();
                let (count, fetched) = ask(&evidence, &issuer);
                assert_eq!(count, usize::from(is_read), "{certificate} {value}");
                let said = malformed(&fetched);
                let told = said.iter().any(|why| why.contains("hidden"));
                assert_eq!(told, !is_read, "{certificate} {value}: {fetched:?}");
            }
        }
    }
}

#[test]
fn two_clusters_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let system =
        |uid: &str| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": uid}});
    let path = |name: &str| folder.path().join(name);
    fs::write(path("one.json"), kubectl_list(&[system("u1")]).to_string()).unwrap();
    fs::write(path("other.yaml"), serde_yaml::to_string(&system("u2")).unwrap()).unwrap();
    let save = |name: &str, uid: &str| {
        let mut memory = Memory { completeness: Completeness::All, ..Memory::default() };
        memory.add(&system(uid)).unwrap();
        let writer = Writer::create(&path(name)).unwrap();
        let items = BTreeSet::from([Item::List(Kind::Namespace)]);
        let collected = collect_now(&memory, &items, &Options::default(), Some(&writer));
        writer.finish(ClosingEntries::new(&collected, None, None)).unwrap();
    };
    save("b1.tar.gz", "u1");
    save("b2.tar.zst", "u2");
    for (a, b, one) in [
        ("one.json", "other.yaml", false),
        ("one.json", "b2.tar.zst", false),
        ("b1.tar.gz", "b2.tar.zst", false),
        ("one.json", "b1.tar.gz", true),
        ("b1.tar.gz", "b1.tar.gz", true),
    ] {
        let result = open(&[&path(a), &path(b)], Completeness::Unstated);
        match result {
            Ok(evidence) => {
                assert!(one, "{a} and {b}");
                assert_eq!(list(&evidence, Kind::Namespace), (1, Fetched::Complete), "a bundle knows that this is all");
            }
            Err(error) => {
                assert!(!one && error.is_usage(), "{a} and {b}: {error}");
                assert!(error.to_string().contains(a) && error.to_string().contains(b), "{error}");
            }
        }
    }
}

#[test]
fn recorded_clusters_are_read_whole() {
    let Some(folder) = recordings::folder() else { return };
    let mut names: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    assert!(!names.is_empty());
    for recording in names {
        let place = recording.display();
        let cluster = recording.join("cluster.json");
        let evidence = open(&[&cluster, &recording.join("version.json")], Completeness::All).unwrap();
        assert!(evidence.warnings().is_empty(), "{place}: {:?}", evidence.warnings());
        let text: Value = serde_json::from_slice(&fs::read(&cluster).unwrap()).unwrap();
        let held = text["items"].as_array().unwrap();
        for kind in Kind::ALL {
            let wanted = held
                .iter()
                .filter(|o| {
                    Kind::of_manifest(o["apiVersion"].as_str().unwrap(), o["kind"].as_str().unwrap()) == Some(*kind)
                })
                .count();
            assert_eq!(list(&evidence, *kind), (wanted, Fetched::Complete), "{place}: {kind}");
        }
        let version = collect_now(&evidence, &BTreeSet::from([Item::ServerVersion]), &Options::default(), None);
        assert!(version.cluster.server_version.is_ok(), "{place}");
        // The folder as it is, with files next to the dump that are not part of it.
        let folder = open(&[&recording], Completeness::All).unwrap();
        assert_eq!(list(&folder, Kind::Pod), list(&evidence, Kind::Pod), "{place}");
        assert!(folder.warnings().is_empty(), "{place}: {:?}", folder.warnings());
    }
}

/// A namespace that a dump of a part of the cluster does not have may exist: a warning, not an error.
#[test]
fn a_namespace_that_a_partial_dump_lacks_is_a_warning() {
    let Some(folder) = recordings::folder() else { return };
    let dump = folder.join("anchor-expired/cluster.json");
    let words = ["check", "-n", "shopp", "--bundle", dump.to_str().unwrap()];
    let partly = ran(meshdoctor(&words));
    assert!(
        partly.err.contains("warning: the evidence has no namespace shopp (-n); did you mean shop?"),
        "{}",
        partly.err
    );
    let quiet = ran(meshdoctor(&[&words[..], &["-q"]].concat()));
    assert!(!quiet.err.contains("shopp"), "{}", quiet.err);
    let whole = ran(meshdoctor(&[&words[..], &["--complete", "all"]].concat()));
    assert!(whole.status == 2 && whole.err.contains("did you mean shop?"), "{}", whole.err);
}

/// A time of the operator is not a clock: nodes whose heartbeats do not fit it are not checked.
#[test]
fn a_given_time_is_not_judged_as_a_clock() {
    let Some(folder) = recordings::folder() else { return };
    let dump = folder.join("nothing-installed/cluster.json");
    let given = ["--bundle", dump.to_str().unwrap(), "--complete", "all", "--at", "2026-11-21T03:00:00Z"];
    let ran = ran(meshdoctor(&[&["check", "--pre", "--coverage"], &given[..]].concat()));
    assert!(!ran.out.contains("this machine's clock"), "{}", ran.out);
    let said = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("min after the last heartbeat of every node"), "{}", ran.out);
}

/// The command that an info names prints the steps of infos.
#[test]
fn a_deferred_info_is_printed_by_its_command() {
    let Some(folder) = recordings::folder() else { return };
    let dump = folder.join("anchor-expired");
    let given = ["--bundle", dump.to_str().unwrap(), "--complete", "all", "--at", "2026-11-21T02:06:07Z"];
    let out = ran(meshdoctor(&[&["check", "-v"], &given[..]].concat())).out;
    let command = "meshdoctor check --only data-plane-anchors-disjoint,injector-fails-open -v";
    assert!(out.contains(command), "{out}");
}
