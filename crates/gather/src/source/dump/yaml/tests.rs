//! Lists in every layout, truncated and damaged in many ways.

use std::io::Write;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::archive::spool::Spool;

#[derive(Default, Debug, PartialEq)]
struct Seen {
    items: Vec<(u64, Value)>,
    lists: Vec<(Option<String>, usize)>,
    objects: Vec<(u64, Value)>,
    bad: Vec<Bad>,
}

impl YamlSink for Seen {
    fn item(&mut self, line: u64, object: Value) {
        self.items.push((line, object));
    }

    fn list(&mut self, head: Head, broken: Vec<Bad>) {
        self.lists.push((head.kind, self.items.len()));
        self.bad.extend(broken);
    }

    fn forget(&mut self) {
        let kept = self.lists.last().map_or(0, |(_, count)| *count);
        self.items.truncate(kept);
    }

    fn object(&mut self, line: u64, object: Value) {
        self.objects.push((line, object));
    }

    fn bad(&mut self, bad: Bad, _: Option<&[u8]>) {
        self.bad.push(bad);
    }
}

fn seen(text: &str) -> Seen {
    read(text, Scalars::Written)
}

fn read(text: &str, scalars: Scalars) -> Seen {
    let mut spool = Spool::new();
    spool.write_all(text.as_bytes()).unwrap();
    let mut seen = Seen::default();
    scan(&spool.finish(), scalars, &mut seen).unwrap();
    seen
}

const LIST: &str = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  data: |\n    - not: an item\n\n    # text\n  \
                    tail: x\n# remark\n- kind: Node\n  list:\n  - a\n  - b\nkind: List\nmetadata:\n  resourceVersion: \"\"\n";

#[test]
fn list_is_split_into_items() {
    for text in [LIST.to_owned(), LIST.replace('\n', "\r\n"), format!("\u{FEFF}---\n{LIST}---\n")] {
        let seen = seen(&text);
        assert_eq!(seen.lists, [(Some("List".to_owned()), 2)], "{text}");
        assert_eq!(seen.items[1].1, json!({"kind": "Node", "list": ["a", "b"]}));
        assert_eq!(seen.items[0].1["tail"], "x");
        assert!(seen.items[0].1["data"].as_str().unwrap().contains("# text"));
        assert!(seen.bad.is_empty() && seen.objects.is_empty(), "{seen:?}");
    }
    assert_eq!(seen(LIST).items.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 11]);
}

#[test]
fn other_layouts_are_read() {
    let indented = "items:\n  - kind: Pod\n    a: 1\n  -\n    kind: Node\nkind: List\n";
    let compact = "{apiVersion: v1, kind: List, items: [{kind: Pod, a: 1}, {kind: Node}]}\n";
    let aliased = "items:\n- &x\n  kind: Pod\n  a: 1\n- kind: Node\n  b: *x\nkind: List\n";
    let sequence = "- kind: Pod\n  a: 1\n- kind: Node\n";
    for text in [indented, compact, aliased, sequence] {
        let seen = seen(text);
        assert!(seen.bad.is_empty(), "{text}{seen:?}");
        assert_eq!(seen.items.len(), 2, "{text}{seen:?}");
        assert_eq!(seen.items[0].1, json!({"kind": "Pod", "a": 1}));
    }
    assert_eq!(seen("kind: List\nitems: []\n").lists, [(Some("List".to_owned()), 0)]);
    assert_eq!(seen("items:\nkind: List\n").lists, [(Some("List".to_owned()), 0)]);
}

#[test]
fn documents_follow_one_another() {
    let seen = seen("# nothing\n---\nkind: Pod\n--- {kind: Node}\n...\n%YAML 1.2\n---\nkind: Job # x\n---\n");
    let kinds: Vec<&str> = seen.objects.iter().map(|(_, object)| object["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Pod", "Node", "Job"]);
    assert!(seen.bad.is_empty(), "{seen:?}");
}

#[test]
fn text_stays_text_in_dumps_and_is_read_as_kubectl_does_in_manifests() {
    let text =
        "a: 572e207381\nb: yes\nc: on\nd: 012\ne: 1_000\nf: \"1e3\"\ng: 2026-01-15T12:00:00Z\nh: ~\ni: 0.5\nj: 7\n";
    let mut wanted = json!({"a": "572e207381", "b": "yes", "c": "on", "d": "012", "e": "1_000", "f": "1e3",
        "g": "2026-01-15T12:00:00Z", "h": null, "i": 0.5, "j": 7});
    assert_eq!(seen(text).objects[0].1, wanted);
    for (key, value) in [("b", json!(true)), ("c", json!(true)), ("d", json!(10)), ("e", json!(1000))] {
        wanted[key] = value;
    }
    assert_eq!(read(text, Scalars::Applied).objects[0].1, wanted);
    let list = "items:\n- a: yes\n- a: 'yes'\nkind: List\n";
    let items: Vec<Value> = read(list, Scalars::Applied).items.into_iter().map(|(_, item)| item).collect();
    assert_eq!(items, [json!({"a": true}), json!({"a": "yes"})]);
    let bad = read("a: .inf\n", Scalars::Applied).bad;
    assert_eq!((bad.len(), seen("a: .inf\n").bad.len()), (1, 0));
}

#[test]
fn broken_item_is_reported_and_others_are_read() {
    let text = LIST.replace("  tail: x\n", "  tail: \"x\n");
    let seen = seen(&text);
    assert_eq!(seen.items.len(), 1, "{seen:?}");
    assert_eq!(seen.items[0].1["kind"], "Node");
    assert_eq!(seen.bad.len(), 1);
    assert!((9..=11).contains(&seen.bad[0].line), "{seen:?}");
    assert!(!seen.bad[0].why.contains(" line "), "{seen:?}");
}

#[test]
fn truncated_list_is_detected_anywhere() {
    // Up to the kind that follows the items.
    let end = LIST.find("kind: List").unwrap();
    for cut in LIST.find("- apiVersion").unwrap() + 2..end {
        let seen = seen(&LIST[..cut]);
        assert!(!seen.bad.is_empty(), "cut at {cut}: {seen:?}");
        assert!(seen.items.len() <= 1, "cut at {cut}: {seen:?}");
        for (_, item) in &seen.items {
            assert_eq!((&item["kind"], &item["tail"]), (&json!("Pod"), &json!("x")), "cut at {cut}");
        }
    }
}

#[test]
fn bombs_and_depth_are_errors() {
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n\
                d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n\
                g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n";
    assert_eq!(seen(bomb).bad.len(), 1);
    assert_eq!(seen(&format!("a: {}", "[".repeat(10_000))).bad.len(), 1);
}

proptest! {
    #[test]
    fn any_text_yields_only_its_own_items(text in "([-a: \n|>#&*\"{}\\[\\]]|items:\n|kind: List\n|- a: b\n|---\n|\\.\\.\\.\n){0,40}") {
        let seen = seen(&text);
        let lines = text.split('\n').count() as u64;
        let found = seen.items.iter().chain(&seen.objects).map(|(line, _)| *line);
        for line in found.chain(seen.bad.iter().map(|bad| bad.line)) {
            prop_assert!((1..=lines).contains(&line), "{line} of {lines}");
        }
    }

    #[test]
    fn split_items_equal_the_whole_document(
        items in prop::collection::vec(prop::collection::btree_map("[a-z]{1,5}", "[ -~\n]{0,30}", 1..4), 1..5),
    ) {
        let list = json!({"apiVersion": "v1", "items": items, "kind": "List"});
        let text = serde_yaml::to_string(&list).unwrap();
        let whole: Value = serde_yaml::from_str(&text).unwrap();
        let seen = seen(&text);
        let found: Vec<&Value> = seen.items.iter().map(|(_, item)| item).collect();
        prop_assert_eq!(found, whole["items"].as_array().unwrap().iter().collect::<Vec<_>>(), "{}", text);
    }
}

#[test]
fn merge_keys_are_merged_as_kubectl_does() {
    let text = "\
x-one: &one {a: 1, b: 1}
x-two: &two {b: 2, c: 2, d: {<<: {e: 1}, f: 2}}
kind: X
one: {<<: *one, b: 0}
both:
  <<: [*one, *two]
text: {<<: text}
";
    let seen = seen(text);
    assert_eq!(seen.bad, Vec::new());
    let (_, object) = &seen.objects[0];
    assert_eq!(object["one"], json!({"a": 1, "b": 0}));
    assert_eq!(object["both"], json!({"a": 1, "b": 1, "c": 2, "d": {"e": 1, "f": 2}}));
    assert_eq!(object["text"], json!({"<<": "text"}));
}
