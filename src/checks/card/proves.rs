//! How far the remedies of a check are proven by a test.

use serde::Deserialize;

/// The proof of the remedies of a check, from the strongest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub enum Proves {
    /// The printed commands are run on a cluster of a test.
    Runs,
    /// A test judges the cluster as a person leaves it who follows the steps.
    Overlay,
    /// The check has several remedies: the numbers that run, are judged, and are neither, with the reason for the last.
    Several { runs: usize, overlay: usize, open: usize, reason: String },
    /// No test can carry it out, for this reason.
    Manual(String),
}

impl TryFrom<String> for Proves {
    type Error = String;

    fn try_from(text: String) -> Result<Proves, String> {
        match (text.as_str(), text.split_once(": ")) {
            ("runs", _) => Ok(Proves::Runs),
            ("overlay", _) => Ok(Proves::Overlay),
            (_, Some(("manual", reason))) if !reason.trim().is_empty() => Ok(Proves::Manual(reason.trim().to_owned())),
            _ => several(&text).ok_or_else(|| {
                format!("{text:?}: use runs, overlay, \"manual: REASON\" or \"runs 2, overlay 1, open 1: REASON\"")
            }),
        }
    }
}

/// `runs 2, overlay 1, open 1: REASON`, without numbers that are 0.
fn several(text: &str) -> Option<Proves> {
    let (numbers, why) = text.split_once(": ").unwrap_or((text, ""));
    let (mut runs, mut overlay, mut open) = (0, 0, 0);
    for part in numbers.split(", ") {
        let (class, number) = part.split_once(' ')?;
        let place = match class {
            "runs" => &mut runs,
            "overlay" => &mut overlay,
            "open" => &mut open,
            _ => return None,
        };
        *place = number.parse().ok().filter(|number| *number > 0)?;
    }
    let is_reasoned = (open > 0) != why.is_empty();
    (runs + overlay > 0 && is_reasoned).then(|| Proves::Several { runs, overlay, open, reason: why.to_owned() })
}

impl Proves {
    /// As in a card.
    pub fn text(&self) -> String {
        match self {
            Proves::Runs => "runs".to_owned(),
            Proves::Overlay => "overlay".to_owned(),
            Proves::Several { runs, overlay, open, reason } => {
                let each = [("runs", runs), ("overlay", overlay), ("open", open)].into_iter();
                let each = each.filter(|(_, number)| **number > 0);
                let numbers: Vec<String> = each.map(|(class, number)| format!("{class} {number}")).collect();
                let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
                format!("{}{why}", numbers.join(", "))
            }
            Proves::Manual(reason) => format!("manual: {reason}"),
        }
    }

    /// For the page of a check.
    pub fn words(&self) -> String {
        match self {
            Proves::Runs => "its printed commands are run in a test, and repair the example".to_owned(),
            Proves::Overlay => "a test judges the cluster after its steps".to_owned(),
            Proves::Several { runs, overlay, open, reason } => {
                let all = runs + overlay + open;
                let mut parts = Vec::new();
                if *runs > 0 {
                    parts.push(format!(
                        "of {all} variants, the commands of {runs} are run in a test, and repair the example"
                    ));
                }
                if *overlay > 0 {
                    let of = if parts.is_empty() { format!("of {all} variants, ") } else { String::new() };
                    parts.push(format!("{of}a test judges the cluster after the steps of {overlay}"));
                }
                if *open > 0 {
                    parts.push(format!("{open} are not run: {reason}"));
                }
                parts.join("; ")
            }
            Proves::Manual(reason) => format!("not run in a test: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read_as_it_is_written() {
        for text in [
            "runs",
            "overlay",
            "manual: a person decides",
            "runs 2, overlay 1",
            "runs 2, open 1: a command needs more than the test cluster has",
            "overlay 1, open 2: it has no command; a person decides",
        ] {
            let read = Proves::try_from(text.to_owned()).expect(text);
            assert_eq!(read.text(), text);
        }
        for text in ["", "run", "manual: ", "open 1: why", "runs 2, open 1", "runs 0, overlay 1", "runs 2: why"] {
            assert!(Proves::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
