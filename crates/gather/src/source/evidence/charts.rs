//! The texts of manifests, and the Linkerd charts that they install.

use crate::archive::spool::Blob;
use crate::chart::gitops::{self, Annotated, Installed, Text, ValueKey};
use crate::knowledge::Knowledge;

/// Maximum size of a text to search for chart installations, in bytes.
const MOST_OF_TEXT: u64 = 1 << 20;

/// The texts of manifests.
#[derive(Debug, Default)]
pub struct Charts {
    /// By name and path in the set.
    texts: Vec<(String, String, Blob)>,
}

impl Charts {
    pub(super) fn keep(&mut self, name: &str, path: &str, blob: &Blob) {
        if blob.len() <= MOST_OF_TEXT {
            self.texts.push((name.to_owned(), path.to_owned(), blob.clone()));
        }
    }

    /// The Linkerd charts that the manifests install, and the objects that install other charts with
    /// annotations of Linkerd in their values.
    pub(super) fn found(&self) -> (Vec<Installed>, Vec<Annotated>) {
        if self.texts.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let texts = self.read();
        let found = installed(&texts);
        let others = gitops::annotated(&texts, &found);
        (found, others)
    }

    /// Reads the texts.
    pub fn read(&self) -> Vec<Text> {
        let read = |(name, path, blob): &(String, String, Blob)| {
            let text = String::from_utf8(blob.bytes(MOST_OF_TEXT).ok()?).ok()?;
            Some(Text { name: name.clone(), path: path.clone(), text })
        };
        self.texts.iter().filter_map(read).collect()
    }
}

/// The Linkerd charts that texts install.
pub fn installed(texts: &[Text]) -> Vec<Installed> {
    let names: Vec<&str> = Knowledge::embedded().charts().names().collect();
    gitops::found(texts, &names)
}

/// The keys of Linkerd in the chart values of texts.
pub fn value_keys(texts: &[Text]) -> Vec<ValueKey> {
    gitops::annotated(texts, &installed(texts)).into_iter().flat_map(|one| one.keys).collect()
}
