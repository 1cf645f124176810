//! Finds the selectors that may match an object by one label of each, so that not every object is compared with every
//! selector.

use std::collections::HashMap;

use super::{LabelSelector, Texts};

/// Places of selectors in a list, by the rarest label that each requires.
#[derive(Debug, Clone, Default)]
pub struct ByLabel<'a> {
    labels: HashMap<(&'a str, &'a str), Vec<usize>>,
    /// Those that require no single label.
    others: Vec<usize>,
}

impl<'a> ByLabel<'a> {
    /// Of selectors in their order; `None` for something else than a selector of labels.
    pub fn new(selectors: impl IntoIterator<Item = Option<&'a LabelSelector>>) -> ByLabel<'a> {
        let selectors: Vec<Option<&'a LabelSelector>> = selectors.into_iter().collect();
        // Many selectors may require the same label, such as the name of a whole application.
        let mut uses: HashMap<(&str, &str), usize> = HashMap::new();
        for label in selectors.iter().flat_map(|selector| required(*selector)) {
            *uses.entry(label).or_default() += 1;
        }
        let mut index = ByLabel::default();
        for (place, selector) in selectors.into_iter().enumerate() {
            match required(selector).min_by_key(|label| uses.get(label).copied()) {
                Some(label) => index.labels.entry(label).or_default().push(place),
                None => index.others.push(place),
            }
        }
        index
    }

    /// The indexes of the candidates for these labels, in order.
    pub fn candidates(&self, labels: &Texts) -> Vec<usize> {
        let by_label = labels.iter().filter_map(|(key, value)| self.labels.get(&(key.as_str(), value.as_str())));
        let mut places: Vec<usize> = self.others.iter().chain(by_label.flatten()).copied().collect();
        places.sort_unstable();
        places
    }
}

/// The labels that a selector requires with one value.
fn required(selector: Option<&LabelSelector>) -> impl Iterator<Item = (&str, &str)> {
    let labels = selector.into_iter().flat_map(|selector| selector.match_labels.iter());
    labels.map(|(key, value)| (key.as_str(), value.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_found_by_a_label() {
        let selectors: Vec<LabelSelector> =
            ["app=web", "app in (db)", "tier=x"].iter().map(|text| LabelSelector::parse(text).unwrap()).collect();
        let exact: LabelSelector = serde_json::from_str(r#"{"matchLabels":{"app":"db"}}"#).unwrap();
        let all = selectors.iter().chain([&exact]).map(Some).chain([None]);
        let index = ByLabel::new(all);
        let labels: Texts = [("app".to_owned(), "db".to_owned())].into_iter().collect();
        assert_eq!(index.candidates(&labels), [0, 1, 2, 3, 4]);
        let labels: Texts = [("app".to_owned(), "web".to_owned())].into_iter().collect();
        assert_eq!(index.candidates(&labels), [0, 1, 2, 4]);
    }

    #[test]
    fn selectors_are_found_by_their_rarest_label() {
        let selector = |name: &str| {
            let labels = serde_json::json!({"matchLabels": {"app": "shop", "name": name}});
            serde_json::from_value::<LabelSelector>(labels).unwrap()
        };
        let selectors = ["web", "db", "cache"].map(selector);
        let index = ByLabel::new(selectors.iter().map(Some));
        let labels = [("app", "shop"), ("name", "db")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(index.candidates(&labels.into_iter().collect()), [1]);
    }
}
