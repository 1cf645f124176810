//! Output of `linkerd diagnostics`: through the real binary, given by its flag or found in what `--bundle` names, kept in
//! bundles without anything that no check reads, and what is not read of it.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::binary::{meshdoctor, ran, ran_to, write};
use crate::skip::{Need, skipped};

const PODS: &str = r#"{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"web-1","labels":{"linkerd.io/control-plane-ns":"linkerd"}},
 "spec":{"containers":[{"name":"linkerd-proxy"}]},"status":{"phase":"Running","podIP":"10.1.0.4"}}]}"#;
const METRICS: &str = "#\n# POD web-1 (1 of 1)\n#\nprocess_start_time_seconds 1768294800\n\
    process_clock_time_seconds 1768478280\ncontrol_identity_cert_expiration_timestamp_seconds 1768474680.0\n\
    request_total{authority=\"private.example\",client_id=\"someone\"} 30\n";
const ENDPOINTS: &str = r#"[{"namespace":"shop","ip":"10.1.0.9","port":8080,"pod":"web-0","service":"web.shop","weight":1,
 "labels":{"private":"label"}}]"#;
const POLICY: &str = r#"{"protocol":{"Kind":{"Opaque":{}}},"labels":{"group":"","kind":"default","name":"deny"}}"#;
const JUDGED: [&str; 6] =
    ["--only", "proxy-certificate-expired,endpoints-answer-stale", "--complete", "all", "-o", "short"];

/// Whether both findings exist.
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
    let first = ran(meshdoctor(
        &[&["check", "--bundle", &of("dump"), "--save", &of("kept/"), "-v", "--coverage"][..], &JUDGED].concat(),
    ));
    assert_eq!(first.status, 1, "{first:?}");
    assert!(finds(&first.out), "{first:?}");
    assert!(first.err.contains("--diagnostics NAMESPACE/POD:PORT=FILE"), "{}", first.err);

    let again = ran(meshdoctor(&["check", "--bundle", &of("kept/"), "--only", JUDGED[1], "-o", "short"]));
    assert_eq!((again.status, again.out), (1, first.out.clone()), "{}", again.err);
    let kept = fs::read_to_string(folder.path().join("kept/diagnostics/0001.json")).unwrap();
    assert!(kept.contains("web-0") && !kept.contains("private") && !kept.contains("someone"), "{kept}");

    let mut tar = tar::Builder::new(Vec::new());
    tar.append_dir_all("support", &dump).unwrap();
    let archive = write(folder.path(), "support.tar", tar.into_inner().unwrap());
    let packed = ran(meshdoctor(&[&["check", "--bundle", &archive][..], &JUDGED].concat()));
    assert!(finds(&packed.out), "{packed:?}");

    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(METRICS.as_bytes()).unwrap();
    let metrics = write(folder.path(), "metrics.gz", gz.finish().unwrap());
    let alone =
        ran(meshdoctor(&[&["check", "--bundle", &of("dump/pods.json"), "--bundle", &metrics][..], &JUDGED].concat()));
    assert!(alone.out.contains("proxy-certificate-expired"), "{alone:?}");
}

#[test]
fn the_flag_gives_it_beside_a_bundle_and_names_the_port_of_a_policy() {
    let folder = tempfile::tempdir().unwrap();
    let pods = write(folder.path(), "pods.json", PODS);
    let metrics = write(folder.path(), "metrics=1.txt", METRICS);
    let endpoints = write(folder.path(), "endpoints.json", ENDPOINTS);
    let given = ["check", "--bundle", &pods, "--diagnostics", &metrics, "--diagnostics", &endpoints];
    let said = ran(meshdoctor(&[&given[..], &JUDGED].concat()));
    assert!(said.status == 1 && finds(&said.out), "{said:?}");

    let policy = format!("shop/web-1:8080={}", write(folder.path(), "policy.json", POLICY));
    let args = ["--only", "policy-answer-differs", "--complete", "all", "-o", "short"];
    let said = ran(meshdoctor(&[&["check", "--bundle", &pods, "--diagnostics", &policy][..], &args].concat()));
    assert!(said.status != 2 && !said.err.contains("not output of linkerd"), "{said:?}");
}

/// Two reads of a proxy with these denials: the client, and the number in each read.
fn denials(folder: &Path, all: &[(String, [u64; 2])]) -> String {
    let pods = write(folder, "pods.json", PODS);
    let files = [0, 1].map(|read| {
        let lines = all.iter().filter(|(_, counts)| counts[read] > 0).map(|(client, counts)| {
            format!(
                "inbound_http_authz_deny_total{{target_port=\"8080\",srv_kind=\"default\",srv_name=\"deny\",\
                 client_id=\"{client}\"}} {}\n",
                counts[read]
            )
        });
        let text = METRICS.replace("1768478280", &(1_768_478_280 + 30 * read).to_string());
        write(folder, &format!("{read}.txt"), text + &lines.collect::<String>())
    });
    let words = ["check", "--bundle", &pods, "--complete", "all", "-v", "--coverage", "--only", "policy-denies"];
    ran(meshdoctor(&[&words[..], &["--diagnostics", &files[0], "--diagnostics", &files[1]]].concat())).out
}

#[test]
fn new_denials_are_found_among_many_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    let old = |count: usize| (0..count).map(|at| (format!("c{at}.x"), [7, 7])).collect::<Vec<_>>();
    let mut all = old(150);
    all.push(("web.shop.x".to_owned(), [0, 500]));
    let said = denials(folder.path(), &all);
    assert!(said.contains("denied 500 requests of web.shop.x"), "{said}");
    assert!(!said.contains("c1.x") && !said.contains("too many"), "{said}");
    // Beyond the limit of one read, the new ones may be lost: a gap, and no growth of unknown series.
    let mut many = old(2100);
    many.reverse();
    many.push(("web.shop.x".to_owned(), [0, 500]));
    let said = denials(folder.path(), &many);
    assert!(said.contains("all series of shop/web-1: too many") && !said.contains("c1.x"), "{said}");
}

#[test]
fn profile_is_accepted_and_named_as_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let pods = write(folder.path(), "pods.json", PODS);
    let profile = write(folder.path(), "profile.json", r#"{"fully_qualified_name":"web.shop.svc.cluster.local"}"#);
    let metrics = write(folder.path(), "metrics.txt", METRICS);
    let given = ["check", "--bundle", &pods, "--diagnostics", &profile, "--diagnostics", &metrics];
    let said = ran(meshdoctor(&[&given[..], &JUDGED].concat()));
    assert!(said.out.contains("proxy-certificate-expired"), "{said:?}");
    assert!(said.err.contains("profile.json is not used: checks read ServiceProfiles"), "{}", said.err);
}

#[test]
fn dump_of_prometheus_is_read_for_each_pod() {
    let folder = tempfile::tempdir().unwrap();
    let pods = write(folder.path(), "pods.json", PODS);
    let of = "job=\"p\",namespace=\"shop\",pod=\"web-1\",container=\"linkerd-proxy\"";
    let text = format!(
        "# TYPE control_identity_cert_expiration_timestamp_seconds untyped\n\
         control_identity_cert_expiration_timestamp_seconds{{{of}}} 1768474680 1768478280000\n\
         process_clock_time_seconds{{{of}}} 1768478280 1768478280000\n"
    );
    let dump = write(folder.path(), "federate.txt", text);
    let said = ran(meshdoctor(&[&["check", "--bundle", &pods, "--diagnostics", &dump][..], &JUDGED].concat()));
    assert!(said.out.contains("proxy-certificate-expired"), "{said:?}");
}

/// Nothing ran, so nothing is reported as free of errors.
#[test]
fn metrics_that_end_early_are_not_called_free_of_errors() {
    let folder = tempfile::tempdir().unwrap();
    let pods = write(folder.path(), "pods.json", PODS);
    let cut = write(folder.path(), "cut.txt", &METRICS[..METRICS.find("identity_cert").unwrap()]);
    let args = ["--only", "proxy-certificate-expired", "--complete", "all"];
    let words = [&["check", "--bundle", &pods, "--diagnostics", &cut][..], &args].concat();
    let said = ran_to(4, meshdoctor(&words)).out;
    assert!(said.contains("NOTHING CHECKED  proxy-certificate-expired needs "), "{said}");
    assert!(said.contains("meshdoctor check --proxies --only proxy-certificate-expired"), "{said}");
}

#[test]
fn what_is_no_output_of_it_is_an_error_that_names_it_and_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone.txt").display().to_string();
    let other = write(folder.path(), "other.txt", "hello");
    let empty = write(folder.path(), "empty.txt", "\n");
    let policy = write(folder.path(), "policy.json", POLICY);
    for (given, status, part) in [
        (gone, 2, "gone.txt: No such file"),
        (empty, 3, "empty.txt: the file is empty"),
        ("-".to_owned(), 3, "-: standard input is not supported"),
        (other.clone(), 3, "other.txt: it is neither output of linkerd diagnostics"),
        (policy.clone(), 3, "NAMESPACE/POD:PORT=FILE"),
        (format!("shop/web-1:0={policy}"), 2, "is not a pod port"),
        (format!("shop/web-1:http={policy}"), 2, "NAMESPACE/POD:PORT"),
        (String::new(), 2, "the file name is missing"),
    ] {
        let said = ran(meshdoctor(&["check", "--diagnostics", &given]));
        assert_eq!(said.status, status, "{given}: {}", said.err);
        assert!(said.err.contains(part) && said.err.contains("--diagnostics"), "{given}: {}", said.err);
    }
}

/// The metrics of a real proxy whose certificate had run out, as they were read.
#[test]
fn real_metrics_of_an_expired_certificate_are_an_error() {
    let named = std::env::var_os("MESHDOCTOR_LAB").map(PathBuf::from);
    let lab = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/lab"));
    let read = lab.join("identity-down-expired/metrics/shop_web_32.proxy.after.txt.gz");
    let Ok(packed) = fs::File::open(&read) else {
        return skipped(Need::Lab, &format!("no {} (set MESHDOCTOR_LAB)", read.display()));
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let pods = write(folder.path(), "pods.json", PODS);
    let metrics = write(folder.path(), "metrics.txt", format!("#\n# POD web-1 (1 of 1)\n#\n{text}"));
    let words = ["check", "--bundle", &pods, "--diagnostics", &metrics];
    let said = ran(meshdoctor(&[&words[..], &JUDGED].concat()));
    assert!(said.status == 1 && said.out.contains("error proxy-certificate-expired "), "{said:?}");
}
