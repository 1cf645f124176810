//! The binary under its other names: `linkerd-meshdoctor`, an extension of `linkerd check`;
//! `kubectl-meshdoctor`; and the program that completes the latter's arguments.

#[cfg(feature = "live")]
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use meshdoctor::finding::Severity;
use meshdoctor::render;
use meshdoctor::render::linkerd::{DocumentRow, LinkerdDocument};
use meshdoctor::rows::RowResult;

use crate::binary::{Ran, called, ran};
#[cfg(feature = "live")]
use crate::faults::server::{ReceivedRequest, Reply, Server};
use crate::{golden, samples};

/// A link to the binary, in a folder of its own.
struct Link {
    folder: tempfile::TempDir,
    name: &'static str,
}

impl Link {
    fn create(name: &'static str) -> Link {
        let folder = tempfile::tempdir().unwrap();
        symlink(env!("CARGO_BIN_EXE_meshdoctor"), folder.path().join(name)).unwrap();
        Link { folder, name }
    }

    fn command(&self, args: &[&str]) -> Command {
        called(self.folder.path().join(self.name), args)
    }

    fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args))
    }
}

/// Parses standard output as the document that `linkerd check` reads.
fn rows_of(ran: &Ran) -> LinkerdDocument {
    let document: LinkerdDocument =
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("not one document ({e}):\n{}\n{}", ran.out, ran.err));
    hold(&document);
    document
}

/// Asserts the invariants of every document; `linkerd check` reads `error` first.
fn hold(document: &LinkerdDocument) {
    let rows: Vec<&DocumentRow> = document.categories.iter().flat_map(|category| &category.checks).collect();
    assert!(!rows.is_empty(), "an empty document looks like a good one");
    for row in &rows {
        assert_eq!(row.result == RowResult::Success, row.error.is_empty(), "{row:?}");
        assert!(!row.description.is_empty() && !row.description.contains('\n'), "{row:?}");
    }
    assert_eq!(document.success, rows.iter().all(|row| row.result != RowResult::Error));
    let names: Vec<&str> = document.categories.iter().map(|category| category.name.as_str()).collect();
    assert!(names.iter().all(|name| name.starts_with("meshdoctor")), "{names:?}: not mixed up with those of linkerd");
}

/// The arguments that `linkerd check` passes without user flags.
const CALL: [&str; 7] = [
    "check",
    "--as-group=[]",
    "--linkerd-namespace=linkerd",
    "--verbose=false",
    "--proxy=false",
    "--wait=5m0s",
    "--output=json",
];

#[test]
fn linkerd_recognises_its_extension() {
    let link = Link::create("linkerd-meshdoctor");
    let ran = link.run(&["_extension-metadata"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    assert_eq!(ran.out, "{\"name\":\"linkerd-meshdoctor\",\"checks\":\"always\"}\n");
    for (name, status) in [("meshdoctor", 2), ("kubectl-meshdoctor", 2)] {
        let ran = Link::create(name).run(&["_extension-metadata"]);
        assert_eq!((ran.status, ran.out.as_str()), (status, ""), "{name} is not an extension of linkerd");
    }
}

#[test]
fn a_call_by_linkerd_check_gets_one_document_in_every_outcome() {
    let link = Link::create("linkerd-meshdoctor");
    for (more, said) in [
        (&[][..], "no kubeconfig"),
        (&["--kubeconfig=/nonexistent/config"], "the kubeconfig /nonexistent/config does not exist"),
        (&["--kubeconfig="], "no kubeconfig"),
        (&["--wait=soon"], "expected a duration such as"),
        (&["--as-group=[a,b]"], "--as <USER>"),
        (&["--as=ann", "--as-group=[a,b]", "--context=prod", "--namespace=shop", "--api-addr=x:1"], "no kubeconfig"),
    ] {
        let name = |word: &str| word.split('=').next().unwrap().to_owned();
        let other = |word: &&str| more.iter().all(|more| name(more) != name(word));
        let call: Vec<&str> = CALL.into_iter().filter(other).chain(more.iter().copied()).collect();
        let ran = link.run(&call);
        let document = rows_of(&ran);
        assert!(!document.success && ran.status > 1, "{more:?}");
        let row = &document.categories[0].checks[0];
        assert!(row.error.contains(said) || ran.err.contains(said), "{more:?}: {row:?}\n{}", ran.err);
    }
}

#[test]
fn flags_of_a_later_linkerd_are_ignored_and_named() {
    let link = Link::create("linkerd-meshdoctor");
    let ran = link.run(&[&CALL[..], &["--tomorrow=[]", "--some-day"]].concat());
    rows_of(&ran);
    for flag in ["--tomorrow", "--some-day"] {
        assert!(ran.err.contains(&format!("warning: ignoring {flag}")), "{}", ran.err);
    }
    assert!(ran.out.contains("no kubeconfig"), "the rest was understood: {}", ran.out);
}

#[test]
fn what_a_person_mistypes_stays_an_error() {
    let link = Link::create("linkerd-meshdoctor");
    for args in [&["check", "--prxy"][..], &["check", "--prxy", "-o", "json"]] {
        let ran = link.run(args);
        assert_eq!(ran.status, 2, "{args:?}");
        assert!(ran.err.contains("--proxy") && ran.err.contains("linkerd meshdoctor check"), "{}", ran.err);
        assert_eq!(ran.out.is_empty(), args.len() == 2, "{args:?}: {}", ran.out);
    }
    let ran = link.run(&["check", "--wait", "5m", "--api-addr", "x:1", "--verbose=true", "--proxy=true"]);
    assert_eq!(ran.status, 3, "flags that every extension takes: {}", ran.err);
    assert_eq!(ran.out, "");
}

#[cfg(feature = "live")]
#[test]
fn an_interrupted_call_ends_with_a_document_as_well() {
    let link = Link::create("linkerd-meshdoctor");
    let mut child = link
        .command(&["check", "--bundle=-", "--output=json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("[{}", " ".repeat(1 << 20)).as_bytes()).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ran = Ran::from(child.wait_with_output().unwrap());
    drop(stdin);
    assert_eq!(ran.status, 130, "{}", ran.err);
    assert!(rows_of(&ran).categories[0].checks[0].error.starts_with("interrupted"), "{}", ran.out);
}

#[test]
fn findings_are_rows_and_the_healthy_have_none() {
    let link = Link::create("linkerd-meshdoctor");
    let ran = link.run(&["demo", "cni-unauthorized", "-o", "json"]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    let document = rows_of(&ran);
    let cni = document.categories.iter().find(|category| category.name == "meshdoctor-cni").unwrap();
    let failed: Vec<&DocumentRow> = cni.checks.iter().filter(|row| row.result != RowResult::Success).collect();
    let [row] = failed.as_slice() else { panic!("{failed:?}") };
    assert!(row.description.starts_with("cni-token-revoked: 2 nodes: "), "{row:?}");
    assert_eq!(Some(&row.hint), meshdoctor::page::page_url("cni-token-revoked").as_ref());
    for part in ["\n    explains: cni-add-unauthorized", "\n    fix (1 of 5): ", "linkerd meshdoctor check --only"] {
        assert!(row.error.contains(part), "{part}: {}", row.error);
    }
    let cured = link.run(&["demo", "cni-unauthorized", "--cured", "-o", "json"]);
    let rows = rows_of(&cured).categories.into_iter().flat_map(|category| category.checks);
    assert!(rows.into_iter().all(|row| row.result == RowResult::Success), "{}", cured.out);

    let own = link.run(&["demo", "cni-unauthorized", "-o", "report"]);
    let own: serde_json::Value = serde_json::from_str(&own.out).unwrap();
    assert_eq!(own["schema"], "meshdoctor.report/1");
    let table = link.run(&["demo", "cni-unauthorized"]);
    assert!(table.out.contains("linkerd meshdoctor explain"), "{}", table.out);
    assert!(!table.out.contains("  meshdoctor check"), "{}", table.out);
}

/// Every finding of warning or above is in a row, and every missing requested evidence is one.
#[test]
fn nothing_is_lost_on_the_way_to_rows() {
    for (name, report) in samples::all() {
        let text = render::extension::report(&report);
        golden::check(&format!("tests/suite/golden/{name}.extension.json"), &text);
        let document: LinkerdDocument = serde_json::from_str(&text).unwrap();
        hold(&document);
        for finding in report.findings.iter().filter(|finding| finding.severity > Severity::Info) {
            assert!(text.contains(finding.check), "{name}: {} is in no row", finding.check);
        }
        let failing = report.findings.iter().any(|finding| finding.severity == Severity::Error);
        assert!(document.success != failing || report.verdict.status == 3, "{name}");
        let coverage = &document.categories.last().unwrap().checks;
        let asked_for = report.coverage.gaps.iter().any(|gap| gap.missing.was_asked_for());
        let warned =
            coverage.iter().any(|row| row.result == RowResult::Warning && !row.description.contains("crashed"));
        assert_eq!(asked_for || !report.errors.is_empty(), warned, "{name}: {coverage:?}");
    }
}

#[test]
fn nothing_has_to_be_installed() {
    let link = Link::create("linkerd-meshdoctor");
    for word in ["install", "uninstall"] {
        let ran = link.run(&[word, "--set", "x=y"]);
        assert_eq!(ran.status, 0, "{}", ran.err);
        assert!(ran.out.lines().all(|line| line.starts_with('#')), "manifests for kubectl: {}", ran.out);
        assert!(ran.err.contains("Nothing to"), "{}", ran.err);
    }
}

#[test]
fn every_other_command_is_there_under_the_name_that_was_typed() {
    for (name, typed) in [("linkerd-meshdoctor", "linkerd meshdoctor"), ("kubectl-meshdoctor", "kubectl meshdoctor")] {
        let link = Link::create(name);
        for command in ["check", "collect", "list", "explain", "demo"] {
            let ran = link.run(&[command, "--help"]);
            assert_eq!(ran.status, 0, "{}", ran.err);
            assert!(ran.out.contains(&format!("Usage: {typed} {command}")), "{}", ran.out);
        }
        let ran = link.run(&["explain", "nonsense"]);
        assert_eq!(
            ran.err.lines().last(),
            Some(format!("  {typed} list lists all checks; put a longer text in quotes").as_str())
        );
        assert!(link.run(&["list"]).out.contains(&format!("{typed} explain CHECK")));
    }
}

/// The names of our commands in printed texts come from the command builder, which knows the typed name.
#[test]
fn texts_contain_no_literal_command_of_ours() {
    let own = tempfile::tempdir().unwrap();
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec: {containers: [{name: web, image: web}]}\n";
    let path = crate::binary::write(own.path(), "pod.yaml", pod);
    for (name, typed) in [("linkerd-meshdoctor", "linkerd meshdoctor"), ("kubectl-meshdoctor", "kubectl meshdoctor")] {
        let ran = Link::create(name).run(&["check", "--no-config", "--manifests", &path]);
        assert!(ran.out.contains(&format!("a cluster: {typed} check --with PATH")), "{}", ran.out);
    }
    // Examples of help texts are renamed as a whole; a node has only the program itself.
    let is_allowed = |path: &str, line: &str| {
        path.ends_with("cli/args/help.rs")
            || path.contains("/docgen/")
            || line.contains("node-snapshot")
            || line.contains("namespace meshdoctor;")
    };
    let mut literal = Vec::new();
    for (path, code) in crate::layers::files() {
        let lines = code.lines().filter(|line| {
            let named = line.find("meshdoctor ").map(|at| &line[at + "meshdoctor ".len()..]);
            let word: String =
                named.unwrap_or_default().chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            let is_command = [
                "check",
                "explain",
                "policy",
                "reach",
                "rbac",
                "fix",
                "collect",
                "list",
                "sync",
                "rotate",
                "ticket",
                "diff",
                "demo",
                "injection",
            ]
            .contains(&word.as_str());
            (is_command || named == Some("\\")) && !is_allowed(&path, line)
        });
        literal.extend(lines.map(|line| format!("{path}: {}", line.trim())));
    }
    assert!(literal.is_empty(), "{literal:#?}");
}

/// A text in a manifest that looks like a command of ours is evidence, and is quoted unchanged.
#[test]
fn evidence_is_quoted_as_it_is_under_every_name() {
    let own = tempfile::tempdir().unwrap();
    let quoted = "meshdoctor check it";
    let pod = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: web, namespace: shop, annotations: {{linkerd.io/inject: {quoted}}}}}\n\
         spec: {{containers: [{{name: web, image: web}}]}}\n"
    );
    let path = crate::binary::write(own.path(), "pod.yaml", pod);
    for name in ["meshdoctor", "kubectl-meshdoctor", "linkerd-meshdoctor"] {
        let link = Link::create(name);
        for format in ["table", "short", "json", "yaml", "sarif", "markdown", "junit", "github", "gitlab", "html"] {
            let ran = link.run(&["check", "--no-config", "--manifests", &path, "-v", "-o", format]);
            if format == "short" || !ran.out.contains("linkerd.io/inject") {
                continue;
            }
            for typed in ["kubectl meshdoctor check it", "linkerd meshdoctor check it"] {
                assert!(!ran.out.contains(typed), "{name} {format}: {}", ran.out);
            }
        }
        let ran = link.run(&["check", "--no-config", "--manifests", &path, "-v", "-o", "table"]);
        assert!(ran.out.contains(quoted), "{name}: {}{}", ran.out, ran.err);
    }
}

/// Every command in a text has the name that the user typed, wherever a line breaks.
#[test]
fn commands_are_named_as_they_are_typed() {
    let link = Link::create("kubectl-meshdoctor");
    let page = link.run(&["explain", "waiver-unused"]).out;
    assert!(!page.lines().any(|line| line.starts_with(['#', '|'])), "{page}");
    for words in [&["list"][..], &["demo"], &["reach"], &["policy", "nowhere/web"], &["explain", "nonsense"]] {
        let ran = link.run(words);
        let text = format!("{}{}", ran.out, ran.err);
        for command in ["list", "explain", "demo", "reach", "policy", "check"] {
            let own = format!("meshdoctor {command}");
            let all = text.matches(&own).count();
            assert_eq!(text.matches(&format!("kubectl {own}")).count(), all, "{words:?}: {text}");
        }
    }
}

#[test]
fn kubectls_own_flags_are_taken_or_refused_with_the_way_to_say_the_same() {
    let link = Link::create("kubectl-meshdoctor");
    let taken = ["check", "--cluster", "c", "--user=u", "-n", "shop", "--request-timeout=5s", "--live=true"];
    assert_eq!(link.run(&taken).status, 3, "no kubeconfig contains them");
    for (flag, next) in
        [("--password=secret", "set-credentials"), ("--as-uid=1", "set-credentials"), ("--cache-dir=/x", "omit it")]
    {
        let ran = link.run(&["check", flag, "-o", "json"]);
        assert_eq!(ran.status, 2, "{flag}");
        let name = flag.split('=').next().unwrap();
        assert!(ran.err.starts_with(&format!("error: kubectl meshdoctor does not accept {name}, ")), "{}", ran.err);
        assert!(ran.err.lines().last().is_some_and(|said| said.contains(next)), "{}", ran.err);
        assert!(!ran.err.contains("secret") && !ran.out.contains("secret"), "{}{}", ran.err, ran.out);
        let own: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(own["schema"], "meshdoctor.report/1", "JSON is our own here");
    }
    let typo = link.run(&["check", "--namspace", "x"]);
    assert!(typo.status == 2 && typo.err.contains("'--namespace'"), "{}", typo.err);
}

/// The flags of kubectl override the kubeconfig, and their token is neither printed nor saved.
#[cfg(feature = "live")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_is_read_by_what_kubectls_flags_say_and_no_token_is_told() {
    const TOKEN: &str = "opaque-canary-of-the-command-line";
    let script = |asked: &ReceivedRequest| match asked.header("authorization") {
        said if said == format!("Bearer {TOKEN}") => Reply::json(&serde_json::json!({ "kind": "List", "items": [] })),
        _ => Reply::status(403, "Forbidden", "who are you?"),
    };
    let server = Server::start(script).await;
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("kubeconfig");
    std::fs::write(
        &elsewhere,
        "{current-context: c, clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1', tls-server-name: x}}], \
         contexts: [{name: c, context: {cluster: a, user: u}}], users: [{name: u, user: {exec: {command: /nonexistent, \
         apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}}]}",
    )
    .unwrap();
    let link = Link::create("kubectl-meshdoctor");
    let (url, bundle) = (server.url(), folder.path().join("saved"));
    let target = format!("{}/", bundle.display());
    let token = format!("--token={TOKEN}");
    let over = format!("--kubeconfig={}", elsewhere.display());
    for (words, read) in [
        (&["-s", &url, "--token", TOKEN, "--save", &target][..], true),
        (&[&over, &token, "--server", &url], true),
        (&["--server", &url], false),
    ] {
        let words = [&["check", "-o", "json", "-v", "--linkerd-cli=none"][..], words].concat();
        let mut command = link.command(&words);
        let ran = tokio::task::spawn_blocking(move || Ran::from(command.output().unwrap())).await.unwrap();
        assert!(!ran.out.contains(TOKEN) && !ran.err.contains(TOKEN), "{words:?}: {}{}", ran.out, ran.err);
        let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let denied = report["coverage"]["gaps"].as_array().unwrap().iter().filter(|gap| gap["why"] == "denied");
        assert_eq!(denied.count() == 0, read, "{words:?}: {}", ran.err);
    }
    for entry in walkdir::WalkDir::new(&bundle) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            assert!(!String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).contains(TOKEN), "{entry:?}");
        }
    }
    assert!(bundle.join("manifest.json").exists());
    // With a wrong flag or without a cluster, the token is not printed either.
    for words in [&[token.as_str(), "--nonsense"][..], &[token.as_str()], &[token.as_str(), "--server", "nonsense"]] {
        let ran = link.run(&[&["check", "-o", "json"], words].concat());
        assert!(ran.status == 2 || ran.status == 3, "{words:?}: {}", ran.err);
        assert!(!ran.out.contains(TOKEN) && !ran.err.contains(TOKEN), "{words:?}: {}{}", ran.out, ran.err);
    }
    // Under its own name the command does not accept a token.
    let own = Link::create("meshdoctor").run(&["check", &token, "-o", "json"]);
    assert!(own.status == 2 && !own.out.contains(TOKEN) && !own.err.contains(TOKEN), "{}{}", own.out, own.err);
}

#[test]
fn kubectl_gets_completions_in_the_form_it_reads() {
    let link = Link::create("kubectl_complete-meshdoctor");
    for (line, first, last) in [
        (&["chec"][..], "check\tCheck a mesh", ":4"),
        (&["check", "--fail-o"], "--fail-on\tExit 1 from this severity on", ":4"),
        (&["check", "-o", "sh"], "short", ":4"),
        (&["check", "--kubeconfig", ""], ":0", ":0"),
    ] {
        let ran = link.run(line);
        assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{line:?}");
        assert_eq!((ran.out.lines().next(), ran.out.lines().last()), (Some(first), Some(last)), "{line:?}");
    }
}
