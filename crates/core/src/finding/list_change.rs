//! Changes of lists in annotations. A command sets the whole list, so the changes of several findings are combined
//! into one: otherwise each step would undo the others.

use super::Step;

/// The change of a list in an annotation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListChange {
    /// The object: `Service shop/db`.
    pub object: String,
    /// The annotation.
    pub key: String,
    /// The entries in force before, including those of a default list that the annotation replaces.
    before: Vec<String>,
    /// The list as the step sets it; `None` removes the annotation.
    after: Option<String>,
}

impl ListChange {
    /// The change of an object's list. `before`: the list in force; `after`: see the field.
    pub fn new(object: String, key: &str, before: &str, after: Option<&str>) -> ListChange {
        ListChange {
            object,
            key: key.to_owned(),
            before: entries(before).map(str::to_owned).collect(),
            after: after.map(str::to_owned),
        }
    }

    /// Whether both change the same list.
    fn is_of_same_list(&self, other: &ListChange) -> bool {
        self.object == other.object && self.key == other.key
    }

    /// The entries after the change.
    fn left(&self) -> Vec<&str> {
        entries(self.after.as_deref().unwrap_or_default()).collect()
    }

    /// Both changes: the entries of both, without those that one of them removes.
    fn combined(&self, other: &ListChange) -> ListChange {
        let is_removed = |entry: &str| {
            [self, other]
                .iter()
                .any(|change| change.before.iter().any(|known| known == entry) && !change.left().contains(&entry))
        };
        let mut left: Vec<&str> = Vec::new();
        for entry in self.left().into_iter().chain(other.left()).filter(|entry| !is_removed(entry)) {
            if !left.contains(&entry) {
                left.push(entry);
            }
        }
        let port = |entry: &&str| entry.split('-').next().and_then(|first| first.trim().parse::<u16>().ok());
        if left.iter().all(|entry| port(entry).is_some()) {
            left.sort_by_key(port);
        }
        let is_set = !left.is_empty() || (self.after.is_some() && other.after.is_some());
        let mut before = self.before.clone();
        before.extend(other.before.iter().filter(|entry| !self.before.contains(entry)).cloned());
        ListChange { object: self.object.clone(), key: self.key.clone(), before, after: is_set.then(|| left.join(",")) }
    }
}

fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

impl Step {
    /// The step that changes a list as this one and another one do; `None` if they change different lists, or if the
    /// reader decides about one of them.
    pub fn with_list_of(&self, other: &Step) -> Option<Step> {
        let (own, more) = (self.list.as_deref()?, other.list.as_deref()?);
        if !own.is_of_same_list(more) || self.is_conditional() || other.is_conditional() {
            return None;
        }
        let both = own.combined(more);
        let one = self.setting(&both)?;
        let text = match other.setting(&both)? {
            same if same.text == one.text => one.text.clone(),
            _ if one.command.is_none() || other.command.is_none() => return None,
            _ => {
                let ends = [&self.text, &other.text].into_iter().filter_map(|text| source(text));
                let end = ends.max_by_key(|end| end.len()).unwrap_or_default();
                format!("Change {} of {} for all of these findings at once{end}", both.key, both.object)
            }
        };
        Some(Step { text, restarts: one.restarts.max(other.restarts), ..one })
    }

    /// The step on top of earlier ones that change the same list.
    fn on_top_of(&self, earlier: &ListChange) -> Option<Step> {
        let own = self.list.as_deref().filter(|own| own.is_of_same_list(earlier))?;
        self.setting(&earlier.combined(own))
    }

    /// The step with another list; `None` if neither its command nor its text contains the list.
    fn setting(&self, change: &ListChange) -> Option<Step> {
        let own = self.list.as_deref()?;
        if own.after == change.after {
            return Some(Step { list: Some(Box::new(change.clone())), ..self.clone() });
        }
        let quoted = |list: &Option<String>| list.as_ref().map(|list| format!("{}: {list:?}", own.key));
        let text = match (quoted(&own.after), quoted(&change.after)) {
            (Some(old), Some(new)) => self.text.replace(&old, &new),
            _ => self.text.clone(),
        };
        let command = self
            .command
            .as_ref()
            .map(|command| command.clone().with_annotation(&own.key, own.after.as_deref(), change.after.as_deref()));
        let is_changed = command != self.command || (command.is_none() && text != self.text);
        let list = Some(Box::new(change.clone()));
        is_changed.then(|| Step { text, command, list, ..self.clone() })
    }
}

/// The end of an instruction about the source of the object.
fn source(text: &str) -> Option<&str> {
    const ENDS: [&str; 4] =
        [" (also in its source", ". Change the source", ", and in the values of", ", and from the values of"];
    ENDS.iter().find_map(|end| text.find(end)).map(|at| &text[at..])
}

/// Lets each step that changes a list keep the changes of the steps before it.
pub fn keep_lists<'a>(steps: impl IntoIterator<Item = &'a mut Step>) {
    let mut changed: Vec<ListChange> = Vec::new();
    for step in steps {
        if let Some(kept) = changed.iter().find_map(|earlier| step.on_top_of(earlier)) {
            *step = kept;
        }
        let Some(own) = step.list.as_deref().filter(|_| !step.is_conditional()) else { continue };
        changed.retain(|earlier| !earlier.is_of_same_list(own));
        changed.push(own.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, kubectl};
    use crate::finding::StepKind;

    const KEY: &str = "config.linkerd.io/opaque-ports";

    fn change(before: &str, after: Option<&str>) -> ListChange {
        ListChange::new("Service shop/db".to_owned(), KEY, before, after)
    }

    fn step(text: &str, before: &str, after: Option<&str>) -> Step {
        let operand = after.map_or_else(|| format!("{KEY}-"), |after| format!("{KEY}={after}"));
        let command = kubectl().words("annotate --overwrite service db").operand(operand);
        let step = Step::new(StepKind::Annotation, text, Some(Command::from(command)));
        Step { list: Some(Box::new(change(before, after))), ..step }
    }

    fn printed(step: &Step) -> String {
        let command = step.command.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{}: {}", step.text, command.rsplit(' ').next().unwrap_or_default())
    }

    #[test]
    fn changes_of_one_list_are_combined() {
        for (one, other, expected) in [
            (("6379", Some("6379,26379")), ("6379", Some("6379")), Some("6379,26379")),
            (("", Some("9000")), ("", Some("25,80-90")), Some("25,80-90,9000")),
            (("25,80,90", Some("25,80")), ("25,80,90", Some("25,90")), Some("25")),
            (("80,90", Some("80")), ("80,90", Some("90")), Some("")),
            (("80", None), ("80", Some("80,90")), Some("90")),
            (("80", None), ("80", None), None),
            (
                ("10.0.0.0/8", Some("10.0.0.0/8,fd00::/8")),
                ("", Some("192.0.2.0/24")),
                Some("10.0.0.0/8,fd00::/8,192.0.2.0/24"),
            ),
        ] {
            let both = change(one.0, one.1).combined(&change(other.0, other.1));
            assert_eq!(both.after.as_deref(), expected, "{one:?} {other:?}");
        }
    }

    #[test]
    fn steps_of_one_list_become_one() {
        let one = step("Add port 26379 (also in its source manifest)", "6379", Some("6379,26379"));
        let other = step("Add port 6379", "6379", Some("6379"));
        let both = one.with_list_of(&other).expect("one step");
        assert_eq!(
            printed(&both),
            format!(
                "Change {KEY} of Service shop/db for all of these findings at once (also in its source \
                 manifest): {KEY}=6379,26379"
            )
        );
        let other = step("If it carries HTTP, remove port 6379", "6379", None);
        assert_eq!(one.with_list_of(&other), None, "the reader decides about the second step");
    }

    #[test]
    fn a_later_step_keeps_the_changes_of_earlier_ones() {
        let mut steps = [step("Add port 80", "25", Some("25,80")), step("If it is HTTP, remove port 25", "25", None)];
        keep_lists(&mut steps);
        assert_eq!(printed(&steps[1]), format!("If it is HTTP, remove port 25: {KEY}=80"));
    }
}
