//! The model of one node: the files of its snapshot, normalised and parsed.
//!
//! [`normalise`] turns any provided evidence (a snapshot, a folder, a bare copy of `net.d`) into the
//! redacted snapshot format; [`NodeSnapshot::parse`] turns that into types and never fails, because
//! problems in the files are evidence too. Checks only see `parse(normalise(x))`, so live runs and bundles
//! agree. This module reads no disk, knows no cluster and does not judge Linkerd's state: it returns what
//! the runtime loads and the contents of the files.

mod chain;
mod conflist;
mod effective;
mod entry;
mod facts;
mod files;
mod host;
mod json;
mod kubeconfig;
mod logs;
mod lookup;
mod normalise;
mod parse;
mod reader;
mod runtime;
mod snapshot;

pub use chain::{Chain, ChainEntry, ChainGap};
pub use conflist::{CniVersions, Config, ConfigKind, Defect, DefectKind, Plugin};
pub use effective::{Effective, Loaded};
pub use entry::{Field, LinkerdEntry, PolicyToken};
pub use facts::{
    BinEntry, Dirs, FileKind, HostBinaries, HostBinary, IndexEntry, KubeconfigFacts, Logs, Lsm, Meta, OsRelease,
    PathError, PluginBins, Problem, RuntimeInfo, VersionAnswer,
};
pub use files::MAX_RAW_LOG;
pub use files::{DEFAULT_MULTUS_DIR as MULTUS_DIR, Defaults};
pub use json::{Json, Located, Member, Position, Span};
pub use kubeconfig::facts as kubeconfig_facts;
pub use logs::{JOURNAL_WORDS, filter as filter_log};
pub use lookup::Looked;
pub use normalise::normalise;
pub use runtime::{Runtime, RuntimeKind};
pub use snapshot::{ConfFile, Content, KubeconfigLookup, NodeSnapshot};

// Shared by taking and reading a snapshot: limits, names, and which parts of a file are kept.
#[cfg(target_os = "linux")]
pub use {
    files::{
        DEFAULT_MULTUS_DIR, MAX_CONF, MAX_CONF_ALL, MAX_CONF_FILES, MAX_TEXT, escape_dir, has_loadable_extension,
        is_plain_dir, is_plain_name, is_worth_copying,
    },
    host::{modules, runtime_info},
    kubeconfig::is_kubeconfig,
};

#[cfg(test)]
mod tests;
