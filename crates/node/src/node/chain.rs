//! The chain of plugins that a runtime runs, including multus: decides whether linkerd-cni runs on a node.
//!
//! multus either embeds the networks it runs (`delegates`) or names one (`clusterNetwork`); both are
//! followed. If a name cannot be resolved in the snapshot, the answer has a gap and is not complete.

use super::conflist::Plugin;
use super::effective::Effective;
use super::entry::LinkerdEntry;
use super::files::DEFAULT_MULTUS_DIR;
use super::runtime::RuntimeKind;
use super::snapshot::{ConfFile, NodeSnapshot};

/// The plugins that run for a new pod on the node.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain<'a> {
    /// The runtime's file, from which everything else follows.
    pub effective: Effective<'a>,
    /// The linkerd-cni entries that run, in order.
    pub entries: Vec<ChainEntry<'a>>,
    /// References that could not be followed; with any gap, a missing entry is not proven.
    pub gaps: Vec<ChainGap>,
}

/// A linkerd-cni entry that runs, and its file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChainEntry<'a> {
    pub file: &'a ConfFile,
    pub entry: &'a LinkerdEntry,
}

/// A reference that could not be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainGap {
    /// Absolute path of the referring file, or the directory.
    pub path: String,
    pub why: String,
}

impl Chain<'_> {
    /// Whether it is proven that linkerd-cni does not run; also `false` if unknown.
    pub fn proves_absence(&self) -> bool {
        self.entries.is_empty() && self.gaps.is_empty() && matches!(self.effective, Effective::File(_))
    }
}

impl NodeSnapshot {
    /// The linkerd-cni entries that this runtime runs: in its file, in multus delegates, and in the
    /// networks that multus looks up elsewhere.
    pub fn chain(&self, runtime: RuntimeKind) -> Chain<'_> {
        let effective = self.effective(runtime);
        let mut chain = Chain { effective: effective.clone(), entries: Vec::new(), gaps: Vec::new() };
        match effective {
            Effective::File(loaded) => {
                self.follow(loaded.file, 0, &mut chain);
                for other in loaded.others {
                    self.follow(other, 0, &mut chain);
                }
            }
            // No plugin runs, which does not depend on the entry: the caller finds the reason in
            // `effective`.
            Effective::Broken { .. } | Effective::None { .. } => {}
            Effective::Disagree { .. } => chain.gaps.push(ChainGap {
                path: self.conf_dir().to_owned(),
                why: "the runtime is unknown, and containerd and CRI-O would load different files".to_owned(),
            }),
            Effective::Unknown { reason } => {
                chain.gaps.push(ChainGap { path: self.conf_dir().to_owned(), why: reason });
            }
        }
        chain
    }

    fn follow<'a>(&'a self, file: &'a ConfFile, depth: usize, chain: &mut Chain<'a>) {
        match file.linkerd_entries() {
            Ok(entries) => chain.entries.extend(entries.iter().map(|entry| ChainEntry { file, entry })),
            Err(why) => {
                chain.gaps.push(ChainGap { path: file.path(), why });
                return;
            }
        }
        if depth >= 8 {
            chain.gaps.push(ChainGap { path: file.path(), why: "multus delegates more than 8 times".to_owned() });
            return;
        }
        for plugin in file.plugins().iter().filter(|plugin| plugin.is_multus()) {
            let Some(network) = plugin.cluster_network.as_deref().filter(|network| !network.is_empty()) else {
                continue;
            };
            match self.cluster_network(plugin, network) {
                Some(target) if target.path() != file.path() => self.follow(target, depth + 1, chain),
                Some(_) | None => chain.gaps.push(ChainGap {
                    path: file.path(),
                    why: format!(
                        "multus gets the network {network:?} from elsewhere (file or \
                        NetworkAttachmentDefinition)"
                    ),
                }),
            }
        }
    }

    /// The file of multus' `clusterNetwork`: a path, a directory (its first file), or a network's name.
    fn cluster_network(&self, plugin: &Plugin, network: &str) -> Option<&ConfFile> {
        if network.starts_with('/') {
            let dir = network.trim_end_matches('/');
            return self
                .conf_file(network)
                .or_else(|| self.conf_files.iter().find(|file| file.dir == dir && file.is_loadable()));
        }
        let dir = plugin.conf_dir.as_deref().unwrap_or(DEFAULT_MULTUS_DIR).trim_end_matches('/');
        let named = |file: &&ConfFile| file.config().and_then(|config| config.name.as_deref()) == Some(network);
        self.conf_files.iter().filter(|file| file.dir == dir && file.is_loadable()).find(named)
    }
}
