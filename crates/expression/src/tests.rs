use super::*;
use serde_json::json;

fn value(text: &str, object: &Value) -> Result<Value, NoValue> {
    let expression = Expression::parse(text, &["object"]).expect(text);
    let root = Scope::new(Known::default());
    let mut scope = root.within();
    scope.bind("object", object)?;
    expression.evaluate(&scope)
}

#[test]
fn missing_field_has_no_value_without_has() {
    let object = json!({"spec": {"replicas": 3, "containers": [{"name": "app", "image": "a:1"}]}});
    assert_eq!(value("object.spec.replicas > 2", &object), Ok(json!(true)));
    assert_eq!(value("object.spec.containers.all(c, c.image.startsWith('a'))", &object), Ok(json!(true)));
    assert_eq!(value("object.spec.paused", &object), Err(NoValue::Missing("paused".to_owned())));
    assert_eq!(value("has(object.spec.paused) && object.spec.paused", &object), Ok(json!(false)));
    assert!(matches!(value("object.spec.replicas.size()", &object), Err(NoValue::Failed(_))));
}

#[test]
fn optional_values_have_defaults() {
    let object =
        json!({"metadata": {"annotations": {"linkerd.io/inject": "enabled"}}, "spec": {"a": "REDACTED(len=4)"}});
    for (text, expected) in [
        ("object.metadata.?annotations[?'linkerd.io/inject'].orValue('') == 'enabled'", json!(true)),
        ("object.metadata.?labels[?'app'].orValue('none')", json!("none")),
        ("object.?metadata.?labels.hasValue()", json!(false)),
        ("object.spec.?paused.orValue(false)", json!(false)),
    ] {
        assert_eq!(value(text, &object), Ok(expected), "{text}");
    }
    // Redacted values do not count as missing in any kind of test.
    for text in ["object.spec.?a.orValue('') == ''", "object.?spec[?'a'].orValue('x') == 'x'"] {
        assert!(matches!(value(text, &object), Err(NoValue::Redacted(_))), "{text}");
    }
    assert!(matches!(value("object.?metadata", &object), Err(NoValue::Failed(why)) if why.contains("orValue")));
}

#[test]
fn string_functions_match_kubernetes() {
    let object = json!({"image": " Registry.example.com/a/b:1.2 "});
    for (text, expected) in [
        ("object.image.trim().lowerAscii().startsWith('registry')", json!(true)),
        ("object.image.trim().split('/').size()", json!(3)),
        ("object.image.substring(1, 9)", json!("Registry")),
        ("object.image.indexOf('/') < object.image.lastIndexOf('/')", json!(true)),
        ("quantity('1Gi').isGreaterThan(quantity('1000M'))", json!(true)),
        ("quantity('100m').isLessThan(quantity('1'))", json!(true)),
        ("quantity('1').compareTo(quantity('1000m'))", json!(0)),
    ] {
        assert_eq!(value(text, &object), Ok(expected), "{text}");
    }
    // A text has at most as many parts as letters.
    let long = json!("x".repeat(3000));
    assert_eq!(value("object.split('').all(a, object.split('').all(b, a == b))", &long), Err(NoValue::Costly));
    for text in ["object.image.replace('', object.image)", "[object.image].join(',')"] {
        assert!(Expression::parse(text, &["object"]).is_err_and(|why| why.contains("unknown function")), "{text}");
    }
}

#[test]
fn redacted_value_is_never_compared() {
    let object = json!({"spec": {"token": "REDACTED(len=12)", "name": "x"}});
    let redacted = |name: &str| Err(NoValue::Redacted(name.to_owned()));
    assert_eq!(value("object.spec.token == 'x'", &object), redacted("spec.token"));
    assert_eq!(value("object.spec.name == 'x'", &object), Ok(json!(true)));
    // A field of the same name elsewhere is distinguished if its parent is known.
    let object = json!({"metadata": {"name": "x"}, "spec": {"of": {"name": "REDACTED(len=4)"}, "all": [{"name": "REDACTED(len=4)"}]}});
    assert_eq!(value("object.metadata.name == 'x'", &object), Ok(json!(true)));
    for text in [
        "object.spec.of.name == 'x'",
        "object.spec.all[0].name == 'x'",
        "object.spec.all.exists(one, one.name == 'x')",
        "object.spec['of']['name'] == 'x'",
        "object.spec.all.exists(object, object.name == 'x')",
    ] {
        assert!(matches!(value(text, &object), Err(NoValue::Redacted(_))), "{text}");
    }
}

#[test]
fn redacted_value_is_not_compared_by_computed_key() {
    let object = json!({
        "metadata": {
            "labels": {"app": "web"},
            "annotations": {"example.org/reason": "REDACTED(len=21)", "linkerd.io/inject": "enabled"},
        },
        "spec": {"containers": [
            {"name": "app", "args": ["REDACTED(len=7)"], "env": [{"name": "A", "value": "REDACTED(len=7)"}]},
        ]},
        "key": "example.org/reason",
        "part": "value",
    });
    for text in [
        "object.metadata.annotations[object.key] == 'postgres speaks first'",
        "object.metadata.annotations[object.key] != 'postgres speaks first'",
        "object.metadata.annotations[object.key]",
        "object.metadata.annotations.exists(k, object.metadata.annotations[k] == 'x')",
        "object.metadata.annotations.map(k, object.metadata.annotations[k]).exists(v, v == 'x')",
        "object.metadata.annotations.filter(k, k.startsWith('ex') && object.metadata.annotations[k] == 'x') != []",
        "object.metadata.annotations == {'a': 'b'}",
        "object.metadata.?annotations.orValue({})[object.key] == 'x'",
        "object.spec.containers[0].env.all(e, e[object.part] != 'hunter2')",
        "object.spec.containers[0].env.exists(e, e == {'name': 'A', 'value': 'hunter2'})",
        "{'name': 'A', 'value': 'hunter2'} in object.spec.containers[0].env",
        "!('hunter2' in object.spec.containers[0]['ar' + 'gs'])",
        "object.spec.containers.map(c, c.env)[0] == [{'name': 'A', 'value': 'hunter2'}]",
        "[object.spec.containers[0]] == []",
        "(true ? object.metadata.annotations : {})[object.key] == 'x'",
    ] {
        assert!(matches!(value(text, &object), Err(NoValue::Redacted(_))), "{text}: {:?}", value(text, &object));
    }
    // Names, numbers of items and unredacted values are usable.
    for text in [
        "object.metadata.labels['a' + 'pp'] == 'web'",
        "object.metadata.labels == {'app': 'web'}",
        "'example.org/reason' in object.metadata.annotations",
        "!('other' in object.metadata.annotations) && object.key in object.metadata.annotations",
        "object.metadata.annotations.exists(k, k.startsWith('config.') || k == object.key)",
        "object.metadata.annotations['linkerd.io/inject'] == 'enabled'",
        "object.spec.containers.filter(c, c.name == 'app').size() == 1",
        "object.spec.containers.map(c, c.name) == ['app']",
        "object.spec.containers.map(c, c.name).exists(n, n == 'app')",
        "object.spec.containers.filter(c, c.name == 'app')[0].env.size() == 1",
    ] {
        assert_eq!(value(text, &object), Ok(json!(true)), "{text}");
    }
}

#[test]
fn expensive_expression_is_not_evaluated() {
    let object = json!({"list": [1, 2, 3], "names": ["a", "b"]});
    let doubled = format!("['aaaaaaaaaaaaaaaa']{}.size() > 0", ".map(x, x + x + x + x)".repeat(14));
    assert_eq!(value(&doubled, &object), Err(NoValue::Costly));
    let nested = format!("[1]{} != []", ".map(x, [x, x, x, x])".repeat(60));
    assert_eq!(value(&nested, &object), Err(NoValue::Costly));
    let wide = "[object.list, object.list].map(x, x + x + x + x)";
    assert_eq!(value(&format!("{wide}[0].size()"), &object), Ok(json!(12)));
    let wider = "[[object.list]].map(x, x + x).map(x, x + x + x)[0].all(a, a.all(b, b > 0))";
    assert_eq!(value(wider, &object), Ok(json!(true)));
    assert_eq!(value("object.names.map(n, n + '!').exists(n, n == 'a!')", &object), Ok(json!(true)));
}

#[test]
fn all_evaluations_share_a_budget() {
    let expression =
        Expression::parse("object.exists(a, object.exists(b, object.exists(c, true)))", &["object"]).unwrap();
    let root = Scope::new(Known::default());
    let many = json!(vec![0; 90]);
    let ends = |times: usize| {
        (0..times).map(|_| {
            let mut scope = root.within();
            scope.bind("object", &many).unwrap();
            expression.evaluate(&scope)
        })
    };
    let all: Vec<_> = ends(20).collect();
    assert_eq!(all.first(), Some(&Ok(json!(true))));
    assert_eq!(all.last(), Some(&Err(NoValue::Spent)));
}

#[test]
fn functions_match_kubernetes_and_linkerd() {
    let object = json!({"labels": {"app": "web"}, "selector": {"matchLabels": {"app": "web"}}});
    for (text, expected) in [
        ("atLeast('v1.31.5-eks-1', '1.29')", true),
        ("atLeast('v1.9.0', '1.29')", false),
        ("atLeast('edge-26.5.5', 'edge-26.5.4')", true),
        ("atLeast('v1.29', '1.29.0')", true),
        ("atLeast('1.29.0', '1.29.1')", false),
        ("quantity('100m') == 0.1", true),
        ("quantity('1Gi') > quantity('1000M')", true),
        ("inCIDR('10.1.2.3', '10.0.0.0/8')", true),
        ("inCIDR('fd00::1', '10.0.0.0/8')", false),
        ("selects(object.selector, object.labels)", true),
    ] {
        assert_eq!(value(text, &object), Ok(json!(expected)), "{text}");
    }
    for text in ["quantity('much') > 1.0", "quantity('inf') > 1.0", "atLeast('edge-24.1.1', '2.15')"] {
        assert!(matches!(value(text, &object), Err(NoValue::Failed(_))), "{text}");
    }
}

#[test]
fn invalid_expression_is_rejected_when_parsed() {
    let refused = |text: &str| Expression::parse(text, &["object", "cluster"]).expect_err(text);
    assert!(refused("object.").len() < 300);
    assert!(refused("objct.x").contains("did you mean object?"));
    assert!(refused("namespace.metadata.name == 'x'").ends_with("namespaceObject"));
    assert!(refused("atLest(object.x, '1')").contains("did you mean atLeast?"));
    assert_eq!(refused("injected()"), "injected(object) is called with 0 arguments");
    assert!(refused("cluster.?linkerd.orValue(policy(object))").starts_with("policy(pod, port) is called with 1"));
    let deep = "object.all(a, object.all(b, object.all(c, object.all(d, true))))";
    assert!(refused(deep).contains("deep"));
    assert!(refused(&"1 + ".repeat(2000)).contains("longer"));
}

#[test]
fn deep_nesting_does_not_overflow() {
    let refused = |text: &str| Expression::parse(text, &["object"]).expect_err(text);
    assert!(refused(&format!("1{} > 0", "+1".repeat(1900))).contains("deep"));
    assert!(refused(&format!("object{}", "[0]".repeat(1300))).contains("deep"));
    for (open, close) in [("(", ")"), ("[", "]"), ("size(", ")"), ("{1:", "}")] {
        let text = |deep: usize| format!("{}'a'{}", open.repeat(deep), close.repeat(deep));
        assert!(refused(&text(600)).contains("deep"), "{open}");
        assert!(Expression::parse(&text(60), &["object"]).is_ok(), "{open}");
    }
    assert_eq!(value(&format!("1{}", "+1".repeat(200)), &json!({})), Ok(json!(201)));
    assert_eq!(value(&format!("{}true", "!".repeat(3000)), &json!({})), Ok(json!(true)));
}

#[test]
fn loop_over_too_many_items_is_not_evaluated() {
    let many = json!((0..5000).collect::<Vec<_>>());
    let deep = "object.all(a, object.all(b, a + b >= 0))";
    assert_eq!(value(deep, &many), Err(NoValue::Costly));
    assert_eq!(value("object.all(a, a >= 0)", &many), Ok(json!(true)));
    let few = json!((0..600).collect::<Vec<_>>());
    assert_eq!(value("object.map(a, object)", &few), Err(NoValue::Costly));
    let long = json!("x".repeat(1 << 18));
    let doubled = vec!["object"; 64].join(" + ");
    assert_eq!(value(&doubled, &long), Err(NoValue::Costly));
}
