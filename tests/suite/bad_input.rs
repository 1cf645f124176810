//! Bad input: errors name file and line, hostile input does no harm, and the remaining objects are read.

use std::fs;
use std::path::PathBuf;

use meshdoctor::fetched::Fetched;
use meshdoctor::item::Kind;
use meshdoctor::source::Completeness;
use meshdoctor::source::evidence::Captured;

use crate::binary::{meshdoctor, ran};
use crate::dumps::{NOTHING, gz, kubectl_list, list, malformed, open, pod, tar_of};

#[test]
fn files_without_objects_are_never_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["passwd", "password", "secret", "token", "password.txt", "my.token", "notes.txt", "id_rsa", "x.yaml"];
    for name in names {
        fs::write(folder.path().join(name), "ready pod node\nmore\n").unwrap();
        for option in ["--bundle", "--manifests", "--with"] {
            let mut words = vec!["check", "--no-config", option, name];
            if option == "--with" {
                words.extend(["--bundle", name]);
            }
            let output = ran(meshdoctor(&words).current_dir(folder.path()));
            assert_eq!(output.status, 3, "{}", output.err);
            let own = format!("error: {name}: neither JSON nor YAML\n");
            assert!(output.err.starts_with(&own) && !output.text().contains("ready"), "{}", output.err);
        }
    }
}

#[test]
fn what_is_broken_is_named_with_its_line_and_the_rest_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let whole = serde_json::to_string_pretty(&kubectl_list(&[pod("a", 1), pod("b", 2)])).unwrap();
    let typed = whole.replace("\"kind\": \"List\"", "\"kind\": \"PodList\"");
    let yaml = serde_yaml::to_string(&kubectl_list(&[pod("a", 1), pod("b", 2)])).unwrap();
    let cut = |text: &str, at: &str| text[..text.rfind(at).unwrap()].to_owned();
    let wrong_value = whole.replacen("\"name\": \"a\"", "\"name\": nul", 1);
    let gz_cut = gz(whole.as_bytes());
    let half = tar_of(&[
        ("x/a.json", pod("a", 1).to_string().into_bytes()),
        ("x/b.json", pod("b", 1).to_string().into_bytes()),
    ]);
    let cases: Vec<(&str, Vec<u8>, usize, &str)> = vec![
        ("cut.json", cut(&whole, "\"nodeName\"").into_bytes(), 1, "cut.json:33: it ends in the middle of an item"),
        ("value.json", wrong_value.into_bytes(), 1, "value.json:12: expected ident"),
        ("after.json", format!("{whole}\nnonsense").into_bytes(), 2, "after.json:42: expected a JSON object"),
        ("cut.yaml", cut(&yaml, "kind: List").into_bytes(), 1, "cut.yaml:14: the list is truncated"),
        ("quote.yaml", yaml.replacen("nodeName: n", "nodeName: \"n", 1).into_bytes(), 1, "quote.yaml:13"),
        ("cut.json.gz", gz_cut[..gz_cut.len() - 4].to_vec(), 2, "cut.json.gz: "),
        ("cut.tar", half[..half.len() - 1600].to_vec(), 1, "cut.tar: it is truncated"),
        (
            "page.json",
            typed.replace("\"resourceVersion\": \"\"", "\"continue\": \"t\"").into_bytes(),
            2,
            "only one of several pages",
        ),
        (
            "bytes.json",
            [
                br#"{"apiVersion":"v1","kind":"List","items":["#,
                pod("a", 1).to_string().as_bytes(),
                b",\n{\"kind\":\"\xFF\xFE\"}]}",
            ]
            .concat(),
            1,
            "bytes.json:2: ",
        ),
    ];
    for (name, bytes, pods, message) in cases {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        // Declared complete, but part of it could not be read.
        let evidence = open(&[&path], Completeness::All).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (count, fetched) = list(&evidence, Kind::Pod);
        assert_eq!(count, pods, "{name}: {fetched:?}");
        let said = malformed(&fetched);
        assert!(said.iter().any(|said| said.contains(message)), "{name}: {fetched:?}");
        assert!(evidence.warnings().iter().any(|said| said.contains(message)), "{name}: {:?}", evidence.warnings());
        let (_, services) = list(&evidence, Kind::Service);
        let only_pods = name == "page.json";
        assert_eq!(services == Fetched::Complete, only_pods, "{name}: any kind may be in what is lost: {services:?}");
    }
}

#[test]
fn where_nothing_is_to_be_read_the_reason_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("empty")).unwrap();
    for (name, bytes, part) in [
        ("table.txt", b"NAME    READY\nweb-1   1/1\n".to_vec(), "-o json"),
        ("binary", vec![0x7F, b'E', b'L', b'F', 0, 0, 0], "neither text nor a supported archive"),
        ("words.txt", b"It does not work.\n".to_vec(), "neither JSON nor YAML"),
        ("nothing.json", Vec::new(), "empty"),
        ("half.json", b"{\"apiVersion\": \"v1\",\n".to_vec(), "half.json:2: it ends in the middle"),
        ("half.yaml", b"apiVersion: v1\nkind: \"Pod\nmetadata:\n".to_vec(), "half.yaml:"),
        ("values.yaml", b"cniEnabled: true\n".to_vec(), "no Kubernetes objects"),
        ("x.zip", b"PK\x03\x04....".to_vec(), "zip"),
        ("x.tgz", vec![0x1F, 0x8B, 8, 0, 1, 2, 3], "x.tgz"),
        ("line.json", [b"{\"a\": \"".as_slice(), &vec![b'x'; 40 << 20]].concat(), "line.json:1: it ends in the middle"),
    ] {
        fs::write(path(name), bytes).unwrap();
        let error = open(&[&path(name)], Completeness::All).map(|_| ()).expect_err(name);
        assert!(error.to_string().contains(part), "{name}: {error}");
        let named = error.to_string().matches(&path(name).display().to_string()).count();
        assert_eq!(named, 1, "{name}: {error}");
        assert!(!error.is_usage(), "{name}");
        assert!(error.to_string().len() < 500, "{name}: a long text is not repeated");
    }
    for (name, part) in [("empty", "the folder is empty"), ("gone", "No such file")] {
        let error = open(&[&path(name)], Completeness::All).map(|_| ()).expect_err(name).to_string();
        assert!(error.contains(part), "{error}");
    }
    // Together with readable input, it is a gap.
    fs::write(path("pods.json"), kubectl_list(&[pod("a", 1)]).to_string()).unwrap();
    let evidence = open(&[&path("pods.json"), &path("words.txt")], Completeness::All).unwrap();
    let (count, fetched) = list(&evidence, Kind::Pod);
    assert_eq!((count, malformed(&fetched).len()), (1, 1), "{fetched:?}");
    let stdin = PathBuf::from("-");
    assert!(Captured::open(&[stdin.clone(), stdin], Completeness::All, NOTHING).unwrap_err().is_usage());
}

#[test]
fn a_folder_of_mixed_things_says_what_it_left_out() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("pods.json", kubectl_list(&[pod("a", 1)]).to_string()),
        ("package.json", "{\"name\": \"x\"}".to_owned()),
        ("notes.md", "# Notes\n".to_owned()),
        ("values.yaml", "a: 1\n".to_owned()),
        ("servers.yaml", "apiVersion: policy.linkerd.io/v1beta3\nkind: Server\nmetadata: {name: x}\n".to_owned()),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let evidence = open(&[folder.path()], Completeness::All).unwrap();
    assert_eq!(list(&evidence, Kind::Pod), (1, Fetched::Complete));
    let ignored = evidence.ignored().join("\n");
    assert!(["package.json", "notes.md", "values.yaml"].iter().all(|name| ignored.contains(name)), "{ignored}");
    assert!(!ignored.contains("servers.yaml"), "{ignored}");
    // A broken file that was meant to hold objects is a gap, not a thing to leave out.
    fs::write(folder.path().join("services.yaml"), "apiVersion: v1\nkind: \"Service\n").unwrap();
    let (_, fetched) = list(&open(&[folder.path()], Completeness::All).unwrap(), Kind::Service);
    assert!(malformed(&fetched)[0].contains("services.yaml:"), "{fetched:?}");
}

/// A raw tar entry with any name.
fn raw_entry(name: &str, kind: tar::EntryType, link: &str, bytes: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(kind);
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    let mut entry = header.as_bytes().to_vec();
    entry.extend_from_slice(bytes);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

#[test]
fn hostile_archives_do_no_harm_and_are_named() {
    use tar::EntryType::{Regular, Symlink};
    let folder = tempfile::tempdir().unwrap();
    let good = raw_entry("pods.json", Regular, "", pod("a", 1).to_string().as_bytes());
    let other = pod("b", 1).to_string();
    let end = vec![0; 1024];
    let deep = format!("{}x.json", "d/".repeat(40));
    for (name, entry, part) in [
        ("up.tar", raw_entry("../b.json", Regular, "", other.as_bytes()), "leads out"),
        ("middle.tar", raw_entry("a/../../b.json", Regular, "", other.as_bytes()), "leads out"),
        ("absolute.tar", raw_entry("/etc/b.json", Regular, "", other.as_bytes()), "absolute"),
        ("link.tar", raw_entry("b.json", Symlink, "/etc/passwd", b""), "link to"),
        ("out.tar", raw_entry("x/b.json", Symlink, "../../b.json", b""), "link to"),
        ("device.tar", raw_entry("b.json", tar::EntryType::Char, "", b""), "not a regular file"),
        ("control.tar", raw_entry("b\u{1b}[2J.json", Regular, "", other.as_bytes()), "control characters"),
        ("deep.tar", raw_entry(&deep, Regular, "", other.as_bytes()), "too many nested folders"),
        ("twice.tar", raw_entry("pods.json", Regular, "", pod("a", 1).to_string().as_bytes()), "twice"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, [entry, good.clone(), end.clone()].concat()).unwrap();
        let evidence = open(&[&path], Completeness::All).unwrap();
        let (count, fetched) = list(&evidence, Kind::Pod);
        assert_eq!(count, 1, "{name}: {fetched:?}");
        let said = evidence.warnings().join("\n");
        assert!(said.contains(part) && said.contains(name) && !said.contains('\u{1b}'), "{name}: {said}");
        assert_eq!(malformed(&fetched).is_empty(), name == "twice.tar", "{name}: {fetched:?}");
    }
    // The target of a link is read at its own path.
    let path = folder.path().join("inside.tar");
    fs::write(&path, [raw_entry("now.json", Symlink, "./pods.json", b""), good, end].concat()).unwrap();
    assert_eq!(list(&open(&[&path], Completeness::All).unwrap(), Kind::Pod), (1, Fetched::Complete));
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_are_not_followed_out_of_it() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump");
    fs::create_dir(&dump).unwrap();
    fs::write(folder.path().join("outside.json"), pod("b", 1).to_string()).unwrap();
    fs::write(dump.join("pods.json"), pod("a", 1).to_string()).unwrap();
    symlink("pods.json", dump.join("latest.json")).unwrap();
    assert_eq!(list(&open(&[&dump], Completeness::All).unwrap(), Kind::Pod), (1, Fetched::Complete));
    symlink("../outside.json", dump.join("b.json")).unwrap();
    symlink(".", dump.join("circle")).unwrap();
    let (count, fetched) = list(&open(&[&dump], Completeness::All).unwrap(), Kind::Pod);
    assert_eq!(count, 1);
    assert!(malformed(&fetched).iter().any(|said| said.contains("b.json: not followed: link to")), "{fetched:?}");
    // The path that the operator names may be a link.
    symlink("dump", folder.path().join("link")).unwrap();
    assert_eq!(list(&open(&[&folder.path().join("link")], Completeness::Unstated).unwrap(), Kind::Pod).0, 1);
}

#[test]
fn of_thousands_of_unknown_keys_some_are_named_and_the_rest_is_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    let keys: serde_json::Map<String, serde_json::Value> =
        (0..3000).map(|at| (format!("config.linkerd.io/proxy-cpu-limt{at}"), "1".into())).collect();
    let injector = serde_json::json!({"kind": "Deployment", "apiVersion": "apps/v1",
        "metadata": {"name": "linkerd-proxy-injector", "namespace": "linkerd",
            "labels": {"linkerd.io/control-plane-component": "proxy-injector", "linkerd.io/control-plane-ns": "linkerd"}},
        "spec": {"template": {"spec": {"containers": [
            {"name": "proxy-injector", "image": "cr.l5d.io/linkerd/controller:edge-25.4.4"}]}}}});
    let namespace = serde_json::json!({"kind": "Namespace", "apiVersion": "v1",
        "metadata": {"name": "shop", "annotations": keys}});
    let list = serde_json::json!({"kind": "List", "apiVersion": "v1", "items": [injector, namespace]});
    std::fs::write(&path, list.to_string()).unwrap();
    let output = ran(meshdoctor(&["check", "-q", "--only", "annotation-unknown", "--complete", "all", "-o", "json"])
        .arg("--bundle")
        .arg(&path));
    let report: serde_json::Value = output.document();
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(50));
    let text = report["coverage"].to_string();
    assert!(text.contains("2950 unknown annotations and labels"), "{text}");
    assert!(text.contains("Namespace shop"), "{text}");
    assert_eq!(output.status, 4);
}
