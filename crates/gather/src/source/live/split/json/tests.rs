//! Random lists in random pieces.

use proptest::prelude::*;

use super::*;

/// Stores what it receives; `eager` accepts items before their end is known, like decoders do.
#[derive(Default)]
struct Kept {
    eager: bool,
    head: Option<Head>,
    items: Vec<Vec<u8>>,
}

impl ElementSink for Kept {
    fn head(&mut self, head: Head) {
        self.head = Some(head);
    }

    fn begun(&mut self, text: &str) -> Option<usize> {
        if !self.eager {
            return None;
        }
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
        values.next()?.ok()?;
        let length = values.byte_offset();
        self.items.push(text.as_bytes()[..length].to_vec());
        Some(length)
    }

    fn item(&mut self, text: &[u8]) {
        self.items.push(text.to_vec());
    }

    fn message(&mut self, _: &[u8]) -> bool {
        false
    }
}

/// The items of a body that arrives in pieces of `piece` bytes.
fn split(body: &[u8], piece: usize, eager: bool) -> (Kept, Result<(), NotAList>) {
    let mut kept = Kept { eager, ..Kept::default() };
    let mut splitter = Json::new();
    for bytes in body.chunks(piece) {
        if let Err(error) = splitter.push(bytes, &mut kept) {
            return (kept, Err(error));
        }
    }
    let outcome = splitter.finish(&mut kept);
    (kept, outcome)
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        ".*".prop_map(Into::into),
        r#"[\\"{}\[\],:]*"#.prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(".*", inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

#[test]
fn shorter_last_items_are_not_delayed() {
    let (long, middle) = ("x".repeat(500), "y".repeat(100));
    let items = format!(r#"{{"a":"{long}"}},{{"b":"{middle}"}},{{}},{{}}"#);
    let list = format!(r#"{{"kind":"PodList","metadata":{{}},"items":[{items}]}}"#);
    for piece in [1, 7, 600, 4096] {
        let (kept, outcome) = split(list.as_bytes(), piece, true);
        assert_eq!((outcome, kept.items.len()), (Ok(()), 4), "in pieces of {piece}");
    }
}

proptest! {
    #[test]
    fn any_list_in_any_pieces_splits_into_its_items(
        items in prop::collection::vec(json(), 0..8),
        token in "[a-zA-Z0-9=]{0,8}",
        pretty in any::<bool>(),
        eager in any::<bool>(),
        piece in 1_usize..64,
    ) {
        let list = serde_json::json!({
            "kind": "PodList", "apiVersion": "v1", "items": items,
            "metadata": { "continue": token, "resourceVersion": "12" },
        });
        let text = if pretty { serde_json::to_vec_pretty(&list) } else { serde_json::to_vec(&list) }.unwrap();
        let (kept, outcome) = split(&text, piece, eager);
        prop_assert_eq!(outcome, Ok(()));
        let found: Vec<serde_json::Value> =
            kept.items.iter().map(|item| serde_json::from_slice(item).unwrap()).collect();
        prop_assert_eq!(found, items);
        prop_assert_eq!(kept.head.unwrap().next, Some(token).filter(|t| !t.is_empty()));
    }

    #[test]
    fn a_list_cut_anywhere_is_truncated_and_keeps_the_whole_items(
        cut in 0_usize..1000,
        eager in any::<bool>(),
        piece in 1_usize..64,
    ) {
        let list = br#"{"kind":"PodList","metadata":{"continue":"x"},"items":[{"a":"}"},{"b":[1,2]},{"c":"\"]"}]}"#;
        let cut = cut % list.len();
        let (kept, outcome) = split(&list[..cut], piece, eager);
        prop_assert_eq!(outcome, Err(NotAList::Truncated(cut as u64)));
        let ends = [r#"{"a":"}"}"#, r#"{"b":[1,2]}"#, r#"{"c":"\"]"}"#]
            .map(|item| list.windows(item.len()).position(|w| w == item.as_bytes()).unwrap() + item.len());
        prop_assert_eq!(kept.items.len(), ends.iter().filter(|end| cut >= **end).count());
    }

    #[test]
    fn arbitrary_bytes_end_the_same_in_any_pieces(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        eager in any::<bool>(),
        piece in 1_usize..16,
    ) {
        let (pieces, whole) = (split(&bytes, piece, eager), split(&bytes, 200, eager));
        prop_assert_eq!((pieces.0.items, pieces.1), (whole.0.items, whole.1));
    }
}

#[test]
fn the_buffer_stays_small_however_long_the_list() {
    let item = format!(r#"{{"a":"{}"}}"#, "x".repeat(10_000));
    let list = format!(r#"{{"items":[{}],"metadata":{{}}}}"#, vec![item.as_str(); 200].join(","));
    for eager in [false, true] {
        let mut kept = Kept { eager, ..Kept::default() };
        let mut splitter = Json::new();
        for bytes in list.as_bytes().chunks(8_192) {
            splitter.push(bytes, &mut kept).unwrap();
            assert!(splitter.buffer.len() < 2 * item.len(), "{}", splitter.buffer.len());
        }
        splitter.finish(&mut kept).unwrap();
        assert_eq!(kept.items, vec![item.as_bytes(); 200]);
    }
}

#[test]
fn non_lists_are_distinguished() {
    let why = |body: &str| split(body.as_bytes(), 7, false).1.unwrap_err();
    assert_eq!(why("<!DOCTYPE html><html>"), NotAList::Html);
    assert_eq!(why("404 page not found"), NotAList::NoJson("text or binary data"));
    assert_eq!(why("[1]"), NotAList::NoItems);
    assert_eq!(why("please log in"), NotAList::NoJson("text or binary data"));
    assert_eq!(why(r#"{"kind":"Status","status":"Failure"}"#), NotAList::NoItems);
    assert_eq!(why(r#"{"items":{"a":1}}"#), NotAList::NoItems);
    assert_eq!(why(r#"{"items":[]} {"#), NotAList::Broken(13));
    assert_eq!(why(""), NotAList::Truncated(0));
    let (kept, outcome) = split(br#"{"items":null}"#, 3, true);
    assert_eq!((kept.items.len(), outcome), (0, Ok(())));
}

#[test]
fn invalid_utf8_affects_only_its_object() {
    let list = b"{\"items\":[{\"a\":\"\xc3\xa9\"},{\"b\":\"\xc3\"},{\"c\":\"\xe2\x82\"},{\"d\":1}]}";
    for (eager, piece) in [(false, 1), (true, 1), (true, 7), (true, 100)] {
        let (kept, outcome) = split(list, piece, eager);
        assert_eq!(outcome, Ok(()));
        let read = |item: &Vec<u8>| serde_json::from_slice::<serde_json::Value>(item).ok();
        let read: Vec<_> = kept.items.iter().map(read).collect();
        assert_eq!(read, [Some(serde_json::json!({"a": "\u{e9}"})), None, None, Some(serde_json::json!({"d": 1}))]);
    }
}
