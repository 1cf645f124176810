//! Log texts: the last lines about CNI, redacted.

use super::files::{MAX_LOG, MAX_LOG_LINES, MAX_RAW_LOG};
use crate::redact;

/// Lower-case words of journal lines that are kept, including words of iptables messages on lines of their
/// own: about the xtables lock, or a failed rule.
pub const JOURNAL_WORDS: [&str; 7] =
    ["cni", "nsenter", "iptables", "ip6tables", "xtables", "rule_append", "networkpluginnotready"];

/// A filtered log, and whether it was truncated.
pub struct Filtered {
    pub bytes: Vec<u8>,
    pub cut: bool,
}

/// Redacts first (a key spans several lines, which a filter would separate), then filters, then truncates.
pub fn filter(raw: &[u8], words: &[&str]) -> Filtered {
    let mut cut = false;
    let mut tail = raw;
    if raw.len() > MAX_RAW_LOG {
        cut = true;
        tail = &raw[raw.len() - MAX_RAW_LOG..];
        // Starts at a complete line.
        tail = tail.iter().position(|byte| *byte == b'\n').map_or(&[], |at| &tail[at + 1..]);
    }
    let clean = redact::free_bytes(tail);
    let lines: Vec<&[u8]> = clean.split(|byte| *byte == b'\n').filter(|line| speaks(line, words)).collect();
    let mut kept = Vec::new();
    let mut size = 0;
    for line in lines.iter().rev() {
        size += line.len() + 1;
        if kept.len() == MAX_LOG_LINES || size > MAX_LOG {
            cut = true;
            break;
        }
        kept.push(*line);
    }
    let mut bytes = Vec::with_capacity(size);
    for line in kept.into_iter().rev() {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    Filtered { bytes, cut }
}

fn speaks(line: &[u8], words: &[&str]) -> bool {
    let line = line.to_ascii_lowercase();
    words.iter().any(|word| line.windows(word.len()).any(|window| window == word.as_bytes()))
}

/// The lines of a kept log.
pub(super) fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_about_cni_are_kept() {
        let filtered = filter(b"hello\nCNI config load failed\nnsenter: failed\nbye\n", &JOURNAL_WORDS);
        assert_eq!(filtered.bytes, b"CNI config load failed\nnsenter: failed\n");
        assert!(!filtered.cut);
        let long: String = (0..3000).map(|n| format!("cni {n}\n")).collect();
        let filtered = filter(long.as_bytes(), &JOURNAL_WORDS);
        assert!(filtered.cut);
        assert!(filtered.bytes.starts_with(b"cni 1000\n"));
        assert_eq!(filter(&filtered.bytes, &JOURNAL_WORDS).bytes, filtered.bytes);
    }
}
