//! How a test proves that the remedy of a check works.

use serde::Deserialize;

/// The proof of a remedy, from the strongest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub enum Proves {
    /// The printed commands are run on a cluster of a test.
    Runs,
    /// A test judges the cluster as a person leaves it who follows the steps.
    Overlay,
    /// No test can carry it out, for this reason.
    Manual(String),
}

impl TryFrom<String> for Proves {
    type Error = String;

    fn try_from(text: String) -> Result<Proves, String> {
        match (text.as_str(), text.split_once(": ")) {
            ("runs", _) => Ok(Proves::Runs),
            ("overlay", _) => Ok(Proves::Overlay),
            (_, Some(("manual", reason))) if !reason.trim().is_empty() => {
                Ok(Proves::Manual(reason.trim().to_owned()))
            }
            _ => Err(format!("{text:?}: use runs, overlay or \"manual: REASON\"")),
        }
    }
}

impl Proves {
    /// As in a card.
    pub fn text(&self) -> String {
        match self {
            Proves::Runs => "runs".to_owned(),
            Proves::Overlay => "overlay".to_owned(),
            Proves::Manual(reason) => format!("manual: {reason}"),
        }
    }

    /// For the page of a check.
    pub fn words(&self) -> String {
        match self {
            Proves::Runs => "its printed commands are run in a test, and repair the example".to_owned(),
            Proves::Overlay => "a test judges the cluster after its steps".to_owned(),
            Proves::Manual(reason) => format!("not run in a test: {reason}"),
        }
    }
}
