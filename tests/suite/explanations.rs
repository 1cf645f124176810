//! `explain` with pasted texts: the rows of every table, the real binary, and texts of real proxies and reports. The
//! recordings are outside the repository (`MESHDOCTOR_LAB` and `MESHDOCTOR_THREADS`, else next to it).

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use meshdoctor::checks;
use meshdoctor::explanation::{Explained, TextKind, explain};
use meshdoctor::knowledge::{AnsweredBy, Knowledge, SignatureScope};
use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran, ran_to};
use crate::skip::{Need, skipped};

fn explained(text: &str) -> Explained {
    explain(Knowledge::embedded(), text)
}

/// The folder of recordings, if it exists.
fn recordings(variable: &str, name: &str, need: Need) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let folder = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(name));
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(need, &format!("no {} (set {variable})", folder.display()));
    None
}

#[test]
fn every_named_check_exists() {
    for id in Knowledge::embedded().pasted().checks() {
        assert!(checks::find(id).is_some_and(|check| check.id == id), "{id}");
    }
}

#[test]
fn examples_of_all_tables_are_explained() {
    let knowledge = Knowledge::embedded();
    for row in knowledge.pasted().errors() {
        let found = explained(&format!("l5d-proxy-error: {}", row.example));
        let [meaning] = found.meanings.as_slice() else { panic!("{}: {found:?}", row.example) };
        assert_eq!((&meaning.means, &meaning.checks), (&row.means, &row.checks), "{}", row.example);
        assert!(meaning.certain);
    }
    for row in knowledge.pasted().events() {
        let found = explained(&row.example);
        let [meaning] = found.meanings.as_slice() else { panic!("{}: {found:?}", row.example) };
        assert_eq!((&meaning.means, &meaning.checks), (&row.means, &row.checks), "{}", row.example);
    }
    for row in knowledge.pasted().phrases() {
        let found = explained(&row.example);
        let [meaning] = found.meanings.as_slice() else { panic!("{}: {found:?}", row.example) };
        assert_eq!((&meaning.means, &meaning.checks), (&row.means, &row.checks), "{}", row.example);
    }
    for row in knowledge.pasted().headers() {
        for text in [row.example.clone(), format!("{}: some value", row.example.to_uppercase())] {
            let found = explained(&text);
            let [meaning] = found.meanings.as_slice() else { panic!("{text}: {found:?}") };
            assert_eq!((&meaning.means, &meaning.checks), (&row.means, &row.checks), "{text}");
        }
    }
    for variable in knowledge.pasted().variables() {
        for text in [format!("LINKERD2_PROXY_{}", variable.name()), format!("LINKERD2_PROXY_{}=1", variable.name())] {
            let found = explained(&text);
            let [meaning] = found.meanings.as_slice() else { panic!("{text}: {found:?}") };
            assert_eq!((meaning.kind, &meaning.means), (TextKind::Variable, &variable.means()), "{text}");
        }
    }
    for row in knowledge.mesh_logs().rows() {
        let found = explained(&row.example);
        let is_named = found.meanings.iter().any(|meaning| meaning.means == row.says);
        assert!(is_named, "{}: {found:?}", row.example);
    }
    for row in knowledge.signatures().rows() {
        let text = match row.scope {
            SignatureScope::Event => format!("plugin type=\"linkerd-cni\" failed (add): {}", row.example),
            _ => row.example.clone(),
        };
        let found = explained(&text);
        let meaning = found.meanings.iter().find(|meaning| meaning.means == row.cause);
        let meaning = meaning.unwrap_or_else(|| panic!("{text}: {found:?}"));
        assert_eq!(meaning.checks.len(), 1, "{text}");
    }
}

fn piped(text: &str, args: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let file = crate::binary::write(folder.path(), "text", text);
    let mut command = meshdoctor(&[&["explain", "-"], args].concat());
    ran(command.stdin(Stdio::from(std::fs::File::open(file).unwrap())))
}

#[test]
fn texts_are_explained_on_the_command_line() {
    for (words, parts) in [
        (&["exit code 95"][..], &["linkerd-network-validator", "--only cni-validator-failed"][..]),
        (&["exit", "95"], &["linkerd-network-validator"]),
        (&["exit status 127"], &["linkerd-cni", "--only cni-add-exit-127"]),
        (&["linkerd-proxy exited with code 64"], &["rejected its settings"]),
        (&["l5d-proxy-error: unauthorized request on route"], &["--only policy-denies", "Linkerd; the app"]),
        (&["l5d-proxy-error: quite new"], &["a proxy answered the request itself", "meshdoctor reach "]),
        (&["logical service 10.96.5.13:80: route default.http: service unavailable"], &["fail-fast"]),
        (&["HTTP/1.1", "403", "Forbidden"], &["--only policy-denies", "Linkerd or the application"]),
        (&["issuer-expired", "proxy-not-ready"], &["Issuer certificate expired", "Proxy is not ready"]),
    ] {
        let said = ran_to(0, meshdoctor(&[&["explain"], words].concat()));
        for part in parts {
            assert!(said.out.contains(part), "{words:?}: {part}: {}", said.out);
        }
    }
    for (words, part) in [
        ("x509: certificate has expired or is not yet valid", "issuer-expired"),
        ("certificate has expired", "issuer-expired"),
        ("x509: certificate signed by unknown authority", "data-plane-anchors-disjoint"),
        ("service in fail-fast", "service-without-endpoints"),
        ("Connection refused", "proxy-not-ready"),
        ("crashloopbackoff", "proxy-init-failing"),
        ("l5d-proxy-error", "states its error in this header"),
        ("HTTP response timeout", "timeout of a ServiceProfile"),
        ("504", "fail-fast"),
        ("504", "service-without-endpoints"),
        ("exit 4", "requested evidence was unavailable"),
        ("direct connections must be mutually authenticated", "scans"),
        ("a named target must be provided on gateway connections", "naming"),
        ("message head is too large", "fields"),
        ("431 Request Header Fields Too Large", "MAX_HEADER_LIST_SIZE"),
        ("invalid HTTP version parsed", "opaque-port-missing"),
        ("ingress-mode routing is HTTP-only", "edge-22.5.2"),
        ("proxy admin server is HTTP-only", "(4191)"),
        ("unknown service spiffe.workloadapi.SpiffeWorkloadAPI", "edge-25.11.3"),
        ("no route found for request", "opaque-ports-mismatch"),
        ("HTTP service in fail-fast", "endpoints-unreachable"),
        ("PostStartHookError", "await-hook-failing"),
        ("no matching SVID found", "SPIFFE ID"),
        ("Failed to pull image \"cr.l5d.io/linkerd/proxy:v1\": not found", "linkerd-image-not-pulled"),
        ("Back-off pulling image \"cr.l5d.io/linkerd/proxy:v1\"", "linkerd-image-not-pulled"),
        ("status.storedVersions[1]: Invalid value: \"v1\": must appear in spec.versions", "crds-overwritten-by-cli"),
        (
            "failing or missing response from https://10.0.3.60:8089/apis/tap.linkerd.io/v1alpha1",
            "viz-tap-api-unavailable",
        ),
        ("Gateway returned unexpected status 400. Marking as unhealthy", "gateway-probe-failing"),
        ("unexpected status 400. Marking as unhealthy", "gateway-probe-failing"),
    ] {
        let said = ran_to(0, meshdoctor(&["explain", words]));
        assert!(said.out.contains(part), "{words}: {}", said.out);
    }
    // Applications write texts like those of proxies.
    for words in [
        "ERROR unexpected error while order 17 was saved",
        "INFO shop.login: user redirected to /home",
        "dial tcp 10.0.0.7:5432: connect: Connection refused (os error 111)",
        "WARN queue: channel closed",
    ] {
        ran_to(1, meshdoctor(&["explain", words]));
    }
    let said = ran_to(0, meshdoctor(&["explain", "exit", "code", "1"]));
    assert!(said.out.contains("(if linkerd-proxy ended with it)"), "{}", said.out);
    let said = ran_to(1, meshdoctor(&["explain", "java.lang.NullPointerException at Shop.java:12"]));
    assert!(
        said.err.contains("meshdoctor does not know this text") && said.err.contains("meshdoctor check"),
        "{said:?}"
    );
    assert!(said.out.is_empty());
    // A word is the name of a check.
    assert_eq!(ran(meshdoctor(&["explain", "isuer-expired"])).status, 2);
}

const RESPONSE: &str = "< HTTP/1.1 504 Gateway Timeout\n< l5d-proxy-error: logical service 10.96.5.13:80: route default.http: backend Service.shop.api:80: Service.shop.api:80: service in fail-fast\n< connection: close\n< date: Wed, 25 Nov 2026 21:08:18 GMT\n";

#[test]
fn a_known_defect_is_explained_with_the_command_that_looks_for_it() {
    const ID: &str = "known-defect/server-invalid-selector";
    let said = ran_to(0, meshdoctor(&["explain", ID])).out;
    assert!(said.starts_with(&format!("{ID}  ")), "{said}");
    assert!(said.ends_with(&format!("next  meshdoctor check --only {ID}\n")), "{said}");
}

#[test]
fn standard_input_is_one_response_or_many_lines() {
    let said = piped(RESPONSE, &["-o", "json"]);
    let document = said.document();
    assert_eq!((said.status, &document["schema"]), (0, &"meshdoctor.explanation/1".into()));
    assert_eq!(document["meanings"].as_array().unwrap().len(), 1, "{document:#}");
    assert_eq!(document["unknownLines"], 0, "{document:#}");
    assert!(document["meanings"][0]["next"].as_str().unwrap().contains("--only service-without-endpoints,"));
    // The same response, from an application.
    let own = "HTTP/1.1 503 Service Unavailable\nserver: nginx\ncontent-type: text/html\n";
    let document = piped(own, &["-o", "json"]).document();
    assert_eq!(document["meanings"][0]["answeredBy"], "application", "{document:#}");
    let line = "WARN linkerd_reconnect: Failed to connect error=endpoint 10.0.0.9:80: connect timed out after 1s\n";
    let many = format!("starting\n{}ready\nexit code 137\n", line.repeat(9));
    let said = piped(&many, &[]);
    assert!(said.out.contains("2 lines have no known meaning"), "{}", said.out);
    assert_eq!(piped("", &[]).status, 1);
    assert_eq!(piped(&"x ".repeat(600_000), &[]).status, 2);
}

#[test]
fn secrets_in_texts_are_not_repeated() {
    let token = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6c2hvcDp3ZWIifQ.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJl";
    let text = format!("l5d-proxy-error: unauthorized request on route authorization: Bearer {token}");
    for form in ["text", "json"] {
        let said = ran(meshdoctor(&["explain", &text, "-o", form]));
        assert!(said.status == 0 && !said.text().contains("c2lnbmF0dXJl"), "{}", said.text());
    }
}

/// The calls of a recording that got a response with an error status.
fn responses(folder: &Path) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(path.join("truth.json")) else { continue };
        let truth: Value = serde_json::from_str(&text).unwrap();
        let calls = truth["calls"].as_array().into_iter().flatten();
        let failed = calls.filter(|call| call["status"].as_u64().is_some_and(|status| status >= 400));
        found.extend(failed.map(|call| (path.display().to_string(), call.clone())));
    }
    found
}

#[test]
fn responses_of_real_proxies_are_attributed_correctly() {
    let Some(lab) = recordings("MESHDOCTOR_LAB", "lab", Need::Lab) else { return };
    let responses = responses(&lab);
    assert!(responses.len() > 50, "{}", responses.len());
    for (place, call) in responses {
        let status = call["status"].as_u64().unwrap();
        let headers = call["headers"].as_object().unwrap();
        let line = |(name, value): (&String, &Value)| format!("{name}: {}\n", value.as_str().unwrap());
        let text = format!("HTTP/1.1 {status}\n{}", headers.iter().map(line).collect::<String>());
        let found = explained(&text);
        let [meaning] = found.meanings.as_slice() else { panic!("{place}: {text}: {found:?}") };
        assert_eq!(found.unknown, 0, "{place}: {text}");
        match headers.get("l5d-proxy-error").and_then(Value::as_str) {
            Some(error) => {
                assert_ne!(meaning.answered_by, AnsweredBy::Application, "{place}: {text}");
                let row = Knowledge::embedded().pasted().error(error).unwrap();
                let known = row.status.iter().any(|known| u64::from(*known) == status);
                assert!(known, "{place}: {error}: {status} is not in {:?}", row.status);
            }
            // The application's answers have its name in the header server.
            None if headers.contains_key("server") => {
                assert_eq!(meaning.answered_by, AnsweredBy::Application, "{place}: {text}");
            }
            None => assert_eq!(meaning.answered_by, AnsweredBy::Either, "{place}: {text}"),
        }
    }
}

#[test]
fn errors_in_logs_of_real_proxies_are_known() {
    let Some(lab) = recordings("MESHDOCTOR_LAB", "lab", Need::Lab) else { return };
    let (mut lines, mut unknown) = (0, BTreeSet::new());
    for entry in std::fs::read_dir(lab.join("logs")).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with("linkerd-proxy.log.gz") {
            continue;
        }
        let mut text = String::new();
        let file = std::fs::File::open(&path).unwrap();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
        let failed = |line: &&str| {
            ["Remote proxy error", "request failed", "Failed to connect", "Unexpected policy controller"]
                .iter()
                .any(|piece| line.contains(piece))
        };
        // Lines repeat; a few of each file are enough.
        for line in text.lines().filter(failed).step_by(7) {
            lines += 1;
            let found = explained(line);
            match found.meanings.as_slice() {
                [meaning] if meaning.kind == TextKind::LogLine => {}
                _ => _ = unknown.insert(line.to_owned()),
            }
        }
    }
    assert!(lines > 300, "{lines}");
    assert!(unknown.is_empty(), "{} of {lines}:\n{unknown:#?}", unknown.len());
}

#[test]
fn logs_of_public_reports_are_known() {
    let Some(threads) = recordings("MESHDOCTOR_THREADS", "threads", Need::Threads) else { return };
    let mut read = 0;
    for entry in std::fs::read_dir(threads).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(files) = std::fs::read_dir(&folder) else { continue };
        for file in files.map(|file| file.unwrap().path()) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            if !name.starts_with("cluster-log") {
                continue;
            }
            read += 1;
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(!explained(&text).meanings.is_empty(), "{}", file.display());
        }
    }
    assert!(read > 5, "{read}");
}

#[test]
fn errors_of_the_system_follow_the_program() {
    for (error, check) in [
        ("Permission denied (os error 13)", "network-policy-blocks-proxy"),
        ("Operation not permitted (os error 1)", "network-policy-blocks-proxy"),
        ("Cannot assign requested address (os error 99)", "endpoint-refuses-ipv6"),
        ("Address already in use (os error 98)", "endpoint-refuses-ipv6"),
        ("Too many open files (os error 24)", "proxy-file-descriptors-low"),
        ("Connection timed out (os error 110)", "endpoints-unreachable"),
    ] {
        let line = format!("linkerd_reconnect: Failed to connect error=endpoint 10.1.1.1:80: {error}");
        let found = explained(&line);
        let [meaning] = found.meanings.as_slice() else { panic!("{line}: {found:?}") };
        assert_eq!(meaning.program.as_deref(), Some("linkerd-proxy"), "{line}");
        assert!(meaning.checks.iter().any(|id| id == check), "{line}: {:?}", meaning.checks);
    }
    // The same error in a line of the installer.
    let found = explained("cp: can't create '/host/opt/cni/bin/linkerd-cni': Permission denied");
    assert_eq!(found.meanings[0].program.as_deref(), Some("install-cni"));
}

#[test]
fn keys_of_linkerd_are_explained() {
    let explained = |text: &str| {
        let mut found = explained(text).meanings;
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        found.remove(0)
    };
    for row in Knowledge::embedded().annotations().keys().iter().filter(|row| !row.is_prefix()) {
        let meaning = explained(&row.key);
        assert!(matches!(meaning.kind, TextKind::Annotation | TextKind::Label), "{meaning:?}");
        assert!(meaning.means.contains("It works in"), "{meaning:?}");
    }
    let ports = explained("  \"config.linkerd.io/skip-outbound-ports\": \"4222-\",");
    assert!(ports.remedy.is_some_and(|fix| fix.contains("port numbers and ranges")), "an invalid value");
    let good = explained("config.linkerd.io/skip-outbound-ports: 4222");
    assert_eq!(good.remedy, None, "an accepted value");
    assert!(good.means.starts_with("4222 is an accepted value. "), "{}", good.means);
    let several = explained("config.linkerd.io/skip-outbound-ports: 80, 6222,x").means;
    assert!(several.starts_with("\" 6222\" and \"x\" are not accepted, so "), "{several}");
    let typo = explained("config.linkerd.io/skip-outbound-port");
    let fix = typo.remedy.unwrap_or_default();
    assert!(typo.means.starts_with("no release") && fix.contains("config.linkerd.io/skip-outbound-ports"), "{fix}");
    assert_eq!(explained("linkerd.io/tls").kind, TextKind::Phrase);
    assert!(explain(Knowledge::embedded(), "app.kubernetes.io/name: web").meanings.is_empty());
}
