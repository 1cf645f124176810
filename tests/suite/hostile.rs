//! Hostile names, files and dumps that try to control a terminal, overwrite files or keep the program busy.
//! The real binary, because all protections must work together.

use std::fs;
use std::path::Path;

use meshdoctor::source::Completeness;
use meshdoctor::source::evidence::Captured;

use crate::binary::{Ran, meshdoctor, ran};

const NAMESPACES: &str = r#"{"kind":"NamespaceList","apiVersion":"v1","items":[{"metadata":{"name":"shop"}}]}"#;

fn run(folder: &Path, args: &[&str]) -> Ran {
    ran(meshdoctor(args).current_dir(folder))
}

fn report(folder: &Path, dump: &str) -> (i32, serde_json::Value, usize) {
    fs::write(folder.join("dump"), dump).unwrap();
    let output = run(folder, &["check", "-q", "--complete", "all", "--bundle", "dump", "-o", "json"]);
    let document = output.document();
    (output.status, document, output.out.len())
}

/// Asserts that a text has neither control characters nor commands of a CI system.
fn assert_harmless(text: &str) {
    for line in text.lines() {
        let line = line.trim_start();
        let hostile = |c: char| c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}');
        assert!(!line.contains(hostile), "{line:?}");
        let command = line.strip_prefix("::").is_some_and(|rest| rest.contains("::"));
        assert!(!command && !line.contains("##[") && !line.contains("##vso["), "{line:?}");
    }
}

#[test]
fn nothing_is_written_over_what_is_read_or_written_besides() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    fs::write(dir.join("in.json"), NAMESPACES).unwrap();
    fs::hard_link(dir.join("in.json"), dir.join("hard.json")).unwrap();
    fs::create_dir(dir.join("d")).unwrap();
    fs::write(dir.join("d/in.json"), NAMESPACES).unwrap();
    let base = ["check", "--bundle", "in.json", "--bundle", "d", "--only", "cni"];
    for more in [
        &["-o", "json=in.json"][..],
        &["-o", "json=./in.json"],
        &["-o", "json=hard.json"],
        &["-o", "json=d/in.json"],
        &["-o", "json=d/../new", "-o", "yaml=new"],
        &["-o", "json=new.tar.gz", "--save", "new.tar.gz"],
        &["--save", "x.tar.gz", "-o", "json=in.json", "--no-such-flag"],
        &["-ojson=in.json", "--only", "no-such-check"],
    ] {
        let output = run(dir, &[&base, more].concat());
        assert_eq!(output.status, 2, "{more:?}: {}", output.err);
        for file in ["in.json", "d/in.json"] {
            assert_eq!(fs::read_to_string(dir.join(file)).unwrap(), NAMESPACES, "{more:?}");
        }
        assert!(!dir.join("new").exists() && !dir.join("new.tar.gz").exists(), "{more:?}");
    }
}

#[cfg(unix)]
#[test]
fn evidence_is_not_overwritten_and_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    fs::write(dir.join("in.json"), NAMESPACES).unwrap();
    let mode = |path: &str| fs::metadata(dir.join(path)).unwrap().permissions().mode() & 0o777;
    let collect = |more: &[&str]| {
        let args = [&["collect", "-q", "--bundle", "in.json", "--complete", "all"], more].concat();
        run(dir, &args).status
    };
    assert_ne!(collect(&["-o", "x.tar.gz"]), 2);
    assert_eq!(collect(&["-o", "x.tar.gz"]), 2);
    assert_ne!(collect(&["-o", "x.tar.gz", "--force"]), 2);
    assert_eq!(mode("x.tar.gz"), 0o600);
    assert_ne!(collect(&["-o", "f/"]), 2);
    for entry in walkdir(&dir.join("f")) {
        let meta = fs::metadata(&entry).unwrap();
        let wanted = if meta.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(meta.permissions().mode() & 0o777, wanted, "{entry:?}");
    }
    let check = ["check", "-q", "--bundle", "in.json", "--only", "cni", "--save", "x.tar.gz"];
    assert_eq!(run(dir, &check).status, 2);
    assert_ne!(run(dir, &[&check[..], &["--force"]].concat()).status, 2);
}

fn walkdir(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(walkdir(&path)) } else { found.push(path) }
    }
    found
}

#[cfg(unix)]
#[test]
fn no_name_reaches_a_terminal_or_a_ci_system_as_anything_but_text() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let evil = "\u{1b}]52;c;eA==\u{7}\u{9b}2J\u{202e}\r\n::error file=x::owned\n##[error]owned ##vso[task.x]y";
    // File names, in a folder that is read.
    fs::create_dir(dir.join("d")).unwrap();
    fs::write(dir.join("d").join(format!("{}.json", evil.replace('/', "_"))), "{\"a\":").unwrap();
    fs::write(dir.join("d/ok.json"), NAMESPACES).unwrap();
    // Names of objects that an API server takes, and words of the command line.
    let role = serde_json::json!({"kind": "ClusterRole", "apiVersion": "rbac.authorization.k8s.io/v1",
        "metadata": {"name": evil.replace('/', "_"), "labels": {"linkerd.io/control-plane-ns": evil}}});
    let namespace = serde_json::json!({"kind": "Namespace", "apiVersion": "v1",
        "metadata": {"name": "shop", "annotations": {"linkerd.io/inject": evil, format!("linkerd.io/{evil}"): evil}}});
    let list = serde_json::json!({"kind": "List", "apiVersion": "v1", "items": [role, namespace]});
    fs::write(dir.join("d/list.json"), list.to_string()).unwrap();
    for args in [
        &["check", "-v=2", "--bundle", "d"][..],
        &["check", "--bundle", "d", "-o", "short"],
        &["check", "--bundle", "d", "-o", "json"],
        &["check", "--bundle", "d", "-o", "linkerd-table"],
        &["check", "--bundle", "d", "-n", evil],
        &["check", "--bundle", evil],
        &["check", "--only", evil],
        &["check", "--bundle", "d", "--complete", evil],
        &["check", "-o", &format!("json={evil}/x")],
        &["check", evil],
        &[evil],
        &["explain", evil],
        &["collect", "--bundle", "d", "-o", evil],
        &["check", "--nodes", &format!("{evil}=d")],
        &["check", "--logs", &format!("{evil}=d/ok.json")],
        &["node-snapshot", "--root", evil, "-o", "x.tar.gz"],
    ] {
        for columns in ["40", "100"] {
            let output = ran(meshdoctor(args).current_dir(dir).env("COLUMNS", columns));
            assert_harmless(&output.out);
            assert_harmless(&output.err);
        }
    }
}

#[test]
fn a_name_that_kubernetes_would_not_accept_is_a_gap_and_is_never_used() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, version, metadata) in [
        ("Pod", "v1", r#"{"name":"x;id","namespace":"shop"}"#),
        ("Pod", "v1", r#"{"name":"x","namespace":"$(id)"}"#),
        ("Node", "v1", r#"{"name":"n1$(id)"}"#),
        ("Namespace", "v1", r#"{"name":"Shop"}"#),
        ("ClusterRole", "rbac.authorization.k8s.io/v1", r#"{"name":"a/b"}"#),
        ("Deployment", "apps/v1", r#"{"name":"x y","namespace":"shop"}"#),
    ] {
        let odd = format!(r#"{{"kind":"{kind}","apiVersion":"{version}","metadata":{metadata}}}"#);
        // Checks of a control plane only run with one of a known version.
        let installed = r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"linkerd-identity","namespace":"linkerd",
            "labels":{"linkerd.io/control-plane-component":"identity","linkerd.io/control-plane-ns":"linkerd"}},
            "spec":{"template":{"spec":{"containers":[{"name":"identity","image":"cr.l5d.io/linkerd/controller:edge-25.4.4"}]}}}}"#;
        let dump = format!(r#"{{"kind":"List","apiVersion":"v1","items":[{odd},{installed}]}}"#);
        let (_, document, _) = report(folder.path(), &dump);
        let gaps = document["coverage"].to_string();
        assert!(gaps.contains("is not a valid"), "{metadata}");
    }
    let role =
        r#"{"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"system:x $(id)"}}"#;
    let (_, document, _) = report(folder.path(), role);
    assert!(!document.to_string().contains("is not a valid"), "an API server takes it");
}

#[test]
fn what_a_tenant_may_write_makes_no_gap() {
    let folder = tempfile::tempdir().unwrap();
    let owner = |name: &str| {
        format!(r#"{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"{name}","uid":"u","controller":true}}"#)
    };
    for object in [
        r#"{"kind":"Event","apiVersion":"v1","metadata":{"name":"e1","namespace":"shop"},"type":"Warning","reason":"FailedCreatePodSandBox","message":"plugin type=\"linkerd-cni\" failed (add)","involvedObject":{"kind":"Pod","namespace":"shop","name":"x;$(id)"}}"#.to_owned(),
        r#"{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"e1","namespace":"shop"},"type":"Warning","regarding":{"kind":"Pod","namespace":"$(id)","name":"x"}}"#.to_owned(),
        format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"web","namespace":"shop","ownerReferences":[{}]}},"spec":{{"containers":[{{"name":"web"}}]}}}}"#, owner("x;$(id)")),
    ] {
        let (status, document, _) = report(folder.path(), &object);
        let said = document.to_string();
        assert!(!said.contains("is not a valid") && !said.contains("$(id)"), "{said}");
        let (without, ..) = report(folder.path(), NAMESPACES);
        assert_eq!(status, without, "{object}: {}", document["coverage"]);
    }
}

#[test]
fn a_flag_takes_no_name_that_kubernetes_would_not_accept() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.json"), NAMESPACES).unwrap();
    for (flag, value, allowed) in [
        ("--namespace", "Shop", "lower-case letters, digits and dashes"),
        ("--namespace", "shop,$(id)", "lower-case letters, digits and dashes"),
        ("--namespace", "", "lower-case letters, digits and dashes"),
        ("--linkerd-namespace", "linkerd.x", "lower-case letters, digits and dashes"),
        ("--cni-namespace", "a b", "lower-case letters, digits and dashes"),
        ("--nodes", "N1=in.json", "lower-case letters, digits, dashes and dots"),
        ("--logs", "$(id)=in.json", "NAMESPACE/POD"),
        ("--only", "$(id)", "unknown check or category"),
        ("--skip", "$(id)", "unknown check or category"),
    ] {
        let output = run(folder.path(), &["check", "--bundle", "in.json", flag, value]);
        let said = output.err;
        assert_eq!(output.status, 2, "{flag} {value}: {said}");
        assert!(said.contains(flag) && said.contains(allowed), "{flag} {value}: {said}");
    }
}

#[test]
fn a_million_troubles_are_the_first_ones_and_a_count() {
    let folder = tempfile::tempdir().unwrap();
    let list = |item: &str, n: usize| {
        let items = vec![item; n].join(",\n");
        format!(r#"{{"kind":"PodList","apiVersion":"v1","items":[{items}]}}"#)
    };
    for (dump, most) in [
        (list(r#"{"metadata":{}}"#, 20_000), "and 19997 more of the same kind"),
        (list("1", 20_000), "and 19997 more of the same kind"),
        (list(r#"{"metadata":{"name":"X"}}"#, 1), "is not a valid"),
    ] {
        let (_, document, bytes) = report(folder.path(), &dump);
        assert!(document["coverage"].to_string().contains(most), "{most}");
        assert!(bytes < 4 << 20, "{bytes} bytes");
    }
}

#[test]
fn a_list_whose_items_are_no_list_is_not_an_empty_list() {
    let folder = tempfile::tempdir().unwrap();
    for items in [r#""x""#, "{}", "1", r#"[],"items":[]"#] {
        let dump = format!(r#"{{"kind":"PodList","apiVersion":"v1","items":{items}}}"#);
        let (status, document, _) = report(folder.path(), &dump);
        assert_ne!(status, 0, "{items}");
        let said = document.to_string();
        assert!(said.contains("are not a list") || said.contains("twice"), "{items}: {said}");
    }
    let (_, document, _) = report(folder.path(), r#"{"kind":"PodList","apiVersion":"v1","items":null}"#);
    assert!(!document.to_string().contains("are not a list"), "Go writes an empty list as null");
}

/// An endless pipe that must not be read for long.
struct Endless(u8, usize);

impl std::io::Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        buffer.fill(self.0);
        self.1 += buffer.len();
        assert!(self.1 < 1 << 20, "it is still being read");
        Ok(buffer.len())
    }
}

#[test]
fn a_pipe_in_which_nothing_can_be_is_not_read_to_its_end() {
    for byte in [b'y', 0, b'<'] {
        let opened = Captured::open(&["-".into()], Completeness::Unstated, Endless(byte, 0));
        assert!(opened.is_err(), "{byte}");
    }
}

#[test]
fn one_object_with_many_entries_has_a_short_report() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> =
        (0..1000).map(|at| format!("w{at}.shop.serviceaccount.identity.linkerd.cluster.local")).collect();
    let authentication = format!(
        "---\napiVersion: policy.linkerd.io/v1alpha1\nkind: MeshTLSAuthentication\n\
         metadata: {{name: many, namespace: shop}}\nspec: {{identities: {names:?}}}\n"
    );
    let healthy = include_str!("../../checks/bases/healthy.yaml");
    let (_, document, _) = report(folder.path(), &format!("{healthy}\n{authentication}"));
    let findings = document["findings"].as_array().unwrap().iter();
    let found = findings.filter(|finding| finding["check"] == "identity-unknown").count();
    assert!((2..=21).contains(&found), "{found}");
    assert!(document.to_string().contains("980 more of its entries"), "{found}");
}
