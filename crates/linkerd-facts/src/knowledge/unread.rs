//! `unread.yaml`: kinds that affect mesh traffic but that no check reads, for reports.

use serde::Deserialize;

use super::file::KnowledgeFile;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UnreadKinds {
    source: String,
    date: jiff::civil::Date,
    kinds: Vec<UnreadKind>,
}

/// A kind that no check reads.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UnreadKind {
    /// `servers.policy.linkerd.io`: the name of its definition, if any.
    pub resource: String,
    /// `Server`
    pub kind: String,
    /// Its subject, as a plural that several kinds may share.
    pub about: String,
}

impl UnreadKind {
    fn group(&self) -> &str {
        self.resource.split_once('.').map_or("", |(_, group)| group)
    }
}

impl UnreadKinds {
    /// Every kind, in the order of reports.
    pub fn kinds(&self) -> &[UnreadKind] {
        &self.kinds
    }

    /// The kind of a manifest's `apiVersion` and `kind`, if it is one of these; any version matches.
    pub fn of_manifest(&self, api_version: &str, kind: &str) -> Option<&UnreadKind> {
        let (group, _) = api_version.split_once('/')?;
        self.kinds.iter().find(|known| known.kind == kind && known.group() == group)
    }
}

impl KnowledgeFile for UnreadKinds {
    const NAME: &'static str = "unread.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/unread.yaml");

    fn finish(&mut self) -> Result<(), String> {
        if self.source.is_empty() {
            return Err("no source".to_owned());
        }
        for (at, kind) in self.kinds.iter().enumerate() {
            if kind.group().is_empty() || kind.kind.is_empty() || kind.about.is_empty() {
                return Err(format!("{}: needs a resource with its group, a kind and a subject", kind.resource));
            }
            if self.kinds[..at].iter().any(|other| other.resource == kind.resource) {
                return Err(format!("{} is listed twice", kind.resource));
            }
        }
        Ok(())
    }
}
