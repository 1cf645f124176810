//! The raw files of one node: their limits, and the rejected names.

use jiff::Timestamp;

/// Assumptions for evidence that lacks them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defaults {
    /// The directory a bare copy of `net.d` was taken from.
    pub conf_dir: String,
    /// When the evidence was taken, if only the caller knows.
    pub collected_at: Option<Timestamp>,
}

impl Default for Defaults {
    fn default() -> Self {
        Defaults { conf_dir: DEFAULT_CONF_DIR.to_owned(), collected_at: None }
    }
}

/// The runtimes' default directory.
pub(super) const DEFAULT_CONF_DIR: &str = "/etc/cni/net.d";
/// multus' default directory for delegated networks.
pub const DEFAULT_MULTUS_DIR: &str = "/etc/cni/multus/net.d";

/// Size limit of one CNI configuration file in bytes. containerd rejects larger ones.
pub const MAX_CONF: usize = 2 << 20;
/// Size limit of all of them together in bytes.
pub const MAX_CONF_ALL: usize = 16 << 20;
/// Maximum number of them.
pub const MAX_CONF_FILES: usize = 256;
/// Size limit of a JSON file of the snapshot itself in bytes (a listing of a full plugin directory is far
/// smaller).
pub(super) const MAX_FACTS: usize = 4 << 20;
/// Size limit of a small text file (`os-release`, `uname`) in bytes; `modules.txt` may contain all of
/// `modules.builtin`.
pub const MAX_TEXT: usize = 256 << 10;
/// Size limit of a log before filtering, in bytes.
pub const MAX_RAW_LOG: usize = 16 << 20;
/// Limits of a log after filtering: bytes and lines.
pub(super) const MAX_LOG: usize = 1 << 20;
pub(super) const MAX_LOG_LINES: usize = 2000;
/// Maximum number of rows in a listing or in a list of missing parts.
pub(super) const MAX_ROWS: usize = 10_000;
/// Maximum number of errors added to `meta.json`.
pub(super) const MAX_NOTES: usize = 64;

/// Whether a file name can safely be shown and joined to a path.
pub fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && name != "."
        && name != ".."
        && !name.chars().any(|c| c == '/' || c == '\\' || c.is_control() || is_bidi(c))
}

/// Whether it is an absolute directory without `.` and `..`.
pub fn is_plain_dir(dir: &str) -> bool {
    dir.len() <= 1024 && dir.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_plain_name))
}

/// Characters that make a terminal reorder a name.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}')
}

/// `dir` as one path component of `cni/other/`.
pub fn escape_dir(dir: &str) -> String {
    dir.replace('/', "%2F")
}

/// The reverse of [`escape_dir`].
pub(super) fn unescape_dir(component: &str) -> String {
    component.replace("%2F", "/").replace("%2f", "/")
}

/// Whether runtimes load files with this extension: the text after the last dot, case-sensitive.
pub fn has_loadable_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "conf" | "conflist" | "json"))
}

/// Words that make an inert file relevant.
const MENTIONS: [&str; 3] = ["linkerd-cni", "multus", "cilium"];

/// Whether a file of a configuration directory is kept: runtimes consider it, or it mentions a relevant
/// word.
pub fn is_worth_copying(name: &str, content: &[u8]) -> bool {
    let mentions =
        |word: &str| name.contains(word) || content.windows(word.len()).any(|window| window == word.as_bytes());
    has_loadable_extension(name) || MENTIONS.iter().any(|word| mentions(word))
}
