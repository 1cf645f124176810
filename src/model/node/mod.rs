//! What is known of one node: the files of its snapshot, normalised and parsed.
//!
//! [`normalise`] turns whatever people bring (a snapshot, a folder, a bare copy of `net.d`) into the
//! redacted snapshot format; [`NodeSnapshot::parse`] turns that into types and never fails, since trouble
//! in the files is evidence too. Checks only ever see `parse(normalise(x))`, so that a live run and a
//! bundle agree. This module reads no disk, knows no cluster and passes no judgement on Linkerd: it says
//! what the runtime loads and what stands there.

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
mod looked;
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
    BinEntry, Dirs, FileKind, HostBinaries, HostBinary, IndexEntry, KubeconfigFacts, Logs, Lsm, Meta,
    OsRelease, PathError, PluginBins, Problem, RuntimeInfo, VersionAnswer,
};
pub(crate) use files::MAX_RAW_LOG;
pub use files::{DEFAULT_MULTUS_DIR as MULTUS_DIR, Defaults};
pub use json::{Json, Located, Member, Position, Span};
pub(crate) use kubeconfig::facts as kubeconfig_facts;
pub(crate) use logs::{JOURNAL_WORDS, filter as filter_log};
pub use looked::Looked;
pub use normalise::normalise;
pub use runtime::{Runtime, RuntimeKind};
pub use snapshot::{ConfFile, Content, KubeconfigLookup, NodeSnapshot};

// What taking a snapshot shares with reading one: limits, names, what is kept of a file.
#[cfg(target_os = "linux")]
pub(crate) use {
    files::{
        DEFAULT_MULTUS_DIR, MAX_CONF, MAX_CONF_ALL, MAX_CONF_FILES, MAX_TEXT, escape_dir,
        has_loadable_extension, is_plain_dir, is_plain_name, is_worth_copying,
    },
    host::{modules, runtime_info},
    kubeconfig::is_kubeconfig,
};

#[cfg(test)]
mod tests;
