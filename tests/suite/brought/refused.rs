//! Invalid cards are refused with file and line.

use super::{card, edited, ran};

/// A rule with which nothing is wrong.
const ANY: &str = "  for: pods\n  rule: 'true'";

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
            "unknown variable variables.c; did you mean variables.a?",
        ),
        ("line-of-path", "  for: pods\n  evidence:\n  - path: spec[\n  rule: 'true'", 9, "is not a field path"),
        (
            "line-of-odd-path",
            "  for: pods\n  evidence:\n  - path: spec\n    expression: \"'x'\"\n  - {path: spec..a b, expression: \"'x'\"}\n  rule: 'true'",
            11,
            "is not a field path",
        ),
        ("line-of-object", "  for: pods\n  evidence:\n  - path: object.spec\n  rule: 'true'", 9, "without object"),
        (
            "line-of-any-item",
            "  for: pods\n  evidence:\n  - path: spec.containers[*].image\n  rule: 'true'",
            9,
            "does not name a single item",
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
            "rule.evidence[0]: unknown variable objct",
        ),
        (
            "line-of-twice",
            "  for: pods\n  variables:\n  - {name: a, expression: '1'}\n  - {name: a, expression: '2'}\n  rule: 'true'",
            10,
            "a is defined twice",
        ),
        (
            "line-of-like",
            "  for: pods\n  variables:\n  - {name: ab, expression: '1'}\n  - {name: a, expression: x}\n  rule: 'true'",
            10,
            "unknown variable x",
        ),
        ("line-of-params-twice", "  for: pods\n  params: {a: 1, a: 2}\n  rule: 'true'", 8, "a occurs twice"),
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
            "policy() works only in rules for pods",
        ),
        (
            "line-of-injected",
            "  for: services\n  rule: injected(object)",
            8,
            "injected() works only on pods and workloads",
        ),
        ("line-of-params", "  for: pods\n  params: {days: 3}\n  rule: params.dayz > 2", 9, "did you mean params.days?"),
        ("line-of-no-params", "  for: pods\n  rule: params.days > 2", 8, "the rule has no params"),
        ("line-of-cluster", "  for: pods\n  rule: cluster.linkrd != ''", 8, "did you mean cluster.linkerd?"),
        ("line-of-owner", "  for: pods\n  rule: owner.?nam.orValue('') != ''", 8, "did you mean owner.name?"),
        ("line-of-home", "  for: pods\n  rule: \"'a' in namespaceObject.labels\"", 8, "it has metadata"),
        ("line-of-call", "  for: pods\n  rule: injected()", 8, "injected(object) is called with 0 arguments"),
        ("line-of-key", "  for: pods\n  wher: 'true'\n  rule: 'true'", 8, "unknown field `wher`"),
        ("line-of-depth", &format!("  for: pods\n  rule: 'true{}'", "+1".repeat(1000)), 8, "deep"),
    ] {
        let home = card(folder.path(), id, rule);
        let error = ran(&["list", "--checks", &home], 2).err;
        assert!(error.contains(&format!("{id}.md:{line}: ")) && error.contains(why), "{id}: {error}");
    }
    let home = edited(folder.path(), "line-of-before", ANY, |text| {
        text.replace("rule:\n", "before: [pod-missing-prxy]\nrule:\n")
    });
    let error = ran(&["list", "--checks", &home], 2).err;
    assert!(error.contains(".md:6: ") && error.contains("did you mean pod-missing-proxy?"), "{error}");
    let home = card(folder.path(), "pod-missing-proxy", ANY);
    let error = ran(&["list", "--checks", &home], 2).err;
    assert!(error.contains("a built-in check already has the name"), "{error}");
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    for (id, rule, why) in [
        ("of-secrets", "  for: secrets\n  rule: 'true'", "expressions cannot read secrets"),
        ("of-nothing", "  for: deploymnts\n  rule: 'true'", "is not a kind that meshdoctor knows"),
        ("of-near", "  for: deploymnts.apps\n  rule: 'true'", "did you mean deployments.apps?"),
        (
            "no-version",
            "  for: certificates.cert-manager.io\n  kind: Certificate\n  rule: 'true'",
            "not a resource with version",
        ),
        (
            "known-kind",
            "  for: servers.v1beta3.policy.linkerd.io\n  kind: Server\n  rule: 'true'",
            "Server is a known kind",
        ),
        (
            "secret-text",
            "  for: vaults.v1.example.com\n  kind: Vault\n  reads: [spec.token]\n  rule: 'true'",
            "no expression sees",
        ),
        ("no-kind", "  for: pods\n  reads: [spec.x]\n  rule: 'true'", "need kind"),
        ("misspelled", "  for: pods\n  rule: objct.x", "did you mean object?"),
        ("no-function", "  for: pods\n  rule: injcted(object)", "did you mean injected?"),
        ("no-cel", "  for: pods\n  rule: object..x", "rule.rule"),
        ("unknown-key", "  for: pods\n  rule: 'true'\n  wher: 'true'", "unknown field"),
    ] {
        let home = card(folder.path(), id, rule);
        let error = ran(&["list", "--checks", &home], 2).err;
        assert!(error.contains(why) && error.contains(&format!("{id}.md:")), "{id}: {error}");
    }
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    ran(&["list", "--checks", &empty.display().to_string()], 2);
    ran(&["list", "--checks", "no-such-folder"], 2);
    ran(&["test"], 2);
    let said = ran(&["test", "nothere"], 2).err;
    assert!(said.contains("nothere: no such folder or card"), "{said}");
    // A card without cases is reported as lacking them.
    let home = card(folder.path(), "unproved", ANY);
    let said = ran(&["test", &home], 1).out;
    assert!(said.contains("add a case ### fires"), "{said}");
}

/// Front matter next to the rule is validated too.
#[test]
fn front_matter_that_cannot_be_meant_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    for (id, from, to, line, why) in [
        ("since", "since: 0.1.0", "since: banana", 5, "\"banana\" is not a version"),
        ("severity", "severity: error", "severity: warn", 3, "did you mean `warning`?"),
        ("title", "title:", "titel:", 2, "did you mean `title`?"),
        ("word", "category: yours", "category: Ours!", 4, "is not a valid category"),
        ("slip", "category: yours", "category: polcy", 4, "did you mean policy?"),
        ("of-a-check", "category: yours", "category: pod-missing-proxy", 4, "is the name of a check"),
    ] {
        let id = format!("front-{id}");
        let home = edited(folder.path(), &id, ANY, |text| {
            assert!(text.contains(from), "{text}");
            text.replacen(from, to, 1)
        });
        let error = ran(&["list", "--checks", &home], 2).err;
        assert!(error.contains(&format!("{id}.md:{line}: ")) && error.contains(why), "{id}: {error}");
    }
    // A word of one's own stays one, and so do the categories that there are.
    for (id, category) in [("own-word", "team-rules"), ("known-word", "policy")] {
        let named = |text: String| text.replace("category: yours", &format!("category: {category}"));
        let home = edited(folder.path(), id, ANY, named);
        ran(&["list", category, "--checks", &home], 0);
    }
    // Two cases with the same title are ambiguous.
    let case = |kind: &str| format!("### {kind}: one\n```text expect\n```\n");
    let home = edited(folder.path(), "two-titles", ANY, |text| text + &case("fires") + &case("quiet"));
    let error = ran(&["list", "--checks", &home], 2).err;
    assert!(error.contains("another case has the title"), "{error}");
}
