//! Expressions on objects, and the messages for expressions without a value.

use meshdoctor::expression::FUNCTIONS;

use super::{card, edited, judged, ran};

#[test]
fn what_an_expression_cannot_know_is_not_checked_and_never_a_pass() {
    let folder = tempfile::tempdir().unwrap();
    for (id, rule, why) in [
        ("missing-field", "object.spec.paused", "paused is missing"),
        (
            "redacted-text",
            "object.spec.template.spec.containers.all(c, c.env.all(e, e.value == 'x'))",
            "value is redacted",
        ),
        ("not-a-truth", "object.spec.replicas", "it must be true or false"),
        ("unknown-version", "atLeast(cluster.kubernetes, '1.29')", "kubernetes is missing"),
        ("no-version-at-all", "atLeast(object.metadata.name, '1.29')", "'web' is not a version"),
    ] {
        let home = card(folder.path(), id, &format!("  for: deployments.apps\n  rule: \"{rule}\""));
        let report = judged(folder.path(), &home, "a: b", &[], 4);
        assert_eq!(report["findings"].as_array().unwrap().len(), 0, "{report:#}");
        let told = report["checks"][0]["reason"].as_str().unwrap();
        assert!(told.contains(why), "{id}: {told}");
    }
}

/// A violated rule is a finding even if other parts of it have no value. A variable without a value only
/// matters if it is used, as in a ValidatingAdmissionPolicy.
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
    let step = "{text: Do it, run: [kubectl, get, deployment, \"=string(variables.paused)\"]}";
    let home = edited(folder.path(), "words-lack", rule, |text| {
        // Its message is an expression.
        text.replace("  message: m\n", "").replace("{text: Do it}", step)
    });
    let report = judged(folder.path(), &home, "a: b", &[], 1);
    let finding = &report["findings"][0];
    let message = finding["message"].as_str().unwrap();
    assert!(message.starts_with("the rule is false: (has(object.spec.paused)"), "{message}");
    let said: Vec<&str> =
        finding["evidence"].as_array().unwrap().iter().map(|one| one["said"].as_str().unwrap()).collect();
    assert_eq!(said[..2], ["enabled", "app"], "{finding:#}");
    assert!(said[2].starts_with("no value: paused is missing"), "{finding:#}");
    assert_eq!(finding["remedy"]["steps"][0]["text"], "Do it", "{finding:#}");
}

/// Evidence may be any value; a function that does not accept its argument reports this in words.
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
    assert!(said[1].contains("string() does not accept a map; select one of its fields"), "{said:?}");
    assert!(said[2].contains("a function is called with a whole number instead of a text"), "{said:?}");
}

/// `policy()` takes a port number or a port name; the message states why a port has no policy.
#[test]
fn the_policy_of_a_port_is_asked_for_by_name_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop, labels: {app: web, linkerd.io/control-plane-ns: linkerd}, annotations: {config.linkerd.io/default-inbound-policy: all-authenticated}}\nspec: {containers: [{name: linkerd-proxy, image: p:1}, {name: app, image: a:1, ports: [{name: http, containerPort: 8080}, {containerPort: 9090}, {name: dns, containerPort: 53, protocol: UDP}]}]}\nstatus: {phase: Running}";
    for (id, port, kind, said) in [
        ("by-number", "8080", "quiet", "pass"),
        ("by-name", "'http'", "quiet", "pass"),
        ("without-a-name", "9090", "quiet", "pass"),
        ("no-such-name", "'grpc'", "unknown", "declares port 'grpc'"),
        ("no-such-number", "8081", "unknown", "declares port 8081"),
        ("not-of-tcp", "53", "unknown", "declares port 53"),
        (
            "no-port",
            "true",
            "unknown",
            "a port must be a number or a name: policy(object, 8080) or policy(object, 'http')",
        ),
    ] {
        let rule = format!(
            "  for: pods\n  where: object.metadata.name == 'web'\n  rule: \"policy(object, {port}).default == 'all-authenticated'\""
        );
        let case = format!("### {kind}: one\n```yaml cluster on=healthy\n{pod}\n```\n```text expect\n```\n");
        let home = edited(folder.path(), id, &rule, |text| text + &case);
        let told = ran(&["test", &home], 1).out;
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(said), "{id}: {told}");
        assert!(!told.contains("and the check"), "{id}: {told}");
    }
}

/// An option that a card works out stays one; a value that looks like one does not become one.
#[test]
fn options_of_commands_are_worked_out() {
    let folder = tempfile::tempdir().unwrap();
    let rule = "  for: deployments.apps\n  rule: 'false'\n  params: {least: 2, odd: '--all'}";
    let step = "{text: Do it, run: [kubectl, scale, \"='deployment/' + owner.name\", \"='--replicas=' + string(params.least)\", =params.odd]}";
    let home = edited(folder.path(), "scaled-by", rule, |text| text.replace("{text: Do it}", step));
    let report = judged(folder.path(), &home, "a: b", &[], 1);
    let said = report["findings"][0]["remedy"]["steps"][0].to_string();
    assert!(said.contains("kubectl scale deployment/web --replicas=2 -- --all"), "{said}");
}

/// Type errors use the vocabulary of the card's author.
#[test]
fn what_an_operator_does_not_take_is_said() {
    let folder = tempfile::tempdir().unwrap();
    for (id, rule, why) in [
        ("text-with-number", "object.spec.replicas >= '2'", "a whole number and a text cannot be used with >="),
        ("field-of-list", "object.spec.template.spec.containers.name == ''", "a list has no fields; loop over it"),
        ("of-no-pods", "injected(object.spec)", "neither a pod nor has a pod template"),
    ] {
        let home = card(folder.path(), id, &format!("  for: deployments.apps\n  rule: \"{rule}\""));
        let report = judged(folder.path(), &home, "a: b", &[], 4);
        let told = report["checks"][0]["reason"].as_str().unwrap();
        assert!(told.contains(why), "{id}: {told}");
    }
}

/// Objects that lack the same field are one gap. A case that does not match its heading is reported.
#[test]
fn what_several_objects_lack_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let case = "### quiet: nothing\n```yaml cluster on=healthy\n```\n```text expect\n```\n";
    let rule = "  for: pods\n  rule: object.spec.paused";
    let home = edited(folder.path(), "no-such-field", rule, |text| text + case);
    let said = ran(&["test", &home], 1).out;
    assert_eq!(said.matches("paused is missing").count(), 1, "{said}");
    assert!(said.contains(" and ") && said.contains(" more: paused"), "{said}");
    assert!(said.contains("a case `quiet` needs a cluster without findings, but the check did not run"), "{said}");
}

/// Rules copied unchanged from policies that are common with Linkerd.
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
        ("in-a-team", "namespaceObject.metadata.?labels[?'team'].orValue('').lowerAscii() == 'shop'", "a: b", 0),
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
