//! Lists and documents, truncated and damaged in many ways.

use proptest::prelude::*;

use super::*;

/// The results, as text.
#[derive(Default)]
struct Seen(Vec<String>);

impl JsonSink for Seen {
    fn item(&mut self, offset: u64, json: &[u8]) {
        self.0.push(format!("item {offset} {}", String::from_utf8_lossy(json)));
    }

    fn list(&mut self, head: Head) {
        let more = if head.goes_on() { " goes on" } else { "" };
        self.0.push(format!("list {}{more}", head.kind.unwrap_or_default()));
    }

    fn object(&mut self, offset: u64, json: &[u8]) {
        self.0.push(format!("object {offset} {}", String::from_utf8_lossy(json)));
    }

    fn too_large(&mut self, offset: u64) {
        self.0.push(format!("too large {offset}"));
    }
}

/// Returns a few bytes at a time.
struct Drip<'a>(&'a [u8], usize);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.1.min(buffer.len()).min(self.0.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

fn seen(text: &[u8]) -> (Vec<String>, Option<String>) {
    read(text)
}

fn read(text: impl Read) -> (Vec<String>, Option<String>) {
    let mut seen = Seen::default();
    let end = scan(text, &mut seen).err().map(|broken| format!("{} {}", broken.offset, broken.why));
    (seen.0, end)
}

#[test]
fn lists_objects_and_several_documents() {
    for (text, wanted) in [
        (
            r#"{"apiVersion":"v1","items":[{"a":1}, {"b":"}]"}],"kind":"List"}"#,
            "item 28 {\"a\":1}|item 37 {\"b\":\"}]\"}|list List",
        ),
        (r#"{"kind":"PodList","metadata":{"continue":"x"},"items":[]}"#, "list PodList goes on"),
        (r#"{"kind":"Pod","spec":{"items":[1]}}"#, r#"object 0 {"kind":"Pod","spec":{"items":[1]}}"#),
        ("\u{FEFF}{\"a\":1}\n---\n{\"b\":2}{\"c\":3}", "object 3 {\"a\":1}|object 15 {\"b\":2}|object 22 {\"c\":3}"),
        (r#"[{"a":1},{"b":2}]"#, "item 1 {\"a\":1}|item 9 {\"b\":2}|list "),
        (r#"{"items":null,"kind":"PodList"}"#, r#"object 0 {"items":null,"kind":"PodList"}"#),
        (
            "{\"a\":1}\n==== START logs for container c of pod n/p ====\n{\"not\": this}\n\
             last==== END logs for container c of pod n/p ====\n{\"b\":2}\n",
            "object 0 {\"a\":1}|object 120 {\"b\":2}",
        ),
        (" \r\n\t", ""),
    ] {
        assert_eq!(
            seen(text.as_bytes()),
            (wanted.split('|').filter(|w| !w.is_empty()).map(str::to_owned).collect(), None),
            "{text}"
        );
    }
}

#[test]
fn objects_before_damage_are_found() {
    let list = br#"{"apiVersion":"v1","items":[{"a":1},{"b":"x"#;
    let (found, end) = seen(list);
    assert_eq!(found, ["item 28 {\"a\":1}"]);
    assert_eq!(end.unwrap(), "43 it ends in the middle of an item of a list");
    let (found, end) = seen(br#"{"a":1} nonsense"#);
    assert_eq!(found.len(), 1);
    assert_eq!(end.unwrap(), "8 expected a JSON object, found 'n'");
    let (_, end) = seen(b"==== START logs for container c of pod n/p ====\nx\n");
    assert!(end.unwrap().contains("a container's log"));
}

#[test]
fn oversized_object_is_skipped() {
    let text = format!(r#"{{"items":[{{"a":"{}"}},{{"b":1}}],"kind":"List"}}"#, "x".repeat(MAX_OBJECT));
    assert_eq!(
        seen(text.as_bytes()).0,
        ["too large 10", &format!("item {} {{\"b\":1}}", MAX_OBJECT + 19), "list List"]
    );
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "[a-z{}\\[\\],:\"\\\\ \n]{0,8}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::hash_map("[a-z\"{]{1,4}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_parse_the_same_in_any_chunks(bytes in prop::collection::vec(any::<u8>(), 0..200), drip in 1_usize..9) {
        prop_assert_eq!(read(Drip(&bytes, drip)), seen(&bytes));
    }

    #[test]
    fn json_like_text_parses_the_same_in_any_chunks(text in "[{}\\[\\]\",:a= \n-]{0,60}", drip in 1_usize..9) {
        prop_assert_eq!(read(Drip(text.as_bytes(), drip)), seen(text.as_bytes()));
    }

    #[test]
    fn items_are_found_as_serde_finds_them(items in prop::collection::vec(value(), 0..6), pretty in any::<bool>(), drip in 1_usize..9) {
        let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": items});
        let text = if pretty { serde_json::to_vec_pretty(&list) } else { serde_json::to_vec(&list) }.unwrap();
        let mut found = Items::default();
        scan(Drip(&text, drip), &mut found).unwrap();
        prop_assert_eq!(&found.values, &items);
        for (offset, len) in found.places {
            let begin = usize::try_from(offset).unwrap();
            prop_assert!(serde_json::from_slice::<serde_json::Value>(&text[begin..begin + len]).is_ok());
        }
    }
}

#[derive(Default)]
struct Items {
    values: Vec<serde_json::Value>,
    places: Vec<(u64, usize)>,
}

impl JsonSink for Items {
    fn item(&mut self, offset: u64, json: &[u8]) {
        self.values.push(serde_json::from_slice(json).unwrap());
        self.places.push((offset, json.len()));
    }

    fn list(&mut self, _: Head) {}
    fn object(&mut self, _: u64, _: &[u8]) {}
    fn too_large(&mut self, _: u64) {}
}
