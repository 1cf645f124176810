//! The runtime's own settings, from `crictl` on the node's root. Only the CNI part of its answer is kept,
//! because the answer also contains registry credentials.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::notes::Notes;
use super::root::{Root, is_executable};
use super::run::{Limits, run};
use crate::knowledge::Knowledge;
use crate::node::{RuntimeInfo, runtime_info};

const LIMITS: Limits = Limits { deadline: Duration::from_secs(10), output: 4 << 20 };

/// The answer of crictl.
#[derive(Debug)]
pub(super) struct CrictlAnswer {
    pub(super) info: RuntimeInfo,
    /// Whether its socket is configured; otherwise it uses the first default socket that answers.
    pub(super) told: bool,
}

/// The answer of `crictl info` and the name and version from `crictl version`; `None` without crictl.
pub(super) fn ask(root: &Root, knowledge: &Knowledge, notes: &mut Notes) -> Option<CrictlAnswer> {
    let places = knowledge.node();
    let path = format!("{}:{}", places.path, places.crictl.folders.join(":"));
    let crictl = program(root, &path, "crictl")?;
    let config = places.crictl.config_files.iter().find(|file| root.has(file));
    let mut env = vec![("PATH", places.path.as_str())];
    env.extend(config.map(|file| ("CRI_CONFIG_FILE", file.as_str())));
    let info = match run(&crictl, &["info"], &env, b"", LIMITS) {
        Ok(printed) if printed.success && !printed.cut => printed.bytes,
        Ok(_) => {
            notes.error(&crictl, "crictl info: it failed");
            return None;
        }
        Err(why) => {
            notes.error(&crictl, format!("crictl info: {why}"));
            return None;
        }
    };
    let value = match serde_json::from_slice(&info) {
        Ok(value) => value,
        Err(_) => {
            notes.error(&crictl, "crictl info: its answer is not JSON");
            return None;
        }
    };
    let mut info = runtime_info(&value);
    if let Ok(printed) = run(&crictl, &["version"], &env, b"", LIMITS) {
        let text = String::from_utf8_lossy(&printed.bytes).into_owned();
        let field = |key: &str| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(key));
            line.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        info.name = field("RuntimeName:").or(info.name);
        info.version = field("RuntimeVersion:").or(info.version);
    }
    notes.read("crictl info: the runtime's CNI settings");
    Some(CrictlAnswer { info, told: config.is_some() })
}

/// A program on a PATH of the node, as this process can run it.
pub(super) fn program(root: &Root, path: &str, name: &str) -> Option<PathBuf> {
    path.split(':').filter(|dir| dir.starts_with('/')).find_map(|dir| {
        let place = root.place(&Path::new(dir).join(name)).ok()?;
        is_executable(&place.metadata).then(|| root.outside(&place.real))
    })
}
