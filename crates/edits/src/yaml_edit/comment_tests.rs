//! Comments survive every edit in every layout: all combinations of values, positions and edits.

use serde_json::{Value, json};

use super::changed;

/// Values as they follow a key, with `~` for the indentation of their lines.
const VALUES: [&str; 17] = [
    " plain",
    " '20Mi '",
    " \"20Mi\" # behind KEY",
    " |\n~20Mi",
    " |-\n~20Mi\n~more",
    " |+\n~20Mi\n\n",
    " | # header KEY\n~20Mi",
    " |\n~# no comment\n~text\n\n~# no comment either",
    " |2\n~20Mi",
    " >\n~20Mi\n~more\n",
    " >-\n~20Mi\n\n\n~more\n",
    " one\n~two",
    " \"one\n~two\"",
    "\n~x: 1\n~y: |\n~  text",
    "\n~- |\n~  text\n~- >-\n~  more",
    "\n~x:\n~  # in KEY\n~  y: 1 # in KEY",
    " {x: 1, y: 2}",
];

/// Where the fields a, b and c are: the text before them, their indentation, and the path to them.
const PLACES: [(&str, usize, &str); 3] = [
    ("", 0, ""),
    (
        "# above metadata\nmetadata:\n  name: d\n  # above annotations\n  annotations: # of annotations\n",
        4,
        "/metadata/annotations",
    ),
    ("list:\n# above the first\n- x: y\n# above the item\n- ", 2, "/list/1"),
];

/// What follows the fields.
const ENDS: [&str; 4] = ["~# last of the map\n# above spec\nspec: {}\n# end\n", "\n# end", "", "spec: {} # spec\n"];

fn field(key: &str, value: &str, indent: usize) -> String {
    format!("{key}:{}\n", value.replace('~', &" ".repeat(indent + 2)).replace("KEY", key))
}

fn comments(text: &str) -> Vec<&str> {
    let comment = |line| {
        let at = str::find(line, '#')?;
        (!line.contains("no comment")).then(|| line[at..].trim_end())
    };
    text.lines().filter_map(comment).collect()
}

/// A document with the fields a, b and c.
fn document(place: (&str, usize, &str), values: [&str; 3], gap: &str, end: &str) -> String {
    let (before, indent, _) = place;
    let pad = " ".repeat(indent);
    let mut text = before.to_owned();
    for (key, value) in ["a", "b", "c"].into_iter().zip(values) {
        match key {
            "a" if before.ends_with("- ") => {}
            _ => text += &format!("{pad}# above {key}\n{gap}{pad}"),
        }
        text += &field(key, value, indent);
    }
    text + &end.replace('~', &pad)
}

/// An edit of the map with the fields; whether comments of the field may go with it.
type FieldEdit = fn(&mut serde_json::Map<String, Value>, &str) -> bool;

const CHANGES: [FieldEdit; 4] = [
    // Renamed.
    |map, key| {
        let old = map.remove(key).unwrap_or_default();
        map.insert("new".to_owned(), old);
        false
    },
    // Renamed, without blanks and line ends around its value.
    |map, key| {
        let old = map.remove(key).unwrap_or_default();
        let new = old.as_str().map_or(old.clone(), |text| json!(text.trim()));
        map.insert("new".to_owned(), new);
        false
    },
    // Removed.
    |map, key| {
        map.remove(key);
        true
    },
    // Removed, and another one added.
    |map, key| {
        map.remove(key);
        map.insert("new".to_owned(), json!("other"));
        true
    },
];

fn check(text: &str, path: &str, key: &str, gap: &str, change: FieldEdit) {
    let before: Value = crate::yaml::parse_applied(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut after = before.clone();
    let map = after.pointer_mut(path).and_then(Value::as_object_mut).expect("a map");
    let may_go = change(map, key);
    let edited = match changed(text, &before, &after) {
        Ok(edited) => edited,
        // Blank lines behind a removed field would become lines of the value before it.
        Err(_) if text.contains("|+") => return,
        Err(why) => panic!("{why}\n{text}"),
    };
    let is_own = |comment: &str| {
        let above = gap.is_empty() && comment == format!("# above {key}");
        above || ["behind", "header", "in"].iter().any(|kind| comment == format!("# {kind} {key}"))
    };
    let expected: Vec<&str> = comments(text).into_iter().filter(|comment| !may_go || !is_own(comment)).collect();
    let found: Vec<&str> = comments(&edited).into_iter().filter(|comment| !may_go || !is_own(comment)).collect();
    assert_eq!(found, expected, "{key} of\n{text}became\n{edited}");
}

#[test]
fn every_edit_keeps_the_comments_of_other_fields() {
    let mut tried = 0;
    for place in PLACES {
        for first in VALUES.into_iter().step_by(3) {
            for second in VALUES {
                for end in ENDS {
                    for gap in ["", "\n"] {
                        let text = document(place, [first, second, first], gap, end);
                        for key in ["a", "b", "c"] {
                            for change in CHANGES {
                                check(&text, place.2, key, gap, change);
                                tried += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    assert_eq!(tried, 3 * 6 * 17 * 4 * 2 * 3 * 4);
}

#[test]
fn an_emptied_map_keeps_comments_that_no_field_owns() {
    let text = "a: # of a\n  # apart\n\n  # above b\n  b: |\n    # no comment\n  # last\nc: 1\n";
    let expected = "a: {} # of a\n  # apart\n  # last\nc: 1\n";
    let before: Value = crate::yaml::parse_applied(text).expect("YAML");
    assert_eq!(changed(text, &before, &json!({"a": {}, "c": 1})).as_deref(), Ok(expected));
}

#[test]
fn a_renamed_block_scalar_keeps_its_layout() {
    let text = "a:\n  old: |\n    20Mi\n  # of labels\n  labels: {}\n";
    let before: Value = crate::yaml::parse_applied(text).expect("YAML");
    let renamed = json!({"a": {"new": "20Mi\n", "labels": {}}});
    assert_eq!(changed(text, &before, &renamed), Ok(text.replace("old", "new")));
    let trimmed = json!({"a": {"new": "20Mi", "labels": {}}});
    let expected = text.replace("old: |\n    20Mi", "new: \"20Mi\"");
    assert_eq!(changed(text, &before, &trimmed), Ok(expected));
}
