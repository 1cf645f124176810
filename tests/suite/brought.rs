//! Checks that users bring: the examples and the template prove themselves, nothing tells them from the built-in ones, and what
//! cannot be meant is refused with file and line.

use std::path::Path;

use meshdoctor::expression::FUNCTIONS;
use meshdoctor::item::Kind;
use serde_json::Value;

use crate::cli::meshdoctor;

fn ran(arguments: &[&str], exit: i32) -> (String, String) {
    let out =
        meshdoctor(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("UPDATE").output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(exit), "{arguments:?}\n{said}\n{error}");
    (said, error)
}

/// Writes what the cases of the examples say into them, where that is asked for.
fn update(folder: &str) {
    if std::env::var_os("UPDATE").is_some() {
        let out =
            meshdoctor(&["test", folder]).current_dir(env!("CARGO_MANIFEST_DIR")).env("UPDATE", "1").output();
        assert!(out.unwrap().status.success());
    }
}

#[test]
fn the_examples_say_what_their_cards_claim() {
    update("examples/checks");
    // However the folder is written: what a card expects is the same for everybody.
    let absolute = format!("{}/examples/checks", env!("CARGO_MANIFEST_DIR"));
    for folder in ["examples/checks", "./examples/checks", "examples/checks/", &absolute] {
        let (said, _) = ran(&["test", folder], 0);
        assert!(said.ends_with("5 checks, 15 cases: 0 failed\n"), "{said}");
    }
}

#[test]
fn a_new_card_is_a_check_at_once_and_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    ran(&["new", "no-owner", "--dir", &path], 0);
    ran(&["new", "no-owner", "--dir", &path], 2);
    ran(&["new", "No_Owner", "--dir", &path], 2);
    ran(&["new", "pod-missing-proxy", "--dir", &path], 2);
    ran(&["test", &path], 0);
}

/// Of whatever kind: the card is one that fires, is quiet and lacks evidence as it is written.
#[test]
fn a_new_card_is_right_for_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let kinds = Kind::ALL.iter().filter(|kind| !matches!(kind, Kind::Secret | Kind::ConfigMap));
    for (at, kind) in kinds.enumerate() {
        ran(&["new", &format!("of-{at}"), "--for", &kind.resource(), "--dir", &path], 0);
        let card = std::fs::read_to_string(folder.path().join(format!("of-{at}.md"))).unwrap();
        let info = kind.info();
        assert!(card.contains(&format!("  for: {}\n", kind.resource())), "{card}");
        assert!(card.contains(&format!("kind: {}\nmetadata", info.kind)), "{card}");
        assert_eq!(card.contains("object.metadata.namespace"), info.namespaced, "{card}");
    }
    // A custom resource of others, in namespaces and in none.
    let foreign =
        ["new", "of-certificates", "--for", "certificates.v1.cert-manager.io", "--kind", "Certificate"];
    ran(&[&foreign[..], &["--dir", &path]].concat(), 0);
    let of_cluster =
        ["new", "of-issuers", "--for", "clusterissuers.v1.cert-manager.io", "--kind", "ClusterIssuer"];
    ran(&[&of_cluster[..], &["--cluster-scoped", "--dir", &path]].concat(), 0);
    ran(&["test", &path], 0);
    for (words, why) in [
        (&["--for", "poods"][..], "did you mean pods?"),
        (&["--for", "secrets"], "no expression sees secrets"),
        (&["--for", "certificates", "--kind", "Certificate"], "names no version"),
        (&["--for", "pumps.v1.example.com"], "--kind"),
        (&["--cluster-scoped"], "--kind"),
    ] {
        let (_, error) = ran(&[&["new", "never", "--dir", &path], words].concat(), 2);
        assert!(error.contains(why), "{words:?}: {error}");
    }
    assert!(!folder.path().join("never.md").exists());
}

#[test]
fn what_a_user_brings_stands_beside_the_built_in_checks() {
    let (listed, _) = ran(&["list", "yours", "--checks", "examples/checks"], 0);
    for id in ["namespace-outside-mesh", "outbound-port-skipped", "server-without-proxy-protocol"] {
        assert!(listed.contains(id), "{listed}");
    }
    let (page, _) = ran(&["explain", "outbound-port-skipped", "--checks", "examples/checks"], 0);
    assert!(page.contains("What is skipped is sent in the clear"), "{page}");
    ran(&["explain", "outbound-port-skipped"], 2);
}

/// A cluster of one Deployment as a dump, which is all of it.
fn judged(folder: &Path, checks: &str, annotation: &str, more: &[&str], exit: i32) -> Value {
    let dump = folder.join("dump.yaml");
    let text = format!(
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Namespace\n  metadata: {{name: shop, labels: {{team: shop}}}}\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {{name: web, namespace: shop}}\n  spec:\n    replicas: 3\n    template:\n      metadata: {{annotations: {{linkerd.io/inject: enabled, {annotation}}}}}\n      spec: {{containers: [{{name: app, image: 'a:1', env: [{{name: X, value: secret}}]}}]}}\n"
    );
    std::fs::write(&dump, text).unwrap();
    let dump = dump.display().to_string();
    let flags = [
        "check",
        "--bundle",
        &dump,
        "--complete",
        "all",
        "--checks",
        checks,
        "-o",
        "json",
        "--only",
        "yours",
    ];
    let (said, _) = ran(&[&flags[..], more].concat(), exit);
    serde_json::from_str(&said).unwrap()
}

#[test]
fn its_findings_are_those_of_any_check() {
    let folder = tempfile::tempdir().unwrap();
    let skips = "config.linkerd.io/skip-outbound-ports: '5432'";
    let report = judged(folder.path(), "examples/checks", skips, &["--fail-on", "warning"], 1);
    let checks: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|f| f["check"].as_str().unwrap()).collect();
    assert_eq!(checks, ["namespace-outside-mesh", "outbound-port-skipped"], "{report:#}");
    let finding = &report["findings"][1];
    assert_eq!(
        finding["remedy"]["verify"],
        "meshdoctor check --checks examples/checks --only outbound-port-skipped --fail-on warning"
    );
    assert!(finding["docs"].is_null() && finding["fingerprint"].is_string(), "{finding}");
    judged(
        folder.path(),
        "examples/checks",
        skips,
        &["--skip", "namespace-outside-mesh,outbound-port-skipped"],
        0,
    );
    judged(folder.path(), "examples/checks", skips, &["--only", "outbound-port-skiped"], 2);
}

/// A card with that rule for Deployments.
fn card(folder: &Path, id: &str, rule: &str) -> String {
    let text = format!(
        "---\ntitle: T\nseverity: error\ncategory: yours\nsince: 0.1.0\nrule:\n{rule}\n  message: m\n  fix: [{{text: Do it}}]\n---\n## What it finds\nA.\n## Why it matters\nB.\n## How to fix\nC.\n## What it cannot see\nD.\n## Cases\n"
    );
    let home = folder.join(id);
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join(format!("{id}.md")), text).unwrap();
    home.display().to_string()
}

#[test]
fn what_an_expression_cannot_know_is_not_checked_and_never_a_pass() {
    let folder = tempfile::tempdir().unwrap();
    for (id, rule, why) in [
        ("missing-field", "object.spec.paused", "paused is not there"),
        (
            "redacted-text",
            "object.spec.template.spec.containers.all(c, c.env.all(e, e.value == 'x'))",
            "value is redacted",
        ),
        ("not-a-truth", "object.spec.replicas", "neither true nor false"),
        ("unknown-version", "atLeast(cluster.kubernetes, '1.29')", "kubernetes is not there"),
        ("no-version-at-all", "atLeast(object.metadata.name, '1.29')", "'web' is no version"),
    ] {
        let home = card(folder.path(), id, &format!("  for: deployments.apps\n  rule: \"{rule}\""));
        let report = judged(folder.path(), &home, "a: b", &[], 4);
        assert_eq!(report["findings"].as_array().unwrap().len(), 0, "{report:#}");
        let told = report["checks"][0]["reason"].as_str().unwrap();
        assert!(told.contains(why), "{id}: {told}");
    }
}

/// A rule that does not hold is a finding, whatever else of it has no value; a variable without a value matters only where it is
/// needed, as in a ValidatingAdmissionPolicy.
#[test]
fn a_broken_rule_is_found_whatever_its_words_lack() {
    let folder = tempfile::tempdir().unwrap();
    let rule = r#"  for: deployments.apps
  where: "namespaceObject.metadata.labels.team == 'shop'"
  variables:
  - {name: paused, expression: object.spec.paused}
  - {name: inject, expression: "object.spec.template.metadata.annotations['linkerd.io/inject']"}
  rule: "(has(object.spec.paused) && variables.paused) || variables.inject == 'variables.inject'"
  message-expression: "'paused: ' + string(variables.paused)"
  evidence:
  - path: spec.template.metadata.annotations['linkerd.io/inject']
  - path: spec.template.spec.containers[0].name
  - {path: spec.paused, expression: string(variables.paused)}"#;
    let home = folder.path().join("words-lack");
    card(folder.path(), "words-lack", rule);
    // Its message is an expression.
    let path = home.join("words-lack.md");
    let text = std::fs::read_to_string(&path).unwrap().replace("  message: m\n", "");
    let step = "{text: Do it, run: [kubectl, get, deployment, \"=string(variables.paused)\"]}";
    std::fs::write(&path, text.replace("{text: Do it}", step)).unwrap();
    let report = judged(folder.path(), &home.display().to_string(), "a: b", &[], 1);
    let finding = &report["findings"][0];
    let message = finding["message"].as_str().unwrap();
    assert!(message.starts_with("the rule does not hold: (has(object.spec.paused)"), "{message}");
    let said: Vec<&str> =
        finding["evidence"].as_array().unwrap().iter().map(|one| one["said"].as_str().unwrap()).collect();
    assert_eq!(said[..2], ["enabled", "app"], "{finding:#}");
    assert!(said[2].starts_with("no value: paused is not there"), "{finding:#}");
    assert_eq!(finding["remedy"]["steps"][0]["text"], "Do it", "{finding:#}");
}

/// A message names the line of the part that cannot be.
#[test]
fn a_part_that_cannot_be_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    for (id, rule, line, why) in [
        ("line-of-where", "  for: pods\n  where: namespace.x\n  rule: 'true'", 8, "namespaceObject"),
        ("line-of-rule", "  for: pods\n  where: 'true'\n  rule: objct.x", 9, "did you mean object?"),
        (
            "line-of-variable",
            "  for: pods\n  variables:\n  - {name: a, expression: '1'}\n  - {name: b, expression: variables.c}\n  rule: 'true'",
            10,
            "nothing is bound to variables.c; did you mean variables.a?",
        ),
        (
            "line-of-path",
            "  for: pods\n  evidence:\n  - path: spec[\n  rule: 'true'",
            9,
            "no path of a field",
        ),
        (
            "line-of-odd-path",
            "  for: pods\n  evidence:\n  - path: spec\n    expression: \"'x'\"\n  - {path: spec..a b, expression: \"'x'\"}\n  rule: 'true'",
            11,
            "no path of a field",
        ),
        (
            "line-of-object",
            "  for: pods\n  evidence:\n  - path: object.spec\n  rule: 'true'",
            9,
            "without object",
        ),
        (
            "line-of-any-item",
            "  for: pods\n  evidence:\n  - path: spec.containers[*].image\n  rule: 'true'",
            9,
            "names no one item",
        ),
        (
            "line-of-beginning",
            "  for: pods\n  evidence:\n  - path: spce.nodeName\n  rule: 'true'",
            9,
            "did you mean spec?",
        ),
        (
            "line-of-quoted",
            "  for: pods\n  evidence:\n  - path: spec\n    expression: objct.x\n  rule: 'true'",
            9,
            "rule.evidence[0]: nothing is bound to objct",
        ),
        (
            "line-of-twice",
            "  for: pods\n  variables:\n  - {name: a, expression: '1'}\n  - {name: a, expression: '2'}\n  rule: 'true'",
            10,
            "a is there twice",
        ),
        (
            "line-of-like",
            "  for: pods\n  variables:\n  - {name: ab, expression: '1'}\n  - {name: a, expression: x}\n  rule: 'true'",
            10,
            "nothing is bound to x",
        ),
        (
            "line-of-params-twice",
            "  for: pods\n  params: {a: 1, a: 2}\n  rule: 'true'",
            8,
            "a is there twice",
        ),
        (
            "line-of-near-key",
            "  for: pods\n  evidnce: []\n  rule: 'true'",
            8,
            "unknown field `evidnce`; did you mean `evidence`?",
        ),
        (
            "line-of-policy",
            "  for: deployments.apps\n  rule: policy(object, 80).protocol != ''",
            8,
            "policy() is of running pods",
        ),
        ("line-of-injected", "  for: services\n  rule: injected(object)", 8, "injected() is of pods"),
        (
            "line-of-params",
            "  for: pods\n  params: {days: 3}\n  rule: params.dayz > 2",
            9,
            "did you mean params.days?",
        ),
        ("line-of-no-params", "  for: pods\n  rule: params.days > 2", 8, "the rule has no params"),
        ("line-of-cluster", "  for: pods\n  rule: cluster.linkrd != ''", 8, "did you mean cluster.linkerd?"),
        ("line-of-owner", "  for: pods\n  rule: owner.?nam.orValue('') != ''", 8, "did you mean owner.name?"),
        ("line-of-home", "  for: pods\n  rule: \"'a' in namespaceObject.labels\"", 8, "but metadata"),
        ("line-of-call", "  for: pods\n  rule: injected()", 8, "injected(object) is called with 0 arguments"),
        ("line-of-key", "  for: pods\n  wher: 'true'\n  rule: 'true'", 8, "unknown field `wher`"),
        ("line-of-depth", &format!("  for: pods\n  rule: 'true{}'", "+1".repeat(1000)), 8, "deep"),
    ] {
        let home = card(folder.path(), id, rule);
        let (_, error) = ran(&["list", "--checks", &home], 2);
        assert!(error.contains(&format!("{id}.md:{line}: ")) && error.contains(why), "{id}: {error}");
    }
    let home = card(folder.path(), "line-of-before", "  for: pods\n  rule: 'true'");
    let path = folder.path().join("line-of-before/line-of-before.md");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("rule:\n", "before: [pod-missing-prxy]\nrule:\n")).unwrap();
    let (_, error) = ran(&["list", "--checks", &home], 2);
    assert!(error.contains(".md:6: ") && error.contains("did you mean pod-missing-proxy?"), "{error}");
    let home = card(folder.path(), "pod-missing-proxy", "  for: pods\n  rule: 'true'");
    let (_, error) = ran(&["list", "--checks", &home], 2);
    assert!(error.contains("a built-in check has the name"), "{error}");
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    for (id, rule, why) in [
        ("of-secrets", "  for: secrets\n  rule: 'true'", "no expression sees secrets"),
        ("of-nothing", "  for: deploymnts\n  rule: 'true'", "is no kind that meshdoctor knows"),
        ("of-near", "  for: deploymnts.apps\n  rule: 'true'", "did you mean deployments.apps?"),
        (
            "no-version",
            "  for: certificates.cert-manager.io\n  kind: Certificate\n  rule: 'true'",
            "no resource with version",
        ),
        (
            "known-kind",
            "  for: servers.v1beta3.policy.linkerd.io\n  kind: Server\n  rule: 'true'",
            "Server is known",
        ),
        (
            "secret-text",
            "  for: vaults.v1.example.com\n  kind: Vault\n  reads: [spec.token]\n  rule: 'true'",
            "no expression sees",
        ),
        ("no-kind", "  for: pods\n  reads: [spec.x]\n  rule: 'true'", "go with kind"),
        ("misspelled", "  for: pods\n  rule: objct.x", "did you mean object?"),
        ("no-function", "  for: pods\n  rule: injcted(object)", "did you mean injected?"),
        ("no-cel", "  for: pods\n  rule: object..x", "rule.rule"),
        ("unknown-key", "  for: pods\n  rule: 'true'\n  wher: 'true'", "unknown field"),
    ] {
        let home = card(folder.path(), id, rule);
        let (_, error) = ran(&["list", "--checks", &home], 2);
        assert!(error.contains(why) && error.contains(&format!("{id}.md:")), "{id}: {error}");
    }
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    ran(&["list", "--checks", &empty.display().to_string()], 2);
    ran(&["list", "--checks", "no-such-folder"], 2);
    ran(&["test"], 2);
    // A card without the cases that prove it is said to lack them.
    let home = card(folder.path(), "unproved", "  for: pods\n  rule: 'true'");
    let (said, _) = ran(&["test", &home], 1);
    assert!(said.contains("it has no case ### fires"), "{said}");
}

/// What stands beside the rule is held to as well.
#[test]
fn front_matter_that_cannot_be_meant_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    for (id, from, to, line, why) in [
        ("since", "since: 0.1.0", "since: banana", 5, "\"banana\" is no version"),
        ("severity", "severity: error", "severity: warn", 3, "did you mean `warning`?"),
        ("title", "title:", "titel:", 2, "did you mean `title`?"),
        ("word", "category: yours", "category: Ours!", 4, "is no category"),
        ("slip", "category: yours", "category: polcy", 4, "did you mean policy?"),
        ("of-a-check", "category: yours", "category: pod-missing-proxy", 4, "is the name of a check"),
    ] {
        let id = format!("front-{id}");
        let home = card(folder.path(), &id, "  for: pods\n  rule: 'true'");
        let path = folder.path().join(format!("{id}/{id}.md"));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let (_, error) = ran(&["list", "--checks", &home], 2);
        assert!(error.contains(&format!("{id}.md:{line}: ")) && error.contains(why), "{id}: {error}");
    }
    // A word of one's own stays one, and so do the categories that there are.
    for (id, category) in [("own-word", "team-rules"), ("known-word", "policy")] {
        let home = card(folder.path(), id, "  for: pods\n  rule: 'true'");
        let path = folder.path().join(format!("{id}/{id}.md"));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("category: yours", &format!("category: {category}"))).unwrap();
        ran(&["list", category, "--checks", &home], 0);
    }
    // Two cases of one title could not be told apart.
    let home = card(folder.path(), "two-titles", "  for: pods\n  rule: 'true'");
    let path = folder.path().join("two-titles/two-titles.md");
    let case = |kind: &str| format!("### {kind}: one\n```text expect\n```\n");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{}{}", case("fires"), case("quiet"))).unwrap();
    let (_, error) = ran(&["list", "--checks", &home], 2);
    assert!(error.contains("another case has the title"), "{error}");
}

/// Evidence is quoted whatever it is; what a function does not take is said in words.
#[test]
fn what_is_quoted_may_be_a_map_and_what_is_not_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let rule = r#"  for: deployments.apps
  rule: "false"
  evidence:
  - {path: metadata, expression: "{'flow': 1}"}
  - {path: metadata, expression: "string({'flow': 1})"}
  - {path: metadata, expression: "inCIDR(7, 'x')"}"#;
    let home = card(folder.path(), "quotes-a-map", rule);
    let report = judged(folder.path(), &home, "a: b", &[], 1);
    let evidence = report["findings"][0]["evidence"].as_array().unwrap();
    let said: Vec<&str> = evidence.iter().map(|one| one["said"].as_str().unwrap()).collect();
    assert_eq!(said[0], r#"{"flow":1}"#);
    assert!(said[1].contains("string() does not take a map; name one of its fields"), "{said:?}");
    assert!(said[2].contains("called with a whole number, and takes a text there"), "{said:?}");
}

/// The policy of a port is asked for by its number or its name; why there is none is said.
#[test]
fn the_policy_of_a_port_is_asked_for_by_name_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop, labels: {app: web, linkerd.io/control-plane-ns: linkerd}, annotations: {config.linkerd.io/default-inbound-policy: all-authenticated}}\nspec: {containers: [{name: linkerd-proxy, image: p:1}, {name: app, image: a:1, ports: [{name: http, containerPort: 8080}, {containerPort: 9090}, {name: dns, containerPort: 53, protocol: UDP}]}]}\nstatus: {phase: Running}";
    for (id, port, kind, said) in [
        ("by-number", "8080", "quiet", "pass"),
        ("by-name", "'http'", "quiet", "pass"),
        ("without-a-name", "9090", "quiet", "pass"),
        ("no-such-name", "'grpc'", "unknown", "lists a port 'grpc'"),
        ("no-such-number", "8081", "unknown", "lists a port 8081"),
        ("not-of-tcp", "53", "unknown", "lists a port 53"),
        (
            "no-port",
            "true",
            "unknown",
            "a port is a number or a name: policy(object, 8080) or policy(object, 'http')",
        ),
    ] {
        let rule = format!(
            "  for: pods\n  where: object.metadata.name == 'web'\n  rule: \"policy(object, {port}).default == 'all-authenticated'\""
        );
        let home = card(folder.path(), id, &rule);
        let path = folder.path().join(format!("{id}/{id}.md"));
        let text = std::fs::read_to_string(&path).unwrap();
        let case = format!("### {kind}: one\n```yaml cluster on=healthy\n{pod}\n```\n```text expect\n```\n");
        std::fs::write(&path, format!("{text}{case}")).unwrap();
        let (told, _) = ran(&["test", &home], 1);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(said), "{id}: {told}");
        assert!(!told.contains("and the check"), "{id}: {told}");
    }
}

/// What the injector does with the pods of a custom resource is told from its template, which passes for that; in a bundle of who did
/// not ask it is not known.
#[test]
fn the_pods_of_custom_resources_are_injected_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let of = "  for: rollouts.v1alpha1.argoproj.io\n  kind: Rollout\n";
    let asks = card(folder.path(), "unmeshed-rollout", &format!("{of}  rule: injected(object)"));
    let asks_not = card(folder.path(), "idle-rollout", &format!("{of}  rule: object.spec.replicas > 0"));
    let dump = folder.path().join("dump.yaml").display().to_string();
    let rollout = |name: &str, inject: &str| {
        format!(
            "- apiVersion: argoproj.io/v1alpha1\n  kind: Rollout\n  metadata: {{name: {name}, namespace: shop}}\n  spec:\n    replicas: 1\n    template:\n      metadata: {{annotations: {{linkerd.io/inject: {inject}}}}}\n      spec: {{containers: [{{name: app, image: 'a:1', env: [{{name: X, value: a-private-remark}}]}}]}}\n"
        )
    };
    let base = std::fs::read_to_string("checks/bases/healthy.yaml").unwrap();
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n{}{}",
        rollout("in", "enabled"),
        rollout("out", "disabled")
    );
    std::fs::write(&dump, format!("{base}\n---\n{list}")).unwrap();
    let run = |bundle: &str, home: &str, id: &str, more: &[&str], exit: i32| -> Value {
        let words = ["check", "--bundle", bundle, "--checks", home, "--only", id, "-o", "json"];
        serde_json::from_str(&ran(&[&words[..], more].concat(), exit).0).unwrap()
    };
    let saved = folder.path().join("asks.tar.gz").display().to_string();
    let report = run(&dump, &asks, "unmeshed-rollout", &["--complete", "all", "--save", &saved], 1);
    let names = |report: &Value| {
        let all = report["findings"].as_array().unwrap().iter();
        all.map(|one| one["subjects"][0]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&report), ["out"], "{report:#}");
    assert_eq!(names(&run(&saved, &asks, "unmeshed-rollout", &[], 1)), ["out"]);
    let unpacked = std::process::Command::new("tar").args(["-xzOf", &saved]).output().unwrap();
    assert!(!String::from_utf8_lossy(&unpacked.stdout).contains("a-private-remark"));
    let saved = folder.path().join("asks-not.tar.gz").display().to_string();
    run(&dump, &asks_not, "idle-rollout", &["--complete", "all", "--save", &saved], 0);
    let report = run(&saved, &asks, "unmeshed-rollout", &[], 4);
    assert_eq!(names(&report), Vec::<String>::new(), "{report:#}");
    assert!(report.to_string().contains("which tell"), "{report:#}");
}

/// An option that a card works out stays one; a value that looks like one does not become one.
#[test]
fn options_of_commands_are_worked_out() {
    let folder = tempfile::tempdir().unwrap();
    let home = card(
        folder.path(),
        "scaled-by",
        "  for: deployments.apps\n  rule: 'false'\n  params: {least: 2, odd: '--all'}",
    );
    let path = folder.path().join("scaled-by/scaled-by.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let step = "{text: Do it, run: [kubectl, scale, \"='deployment/' + owner.name\", \"='--replicas=' + string(params.least)\", =params.odd]}";
    std::fs::write(&path, text.replace("{text: Do it}", step)).unwrap();
    let report = judged(folder.path(), &home, "a: b", &[], 1);
    let said = report["findings"][0]["remedy"]["steps"][0].to_string();
    assert!(said.contains("kubectl scale deployment/web --replicas=2 -- --all"), "{said}");
}

/// What does not fit is said in words of who wrote it.
#[test]
fn what_an_operator_does_not_take_is_said() {
    let folder = tempfile::tempdir().unwrap();
    for (id, rule, why) in [
        ("text-with-number", "object.spec.replicas >= '2'", "a whole number and a text are nothing for >="),
        ("field-of-list", "object.spec.template.spec.containers.name == ''", "a list has no fields; walk it"),
        ("of-no-pods", "injected(object.spec)", "there is no pod and no template of pods"),
    ] {
        let home = card(folder.path(), id, &format!("  for: deployments.apps\n  rule: \"{rule}\""));
        let report = judged(folder.path(), &home, "a: b", &[], 4);
        let told = report["checks"][0]["reason"].as_str().unwrap();
        assert!(told.contains(why), "{id}: {told}");
    }
}

/// Objects that lack the same are one gap, and a case that shows something else than its heading says is told in its words.
#[test]
fn what_several_objects_lack_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let home = card(folder.path(), "no-such-field", "  for: pods\n  rule: object.spec.paused");
    let path = folder.path().join("no-such-field/no-such-field.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let case = "### quiet: nothing\n```yaml cluster on=healthy\n```\n```text expect\n```\n";
    std::fs::write(&path, format!("{text}{case}")).unwrap();
    let (said, _) = ran(&["test", &home], 1);
    assert_eq!(said.matches("paused is not there").count(), 1, "{said}");
    assert!(said.contains(" and ") && said.contains(" more: paused"), "{said}");
    assert!(
        said.contains("a case `quiet` shows a cluster in which all is well, and the check did not run"),
        "{said}"
    );
}

/// Rules as policies have them that people use with Linkerd, as they stand there.
#[test]
fn rules_of_policies_are_rules_here() {
    let folder = tempfile::tempdir().unwrap();
    for (id, rule, annotation, exit) in [
        (
            "asked-for",
            "object.spec.template.metadata.?annotations[?'linkerd.io/inject'].orValue('') == 'enabled'",
            "a: b",
            0,
        ),
        (
            "not-overridden",
            "!has(object.metadata.annotations) || !('linkerd.io/inject' in object.metadata.annotations) || object.metadata.annotations['linkerd.io/inject'] != 'disabled'",
            "a: b",
            0,
        ),
        (
            "no-skipping",
            "!(object.spec.template.metadata.?annotations[?'config.linkerd.io/skip-outbound-ports'].hasValue())",
            "config.linkerd.io/skip-outbound-ports: '1'",
            1,
        ),
        (
            "in-a-team",
            "namespaceObject.metadata.?labels[?'team'].orValue('').lowerAscii() == 'shop'",
            "a: b",
            0,
        ),
    ] {
        let home = card(folder.path(), id, &format!("  for: deployments.apps\n  rule: \"{rule}\""));
        judged(folder.path(), &home, annotation, &[], exit);
    }
}

/// The functions, as the page has them.
#[test]
fn the_page_names_every_function() {
    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/your-own-checks.md");
    let mut table = "| function | is |\n|---|---|\n".to_owned();
    for (name, arguments, meaning) in FUNCTIONS {
        table.push_str(&format!("| `{name}({arguments})` | {meaning} |\n"));
    }
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (begin, end) = ("<!-- functions: begin -->\n", "<!-- functions: end -->");
    let (head, rest) = page.split_once(begin).unwrap();
    let (_, tail) = rest.split_once(end).unwrap();
    let wanted = format!("{head}{begin}{table}{end}{tail}");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PAGE, &wanted).unwrap();
    } else {
        assert!(page == wanted, "docs/your-own-checks.md is out of date: UPDATE=1 cargo test writes it");
    }
}

/// Objects of a kind that is nobody's here: what is said to be read is read, and goes into a bundle; no other text does.
const PUMPS: &str = r#"
apiVersion: v1
kind: List
items:
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: pumps.example.com}
- apiVersion: example.com/v1
  kind: Pump
  metadata: {name: north, namespace: shop}
  spec: {mode: manual, flow: 3, note: a-private-remark}
- apiVersion: example.com/v1
  kind: Pump
  metadata: {name: south, namespace: shop}
  spec: {mode: automatic, flow: 9, note: a-private-remark}
"#;

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";

#[test]
fn custom_resources_of_others_are_read_as_far_as_the_card_says() {
    let folder = tempfile::tempdir().unwrap();
    let of = "  for: pumps.v1.example.com\n  kind: Pump\n";
    let home = card(
        folder.path(),
        "pump-by-hand",
        &format!(
            "{of}  reads: [spec.mode]\n  rule: \"object.spec.mode != 'manual' || object.spec.flow > 5\""
        ),
    );
    let bundle = folder.path().join("saved.tar.gz").display().to_string();
    let judged = |text: &str, home: &str, words: &[&str], exit: i32| -> Value {
        let dump = folder.path().join("pumps.yaml").display().to_string();
        std::fs::write(&dump, text).unwrap();
        let flags = [
            "check",
            "--bundle",
            &dump,
            "--complete",
            "all",
            "--checks",
            home,
            "-o",
            "json",
            "--only",
            "yours",
        ];
        serde_json::from_str(&ran(&[&flags[..], words].concat(), exit).0).unwrap()
    };
    let report = judged(PUMPS, &home, &["--save", &bundle], 1);
    let named = |report: &Value| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().map(|finding| finding["subjects"][0]["name"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(named(&report), [r#""north""#], "{report:#}");

    // The bundle of that run says the same, and nothing to who does not know the kind.
    let again = ["check", "--bundle", &bundle, "--checks", &home, "--only", "pump-by-hand", "-o", "json"];
    let (said, _) = ran(&again, 1);
    assert_eq!(named(&serde_json::from_str(&said).unwrap()), [r#""north""#]);
    ran(&["check", "--bundle", &bundle, "--only", "annotation-unknown"], 0);
    let unpacked = std::process::Command::new("tar").args(["-xzOf", &bundle]).output().unwrap();
    let kept = String::from_utf8_lossy(&unpacked.stdout).into_owned();
    assert!(kept.contains("\"manual\"") && !kept.contains("a-private-remark"), "{kept}");

    // What is not said to be read is not compared.
    let home = card(folder.path(), "pump-noted", &format!("{of}  rule: \"object.spec.note != ''\""));
    let report = judged(PUMPS, &home, &[], 4);
    assert!(report["checks"].to_string().contains("spec.note is redacted"), "{report:#}");

    // A dump that holds everything holds no definition either, so that the check does not apply.
    let report = judged(NAMESPACE, &home, &[], 0);
    assert_eq!(report["checks"][0]["outcome"], "not-applicable", "{report:#}");
    let (role, _) = ran(&["rbac", "--checks", &home, "--only", "pump-noted"], 0);
    assert!(role.contains("pumps") && role.contains("example.com"), "{role}");
}

#[test]
fn parameters_are_set_anew_and_stay_of_their_kind() {
    let folder = tempfile::tempdir().unwrap();
    let rule = "  for: deployments.apps\n  rule: object.spec.replicas <= params.most\n  params: {most: 5, strict: true}";
    let home = card(folder.path(), "too-many", rule);
    judged(folder.path(), &home, "a: b", &[], 0);
    judged(folder.path(), &home, "a: b", &["--param", "too-many.most=2"], 1);
    // In a file, which the command line counts before.
    let file = folder.path().join("meshdoctor.toml").display().to_string();
    std::fs::write(&file, "[params.too-many]\nmost = 2\n").unwrap();
    judged(folder.path(), &home, "a: b", &["--config", &file], 1);
    judged(folder.path(), &home, "a: b", &["--config", &file, "--param", "too-many.most=3"], 0);
    for (words, why) in [
        ("too-many.most=few", "most is a whole number"),
        ("too-many.most=2.5", "most is a whole number"),
        ("too-many.strict=2", "strict is true or false"),
        ("too-many.mots=2", "most was perhaps meant"),
        ("too-mny.most=2", "too-many was perhaps meant"),
        ("pod-missing-proxy.most=2", "it has no parameters"),
        ("most=2", "CHECK.NAME=VALUE"),
    ] {
        let (_, error) = ran(&["check", "--bundle", "nothing", "--checks", &home, "--param", words], 2);
        assert!(error.contains(why), "{words}: {error}");
    }
}
