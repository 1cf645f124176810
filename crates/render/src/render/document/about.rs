//! Conversion of subjects to and from documents.

use super::About;
use crate::finding::{Fingerprint, Subject};

impl About {
    /// Writes a subject with its fingerprint.
    pub fn new(subject: &Subject, fingerprint: Option<Fingerprint>) -> About {
        let fingerprint = fingerprint.map(|print| print.0);
        match subject.clone() {
            Subject::Object { kind, namespace, name, pods } => {
                About::Object { kind, namespace, name, pods, fingerprint }
            }
            Subject::Node { node, file, path, line } => {
                About::Node { node, file, path: path.filter(|path| !path.is_empty()), line, fingerprint }
            }
            Subject::Thing { thing } => About::Thing { thing, fingerprint },
        }
    }

    /// The subject and its fingerprint, which 0.1.0 did not write.
    pub fn subject(&self) -> (Subject, Option<Fingerprint>) {
        match self.clone() {
            About::Object { kind, namespace, name, pods, fingerprint } => {
                (Subject::Object { kind, namespace, name, pods }, fingerprint.map(Fingerprint))
            }
            About::Node { node, file, path, line, fingerprint } => {
                (Subject::Node { node, file, path, line }, fingerprint.map(Fingerprint))
            }
            About::Thing { thing, fingerprint } => (Subject::Thing { thing }, fingerprint.map(Fingerprint)),
        }
    }
}
