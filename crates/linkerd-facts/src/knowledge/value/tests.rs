use super::*;
use proptest::prelude::*;

fn types() -> Vec<(ValueType, Vec<&'static str>, Vec<&'static str>)> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let numeric = ValueType::PortList { blanks: false, lowest: 0 };
    let trimmed = ValueType::PortList { blanks: true, lowest: 1 };
    vec![
        (ValueType::OneOf { values: words(&["enabled", "disabled"]) }, vec!["enabled"], vec!["Enabled", "true", ""]),
        (ValueType::GoBool {}, vec!["true", "T", "0", "False"], vec!["yes", "enabled", "tRUE", "", " true"]),
        (
            ValueType::GoDuration { min_seconds: None, max_seconds: None },
            vec!["1m30s", "250ms", "0", "1.5h", ".5s", "-1s", "10µs"],
            vec!["10", "1d", "", "s", "1 s", "ms", "99999999999h"],
        ),
        (
            ValueType::PolicyDuration { above_zero: false },
            vec!["10s", "0", "250ms", "1d", " 10s "],
            vec!["1m30s", "1.5s", "10", "", "-1s", "s", "10 s", "99999999999999999999d", "1000000000000000d"],
        ),
        (ValueType::PolicyDuration { above_zero: true }, vec!["10s", "1ms"], vec!["0", "0s", "0ms", "00d", "10"]),
        (
            ValueType::Quantity { of: Resource::Any },
            vec!["100m", "0.5", "64Mi", "1e3", "2", "1E", "+1"],
            vec!["64MB", "", "abc", "1 Gi", "Mi", "1e"],
        ),
        (numeric, vec!["80", "80,443", "8000-8999", "0", ""], vec!["80, 443", "http", "65536", "9-8", "80,", "-1"]),
        (trimmed, vec!["80, 443", "80,,443,", "8000-8999", ""], vec!["0", "http,3306", "9-8", "70000"]),
        (
            ValueType::CidrList {},
            vec!["10.0.0.0/8", "10.0.0.0/8, fd00::/8"],
            vec!["10.0.0.0", "10.0.0.0/33", "x/8", "10.0.0.0/"],
        ),
        (
            ValueType::EnvList {},
            vec!["[]", r#"[{"name":"A","value":"b"}]"#, r#"[{"name":"A","valueFrom":{}}]"#],
            vec!["", "{}", r#"[{"value":"b"}]"#, r#"[{"name":"A","value":1}]"#],
        ),
        (
            ValueType::Integer { min: Some(0), max: Some(65535) },
            vec!["0", "65535"],
            vec!["-1", "65536", "1.0", "", " 1"],
        ),
        (ValueType::Float { min: 0.0, max: 1.0, exclusive: true }, vec!["0.5"], vec!["0", "1", "x", "NaN"]),
        (ValueType::Float { min: 0.0, max: 1.0, exclusive: false }, vec!["0", "1.0"], vec!["1.1", "inf"]),
        (
            ValueType::RetryHttp {},
            vec!["5xx", "gateway-error,429", "500-599"],
            vec!["", "5xx, 429", "600", "599-500", "99"],
        ),
        (
            ValueType::Words { values: words(&["cancelled", "internal"]) },
            vec!["Cancelled,internal"],
            vec!["cancelled, internal", ""],
        ),
        (ValueType::SecondsOrGoDuration {}, vec!["3", "3s"], vec!["3 s", "", "+3"]),
        (
            ValueType::ImageName {},
            vec!["cr.l5d.io/linkerd/proxy", "localhost:5000/proxy", "proxy", ""],
            vec!["cr.l5d.io/linkerd/proxy:edge-25.10.7", "Proxy", "a//b", "a b"],
        ),
        (ValueType::ImageTag {}, vec!["edge-25.10.7", "v1.2_3", ""], vec!["proxy:2.20", "-1", "a b", "1@sha256:12"]),
        (
            ValueType::LogFilter {},
            vec!["warn,linkerd=debug", "info", "linkerd[{name=x,y=z}]=TRACE", "linkerd", "linkerd="],
            vec!["linkerd=debgu", "warn,linkerd=9", "a=b=c"],
        ),
    ]
}

#[test]
fn each_type_accepts_what_its_reader_accepts() {
    for (value_type, good, bad) in types() {
        for value in good {
            assert_eq!(value_type.check(value), Ok(()), "{value_type:?} {value:?}");
        }
        for value in bad {
            let error = value_type.check(value).expect_err(value);
            assert!(error.contains("expected"), "{error}");
        }
    }
}

proptest! {
    #[test]
    fn rejections_name_accepted_values(value in ".{0,30}", shaped in "[0-9a-zµ.,:/+ -]{0,16}") {
        for (value_type, _, _) in types() {
            for refused in [&value, &shaped].iter().filter_map(|value| value_type.check(value).err()) {
                prop_assert!(refused.contains("expected"), "{refused}");
            }
        }
    }
}

#[test]
fn negative_quantities_and_short_durations_are_told_apart() {
    for value in ["-1", "-100m", "-0.5"] {
        assert!(ValueType::Quantity { of: Resource::Any }.check(value).is_err(), "{value}");
        assert!(ValueType::SignedQuantity {}.check(value).is_ok(), "{value}");
    }
    assert!(ValueType::Quantity { of: Resource::Any }.check("-0").is_ok());
    let second = ValueType::GoDuration { min_seconds: Some(1), max_seconds: None };
    for (value, accepted) in
        [("1s", true), ("1m30s", true), ("0s", false), ("500ms", false), ("-5s", false), ("30", false)]
    {
        assert_eq!(second.check(value).is_ok(), accepted, "{value}");
    }
}
