//! Output of `linkerd diagnostics`: through the real binary, given by its flag or found in what `--bundle` names, kept in
//! bundles without anything that no check reads, and what is not read of it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Output;

use crate::binary::meshdoctor;

const PODS: &str = r#"{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"web-1","labels":{"linkerd.io/control-plane-ns":"linkerd"}},
 "spec":{"containers":[{"name":"linkerd-proxy"}]},"status":{"phase":"Running","podIP":"10.1.0.4"}}]}"#;
const METRICS: &str = "#\n# POD web-1 (1 of 1)\n#\nprocess_start_time_seconds 1768294800\n\
    process_clock_time_seconds 1768478280\nidentity_cert_expiration_timestamp_seconds 1768474680\n\
    request_total{authority=\"private.example\",client_id=\"someone\"} 30\n";
const ENDPOINTS: &str = r#"[{"namespace":"shop","ip":"10.1.0.9","port":8080,"pod":"web-0","service":"web.shop","weight":1,
 "labels":{"private":"label"}}]"#;
const POLICY: &str =
    r#"{"protocol":{"Kind":{"Opaque":{}}},"labels":{"group":"","kind":"default","name":"deny"}}"#;
const JUDGED: [&str; 6] =
    ["--only", "proxy-certificate-expired,endpoints-answer-stale", "--complete", "all", "-o", "short"];

fn run(args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = meshdoctor(args).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

/// Whether both findings are there.
fn finds(said: &str) -> bool {
    ["proxy-certificate-expired", "endpoints-answer-stale"].iter().all(|id| said.contains(id))
}

#[test]
fn it_is_found_in_a_folder_and_in_an_archive_and_kept_in_bundles() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(of("dump")).unwrap();
    let dump = folder.path().join("dump");
    write(&dump, "pods.json", PODS);
    write(&dump, "metrics.txt", METRICS);
    write(&dump, "endpoints.json", ENDPOINTS);
    write(&dump, "policy.json", POLICY);
    let first =
        run(&[&["check", "--bundle", &of("dump"), "--save", &of("kept/"), "-v"][..], &JUDGED].concat());
    assert_eq!(first.0, 1, "{first:?}");
    assert!(finds(&first.1), "{first:?}");
    assert!(first.2.contains("--diagnostics NAMESPACE/POD:PORT=FILE"), "{}", first.2);

    let again = run(&["check", "--bundle", &of("kept/"), "--only", JUDGED[1], "-o", "short"]);
    assert_eq!((again.0, again.1), (1, first.1.clone()), "{}", again.2);
    let kept = fs::read_to_string(folder.path().join("kept/diagnostics/0001.json")).unwrap();
    assert!(kept.contains("web-0") && !kept.contains("private") && !kept.contains("someone"), "{kept}");

    let mut tar = tar::Builder::new(Vec::new());
    tar.append_dir_all("support", &dump).unwrap();
    let archive = write(folder.path(), "support.tar", tar.into_inner().unwrap());
    let packed = run(&[&["check", "--bundle", &archive][..], &JUDGED].concat());
    assert!(finds(&packed.1), "{packed:?}");

    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(METRICS.as_bytes()).unwrap();
    let metrics = write(folder.path(), "metrics.gz", gz.finish().unwrap());
    let alone =
        run(&[&["check", "--bundle", &of("dump/pods.json"), "--bundle", &metrics][..], &JUDGED].concat());
    assert!(alone.1.contains("proxy-certificate-expired"), "{alone:?}");
}

#[test]
fn the_flag_gives_it_beside_a_bundle_and_names_the_port_of_a_policy() {
    let folder = tempfile::tempdir().unwrap();
    let pods = write(folder.path(), "pods.json", PODS);
    let metrics = write(folder.path(), "metrics=1.txt", METRICS);
    let endpoints = write(folder.path(), "endpoints.json", ENDPOINTS);
    let given = ["check", "--bundle", &pods, "--diagnostics", &metrics, "--diagnostics", &endpoints];
    let ran = run(&[&given[..], &JUDGED].concat());
    assert!(ran.0 == 1 && finds(&ran.1), "{ran:?}");

    let policy = format!("shop/web-1:8080={}", write(folder.path(), "policy.json", POLICY));
    let args = ["--only", "policy-answer-differs", "--complete", "all", "-o", "short"];
    let ran = run(&[&["check", "--bundle", &pods, "--diagnostics", &policy][..], &args].concat());
    assert!(ran.0 != 2 && !ran.2.contains("nothing that linkerd"), "{ran:?}");
}

/// Nothing ran, so nothing is said to be without errors.
#[test]
fn metrics_that_end_early_are_not_called_free_of_errors() {
    let folder = tempfile::tempdir().unwrap();
    let pods = write(folder.path(), "pods.json", PODS);
    let cut = write(folder.path(), "cut.txt", &METRICS[..METRICS.find("identity_cert").unwrap()]);
    let args = ["--only", "proxy-certificate-expired", "--complete", "all"];
    let ran = run(&[&["check", "--bundle", &pods, "--diagnostics", &cut][..], &args].concat());
    assert_eq!(ran.0, 4, "{ran:?}");
    assert!(ran.1.contains("NOT FULLY CHECKED") && !ran.1.contains("NO ERRORS OR WARNINGS"), "{}", ran.1);
}

#[test]
fn what_is_no_output_of_it_is_an_error_that_names_it_and_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone.txt").display().to_string();
    let other = write(folder.path(), "other.txt", "hello");
    let empty = write(folder.path(), "empty.txt", "\n");
    let policy = write(folder.path(), "policy.json", POLICY);
    let controllers = write(
        folder.path(),
        "controllers.txt",
        "#\n# POD identity-1 (1 of 1)\n# CONTAINER identity \n#\nx 1\n",
    );
    for (given, status, part) in [
        (gone, 3, "gone.txt: No such file"),
        (empty, 3, "empty.txt: it is empty"),
        ("-".to_owned(), 3, "-: standard input is not read here"),
        (other.clone(), 3, "other.txt: it is nothing that linkerd diagnostics"),
        (policy.clone(), 3, "NAMESPACE/POD:PORT=FILE"),
        (controllers, 3, "controller-metrics"),
        (format!("shop/web-1:0={policy}"), 2, "names no port of a pod"),
        (format!("shop/web-1:http={policy}"), 2, "NAMESPACE/POD:PORT"),
        (String::new(), 2, "the name of a file is missing"),
    ] {
        let ran = run(&["check", "--diagnostics", &given]);
        assert_eq!(ran.0, status, "{given}: {}", ran.2);
        assert!(ran.2.contains(part) && ran.2.contains("--diagnostics"), "{given}: {}", ran.2);
    }
}
