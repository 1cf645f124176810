use super::*;
use proptest::prelude::*;

fn mk_error(text: &[u8]) -> (String, usize, usize) {
    let defect = read(text).unwrap_err();
    let place = defect.place.unwrap();
    (defect.message, place.line, place.column)
}

#[test]
fn errors_match_go_and_have_a_position() {
    assert_eq!(
        mk_error(b"{\n  \"a\": 1,\n}"),
        ("invalid character '}' looking for beginning of object key string".into(), 3, 1)
    );
    assert_eq!(mk_error(b"{\"a\": [1, 2"), ("unexpected end of JSON input".into(), 1, 12));
    assert_eq!(mk_error(b"{\"a\" 1}"), ("invalid character '1' after object key".into(), 1, 6));
    assert_eq!(mk_error(b"{} x"), ("invalid character 'x' after top-level value".into(), 1, 4));
    assert_eq!(mk_error(b"{\"a\": tru}"), ("invalid character '}' in literal true (expecting 'e')".into(), 1, 10));
    assert_eq!(read(b"").unwrap_err().kind, DefectKind::Empty);
    assert_eq!(read(b" \n").unwrap_err().kind, DefectKind::Empty);
    assert_eq!(read(b"\xEF\xBB\xBF{}").unwrap_err().kind, DefectKind::ByteOrderMark);
    assert_eq!(read(b"\xFF\xFE{\0}\0").unwrap_err().kind, DefectKind::Utf16);
}

#[test]
fn input_accepted_by_go_is_accepted() {
    assert_eq!(read(b"\"a\xFFb\"").unwrap().as_str(), Some("a\u{FFFD}b"));
    assert_eq!(read(br#""\ud800x""#).unwrap().as_str(), Some("\u{FFFD}x"));
    assert_eq!(read(br#""\ud83d\ude00""#).unwrap().as_str(), Some("😀"));
    let twice = read(br#"{"a": 1, "a": 2}"#).unwrap();
    assert_eq!(twice.get("a").unwrap().value, Json::Number("2".into()));
    assert_eq!(twice.to_value(), serde_json::json!({"a": 2}));
}

#[test]
fn positions_are_those_of_the_original_file() {
    let redacted = b"{\"token\":\"REDACTED(len=40)\",\"x\":1,\r\n \"y\":2}";
    let tree = read(redacted).unwrap();
    let place = tree.get("x").unwrap().span.start;
    assert_eq!((place.line, place.column, place.offset), (1, 57, 56));
    let place = tree.get("y").unwrap().span.start;
    assert_eq!((place.line, place.column), (2, 6));
}

#[test]
fn hostile_nesting_is_a_value() {
    for open in ["[", "{\"a\":"] {
        assert_eq!(read(open.repeat(100_000).as_bytes()).unwrap_err().kind, DefectKind::TooComplex);
    }
}

fn mk_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        ".{0,8}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_document_matches_serde(value in mk_json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        prop_assert_eq!(read(text.as_bytes()).unwrap().to_value(), value);
    }

    /// Mutations of a document: both readers accept or both reject it (except surrogates, where Go is more
    /// lenient).
    #[test]
    fn verdicts_agree_with_serde(value in mk_json(), at in any::<proptest::sample::Index>(), byte in "[ -~]") {
        let mut text = serde_json::to_vec(&value).unwrap();
        let at = at.index(text.len());
        text[at] = byte.as_bytes()[0];
        if let Ok(text) = String::from_utf8(text) && !text.contains("\\u") {
            let ours = read(text.as_bytes());
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}", text);
        }
    }

    #[test]
    fn any_bytes_give_a_value(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
    }
}
