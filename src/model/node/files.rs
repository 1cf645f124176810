//! The raw files of one node: their limits, and which names are refused.

use jiff::Timestamp;

/// What is assumed of evidence that does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defaults {
    /// The directory a bare copy of `net.d` was taken from.
    pub conf_dir: String,
    /// When the evidence was taken, where the caller knows and the evidence does not say.
    pub collected_at: Option<Timestamp>,
}

impl Default for Defaults {
    fn default() -> Self {
        Defaults { conf_dir: DEFAULT_CONF_DIR.to_owned(), collected_at: None }
    }
}

/// Where runtimes look unless told otherwise.
pub(super) const DEFAULT_CONF_DIR: &str = "/etc/cni/net.d";
/// Where multus looks for the networks it delegates to, unless told otherwise.
pub const DEFAULT_MULTUS_DIR: &str = "/etc/cni/multus/net.d";

/// One CNI configuration file, bytes. containerd refuses larger ones.
pub(crate) const MAX_CONF: usize = 2 << 20;
/// All of them together, bytes.
pub(crate) const MAX_CONF_ALL: usize = 16 << 20;
/// How many of them.
pub(crate) const MAX_CONF_FILES: usize = 256;
/// A JSON file of the snapshot itself, bytes (a listing of a full plugin directory stays far below).
pub(super) const MAX_FACTS: usize = 4 << 20;
/// A small text file (`os-release`, `uname`), bytes; `modules.txt` may hold all of `modules.builtin`.
pub(crate) const MAX_TEXT: usize = 256 << 10;
/// A log before it is filtered, bytes.
pub(crate) const MAX_RAW_LOG: usize = 16 << 20;
/// A log after it was filtered: bytes and lines.
pub(super) const MAX_LOG: usize = 1 << 20;
pub(super) const MAX_LOG_LINES: usize = 2000;
/// Rows of a listing or a report of what is missing.
pub(super) const MAX_ROWS: usize = 10_000;
/// Errors that `meta.json` gains.
pub(super) const MAX_NOTES: usize = 64;

/// A file name that can be shown and joined to a path.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && name != "."
        && name != ".."
        && !name.chars().any(|c| c == '/' || c == '\\' || c.is_control() || is_bidi(c))
}

/// An absolute directory without `.` and `..`.
pub(crate) fn is_plain_dir(dir: &str) -> bool {
    dir.len() <= 1024 && dir.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_plain_name))
}

/// Characters that make a terminal show a name in another order than it has.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}')
}

/// `dir` as one path component of `cni/other/`.
pub(crate) fn escape_dir(dir: &str) -> String {
    dir.replace('/', "%2F")
}

/// The reverse of [`escape_dir`].
pub(super) fn unescape_dir(component: &str) -> String {
    component.replace("%2F", "/").replace("%2f", "/")
}

/// The extension as the runtimes see it: what follows the last dot, in exactly this spelling.
pub(crate) fn has_loadable_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "conf" | "conflist" | "json"))
}

/// Words that make an inert file worth keeping.
const MENTIONS: [&str; 3] = ["linkerd-cni", "multus", "cilium"];

/// Is a file of a configuration directory kept: one that runtimes consider, or that speaks of what matters here?
pub(crate) fn is_worth_copying(name: &str, content: &[u8]) -> bool {
    let mentions = |word: &str| {
        name.contains(word) || content.windows(word.len()).any(|window| window == word.as_bytes())
    };
    has_loadable_extension(name) || MENTIONS.iter().any(|word| mentions(word))
}
