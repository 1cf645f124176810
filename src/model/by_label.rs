//! Finds the selectors that may match an object by one label of each, so that not every object is compared with every
//! selector.

use std::collections::HashMap;

use crate::objects::{LabelSelector, Texts};

/// Places of selectors in a list, by a label that each requires.
#[derive(Debug, Clone, Default)]
pub(super) struct ByLabel<'a> {
    labels: HashMap<(&'a str, &'a str), Vec<usize>>,
    /// Those that require no single label.
    others: Vec<usize>,
}

impl<'a> ByLabel<'a> {
    /// Of selectors in their order; `None` for something else than a selector of labels.
    pub(super) fn new(selectors: impl IntoIterator<Item = Option<&'a LabelSelector>>) -> ByLabel<'a> {
        let mut index = ByLabel::default();
        for (place, selector) in selectors.into_iter().enumerate() {
            match selector.and_then(|selector| selector.match_labels.iter().next()) {
                Some((key, value)) => {
                    index.labels.entry((key.as_str(), value.as_str())).or_default().push(place);
                }
                None => index.others.push(place),
            }
        }
        index
    }

    /// The places of those that may match these labels, in order.
    pub(super) fn candidates(&self, labels: &Texts) -> Vec<usize> {
        let by_label =
            labels.iter().filter_map(|(key, value)| self.labels.get(&(key.as_str(), value.as_str())));
        let mut places: Vec<usize> = self.others.iter().chain(by_label.flatten()).copied().collect();
        places.sort_unstable();
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_found_by_a_label() {
        let selectors: Vec<LabelSelector> = ["app=web", "app in (db)", "tier=x"]
            .iter()
            .map(|text| LabelSelector::parse(text).unwrap())
            .collect();
        let exact: LabelSelector = serde_json::from_str(r#"{"matchLabels":{"app":"db"}}"#).unwrap();
        let all = selectors.iter().chain([&exact]).map(Some).chain([None]);
        let index = ByLabel::new(all);
        let labels: Texts = [("app".to_owned(), "db".to_owned())].into_iter().collect();
        assert_eq!(index.candidates(&labels), [0, 1, 2, 3, 4]);
        let labels: Texts = [("app".to_owned(), "web".to_owned())].into_iter().collect();
        assert_eq!(index.candidates(&labels), [0, 1, 2, 4]);
    }
}
