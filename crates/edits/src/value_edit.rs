//! Edits of chart values in the document that sets them: a values file, or an object with a map of values, a text with
//! YAML, or single values.

use serde_json::{Map, Value};

use crate::finding::{NewValue, ValueAction, ValueEdit, ValuesForm};
use crate::{yaml, yaml_edit};

/// Beginnings of templates, which another tool fills in.
const TEMPLATES: [&str; 2] = ["{{", "${"];

/// A text that no value has.
const PLACEHOLDER: &str = "meshdoctor-placeholder";

/// The text of a document with the edit of a value.
///
/// # Errors
/// The value is not in the document as the edit expects it, or its layout allows no edit, with the reason.
pub fn changed(text: &str, edit: &ValueEdit) -> Result<String, String> {
    // In two steps, so that the line keeps its position and comments.
    if let ValueAction::Rename(to, Some(new)) = &edit.action {
        let renamed = once(text, &with(edit, &edit.keys, ValueAction::Rename(to.clone(), None)))?;
        return changed(&renamed, &with(edit, to, ValueAction::Set(new.clone())));
    }
    if let Some(moved) = renamed_first(text, edit) {
        return Ok(moved);
    }
    match once(text, edit)? {
        // A word without quotes, such as `off`, that Helm does not read as a text.
        same if same == text && matches!(edit.action, ValueAction::Set(_)) => {
            let other = ValueAction::Set(NewValue::Text(PLACEHOLDER.to_owned()));
            once(&once(text, &with(edit, &edit.keys, other))?, edit)
        }
        edited => Ok(edited),
    }
}

/// A value that moves to another map under another name gets its name first: its line then moves with its comments.
fn renamed_first(text: &str, edit: &ValueEdit) -> Option<String> {
    let ValueAction::Rename(to, None) = &edit.action else { return None };
    let ((name, above), (old, old_above)) = (to.split_last()?, edit.keys.split_last()?);
    if edit.place.form == ValuesForm::Single || name == old || above == old_above {
        return None;
    }
    let near: Vec<String> = old_above.iter().chain([name]).cloned().collect();
    let renamed = once(text, &with(edit, &edit.keys, ValueAction::Rename(near.clone(), None))).ok()?;
    once(&renamed, &with(edit, &near, edit.action.clone())).ok()
}

fn with(edit: &ValueEdit, keys: &[String], action: ValueAction) -> ValueEdit {
    ValueEdit { place: edit.place.clone(), keys: keys.to_vec(), action }
}

fn once(text: &str, edit: &ValueEdit) -> Result<String, String> {
    let before: Value = yaml::parse_applied(text)?;
    let mut after = before.clone();
    let path = &edit.place.path;
    let at = path.iter().try_fold(&mut after, |value, step| match value {
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        value => value.get_mut(step.as_str()),
    });
    let at = at.ok_or_else(|| format!("{} has no {}", edit.place.object, path.join(".")))?;
    match edit.place.form {
        ValuesForm::Map => in_map(at, edit, path.is_empty())?,
        ValuesForm::Text => *at = Value::String(in_text(at, edit)?),
        ValuesForm::Single => singly(at, edit)?,
    }
    yaml_edit::changed(text, &before, &after).map_err(|why| match edit.place.form {
        ValuesForm::Text => format!("{} is not a block of literal lines (|): {why}", path.join(".")),
        ValuesForm::Map | ValuesForm::Single => why,
    })
}

/// Whether fields of a document come from a merge key.
pub fn has_merge_key(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.contains_key("<<") || map.values().any(has_merge_key),
        Value::Array(items) => items.iter().any(has_merge_key),
        _ => false,
    }
}

fn in_text(at: &Value, edit: &ValueEdit) -> Result<String, String> {
    let text = at.as_str().ok_or("the values are not a text")?;
    let before: Value = yaml::parse_applied(text)?;
    let mut after = before.clone();
    in_map(&mut after, edit, true)?;
    let mut edited = yaml_edit::changed(text, &before, &after)?;
    // Blank lines in front of a removed last line are no part of a block.
    let line_ends = text.len() - text.trim_end_matches('\n').len();
    edited.truncate(edited.trim_end_matches('\n').len());
    Ok(edited + &"\n".repeat(line_ends))
}

/// Edits a map. `is_whole`: it is the root of a text, which must not become empty.
fn in_map(values: &mut Value, edit: &ValueEdit, is_whole: bool) -> Result<(), String> {
    if has_merge_key(values) {
        return Err("it uses merge keys (<<)".to_owned());
    }
    let names: Vec<&str> = edit.keys.iter().map(String::as_str).collect();
    let old = names.iter().try_fold(&*values, |value, name| child(value, name));
    let old = old.ok_or_else(|| format!("{} is not set here", names.join(".")))?;
    match &edit.action {
        ValueAction::Remove => {
            _ = take(values, &names);
            let is_empty = values.as_object().is_some_and(Map::is_empty);
            match (is_empty && is_whole, &names[..]) {
                (false, _) => {}
                (true, [outer, _, ..]) => values[*outer] = Value::Object(Map::new()),
                (true, _) => return Err("it is the only value here".to_owned()),
            }
        }
        ValueAction::Set(new) => {
            fixed(old)?;
            put(values, &names, new.to_json(), true)?;
        }
        ValueAction::Rename(to, _) => {
            let moved = take(values, &names).unwrap_or_default();
            let to: Vec<&str> = to.iter().map(String::as_str).collect();
            put(values, &to, moved, false)?;
        }
    }
    Ok(())
}

/// The field of a map, or the item of a list.
fn child<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    }
}

fn child_mut<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    match value {
        Value::Array(items) => items.get_mut(name.parse::<usize>().ok()?),
        value => value.get_mut(name),
    }
}

/// Refuses to replace a value that a template sets.
fn fixed(old: &Value) -> Result<(), String> {
    let is_template = old.as_str().is_some_and(|text| TEMPLATES.iter().any(|open| text.contains(open)));
    if is_template { Err("a template sets the value".to_owned()) } else { Ok(()) }
}

/// Removes a value, and maps that it leaves empty.
fn take(values: &mut Value, names: &[&str]) -> Option<Value> {
    let (first, rest) = names.split_first()?;
    if rest.is_empty() {
        return values.as_object_mut()?.remove(*first);
    }
    let taken = take(child_mut(values, first)?, rest);
    // An item of a list stays.
    let Some(map) = values.as_object_mut() else { return taken };
    if map.get(*first).and_then(Value::as_object).is_some_and(Map::is_empty) {
        map.remove(*first);
    }
    taken
}

fn put(values: &mut Value, names: &[&str], new: Value, is_set: bool) -> Result<(), String> {
    let (last, above) = names.split_last().ok_or("a value has no name")?;
    let mut at = values;
    for name in above {
        if at.is_array() {
            at = child_mut(at, name).ok_or_else(|| format!("{} is not in a list", names.join(".")))?;
            continue;
        }
        let map = at.as_object_mut().ok_or_else(|| format!("{} is not in a map", names.join(".")))?;
        at = map.entry(*name).or_insert_with(|| Value::Object(Map::new()));
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
    }
    let map = at.as_object_mut().ok_or_else(|| format!("{} is not in a map", names.join(".")))?;
    if map.contains_key(*last) && !is_set {
        return Err(format!("{} is set too; keep one", names.join(".")));
    }
    map.insert((*last).to_owned(), new);
    Ok(())
}

/// A path as for `helm --set`.
fn joined(names: &[String]) -> String {
    names.iter().map(|name| name.replace('.', "\\.")).collect::<Vec<_>>().join(".")
}

fn singly(values: &mut Value, edit: &ValueEdit) -> Result<(), String> {
    let name = joined(&edit.keys);
    let missing = || format!("{name} is not set here");
    let renamed = match &edit.action {
        ValueAction::Rename(to, _) => Some(joined(to)),
        ValueAction::Remove | ValueAction::Set(_) => None,
    };
    match values {
        Value::Object(map) => {
            let is_set = renamed.as_ref().is_some_and(|name| map.contains_key(name));
            let old = map.get(&name).cloned().ok_or_else(missing)?;
            twice(is_set, renamed.as_deref())?;
            match &edit.action {
                ValueAction::Remove => _ = map.remove(&name),
                ValueAction::Set(new) => {
                    fixed(&old)?;
                    map.insert(name, new.to_json());
                }
                ValueAction::Rename(..) => {
                    map.remove(&name);
                    map.insert(renamed.unwrap_or(name), old);
                }
            }
            Ok(())
        }
        Value::Array(items) => {
            let is_named = |item: &Value, name: &str| item["name"] == name;
            let is_set = renamed.as_ref().is_some_and(|name| items.iter().any(|item| is_named(item, name)));
            if !items.iter().any(|item| is_named(item, &name)) {
                return Err(missing());
            }
            twice(is_set, renamed.as_deref())?;
            if edit.action == ValueAction::Remove {
                items.retain(|item| !is_named(item, &name));
                return Ok(());
            }
            items.iter_mut().filter(|item| is_named(item, &name)).try_for_each(|item| in_item(item, edit))
        }
        _ => Err(missing()),
    }
}

fn twice(is_set: bool, name: Option<&str>) -> Result<(), String> {
    match name.filter(|_| is_set) {
        Some(name) => Err(format!("{name} is set too; keep one")),
        None => Ok(()),
    }
}

/// The new name and value of an item. All its fields are texts.
fn in_item(item: &mut Value, edit: &ValueEdit) -> Result<(), String> {
    let Some(item) = item.as_object_mut() else { return Ok(()) };
    let new = match &edit.action {
        ValueAction::Set(new) => Some(new),
        ValueAction::Rename(to, _) => {
            item.insert("name".to_owned(), joined(to).into());
            None
        }
        ValueAction::Remove => None,
    };
    let Some(new) = new else { return Ok(()) };
    fixed(&item["value"])?;
    let text = match new {
        // With this field, the value would stay a string.
        NewValue::Bool(value) => {
            item.remove("forceString");
            value.to_string()
        }
        NewValue::Whole(number) => {
            item.remove("forceString");
            number.to_string()
        }
        NewValue::Text(text) => text.clone(),
    };
    item.insert("value".to_owned(), text.into());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::ValuesPlace;

    fn edit(path: &[&str], form: ValuesForm, keys: &[&str], action: ValueAction) -> ValueEdit {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (object, file) = ("HelmRelease x".to_owned(), "x.yaml".to_owned());
        let place = ValuesPlace { object, file, line: 1, path: owned(path), form };
        ValueEdit { place, keys: owned(keys), action }
    }

    fn rename(to: &[&str]) -> ValueAction {
        ValueAction::Rename(to.iter().map(|name| (*name).to_owned()).collect(), None)
    }

    #[test]
    fn lines_of_a_block_keep_comments_and_indentation() {
        let text = "spec: # s\n  values: |  # block\n    # why\n    proxy:\n        logLevl: warn  # level\n\n    b: '1'\n\
                    \x20 # end\n  other: x\n";
        let path = ["spec", "values"];
        let renamed = edit(&path, ValuesForm::Text, &["proxy", "logLevl"], rename(&["proxy", "logLevel"]));
        let edited = changed(text, &renamed).expect("an edit");
        assert_eq!(edited, text.replace("logLevl", "logLevel"));
        let removed = edit(&path, ValuesForm::Text, &["b"], ValueAction::Remove);
        assert_eq!(changed(text, &removed).expect("an edit"), text.replace("\n    b: '1'\n", ""));
        for header in ["|-", "|2", "|4-"] {
            let text = format!("values: {header}\n    a: 1\n    b: 2\n").replace(
                "    ",
                match header {
                    "|2" => "  ",
                    _ => "    ",
                },
            );
            let removed = edit(&["values"], ValuesForm::Text, &["b"], ValueAction::Remove);
            let edited = changed(&text, &removed).expect(header);
            assert_eq!(edited, text.replace("  b: 2\n", "").replace("\n  \n", "\n").trim_end().to_owned() + "\n");
        }
    }

    #[test]
    fn windows_line_ends_stay_in_a_block() {
        let text = "values: |\r\n  # a\r\n  b: 1\r\n  c: 2\r\nd: e\r\n";
        let renamed = edit(&["values"], ValuesForm::Text, &["b"], rename(&["x"]));
        assert_eq!(changed(text, &renamed).expect("an edit"), text.replace("b: 1", "x: 1"));
    }

    #[test]
    fn folded_and_quoted_texts() {
        let renamed = |text: &str| changed(text, &edit(&["values"], ValuesForm::Text, &["b"], rename(&["x"])));
        assert_eq!(renamed("values: 'b: 1' # c\n"), Ok("values: 'x: 1' # c\n".to_owned()));
        assert_eq!(renamed("values: \"b: 1\\n\"\n"), Ok("values: \"x: 1\\n\"\n".to_owned()));
        let why = renamed("values: >\n  b: 1\n\n  c: 2\n").expect_err("folded");
        assert!(why.contains("not a block of literal lines (|)"), "{why}");
    }

    #[test]
    fn empty_maps_are_removed_and_other_values_stay() {
        let text = "values:\n  a:\n    b:\n      c: 1\n  # d\n  d: 2\n";
        let removed = edit(&["values"], ValuesForm::Map, &["a", "b", "c"], ValueAction::Remove);
        assert_eq!(changed(text, &removed), Ok("values:\n  # d\n  d: 2\n".to_owned()));
        let dotted = edit(&["values"], ValuesForm::Map, &["a.b"], rename(&["a", "b"]));
        assert_eq!(
            changed("values:\n  a.b: 1 # x\n  c: 2\n", &dotted).as_deref(),
            Ok("values:\n  c: 2\n  a:\n    b: 1 # x\n")
        );
        let set = edit(&["values"], ValuesForm::Map, &["d"], rename(&["a", "x"]));
        assert_eq!(changed("values: {a: {x: 1}, d: 2}\n", &set), Err("a.x is set too; keep one".to_owned()));
    }

    #[test]
    fn single_values_are_edited_in_lists_and_maps() {
        let list = "p:\n- name: proxy.logLevl\n  value: warn # w\n- {name: b, value: \"TRUE\", forceString: true}\n";
        let renamed = edit(&["p"], ValuesForm::Single, &["proxy", "logLevl"], rename(&["proxy", "logLevel"]));
        assert_eq!(changed(list, &renamed), Ok(list.replace("logLevl", "logLevel")));
        let set = edit(&["p"], ValuesForm::Single, &["b"], ValueAction::Set(NewValue::Bool(true)));
        assert_eq!(changed(list, &set), Ok(list.replace("\"TRUE\", forceString: true", "\"true\"")));
        let map = "set:\n  # c\n  b: \"FALSE\"\n  proxy.logLevl: warn\n";
        let set = edit(&["set"], ValuesForm::Single, &["b"], ValueAction::Set(NewValue::Bool(false)));
        assert_eq!(changed(map, &set), Ok(map.replace("\"FALSE\"", "false")));
    }

    #[test]
    fn words_and_lists_become_texts_in_place() {
        let text = "v:\n  a: off # a\n  bb: \"true\" # b\n  c:\n  - 1\n  - 2\n  d: [1, 2] # d\n";
        let set = |key: &str, new| edit(&["v"], ValuesForm::Map, &[key], ValueAction::Set(new));
        let word = |word: &str| NewValue::Text(word.to_owned());
        let edited = changed(text, &set("a", word("off"))).expect("off");
        let edited = changed(&edited, &set("c", word("1,2"))).expect("a block list");
        let edited = changed(&edited, &set("d", word("1,2"))).expect("a flow list");
        let both = ValueAction::Rename(vec!["b".to_owned()], Some(NewValue::Bool(true)));
        let edited = changed(&edited, &edit(&["v"], ValuesForm::Map, &["bb"], both)).expect("both");
        assert_eq!(edited, "v:\n  a: \"off\" # a\n  b: true # b\n  c: \"1,2\"\n  d: \"1,2\" # d\n");
    }

    #[test]
    fn a_text_keeps_at_least_one_value() {
        let removed = |keys: &[&str]| edit(&["values"], ValuesForm::Text, keys, ValueAction::Remove);
        let edited = changed("values: |-\n  # a\n  b:\n    c: 1\n", &removed(&["b", "c"]));
        assert_eq!(edited.as_deref(), Ok("values: |-\n  # a\n  b: {}\n"));
        assert!(changed("values: |-\n  b: 1\n", &removed(&["b"])).is_err_and(|why| why.contains("only value")));
    }

    #[test]
    fn maps_in_lists_of_a_text_are_edited() {
        let text = "patches:\n- patch: |\n    - op: add\n      path: /a\n      value:\n        wrong: x  # w\n";
        let keys = ["0", "value", "wrong"];
        let renamed = edit(&["patches", "0", "patch"], ValuesForm::Text, &keys, rename(&["0", "value", "b"]));
        assert_eq!(changed(text, &renamed), Ok(text.replace("wrong", "b")));
    }

    #[test]
    fn templates_and_merge_keys_are_refused() {
        let set = edit(&["v"], ValuesForm::Map, &["b"], ValueAction::Set(NewValue::Bool(false)));
        assert_eq!(changed("v: {b: '{{x}}'}\n", &set), Err("a template sets the value".to_owned()));
        let merged = "v:\n  <<: {b: 1}\n  b: 2\n";
        assert_eq!(changed(merged, &set), Err("it uses merge keys (<<)".to_owned()));
    }
}
